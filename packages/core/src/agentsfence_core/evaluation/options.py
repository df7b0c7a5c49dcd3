"""What the person's settings say about evaluating, as values (settings: ``evaluation``, ``preset``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from agentsfence_core.model import Risk, Verdict

DEFAULT_UNAUTHORIZED: Final[Mapping[Risk, Verdict]] = MappingProxyType(
    {
        Risk.READ: Verdict.ALLOW,
        Risk.LOCAL_WRITE: Verdict.ASK_USER,
        Risk.EXTERNAL_WRITE: Verdict.ASK_USER,
        Risk.COMMUNICATION: Verdict.ASK_USER,
        Risk.EXECUTION: Verdict.ASK_USER,
        Risk.UNKNOWN: Verdict.ASK_USER,
        Risk.DELETE: Verdict.BLOCK,
        Risk.PERMISSION_CHANGE: Verdict.BLOCK,
        Risk.FINANCIAL: Verdict.BLOCK,
    }
)
"""Verdict per class when a call is not authorized (task policies, "Default behaviour")."""


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """Settings that the evaluator reads. Part of what a policy is prepared with."""

    unauthorized: Mapping[Risk, Verdict] = field(default_factory=lambda: DEFAULT_UNAUTHORIZED)
    strict_auto_approve: bool = False
    """Where the host would approve by itself, a question becomes BLOCK under every policy, not only the fallback."""
    unrequested_blocks: bool = False
    """Preset ``strict``: a class that the words never ask for (its ceiling is off) is BLOCK."""
    home: str | None = None
    workdir: str | None = None
    protected: tuple[str, ...] = ()
    """Folders and files of the fence and its host besides the well-known ones; only reads are allowed there."""
