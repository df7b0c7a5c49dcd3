"""Tools that run at the model's provider: no hook of LangChain sees their calls, so the model is not offered them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

_DESCRIBED = frozenset({None, "function", "custom"})
"""Types of a tool that the caller runs and only describes to the model."""
_RUN_HERE = ("bash_", "text_editor_", "computer_", "memory_", "local_shell", "apply_patch")
"""Types with a fixed description whose calls come back to the caller, and to the fence."""


def name_of(tool: Mapping[str, object]) -> str:
    """Return the name under which a provider's tool is known: its type, else its only key."""
    kind = tool.get("type")
    return str(kind) if kind is not None else next(iter(tool), "")


def runs_at_the_provider(tool: object, allowed: Collection[str]) -> bool:
    """Whether calls of a tool never come back here, and nobody allowed it by name."""
    if not isinstance(tool, Mapping):
        return False
    kind = tool.get("type")
    if kind in _DESCRIBED and ("function" in tool or "name" in tool or "title" in tool):
        return False
    name = name_of(tool)
    return not name.startswith(_RUN_HERE) and name not in allowed
