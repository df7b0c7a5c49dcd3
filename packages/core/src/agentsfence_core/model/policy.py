"""The task policy: the contract for one task (task policies; DESIGN 6).

Rules of this file:

* One definition: these dataclasses are the values inside, and pydantic derives validation and the JSON Schema from
  the very same fields (`agentsfence_core.policy_file`). Importing them does not import pydantic.
* Every field of the seeds is here. ``permissions`` (rows) is the truth of a compiled policy; its other fields are a
  view of the rows (`derived`) chosen so that enforcing the view as well changes nothing.
* Where a row names a capability, rows alone list it: an ``allowed_tools`` entry cannot widen it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from agentsfence_core.model.grant import Grant
from agentsfence_core.model.risk import CEILING_OF, Ceiling, Risk

POLICY_LIFETIME_HOURS = 12
"""``expires_at`` defaults to this long after creation (task policies, "Fields")."""

_STRICT: dict[str, object] = {"extra": "forbid", "use_attribute_docstrings": True}


class PolicySource(StrEnum):
    """Who wrote a policy."""

    MANUAL = "manual"
    COMPILED = "compiled"
    FALLBACK = "fallback"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolConstraint:
    """Bounds on the arguments of one tool or capability (``tool_constraints``). Empty lists do not bind."""

    allowed_recipients: tuple[str, ...] = ()
    allowed_domains: tuple[str, ...] = ()
    allowed_paths: tuple[str, ...] = ()
    allowed_objects: tuple[str, ...] = ()
    max_calls: int | None = None
    """Invocations over the whole task."""
    max_amount: str | None = None
    """Sum over the whole task, as a decimal number."""

    __pydantic_config__: ClassVar[dict[str, object]] = _STRICT


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """One row: an action the person asked for, with its own targets, values and counts. One effect must fit one row."""

    capability: str
    """``email.send``; the only name that this row lists."""
    recipients: tuple[str, ...] = ()
    """Parties. Empty: an effect that reaches a party is asked about."""
    domains: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    """Absolute or ``~/…``: the path and all below it; with a trailing ``/`` only what is below it."""
    objects: tuple[str, ...] = ()
    """``branch:main``, ``package:requests``, or a bare name; binds effects with an object of the same kind."""
    values: Mapping[str, str] = field(default_factory=dict)
    """Values that must be equal where the effect carries them: ``role: reader``."""
    max_calls: int | None = None
    max_amount: str | None = None
    needs_approval: bool = False
    evidence: str = ""
    """Verbatim quote of the person's words."""
    shares: str = ""
    """Name of the counter of its calls and amounts: rows with one name are counted together. Empty: its own."""

    __pydantic_config__: ClassVar[dict[str, object]] = _STRICT


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """Targets that a prohibition names, or excepts."""

    recipients: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()

    __pydantic_config__: ClassVar[dict[str, object]] = _STRICT

    def __bool__(self) -> bool:
        """Whether any target is named."""
        return bool(self.recipients or self.domains or self.paths or self.objects)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prohibition:
    """Something the person forbade. No approval overrides it."""

    what: str
    """A risk class, a capability, a glob over capabilities or tool names, as in ``denied_tools``."""
    targets: Targets = field(default_factory=Targets)
    """Only effects on these are forbidden; empty forbids all."""
    exceptions: Targets = field(default_factory=Targets)
    """Effects wholly on these are not forbidden ("to anyone except John")."""
    quote: str = ""

    __pydantic_config__: ClassVar[dict[str, object]] = _STRICT


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A call with the verdict that its author expects; checked when the policy is loaded."""

    tool: str
    args: Mapping[str, object] = field(default_factory=dict)
    expect: str = "ALLOW"

    __pydantic_config__: ClassVar[dict[str, object]] = _STRICT


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPolicy:
    """The contract for one task (task policies, "Fields")."""

    purpose: str = ""
    summary: str = ""
    source: PolicySource = PolicySource.MANUAL
    allowed_tools: tuple[str, ...] = ()
    """Tool names, capabilities, globs, or risk classes."""
    denied_tools: tuple[str, ...] = ()
    """Same syntax; deny beats allow."""
    allowed_risk_classes: tuple[Risk, ...] = (Risk.READ,)
    allow_local_writes: bool = False
    allow_external_writes: bool = False
    """Ceiling of EXTERNAL_WRITE and COMMUNICATION."""
    allow_destructive_actions: bool = False
    allow_financial_actions: bool = False
    allow_execution: bool = False
    allow_permission_changes: bool = False
    tool_constraints: Mapping[str, ToolConstraint] = field(default_factory=dict)
    """Tool name, capability or glob -> bounds."""
    allowed_recipients: tuple[str, ...] = ()
    """Task-wide; empty does not bind."""
    allowed_external_domains: tuple[str, ...] = ()
    allowed_paths: tuple[str, ...] = ()
    max_external_writes: int | None = None
    """Sends and external writes over the whole task."""
    requires_approval: tuple[str, ...] = ()
    """Same syntax as ``allowed_tools``: always ASK_USER."""
    permissions: tuple[Permission, ...] = ()
    user_prohibitions: tuple[Prohibition, ...] = ()
    """Checked before everything else except expiry and guards. A bare string stands for its ``what``."""
    grants: tuple[Grant, ...] = ()
    """Minimal deltas approved at runtime."""
    created_at: datetime | None = None
    expires_at: datetime | None = None
    """Default: 12 hours after creation."""
    examples: tuple[Example, ...] = ()

    __pydantic_config__: ClassVar[dict[str, object]] = _STRICT

    def ceiling(self, ceiling: Ceiling) -> bool:
        """Whether a ceiling is on."""
        return bool(getattr(self, ceiling.value))

    def permits_class(self, risk: Risk) -> bool:
        """Whether the ceiling of a class is on; READ has none, UNKNOWN is never on."""
        if risk is Risk.READ:
            return True
        ceiling = CEILING_OF.get(risk)
        return ceiling is not None and self.ceiling(ceiling)
