"""The callback handler: it stands innermost, wherever callbacks reach, and enforces alone where nothing else does.

LangChain's contracts that this file rests on:

* Only an exception out of a *synchronous* ``on_tool_start`` of a handler with ``raise_error`` stops a tool; an
  asynchronous one never does, and a `NotImplementedError` is logged while the tool runs.
* ``inputs`` may have been changed by an earlier handler; ``input_str`` was written before any handler ran.
* The name of the tool stands in ``serialized``; ``metadata`` is overlaid by the tool's own and worth nothing.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langgraph.errors import GraphBubbleUp

from agentsfence_core import HostContractError
from agentsfence_langchain.errors import FenceBlocked
from agentsfence_langchain.gate import Admission, Call, Memory, Status
from agentsfence_langchain.places import PASS, Pass, here, key_of, place_of
from agentsfence_langchain.values import content_digest, plain_arguments

if TYPE_CHECKING:
    from agentsfence_langchain.session import LangChainFence


class _Quiet(logging.Filter):
    """LangChain logs whatever a handler raises as an error. A refusal and a question are none: the fence logs both."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line of LangChain's callback manager is about something else."""
        return not record.getMessage().startswith(_OURS)


_OURS = tuple(
    f"Error in FenceCallbackHandler.on_tool_start callback: {kind}(" for kind in ("FenceBlocked", "GraphInterrupt")
)
logging.getLogger("langchain_core.callbacks.manager").addFilter(_Quiet())
_LOCKED = frozenset({"raise_error", "run_inline", "ignore_agent", "on_tool_start"})
_RUNS = 4_096  # runs that are remembered at once


class FenceCallbackHandler(BaseCallbackHandler):
    """Stops every tool call that the task's policy does not allow, before the tool's body is entered."""

    def __init__(self, session: LangChainFence) -> None:
        """Take the session whose fence decides."""
        self._session = session
        self._open: Memory[str, Admission | None] = Memory(_RUNS)
        """Tool runs that were admitted here, by run id; ``None`` where a pass had admitted the call."""
        self._inside: Memory[str, str] = Memory(_RUNS)
        """Task of every run below a tool that runs: a nested agent has no task of its own."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        """Refuse a subclass that would switch the fence off: each of these names decides whether a refusal counts."""
        super().__init_subclass__(**kwargs)
        changed = sorted(_LOCKED & set(vars(cls)))
        if changed:
            raise TypeError(f"{cls.__name__} changes {', '.join(changed)}: the fence would no longer stop a tool")

    @property
    def raise_error(self) -> bool:  # type: ignore[override]
        """True: what `on_tool_start` raises stops the tool."""
        return True

    @property
    def run_inline(self) -> bool:  # type: ignore[override]
        """True: in order, in the caller's own context, in asynchronous code too."""
        return True

    @property
    def ignore_agent(self) -> bool:
        """False: this switch would turn tool events off."""
        return False

    def on_tool_start(
        self,
        serialized: dict[str, Any] | None,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        inputs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Return where the call may run; raise where it may not, or where a person is asked first."""
        try:
            self._started(serialized, input_str, run_id, parent_run_id, inputs, kwargs.get("tool_call_id"))
        except (FenceBlocked, GraphBubbleUp):
            raise
        except Exception as error:  # noqa: BLE001  (the host boundary; a NotImplementedError would let the tool run)
            _blocked(error)

    def on_tool_end(self, output: object, *, run_id: UUID, **kwargs: Any) -> None:
        """Report the run as done."""
        del output, kwargs
        self._ended(run_id, "done")

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Report the run as failed, or as suspended where it waits for an answer."""
        del kwargs
        self._ended(run_id, "suspended" if isinstance(error, GraphBubbleUp) else "failed")

    def on_chain_start(
        self,
        serialized: dict[str, Any],
        inputs: dict[str, Any],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """Remember which runs a tool's own runs are part of."""
        del serialized, inputs, kwargs
        if self._inside and parent_run_id is not None and (task := self._inside.get(str(parent_run_id))):
            self._inside.keep(str(run_id), task)

    def on_chain_end(self, outputs: dict[str, Any], *, run_id: UUID, **kwargs: Any) -> None:
        """Forget a run that has ended."""
        del outputs, kwargs
        if self._inside:
            self._inside.pop(str(run_id), None)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget a run that has failed."""
        self.on_chain_end({}, run_id=run_id, **kwargs)
        del error

    # --- inside

    def _started(
        self,
        serialized: dict[str, Any] | None,
        input_str: str,
        run_id: UUID,
        parent: UUID | None,
        inputs: dict[str, Any] | None,
        call_id: object,
    ) -> None:
        if self._session.probing():
            raise FenceBlocked("probe")
        tool = str((serialized or {}).get("name") or "")
        if inputs is not None and str(inputs) != input_str:
            raise FenceBlocked("This call was blocked: another callback handler changed its arguments.")
        args = self._session.named(tool, input_str) if inputs is None else plain_arguments(inputs)
        name, seen, known = str(run_id), content_digest(tool, args), str(call_id or "")
        if name in self._open:
            return  # LangChain was given this handler twice
        one = PASS.get()
        if one is not None and one.owner is not self._session:
            one = None
        if one is not None and _consumed(one, tool, seen, known):
            self._kept(name, None, one.place.task)
            return
        self._admitted(name, self._call(tool, args, known, seen, parent, one), one)

    def _call(
        self, tool: str, args: Mapping[str, object], call_id: str, seen: str, parent: UUID | None, one: Pass | None
    ) -> Call:
        inside = self._inside.get(str(parent), "") if parent is not None else ""
        place = place_of(here(), self._session.default_task, inside=inside)
        key = key_of(place, call_id, seen)
        if key and one is not None and (one.tool, one.digest, one.call_id) == (tool, seen, call_id):
            one.entries += 1
            key = f"{key}+{one.entries}"
        return Call(tool, args, call_id, place, key, seen, time.time())

    def _admitted(self, name: str, call: Call, one: Pass | None) -> None:
        try:
            admission = self._session.gate.admit(call)
        except FenceBlocked as refusal:
            # The call that a pass was made for did not run, whatever ran in its place.
            refusal.entry = one if one is not None and not one.used else None
            raise
        self._kept(name, admission, call.place.task)

    def _kept(self, name: str, admission: Admission | None, task: str) -> None:
        self._open.keep(name, admission)
        self._inside.keep(name, task)

    def _ended(self, run_id: UUID, status: Status) -> None:
        name = str(run_id)
        self._inside.pop(name, None)
        admission = self._open.pop(name, None)
        if admission is not None:
            self._session.gate.settle(admission, status)


def _consumed(one: Pass, tool: str, seen: str, call_id: str) -> bool:
    """Use up a pass for the call that it was made for; a delegated one is good for the guarded tool that checks."""
    if one.used or one.tool != tool or one.digest != seen or one.call_id != call_id:
        return False
    one.used = True
    return True


def _blocked(error: Exception) -> NoReturn:
    kind = type(error).__name__
    hint = f" ({error.hint})" if isinstance(error, HostContractError) else ""
    raise FenceBlocked(
        f"This call was blocked: {kind} inside AgentsFence{hint}. Do not work around it; tell the person."
    ) from None
