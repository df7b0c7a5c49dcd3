"""What Hermes loads: the callbacks, which block every call until the working adapter stands behind them.

Rules of this file:

* Importing it imports only the standard library and `ordering`: Hermes goes on without a plugin that fails to import.
* The first act of `register` puts the blocking callbacks in place; what fails after that leaves them blocking.
* A fault in our own code is BLOCK. Hermes runs the tool when a callback raises, so none of ours may.
* Module state outlives forced rediscovery: an entry-point module is imported once, and a directory plugin's module
  only points here.
"""

from __future__ import annotations

import json
import logging
import threading
from typing import TYPE_CHECKING, Any

from agentsfence_hermes import ordering

if TYPE_CHECKING:
    from agentsfence_hermes.runtime import Adapter, Entered

_LOG = logging.getLogger("agentsfence.hermes")
_START = threading.Lock()
_OLDEST = "0.18.1"


class _State:
    """The working adapter, or why there is none."""

    adapter: Adapter | None = None
    why = "AgentsFence has not started yet"


STATE = _State()


def register(ctx: Any) -> None:
    """Every tool call goes through the fence, or is blocked with the reason why the fence could not start."""
    held = ordering.hold(getattr(ctx, "_manager", None), HOOKS, MIDDLEWARE)
    if not held:
        _register_openly(ctx)
    with _START:
        try:
            STATE.why = _unfit(ctx) if held else "this version of Hermes keeps its hooks where AgentsFence cannot look"
            if not STATE.why:
                _start(ctx)
        except Exception as error:  # noqa: BLE001  (the host boundary: whatever failed, calls stay blocked)
            STATE.adapter = None
            STATE.why = f"AgentsFence could not start: {type(error).__name__}: {error}"
        if STATE.why:
            _LOG.error("every tool call is blocked: %s", STATE.why)


def _register_openly(ctx: Any) -> None:
    """Our callbacks are registered as any plugin's are; where even that fails, Hermes has no hooks to hold."""
    for name, callback in HOOKS.items():
        ctx.register_hook(name, callback)
    if hasattr(ctx, "register_middleware"):
        for kind, callback in MIDDLEWARE.items():
            ctx.register_middleware(kind, callback)


def _unfit(ctx: Any) -> str:
    """Return why this Hermes cannot be fenced, or an empty text."""
    from hermes_cli import plugins  # noqa: PLC0415  (Hermes is there when it loads us)

    if not hasattr(plugins, "resolve_pre_tool_block") or not hasattr(ctx, "register_middleware"):
        return f"AgentsFence needs Hermes Agent {_OLDEST} or newer: pip install --upgrade hermes-agent"
    return ""


def _start(ctx: Any) -> None:
    """The working adapter stands behind the callbacks; it is made once per process."""
    from agentsfence_hermes.runtime import Adapter  # noqa: PLC0415  (a fault in there must not unload us)

    if STATE.adapter is None:
        STATE.adapter = Adapter()
    STATE.adapter.attach(ctx)
    STATE.why = ""


# ------------------------------------------------------------------------------------------------------- the callbacks


def pre_tool_call(**call: Any) -> dict[str, str] | None:
    """Return what Hermes must do with a call: nothing, block it, or ask the person."""
    try:
        adapter = STATE.adapter
        if adapter is None:
            return {"action": "block", "message": blocked_sentence()}
        return adapter.before(call)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (INVARIANT: no fault of ours lets a call through)
        return {"action": "block", "message": _fault(error)}


def tool_execution(**call: Any) -> Any:
    """Run a call that was authorized with exactly these arguments, else return a refusal in its place."""
    try:
        adapter = STATE.adapter
        entered = blocked_sentence() if adapter is None else adapter.enter(call)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (INVARIANT: no fault of ours lets a call through)
        entered = _fault(error)
    if isinstance(entered, str):
        return json.dumps({"error": entered}, ensure_ascii=False)
    done = False
    try:
        result = call["next_call"](call.get("args"))
        done = not _is_error(result)
        return result
    finally:
        _left(entered, done=done)


def _is_error(result: object) -> bool:
    """Whether a result says of itself that the call failed; Hermes' tools report errors as a JSON object."""
    return isinstance(result, str) and result.lstrip()[:9].startswith(('{"error"', "{'error'"))


def _left(entered: Entered, *, done: bool) -> None:
    try:
        entered.leave(done=done)
    except Exception:  # noqa: BLE001  (the call has run: its charge stands, which is the strict reading)
        _LOG.exception("the outcome of a call could not be kept; its charge stands")


def _told(name: str) -> Any:
    """Return a callback that hands what Hermes tells to the adapter; a fault in it changes nothing for Hermes."""

    def told(**event: Any) -> Any:
        adapter = STATE.adapter
        if adapter is None:
            return None
        try:
            return getattr(adapter, name)(event)
        except Exception:  # noqa: BLE001  (a message that is not heard grants nothing)
            _LOG.exception("%s failed", name)
            return None

    told.__name__ = told.__qualname__ = name
    return told


def blocked_sentence() -> str:
    """Return the refusal of a fence that could not start."""
    return f"Blocked: {STATE.why}. Run `agentsfence hermes doctor` to see what to do. Do not work around it."


def _fault(error: BaseException) -> str:
    _LOG.error("a call is blocked because of a fault", exc_info=error)
    return f"Blocked: {type(error).__name__} inside AgentsFence. Do not work around it; tell the person."


HOOKS: dict[str, ordering.Callback] = {
    "pre_tool_call": pre_tool_call,
    "post_tool_call": _told("after"),
    "pre_llm_call": _told("turn"),
    "pre_gateway_dispatch": _told("arrived"),
    "subagent_start": _told("delegated"),
    "post_approval_response": _told("answered"),
}
MIDDLEWARE: dict[str, ordering.Callback] = {"tool_execution": tool_execution}
