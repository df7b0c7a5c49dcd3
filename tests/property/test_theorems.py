"""The theorems about the evaluator (DESIGN 12), each with a deliberate fault that it must notice.

A theorem is a plain function of one example that asserts. Hypothesis looks for a counterexample that shrinks; the same
function over seeded examples must fail once the fault is in: a test that cannot fail proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from tests import strategies
from tests.oracle.likeness import party_in
from tests.strategies import HOME, NOW, Dice, drawn, rolled

from agentsfence_core.evaluation import (
    CHECKS,
    EvaluationOptions,
    charge_of,
    evaluate,
    evaluator,
    prepare,
)
from agentsfence_core.model import (
    CEILING_OF,
    CONSEQUENTIAL,
    OUTBOUND,
    Action,
    Decision,
    Effect,
    ExecutionState,
    HostFacts,
    ObjectRef,
    Outcome,
    Permission,
    PolicySource,
    Prohibition,
    ReasonCode,
    Risk,
    Source,
    TargetKind,
    TaskPolicy,
    ToolCall,
    ToolConstraint,
    Verdict,
)

if TYPE_CHECKING:
    from agentsfence_core.evaluation.context import Context

ROUNDS = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
OPTIONS = EvaluationOptions(home=HOME)
HOST = HostFacts(home=HOME)

Say = Callable[["Context"], Outcome | None]


def decide(policy: TaskPolicy, action: Action, state: ExecutionState | None = None) -> Decision:
    """The decision on one call, on an interactive host."""
    return evaluate(prepare(policy, OPTIONS), state or ExecutionState(), action, HOST, NOW)


def call(*effects: Effect, tool: str = "tool") -> Action:
    """A call with these effects."""
    return Action(ToolCall(tool, {}), effects, Source.CATALOGUE)


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Replace the named checks: by silence, or by what ``say`` says."""

    def install(*names: str, say: Say = lambda _: None) -> None:
        assert names
        assert set(names) <= {check.name for check in CHECKS}
        broken = tuple(replace(check, run=say) if check.name in names else check for check in CHECKS)
        monkeypatch.setattr(evaluator, "CHECKS", broken)

    return install


T = TypeVar("T")


def notices(theorem: Callable[[T], None], examples: Iterable[T]) -> None:
    """A theorem fails on one of the examples."""
    with pytest.raises(AssertionError):
        for example in examples:
            theorem(example)


@dataclass(frozen=True)
class Example:
    """A policy, a state and a call."""

    policy: TaskPolicy
    state: ExecutionState
    action: Action

    def decision(self) -> Decision:
        """What the evaluator says."""
        return decide(self.policy, self.action, self.state)


def example(dice: Dice) -> Example:
    """One of the pool."""
    return Example(strategies.policy(dice), strategies.state(dice), strategies.action(dice))


# ---------------------------------------------------------------- total

HOSTILE = (
    *("", " ", "*", "[", "[!", "**/**", "\0", "\ud800", "\n", "..", "/", "//", "~", "~/", "@", "a@", "*.", "xn--"),
    *("::1", "id:", "name:", "event:", "NaN", "-Infinity", "1e999999999", "9" * 5000, "READ", "UNKNOWN", "x" * 5000),
    *("\u0663", "\u2177", "\u202e"),
)


def hostile(dice: Dice) -> Example:
    """A policy and a call of texts that nobody checked."""

    def text() -> tuple[str, ...]:
        return dice.some(HOSTILE, 3)

    def word() -> str:
        return dice.pick(HOSTILE)

    effect = Effect(
        word(),
        dice.pick(tuple(Risk)),
        recipients=text(),
        domains=text(),
        paths=text(),
        objects=tuple(ObjectRef(word(), name) for name in text()),
        values=tuple((dice.pick(("amount", word())), value) for value in text()),
        urls=text(),
        unverified=frozenset(dice.some(tuple(TargetKind))),
        invocation=dice.pick((0, -1, 2**70)),
    )
    args: dict[str, object] = {"self": None, word(): float("nan"), "bytes": b"\xff", "set": {1, "1"}}
    args["self"] = args
    row = Permission(
        capability=word(),
        recipients=text(),
        domains=text(),
        paths=text(),
        objects=text(),
        values={word(): word()},
        max_calls=dice.pick((None, -1, 2**70)),
        max_amount=dice.pick((None, *HOSTILE)),
    )
    bounds = ToolConstraint(allowed_recipients=text(), allowed_paths=text(), max_amount=dice.pick((None, *HOSTILE)))
    policy = TaskPolicy(
        allowed_tools=text(),
        denied_tools=dice.maybe(HOSTILE),
        tool_constraints={word(): bounds},
        allowed_recipients=dice.maybe(HOSTILE),
        allowed_external_domains=dice.maybe(HOSTILE),
        allowed_paths=dice.maybe(HOSTILE),
        max_external_writes=dice.pick((None, -1, 2**70)),
        requires_approval=dice.maybe(HOSTILE),
        permissions=(row, replace(row, capability=effect.capability)),
        user_prohibitions=tuple(Prohibition(what=what) for what in dice.maybe(HOSTILE)),
        expires_at=dice.pick((None, datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC))),
        allow_external_writes=True,
        allow_financial_actions=True,
    )
    return Example(policy, ExecutionState(), Action(ToolCall(word(), args), (effect,), Source.NONE))


