"""What a LangChain tool says about itself. All of it is untrusted: it may raise a tool's risk, never lower it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_core.tools import BaseTool

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable

_NEVER_SHOWN = ("run_manager", "callbacks")


@dataclass(frozen=True, slots=True)
class Known:
    """What is kept of a tool that was seen."""

    tool: object
    arguments: tuple[str, ...]
    hidden: frozenset[str]


def known(tool: BaseTool) -> Known:
    """Return what is kept of a tool."""
    return Known(tool, arguments_of(tool), hidden_from_handlers(tool))


def described(tool: BaseTool) -> dict[str, object]:
    """Return a tool's name, description, parameters and annotations, as the fence registers them."""
    metadata = tool.metadata if isinstance(tool.metadata, Mapping) else {}
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": {name: {} for name in arguments_of(tool)},
        "annotations": {name: value for name, value in metadata.items() if isinstance(value, bool)},
    }


def arguments_of(tool: BaseTool) -> tuple[str, ...]:
    """Return the names of the arguments that a model gives a tool; empty where its schema cannot be read."""
    try:
        return tuple(str(name) for name in tool.args)
    except Exception:  # noqa: BLE001  (a schema is the tool's own code)
        return ()


def hidden_from_handlers(tool: BaseTool) -> frozenset[str]:
    """Return the names of arguments that LangChain does not show to callback handlers."""
    schema = tool.args_schema
    fields = getattr(schema, "model_fields", None) or getattr(schema, "__fields__", None) or {}
    names = {*_NEVER_SHOWN, *arguments_of(tool), *(str(name) for name in fields)}
    names.update(getattr(tool, "_injected_args_keys", ()))
    shown = tool._filter_injected_args(dict.fromkeys(names))
    return frozenset(names - set(shown))


def tools_of(agent: Runnable[Any, Any]) -> Iterator[BaseTool]:
    """Yield the tools of a compiled graph's tool nodes, as far as they can be seen from outside."""
    nodes = getattr(agent, "nodes", None)
    for node in nodes.values() if isinstance(nodes, Mapping) else ():
        found = getattr(getattr(node, "bound", None), "tools_by_name", None)
        for tool in found.values() if isinstance(found, Mapping) else ():
            if isinstance(tool, BaseTool):
                yield tool
