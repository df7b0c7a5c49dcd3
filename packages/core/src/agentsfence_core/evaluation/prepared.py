"""A policy prepared for evaluation: sets, compiled globs and rows by capability, made once (DESIGN 6).

INVARIANT: preparing never widens. What cannot be read (an address that is none, a host that is none) matches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from agentsfence_core.canonical import digest
from agentsfence_core.evaluation.matching import Hosts, Names, Objects, Parties, Paths
from agentsfence_core.evaluation.options import EvaluationOptions
from agentsfence_core.model import (
    Effect,
    Grant,
    Permission,
    PolicySource,
    Prohibition,
    Risk,
    Targets,
    TaskPolicy,
    ToolConstraint,
)
from agentsfence_core.model.policy import POLICY_LIFETIME_HOURS
from agentsfence_core.model.risk import CEILING_OF

if TYPE_CHECKING:
    from agentsfence_core.evaluation.check import Check

AMOUNT_UNIT = 10_000
"""Amounts are counted in ten-thousandths, so that counters stay whole numbers."""
VERIFIED_RUNS = frozenset({"test.run", "build.run", "lint.run", "package.install"})
"""Executions that a row lists only as the project has them (``classification/shell/project.py``)."""
OPAQUE_ID = "id"
"""Kind of an object that is only known by an identifier."""
_AMOUNT_DIGITS = 24  # characters and magnitude of an amount


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a row or a tool constraint binds. ``None`` means that this kind is not bound."""

    key: str
    """Name of its counter."""
    label: str
    """How people call it: the row's quote or the constraint's name."""
    recipients: Parties | None
    domains: Hosts | None
    paths: Paths | None
    objects: Objects | None
    values: tuple[tuple[str, str], ...] = ()
    max_calls: int | None = None
    max_amount: int | None = None
    """In `AMOUNT_UNIT`."""
    needs_approval: bool = False
    evidence: str = ""
    shown: tuple[str, ...] = ()
    """The bound recipients as written, for sentences."""
    verified_only: bool = False
    """The row is for a run of the project's own tools: one whose program cannot be seen is another thing."""

    @property
    def counts(self) -> bool:
        """Whether anything is counted under these bounds."""
        return self.max_calls is not None or self.max_amount is not None


def takes_all(effect: Effect) -> bool:
    """Whether an effect on a folder is one on everything in it: deleting, moving, changing rights."""
    return effect.risk in _TAKES_ALL or effect.capability == "file.move"


_TAKES_ALL = frozenset({Risk.DELETE, Risk.PERMISSION_CHANGE})


@dataclass(frozen=True, slots=True)
class TargetSet:
    """The targets that a prohibition names or excepts."""

    recipients: Parties | None
    domains: Hosts | None
    paths: Paths | None
    objects: Objects | None

    def hit(self, effect: Effect) -> bool:
        """Whether any target of the effect is named."""
        return bool(
            (self.recipients and any(party in self.recipients for party in effect.recipients))
            or (self.domains and any(host in self.domains for host in effect.domains))
            or (self.paths and any(path in self.paths for path in effect.paths))
            or (self.paths and takes_all(effect) and any(path in self.paths.above for path in effect.paths))
            or (self.objects and any(reference in self.objects for reference in effect.objects))
        )

    def blind(self, effect: Effect) -> bool:
        """Whether the effect hides a target of a kind that is named here; an opaque id hides an object."""
        if self.objects is not None and any(
            reference.kind == OPAQUE_ID and reference not in self.objects for reference in effect.objects
        ):
            return True
        hidden = effect.unverified
        return bool(hidden) and any(getattr(self, kind.value, None) is not None for kind in hidden)

    def hold_all(self, effect: Effect) -> bool:
        """Whether the effect has targets, hides none, and each of a kind named here is named."""
        named = 0
        for targets, known in (
            (effect.recipients, self.recipients),
            (effect.domains, self.domains),
            (effect.paths, self.paths),
            (effect.objects, self.objects),
        ):
            if known is None:
                continue
            if any(target not in known for target in targets):  # type: ignore[operator]
                return False
            named += len(targets)
        return named > 0 and not self.blind(effect)


@dataclass(frozen=True, slots=True)
class Ban:
    """A prohibition, prepared."""

    names: Names
    targets: TargetSet | None
    exceptions: TargetSet | None
    quote: str
    what: str


@dataclass(frozen=True, slots=True)
class PreparedPolicy:
    """Everything that the checks look at. Made by `evaluator.prepare`; values only."""

    policy: TaskPolicy
    options: EvaluationOptions
    expires_at: float | None
    """Seconds since the epoch."""
    bans: tuple[Ban, ...]
    denied: Names
    grants: tuple[Grant, ...]
    constraints: tuple[tuple[Names, Bounds], ...]
    rows: Mapping[str, tuple[Bounds, ...]]
    """Capability -> rows in the order of the policy."""
    listed: Names
    unknown_tools: frozenset[str]
    """Exact tool names by which an UNKNOWN tool is allowed: only in a policy a person wrote."""
    ceilings: frozenset[Risk]
    """Classes whose ceiling is on."""
    recipients: Parties | None
    domains: Hosts | None
    paths: Paths | None
    approval: Names
    plan: tuple[Check, ...] = ()
    """The checks that can speak under this policy, in their order; filled in by `prepare`."""

    @property
    def confined(self) -> bool:
        """Whether anything is forbidden or bounded that an opaque execution could evade."""
        return bool(self.bans) or self.domains is not None or self.paths is not None


