"""Tools that call tools: the calls inside a call, JSON strings included (DESIGN 5, "nested dispatch").

Rules of this file:

* An inner call is classified as itself; the tool around it adds nothing and hides nothing.
* An entry whose tool cannot be read is a call of a tool without a name, which is UNKNOWN.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from agentsfence_core.classification.names import fold_all
from agentsfence_core.limits import LIMITS

if TYPE_CHECKING:
    from agentsfence_core.model.call import ToolCall

DEPTH: Final = 5
"""Dispatching tools inside each other that are opened."""
CALLS: Final = 64
"""Inner calls of one call that are opened, over all levels."""

_NAMES: Final = tuple("name tool toolname function functionname recipientname toolid actionname toolslug".split())
_ARGUMENTS: Final = tuple(
    "arguments args parameters params input toolinput toolargs toolarguments kwargs payload".split()
)
_BATCHES: Final = tuple("tooluses calls toolcalls invocations requests operations steps actions batch tools".split())
_SERVERS: Final = tuple("servername server mcpserver toolkit app".split())


def inner_calls(call: ToolCall) -> list[ToolCall]:
    """Return the calls that a dispatching call names, at most one more than `CALLS`; none where it names none."""
    entries = dict(reversed(fold_all(call.args)))
    for key in _BATCHES:
        batch = parsed(entries.get(key))
        if isinstance(batch, list | tuple) and batch:
            return [_inner(call, entry) for entry in batch[: CALLS + 1]]
    return [_inner(call, call.args)] if any(isinstance(entries.get(key), str | Mapping) for key in _NAMES) else []


def _inner(call: ToolCall, entry: object) -> ToolCall:
    """Return one inner call."""
    entry = parsed(entry)
    if not isinstance(entry, Mapping):
        return replace(call, tool="", args={})
    entries = dict(reversed(fold_all(entry)))
    function = entries.get("function")
    if isinstance(function, Mapping):
        return _inner(call, function)
    name = _first_text(entries, _NAMES).removeprefix("functions.")
    server = _first_text(entries, _SERVERS)
    args = next((parsed(entries[key]) for key in _ARGUMENTS if entries.get(key) is not None), None)
    if args is None:
        used = {*_NAMES, *_SERVERS}
        args = {key: value for key, value in entries.items() if key not in used}
    return replace(
        call,
        tool=f"mcp__{server}__{name}" if server else name,
        args=args if isinstance(args, Mapping) else {"input": args},
    )


def _first_text(entries: Mapping[str, object], keys: tuple[str, ...]) -> str:
    """Return the first text under any of some names."""
    for key in keys:
        value = entries.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def parsed(value: object) -> object:
    """Return a value, read from JSON where it was written as a string."""
    if isinstance(value, str) and len(value) <= LIMITS.json_text and value.lstrip()[:1] in {"{", "["}:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value
