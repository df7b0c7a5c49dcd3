"""A guard that never answers."""

from __future__ import annotations

import time

from agentsfence_core.hookspecs import hookimpl
from agentsfence_core.model import Action, Decision


@hookimpl
def agentsfence_evaluate(action: Action) -> Decision | None:
    """Hang."""
    del action
    time.sleep(3_600)
    return None
