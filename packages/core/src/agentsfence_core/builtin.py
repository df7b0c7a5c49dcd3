"""What core itself registers, through the same door as every other plugin (DESIGN 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agentsfence_core.hookspecs import hookimpl
from agentsfence_core.ports import PolicyStore


def _memory(url: str) -> PolicyStore:
    from agentsfence_core.stores.memory import MemoryStore  # noqa: PLC0415  (lazy: only the store that is chosen)

    del url
    return MemoryStore()


def _sqlite(url: str) -> PolicyStore:
    from agentsfence_core.stores.sqlite import SqliteStore, path_of  # noqa: PLC0415  (lazy, as above)

    return SqliteStore(path_of(url))


@hookimpl
def agentsfence_stores() -> Mapping[str, Callable[[str], PolicyStore]]:
    """Return ``memory`` and ``sqlite``."""
    return {"memory": _memory, "sqlite": _sqlite}
