"""The audit log: what stands in a line, what shows when it is touched, and that an unwritten line is an error."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from agentsfence_core.audit import AuditLog, read_events, replay, verify
from agentsfence_core.audit.chain import link, sealed
from agentsfence_core.audit.events import decision_event
from agentsfence_core.audit.redact import text
from agentsfence_core.errors import AuditError
from agentsfence_core.limits import LIMITS, Limits
from agentsfence_core.model import (
    Decision,
    Effect,
    ObjectRef,
    Permission,
    PolicySource,
    Prohibition,
    ReasonCode,
    Risk,
    TargetKind,
    TaskPolicy,
    Verdict,
)

SEND = Effect(
    "email.send",
    Risk.COMMUNICATION,
    recipients=("bob@x.example", "https://hooks.example.com/services/T0/B0/s3cr3t"),
    objects=(ObjectRef("file", "a.pdf"),),
    urls=("https://x.example/?q=private",),
    values=(("amount", "10"),),
)


def a_decision(effect: Effect | None = SEND, **changes: object) -> Decision:
    made = Decision(
        verdict=Verdict.ALLOW,
        reason=ReasonCode.AUTHORIZED,
        rule="default",
        sentence="the sentence",
        guidance="the guidance",
        risk=effect.risk if effect else Risk.READ,
        capability=effect.capability if effect else "file.read",
        effect=effect,
        evidence=("send it to bob@x.example",),
        ticket="k1",
        enforced=Verdict.ALLOW,
    )
    for name, value in changes.items():
        object.__setattr__(made, name, value)
    return made


def record(log: AuditLog, decision: Decision | None = None, task: str = "t1") -> None:
    log.decision(task=task, tool="send_mail", call_id="c1", decision=decision or a_decision(), at=1.5)


def lines(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "audit.jsonl").read_bytes().splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "home" / "audit"


class TestLines:
    def test_a_decision_is_one_line_with_its_targets(self, folder: Path) -> None:
        record(AuditLog(folder))
        (line,) = lines(folder)
        assert line["kind"] == "decision"
        assert line["verdict"] == "ALLOW"
        assert line["reason"] == "authorized"
        assert line["recipients"] == ["bob@x.example", "https://hooks.example.com/…"]
        assert line["objects"] == ["file:a.pdf"]
        assert line["values"] == ["amount=10"]
        assert line["evidence"] == ["send it to bob@x.example"]
        assert line["ticket"] == "k1"

    def test_what_is_read_stays_private(self, folder: Path) -> None:
        record(AuditLog(folder), a_decision(Effect("file.read", Risk.READ, paths=("/srv/diary.txt",))))
        assert "diary" not in (folder / "audit.jsonl").read_text(encoding="utf-8")

    def test_sentences_and_urls_are_left_out(self, folder: Path) -> None:
        record(AuditLog(folder))
        raw = (folder / "audit.jsonl").read_text(encoding="utf-8")
        assert "private" not in raw
        assert "the sentence" not in raw
        assert "s3cr3t" not in raw

    def test_a_fault_says_what_failed(self, folder: Path) -> None:
        record(AuditLog(folder), a_decision(None, reason=ReasonCode.STORE_FAULT, sentence="the disk is full"))
        assert lines(folder)[0]["sentence"] == "the disk is full"

    def test_shadow_shows_what_the_host_did(self, folder: Path) -> None:
        record(AuditLog(folder), a_decision(verdict=Verdict.BLOCK))
        assert (lines(folder)[0]["verdict"], lines(folder)[0]["enforced"]) == ("BLOCK", "ALLOW")

    def test_the_raw_request_is_not_stored(self, folder: Path) -> None:
        log = AuditLog(folder)
        policy = TaskPolicy(
            purpose="the private purpose",
            summary="the private summary",
            source=PolicySource.COMPILED,
            allow_external_writes=True,
            permissions=(
                Permission(capability="email.send", recipients=("bob@x.example",), evidence="email bob@x.example"),
            ),
            user_prohibitions=(Prohibition(what="DELETE", quote="don't delete"),),
        )
        details = {"instruction": "my private words", "source": "user", "changed": True, "other": ["private", "list"]}
        log.event("begin", task="t1", policy=policy, details=details, at=2.0)
        (line,) = lines(folder)
        assert "private" not in json.dumps(line)
        assert line["changed"] is True
        assert line["permissions"] == [
            {"capability": "email.send", "recipients": ["bob@x.example"], "evidence": "email bob@x.example"}
        ]
        assert line["prohibitions"] == [{"what": "DELETE", "quote": "don't delete"}]
        assert line["ceilings"] == ["allow_external_writes"]

    @pytest.mark.parametrize(
        "secret",
        [
            "sk-proj-abcdefghijklmnop1234",
            "ghp_abcdefghijklmnopqrstuvwx",
            "AKIAABCDEFGHIJKLMNOP",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
            "Bearer abcdefghijkl",
            "password: hunter2",
            "my password is hunter2",
            "api_key=hunter2",
            "https://user:hunter2@host.example/x",
            "https://host.example/?token=hunter2",
            "https://host.example/hunter2",
        ],
    )
    def test_a_secret_that_shows_by_its_shape_is_masked(self, secret: str) -> None:
        kept = text(f"see {secret} there")
        assert secret not in kept
        assert "hunter2" not in kept

    @pytest.mark.parametrize(
        "harmless",
        [
            "bob@x.example",
            "/srv/reports/q3.pdf",
            "send the token report to ann",
            "DE89370400440532013000",
            "task-force-nine",
        ],
    )
    def test_what_is_no_secret_stays(self, harmless: str) -> None:
        assert text(harmless) == harmless

    def test_a_hostile_text_is_cut_and_stays_one_line(self, folder: Path) -> None:
        log = AuditLog(folder)
        hostile = 'x\n{"kind":"decision","verdict":"ALLOW"}\r\u2028\ud800","hash":"0"}' * 10_000
        effect = Effect("file.write", Risk.LOCAL_WRITE, paths=(hostile,) * 5_000, recipients=(hostile,) * 100)
        record(log, a_decision(effect, evidence=(hostile,) * 500), task=hostile)
        record(log)
        assert len(lines(folder)) == 2
        assert all(
            len(line) <= LIMITS.audit_line_bytes + 100 for line in (folder / "audit.jsonl").read_bytes().splitlines()
        )
        assert verify(folder).holds

    def test_a_line_that_is_too_long_loses_its_lists_and_says_so(self, folder: Path) -> None:
        log = AuditLog(folder)
        log.write({"kind": "x", "list": ["y" * 100] * 1000})
        assert lines(folder)[0]["shortened"] is True
        with pytest.raises(AuditError, match="bytes"):
            log.write({"kind": "x" * 100_000})

    def test_structlog_processors_render_where_they_are_given(self, folder: Path) -> None:
        def add(logger: object, name: str, event: Mapping[str, object]) -> dict[str, object]:
            return {**event, "host": "h1", "chain": "forged", "n": 99}

        log = AuditLog(folder, processors=[add])
        record(log)
        record(log)
        assert [line["host"] for line in lines(folder)] == ["h1", "h1"]
        assert [line["n"] for line in lines(folder)] == [1, 2]
        assert verify(folder).holds

    def test_listeners_hear_what_was_written(self, folder: Path) -> None:
        heard: list[Mapping[str, object]] = []
        record(AuditLog(folder, notify=heard.append))
        assert [event["kind"] for event in heard] == ["decision"]


class TestFiles:
    def test_files_are_this_accounts_alone(self, folder: Path) -> None:
        record(AuditLog(folder))
        assert stat.S_IMODE((folder / "audit.jsonl").stat().st_mode) == 0o600
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700

    def test_a_folder_that_others_can_write_is_refused(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        folder.chmod(0o777)
        with pytest.raises(AuditError, match="other accounts can write"):
            record(AuditLog(folder))

    def test_a_line_that_cannot_be_written_is_an_error(self, folder: Path) -> None:
        folder.parent.mkdir(parents=True)
        folder.write_text("a file in the place of the folder", encoding="utf-8")
        with pytest.raises(AuditError, match=r"audit\.jsonl"):
            record(AuditLog(folder))

    def test_a_full_disk_is_an_error_and_the_next_line_is_whole(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        log = AuditLog(folder)
        record(log)
        write = os.write
        monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:40]))
        with pytest.raises(AuditError, match="only 40 of"):
            record(log)
        monkeypatch.undo()
        record(log)
        checked = verify(folder)
        assert [gap.why for gap in checked.gaps] == ["no audit line, or a torn one"]
        assert checked.lines == 3

    def test_a_closed_log_is_an_error(self, folder: Path) -> None:
        log = AuditLog(folder)
        log.close()
        with pytest.raises(AuditError, match="closed"):
            record(log)

    def test_a_link_in_the_place_of_the_file_is_not_followed(self, folder: Path, tmp_path: Path) -> None:
        folder.mkdir(parents=True, mode=0o700)
        victim = tmp_path / "victim"
        victim.write_text("", encoding="utf-8")
        (folder / "audit.jsonl").symlink_to(victim)
        with pytest.raises(AuditError):
            record(AuditLog(folder))
        assert victim.read_text(encoding="utf-8") == ""

    def test_a_full_file_is_rotated_and_nothing_is_lost(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("agentsfence_core.audit.log.LIMITS", Limits(audit_file_bytes=2_000))
        first, second = AuditLog(folder), AuditLog(folder)
        for _ in range(20):
            record(first)
            record(second)
        checked = verify(folder)
        assert checked.holds
        assert checked.lines == 40
        assert len(list(folder.glob("audit-*.jsonl"))) > 3

    def test_a_log_that_was_moved_away_is_begun_again(self, folder: Path) -> None:
        log = AuditLog(folder)
        record(log)
        (folder / "audit.jsonl").rename(folder / "audit-000001.jsonl")
        record(log)
        assert verify(folder).holds
        assert verify(folder).lines == 2


class TestChain:
    def test_an_untouched_log_holds(self, folder: Path) -> None:
        for _ in range(3):
            log = AuditLog(folder)
            record(log)
            record(log)
            log.close()
        checked = verify(folder)
        assert (checked.lines, checked.chains, checked.gaps) == (6, 3, ())

    @pytest.mark.parametrize("place", range(6))
    def test_a_changed_line_shows(self, folder: Path, place: int) -> None:
        self.filled(folder)
        self.rewrite(folder, lambda kept: kept[place].replace(b"ALLOW", b"BLOCK", 1), place)
        assert not verify(folder).holds

    @pytest.mark.parametrize("place", [0, 1, 2, 4])  # 3 and 5 are tails, see below
    def test_a_missing_line_shows(self, folder: Path, place: int) -> None:
        self.filled(folder)
        self.rewrite(folder, lambda kept: b"", place)
        assert not verify(folder).holds

    def test_a_forged_line_shows(self, folder: Path) -> None:
        self.filled(folder)
        forged = sealed(b'{"kind":"decision","chain":"abc","n":7,"prev":"0"}')[0]
        with (folder / "audit.jsonl").open("ab") as file:
            file.write(forged)
        assert not verify(folder).holds

    def test_a_cut_tail_shows_to_whoever_kept_the_head(self, folder: Path) -> None:
        head = self.filled(folder).head
        assert head is not None
        assert verify(folder, [head]).holds
        self.rewrite(folder, lambda kept: b"", 5)
        assert verify(folder).holds
        assert not verify(folder, [head]).holds

    def test_swapped_lines_show(self, folder: Path) -> None:
        self.filled(folder)
        path = folder / "audit.jsonl"
        kept = path.read_bytes().splitlines(keepends=True)
        kept[1], kept[2] = kept[2], kept[1]
        path.write_bytes(b"".join(kept))
        assert not verify(folder).holds

    def test_no_log_is_an_error(self, folder: Path) -> None:
        with pytest.raises(AuditError, match="no audit log"):
            verify(folder)

    @pytest.mark.parametrize(
        "line", [b"", b"x", b"{}", b'{"hash":"x"}', b'[1,"hash":"x"}', b'{"n":1,"hash":"\xff"}', b"\xff" * 9]
    )
    def test_what_is_no_audit_line_is_none(self, line: bytes) -> None:
        assert link(line) is None

    @staticmethod
    def filled(folder: Path) -> AuditLog:
        first, second = AuditLog(folder), AuditLog(folder)
        for log in (first, first, second, first, second, second):
            record(log)
        return second

    @staticmethod
    def rewrite(folder: Path, change: object, place: int) -> None:
        assert callable(change)
        path = folder / "audit.jsonl"
        kept = path.read_bytes().splitlines(keepends=True)
        kept[place] = change(kept)
        path.write_bytes(b"".join(kept))


def write_many(folder: Path, times: int) -> None:
    log = AuditLog(folder)
    for _ in range(times):
        record(log)


def test_processes_and_threads_write_whole_lines_into_one_log(folder: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=write_many, args=(folder, 50)) for _ in range(3)]
    log = AuditLog(folder)

    def write() -> None:
        for _ in range(50):
            record(log)

    threads = [threading.Thread(target=write) for _ in range(3)]
    for worker in workers:
        worker.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for worker in workers:
        worker.join()
    checked = verify(folder)
    assert checked.gaps == ()
    assert (checked.lines, checked.chains) == (300, 4)


def test_a_forked_child_has_a_chain_of_its_own(folder: Path) -> None:
    log = AuditLog(folder)
    record(log)
    child = os.fork()
    if child == 0:  # pragma: no cover  (the child reports by its exit code)
        record(log)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    record(log)
    checked = verify(folder)
    assert (checked.lines, checked.chains, checked.gaps) == (3, 2, ())


def test_an_event_is_json_types_only() -> None:
    event = decision_event(task="t", tool="x", call_id="", decision=a_decision(), at=1.0)
    assert json.loads(json.dumps(event)) == event


class TestHeads:
    """What the store kept of each chain shows what the log alone cannot."""

    def test_a_chain_that_was_written_anew_shows(self, folder: Path) -> None:
        log = AuditLog(folder)
        for _ in range(3):
            log.write({"v": 1})
        kept = log.head
        assert kept is not None
        path = folder / "audit.jsonl"
        forged, previous = [], ""
        for number in range(1, 4):
            body = json.dumps({"v": 2, "chain": kept.chain, "n": number, "prev": previous}, separators=(",", ":"))
            line, previous = sealed(body.encode())
            forged.append(line)
        path.write_bytes(b"".join(forged))
        assert verify(folder).holds  # negative control: the log alone cannot tell
        gaps = verify(folder, [kept]).gaps
        assert "not the one that was written" in gaps[0].why

    def test_a_chain_that_was_taken_out_whole_shows(self, folder: Path) -> None:
        log = AuditLog(folder)
        log.write({"v": 1})
        kept = log.head
        assert kept is not None
        (folder / "audit.jsonl").write_bytes(b"")
        assert verify(folder).holds  # negative control
        assert not verify(folder, [kept]).holds

    def test_old_files_may_be_taken_away(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("agentsfence_core.audit.log.LIMITS", Limits(audit_file_bytes=200))
        first, second = AuditLog(folder), AuditLog(folder)
        first.write({"v": 1, "text": "x" * 300})
        for _ in range(4):
            second.write({"v": 1, "text": "x" * 300})
        (folder / "audit-000001.jsonl").unlink()
        assert first.head is not None
        assert verify(folder, [first.head]).holds


class TestReplay:
    """Recorded decisions under another policy: what differs, and what cannot be told."""

    def events(self, *decisions: Decision) -> list[dict[str, object]]:
        return [decision_event(task="t", tool="send", call_id="", decision=d, at=1.0) for d in decisions]

    def test_what_would_differ_is_told(self) -> None:
        one = Effect("email.send", Risk.COMMUNICATION, recipients=("bob@x.example",))
        two = replace_recipients(one, "ann@x.example")
        policy = TaskPolicy(
            allow_external_writes=True,
            allowed_risk_classes=(Risk.READ, Risk.COMMUNICATION),
            permissions=(Permission(capability="email.send", recipients=("bob@x.example",), max_calls=1),),
        )
        found = replay(self.events(a_decision(one), a_decision(two), a_decision(one), a_decision(None)), policy)
        assert [each.replayed for each in found] == [Verdict.ALLOW, Verdict.BLOCK, Verdict.BLOCK, Verdict.ALLOW]
        assert [each.differs for each in found] == [False, True, True, False]

    @pytest.mark.parametrize(
        "effect",
        [
            Effect("email.send", Risk.COMMUNICATION, recipients=("https://hooks.example.com/services/T0/B0/x",)),
            Effect("email.send", Risk.COMMUNICATION, recipients=tuple(f"p{n}@x.example" for n in range(50))),
            Effect("file.write", Risk.LOCAL_WRITE, paths=("/srv/" + "x" * 400,)),
            Effect("tool.unknown", Risk.UNKNOWN),
        ],
    )
    def test_what_the_log_does_not_have_is_not_guessed(self, effect: Effect) -> None:
        (found,) = replay(self.events(a_decision(effect)), TaskPolicy())
        assert (found.replayed, found.differs) == (None, False)
        assert found.why

    def test_hidden_targets_stay_hidden(self) -> None:
        hidden = Effect("email.send", Risk.COMMUNICATION, unverified=frozenset({TargetKind.RECIPIENTS}))
        policy = TaskPolicy(allow_external_writes=True, allowed_tools=("email.send",))
        (found,) = replay(self.events(a_decision(hidden)), policy)
        assert found.replayed is Verdict.ASK_USER

    def test_outcomes_are_joined_to_their_decisions(self, folder: Path) -> None:
        log = AuditLog(folder)
        for made in self.events(a_decision()):
            log.write(made)
        log.event("outcome", task="t", policy=None, details={"ticket": "k1", "status": "done"}, at=2.0)
        (found,) = replay(read_events(folder), TaskPolicy())
        assert found.outcome == "done"

    def test_lines_that_are_none_are_left_out(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True)
        (folder / "audit.jsonl").write_bytes(b'[]\n{"kind":"decision","verdict":"MAYBE"}\nnonsense\n\xff\n{}\n')
        assert replay(read_events(folder), TaskPolicy()) == ()


def replace_recipients(effect: Effect, *recipients: str) -> Effect:
    return Effect(effect.capability, effect.risk, recipients=recipients)