def is_total(one: Example) -> None:
    """Every input has a verdict."""
    try:
        decision = one.decision()
    except Exception as error:
        raise AssertionError(repr(error)) from error
    assert decision.verdict in Verdict
    assert decision.enforced is decision.verdict
    assert decision.reason in ReasonCode


@ROUNDS
@given(drawn(hostile))
def test_total(one: Example) -> None:
    is_total(one)


def test_total_notices_a_check_that_raises(fault: Callable[..., None]) -> None:
    def raises(context: Context) -> Outcome | None:
        raise KeyError(context.effect.capability)

    fault("ceiling_and_listing", say=raises)
    notices(is_total, rolled(hostile, 200, 1))


# ---------------------------------------------------------------- deterministic


def is_deterministic(one: Example) -> None:
    """The same question has the same answer, in whatever order and whoever prepared the policy."""
    prepared = prepare(one.policy, OPTIONS)
    first = evaluate(prepared, one.state, one.action, HOST, NOW)
    evaluate(prepared, ExecutionState(), call(Effect("file.read", Risk.READ)), HOST, NOW)
    assert evaluate(prepared, one.state, one.action, HOST, NOW) == first
    assert one.decision() == first
    turned = replace(one.policy, tool_constraints=dict(reversed(list(one.policy.tool_constraints.items()))))
    assert replace(one, policy=turned).decision().verdict is first.verdict


@ROUNDS
@given(drawn(example))
def test_deterministic(one: Example) -> None:
    is_deterministic(one)


def test_deterministic_notices_a_check_that_remembers(fault: Callable[..., None]) -> None:
    seen: list[str] = []

    def every_third(context: Context) -> Outcome | None:
        seen.append(context.effect.capability)
        block = Outcome(Verdict.BLOCK, ReasonCode.NOT_LISTED, "", context.effect)
        return block if len(seen) % 3 == 0 else None

    fault("ceiling_and_listing", say=every_third)
    notices(is_deterministic, rolled(example, 200, 1))


# ---------------------------------------------------------------- fail-closed


def is_fail_closed(one: Example) -> None:
    """A policy that says nothing allows reading only, and what nobody can classify needs its exact name by a person."""
    silent = decide(TaskPolicy(), one.action)
    assert (silent.verdict is Verdict.ALLOW) == all(effect.risk is Risk.READ for effect in one.action.effects)
    named = one.policy.source is PolicySource.MANUAL and one.action.tool in one.policy.allowed_tools
    if any(effect.risk is Risk.UNKNOWN for effect in one.action.effects) and not named:
        assert one.decision().verdict is not Verdict.ALLOW


@ROUNDS
@given(drawn(example))
def test_fail_closed(one: Example) -> None:
    is_fail_closed(one)


def test_fail_closed_notices_a_lost_ceiling(fault: Callable[..., None]) -> None:
    fault("ceiling_and_listing")
    notices(is_fail_closed, rolled(example, 200, 1))


