"""Execution state: what a task has used so far (sigma in the paper, 3.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from agentsfence_core.model.grant import Grant

_NOTHING: Mapping[str, int] = MappingProxyType({})

OUTBOUND_COUNTER = "outbound"
"""Counter of sends and external writes, which ``max_external_writes`` bounds."""


@dataclass(frozen=True, slots=True)
class Charge:
    """What admitting a call adds to the counters: counter name -> units."""

    counters: tuple[tuple[str, int], ...] = ()
    grant: str = ""
    """Id of the grant whose use is counted."""


@dataclass(frozen=True, slots=True)
class ExecutionState:
    """Counters and grants of one task at one moment. Values only; committing is the store's work."""

    counters: Mapping[str, int] = field(default_factory=lambda: _NOTHING)
    """Counter name -> units used. Names are made by ``PreparedPolicy``: ``outbound``, ``row:…``, ``tool:…``."""
    grant_uses: Mapping[str, int] = field(default_factory=lambda: _NOTHING)
    """Grant id -> times used."""
    grants: tuple[Grant, ...] = ()
    """Grants that were approved and not revoked."""
    denied: frozenset[str] = frozenset()
    """Action digests that the person denied; they hold until a new explicit request."""

    def charged(self, charge: Charge) -> ExecutionState:
        """Return the state after a call was admitted."""
        counters = dict(self.counters)
        for name, units in charge.counters:
            counters[name] = counters.get(name, 0) + units
        uses = dict(self.grant_uses)
        if charge.grant:
            uses[charge.grant] = uses.get(charge.grant, 0) + 1
        return replace(self, counters=counters, grant_uses=uses)
