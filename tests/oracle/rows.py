"""How the naive evaluator fits an effect into a row: checks 6 and 8 of the table, for one effect and one bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from tests.oracle.likeness import (
    ALLOW,
    ASK,
    BLOCK,
    amounts_of,
    comparable,
    host_in,
    names,
    object_in,
    party_in,
    path_in,
    read_object,
)

from agentsfence_core.model import (
    Action,
    Effect,
    ExecutionState,
    HostFacts,
    Permission,
    ReasonCode,
    Risk,
    TargetKind,
    TaskPolicy,
    Verdict,
)

STRICT = [ALLOW, ASK, BLOCK]


@dataclass(frozen=True)
class Used:
    """What a task has used of its rows and constraints: label of the bound -> invocations, and sum of amounts."""

    calls: Mapping[str, int] = field(default_factory=dict)
    amounts: Mapping[str, Decimal] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """One objection of one check, to one effect (by its place in the action) or to the whole action."""

    verdict: Verdict
    code: ReasonCode
    place: int | None = None


@dataclass(frozen=True)
class Bound:
    """A row or a constraint, written alike."""

    label: str
    recipients: tuple[str, ...]
    domains: tuple[str, ...]
    paths: tuple[str, ...]
    objects: tuple[str, ...]
    values: Mapping[str, str]
    max_calls: int | None
    max_amount: str | None


@dataclass(frozen=True)
class World:
    """All that a verdict depends on."""

    policy: TaskPolicy
    state: ExecutionState
    action: Action
    host: HostFacts
    now: float
    unauthorized: Mapping[Risk, Verdict]
    used: Used
    shown: Mapping[str, Action]
    guard: Callable[[Effect], Finding | None]
    shaped: Callable[[Effect], bool]


def rows_for(world: World, effect: Effect) -> list[tuple[Permission, Bound]]:
    """The rows that name an effect's capability."""
    return [
        (
            row,
            Bound(
                counter(row),
                row.recipients,
                row.domains,
                row.paths,
                row.objects,
                row.values,
                row.max_calls,
                row.max_amount,
            ),
        )
        for row in world.policy.permissions
        if row.capability == effect.capability
    ]


def counter(row: Permission) -> str:
    """What a row counts on: the name that it shares, else its own capability and targets, whatever its limits."""
    own = (row.capability, row.recipients, row.domains, row.paths, row.objects, sorted(row.values.items()))
    return f"shared:{row.shares}" if row.shares else f"row:{own}"


def constraints_for(world: World, effect: Effect) -> list[Bound]:
    """All constraints whose key names the effect's tool or capability."""
    return [
        Bound(
            f"tool:{key}",
            one.allowed_recipients,
            one.allowed_domains,
            one.allowed_paths,
            one.allowed_objects,
            {},
            one.max_calls,
            one.max_amount,
        )
        for key, one in world.policy.tool_constraints.items()
        if names(key, world.action.tool, effect, classes=False)
    ]


@dataclass(frozen=True)
class Placed:
    """An effect with the row chosen for it, if rows name its capability, and every bound that it is under."""

    effect: Effect
    row: Permission | None
    bounds: tuple[Bound, ...]


def place_all(world: World) -> list[Placed]:
    """Give each effect, in order, the row that objects least; the first among equals."""
    placed: list[Placed] = []
    for effect in world.action.effects:
        constraints = tuple(constraints_for(world, effect))
        rows = rows_for(world, effect)
        if rows:
            row, bound = min(rows, key=lambda pair: row_strictness(world, effect, pair, placed))
            placed.append(Placed(effect, row, (bound, *constraints)))
        else:
            placed.append(Placed(effect, None, constraints))
    return placed


def row_strictness(
    world: World, effect: Effect, pair: tuple[Permission, Bound], before: list[Placed]
) -> tuple[int, int, int]:
    """How a row objects to an effect, by its bounds, its parties, its need of approval: 0 not, 1 asks, 2 blocks."""
    row, bound = pair
    by_bounds = max((STRICT.index(verdict) for verdict, _ in fit(world, bound, effect, before)), default=0)
    binding = bind(world, effect, row)
    return by_bounds, STRICT.index(binding[0]) if binding else 0, STRICT.index(ASK) if row.needs_approval else 0


def fit(world: World, bound: Bound, effect: Effect, before: list[Placed]) -> list[tuple[Verdict, ReasonCode]]:
    """Check 6 for one bound: every objection it has to an effect, after what earlier effects of the call use up."""
    found = []
    if bound.recipients and any(not party_in(one, bound.recipients) for one in effect.recipients):
        found.append((BLOCK, ReasonCode.RECIPIENT_NOT_LISTED))
    if bound.domains and not all(host_in(one, bound.domains) for one in effect.domains):
        found.append((BLOCK, ReasonCode.DOMAIN_NOT_LISTED))
    if bound.paths and not all(path_in(one, bound.paths, world.host.home) for one in effect.paths):
        found.append((BLOCK, ReasonCode.PATH_NOT_LISTED))
    if bound.paths and not bound.objects and not effect.paths and TargetKind.PATHS not in effect.unverified:
        found += unplaced_files(bound.paths, effect)
    if bound.objects:
        verdicts = [object_in(one, bound.objects) for one in effect.objects]
        found += [(BLOCK, ReasonCode.OBJECT_NOT_LISTED) for verdict in verdicts if verdict is BLOCK]
        found += [(ASK, ReasonCode.TARGET_UNVERIFIED) for verdict in verdicts if verdict is ASK]
    if any(name in bound.values and bound.values[name] != value for name, value in effect.values):
        found.append((BLOCK, ReasonCode.VALUE_NOT_LISTED))
    own_tools = effect.capability in {"test.run", "build.run", "lint.run", "package.install"}
    if own_tools and bound.label.startswith(("row", "shared")) and TargetKind.PROGRAM in effect.unverified:
        found.append((ASK, ReasonCode.TARGET_UNVERIFIED))
    if unverified_under(bound, effect):
        found.append((ASK, ReasonCode.TARGET_UNVERIFIED))
    return found + counted(world, bound, effect, before)


