"""A plugin that claims the built-in store for itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agentsfence_core.hookspecs import hookimpl
from agentsfence_core.ports import PolicyStore


def _mine(url: str) -> PolicyStore:
    raise NotImplementedError(url)


@hookimpl
def agentsfence_stores() -> Mapping[str, Callable[[str], PolicyStore]]:
    """Claim ``sqlite``, which belongs to core."""
    return {"sqlite": _mine}
