"""An action: a classified call, with every effect it has and every target of each effect (DESIGN 2).

Rules of this file:

* An action always has at least one effect. ``ls`` has one READ effect; nothing is "no effect".
* A call's risk and capability are those of its worst effect (the single-valued rho and kappa of the paper).
* Targets are canonical: addresses lower-cased, hosts as A-labels, paths absolute where the folder is known.
* What could not be read from the call is named in ``unverified``, per kind; an empty list of targets alone says
  only that none is written there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from agentsfence_core.model.call import ToolCall
from agentsfence_core.model.risk import RANK, Risk


class TargetKind(StrEnum):
    """The kinds of things an effect is aimed at.

    ``PROGRAM`` is what an execution runs; ``COUNT`` how often an effect happens: a loop, a batch of unknown length.
    """

    RECIPIENTS = "recipients"
    DOMAINS = "domains"
    PATHS = "paths"
    OBJECTS = "objects"
    VALUES = "values"
    PROGRAM = "program"
    COUNT = "count"


@dataclass(frozen=True, slots=True, order=True)
class ObjectRef:
    """The thing acted on, as written: ``ObjectRef("branch", "main")``. Written ``branch:main`` in files."""

    kind: str
    """One of `OBJECT_KINDS`; ``name`` where the words do not say of which kind."""
    name: str

    def __str__(self) -> str:
        """Return the form used in policies and output."""
        return self.name if self.kind == "name" else f"{self.kind}:{self.name}"


OBJECT_KINDS = frozenset(
    """
    name file folder event message thread draft page issue pr repo branch remote tag commit package image
    container service resource database table channel calendar label contact user group role payee account order
    invoice subscription product booking playlist track project task note bucket key secret process job workflow
    id
    """.split()
)
"""Kinds that an object can have. ``id`` is an opaque identifier: a bound name against it cannot be verified."""


def parse_object(text: str) -> ObjectRef:
    """Read ``branch:main`` or a bare name; a prefix that is no known kind belongs to the name."""
    kind, colon, name = text.partition(":")
    if colon and name and kind in OBJECT_KINDS:
        return ObjectRef(kind, name)
    return ObjectRef("name", text)


@dataclass(frozen=True, slots=True)
class Effect:
    """One capability, its class and its targets: one thing that a call does."""

    capability: str
    """Canonical name, ``email.send``; ``unknown`` where nothing is known."""
    risk: Risk
    recipients: tuple[str, ...] = ()
    """Parties that the effect reaches: addresses, handles, channels, phone numbers, IBANs, webhook URLs."""
    domains: tuple[str, ...] = ()
    """Hosts contacted, as lower-case A-labels without port."""
    paths: tuple[str, ...] = ()
    """Paths acted on: read, written, deleted, run or attached, as the class says."""
    objects: tuple[ObjectRef, ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    """Values that are the effect itself: ``("amount", "10")``, ``("role", "writer")``, ``("date", "2026-05-04")``."""
    urls: tuple[str, ...] = ()
    """Full URLs as written, for the check on exfiltration-shaped URLs."""
    unverified: frozenset[TargetKind] = frozenset()
    """Kinds of targets that exist but cannot be read from the call: a glob, a variable, an opaque id, code."""
    invocation: int = 0
    """Which invocation of the call this belongs to; ``rm a b`` is one, ``rm a; rm b`` two. Budgets count these."""
    because: str = ""
    """The words of the call, or the catalogue row, that make this effect; for people, never for a decision."""

    @property
    def verified(self) -> bool:
        """Whether all that the effect touches can be read from the call."""
        return not self.unverified


class Source(StrEnum):
    """Which knowledge produced a classification (paper, 3.2)."""

    SETTINGS = "settings"
    CATALOGUE = "catalogue"
    GLOB = "glob"
    VERB = "verb"
    SHELL = "shell"
    ARGUMENTS = "arguments"
    PLUGIN = "plugin"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Action:
    """A classified call. INVARIANT: ``effects`` is never empty."""

    call: ToolCall
    effects: tuple[Effect, ...]
    source: Source
    content: frozenset[str] = frozenset()
    """Names of top-level arguments that carry message text or file content, the only ones a grant may leave out of its
    digest (DESIGN 8)."""
    note: str = ""
    """Why the call could not be read in full, for people."""
    worst: Effect = field(init=False)
    """The effect with the highest rank; the first one among equals."""

    def __post_init__(self) -> None:
        """Pick the worst effect once."""
        object.__setattr__(self, "worst", max(self.effects, key=lambda effect: RANK[effect.risk]))

    @property
    def tool(self) -> str:
        """The tool's name as the host knows it."""
        return self.call.tool

    @property
    def risk(self) -> Risk:
        """The class of the worst effect."""
        return self.worst.risk

    @property
    def capability(self) -> str:
        """The capability of the worst effect."""
        return self.worst.capability