def values_of(policy: TaskPolicy, options: EvaluationOptions) -> PreparedPolicy:
    """Return all that `prepare` derives from a policy but the plan of its walk. Linear in the size of the policy."""
    rows: dict[str, list[Bounds]] = {}
    for row in policy.permissions:
        rows.setdefault(row.capability, []).append(_row_bounds(row, options))
    manual = policy.source is PolicySource.MANUAL
    return PreparedPolicy(
        policy=policy,
        options=options,
        expires_at=_expiry(policy),
        bans=tuple(_ban(prohibition, options) for prohibition in policy.user_prohibitions),
        denied=Names.of(policy.denied_tools),
        grants=policy.grants,
        constraints=tuple(
            (Names.of((name,)), _constraint_bounds(name, c, options)) for name, c in policy.tool_constraints.items()
        ),
        rows={capability: tuple(bounds) for capability, bounds in rows.items()},
        listed=Names.of(policy.allowed_tools, policy.allowed_risk_classes),
        unknown_tools=frozenset(policy.allowed_tools) if manual else frozenset(),
        ceilings=frozenset(risk for risk in CEILING_OF if policy.permits_class(risk)),
        recipients=_parties(policy.allowed_recipients),
        domains=Hosts.of(policy.allowed_external_domains) if policy.allowed_external_domains else None,
        paths=_paths(policy.allowed_paths, options),
        approval=Names.of(policy.requires_approval),
    )


def policy_digest(policy: TaskPolicy) -> str:
    """Return a digest that changes whenever anything that is enforced changes. Linear; not in the path of a check."""
    return digest(repr(asdict(policy)))


def amount_units(text: str) -> int | None:
    """Return an amount in `AMOUNT_UNIT`, ``None`` where the text is no plain, finite, non-negative number."""
    try:
        value = Decimal(text.strip()) if len(text) <= _AMOUNT_DIGITS else None
    except InvalidOperation:
        return None
    if value is None or not value.is_finite() or value < 0 or value.adjusted() > _AMOUNT_DIGITS:
        return None
    return int((value * AMOUNT_UNIT).to_integral_value(rounding="ROUND_CEILING"))


def _expiry(policy: TaskPolicy) -> float | None:
    """Return when a policy ends: as it says, else 12 hours after it was made; never where it says neither."""
    if policy.expires_at is not None:
        return policy.expires_at.timestamp()
    return policy.created_at.timestamp() + POLICY_LIFETIME_HOURS * 3_600 if policy.created_at is not None else None


def counter_name(row: Permission) -> str:
    """Return the name of the counter of a row: the one that it shares, else one made of what it allows.

    INVARIANT: neither limits nor quote are part of it, so that words said again do not start counting anew.
    """
    return (
        row.shares or digest(row.capability, row.recipients, row.domains, row.paths, row.objects, dict(row.values))[:16]
    )


def _row_bounds(row: Permission, options: EvaluationOptions) -> Bounds:
    return Bounds(
        key=f"row:{counter_name(row)}",
        label=row.evidence or row.capability,
        recipients=_parties(row.recipients),
        domains=Hosts.of(row.domains) if row.domains else None,
        paths=_paths(row.paths, options),
        objects=Objects.of(row.objects) if row.objects else None,
        values=tuple(sorted((name, value.casefold()) for name, value in row.values.items())),
        max_calls=row.max_calls,
        max_amount=_limit(row.max_amount),
        needs_approval=row.needs_approval,
        evidence=row.evidence,
        shown=row.recipients,
        verified_only=row.capability in VERIFIED_RUNS,
    )


def _constraint_bounds(name: str, constraint: ToolConstraint, options: EvaluationOptions) -> Bounds:
    return Bounds(
        key=f"tool:{name}",
        label=name,
        recipients=_parties(constraint.allowed_recipients),
        domains=Hosts.of(constraint.allowed_domains) if constraint.allowed_domains else None,
        paths=_paths(constraint.allowed_paths, options),
        objects=Objects.of(constraint.allowed_objects) if constraint.allowed_objects else None,
        max_calls=constraint.max_calls,
        max_amount=_limit(constraint.max_amount),
        shown=constraint.allowed_recipients,
    )


def _ban(prohibition: Prohibition, options: EvaluationOptions) -> Ban:
    return Ban(
        names=Names.of((prohibition.what,)),
        targets=_target_set(prohibition.targets, options),
        exceptions=_target_set(prohibition.exceptions, options),
        quote=prohibition.quote,
        what=prohibition.what,
    )


def _target_set(targets: Targets, options: EvaluationOptions) -> TargetSet | None:
    if not targets:
        return None
    return TargetSet(
        recipients=_parties(targets.recipients),
        domains=Hosts.of(targets.domains) if targets.domains else None,
        paths=_paths(targets.paths, options),
        objects=Objects.of(targets.objects) if targets.objects else None,
    )


def _parties(entries: Iterable[str]) -> Parties | None:
    listed = tuple(entries)
    return Parties.of(listed) if listed else None


def _paths(entries: Iterable[str], options: EvaluationOptions) -> Paths | None:
    listed = tuple(entries)
    return Paths.of(listed, home=options.home, workdir=options.workdir) if listed else None


def _limit(text: str | None) -> int | None:
    """Return a limit in units; one that cannot be read allows nothing."""
    if text is None:
        return None
    units = amount_units(text)
    return units if units is not None else 0
