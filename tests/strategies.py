"""Policies, states, calls and grants drawn from a small pool of names and targets, so that they meet often.

Nothing of the pool touches a guard: no secrets, no hooks, no files of the fence, no URL that carries data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
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

RECIPIENTS = ("john@example.com", "ann@example.com", "mallory@example.net")
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
UNVERIFIED = tuple(TargetKind)

T = TypeVar("T")


def some(pool: tuple[T, ...], at_most: int = 2) -> st.SearchStrategy[tuple[T, ...]]:
    """A few different things of a pool, often none."""
    return st.lists(st.sampled_from(pool), max_size=at_most, unique=True).map(tuple)


def seldom(usual: T, rest: st.SearchStrategy[T], one_in: int = 4) -> st.SearchStrategy[T]:
    """The usual value, and now and then one of the rest."""
    return st.integers(1, one_in).flatmap(lambda chance: rest if chance == one_in else st.just(usual))


def moments() -> st.SearchStrategy[datetime]:
    """A moment around now: long past, just past, now, soon."""
    return st.sampled_from((-50_000.0, -1.0, 0.0, 1.0, 50_000.0)).map(
        lambda gap: datetime.fromtimestamp(NOW + gap, UTC)
    )


# ---------------------------------------------------------------- calls


@st.composite
def effects(draw: st.DrawFn, risks: frozenset[Risk] = frozenset(Risk)) -> Effect:
    """One effect of any class, on targets of the pool."""
    capability, risk = draw(st.sampled_from([pair for pair in CAPABILITIES if pair[1] in risks]))
    # An execution that cannot be read is the usual case, and the one that bans must ask about.
    unverified = draw(seldom((), some(UNVERIFIED)))
    return Effect(
        capability,
        risk,
        recipients=draw(some(RECIPIENTS)),
        domains=draw(seldom((), some(DOMAINS), 2)),
        paths=draw(seldom((), some(PATHS), 2)),
        objects=draw(seldom((), some(OBJECTS))),
        values=draw(seldom((), some(VALUES))),
        urls=draw(seldom((), st.just(("https://docs.example.com/guide",)))),
        unverified=frozenset(unverified),
        invocation=draw(st.sampled_from((0, 0, 1))),
    )


@st.composite
def actions(draw: st.DrawFn, risks: frozenset[Risk] = frozenset(Risk), at_most: int = 3) -> Action:
    """A call with one to three effects, and an argument that counts beside one that is message text."""
    call = ToolCall(draw(st.sampled_from(TOOLS)), {"n": draw(st.integers(0, 1)), "text": draw(st.sampled_from("ab"))})
    found = draw(st.lists(effects(risks), min_size=1, max_size=at_most))
    return Action(call, tuple(found), Source.CATALOGUE, content=worded(found))


def worded(found: list[Effect]) -> frozenset[str]:
    """The arguments that a grant may leave out of its digest: text, where all effects are sends, writes or reads."""
    plain = {Risk.COMMUNICATION, Risk.LOCAL_WRITE, Risk.READ}
    return frozenset({"text"}) if all(effect.risk in plain for effect in found) else frozenset()


@st.composite
def near(draw: st.DrawFn, action: Action) -> Action:
    """The same call, or one that differs from it in a single thing."""
    call, first = action.call, action.effects[0]
    change = draw(st.sampled_from(("same", "same", "text", "n", "tool", "recipient", "fewer", "path", "more", "class")))
    if change == "text":
        return replace(action, call=replace(call, args={**call.args, "text": "c"}))
    if change == "n":
        return replace(action, call=replace(call, args={**call.args, "n": 2}))
    if change == "tool":
        return replace(action, call=replace(call, tool=draw(st.sampled_from(TOOLS))))
    changed = {
        "recipient": (replace(first, recipients=(*first.recipients, "carol@example.com")), *action.effects[1:]),
        "fewer": (replace(first, recipients=()), *action.effects[1:]),
        "path": (replace(first, paths=("/w/other",)), *action.effects[1:]),
        "more": (*action.effects, draw(effects())),
        "class": (replace(first, capability="note.write", risk=Risk.EXTERNAL_WRITE), *action.effects[1:]),
    }
    return replace(action, effects=changed.get(change, action.effects))


# ---------------------------------------------------------------- policies


def targets() -> st.SearchStrategy[Targets]:
    """Targets that a prohibition names or excepts, often none."""
    nothing: tuple[str, ...] = ()
    return st.builds(
        Targets,
        recipients=seldom(nothing, some(RECIPIENTS), 2),
        domains=seldom(nothing, some(DOMAIN_ENTRIES)),
        paths=seldom(nothing, some(PATH_ENTRIES)),
        objects=seldom(nothing, some(OBJECT_ENTRIES)),
    )


def prohibitions() -> st.SearchStrategy[Prohibition]:
    """One ban, with targets and exceptions now and then."""
    none = Targets()
    return st.builds(
        Prohibition,
        what=st.sampled_from(ENTRIES),
        targets=seldom(none, targets(), 2),
        exceptions=seldom(none, targets(), 3),
    )


def counts() -> st.SearchStrategy[int | None]:
    """A limit on invocations, usually none."""
    return seldom(None, st.integers(0, 3), 3)


def constraints() -> st.SearchStrategy[ToolConstraint]:
    """Bounds of one tool or capability."""
    nothing: tuple[str, ...] = ()
    return st.builds(
        ToolConstraint,
        allowed_recipients=seldom(nothing, some(RECIPIENTS), 2),
        allowed_domains=seldom(nothing, some(DOMAIN_ENTRIES)),
        allowed_paths=seldom(nothing, some(PATH_ENTRIES)),
        allowed_objects=seldom(nothing, some(OBJECT_ENTRIES)),
        max_calls=counts(),
        max_amount=seldom(None, st.sampled_from(("10", "15", "4.5")), 6),
    )


def permissions() -> st.SearchStrategy[Permission]:
    """One row."""
    nothing: tuple[str, ...] = ()
    no_values: dict[str, str] = {}
    return st.builds(
        Permission,
        capability=st.sampled_from(ROW_CAPABILITIES),
        recipients=some(RECIPIENTS),
        domains=seldom(nothing, some(DOMAIN_ENTRIES)),
        paths=seldom(nothing, some(PATH_ENTRIES)),
        objects=seldom(nothing, some(OBJECT_ENTRIES)),
        values=seldom(no_values, st.sampled_from(({"role": "reader"}, {"amount": "10"}))),
        max_calls=counts(),
        max_amount=seldom(None, st.sampled_from(("10", "15", "4.5")), 6),
        needs_approval=seldom(False, st.just(True)),
        evidence=st.just("send it"),
    )


@st.composite
def policies(draw: st.DrawFn) -> TaskPolicy:
    """A policy whose ceilings are mostly on and whose lists are mostly short, so that all verdicts occur."""
    nothing: tuple[str, ...] = ()
    no_bans: tuple[Prohibition, ...] = ()
    no_constraints: dict[str, ToolConstraint] = {}
    mostly = st.sampled_from((True, True, True, False))
    return TaskPolicy(
        source=draw(st.sampled_from(PolicySource)),
        allowed_tools=draw(some(ENTRIES, 3)),
        denied_tools=draw(seldom(nothing, some(ENTRIES, 1))),
        allowed_risk_classes=draw(
            st.sampled_from(((Risk.READ,), (), tuple(Risk), (Risk.COMMUNICATION, Risk.EXECUTION)))
        ),
        tool_constraints=draw(
            seldom(no_constraints, st.dictionaries(st.sampled_from(KEYS), constraints(), max_size=2), 3)
        ),
        allowed_recipients=draw(seldom(nothing, some(RECIPIENTS), 2)),
        allowed_external_domains=draw(seldom(nothing, some(DOMAIN_ENTRIES))),
        allowed_paths=draw(seldom(nothing, some(PATH_ENTRIES))),
        max_external_writes=draw(counts()),
        requires_approval=draw(seldom(nothing, some(ENTRIES, 1))),
        permissions=tuple(draw(st.lists(permissions(), max_size=4))),
        user_prohibitions=draw(seldom(no_bans, st.lists(prohibitions(), max_size=2).map(tuple))),
        created_at=draw(seldom(None, moments(), 8)),
        expires_at=draw(seldom(None, moments(), 8)),
        allow_local_writes=draw(mostly),
        allow_external_writes=draw(mostly),
        allow_destructive_actions=draw(mostly),
        allow_financial_actions=draw(mostly),
        allow_execution=draw(mostly),
        allow_permission_changes=draw(mostly),
    )


def hosts() -> st.SearchStrategy[HostFacts]:
    """A host with a person, or one that answers questions by itself."""
    return st.builds(HostFacts, auto_approves=seldom(False, st.just(True)), home=st.just(HOME))


def defaults() -> st.SearchStrategy[dict[Risk, Verdict]]:
    """Settings of ``evaluation.unauthorized``, usually none."""
    usual: dict[Risk, Verdict] = {}
    return seldom(usual, st.dictionaries(st.sampled_from(Risk), st.sampled_from(Verdict), max_size=3), 5)


def states() -> st.SearchStrategy[ExecutionState]:
    """A task that has sent a little already."""
    return st.builds(ExecutionState, counters=st.integers(0, 3).map(lambda sent: {"outbound": sent}))


# ---------------------------------------------------------------- grants


@dataclass(frozen=True)
class Approved:
    """A grant, and the call that the person was shown."""

    grant: Grant
    shown: Action


def approve(
    action: Action, answers: tuple[str, ...], *, max_calls: int | None = 1, until: float | None = None
) -> Approved:
    """The grant of an approved call of the pool, all of which can be identified."""
    grant = grant_for(action, answers, grant_id="g1", max_calls=max_calls, expires_at=until)
    assert grant is not None
    return Approved(grant, action)
