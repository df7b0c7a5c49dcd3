"""Rows, prohibitions, grants: what the design adds to the seeds (DESIGN 6 and 8)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from packages.core.tests.evaluation.aids import (
    JOHN,
    MALLORY,
    action,
    ban,
    decide,
    delete,
    pay,
    read,
    send,
    thing,
    write,
)

from agentsfence_core.evaluation import charge_of, grant_for, prepare
from agentsfence_core.evaluation.explain import explain
from agentsfence_core.evaluation.grants import surviving
from agentsfence_core.model import (
    Effect,
    ExecutionState,
    HostFacts,
    Permission,
    Prohibition,
    ReasonCode,
    Risk,
    TargetKind,
    Targets,
    TaskPolicy,
    Verdict,
)

HIDDEN_PROGRAM = frozenset({TargetKind.PROGRAM})


def _pays(*rows: tuple[str, str]) -> TaskPolicy:
    permissions = tuple(
        Permission(capability="payment.send", recipients=(to,), max_amount=amount) for to, amount in rows
    )
    return TaskPolicy(allow_financial_actions=True, permissions=permissions)


class TestOneEffectFitsOneRow:
    """ "send 10 to A and 500 to B" never lets A have 500."""

    def test_amounts_stay_with_their_payee(self) -> None:
        """No cross-combination of rows."""
        policy = _pays(("a@x.example", "10"), ("b@x.example", "500"))
        assert decide(policy, pay("a@x.example", "10")).verdict is Verdict.ALLOW
        assert decide(policy, pay("b@x.example", "500.00")).verdict is Verdict.ALLOW
        assert decide(policy, pay("a@x.example", "500")).reason is ReasonCode.AMOUNT_ABOVE_LIMIT
        assert decide(policy, pay("c@x.example", "1")).reason is ReasonCode.RECIPIENT_NOT_LISTED

    @pytest.mark.parametrize("amount", [None, "all of it", "NaN", "-5", "Infinity", "1e999999999"])
    def test_an_amount_that_cannot_be_read_is_asked_about(self, amount: str | None) -> None:
        """Unverified under a bound: ASK_USER."""
        assert decide(_pays(("a@x.example", "10")), pay("a@x.example", amount)).verdict in {
            Verdict.ASK_USER,
            Verdict.BLOCK,
        }

    def test_amounts_add_up_over_the_task(self) -> None:
        """Two payments of ten are not "pay ten"."""
        policy = _pays(("a@x.example", "10"))
        prepared = prepare(policy)
        charge = charge_of(prepared, ExecutionState(), action(pay("a@x.example", "10")))
        state = ExecutionState().charged(charge)
        assert decide(policy, pay("a@x.example", "10"), state=state).reason is ReasonCode.AMOUNT_ABOVE_LIMIT

    def test_counts_stay_with_their_row(self) -> None:
        """ "one mail to John, mails to Mallory as needed"."""
        rows = (
            Permission(capability="email.send", recipients=(JOHN,), max_calls=1),
            Permission(capability="email.send", recipients=(MALLORY,)),
        )
        policy = TaskPolicy(allow_external_writes=True, permissions=rows)
        state = ExecutionState().charged(charge_of(prepare(policy), ExecutionState(), action(send(JOHN))))
        assert decide(policy, send(JOHN), state=state).reason is ReasonCode.MAX_CALLS_USED
        assert decide(policy, send(MALLORY), state=state).verdict is Verdict.ALLOW

    def test_rows_alone_list_their_capability(self) -> None:
        """An ``allowed_tools`` entry cannot widen a row."""
        row = Permission(capability="email.send", recipients=(JOHN,))
        policy = TaskPolicy(
            permissions=(row,),
            allowed_tools=("email.send",),
            allowed_risk_classes=(Risk.COMMUNICATION,),
            allow_external_writes=True,
        )
        assert decide(policy, send(MALLORY)).verdict is Verdict.BLOCK

    def test_two_invocations_are_two_calls(self) -> None:
        """``rm a; rm b`` is two, ``rm a b`` one."""
        policy = TaskPolicy(
            allow_destructive_actions=True,
            permissions=(Permission(capability="file.delete", paths=("/srv",), max_calls=1),),
        )
        assert decide(policy, delete("/srv/a", "/srv/b")).verdict is Verdict.ALLOW
        twice = action(delete("/srv/a"), delete("/srv/b", invocation=1))
        assert decide(policy, twice).reason is ReasonCode.MAX_CALLS_USED

    def test_objects_bind_by_kind(self) -> None:
        """Same kind and different is outside; another kind is not bound; an opaque id is asked about."""
        row = Permission(capability="git.push", objects=("branch:main",))
        policy = TaskPolicy(allow_external_writes=True, permissions=(row,))

        def push(*objects: tuple[str, str]) -> Effect:
            return Effect("git.push", Risk.EXTERNAL_WRITE, objects=tuple(thing(*each) for each in objects))

        assert decide(policy, push(("remote", "origin"), ("branch", "main"))).verdict is Verdict.ALLOW
        assert decide(policy, push(("branch", "prod"))).reason is ReasonCode.OBJECT_NOT_LISTED
        assert decide(policy, push(("id", "77"))).verdict is Verdict.ASK_USER

    def test_a_trailing_slash_means_strictly_below(self) -> None:
        """ "clean up my Downloads" does not delete the folder itself."""
        policy = TaskPolicy(
            allow_destructive_actions=True, permissions=(Permission(capability="file.delete", paths=("~/Downloads/",)),)
        )
        assert decide(policy, delete("/home/u/Downloads/a.zip")).verdict is Verdict.ALLOW
        assert decide(policy, delete("/home/u/Downloads")).verdict is Verdict.BLOCK
        assert decide(policy, delete("/home/u/Downloads2/a")).verdict is Verdict.BLOCK

    def test_a_row_that_needs_approval_asks(self) -> None:
        """Check 13."""
        policy = TaskPolicy(
            allow_destructive_actions=True, permissions=(Permission(capability="file.delete", needs_approval=True),)
        )
        assert decide(policy, delete("/srv/a")).reason is ReasonCode.APPROVAL_REQUIRED

    def test_no_named_address_asks(self) -> None:
        """ "Email John" binds no recipient: a send to john@anything goes to the person."""
        policy = TaskPolicy(allow_external_writes=True, permissions=(Permission(capability="email.send"),))
        assert decide(policy, send("john@anything.example")).reason is ReasonCode.RECIPIENT_NOT_BOUND

    def test_creating_an_event_does_not_invite(self) -> None:
        """Any other write that carries a party is bound too."""
        policy = TaskPolicy(allow_external_writes=True, permissions=(Permission(capability="calendar.create"),))
        assert decide(policy, Effect("calendar.create", Risk.EXTERNAL_WRITE)).verdict is Verdict.ALLOW
        invited = Effect("calendar.create", Risk.EXTERNAL_WRITE, recipients=(MALLORY,))
        assert decide(policy, invited).verdict is Verdict.ASK_USER


class TestProhibitions:
    """Check 3."""

    def test_scope_and_exceptions(self) -> None:
        """ "don't email bob" bans Bob; "to anyone except John" spares John alone."""
        base = TaskPolicy(allow_external_writes=True, allowed_tools=("email.send",), allowed_recipients=(JOHN, MALLORY))
        scoped = replace(base, user_prohibitions=(ban("COMMUNICATION", recipients=(MALLORY,)),))
        assert decide(scoped, send(MALLORY)).reason is ReasonCode.PROHIBITED
        assert decide(scoped, send(JOHN)).verdict is Verdict.ALLOW
        spared = Prohibition(what="email.send", exceptions=Targets(recipients=(JOHN,)), quote="to anyone except John")
        policy = replace(base, user_prohibitions=(spared,))
        assert decide(policy, send(JOHN)).verdict is Verdict.ALLOW
        assert decide(policy, send(JOHN, MALLORY)).reason is ReasonCode.PROHIBITED
        assert decide(policy, send()).reason is ReasonCode.PROHIBITED

    def test_opaque_execution_under_any_ban_asks(self) -> None:
        """A script could do what was forbidden."""
        run = Effect("shell.exec", Risk.EXECUTION, unverified=HIDDEN_PROGRAM)
        policy = TaskPolicy(allow_execution=True, allowed_tools=("shell.exec",))
        assert decide(policy, run).verdict is Verdict.ALLOW
        for limit in (
            {"user_prohibitions": (ban("DELETE"),)},
            {"allowed_external_domains": ("a.example",)},
            {"allowed_paths": ("/srv",)},
        ):
            assert decide(replace(policy, **limit), run).reason is ReasonCode.MAY_BE_PROHIBITED

    def test_verified_execution_under_a_ban_runs(self) -> None:
        """Running the tests under "don't delete anything" needs no question."""
        policy = TaskPolicy(
            allow_execution=True, permissions=(Permission(capability="test.run"),), user_prohibitions=(ban("DELETE"),)
        )
        assert decide(policy, Effect("test.run", Risk.EXECUTION)).verdict is Verdict.ALLOW

    def test_no_grant_lifts_a_ban(self) -> None:
        """INVARIANT: prohibitions precede grants."""
        call = action(send(JOHN), tool="mail", args={"to": JOHN})
        grant = grant_for(
            call, ["ceiling_off:email.send", "recipient_not_bound:email.send"], grant_id="g", max_calls=None
        )
        assert grant is not None
        state = ExecutionState(grants=(grant,))
        assert decide(TaskPolicy(), call, state=state).reason is ReasonCode.GRANTED
        banned = TaskPolicy(user_prohibitions=(ban("COMMUNICATION"),))
        assert decide(banned, call, state=state).reason is ReasonCode.PROHIBITED


class TestGrants:
    """Check 5: what was shown, and nothing wider."""

    def _granted(self, **fields: object) -> ExecutionState:
        call = action(send(JOHN), tool="mail", args={"to": JOHN, "body": "one"}, content=frozenset({"body"}))
        asks = decide(TaskPolicy(), call).asks
        grant = grant_for(call, asks, grant_id="g", **fields)  # type: ignore[arg-type]
        assert grant is not None
        return ExecutionState(grants=(grant,))

    def test_message_text_is_no_part_of_a_grant(self) -> None:
        """The same send with another text is covered, another argument is not."""
        state = self._granted()
        other_text = action(send(JOHN), tool="mail", args={"to": JOHN, "body": "two"}, content=frozenset({"body"}))
        assert decide(TaskPolicy(), other_text, state=state).reason is ReasonCode.GRANTED
        other_flag = action(send(JOHN), tool="mail", args={"to": JOHN, "urgent": True}, content=frozenset({"body"}))
        assert decide(TaskPolicy(), other_flag, state=state).verdict is Verdict.ASK_USER

    def test_uses_and_time_end_a_grant(self) -> None:
        """``once`` is one call; ``until`` ends."""
        call = action(send(JOHN), tool="mail", args={"to": JOHN, "body": "x"}, content=frozenset({"body"}))
        used = replace(self._granted(), grant_uses={"g": 1})
        assert decide(TaskPolicy(), call, state=used).verdict is Verdict.ASK_USER
        timed = self._granted(max_calls=None, expires_at=10.0)
        assert decide(TaskPolicy(), call, state=timed, now=9.0).verdict is Verdict.ALLOW
        assert decide(TaskPolicy(), call, state=timed, now=10.0).verdict is Verdict.ASK_USER

    def test_a_question_that_was_not_open_is_not_answered(self) -> None:
        """A later requirement of approval is asked about although the call was approved before."""
        call = action(send(JOHN), tool="mail", args={"to": JOHN, "body": "x"}, content=frozenset({"body"}))
        stricter = TaskPolicy(requires_approval=("email.send",))
        assert decide(stricter, call, state=self._granted()).verdict is Verdict.ASK_USER

    def test_a_later_lower_limit_ends_a_grant(self) -> None:
        """A reviewer's story: approve 50 for the task, then "don't spend more than 10"."""
        grant = grant_for(action(pay("b@x.example", "50"), tool="pay"), [], grant_id="g", max_calls=None)
        assert grant is not None
        row = Permission(capability="payment.send", recipients=("b@x.example",))
        before, lower = TaskPolicy(permissions=(row,)), replace(row, max_amount="10")
        assert surviving((grant,), before, before) == (grant,)
        assert surviving((grant,), before, TaskPolicy(permissions=(lower,))) == ()
        assert surviving((grant,), TaskPolicy(permissions=(lower,)), TaskPolicy(permissions=(lower,))) == (grant,)
        mail = grant_for(action(send(JOHN), tool="mail"), [], grant_id="m")
        assert mail is not None
        assert surviving((mail, grant), before, replace(before, max_external_writes=1)) == (grant,)

    def test_what_has_no_canonical_form_gets_no_grant(self) -> None:
        """A cyclic argument has no digest, and an empty digest never matches."""
        loop: list[object] = []
        loop.append(loop)
        assert grant_for(action(send(JOHN), args={"x": loop}), [], grant_id="g") is None