def unseen(dice: Dice) -> Example:
    """An effect with a kind of target that cannot be read, under a policy that authorizes all and bounds that kind."""
    capability, risk = dice.pick([pair for pair in strategies.CAPABILITIES if pair[1] in CONSEQUENTIAL])
    bounds: Mapping[TargetKind, Mapping[str, object]] = {
        TargetKind.RECIPIENTS: {"recipients": strategies.RECIPIENTS},
        TargetKind.DOMAINS: {"domains": ("example.com",)},
        TargetKind.PATHS: {"paths": ("/w",)},
        TargetKind.OBJECTS: {"objects": ("event:standup",)},
        TargetKind.VALUES: {"values": {"role": "reader"}},
    }
    kind = dice.pick(tuple(bounds))
    row = replace(Permission(capability=capability, recipients=("john@example.com",)), **bounds[kind])  # type: ignore[arg-type]
    effect = Effect(capability, risk, recipients=("john@example.com",), unverified=frozenset({kind}))
    return Example(replace(generous(), permissions=(row,)), ExecutionState(), call(effect))


def generous() -> TaskPolicy:
    """Every ceiling on and nothing listed."""
    return replace(TaskPolicy(), **{ceiling.value: True for ceiling in CEILING_OF.values()})  # type: ignore[arg-type]


def is_closed_to_the_unseen(one: Example) -> None:
    """What cannot be read under a bound is asked; the same effect in plain sight is not."""
    assert one.decision().verdict is Verdict.ASK_USER
    plain = tuple(replace(effect, unverified=frozenset()) for effect in one.action.effects)
    assert decide(one.policy, call(*plain)).verdict is Verdict.ALLOW


@ROUNDS
@given(drawn(unseen))
def test_fail_closed_towards_what_cannot_be_read(one: Example) -> None:
    is_closed_to_the_unseen(one)


def test_fail_closed_towards_what_cannot_be_read_notices_lost_bounds(fault: Callable[..., None]) -> None:
    fault("argument_constraints")
    notices(is_closed_to_the_unseen, rolled(unseen, 200, 1))


# ---------------------------------------------------------------- prohibition dominance


@dataclass(frozen=True)
class Banned:
    """An example, and which of its effects is then forbidden, by which name."""

    example: Example
    ban: str


def banned(dice: Dice) -> Banned:
    """A ban by class, tool, capability or glob."""
    one = example(dice)
    effect = dice.pick(one.action.effects)
    glob = effect.capability[:3] + "*"
    return Banned(one, dice.pick((effect.risk.value, one.action.tool, effect.capability, glob)))


def dominates(one: Banned) -> None:
    """What the person forbade is BLOCK, whatever was listed, approved or granted."""
    before = one.example
    grant = strategies.approve(before.action, before.decision().asks, max_calls=None)
    everything = replace(generous(), allowed_tools=("*", before.action.tool), allowed_risk_classes=tuple(Risk))
    for policy in (before.policy, everything):
        for grants in ((), (grant,)):
            bans = (*policy.user_prohibitions, Prohibition(what=one.ban, quote="never"))
            state = replace(before.state, grants=grants)
            assert decide(replace(policy, user_prohibitions=bans), before.action, state).verdict is Verdict.BLOCK


@ROUNDS
@given(drawn(banned))
def test_prohibition_dominance(one: Banned) -> None:
    dominates(one)


def test_prohibition_dominance_notices_a_lost_check(fault: Callable[..., None]) -> None:
    fault("prohibitions")
    notices(dominates, rolled(banned, 200, 1))


# ---------------------------------------------------------------- double key


def holds_both_keys(one: Example) -> None:
    """ALLOW of a consequential effect: its ceiling is on, and something names it."""
    policy, tool = one.policy, one.action.tool
    decision = one.decision()
    if decision.verdict is not Verdict.ALLOW:
        return
    for effect in one.action.effects:
        if effect.risk in CONSEQUENTIAL:
            assert getattr(policy, CEILING_OF[effect.risk].value)
            stripped = replace(policy, allowed_tools=(), allowed_risk_classes=(), permissions=())
            assert decide(stripped, one.action, one.state).verdict is not Verdict.ALLOW
            assert (
                any(row.capability == effect.capability for row in policy.permissions)
                or effect.risk in policy.allowed_risk_classes
                or any(
                    entry in {tool, effect.capability, effect.risk.value} or "*" in entry
                    for entry in policy.allowed_tools
                )
            )


@ROUNDS
@given(drawn(example))
def test_double_key(one: Example) -> None:
    holds_both_keys(one)


def test_double_key_notices_a_lost_check(fault: Callable[..., None]) -> None:
    fault("ceiling_and_listing")
    notices(holds_both_keys, rolled(example, 1000, 1))


# ---------------------------------------------------------------- one row


@dataclass(frozen=True)
class Payment:
    """Rows that each bind a payee to a sum, and a payment."""

    rows: tuple[Permission, ...]
    recipient: str
    amount: str


