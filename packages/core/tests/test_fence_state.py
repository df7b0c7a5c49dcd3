"""What the façade keeps: bounded, tied to the log, blocked when damaged, and shown before it is approved (DESIGN 8)."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from packages.core.tests.test_fence import MAIL_JOHN, READ, SEND, Clock, Words, begun, fence

from agentsfence_core.audit import AuditLog, verify
from agentsfence_core.errors import HostContractError, StoreError
from agentsfence_core.fence import Fence
from agentsfence_core.limits import LIMITS, Limits
from agentsfence_core.model import Prohibition, ReasonCode, TaskPolicy, Verdict
from agentsfence_core.ports import TaskRecord
from agentsfence_core.stores.memory import MemoryStore
from agentsfence_core.stores.sqlite import SqliteStore

WRITE = ("write_file", {"path": "/srv/w/x.txt", "content": "x"})
NO_LIMIT = replace(
    MAIL_JOHN, permissions=(replace(MAIL_JOHN.permissions[0], max_calls=None),), created_at=None, expires_at=None
)


def write(number: int) -> tuple[str, dict[str, object]]:
    return "write_file", {"path": f"/srv/w/{number}.txt", "content": ""}


def record_of(one: Fence, task: str = "t") -> TaskRecord:
    record = one._store.read(task)
    assert record is not None
    return record


class TestGrowth:
    """Nothing grows for ever."""

    def test_tickets_are_bounded_and_the_newest_stay(self, tmp_path: Path) -> None:
        one = begun(pipeline=Words(NO_LIMIT), store=SqliteStore(tmp_path / "state.db"))
        tickets = [one.check("t", *SEND).ticket for _ in range(LIMITS.tickets + 10)]
        kept = record_of(one).tickets
        assert len(kept) <= LIMITS.tickets
        assert list(kept)[-1] == tickets[-1]
        assert record_of(one).state.counters["outbound"] == len(tickets)

    def test_spent_grants_are_bounded_and_live_ones_stay(self) -> None:
        one = begun()
        live = one.approve("t", one.check("t", *write(0)).question, scope="task")
        for number in range(1, 3 * LIMITS.spent_grants):
            one.approve("t", one.check("t", *write(number)).question)
            assert one.check("t", *write(number)).verdict is Verdict.ALLOW
        assert len(one.grants("t")) <= LIMITS.spent_grants + 2
        assert len(record_of(one).state.grant_uses) <= LIMITS.spent_grants + 2
        assert live in one.grants("t")
        assert one.check("t", *write(0)).verdict is Verdict.ALLOW
        assert one.check("t", *write(1)).verdict is Verdict.ASK_USER

    def test_more_grants_than_the_limit_are_not_given(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("agentsfence_core.tasks.LIMITS", Limits(grants=2))
        one = begun()
        given = [one.approve("t", one.check("t", *write(number)).question, scope="task") for number in range(3)]
        assert [grant is not None for grant in given] == [True, True, False]

    def test_denials_are_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("agentsfence_core.tasks.LIMITS", Limits(denials=2))
        one = begun()
        for number in range(4):
            one.deny("t", one.check("t", *write(number)).question)
        assert len(record_of(one).state.denied) == 2

    def test_bans_of_an_ended_task_wait_a_long_time_and_not_for_ever(self) -> None:
        clock = Clock()
        ban = Prohibition(what="DELETE", quote="never delete")
        ends = datetime.fromtimestamp(clock.now + 10, UTC)
        store = MemoryStore()
        one = begun(
            pipeline=Words(replace(MAIL_JOHN, user_prohibitions=(ban,), expires_at=ends)), clock=clock, store=store
        )
        clock.now += 10 + LIMITS.bans_kept_seconds - 1
        one.begin("another", task="other")
        one._pipeline = Words()
        assert one.begin("go on", task="t").policy.user_prohibitions == (ban,)
        one._pipeline = Words(replace(MAIL_JOHN, expires_at=ends))
        one.begin("third", task="third")
        clock.now += 10 * LIMITS.bans_kept_seconds
        one.begin("fourth", task="fourth")
        assert "third" not in store.tasks()

    def test_tasks_that_only_calls_mention_are_forgotten(self) -> None:
        clock, store = Clock(), MemoryStore()
        one = fence(clock=clock, store=store)
        for number in range(20):
            assert one.check(f"nobody{number}", *WRITE).verdict is Verdict.ASK_USER
        clock.now += LIMITS.unbegun_kept_seconds + 1
        for number in range(3):
            one.begin("email John", task=f"new{number}")
        assert sorted(store.tasks()) == ["new0", "new1", "new2"]


class TestQuestions:
    """A question shows what a yes covers, one more call that it would, and a near one that it would not."""

    def test_a_question_says_how_far_a_yes_reaches(self, tmp_path: Path) -> None:
        one = begun(store=SqliteStore(tmp_path / "state.db"))
        one.check("t", *WRITE)
        (question,) = one.questions("t")
        assert "another content" in question.covered_too
        assert "other path" in question.not_covered
        assert [delta.paths for delta in question.deltas] == [("/srv/w/x.txt",)]
        one.approve("t", question.id, scope="task")
        assert one.check("t", WRITE[0], {**WRITE[1], "content": "y"}).verdict is Verdict.ALLOW
        assert one.check("t", WRITE[0], {**WRITE[1], "path": "/srv/w/y.txt"}).verdict is Verdict.ASK_USER

    def test_a_question_of_one_task_is_none_of_another(self) -> None:
        one = begun()
        one.begin("email John", task="u")
        question = one.check("t", *WRITE, call_id="same").question
        one.check("u", *WRITE, call_id="same")
        assert one.approve("u", question) is None
        assert one.check("t", *WRITE).verdict is Verdict.ASK_USER


class TestHeads:
    """A tail cut from the log shows by what the store kept."""

    @pytest.fixture
    def open_fence(self, tmp_path: Path) -> Fence:
        return begun(
            pipeline=Words(NO_LIMIT), audit=AuditLog(tmp_path / "audit"), store=SqliteStore(tmp_path / "state.db")
        )

    def cut(self, folder: Path, lines: int) -> None:
        path = folder / "audit" / "audit.jsonl"
        kept = path.read_bytes().splitlines(keepends=True)[:-lines]
        path.write_bytes(b"".join(kept))

    def test_a_cut_tail_shows_after_the_next_commit(self, open_fence: Fence, tmp_path: Path) -> None:
        for _ in range(5):
            open_fence.check("t", *SEND)
        assert verify(tmp_path / "audit", open_fence.heads()).holds
        self.cut(tmp_path, 2)
        assert verify(tmp_path / "audit").holds  # negative control: without the store nothing shows
        assert "are gone" in verify(tmp_path / "audit", open_fence.heads()).gaps[0].why

    def test_the_last_line_shows_too_once_the_fence_was_closed(self, open_fence: Fence, tmp_path: Path) -> None:
        open_fence.check("t", *SEND)
        open_fence.check("t", *READ)
        open_fence.close()
        self.cut(tmp_path, 1)
        store = SqliteStore(tmp_path / "state.db")
        other = fence(store=store)
        assert not verify(tmp_path / "audit", other.heads()).holds
        store.close()

    def test_heads_of_closed_tasks_stay(self, open_fence: Fence, tmp_path: Path) -> None:
        open_fence.check("t", *SEND)
        open_fence.check("t", *SEND)
        open_fence.close("t")
        assert open_fence.heads()


class TestDamage:
    """A record that cannot be trusted blocks its task until a person discards it."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / "state.db"
        ban = Prohibition(what="DELETE", quote="never delete")
        one = begun(store=SqliteStore(path), pipeline=Words(replace(NO_LIMIT, user_prohibitions=(ban,))))
        one.begin("email John", task="u")
        one.check("t", *SEND)
        one.close()
        raw = sqlite3.connect(path)
        raw.execute("UPDATE policies SET policy = zeroblob(20) WHERE task = CAST('t' AS BLOB)")
        raw.commit()
        raw.close()
        return path

    def test_it_is_blocked_and_never_begun_anew_by_itself(self, path: Path) -> None:
        one = fence(store=SqliteStore(path))
        for call in (READ, SEND, WRITE):
            decision = one.check("t", *call)
            assert (decision.verdict, decision.reason) == (Verdict.BLOCK, ReasonCode.STORE_FAULT)
            assert "damaged" in decision.sentence
            assert one.check("u", *call).verdict is not Verdict.BLOCK
        for change in (
            lambda: one.begin("x", task="t"),
            lambda: one.amend("x", task="t"),
            lambda: one.adopt(TaskPolicy(), task="t"),
            lambda: one.child("t", task="t/a"),
            lambda: one.close("t"),
            lambda: one.revoke("t", "g"),
        ):
            with pytest.raises(StoreError, match="damaged"):
                change()
        assert one.check("t", *READ).verdict is Verdict.BLOCK
        one.close()

    def test_a_person_discards_it(self, path: Path) -> None:
        one = fence(store=SqliteStore(path))
        one.close("t", discard=True)
        one.begin("email John", task="t")
        assert one.check("t", *SEND).verdict is Verdict.ALLOW
        one.close()

    def test_a_lost_row_is_damage(self, path: Path) -> None:
        raw = sqlite3.connect(path)
        raw.execute("DELETE FROM items")
        raw.commit()
        raw.close()
        one = fence(store=SqliteStore(path))
        assert "damaged" in one.check("t", *SEND).sentence
        one.close()

    def test_a_subtask_of_a_damaged_task_is_blocked(self, tmp_path: Path) -> None:
        path = tmp_path / "state.db"
        one = begun(store=SqliteStore(path))
        one.child("t", task="t/a")
        one.close()
        raw = sqlite3.connect(path)
        raw.execute("UPDATE tasks SET facts = X'00' WHERE task = CAST('t' AS BLOB)")
        raw.commit()
        raw.close()
        one = fence(store=SqliteStore(path))
        assert one.check("t/a", *READ).reason is ReasonCode.STORE_FAULT
        assert one.check("t/a", *SEND).reason is ReasonCode.STORE_FAULT
        with pytest.raises(HostContractError):
            one.child("nobody", task="x")
        one.close()
