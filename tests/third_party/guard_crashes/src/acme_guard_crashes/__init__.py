"""A guard that crashes on every call."""

from __future__ import annotations

from agentsfence_core.hookspecs import hookimpl
from agentsfence_core.model import Action, Decision


@hookimpl
def agentsfence_evaluate(action: Action) -> Decision | None:
    """Fail."""
    raise ZeroDivisionError(action.tool)