def payment(dice: Dice) -> Payment:
    """Two or three rows."""
    sums = ("5", "10", "500")
    rows = tuple(
        Permission(
            capability="payment.send", recipients=(dice.pick(strategies.RECIPIENTS),), max_amount=dice.pick(sums)
        )
        for _ in range(2 + dice.throw(2))
    )
    return Payment(rows, dice.pick(strategies.RECIPIENTS), dice.pick(sums))


def fits_one_row(one: Payment) -> None:
    """The payee and the sum stand in the same row: "10 to A and 500 to B" never lets A have 500."""
    policy = replace(generous(), permissions=one.rows)
    effect = Effect("payment.send", Risk.FINANCIAL, recipients=(one.recipient,), values=(("amount", one.amount),))
    fits = [
        party_in(one.recipient, row.recipients)
        and row.max_amount is not None
        and Decimal(one.amount) <= Decimal(row.max_amount)
        for row in one.rows
    ]
    assert decide(policy, call(effect)).verdict is (Verdict.ALLOW if any(fits) else Verdict.BLOCK)


@ROUNDS
@given(drawn(payment))
def test_one_row(one: Payment) -> None:
    fits_one_row(one)


def test_one_row_notices_lost_bounds(fault: Callable[..., None]) -> None:
    fault("argument_constraints")
    notices(fits_one_row, rolled(payment, 200, 1))


# ---------------------------------------------------------------- attenuation


@dataclass(frozen=True)
class Approved:
    """A call that was approved, and another one."""

    example: Example
    other: Action


def approved(dice: Dice) -> Approved:
    """The other call differs in a single thing."""
    one = example(dice)
    return Approved(one, strategies.near(dice, one.action))


def attenuates(one: Approved) -> None:
    """A grant covers the call that was shown, message text apart, and no other; once is once."""
    asked = one.example.decision()
    if asked.verdict is not Verdict.ASK_USER:
        return
    grant = strategies.approve(one.example.action, asked.asks)
    state = replace(one.example.state, grants=(grant,))
    again = decide(one.example.policy, one.example.action, state)
    assert (again.verdict, again.covered_by) == (Verdict.ALLOW, grant.id)
    spent = state.charged(charge_of(prepare(one.example.policy, OPTIONS), state, one.example.action, grant.id))
    assert decide(one.example.policy, one.example.action, spent).covered_by == ""
    if essence(one.other) != essence(one.example.action):
        assert decide(one.example.policy, one.other, state).covered_by == ""


def essence(action: Action) -> object:
    """All of a call but its message text."""
    args = {name: value for name, value in action.call.args.items() if name not in action.content}
    return action.tool, args, action.effects


@ROUNDS
@given(drawn(approved))
def test_attenuation(one: Approved) -> None:
    attenuates(one)


def test_attenuation_notices_a_grant_for_the_whole_tool(fault: Callable[..., None]) -> None:
    def by_tool(context: Context) -> Outcome | None:
        named = [grant for grant in context.state.grants if grant.tool == context.action.tool]
        return Outcome(Verdict.ALLOW, ReasonCode.GRANTED, named[0].id) if named else None

    fault("grants", say=by_tool)
    notices(attenuates, rolled(approved, 1000, 1))


# ---------------------------------------------------------------- budget


@dataclass(frozen=True)
class Spree:
    """A task with limits, and many calls."""

    policy: TaskPolicy
    calls: tuple[Action, ...]


def spree(dice: Dice) -> Spree:
    """Sends, posts and payments, one a call, under limits of every sort."""
    rows = (
        Permission(capability="payment.send", recipients=("john@example.com",), max_calls=dice.pick((None, 1, 3))),
        Permission(
            capability="payment.send", recipients=("ann@example.com",), max_amount=dice.pick((None, "10", "25.5"))
        ),
        Permission(capability="web.post", max_calls=dice.pick((None, 2))),
    )
    policy = replace(
        generous(),
        allowed_tools=("email.send",),
        allowed_recipients=strategies.RECIPIENTS,
        max_external_writes=dice.pick((None, 0, 1, 4)),
        permissions=rows,
        tool_constraints={"batch": ToolConstraint(max_calls=dice.pick((None, 1, 3)))},
    )
    return Spree(policy, tuple(spending(dice, 1) for _ in range(8)))


