"""Grants: what an approval records, and which call it covers (paper, 5; DESIGN 8).

INVARIANT: a grant covers the call shown and nothing wider: same tool, same folder, same arguments but for message
text, same effects, and no question that was not open when the person approved.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from agentsfence_core.canonical import digest, digest_arguments
from agentsfence_core.evaluation.prepared import amount_units
from agentsfence_core.model import (
    OUTBOUND,
    Action,
    Delta,
    Effect,
    ExecutionState,
    Grant,
    ReasonCode,
    Scope,
    TaskPolicy,
)

if TYPE_CHECKING:
    from agentsfence_core.evaluation.context import Context


USED_UP = frozenset({ReasonCode.BUDGET_USED, ReasonCode.MAX_CALLS_USED, ReasonCode.AMOUNT_ABOVE_LIMIT})
"""Blocks that a grant lifts: what the task allowed is used up, and the person allowed this call besides."""


def call_digest(action: Action) -> str:
    """Return the digest of everything about a call but its message text; empty where it has no canonical form."""
    call = action.call
    arguments = digest_arguments(call.args, action.content)
    return digest(call.tool, arguments, call.workdir, call.shell) if arguments else ""


def deltas_of(action: Action) -> tuple[Delta, ...]:
    """Return exactly the effects and targets of an action. Empty sets stay empty."""
    return tuple(_delta(effect) for effect in action.effects)


def grant_for(
    action: Action,
    answers: Iterable[str],
    *,
    grant_id: str,
    scope: Scope = Scope.ONCE,
    max_calls: int | None = 1,
    expires_at: float | None = None,
    granted_at: float = 0.0,
    granted_by: str | None = None,
) -> Grant | None:
    """Return the grant of an approved call; ``None`` for a call that no digest identifies."""
    identity = call_digest(action)
    if not identity:
        return None
    return Grant(
        id=grant_id,
        tool=action.tool,
        deltas=deltas_of(action),
        arguments_digest=identity,
        answers=frozenset(answers),
        scope=scope,
        max_calls=max_calls,
        expires_at=expires_at,
        granted_at=granted_at,
        granted_by=granted_by,
    )


def covers(grant: Grant, action: Action, identity: str, uses: int, now: float) -> bool:
    """Whether a grant still has a use and is about exactly this call; ``identity`` is the call's digest."""
    return (
        bool(identity)
        and grant.arguments_digest == identity
        and grant.tool == action.tool
        and (grant.max_calls is None or uses < grant.max_calls)
        and (grant.expires_at is None or now < grant.expires_at)
        and _same_effects(grant, deltas_of(action))
    )


def _same_effects(grant: Grant, deltas: tuple[Delta, ...]) -> bool:
    return deltas_digest(deltas) == grant.deltas_digest if grant.deltas_digest else grant.deltas == deltas


def deltas_digest(deltas: tuple[Delta, ...]) -> str:
    """Return a digest of effects, by which a grant knows those that it must not show in full."""
    return digest([[getattr(delta, name) for name in Delta.__slots__] for delta in deltas])


def covering_grants(known: Iterable[Grant], state: ExecutionState, action: Action, now: float) -> tuple[Grant, ...]:
    """Return the grants that are about exactly this call and have a use left."""
    candidates = [grant for grant in known if grant.tool == action.tool]
    if not candidates:
        return ()
    identity = call_digest(action)
    return tuple(g for g in candidates if covers(g, action, identity, state.grant_uses.get(g.id, 0), now))


def surviving(grants: Iterable[Grant], before: TaskPolicy, after: TaskPolicy) -> tuple[Grant, ...]:
    """Return the grants that outlive an amendment: those it sets no lower limit for.

    A grant lifts a limit that is used up; a limit that the person names later is the newer statement, and wins.
    """
    tighter = _tightened(before, after)
    outbound = _lower(after.max_external_writes, before.max_external_writes)
    return tuple(
        grant
        for grant in grants
        if not any(d.capability in tighter or (outbound and d.risk in OUTBOUND) for d in grant.deltas)
    )


def _tightened(before: TaskPolicy, after: TaskPolicy) -> frozenset[str]:
    """Return the capabilities for which some row of the later policy has a lower limit than all rows had before."""
    found = set()
    for row in after.permissions:
        old = [earlier for earlier in before.permissions if earlier.capability == row.capability]
        calls = max((math.inf if e.max_calls is None else e.max_calls for e in old), default=math.inf)
        sums = max(
            (math.inf if e.max_amount is None else amount_units(e.max_amount) or 0 for e in old), default=math.inf
        )
        units = None if row.max_amount is None else amount_units(row.max_amount) or 0
        if _lower(row.max_calls, calls) or _lower(units, sums):
            found.add(row.capability)
    return frozenset(found)


def _lower(limit: float | None, before: float | None) -> bool:
    """Whether a limit is lower than one before, where no limit is the highest."""
    return limit is not None and limit < (math.inf if before is None else before)


def matching_grant(context: Context) -> Grant | None:
    """Return a grant that covers the action and answers every objection of its walk, the first one in order.

    A grant answers questions that were open when the person approved, and counts that are used up since (table 6: "a
    granted call is charged, not refused"). Any other BLOCK means that the person has narrowed the task since: the
    newest explicit statement wins. Where nothing objects, no use of a grant is spent.
    """
    covering = covering_grants(
        (*context.policy.grants, *context.state.grants), context.state, context.action, context.now
    )
    if not covering:
        return None
    from agentsfence_core.evaluation.evaluator import objections_of  # noqa: PLC0415  (the walk that grants are part of)

    asked, blocked = objections_of(context)
    if not blocked <= USED_UP or not (asked or blocked):
        return None
    return next((grant for grant in covering if asked <= grant.answers), None)


def _delta(effect: Effect) -> Delta:
    return Delta(
        capability=effect.capability,
        risk=effect.risk.value,
        recipients=effect.recipients,
        domains=effect.domains,
        paths=effect.paths,
        objects=tuple(str(reference) for reference in effect.objects),
        values=effect.values,
    )
