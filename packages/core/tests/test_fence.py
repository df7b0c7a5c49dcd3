"""The façade: what a host sees, and that a fault anywhere inside is BLOCK (DESIGN 3; how it works, last table)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentsfence_core._opening import BlockingFence, open_or_block
from agentsfence_core.audit import AuditLog
from agentsfence_core.classification.catalogue import builtin
from agentsfence_core.errors import HostContractError, PolicyError, SettingsError, StoreError
from agentsfence_core.fence import Fence
from agentsfence_core.model import Decision, HostFacts, Locality, Permission, ReasonCode, Risk, TaskPolicy, Verdict
from agentsfence_core.ports import (
    CompileContext,
    Compiled,
    Instruction,
    PersonMessage,
    RequestView,
    TaskRecord,
    ToolMapping,
)
from agentsfence_core.settings import Settings, load_settings
from agentsfence_core.stores.memory import MemoryStore

JOHN = "john@example.com"
SEND = ("mcp_gmail_send_email", {"to": JOHN, "subject": "s", "body": "b"})
READ = ("read_file", {"path": "/srv/w/a.md"})
DELETE = ("mcp_filesystem_delete_file", {"path": "/srv/w/a.md"})
MAIL_JOHN = TaskPolicy(
    allowed_risk_classes=(Risk.READ, Risk.COMMUNICATION),
    allow_external_writes=True,
    permissions=(Permission(capability="email.send", recipients=(JOHN,), max_calls=2, evidence="email John"),),
)


class Words:
    """An intent pipeline that compiles every message to the policy it was given."""

    def __init__(self, policy: TaskPolicy = MAIL_JOHN) -> None:
        self.policy = policy
        self.restricted = 0

    def begin(self, message: PersonMessage, context: CompileContext) -> Compiled:
        del context
        return Compiled(self.policy, Instruction(message.text), requests=(RequestView("x", "request"),))

    def amend(self, message: PersonMessage, current: TaskPolicy, context: CompileContext) -> Compiled:
        del current
        return self.begin(message, context)

    def restrict(self, message: PersonMessage, current: TaskPolicy, context: CompileContext) -> Compiled:
        del context
        self.restricted += 1
        return Compiled(current, Instruction(message.text))


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def fence(**parts: Any) -> Fence:
    """Return a fence over a memory store, without log unless one is given."""
    wired: dict[str, Any] = {
        "settings": Settings(),
        "store": MemoryStore(),
        "catalogue": builtin(),
        "pipeline": Words(),
    }
    return Fence(**{**wired, **parts})


def begun(**parts: Any) -> Fence:
    """Return a fence with the task ``t``."""
    made = fence(**parts)
    made.begin("email John", task="t")
    return made


class TestCheck:
    """One call, one answer, charged when it is admitted."""

    def test_allow_ask_block(self) -> None:
        one = begun()
        assert one.check("t", *READ).verdict is Verdict.ALLOW
        allowed = one.check("t", *SEND)
        assert (allowed.verdict, allowed.evidence) == (Verdict.ALLOW, ("email John",))
        assert one.check("t", "write_file", {"path": "/srv/w/x", "content": "x"}).verdict is Verdict.ASK_USER
        assert one.check("t", *DELETE).verdict is Verdict.BLOCK

    def test_every_admitted_call_is_charged(self) -> None:
        one = begun()
        verdicts = [one.check("t", *SEND, call_id=name).verdict for name in ("", "", "same")]
        assert verdicts == [Verdict.ALLOW, Verdict.ALLOW, Verdict.BLOCK]

    def test_a_replay_of_an_unfinished_call_is_charged_once(self) -> None:
        one = begun()
        first = one.check("t", *SEND, key="k")
        assert one.check("t", *SEND, key="k").ticket == first.ticket
        one.outcome("t", first.ticket, status="suspended")
        assert one.check("t", *SEND, key="k").ticket == first.ticket
        assert one.check("t", *SEND).verdict is Verdict.ALLOW
        assert one.check("t", *SEND).reason is ReasonCode.MAX_CALLS_USED

    def test_a_call_that_is_done_is_not_played_back_without_a_question(self) -> None:
        one = begun()
        first = one.check("t", *SEND, key="k")
        one.outcome("t", first.ticket, status="done")
        again = one.check("t", *SEND, key="k")
        assert (again.verdict, again.reason) == (Verdict.ASK_USER, ReasonCode.ALREADY_DONE)
        assert one.approve("t", again.question) is not None
        assert one.check("t", *SEND, key="k").ticket not in {"", first.ticket}
        assert one.check("t", *SEND).reason is ReasonCode.MAX_CALLS_USED

    def test_a_failed_call_may_be_tried_again_under_its_key(self) -> None:
        one = begun()
        first = one.check("t", *SEND, key="k")
        one.outcome("t", first.ticket, status="failed")
        second = one.check("t", *SEND, key="k")
        assert second.verdict is Verdict.ALLOW
        assert second.ticket != first.ticket
        one.outcome("t", first.ticket, status="not_run")  # too late: it is closed, and refunds nothing
        assert one.check("t", *SEND).reason is ReasonCode.MAX_CALLS_USED

    def test_another_call_under_the_same_key_is_a_new_call(self) -> None:
        one = begun()
        first = one.check("t", *SEND, key="k")
        other = one.check("t", SEND[0], {**SEND[1], "body": "other"}, key="k")
        assert other.ticket == first.ticket  # message text is no part of the call
        assert one.check("t", SEND[0], {**SEND[1], "cc": JOHN}, key="k").ticket not in {"", first.ticket}

    def test_not_run_refunds_and_failed_does_not(self) -> None:
        one = begun()
        for status in ("not_run", "not_run", "not_run"):
            one.outcome("t", one.check("t", *SEND).ticket, status=status)
        one.outcome("t", one.check("t", *SEND).ticket, status="failed")
        one.outcome("t", one.check("t", *SEND).ticket, status="done")
        assert one.check("t", *SEND).reason is ReasonCode.MAX_CALLS_USED

    def test_a_ban_added_after_admission_stops_the_replay(self) -> None:
        store = MemoryStore()
        one = begun(store=store)
        one.check("t", *SEND, key="k")

        def forbid(record: TaskRecord | None) -> tuple[TaskRecord | None, object]:
            assert record is not None
            return replace(record, policy=replace(record.policy, denied_tools=("email.send",))), None

        store.transact("t", forbid)
        assert one.check("t", *SEND, key="k").verdict is Verdict.BLOCK

    @pytest.mark.parametrize("task", ["", None, 7])
    def test_a_call_of_no_task_is_blocked(self, task: Any) -> None:
        assert fence().check(task, *READ).verdict is Verdict.BLOCK

    def test_an_unknown_task_gets_the_read_only_fallback_or_block(self) -> None:
        one = fence()
        assert one.check("nobody", *READ).verdict is Verdict.ALLOW
        assert one.check("nobody", *SEND).verdict is Verdict.ASK_USER
        assert one.check("nobody", *SEND, host=HostFacts(auto_approves=True)).verdict is Verdict.BLOCK
        strict = fence(settings=load_settings({"evaluation": {"missing_policy": "block"}}, {}))
        assert strict.check("nobody", *READ).reason is ReasonCode.NO_POLICY
        assert strict.check("nobody", *SEND).reason is ReasonCode.NO_POLICY

    @pytest.mark.parametrize("args", [None, [], "x", 7, {1: 2}, {"to": object()}, {"to": "x" * 3_000_000}])
    def test_arguments_of_any_kind_get_a_verdict(self, args: Any) -> None:
        loop: dict[str, object] = {"to": JOHN}
        loop["self"] = loop
        for each in (args, loop):
            assert begun().check("t", SEND[0], each).verdict in Verdict

    @pytest.mark.parametrize("tool", [None, 7, "", "x" * 100_000, "\ud800", "мcp_gmail_send_email"])
    def test_tool_names_of_any_kind_get_a_verdict(self, tool: Any) -> None:
        assert begun().check("t", tool, {}).verdict in {Verdict.ASK_USER, Verdict.BLOCK}

    def test_paths_that_live_elsewhere_are_not_verified(self) -> None:
        policy = TaskPolicy(
            allow_local_writes=True, permissions=(Permission(capability="file.write", paths=("/srv/w",)),)
        )
        one = begun(pipeline=Words(policy))
        call = ("write_file", {"path": "/srv/w/x", "content": "x"})
        assert one.check("t", *call).verdict is Verdict.ALLOW
        assert one.check("t", *call, host=HostFacts(locality=Locality.REMOTE)).verdict is Verdict.ASK_USER

    def test_a_symbolic_link_out_of_the_allowed_folder_is_followed(self, tmp_path: Path) -> None:
        inside = tmp_path / "in"
        inside.mkdir()
        (inside / "link").symlink_to("/etc")
        policy = TaskPolicy(
            allow_local_writes=True, permissions=(Permission(capability="file.write", paths=(str(inside),)),)
        )
        one = begun(pipeline=Words(policy))
        assert one.check("t", "write_file", {"path": f"{inside}/x", "content": ""}).verdict is Verdict.ALLOW
        assert one.check("t", "write_file", {"path": f"{inside}/link/motd", "content": ""}).verdict is Verdict.BLOCK


class TestTasks:
    """begin, adopt, amend, close."""

    def test_a_task_begins_once(self) -> None:
        one = begun()
        with pytest.raises(HostContractError, match="begun already"):
            one.begin("again", task="t")
        one.close("t")
        one.begin("again", task="t")

    def test_after_expiry_a_message_starts_afresh_and_keeps_the_bans(self) -> None:
        from datetime import UTC, datetime

        from agentsfence_core.model import Prohibition

        clock = Clock()
        ban = Prohibition(what="DELETE", quote="never delete")
        ends = datetime.fromtimestamp(clock.now + 10, UTC)
        one = begun(pipeline=Words(replace(MAIL_JOHN, user_prohibitions=(ban,), expires_at=ends)), clock=clock)
        clock.now += 11
        assert one.check("t", *READ).reason is ReasonCode.POLICY_EXPIRED
        one._pipeline = Words()
        assert one.amend("go on", task="t").policy.user_prohibitions == (ban,)
        assert one.check("t", *READ).verdict is Verdict.ALLOW

    def test_time_never_runs_backwards_for_a_task(self) -> None:
        from datetime import UTC, datetime

        clock = Clock()
        ends = datetime.fromtimestamp(clock.now + 10, UTC)
        one = begun(pipeline=Words(replace(MAIL_JOHN, expires_at=ends)), clock=clock)
        clock.now += 9
        assert one.check("t", *SEND).verdict is Verdict.ALLOW
        clock.now -= 1_000_000
        assert one.check("t", *SEND).verdict is Verdict.ALLOW
        assert one._store.read("t").last_seen == 1_000_009.0  # type: ignore[union-attr]

    def test_somebody_elses_message_only_restricts(self) -> None:
        words = Words()
        one = fence(pipeline=words)
        one.begin("email John", task="t", sender="ann")
        one.amend("email Mallory too", task="t", sender="mallory")
        one.amend("email Mallory too", task="t")
        assert words.restricted == 2
        one.amend("thanks", task="t", sender="ann")
        assert words.restricted == 2

    def test_adopt_takes_a_policy_that_a_person_wrote(self) -> None:
        one = fence()
        policy = {"allowed_tools": ["email.send"], "allow_external_writes": True, "allowed_recipients": [JOHN]}
        one.adopt(policy, task="t")
        assert one.check("t", *SEND).verdict is Verdict.ALLOW
        assert one.policy("t").expires_at is not None
        with pytest.raises(PolicyError, match="allowed_tool"):
            fence().adopt({"allowed_tool": []}, task="t")

    def test_examples_of_a_policy_are_checked(self) -> None:
        example = {"tool": SEND[0], "args": SEND[1], "expect": "ALLOW"}
        with pytest.raises(PolicyError, match=r"examples\[0\]"):
            fence().adopt({"examples": [example]}, task="t")
        fence().adopt({"examples": [{**example, "expect": "ASK_USER"}]}, task="t")

    def test_ids_are_opaque(self) -> None:
        one = begun()
        assert one.check("T", *SEND).verdict is Verdict.ASK_USER
        assert one.check("t ", *SEND).verdict is Verdict.ASK_USER

    def test_a_closed_fence_blocks(self) -> None:
        one = begun()
        one.close()
        assert one.check("t", *READ).verdict is Verdict.BLOCK


class TestQuestions:
    """approve and deny."""

    WRITE = ("write_file", {"path": "/srv/w/x.txt", "content": "x"})

    def _asked(self, one: Fence) -> str:
        decision = one.check("t", *self.WRITE)
        assert decision.verdict is Verdict.ASK_USER
        return decision.question

    def test_once_is_one_call(self) -> None:
        one = begun()
        grant = one.approve("t", self._asked(one))
        assert grant is not None
        assert [one.check("t", *self.WRITE).verdict for _ in range(2)] == [Verdict.ALLOW, Verdict.ASK_USER]

    @pytest.mark.parametrize("scope", ["task", "session", "always"])
    def test_for_this_task_is_capped(self, scope: str) -> None:
        one = begun()
        one.approve("t", self._asked(one), scope=scope)
        verdicts = [one.check("t", *self.WRITE).verdict for _ in range(11)]
        assert verdicts == [Verdict.ALLOW] * 10 + [Verdict.ASK_USER]

    def test_times_until_and_nonsense(self) -> None:
        clock = Clock()
        one = begun(clock=clock)
        one.approve("t", self._asked(one), scope="until", until=clock.now + 5)
        assert one.check("t", *self.WRITE).verdict is Verdict.ALLOW
        clock.now += 5
        one.approve("t", self._asked(one), scope="times", times=2)
        assert [one.check("t", *self.WRITE).verdict for _ in range(3)][1:] == [Verdict.ALLOW, Verdict.ASK_USER]
        for wrong in ({"scope": "forever"}, {"scope": "times"}, {"scope": "until"}, {"scope": "times", "times": 0}):
            with pytest.raises(HostContractError):
                one.approve("t", "q", **wrong)

    def test_a_question_that_nobody_asked_grants_nothing(self) -> None:
        one = begun()
        question = self._asked(one)
        assert one.approve("t", "invented") is None
        assert one.approve("other", question) is None
        assert one.check("t", *self.WRITE).verdict is Verdict.ASK_USER

    def test_only_the_starter_approves(self) -> None:
        one = fence()
        one.begin("email John", task="t", sender="ann")
        assert one.approve("t", self._asked(one), by="mallory") is None
        assert one.approve("t", self._asked(one), by="ann") is not None

    def test_the_same_call_is_asked_once(self) -> None:
        one = begun()
        assert self._asked(one) == self._asked(one)
        assert len(one.questions("t")) == 1

    def test_a_denial_lasts_until_a_new_request(self) -> None:
        one = begun()
        one.deny("t", self._asked(one))
        assert one.check("t", *self.WRITE).reason is ReasonCode.DENIED_BY_PERSON
        one.amend("do write it", task="t")
        assert one.check("t", *self.WRITE).verdict is Verdict.ASK_USER

    def test_revocation_takes_effect_at_once(self) -> None:
        one = begun()
        grant = one.approve("t", self._asked(one), scope="task")
        assert grant is not None
        assert one.grants("t") == (grant,)
        one.revoke("t", grant.id)
        assert one.check("t", *self.WRITE).verdict is Verdict.ASK_USER

    def test_open_questions_are_bounded(self) -> None:
        one = begun()
        for number in range(150):
            one.check("t", "write_file", {"path": f"/srv/w/{number}", "content": ""})
        assert len(one.questions("t")) == 100


class TestShadow:
    """``unsafe_shadow``: decide and record, let the host go on; guards and prohibitions stay enforced."""

    def test_only_what_is_not_forbidden_goes_on(self) -> None:
        one = begun(settings=Settings(unsafe_shadow=True))
        shadowed = one.check("t", *DELETE)
        assert (shadowed.verdict, shadowed.enforced, shadowed.allowed) == (Verdict.BLOCK, Verdict.ALLOW, True)
        guarded = one.check("t", "read_file", {"path": "~/.ssh/id_rsa"})
        assert (guarded.verdict, guarded.enforced) == (Verdict.ASK_USER, Verdict.ASK_USER)


class Faulty(MemoryStore):
    """A store that fails where it is told to."""

    def __init__(self, error: Exception, *, on: frozenset[str]) -> None:
        super().__init__()
        self.error, self.on = error, on

    def read(self, task: str) -> TaskRecord | None:
        if "read" in self.on:
            raise self.error
        return super().read(task)

    def transact(self, task: str, change: Callable[[TaskRecord | None], tuple[TaskRecord | None, object]]) -> object:
        if "transact" in self.on:
            raise self.error
        return super().transact(task, change)


class TestFaults:
    """Every port raises at each call: the verdict is BLOCK, with a reason."""

    @pytest.mark.parametrize(
        "error", [StoreError("locked"), OSError("gone"), RuntimeError(), MemoryError(), KeyError("x")]
    )
    @pytest.mark.parametrize("where", ["read", "transact"])
    @pytest.mark.parametrize("call", [READ, SEND])
    def test_the_store_fails(self, error: Exception, where: str, call: tuple[str, Mapping[str, object]]) -> None:
        store = Faulty(error, on=frozenset())
        one = begun(store=store)
        store.on = frozenset({where})
        decision = one.check("t", *call)
        if (where == "read") == (call is SEND):
            assert decision.verdict is Verdict.ALLOW  # negative control: that port was not needed
        else:
            assert (decision.verdict, decision.enforced) == (Verdict.BLOCK, Verdict.BLOCK)
            assert decision.reason in {ReasonCode.STORE_FAULT, ReasonCode.INTERNAL_FAULT}
            assert decision.sentence

    def test_the_store_answers_nonsense(self) -> None:
        class Nonsense(MemoryStore):
            def transact(self, task: str, change: object) -> object:
                return "ALLOW"

        assert fence(store=Nonsense()).check("t", *SEND).reason is ReasonCode.STORE_FAULT

    def test_the_log_cannot_be_written(self, tmp_path: Path) -> None:
        log = AuditLog(tmp_path / "audit")
        one = begun(audit=log)
        assert one.check("t", *READ).verdict is Verdict.ALLOW
        log.close()
        decision = one.check("t", *SEND)
        assert (decision.verdict, decision.reason) == (Verdict.BLOCK, ReasonCode.AUDIT_FAULT)
        assert not decision.allowed

    @pytest.mark.parametrize("part", ["classify", "evaluate", "charge_of", "resolve"])
    def test_the_core_fails(self, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(*_: object, **__: object) -> object:
            raise ZeroDivisionError

        one = begun()
        monkeypatch.setattr(f"agentsfence_core.{'_levels' if part == 'charge_of' else '_checker'}.{part}", broken)
        call = SEND if part != "resolve" else ("write_file", {"path": "/srv/w/x", "content": ""})
        assert one.check("t", *call).reason is ReasonCode.INTERNAL_FAULT

    def test_a_compiler_is_missing(self) -> None:
        with pytest.raises(HostContractError, match="no compiler"):
            fence(pipeline=None).begin("x", task="t")

    def test_a_fence_that_cannot_start_blocks_every_call(self, tmp_path: Path) -> None:
        settings = tmp_path / "settings.yaml"
        settings.write_text('preset: balanced\nstroe: "memory:"\n')
        with pytest.raises(SettingsError, match="stroe"):
            Fence.open(settings)
        shut = open_or_block(settings)
        assert isinstance(shut, BlockingFence)
        decision = shut.check("t", *READ)
        assert decision.verdict is Verdict.BLOCK
        assert "stroe" in decision.sentence


def test_concurrent_calls_cannot_race_past_a_limit() -> None:
    """Paper, 3.4: evaluation and the counter update happen atomically."""
    one = begun()
    decisions: list[Decision] = []
    threads = [threading.Thread(target=lambda: decisions.append(one.check("t", *SEND))) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(decision.allowed for decision in decisions) == 2


class TestDeclaredTools:
    """What the program around the fence says about its own tools."""

    def test_a_declared_tool_is_what_its_program_says(self) -> None:
        one = begun()
        assert one.classify("frobnicate", {"whom": JOHN}).risk is Risk.UNKNOWN
        one.declare_tools([ToolMapping("frobnicate", "email.send", "", recipients=("whom",))])
        effect = one.classify("frobnicate", {"whom": JOHN}).worst
        assert (effect.capability, effect.risk, effect.recipients) == ("email.send", Risk.COMMUNICATION, (JOHN,))

    def test_the_users_settings_come_before_a_declaration(self) -> None:
        rows = (ToolMapping("frob*", "file.delete", "DELETE"),)
        one = begun(settings=Settings(tools=rows), catalogue=builtin().extended(rows, ()))
        one.declare_tools([ToolMapping("frobnicate", "file.read", "READ")])
        assert one.classify("frobnicate", {}).risk is Risk.DELETE


class TestToolExamples:
    """``tools:`` in settings: examples are checked whenever a fence opens."""

    def _open(self, *examples: dict[str, object]) -> None:
        row = {"match": "acme_push_order", "capability": "purchase.order", "recipients": ["supplier"]}
        tools = [{**row, "examples": list(examples)}]
        Fence.open({"store": "memory:", "audit": {"enabled": False}, "tools": tools}).close()

    def test_a_true_example_opens(self) -> None:
        self._open({"args": {"supplier": "shop@example.com"}, "risk": "FINANCIAL", "recipients": ["shop@example.com"]})

    @pytest.mark.parametrize(
        ("example", "said"),
        [
            ({"risk": "READ"}, r"tools\[0\]\.examples\[0\]: risk is FINANCIAL, not READ"),
            ({"capability": "file.read"}, "capability is purchase.order"),
            ({"args": {"vendor": "x@example.com"}, "recipients": ["y@example.com"]}, "y@example.com is not among"),
        ],
    )
    def test_a_false_one_says_what_is_read(self, example: dict[str, object], said: str) -> None:
        with pytest.raises(SettingsError, match=said):
            self._open(example)