def batches(dice: Dice) -> Spree:
    """The same limits, and calls of one or two invocations."""
    return replace(spree(dice), calls=tuple(spending(dice, 1 + dice.throw(2)) for _ in range(8)))


def spending(dice: Dice, number: int) -> Action:
    """One call that uses something up."""
    effects = []
    for invocation in range(number):
        capability, risk = dice.pick(
            (("payment.send", Risk.FINANCIAL), ("web.post", Risk.EXTERNAL_WRITE), ("email.send", Risk.COMMUNICATION))
        )
        recipients = () if risk is Risk.EXTERNAL_WRITE else (dice.pick(strategies.RECIPIENTS[:2]),)
        values = (("amount", dice.pick(("4.50", "10", "0.01"))),) if risk is Risk.FINANCIAL else ()
        effects.append(Effect(capability, risk, recipients=recipients, values=values, invocation=invocation))
    return call(*effects, tool=dice.pick(("batch", "tool")))


def keeps_the_budget(one: Spree) -> None:
    """However many calls come, what was admitted stays within every limit."""
    prepared, state, admitted = prepare(one.policy, OPTIONS), ExecutionState(), list[Action]()
    for action in one.calls:
        if evaluate(prepared, state, action, HOST, NOW).verdict is Verdict.ALLOW:
            admitted.append(action)
            state = state.charged(charge_of(prepared, state, action))
    within(one.policy.max_external_writes, invocations(admitted, lambda _, effect: effect.risk in OUTBOUND))
    batch = one.policy.tool_constraints["batch"].max_calls
    within(batch, invocations(admitted, lambda action, _: action.tool == "batch"))
    john, ann, post = one.policy.permissions
    paid = [effect for action in admitted for effect in action.effects if effect.capability == "payment.send"]
    within(john.max_calls, sum(effect.recipients == john.recipients for effect in paid))
    within(post.max_calls, invocations(admitted, lambda _, effect: effect.capability == "web.post"))
    spent = sum((Decimal(effect.values[0][1]) for effect in paid if effect.recipients == ann.recipients), Decimal(0))
    within(None if ann.max_amount is None else Decimal(ann.max_amount), spent)


def invocations(admitted: list[Action], counts: Callable[[Action, Effect], bool]) -> int:
    """How many invocations of the admitted calls count."""
    return sum(len({effect.invocation for effect in one.effects if counts(one, effect)}) for one in admitted)


def within(limit: Decimal | int | None, used: Decimal | int) -> None:
    """A limit holds."""
    assert limit is None or used <= limit


@ROUNDS
@given(drawn(spree))
def test_budget(one: Spree) -> None:
    keeps_the_budget(one)


def test_budget_within_one_call() -> None:
    for one in rolled(batches, 400, 1):
        keeps_the_budget(one)


@pytest.mark.parametrize("check", ["outbound_budget", "argument_constraints"])
def test_budget_notices_a_lost_check(check: str, fault: Callable[..., None]) -> None:
    fault(check)
    notices(keeps_the_budget, rolled(spree, 400, 1))


def test_budget_notices_a_charge_that_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ExecutionState, "charged", lambda self, _: self)
    notices(keeps_the_budget, rolled(spree, 400, 1))


# ---------------------------------------------------------------- the faults are what the theorems notice


def holds(theorem: Callable[[T], None], make: Callable[[Dice], T]) -> Callable[[], None]:
    """A theorem over the seeded examples on which its fault is tested."""

    def over_examples() -> None:
        for one in rolled(make, 1_000, 1):
            theorem(one)

    return over_examples


@pytest.mark.parametrize(
    "over_examples",
    [
        pytest.param(holds(is_total, hostile), id="total"),
        pytest.param(holds(is_deterministic, example), id="deterministic"),
        pytest.param(holds(is_fail_closed, example), id="fail-closed"),
        pytest.param(holds(is_closed_to_the_unseen, unseen), id="fail-closed towards what cannot be read"),
        pytest.param(holds(dominates, banned), id="prohibition dominance"),
        pytest.param(holds(holds_both_keys, example), id="double key"),
        pytest.param(holds(fits_one_row, payment), id="one row"),
        pytest.param(holds(attenuates, approved), id="attenuation"),
        pytest.param(holds(keeps_the_budget, spree), id="budget"),
    ],
)
def test_without_a_fault_the_seeded_examples_hold(over_examples: Callable[[], None]) -> None:
    over_examples()
