"""The policies that one call must satisfy: a task's own, and those of every ancestor of a subtask (DESIGN 8).

Rules of this file: pure functions; the strictest level decides; every counter is counted once, however many levels
count it; a grant is used up where it was given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from agentsfence_core import tasks
from agentsfence_core.evaluation import PreparedPolicy, charge_of
from agentsfence_core.evaluation.grants import covering_grants
from agentsfence_core.model import Action, Decision, ExecutionState, Grant, ReasonCode, Verdict
from agentsfence_core.model.decision import STRICTNESS
from agentsfence_core.ports import TaskRecord

_FEW = 8  # grants that are looked through without an index
_INDEXED = 256  # tuples of grants whose index is kept
_NOTHING_USED: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class Level:
    """One policy that a call must satisfy, with the state that it is judged under."""

    task: str
    """The ancestor whose policy it is; empty for the task itself."""
    prepared: PreparedPolicy
    state: ExecutionState


@dataclass(frozen=True, slots=True)
class Judged:
    """The strictest decision over all levels, and the grants that it rests on: level's task and grant id."""

    decision: Decision
    grants: tuple[tuple[str, str], ...] = ()


class GrantIndex:
    """Finds the grants about one call among thousands without looking at each: they are about one digest."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[tuple[Grant, ...], dict[str, tuple[Grant, ...]]]] = {}

    def about(self, grants: tuple[Grant, ...], identity: str) -> tuple[Grant, ...]:
        """Return the grants whose call has this digest; a call without digest has none."""
        if not grants or not identity:
            return ()
        if len(grants) <= _FEW:
            return tuple(grant for grant in grants if grant.arguments_digest == identity)
        known = self._known.get(id(grants))
        if known is None or known[0] is not grants:
            if len(self._known) >= _INDEXED:
                self._known = {}
            known = self._known[id(grants)] = (grants, _by_digest(grants))
        return known[1].get(identity, ())


def _by_digest(grants: tuple[Grant, ...]) -> dict[str, tuple[Grant, ...]]:
    index: dict[str, list[Grant]] = {}
    for grant in grants:
        index.setdefault(grant.arguments_digest, []).append(grant)
    return {digest: tuple(found) for digest, found in index.items()}


def uses_of(
    grants: Iterable[Grant], own: ExecutionState, other: ExecutionState, without: frozenset[str]
) -> Mapping[str, int]:
    """Return how often grants were used, in the task or in the ancestor that gave them; a replayed use counts not."""
    uses = {
        grant.id: own.grant_uses.get(grant.id, other.grant_uses.get(grant.id, 0)) - (grant.id in without)
        for grant in grants
    }
    return uses or _NOTHING_USED


def strictest_of(levels: Sequence[Level], decisions: Sequence[Decision]) -> Judged:
    """Return the strictest decision; the questions of all levels are one question."""
    if len(decisions) == 1:
        covered = decisions[0].covered_by
        return Judged(decisions[0], ((levels[0].task, covered),) if covered else ())
    first = max(decisions, key=lambda decision: STRICTNESS[decision.verdict])
    if first.verdict is Verdict.ASK_USER:
        return Judged(replace(first, asks=tuple(dict.fromkeys(key for d in decisions for key in d.asks))))
    if first.verdict is Verdict.BLOCK:
        return Judged(first)
    covered_by = next((decision for decision in decisions if decision.covered_by), first)
    grants = tuple((level.task, d.covered_by) for level, d in zip(levels, decisions, strict=True) if d.covered_by)
    return Judged(covered_by, grants)


def done_before(judged: Judged, own: ExecutionState, action: Action, now: float) -> Judged:
    """Return the question whether a call that the host plays back after it was done shall happen again (DESIGN 8)."""
    decision = judged.decision
    if decision.verdict is Verdict.BLOCK:
        return judged
    key = f"{ReasonCode.ALREADY_DONE.value}:{action.capability}"
    needed = {*decision.asks, key}
    grant = next((g for g in covering_grants(own.grants, own, action, now) if needed <= g.answers), None)
    if grant is not None:
        allowed = replace(decision, verdict=Verdict.ALLOW, reason=ReasonCode.GRANTED, covered_by=grant.id, asks=())
        return Judged(allowed, (*judged.grants, ("", grant.id)))
    detail = "it was done already, and the host plays it back"
    question = replace(
        decision,
        verdict=Verdict.ASK_USER,
        reason=ReasonCode.ALREADY_DONE,
        rule="task",
        sentence=f"{action.capability} needs your decision: {detail}.",
        guidance=f"This call waits for the person: {detail}. Use the answer that it gave before.",
        asks=tuple(sorted(needed)),
        covered_by="",
    )
    return Judged(question)


def counts(level: Level, action: Action) -> bool:
    """Whether admitting a read would change a counter of this level."""
    prepared = level.prepared
    if not prepared.constraints and not any(effect.capability in prepared.rows for effect in action.effects):
        return False
    return bool(charge_of(prepared, level.state, action).counters)


def bill_for(
    levels: Sequence[Level], judged: Judged, known: TaskRecord, ancestors: Sequence[TaskRecord], action: Action
) -> tasks.Bill:
    """Return what an admitted call costs, and who pays: counters are the root's."""
    if not ancestors:
        charge = charge_of(levels[0].prepared, levels[0].state, action)
        return tasks.Bill(charge.counters, "", tuple(dict.fromkeys(judged.grants)))
    counters: dict[str, int] = {}
    for level in levels:
        for name, units in charge_of(level.prepared, level.state, action).counters:
            counters[name] = max(units, counters.get(name, 0))
    own = {grant.id for grant in known.state.grants}
    uses = {("" if grant in own else task, grant) for task, grant in judged.grants}
    return tasks.Bill(tuple(counters.items()), ancestors[-1].task, tuple(sorted(uses)))
