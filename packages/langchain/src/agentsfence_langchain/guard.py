"""Guarded tools: the tool object itself asks, so that no path to its body goes around the fence.

Rules of this file:

* A guarded tool is a copy: the same schema, name and description, and a body that is entered after the check only.
* It judges what the body receives: validated arguments, with defaults, without what LangGraph injects.
* One check a call: while a guarded tool runs, middleware and handler leave the decision to it.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from langchain_core.tools import BaseTool, StructuredTool, Tool
from langgraph.errors import GraphBubbleUp

from agentsfence_core import HostContractError
from agentsfence_langchain.errors import FenceBlocked
from agentsfence_langchain.gate import Admission, Call
from agentsfence_langchain.places import BODY, ENCLOSING, PASS, Body, Pass, here, key_of, only_call, place_of
from agentsfence_langchain.values import content_digest, plain_arguments

if TYPE_CHECKING:
    from agentsfence_langchain.session import LangChainFence

OnBlock = Literal["message", "raise"]
SESSION = "_agentsfence_session"
"""Attribute of a guarded tool that names the session it asks."""
_T = TypeVar("_T", bound=BaseTool)
_HOST_ARGUMENTS = frozenset({"run_manager", "callbacks"})


def guarded(session: LangChainFence, tool: _T, on_block: OnBlock) -> _T:
    """Return a copy of a tool that asks the fence before its body is entered."""
    if getattr(tool, SESSION, None) is session:
        return tool
    if getattr(tool, SESSION, None) is not None:
        raise HostContractError(f"{tool.name} is guarded by another fence", hint="guard the original tool")
    copy = tool.model_copy()
    object.__setattr__(copy, "__class__", _guarded_class(type(tool)))
    object.__setattr__(copy, SESSION, session)
    if on_block == "message":
        copy.handle_tool_error = _chained(tool.handle_tool_error)
    if isinstance(copy, StructuredTool | Tool):
        if copy.func is not None:
            copy.func = _asking(session, copy, copy.func)
        if copy.coroutine is not None:
            copy.coroutine = _asking_async(session, copy, copy.coroutine)
    return copy


def is_guarded(tool: object, session: LangChainFence) -> bool:
    """Whether a tool asks this session itself."""
    return getattr(tool, SESSION, None) is session


def handlers_view(session: LangChainFence, tool: BaseTool, tool_input: object) -> str:
    """Return the digest of a call as a callback handler sees it: without what LangGraph injects."""
    if isinstance(tool_input, dict):
        hidden = session.hidden(tool)
        return content_digest(
            tool.name, plain_arguments({key: tool_input[key] for key in tool_input if key not in hidden})
        )
    return content_digest(tool.name, session.named(tool.name, str(tool_input)))


@cache
def _guarded_class(kind: type[BaseTool]) -> type[BaseTool]:
    """Return a subclass whose runs announce themselves and, for tools with a body of their own, ask."""
    names: dict[str, Any] = {"__module__": kind.__module__, "__qualname__": f"Guarded{kind.__qualname__}"}
    names["run"], names["arun"] = _announced(kind.run), _announced_async(kind.arun)
    if not issubclass(kind, StructuredTool | Tool):
        names["_run"] = _asking_method(kind._run)
        if kind._arun is not BaseTool._arun:
            names["_arun"] = _asking_method_async(kind._arun)
    return type(f"Guarded{kind.__name__}", (kind,), names)


# --- a run announces itself, so that the handler knows that the tool will ask


@contextmanager
def _announcement(tool: BaseTool, tool_input: object, call_id: object, config: object) -> Iterator[None]:
    session: LangChainFence = getattr(tool, SESSION)
    above = PASS.get()
    place = (
        above.place
        if above is not None
        and above.owner is session
        and above.delegated
        and not above.used
        and above.tool == tool.name
        else place_of(config if isinstance(config, Mapping) else here(), session.default_task)
    )
    known = str(call_id or "")
    one = Pass(tool.name, handlers_view(session, tool, tool_input), known, "", place, session, delegated=True)
    if above is not None and above.owner is session and above.delegated:
        above.used = True
    token = PASS.set(one)
    try:
        yield
    finally:
        PASS.reset(token)


def _announced(run: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(run)
    def announced(self: BaseTool, tool_input: object, *args: Any, **kwargs: Any) -> Any:
        with _announcement(self, tool_input, kwargs.get("tool_call_id"), kwargs.get("config")):
            return run(self, tool_input, *args, **kwargs)

    return announced


def _announced_async(run: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @wraps(run)
    async def announced(self: BaseTool, tool_input: object, *args: Any, **kwargs: Any) -> Any:
        with _announcement(self, tool_input, kwargs.get("tool_call_id"), kwargs.get("config")):
            return await run(self, tool_input, *args, **kwargs)

    return announced


# --- a body that asks first


def _asking(session: LangChainFence, tool: BaseTool, body: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(body)

    @wraps(body)
    def asking(*args: Any, **kwargs: Any) -> Any:
        call = _call(session, tool, signature, args, kwargs)
        if (known := session.gate.remembered(call)) is not None:
            return known
        with _running(session, session.gate.admit(call)) as answer:
            answer.append(body(*args, **kwargs))
        return answer[0]

    return asking


def _asking_async(
    session: LangChainFence, tool: BaseTool, body: Callable[..., Awaitable[Any]]
) -> Callable[..., Awaitable[Any]]:
    signature = inspect.signature(body)

    @wraps(body)
    async def asking(*args: Any, **kwargs: Any) -> Any:
        call = _call(session, tool, signature, args, kwargs)
        if (known := session.gate.remembered(call)) is not None:
            return known
        with _running(session, await session.gate.aadmit(call)) as answer:
            answer.append(await body(*args, **kwargs))
        return answer[0]

    return asking


def _asking_method(body: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(body)
    def asking(self: BaseTool, *args: Any, **kwargs: Any) -> Any:
        session: LangChainFence = getattr(self, SESSION)
        return _asking(session, self, body.__get__(self))(*args, **kwargs)

    return asking


def _asking_method_async(body: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @wraps(body)
    async def asking(self: BaseTool, *args: Any, **kwargs: Any) -> Any:
        session: LangChainFence = getattr(self, SESSION)
        return await _asking_async(session, self, body.__get__(self))(*args, **kwargs)

    return asking


@contextmanager
def _running(session: LangChainFence, admission: Admission) -> Iterator[list[Any]]:
    """Report what becomes of an admitted call; what it calls belongs to its task."""
    inside, no_pass = ENCLOSING.set(admission.call.place.task), PASS.set(None)
    body = BODY.set(Body(admission.call.key))
    answer: list[Any] = []
    try:
        yield answer
    except GraphBubbleUp:
        session.gate.settle(admission, "suspended")
        raise
    except BaseException:
        session.gate.settle(admission, "failed")
        raise
    else:
        session.gate.settle(admission, "done", answer[0] if answer else None)
    finally:
        BODY.reset(body)
        PASS.reset(no_pass)
        ENCLOSING.reset(inside)


def _call(
    session: LangChainFence, tool: BaseTool, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Call:
    received = plain_arguments(_received(tool, signature, args, kwargs))
    one = PASS.get()
    if one is not None and one.owner is session and one.delegated and one.tool == tool.name:
        place, call_id = one.place, one.call_id
    else:
        place, call_id = place_of(here(), session.default_task, alone=only_call(here(), None)), ""
    content = content_digest(tool.name, received)
    return Call(tool.name, received, call_id, place, key_of(place, call_id, content), content, time.time())


def _received(
    tool: BaseTool, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, object]:
    """Return what the body receives, by name, with defaults and without what its host puts in."""
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return {**{f"arg{place}": value for place, value in enumerate(args)}, **kwargs}
    bound.apply_defaults()
    found: dict[str, object] = {}
    for name, value in bound.arguments.items():
        if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            found.update(value)
        elif not _from_host(name, value, signature):
            found[name] = value
    injected = set(found) - set(tool._filter_injected_args(found)) - _HOST_ARGUMENTS
    return {name: value for name, value in found.items() if name not in injected}


def _from_host(name: str, value: object, signature: inspect.Signature) -> bool:
    if name in _HOST_ARGUMENTS:
        return value is None or isinstance(value, list)
    return "RunnableConfig" in str(signature.parameters[name].annotation)


def _chained(before: Any) -> Callable[[Exception], Any]:
    """Return an error handler that turns a refusal into its text, and leaves every other error as it was handled."""

    def handle(error: Exception) -> Any:
        if isinstance(error, FenceBlocked):
            return str(error)
        if before is None or before is False:
            raise error
        if before is True:
            return error.args[0] if error.args else "Tool execution error"
        return before if isinstance(before, str) else before(error)

    return handle
