"""The evaluator against the naive one: the same verdict, rule and questions on every policy, state and call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hypothesis import HealthCheck, given, settings
from tests import strategies
from tests.oracle.naive import Naive, naive_walk
from tests.oracle.rows import Used
from tests.strategies import HOME, NOW, Dice, drawn

from agentsfence_core.evaluation import (
    DEFAULT_UNAUTHORIZED,
    EvaluationOptions,
    PreparedPolicy,
    charge_of,
    evaluate,
    prepare,
)
from agentsfence_core.model import Action, Decision, ExecutionState, HostFacts, Risk, TaskPolicy, Verdict

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
    """Both say the same; a question is the same question."""
    assert (real.verdict, real.rule) == (naive.verdict, naive.check)
    if real.verdict is Verdict.ASK_USER:
        assert frozenset(real.asks) == naive.asks


@ROUNDS
@given(drawn(case))
def test_the_evaluator_says_what_the_table_says(one: Case) -> None:
    agree(one.real(), one.naive())


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
    if asked.verdict is not Verdict.ASK_USER:
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
