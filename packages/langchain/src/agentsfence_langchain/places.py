"""Where a call happens: its task, its LangGraph execution, and whether a person can be asked there.

Rules of this file:

* Identity comes from the run's configuration and from enclosing calls. Never from callback metadata, which an MCP
  server's annotations can overwrite, and never from graph state, which any tool can write.
* A nested agent belongs to the task of the call that runs it, whatever its own configuration says.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from langchain_core.runnables.config import var_child_runnable_config
from langgraph.checkpoint.base import BaseCheckpointSaver

TASK_KEY = "agentsfence_task"
"""Name in ``configurable`` under which an application names the task itself; it comes before ``thread_id``."""

_PUSHED = "__pregel_push"


class Place(NamedTuple):
    """One execution of one LangGraph task, or of no graph at all."""

    task: str
    thread: str = ""
    execution: str = ""
    """LangGraph's task id: the same after a resume, another after a fork. Empty outside of a graph."""
    resumable: bool = False
    """A checkpointer keeps the run, so that it can wait for a person."""
    alone: bool = False
    """The call is the only tool call of its LangGraph task, so that an answer to the task is an answer to the call."""


@dataclass(slots=True)
class Pass:
    """What a checked call leaves for the hooks beneath it: good for one entry of this very call."""

    tool: str
    digest: str
    """Digest of the arguments as a callback handler sees them."""
    call_id: str
    key: str
    place: Place
    owner: object
    """The session whose fence checked the call: another one's handler has not."""
    delegated: bool = False
    """The tool itself checks the call: it is guarded."""
    used: bool = False
    entries: int = 0
    """Further entries of the same call that were checked: a retry below the fence is a new execution."""


@dataclass(slots=True)
class Body:
    """One run of a tool's body: what it calls is counted from the start."""

    key: str
    calls: dict[str, int] = field(default_factory=dict)


class Scratchpad(Protocol):
    """What LangGraph keeps of the answers to one task."""

    resume: list[object]

    def get_null_resume(self, consume: bool = False, /) -> object:
        """Return the answer that names no interrupt."""


ENCLOSING: ContextVar[str] = ContextVar("agentsfence_task", default="")
"""Task of the call that is running here."""
BODY: ContextVar[Body | None] = ContextVar("agentsfence_body", default=None)
PASS: ContextVar[Pass | None] = ContextVar("agentsfence_pass", default=None)


def here() -> Mapping[str, object]:
    """Return the configuration of the run that this code is part of; empty outside of any run."""
    return var_child_runnable_config.get() or {}


def configurable(config: Mapping[str, object]) -> Mapping[str, object]:
    """Return the part of a configuration that the caller and LangGraph write."""
    found = config.get("configurable")
    return found if isinstance(found, Mapping) else {}


def place_of(config: Mapping[str, object], default: str, *, inside: str = "", alone: bool | None = None) -> Place:
    """Return where a call happens. ``inside``: the task of an enclosing call that only the run tree knows."""
    known = configurable(config)
    thread = _text(known.get("thread_id"))
    task = ENCLOSING.get() or inside or _text(known.get(TASK_KEY)) or thread or default
    execution = _text(known.get("__pregel_task_id")) or _last_part(_text(known.get("checkpoint_ns")))
    return Place(
        task=task,
        thread=thread,
        execution=execution,
        resumable=bool(execution) and isinstance(known.get("__pregel_checkpointer"), BaseCheckpointSaver),
        alone=_pushed(config) if alone is None else alone,
    )


def key_of(place: Place, call_id: str, call: str) -> str:
    """Return the key of one execution of a call with this digest; empty where nothing tells a replay from a new call.

    A call id alone is worth nothing: models repeat them. A call without one is new, except below a call that has a key:
    when that one runs again after an answer, the first equal call below it is the first one again.
    """
    if not place.execution or not call:
        return ""
    if call_id:
        return repr((place.thread, place.execution, call_id, call))
    above = BODY.get()
    if above is None or not above.key:
        return ""
    number = above.calls[call] = above.calls.get(call, 0) + 1
    return repr((above.key, number, call))


def only_call(config: Mapping[str, object], state: object) -> bool:
    """Whether a tool call has its LangGraph task for itself: one was sent, or the model made only one."""
    if _pushed(config):
        return True
    messages = state.get("messages") if isinstance(state, Mapping) else getattr(state, "messages", None)
    if not isinstance(messages, list):
        return False
    calls = next((message.tool_calls for message in reversed(messages) if getattr(message, "tool_calls", None)), ())
    return len(calls) == 1


def scratchpad(config: Mapping[str, object]) -> Scratchpad | None:
    """Return what LangGraph keeps of the answers to this task, where it does."""
    found = configurable(config).get("__pregel_scratchpad")
    return found if hasattr(found, "resume") and hasattr(found, "get_null_resume") else None


def waiting_answer(config: Mapping[str, object]) -> tuple[object, ...]:
    """Return the first answer that this task was resumed with, if it was."""
    pad = scratchpad(config)
    if pad is None:
        return ()
    if pad.resume:
        return (pad.resume[0],)
    answer = pad.get_null_resume(False)
    return () if answer is None else (answer,)


def _pushed(config: Mapping[str, object]) -> bool:
    metadata = config.get("metadata")
    path = metadata.get("langgraph_path") if isinstance(metadata, Mapping) else None
    return isinstance(path, tuple | list) and bool(path) and path[0] == _PUSHED


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _last_part(namespace: str) -> str:
    return namespace.rsplit("|", 1)[-1].rpartition(":")[2] if ":" in namespace else ""
