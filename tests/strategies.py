"""Policies, states, calls and grants drawn from a small pool of names and targets, so that they meet often.

Nothing of the pool touches a guard: no secrets, no hooks, no files of the fence, no URL that carries data.

Each kind of value is one plain function of a `Dice`. Hypothesis throws the dice where a counterexample must shrink
(``policies()``, ``actions()`` ...), a seeded generator where thousands of examples must be cheap (`rolled`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from random import Random
from typing import TypeVar

from hypothesis import strategies as st

from agentsfence_core.evaluation import grant_for
from agentsfence_core.model import (
    Action,
    Effect,
    ExecutionState,
    Grant,
    HostFacts,
    ObjectRef,
    Permission,
    PolicySource,
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

NOW = 1_800_000_000.0
HOME = "/home/u"

TOOLS = ("send_email", "write_file", "bash", "pay", "mystery", "read_file")
CAPABILITIES = (
    ("email.send", Risk.COMMUNICATION),
    ("email.read", Risk.READ),
    ("file.read", Risk.READ),
    ("file.write", Risk.LOCAL_WRITE),
    ("file.delete", Risk.DELETE),
    ("file.share", Risk.PERMISSION_CHANGE),
    ("web.post", Risk.EXTERNAL_WRITE),
    ("payment.send", Risk.FINANCIAL),
    ("shell.exec", Risk.EXECUTION),
    ("unknown", Risk.UNKNOWN),
)
ROW_CAPABILITIES = tuple(name for name, risk in CAPABILITIES if risk is not Risk.UNKNOWN)
ENTRIES = (*TOOLS, *ROW_CAPABILITIES, "*", "email.*", "file.?*", "*_file", *(risk.value for risk in Risk))
KEYS = (*TOOLS, *ROW_CAPABILITIES, "email.*", "file.*", "*_file", "*")

RECIPIENTS = ("john@example.com", "ann@example.com", "mallory@example.net", "#general", "general", "@general")
DOMAINS = ("docs.example.com", "www.docs.example.com", "api.docs.example.com", "evil.example.net")
DOMAIN_ENTRIES = ("docs.example.com", "*.docs.example.com", "evil.example.net")
PATHS = ("/w/sub", "/w/sub/a.txt", "/w/subway/b.txt", "/w/c.txt", f"{HOME}/Downloads/x.zip")
PATH_ENTRIES = ("/w/sub", "/w/sub/", "/w", "~/Downloads", "/w/c.txt")
OBJECTS = (
    ObjectRef("event", "standup"),
    ObjectRef("event", "lunch"),
    ObjectRef("name", "standup"),
    ObjectRef("package", "standup"),
    ObjectRef("id", "77"),
)
OBJECT_ENTRIES = ("event:standup", "event:lunch", "standup", "package:standup", "id:77")
VALUES = (
    ("amount", "10"),
    ("amount", "4.50"),
    ("amount", "ten"),
    ("amount", "-5"),
    ("role", "reader"),
    ("role", "writer"),
)

T = TypeVar("T")


@dataclass(frozen=True)
class Dice:
    """Choices, all made of one throw: a number below ``n``. Zero is the plainest choice."""

    throw: Callable[[int], int]

    def pick(self, pool: Sequence[T]) -> T:
        """One of the pool."""
        return pool[self.throw(len(pool))]

    def seldom(self, one_in: int = 4) -> bool:
        """True now and then."""
        return self.throw(one_in) == one_in - 1

    def some(self, pool: Sequence[T], at_most: int = 2) -> tuple[T, ...]:
        """A few different things of a pool, often none."""
        return tuple(dict.fromkeys(self.pick(pool) for _ in range(self.throw(at_most + 1))))

    def maybe(self, pool: Sequence[T], one_in: int = 4, at_most: int = 2) -> tuple[T, ...]:
        """Usually none."""
        return self.some(pool, at_most) if self.seldom(one_in) else ()


def rolled(make: Callable[[Dice], T], number: int, seed: int) -> Iterator[T]:
    """``number`` examples, the same ones for the same seed."""
    chance = Random(seed)
    dice = Dice(chance.randrange)
    for _ in range(number):
        yield make(dice)


def drawn(make: Callable[[Dice], T]) -> st.SearchStrategy[T]:
    """The same examples as a strategy whose counterexamples shrink."""

    @st.composite
    def strategy(draw: st.DrawFn) -> T:
        return make(Dice(lambda below: draw(st.integers(0, below - 1))))

    return strategy()


# ---------------------------------------------------------------- calls


def effect(dice: Dice) -> Effect:
    """One effect of any class, on targets of the pool."""
    capability, risk = dice.pick(CAPABILITIES)
    unverified = frozenset(dice.maybe(tuple(TargetKind), 5))
    if risk is Risk.EXECUTION and dice.seldom(2):
        unverified |= {TargetKind.PROGRAM}  # the usual case, and the one that every ban must ask about
    return Effect(
        capability,
        risk,
        recipients=dice.some(RECIPIENTS),
        domains=dice.maybe(DOMAINS, 2),
        paths=dice.maybe(PATHS, 2),
        objects=dice.maybe(OBJECTS, 3),
        values=dice.maybe(VALUES, 3),
        urls=("https://docs.example.com/guide",) if dice.seldom() else (),
        unverified=unverified,
        invocation=dice.pick((0, 0, 1)),
    )


def action(dice: Dice) -> Action:
    """A call with one to three effects, and an argument that counts beside one that is message text."""
    call = ToolCall(dice.pick(TOOLS), {"n": dice.throw(2), "text": dice.pick("ab")})
    found = tuple(effect(dice) for _ in range(dice.pick((1, 1, 2, 3))))
    return Action(call, found, Source.CATALOGUE, content=worded(found))


def worded(found: tuple[Effect, ...]) -> frozenset[str]:
    """The arguments that a grant may leave out of its digest: text, where all effects are sends, writes or reads."""
    plain = {Risk.COMMUNICATION, Risk.LOCAL_WRITE, Risk.READ}
    return frozenset({"text"}) if all(one.risk in plain for one in found) else frozenset()


def near(dice: Dice, shown: Action) -> Action:
    """The same call, or one that differs from it in a single thing."""
    call, first, rest = shown.call, shown.effects[0], shown.effects[1:]
    changes = (
        shown,
        replace(shown, call=replace(call, args={**call.args, "text": "c"})),
        replace(shown, call=replace(call, args={**call.args, "n": 2})),
        replace(shown, call=replace(call, tool=dice.pick(TOOLS))),
        replace(shown, effects=(replace(first, recipients=(*first.recipients, "carol@example.com")), *rest)),
        replace(shown, effects=(replace(first, recipients=()), *rest)),
        replace(shown, effects=(replace(first, paths=("/w/other",)), *rest)),
        replace(shown, effects=(replace(first, domains=(*first.domains, "other.example")), *rest)),
        replace(shown, effects=(replace(first, objects=(ObjectRef("event", "dinner"),)), *rest)),
        replace(shown, effects=(replace(first, values=(("amount", "11"),)), *rest)),
        replace(shown, effects=(*shown.effects, effect(dice))),
        replace(shown, effects=(replace(first, capability="note.write", risk=Risk.EXTERNAL_WRITE), *rest)),
    )
    return shown if dice.throw(2) == 0 else dice.pick(changes)


# ---------------------------------------------------------------- policies


def moment(dice: Dice) -> datetime | None:
    """A moment around now, usually none."""
    if not dice.seldom(16):
        return None
    return datetime.fromtimestamp(NOW + dice.pick((50_000.0, 1.0, 0.0, -1.0, -50_000.0)), UTC)


def targets(dice: Dice) -> Targets:
    """Targets that a prohibition names or excepts, often none."""
    return Targets(
        recipients=dice.maybe(RECIPIENTS, 2),
        domains=dice.maybe(DOMAIN_ENTRIES),
        paths=dice.maybe(PATH_ENTRIES),
        objects=dice.maybe(OBJECT_ENTRIES),
    )


def prohibition(dice: Dice) -> Prohibition:
    """One ban, with targets and exceptions now and then."""
    none = Targets()
    return Prohibition(
        what=dice.pick(ENTRIES),
        targets=targets(dice) if dice.seldom(2) else none,
        exceptions=targets(dice) if dice.seldom(3) else none,
    )


def count(dice: Dice) -> int | None:
    """A limit on invocations, usually none."""
    return dice.throw(4) if dice.seldom(3) else None


def amount(dice: Dice) -> str | None:
    """A limit on a sum, usually none."""
    return dice.pick(("10", "15", "4.5")) if dice.seldom(6) else None


def constraint(dice: Dice) -> ToolConstraint:
    """Bounds of one tool or capability."""
    return ToolConstraint(
        allowed_recipients=dice.maybe(RECIPIENTS, 2),
        allowed_domains=dice.maybe(DOMAIN_ENTRIES),
        allowed_paths=dice.maybe(PATH_ENTRIES),
        allowed_objects=dice.maybe(OBJECT_ENTRIES),
        max_calls=count(dice),
        max_amount=amount(dice),
    )


def permission(dice: Dice) -> Permission:
    """One row."""
    return Permission(
        capability=dice.pick(ROW_CAPABILITIES),
        recipients=dice.some(RECIPIENTS),
        domains=dice.maybe(DOMAIN_ENTRIES),
        paths=dice.maybe(PATH_ENTRIES),
        objects=dice.maybe(OBJECT_ENTRIES),
        values=dice.pick(({"role": "reader"}, {"amount": "10"})) if dice.seldom() else {},
        max_calls=count(dice),
        max_amount=amount(dice),
        needs_approval=dice.seldom(),
        evidence="send it",
        shares=dice.pick(("", "", "", "one", "two")),
    )


def policy(dice: Dice) -> TaskPolicy:
    """A policy whose ceilings are mostly on and whose lists are mostly short, so that all verdicts occur."""
    everything = tuple(Risk)
    return TaskPolicy(
        source=dice.pick(tuple(PolicySource)),
        allowed_tools=dice.some(ENTRIES, 3),
        denied_tools=dice.maybe(ENTRIES, 4, 1),
        allowed_risk_classes=dice.pick(
            ((Risk.READ,), everything, (), everything, (Risk.COMMUNICATION, Risk.EXECUTION))
        ),
        tool_constraints={key: constraint(dice) for key in dice.maybe(KEYS, 3)},
        allowed_recipients=dice.maybe(RECIPIENTS, 2),
        allowed_external_domains=dice.maybe(DOMAIN_ENTRIES),
        allowed_paths=dice.maybe(PATH_ENTRIES),
        max_external_writes=count(dice),
        requires_approval=dice.maybe(ENTRIES, 4, 1),
        permissions=tuple(permission(dice) for _ in range(dice.throw(5))),
        user_prohibitions=tuple(prohibition(dice) for _ in range(dice.throw(3))) if dice.seldom() else (),
        created_at=moment(dice),
        expires_at=moment(dice),
        allow_local_writes=not dice.seldom(8),
        allow_external_writes=not dice.seldom(8),
        allow_destructive_actions=not dice.seldom(8),
        allow_financial_actions=not dice.seldom(8),
        allow_execution=not dice.seldom(8),
        allow_permission_changes=not dice.seldom(8),
    )


def host(dice: Dice) -> HostFacts:
    """A host with a person, or one that answers questions by itself."""
    return HostFacts(auto_approves=dice.seldom(), home=HOME)


def unauthorized(dice: Dice) -> dict[Risk, Verdict]:
    """Settings of ``evaluation.unauthorized``, usually none."""
    return {risk: dice.pick(tuple(Verdict)) for risk in dice.maybe(tuple(Risk), 5, 3)}


def state(dice: Dice) -> ExecutionState:
    """A task that has sent a little already."""
    return ExecutionState(counters={"outbound": dice.throw(4)})


def policies() -> st.SearchStrategy[TaskPolicy]:
    """Policies that shrink."""
    return drawn(policy)


def actions() -> st.SearchStrategy[Action]:
    """Calls that shrink."""
    return drawn(action)


# ---------------------------------------------------------------- grants


def approve(shown: Action, answers: Iterable[str], *, max_calls: int | None = 1, until: float | None = None) -> Grant:
    """The grant of an approved call of the pool, all of which can be identified."""
    grant = grant_for(shown, answers, grant_id="g1", max_calls=max_calls, expires_at=until)
    assert grant is not None
    return grant
