"""What the ports hand over: Protocols of at most five methods, and the values that cross them (DESIGN 1, 4).

A hook (``hookspecs.py``) announces an implementation; a Protocol here says what the implementation must do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NewType, Protocol

from agentsfence_core.model import ExecutionState, HostFacts, TaskPolicy

Instruction = NewType("Instruction", str)
"""A person's own words after isolation. Only ingress makes one: tool output has no way to become an instruction."""


@dataclass(frozen=True, slots=True)
class PersonMessage:
    """A message that an adapter vouches for as a person's own words."""

    text: str
    sender: str | None = None
    """Who wrote it; ``None`` only where the host has a single user."""
    source: str = "user"
    """Where the adapter took it from, for the audit log."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something a draft or the words asked for that the policy does not contain, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Removed:
    """Quoted material that isolation took out of a message."""

    kind: str
    """``fence``, ``quote``, ``mail-tail``, ``tag``, ``long-quote`` …"""
    characters: int
    preview: str = ""
    """The first characters, for the person; never logged."""


@dataclass(frozen=True, slots=True)
class RequestView:
    """A clause as it was read, for people (``agentsfence compile``)."""

    quote: str
    kind: str
    """``request``, ``prohibition``, ``question``, ``remark`` …"""
    capabilities: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Compiled:
    """What an intent pipeline makes of one message."""

    policy: TaskPolicy
    instruction: Instruction
    removed: tuple[Removed, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    requests: tuple[RequestView, ...] = ()
    changed: bool = True
    """Whether the message could change authority at all; a skipped turn leaves the policy as it was."""


@dataclass(frozen=True, slots=True)
class CompileContext:
    """All that compiling may depend on besides the words."""

    host: HostFacts = field(default_factory=HostFacts)
    now: float = 0.0
    """Seconds since the epoch."""
    contacts: Mapping[str, str] = field(default_factory=dict)
    """Name -> address, from user settings only."""
    compiler: str = "rules"
    """Name of the backend."""
    compiler_settings: Mapping[str, object] = field(default_factory=dict)
    draft: object = None
    """A draft to harden instead of asking a backend, as parsed JSON; ``"fail"`` plays a backend failure."""
    preset: str = "balanced"
    known_tools: frozenset[str] = frozenset()
    """Names of the tools that the host offers, where it said so."""


class IntentPipeline(Protocol):
    """Turns a person's words into a policy. Supplied by exactly one distribution; total: a fault is the fallback."""

    def begin(self, message: PersonMessage, context: CompileContext) -> Compiled:
        """Return the policy of a new task."""

    def amend(self, message: PersonMessage, current: TaskPolicy, context: CompileContext) -> Compiled:
        """Return the policy after a later message of the same person; what it does not mention stays."""

    def restrict(self, message: PersonMessage, current: TaskPolicy, context: CompileContext) -> Compiled:
        """Return the policy after somebody else's message in a shared chat: never wider than ``current``."""


class CompilerBackend(Protocol):
    """Drafts a policy from an instruction. Untrusted, whoever wrote it."""

    def draft(self, instruction: Instruction, context: CompileContext, error: str | None) -> object:
        """Return a draft as parsed JSON; ``error``: what was wrong with the last try. May raise `CompilerError`."""


AuditHead = tuple[str, int, str]
"""The newest line of one process's audit chain: chain, line number, hash."""


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """What a store keeps of one task. Ids are opaque: equal only when every character is."""

    task: str
    policy: TaskPolicy
    state: ExecutionState
    starter: str | None = None
    parent: str | None = None
    instruction_digest: str = ""
    last_seen: float = 0.0
    """Highest clock reading so far; time never runs backwards for a task."""
    questions: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Open questions by id, JSON-able."""
    tickets: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Admitted calls by ticket id, JSON-able."""
    keep_until: float | None = None
    """When the record may be forgotten, in seconds since the epoch: long after its policy has ended."""
    head: AuditHead | None = None
    """Newest audit line of the process that wrote this record, so that a log whose tail is cut shows."""
    inherits: bool = False
    """A subtask that has no policy of its own: those of its ancestors hold, as they are at each call."""


class PolicyStore(Protocol):
    """Keeps task records. Every method is one transaction; any fault leaves as `StoreError`.

    Whenever a record is added, up to `LIMITS.forgotten_at_once` records are forgotten whose ``keep_until`` lies before
    the ``last_seen`` of the new one.
    """

    def read(self, task: str) -> TaskRecord | None:
        """Return the record, or ``None`` where there is none."""

    def transact(self, task: str, change: Callable[[TaskRecord | None], tuple[TaskRecord | None, object]]) -> object:
        """Run ``change`` on the record with nobody else in between, keep the record it returns; return its result.

        ``change`` may run more than once (a retried transaction), so it must not have effects of its own. A
        ``transact`` or ``read`` inside ``change`` is part of the same transaction: all of it is kept, or nothing.
        """

    def tasks(self) -> tuple[str, ...]:
        """Return the ids of all live tasks."""

    def heads(self) -> tuple[AuditHead, ...]:
        """Return the newest head of each audit chain that any record was kept with, removed records included."""

    def close(self) -> None:
        """Release what is held; later calls raise `StoreError`."""


@dataclass(frozen=True, slots=True)
class AdapterInfo:
    """What an adapter says about itself."""

    name: str
    distribution: str
    what: str
    """One line: which host it fences."""
    blind_spots: tuple[str, ...] = ()
    """What it cannot see, one sentence each."""
    command: str = ""
    """``module:app`` of a typer app that ``agentsfence NAME …`` mounts, or empty."""
    canary: str = ""
    """``module:function`` without arguments that makes one forbidden call through the adapter and returns whether its
    body was entered; ``agentsfence doctor`` runs it. Empty: there is none."""


@dataclass(frozen=True, slots=True)
class ToolExample:
    """A call of a mapped tool, and how its author expects it to be read. Only what is named is compared."""

    args: Mapping[str, object] = field(default_factory=dict)
    tool: str = ""
    """The tool's name where ``match`` is a pattern."""
    risk: str = ""
    capability: str = ""
    recipients: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolMapping:
    """One row that maps a tool by name or glob, from settings or a plugin."""

    match: str
    capability: str
    risk: str
    recipients: tuple[str, ...] = ()
    """Names of the arguments that hold parties; likewise below."""
    paths: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    objects: Mapping[str, str] = field(default_factory=dict)
    """Argument name -> object kind."""
    values: Mapping[str, str] = field(default_factory=dict)
    """Argument name -> value name (``amount``, ``role`` …)."""
    content: tuple[str, ...] = ()
    """Names of the arguments that hold message text or file content."""
    examples: tuple[ToolExample, ...] = ()
    """Calls with what they must be read as; checked when a fence opens."""
