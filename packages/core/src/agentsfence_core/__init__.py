"""AgentsFence core: what a call can do, whether it may, and the record of it.

An adapter needs `Fence` and `HostFacts`, and `open_or_block` where a fence that cannot start must block every call.
Importing this package loads no parser, no schema and no plugin (DESIGN 13).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentsfence_core.errors import (
    AuditError,
    CompilerError,
    FenceError,
    HostContractError,
    PluginError,
    PolicyError,
    SettingsError,
    StoreError,
)
from agentsfence_core.model import Decision, HostFacts, Risk, TaskPolicy, Verdict

if TYPE_CHECKING:
    from agentsfence_core._opening import BlockingFence, open_or_block
    from agentsfence_core.fence import Fence, Task

__version__ = "0.1.0"

__all__ = [
    "AuditError",
    "BlockingFence",
    "CompilerError",
    "Decision",
    "Fence",
    "FenceError",
    "HostContractError",
    "HostFacts",
    "PluginError",
    "PolicyError",
    "Risk",
    "SettingsError",
    "StoreError",
    "Task",
    "TaskPolicy",
    "Verdict",
    "open_or_block",
]

_LATER = {
    "Fence": "agentsfence_core.fence",
    "Task": "agentsfence_core.fence",
    "BlockingFence": "agentsfence_core._opening",
    "open_or_block": "agentsfence_core._opening",
}


def __getattr__(name: str) -> object:
    """Return a name whose module is loaded at first use."""
    if name not in _LATER:
        raise AttributeError(name)
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(_LATER[name]), name)
