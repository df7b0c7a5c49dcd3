"""The evaluator against the naive one: the same verdict, rule and questions on every policy, state and call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, assume, given, settings
from tests import strategies
from tests.oracle.naive import Naive, naive_walk
from tests.oracle.rows import Used
from tests.strategies import HOME, NOW, Dice, drawn, rolled

from agentsfence_core.evaluation import (
    CHECKS,
    DEFAULT_UNAUTHORIZED,
    EvaluationOptions,
    PreparedPolicy,
    charge_of,
    evaluate,
    evaluator,
    prepare,
)
from agentsfence_core.model import (
    Action,
    Decision,
    Effect,
    ExecutionState,
    HostFacts,
    ObjectRef,
    Permission,
    Prohibition,
    Risk,
    Source,
    TargetKind,
    Targets,
    TaskPolicy,
    ToolCall,
    ToolConstraint,
    Verdict,
)

ROUNDS = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@dataclass(frozen=True)
class Case:
    """All that a verdict is compared on."""

    policy: TaskPolicy
    state: ExecutionState
    action: Action
    host: HostFacts
    unauthorized: Mapping[Risk, Verdict]
    strict_auto_approve: bool

    def prepared(self) -> PreparedPolicy:
        """The policy as the evaluator reads it."""
        unauthorized = {**DEFAULT_UNAUTHORIZED, **self.unauthorized}
        return prepare(self.policy, EvaluationOptions(unauthorized, self.strict_auto_approve, home=HOME))

    def real(self) -> Decision:
        """What the evaluator says."""
        return evaluate(self.prepared(), self.state, self.action, self.host, NOW)

    def naive(self, *, used: Used | None = None, shown: Mapping[str, Action] | None = None) -> Naive:
        """What the table says."""
        return naive_walk(
            self.policy,
            self.state,
            self.action,
            self.host,
            NOW,
            unauthorized=self.unauthorized,
            strict_auto_approve=self.strict_auto_approve,
            used=used,
            shown=shown,
        )


BLOCKING = (
    "expiry",
    "prohibitions",
    "deny_list",
    "argument_constraints",
    "ceiling_and_listing",
    "recipient_binding",
    "domain_allowlist",
    "path_allowlist",
    "outbound_budget",
)
ASKING = ("prohibitions", "argument_constraints", "ceiling_and_listing", "recipient_binding", "approval_requirements")


def overlapping(one: Case) -> bool:
    """Whether several effects of a call may choose among several counted rows.

    The table places effects one after the other, so that a used-up row sends the next effect to the next row; the
    evaluator lets each choose by itself and then adds up what they share. It refuses more: such a call must be split.
    """
    limited = [
        row.capability for row in one.policy.permissions if row.max_calls is not None or row.max_amount is not None
    ]
    rows = Counter(row.capability for row in one.policy.permissions)
    together = {row.capability for row in one.policy.permissions if row.shares}
    effects = Counter(effect.capability for effect in one.action.effects)
    shared = sum(effects[capability] for capability in together)
    return any(
        rows[capability] > 1 and (effects[capability] > 1 or (capability in together and shared > 1))
        for capability in limited
    )


def case(dice: Dice) -> Case:
    """A policy, a state, a call, a host and settings."""
    return Case(
        strategies.policy(dice),
        strategies.state(dice),
        strategies.action(dice),
        strategies.host(dice),
        strategies.unauthorized(dice),
        dice.seldom(),
    )


def agree(real: Decision, naive: Naive) -> None:
    """Both say the same, and ask the same.

    Where one effect of a call hides an amount, the evaluator asks about all effects under that sum, and the table about
    the hiding one: the evaluator may ask more keys, but for no other reason.
    """
    assert (real.verdict, real.rule) == (naive.verdict, naive.check)
    if real.verdict is Verdict.ASK_USER:
        assert naive.asks <= frozenset(real.asks)
        assert {ask.partition(":")[0] for ask in real.asks} == {ask.partition(":")[0] for ask in naive.asks}


def apart(examples: Iterable[Case]) -> Iterator[Case]:
    """The cases on which nothing is known to differ."""
    return (one for one in examples if not overlapping(one))


def agree_on(one: Case) -> None:
    """Both agree on one call of a fresh task."""
    agree(one.real(), one.naive())


@ROUNDS
@given(drawn(case))
def test_the_evaluator_says_what_the_table_says(one: Case) -> None:
    assume(not overlapping(one))
    agree_on(one)


def test_both_agree_on_three_thousand_cases_that_reach_every_check() -> None:
    reached: Counter[tuple[Verdict, str]] = Counter()
    for one in apart(rolled(case, 3_000, 20)):
        agree_on(one)
        reached[one.naive().verdict, one.naive().check] += 1
    assert all(reached[Verdict.BLOCK, check] >= 5 for check in BLOCKING), reached
    assert all(reached[Verdict.ASK_USER, check] >= 1 for check in ASKING), reached
    assert reached[Verdict.ALLOW, "default"] >= 200, reached


def test_the_comparison_notices_every_lost_check(monkeypatch: pytest.MonkeyPatch) -> None:
    examples = list(apart(rolled(case, 3_000, 20)))
    for lost in {*BLOCKING, *ASKING}:
        rest = tuple(check for check in CHECKS if check.name != lost)
        assert len(rest) == len(CHECKS) - 1
        monkeypatch.setattr(evaluator, "CHECKS", rest)
        with pytest.raises(AssertionError):
            for one in examples:
                agree_on(one)


@dataclass(frozen=True)
class Session:
    """Several calls of one task, so that what is used up by one is missing for the next."""

    first: Case
    calls: tuple[Action, ...]


def session(dice: Dice) -> Session:
    """Calls that repeat often."""
    first = case(dice)
    pool = (first.action, strategies.near(dice, first.action), strategies.action(dice))
    return Session(first, tuple(dice.pick(pool) for _ in range(4)))


def agree_over(one: Session) -> None:
    """Both agree on every call, after each has charged what it admitted by its own account."""
    state, used, prepared = one.first.state, Used(), one.first.prepared()
    for call in one.calls:
        now = replace(one.first, state=state, action=call)
        if overlapping(now):
            continue
        naive = now.naive(used=used)
        agree(now.real(), naive)
        if naive.verdict is Verdict.ALLOW:
            state, used = state.charged(charge_of(prepared, state, call)), naive.charge


@ROUNDS
@given(drawn(session))
def test_both_count_what_a_task_has_used_alike(one: Session) -> None:
    agree_over(one)


@dataclass(frozen=True)
class Approval:
    """A call that was asked about and approved, and a later one under a policy that may have changed."""

    first: Case
    later: Case
    limit: int | None
    uses: int
    until: float | None


def approval(dice: Dice) -> Approval:
    """A later call that is mostly the same one."""
    first = case(dice)
    changed = strategies.policy(dice) if dice.seldom() else first.policy
    if dice.seldom():
        changed = replace(changed, user_prohibitions=(*changed.user_prohibitions, strategies.prohibition(dice)))
    if dice.seldom():
        changed = replace(changed, requires_approval=("*",))
    later = replace(first, action=strategies.near(dice, first.action), policy=changed)
    return Approval(
        first, later, dice.pick((1, 2, None)), dice.throw(3), dice.pick((None, None, NOW - 1, NOW, NOW + 1))
    )


def agree_after(one: Approval) -> bool:
    """Both agree on the later call; say whether the grant decided it."""
    asked = one.first.real()
    if asked.verdict is not Verdict.ASK_USER or overlapping(one.first) or overlapping(one.later):
        return False
    grant = strategies.approve(one.first.action, asked.asks, max_calls=one.limit, until=one.until)
    state = replace(one.later.state, grants=(grant,), grant_uses={grant.id: one.uses})
    later = replace(one.later, state=state)
    naive = later.naive(shown={grant.id: one.first.action})
    agree(later.real(), naive)
    assert later.real().covered_by == naive.grant
    return bool(naive.grant)


@ROUNDS
@given(drawn(approval))
def test_a_grant_decides_where_the_table_says_so(one: Approval) -> None:
    agree_after(one)


def test_seeded_grants_decide_some_calls_and_not_others() -> None:
    decided = Counter(agree_after(one) for one in rolled(approval, 3_000, 20))
    assert decided[True] >= 50
    assert decided[False] >= 500


# ---------------------------------------------------------------- what the comparison has found

ANN, JOHN = "ann@example.com", "john@example.com"
OPEN = TaskPolicy(
    allow_local_writes=True,
    allow_external_writes=True,
    allow_destructive_actions=True,
    allow_financial_actions=True,
    allowed_tools=("*",),
)


def paid(amount: str, to: str = ANN, invocation: int = 0) -> Effect:
    """A payment."""
    return Effect("payment.send", Risk.FINANCIAL, recipients=(to,), values=(("amount", amount),), invocation=invocation)


PAY_ANN = Permission(capability="payment.send", recipients=(ANN,))
HALF_SEEN = Effect("email.send", Risk.COMMUNICATION, recipients=(ANN,), unverified=frozenset({TargetKind.RECIPIENTS}))
LUNCH = Prohibition(what="DELETE", targets=Targets(objects=("event:lunch",)))

OPAQUE = ObjectRef("id", "77")

FOUND: tuple[tuple[str, TaskPolicy, tuple[Effect, ...], Verdict], ...] = (
    (
        "two payments of one call under one sum of a row",
        replace(OPEN, permissions=(replace(PAY_ANN, max_amount="10"),)),
        (paid("10"), paid("4.50", invocation=1)),
        Verdict.BLOCK,
    ),
    (
        "two payments of one call under one sum of a tool",
        replace(OPEN, allowed_recipients=(ANN,), tool_constraints={"tool": ToolConstraint(max_amount="10")}),
        (paid("10"), paid("4.50", invocation=1)),
        Verdict.BLOCK,
    ),
    (
        "two invocations of different capabilities under one count of a tool",
        replace(OPEN, allowed_recipients=(ANN,), tool_constraints={"tool": ToolConstraint(max_calls=1)}),
        (paid("10"), Effect("web.post", Risk.EXTERNAL_WRITE, invocation=1)),
        Verdict.BLOCK,
    ),
    (
        "two invocations of one call that each fit a row of their own",
        replace(
            OPEN,
            permissions=(replace(PAY_ANN, max_calls=1), replace(PAY_ANN, recipients=(JOHN,), max_calls=1)),
        ),
        (paid("10"), paid("10", JOHN, 1)),
        Verdict.ALLOW,
    ),
    (
        "an amount beside values that cannot be read",
        replace(OPEN, permissions=(replace(PAY_ANN, max_amount="10"),)),
        (replace(paid("4"), unverified=frozenset({TargetKind.VALUES})),),
        Verdict.ASK_USER,
    ),
    (
        "an opaque id where a named object is forbidden",
        replace(OPEN, user_prohibitions=(LUNCH,)),
        (Effect("calendar.delete", Risk.DELETE, objects=(OPAQUE,)),),
        Verdict.ASK_USER,
    ),
    (
        "an opaque id that the exceptions name",
        replace(OPEN, user_prohibitions=(Prohibition(what="DELETE", exceptions=Targets(objects=("id:77",))),)),
        (Effect("calendar.delete", Risk.DELETE, objects=(OPAQUE,)),),
        Verdict.ALLOW,
    ),
    (
        "an amount above the limit beside one that cannot be read",
        replace(OPEN, permissions=(replace(PAY_ANN, max_amount="10"),)),
        (paid("11"), paid("all", invocation=1)),
        Verdict.BLOCK,
    ),
    (
        "an amount above the limit of an effect with values that cannot be read",
        replace(OPEN, permissions=(replace(PAY_ANN, max_amount="10"),)),
        (replace(paid("11"), unverified=frozenset({TargetKind.VALUES})),),
        Verdict.BLOCK,
    ),
    (
        "a policy that only says when it was created",
        replace(OPEN, created_at=datetime.fromtimestamp(NOW - 13 * 3600, UTC)),
        (Effect("file.read", Risk.READ),),
        Verdict.BLOCK,
    ),
    (
        "some recipients shown and others unread, under a task-wide list",
        replace(OPEN, allowed_recipients=(ANN,)),
        (HALF_SEEN,),
        Verdict.ASK_USER,
    ),
    (
        "some recipients shown and others unread, under a task-wide list and a row without parties",
        replace(OPEN, allowed_recipients=(ANN,), permissions=(Permission(capability="email.send"),)),
        (HALF_SEEN,),
        Verdict.ASK_USER,
    ),
)


@pytest.mark.parametrize(("policy", "effects", "verdict"), [row[1:] for row in FOUND], ids=[row[0] for row in FOUND])
def test_found_by_comparing(policy: TaskPolicy, effects: tuple[Effect, ...], verdict: Verdict) -> None:
    action = Action(ToolCall("tool", {}), effects, Source.CATALOGUE)
    one = Case(policy, ExecutionState(), action, HostFacts(home=HOME), {}, strict_auto_approve=False)
    assert one.naive().verdict is verdict
    assert one.real().verdict is verdict