def test_a_later_block_wins_over_an_earlier_question() -> None:
    """How "first match" and "a BLOCK always wins" fit together."""
    policy = TaskPolicy(allowed_paths=("/srv",), allow_local_writes=True)
    assert decide(policy, write("/etc/motd")).rule == "path_allowlist"


def test_explain_reports_every_check_and_what_an_approval_covers() -> None:
    """Explain runs the same checks to the end."""
    told = explain(prepare(TaskPolicy()), ExecutionState(), action(send(JOHN), tool="mail"), HostFacts(), 0.0)
    objecting = [report.name for report in told.reports if report.outcomes]
    assert objecting == ["ceiling_and_listing", "recipient_binding"]
    assert told.covers[0].recipients == (JOHN,)
    assert "anybody else" in told.not_covered
    assert explain(prepare(TaskPolicy()), ExecutionState(), action(delete("/a")), HostFacts(), 0.0).covers == ()


def test_strict_preset_blocks_what_the_words_never_ask_for() -> None:
    """DESIGN 6, presets."""
    from agentsfence_core.evaluation import EvaluationOptions

    strict = EvaluationOptions(unrequested_blocks=True)
    assert decide(TaskPolicy(), send(JOHN), options=strict).verdict is Verdict.BLOCK
    assert decide(TaskPolicy(), read(), options=strict).verdict is Verdict.ALLOW


def test_permission_to_run_the_tests_is_for_the_projects_own_tools() -> None:
    """A reviewer's list: ``pytest /tmp/evil`` and ``make CC=/tmp/e`` are not what "run the tests", "build" ask for."""
    policy = TaskPolicy(allow_execution=True, permissions=(Permission(capability="test.run"),))
    assert decide(policy, Effect("test.run", Risk.EXECUTION)).verdict is Verdict.ALLOW
    hidden = Effect("test.run", Risk.EXECUTION, unverified=HIDDEN_PROGRAM)
    assert decide(policy, hidden).reason is ReasonCode.TARGET_UNVERIFIED
    script = TaskPolicy(
        allow_execution=True, permissions=(Permission(capability="script.run", paths=("/srv/w/a.sh",)),)
    )
    named = Effect("script.run", Risk.EXECUTION, paths=("/srv/w/a.sh",), unverified=HIDDEN_PROGRAM)
    assert decide(script, named).verdict is Verdict.ALLOW
