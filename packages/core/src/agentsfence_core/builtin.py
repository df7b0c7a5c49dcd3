"""What core itself registers, through the same door as every other plugin (DESIGN 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agentsfence_core.errors import StoreError
from agentsfence_core.hookspecs import hookimpl
from agentsfence_core.ports import PolicyStore


def _memory(url: str) -> PolicyStore:
    from agentsfence_core.stores.memory import MemoryStore  # noqa: PLC0415  (lazy: only the store that is chosen)

    del url
    return MemoryStore()


def _sqlite(url: str) -> PolicyStore:
    from agentsfence_core.stores.sqlite import SqliteStore, path_of  # noqa: PLC0415  (lazy, as above)

    return SqliteStore(path_of(url))


def _postgres(url: str) -> PolicyStore:
    try:
        from agentsfence_core.stores.postgres import PostgresStore  # noqa: PLC0415  (lazy, as above)
    except ImportError as error:
        raise StoreError(
            "a postgres store needs psycopg, which is not installed", hint="pip install 'agentsfence-core[postgres]'"
        ) from error
    return PostgresStore(url)


@hookimpl
def agentsfence_stores() -> Mapping[str, Callable[[str], PolicyStore]]:
    """Return ``memory``, ``sqlite`` and ``postgres``, the last under both names that its URLs have."""
    return {"memory": _memory, "sqlite": _sqlite, "postgres": _postgres, "postgresql": _postgres}