def unplaced_files(paths: tuple[str, ...], effect: Effect) -> list[tuple[Verdict, ReasonCode]]:
    """A file named without its path is one of the paths by its last part, or another file."""
    known = {entry.rpartition("/")[2].casefold() for entry in paths if not entry.endswith("/")}
    strange = [
        one for one in effect.objects if one.kind == "file" and one.name.rpartition("/")[2].casefold() not in known
    ]
    if not strange:
        return []
    inside = any(entry.endswith("/") for entry in paths)
    return [(ASK, ReasonCode.TARGET_UNVERIFIED) if inside else (BLOCK, ReasonCode.PATH_NOT_LISTED)]


def unverified_under(bound: Bound, effect: Effect) -> bool:
    """Whether a kind of target that is bound cannot be read from the call."""
    bound_kinds = [
        (TargetKind.RECIPIENTS, bool(bound.recipients)),
        (TargetKind.DOMAINS, bool(bound.domains)),
        (TargetKind.PATHS, bool(bound.paths)),
        (TargetKind.OBJECTS, bool(bound.objects)),
        (TargetKind.VALUES, bool(bound.values) or bound.max_amount is not None),
    ]
    return any(is_bound and kind in effect.unverified for kind, is_bound in bound_kinds)


def counted(world: World, bound: Bound, effect: Effect, before: list[Placed]) -> list[tuple[Verdict, ReasonCode]]:
    """Check 6 for the counts of one bound: invocations and the sum of amounts."""
    found = []
    same = [other.effect for other in before if any(one.label == bound.label for one in other.bounds)]
    if TargetKind.COUNT in effect.unverified and (bound.max_calls is not None or bound.max_amount is not None):
        found.append((ASK, ReasonCode.TARGET_UNVERIFIED))
    if bound.max_calls is not None:
        invocations = {other.invocation for other in same} | {effect.invocation}
        if world.used.calls.get(bound.label, 0) + len(invocations) > bound.max_calls:
            found.append((BLOCK, ReasonCode.MAX_CALLS_USED))
    if bound.max_amount is not None:
        amounts = amounts_of(effect)
        if amounts is None:
            found.append((ASK, ReasonCode.TARGET_UNVERIFIED))
        else:
            earlier = [amount for other in same for amount in amounts_of(other) or []]
            spent = world.used.amounts.get(bound.label, Decimal(0)) + sum(earlier)
            if spent + sum(amounts) > Decimal(bound.max_amount):
                found.append((BLOCK, ReasonCode.AMOUNT_ABOVE_LIMIT))
    return found


def bind(world: World, effect: Effect, row: Permission | None) -> tuple[Verdict, ReasonCode] | None:
    """Check 8 for one effect under one row (or none)."""
    unsure = TargetKind.RECIPIENTS in effect.unverified
    if effect.risk is Risk.READ:
        return None
    if effect.risk is not Risk.COMMUNICATION and not effect.recipients and not unsure:
        return None
    lists = [row.recipients] if row else []
    lists += [bound.recipients for bound in constraints_for(world, effect)]
    lists += [world.policy.allowed_recipients]
    binding = [entries for entries in lists if entries]
    if any(not party_in(one, entries) for entries in binding for one in effect.recipients):
        return BLOCK, ReasonCode.RECIPIENT_NOT_LISTED
    places = [read_object(text) for text in row.objects] if row else []
    named = all(any(comparable(one, place) and one.name == place.name for place in places) for one in effect.objects)
    if places and effect.objects and named and not effect.recipients and not unsure:
        return None  # a comment on the very issue that the row names reaches whoever reads it there
    if not binding or not effect.recipients:
        return ASK, ReasonCode.RECIPIENT_NOT_BOUND
    # Unread parties under parties of the row itself: check 6 asks, so as to fit the row, and one question is enough.
    asked = row is not None and bool(row.recipients)
    return (ASK, ReasonCode.RECIPIENT_NOT_BOUND) if unsure and not asked else None


def charge(world: World) -> Used:
    """What the rows and constraints of a task would have used after this call."""
    calls, amounts = dict(world.used.calls), dict(world.used.amounts)
    placed = place_all(world)
    for label in sorted({bound.label for one in placed for bound in one.bounds}):
        under = [(one.effect, bound) for one in placed for bound in one.bounds if bound.label == label]
        invocations = {effect.invocation for effect, bound in under if bound.max_calls is not None}
        calls[label] = calls.get(label, 0) + len(invocations)
        limited = [effect for effect, bound in under if bound.max_amount is not None]
        total = sum((amount for effect in limited for amount in amounts_of(effect) or []), Decimal(0))
        amounts[label] = amounts.get(label, Decimal(0)) + total
    return Used(calls, amounts)
