"""Builds a `TaskPolicy` from rows: the rows are the truth, every other field is a view of them (DESIGN 6).

INVARIANT: the view never lists, binds or counts what no row does; where rows differ in what they bind, the view binds
nothing, and the rows alone decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation

from agentsfence_compiler.language.reading import Envelope, Request
from agentsfence_core.classification.vocabulary import vocabulary
from agentsfence_core.evaluation.prepared import counter_name
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import (
    CEILING_OF,
    OUTBOUND,
    Ceiling,
    Permission,
    PolicySource,
    Risk,
    TaskPolicy,
    ToolConstraint,
    parse_object,
)
from agentsfence_core.model.policy import POLICY_LIFETIME_HOURS

RiskMap = Mapping[str, frozenset[Risk]]
"""Capability -> classes, for names that the table does not have."""

PARTY_CLASSES = OUTBOUND | {Risk.PERMISSION_CHANGE, Risk.FINANCIAL}
"""Classes whose effects reach a party: a task-wide list of recipients would bind them too."""

CLASS_LISTED = frozenset({Risk.COMMUNICATION})
"""Classes that ``allowed_risk_classes`` may name in a compiled policy.

That field lists *every* capability of a class (task policies, "Fields"). For a send that adds nothing, since one to
somebody who is not named asks anyway (check 8); for any other class it would: after "run the tests", EXECUTION there
would list ``python -c …`` too. Those classes are listed by the capabilities of their rows alone, and so is a send that
the words count or want to be asked about: "one message to bob" by a capability without a row would not be counted.
"""

_CLOCK = 253_402_000_000.0  # seconds: the last moment that a date can name


def inferred_risks(requests: Iterable[Request]) -> dict[str, frozenset[Risk]]:
    """Return the classes of the capabilities that requests carry and the table does not have."""
    known = vocabulary()
    found: dict[str, frozenset[Risk]] = {}
    for request in requests:
        for name in request.capabilities:
            if known.risk_of(name) is None:
                found[name] = found.get(name, frozenset()) | request.risks
    return found


def risks_of(capability: str, inferred: RiskMap) -> frozenset[Risk]:
    """Return the classes of a capability; none for a name that nothing is known about."""
    risk = vocabulary().risk_of(capability)
    return frozenset({risk}) if risk is not None else inferred.get(capability, frozenset())


def shared(rows: Iterable[Permission]) -> tuple[Permission, ...]:
    """Return the rows with every limit on a named counter, one for all rows of a request that say the same limit.

    "Send one message to bob" lists a mail, a chat message and a text message, and is one message all the same. The
    name is that of the first such row, so that nothing a draft or a later message narrows starts counting anew.
    """
    names: dict[tuple[str, int | None, str | None], str] = {}
    return tuple(_on_counter(row, names) for row in rows)


def _on_counter(row: Permission, names: dict[tuple[str, int | None, str | None], str]) -> Permission:
    if row.shares or (row.max_calls is None and row.max_amount is None):
        return row
    name = names.setdefault((row.evidence, row.max_calls, row.max_amount), counter_name(row))
    return replace(row, shares=name)


def moment(now: float) -> datetime:
    """Return a clock reading as a date; one that no date can name becomes the nearest that can."""
    seconds = min(max(now, 0.0), _CLOCK) if now == now else 0.0  # noqa: PLR0124  (NaN)
    return datetime.fromtimestamp(seconds, tz=UTC)


def assemble(
    envelope: Envelope,
    *,
    source: PolicySource = PolicySource.COMPILED,
    now: float,
    purpose: str = "",
    summary: str = "",
    inferred: RiskMap | None = None,
    reads: Iterable[str] = (),
    bounds: Iterable[Permission] | None = None,
) -> TaskPolicy:
    """Return the policy whose rows are the envelope's permissions. ``reads`` are named for people.

    ``bounds`` are all rows that the words carry, where a draft left some out: what lies outside of them stays a BLOCK,
    and does not become a question because nothing lists its capability any more.
    """
    known = inferred or {}
    rows = tuple(_bounded(row) for row in _consequential(envelope.permissions, known))
    bounding = rows if bounds is None else tuple(_consequential(bounds, known))
    classes = {risk for row in rows for risk in risks_of(row.capability, known)} - {Risk.READ, Risk.UNKNOWN}
    limited = {risk for row in bounding if _limited(row) for risk in risks_of(row.capability, known)}
    ceilings = {CEILING_OF[risk] for risk in classes}
    created = moment(now)
    return TaskPolicy(
        purpose=purpose,
        summary=summary,
        source=source,
        allowed_tools=tuple(dict.fromkeys([*reads, *(row.capability for row in rows)])),
        denied_tools=denied_by(envelope),
        allowed_risk_classes=tuple(
            risk for risk in Risk if risk is Risk.READ or risk in (classes & CLASS_LISTED) - limited
        ),
        tool_constraints=constraints_of(bounding),
        allowed_recipients=recipients_of(bounding, known),
        allowed_external_domains=envelope.only_domains,
        max_external_writes=envelope.max_external_writes if classes & OUTBOUND else 0,
        requires_approval=envelope.requires_approval,
        permissions=rows,
        user_prohibitions=envelope.prohibitions,
        created_at=created,
        expires_at=created + timedelta(hours=POLICY_LIFETIME_HOURS),
        allow_local_writes=Ceiling.LOCAL_WRITES in ceilings,
        allow_external_writes=Ceiling.EXTERNAL_WRITES in ceilings,
        allow_destructive_actions=Ceiling.DESTRUCTIVE_ACTIONS in ceilings,
        allow_financial_actions=Ceiling.FINANCIAL_ACTIONS in ceilings,
        allow_execution=Ceiling.EXECUTION in ceilings,
        allow_permission_changes=Ceiling.PERMISSION_CHANGES in ceilings,
    )


def _limited(row: Permission) -> bool:
    return row.needs_approval or row.max_calls is not None or row.max_amount is not None


def _consequential(rows: Iterable[Permission], inferred: RiskMap) -> Iterator[Permission]:
    return (row for row in rows if risks_of(row.capability, inferred) - {Risk.READ, Risk.UNKNOWN})


def bounds_of(policy: TaskPolicy) -> tuple[Permission, ...]:
    """Return a row for each capability that a compiled policy bounds although no row lists it."""
    listed = {row.capability for row in policy.permissions}
    return tuple(
        Permission(
            capability=name,
            recipients=bound.allowed_recipients,
            domains=bound.allowed_domains,
            paths=bound.allowed_paths,
            objects=bound.allowed_objects,
            max_calls=bound.max_calls,
            max_amount=bound.max_amount,
        )
        for name, bound in policy.tool_constraints.items()
        if name not in listed
    )


def denied_by(envelope: Envelope) -> tuple[str, ...]:
    """Return what the words forbid without naming a target: the only entries of a compiled ``denied_tools``."""
    return tuple(dict.fromkeys(ban.what for ban in envelope.prohibitions if not ban.targets and not ban.exceptions))


def constraints_of(rows: Iterable[Permission]) -> dict[str, ToolConstraint]:
    """Return per capability the union of what its rows bind, for the kinds that every one of them binds."""
    by_capability: dict[str, list[Permission]] = {}
    for row in rows:
        by_capability.setdefault(row.capability, []).append(row)
    found = {name: _constraint(group) for name, group in by_capability.items()}
    return {name: constraint for name, constraint in found.items() if constraint != ToolConstraint()}


def recipients_of(rows: Iterable[Permission], inferred: RiskMap) -> tuple[str, ...]:
    """Return all parties that are named, where every row that can reach one names some; else nothing is bound."""
    reaching = [row for row in rows if row.recipients or risks_of(row.capability, inferred) & PARTY_CLASSES]
    return _union([row.recipients for row in reaching])


def _constraint(rows: list[Permission]) -> ToolConstraint:
    together: dict[str, list[Permission]] = {}
    for row in rows:
        together.setdefault(counter_name(row), []).append(row)
    calls = [_most_calls(group) for group in together.values()]
    return ToolConstraint(
        allowed_recipients=_union([row.recipients for row in rows]),
        allowed_domains=_union([row.domains for row in rows]),
        allowed_paths=_union([row.paths for row in rows]),
        allowed_objects=_union([row.objects for row in rows]) if len({_kinds(row) for row in rows}) == 1 else (),
        max_calls=None if None in calls else sum(count for count in calls if count is not None),
        max_amount=_total([_most_amount(group) for group in together.values()]),
    )


def _most_calls(group: list[Permission]) -> int | None:
    """Return the highest count of rows that are counted together, ``None`` where one is open."""
    counts = [row.max_calls for row in group]
    return None if None in counts else max(count for count in counts if count is not None)


def _most_amount(group: list[Permission]) -> str | None:
    """Return the highest amount of rows that are counted together, ``None`` where one is open or cannot be read."""
    try:
        amounts = [(Decimal(row.max_amount), row.max_amount) for row in group if row.max_amount is not None]
        return max(amounts)[1] if len(amounts) == len(group) else None
    except (InvalidOperation, ValueError):
        return None


def _kinds(row: Permission) -> frozenset[str]:
    """Return the kinds of objects that a row binds."""
    return frozenset(parse_object(text).kind for text in row.objects)


def _union(lists: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Return every entry, or nothing where one list is empty: an empty list binds nothing."""
    if not all(lists):
        return ()
    return tuple(dict.fromkeys(entry for entries in lists for entry in entries))


def _total(amounts: list[str | None]) -> str | None:
    """Return the sum of all amounts, ``None`` where one is open."""
    try:
        values = [Decimal(amount) for amount in amounts if amount is not None]
        return format(sum(values, Decimal(0)), "f") if len(values) == len(amounts) else None
    except (InvalidOperation, ValueError, OverflowError):
        return None


def _bounded(row: Permission) -> Permission:
    """Return the row with its evidence cut to the length of a quote: a prefix is still verbatim."""
    return row if len(row.evidence) <= LIMITS.quote else replace(row, evidence=row.evidence[: LIMITS.quote])
