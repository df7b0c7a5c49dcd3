"""All ports on one screen (DESIGN 4). Project name: ``agentsfence``.

Verdicts never go through pluggy's ``firstresult``: all results are collected and the strictest wins, so that neither
registration order nor a wrapper can turn a BLOCK into anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pluggy

from agentsfence_core.model import Action, Decision, ExecutionState, TaskPolicy, ToolCall
from agentsfence_core.ports import AdapterInfo, CompilerBackend, PolicyStore, ToolMapping

PROJECT = "agentsfence"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def agentsfence_tool_mappings() -> Sequence[ToolMapping]:  # type: ignore[empty-body]
    """Rows that map tools; settings of the user win; may lower only what the built-in catalogue calls UNKNOWN."""


@hookspec
def agentsfence_classify(call: ToolCall) -> Action | None:
    """A second reading of a call; may add effects and raise risk, lowers only UNKNOWN."""


@hookspec
def agentsfence_compilers() -> Mapping[str, CompilerBackend]:  # type: ignore[empty-body]
    """Compiler backends by name; chosen by name in settings, their drafts are untrusted."""


@hookspec
def agentsfence_evaluate(policy: TaskPolicy, state: ExecutionState, action: Action, now: float) -> Decision | None:
    """A second opinion on a call; strictest wins, so it can only tighten."""


@hookspec
def agentsfence_stores() -> Mapping[str, Callable[[str], PolicyStore]]:  # type: ignore[empty-body]
    """Store factories by URL scheme; a factory receives the whole URL."""


@hookspec
def agentsfence_on_event(event: Mapping[str, object]) -> None:
    """Told of every audit event, redacted; faults are logged and never in the way."""


@hookspec
def agentsfence_adapters() -> AdapterInfo:  # type: ignore[empty-body]
    """What an adapter says about itself, for ``agentsfence adapters`` and ``doctor``."""
