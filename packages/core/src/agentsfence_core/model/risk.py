"""The nine risk classes, their order, and the ceilings that gate them.

Rules of this file:

* A class says what a call *can do*, whichever tool does it (paper, 3.2).
* The order is only used to name the worst effect of a call and to refuse lowering; authority never follows from it.
* READ has no ceiling. UNKNOWN has none either: no boolean ever lets it through.
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


class Risk(StrEnum):
    """What a call can do, from harmless to unclassifiable (paper, 3.2)."""

    READ = "READ"
    LOCAL_WRITE = "LOCAL_WRITE"
    EXECUTION = "EXECUTION"
    EXTERNAL_WRITE = "EXTERNAL_WRITE"
    COMMUNICATION = "COMMUNICATION"
    DELETE = "DELETE"
    PERMISSION_CHANGE = "PERMISSION_CHANGE"
    FINANCIAL = "FINANCIAL"
    UNKNOWN = "UNKNOWN"

    @property
    def rank(self) -> int:
        """Place in the order of severity, 0 for READ to 8 for UNKNOWN."""
        return RANK[self]


RANK: Final[Mapping[Risk, int]] = MappingProxyType({risk: place for place, risk in enumerate(Risk)})

CONSEQUENTIAL: Final = frozenset(set(Risk) - {Risk.READ, Risk.UNKNOWN})
"""The seven classes that change something and that a policy can authorize."""

OUTBOUND: Final = frozenset({Risk.EXTERNAL_WRITE, Risk.COMMUNICATION})
"""Sends and external writes: what ``max_external_writes`` counts (task policies, "Fields")."""


class Ceiling(StrEnum):
    """One switch per consequential class; EXTERNAL_WRITE and COMMUNICATION share one (task policies, "Fields")."""

    LOCAL_WRITES = "allow_local_writes"
    EXTERNAL_WRITES = "allow_external_writes"
    DESTRUCTIVE_ACTIONS = "allow_destructive_actions"
    FINANCIAL_ACTIONS = "allow_financial_actions"
    EXECUTION = "allow_execution"
    PERMISSION_CHANGES = "allow_permission_changes"


CEILING_OF: Final[Mapping[Risk, Ceiling]] = MappingProxyType(
    {
        Risk.LOCAL_WRITE: Ceiling.LOCAL_WRITES,
        Risk.EXECUTION: Ceiling.EXECUTION,
        Risk.EXTERNAL_WRITE: Ceiling.EXTERNAL_WRITES,
        Risk.COMMUNICATION: Ceiling.EXTERNAL_WRITES,
        Risk.DELETE: Ceiling.DESTRUCTIVE_ACTIONS,
        Risk.PERMISSION_CHANGE: Ceiling.PERMISSION_CHANGES,
        Risk.FINANCIAL: Ceiling.FINANCIAL_ACTIONS,
    }
)
"""The ceiling that must be on before an effect of this class can be authorized; READ and UNKNOWN have none."""


def worst(first: Risk, second: Risk) -> Risk:
    """Return the more severe of two classes."""
    return first if RANK[first] >= RANK[second] else second
