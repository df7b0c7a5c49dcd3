"""A grant: the exact delta that a person approved at runtime, and nothing wider (paper, 5; DESIGN 8)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Scope(StrEnum):
    """How long an approval lasts. A host's "session" and "always" both mean ``TASK``."""

    ONCE = "once"
    TIMES = "times"
    UNTIL = "until"
    TASK = "task"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """One effect of the approved call: its capability and exactly its targets. Empty stays empty."""

    capability: str
    risk: str
    recipients: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A person's approval of one call, repeatable only as ``scope`` says and only with the same arguments."""

    id: str
    tool: str
    deltas: tuple[Delta, ...]
    """Every effect of the approved call, as it is shown: what may be a secret in it is cut (see ``deltas_digest``)."""
    arguments_digest: str
    """Digest of the canonical arguments without message text (see `agentsfence_core.canonical`)."""
    answers: frozenset[str] = field(default_factory=frozenset)
    """Keys of the questions that were open when the person approved; no other question is answered."""
    scope: Scope = Scope.ONCE
    max_calls: int | None = 1
    """Uses in all; ``None`` only for ``UNTIL``."""
    expires_at: float | None = None
    """Seconds since the epoch; ``None`` where the grant ends with the task."""
    deltas_digest: str = ""
    """Digest of the effects where ``deltas`` does not show all of them; empty where it does."""
    granted_at: float = 0.0
    granted_by: str | None = None
