"""One row of the table of checks. The rows themselves stand in ``checks.py``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentsfence_core.evaluation.context import Context
    from agentsfence_core.evaluation.prepared import PreparedPolicy
    from agentsfence_core.model import Outcome


@dataclass(frozen=True, slots=True)
class Check:
    """A check with its place in the order."""

    number: int
    name: str
    run: Callable[[Context], Outcome | None]
    whole: bool
    """Looks at the task or the whole action: runs once, not once per effect."""
    relevant: Callable[[PreparedPolicy], bool]
    """Whether it can speak under this policy at all."""
