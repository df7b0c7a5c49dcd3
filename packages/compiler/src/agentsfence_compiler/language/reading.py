"""What reading a person's words yields: values only (DESIGN 7.2 and 7.3).

Rules of this file:

* One reading serves everybody: rules, envelope, hardening, prohibitions and amendment look at the same `Reading`.
* Spans are character offsets into the instruction, so that a quote can be located inside one request.
* Targets stay with the request that names them; nothing is shared between requests but what DESIGN 7.2 says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentsfence_core.model import Permission, Prohibition, Risk


@dataclass(frozen=True, slots=True)
class Request:
    """A clause that asks for an action."""

    start: int
    end: int
    quote: str
    """The clause, verbatim: ``instruction[start:end]``."""
    verb: str
    """English lemma of the verb, as in ``capabilities.yaml``."""
    capabilities: tuple[str, ...]
    """Candidates, most specific first; all have a class of ``risks``."""
    risks: frozenset[Risk]
    recipients: tuple[str, ...] = ()
    """Literal parties that are the object of this request: canonical addresses, channels, handles, payees, IBANs."""
    names: tuple[str, ...] = ()
    """People and payees named without an address ("Email John"): each binds only an argument equal to it."""
    domains: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    """Literal names only, ``kind:name`` or bare."""
    values: Mapping[str, str] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    """Literal commands that the words name (``run `make docs` ``)."""
    max_calls: int | None = None
    max_amount: str | None = None
    conditional: bool = False
    """"If it is over 100, …"."""
    ask_first: bool = False
    """"Ask me before …"."""
    instead: bool = False
    """The request replaces what an earlier one of its kind named ("… instead", "only …")."""
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause as it was read, for people: every part of the instruction belongs to one."""

    start: int
    end: int
    kind: str
    """``request``, ``prohibition``, ``question``, ``explanation``, ``remark`` or ``limit``."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """The whole instruction, read."""

    requests: tuple[Request, ...] = ()
    prohibitions: tuple[Prohibition, ...] = ()
    only_domains: tuple[str, ...] = ()
    """"Only use docs.example.com": the task-wide domain allowlist."""
    max_external_writes: int | None = None
    requires_approval: tuple[str, ...] = ()
    """Capabilities or classes that the person wants to be asked about."""
    clauses: tuple[Clause, ...] = ()
    continues: bool = False
    """A verbless turn ("also bob@x.com", "b.md instead") that takes the verb of the newest request."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """The most that the words can carry. Every hardened policy is narrower (DESIGN 12, compiler independence)."""

    permissions: tuple[Permission, ...] = ()
    prohibitions: tuple[Prohibition, ...] = ()
    only_domains: tuple[str, ...] = ()
    max_external_writes: int | None = None
    requires_approval: tuple[str, ...] = ()
