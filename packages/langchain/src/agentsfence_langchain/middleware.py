"""The middleware: where a refusal becomes a tool result for the model, and a question an interrupt for a person.

Rules of this file:

* First in the list is outermost. The fence belongs last: what stands inside may change the call after the check. What
  does so anyway meets the callback handler, which lets through only the call that the pass was made for.
* ``request.tool`` is what runs; the name in ``request.tool_call`` is a label.
* Every refused call is answered: a history with an open tool call is refused by model providers.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import SystemMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command

from agentsfence_core import BlockingFence
from agentsfence_langchain.errors import FenceBlocked
from agentsfence_langchain.gate import Admission, Call, Status
from agentsfence_langchain.guard import handlers_view, is_guarded
from agentsfence_langchain.places import BODY, ENCLOSING, PASS, Body, Pass, key_of, only_call, place_of
from agentsfence_langchain.provider_tools import runs_at_the_provider
from agentsfence_langchain.values import content_digest, plain_arguments

if TYPE_CHECKING:
    from langgraph.prebuilt.tool_node import ToolCallRequest

    from agentsfence_langchain.session import LangChainFence

_LOG = logging.getLogger("agentsfence.langchain")
NOTE = (
    "A policy made from the person's own words is in force: every tool call is checked before it runs. "
    "If a call is refused, do not work around it; go on with what is allowed, or tell the person."
)
ToolResult = ToolMessage | Command[Any]


class FenceMiddleware(AgentMiddleware):
    """Checks every tool call of an agent. Put it last in the list."""

    def __init__(self, session: LangChainFence) -> None:
        """Take the session whose fence decides."""
        super().__init__()
        self._session = session

    @property
    def name(self) -> str:
        """One fixed name: two fences in one agent are an error."""
        return "AgentsFence"

    # --- tool calls

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        """Return what the tool answers, or why it did not run."""
        try:
            call = self._call(request)
            if self._delegates(request):
                with self._delegated(request, call):
                    return handler(request)
            if (known := self._session.gate.remembered(call)) is not None:
                return known
            admission = self._session.gate.admit(call, may_ask=request.tool is not None)
            with self._running(request, admission) as outcome:
                outcome.result = handler(request)
            return outcome.result
        except FenceBlocked as refusal:
            return self._refused(request, refusal)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:
        """Return what the tool answers, or why it did not run."""
        try:
            call = self._call(request)
            if self._delegates(request):
                with self._delegated(request, call):
                    return await handler(request)
            if (known := self._session.gate.remembered(call)) is not None:
                return known
            admission = await self._session.gate.aadmit(call, may_ask=request.tool is not None)
            with self._running(request, admission) as outcome:
                outcome.result = await handler(request)
            return outcome.result
        except FenceBlocked as refusal:
            return self._refused(request, refusal)

    # --- model calls

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]) -> Any:
        """Return the model's answer to what it may be offered."""
        return handler(self._offered(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> Any:
        """Return the model's answer to what it may be offered."""
        return await handler(self._offered(request))

    # --- inside

    def _call(self, request: ToolCallRequest) -> Call:
        try:
            tool, label = request.tool, str(request.tool_call.get("name") or "")
            if tool is not None:
                self._session.learn((tool,))
            name = label if tool is None else self._judged_name(tool.name, label, request.tool_call["args"])
            args = plain_arguments(request.tool_call["args"])
            config = _config(request)
            call_id = str(request.tool_call.get("id") or "")
            place = place_of(config, self._session.default_task, alone=only_call(config, request.state))
            if place.alone and self._session.gate.one_of_several(place.execution, call_id):
                place = place._replace(alone=False)
            content = content_digest(name, args)
            return Call(name, args, call_id, place, key_of(place, call_id, content), content, time.time())
        except Exception as error:  # noqa: BLE001  (the host boundary)
            _LOG.exception("a call could not be read")
            raise FenceBlocked(f"This call was blocked: it could not be read ({type(error).__name__}).") from None

    def _judged_name(self, runs: str, label: str, args: Mapping[str, object]) -> str:
        """Return the more dangerous name where label and tool disagree: one of them was put there by somebody."""
        fence = self._session.gate.fence
        if runs == label or isinstance(fence, BlockingFence):
            return runs
        return max((runs, label), key=lambda name: fence.classify(name, args).risk.rank)

    def _delegates(self, request: ToolCallRequest) -> bool:
        """Whether the tool will ask by itself."""
        tool = request.tool
        return tool is not None and is_guarded(tool, self._session) and tool.name == request.tool_call["name"]

    @contextmanager
    def _delegated(self, request: ToolCallRequest, call: Call) -> Iterator[None]:
        token = PASS.set(self._pass(request, call, delegated=True))
        try:
            yield
        finally:
            PASS.reset(token)

    def _pass(self, request: ToolCallRequest, call: Call, *, delegated: bool = False) -> Pass:
        tool = request.tool
        if tool is None:
            return Pass("", "", call.call_id, call.key, call.place, self._session)
        whole = call.tool == tool.name and self._session.hidden(tool).isdisjoint(call.args)
        seen = call.content if whole else handlers_view(self._session, tool, request.tool_call["args"])
        return Pass(tool.name, seen, call.call_id, call.key, call.place, self._session, delegated=delegated)

    @contextmanager
    def _running(self, request: ToolCallRequest, admission: Admission) -> Iterator[_Outcome]:
        """Report what becomes of an admitted call; what it calls belongs to its task."""
        call, outcome = admission.call, _Outcome()
        one = self._pass(request, call)
        inside, token, body = ENCLOSING.set(call.place.task), PASS.set(one), BODY.set(Body(call.key))
        status: Status = "failed"
        try:
            yield outcome
            status = _status(request, outcome.result)
        except GraphBubbleUp:
            status = "suspended"
            raise
        except FenceBlocked as refusal:
            status = "not_run" if refusal.entry is one else "failed"
            raise
        finally:
            BODY.reset(body)
            PASS.reset(token)
            ENCLOSING.reset(inside)
            self._session.gate.settle(admission, status, outcome.result)

    def _refused(self, request: ToolCallRequest, refusal: FenceBlocked) -> ToolMessage:
        call_id = request.tool_call.get("id")
        if call_id is None:
            raise refusal
        return ToolMessage(
            content=str(refusal),
            tool_call_id=call_id,
            name=request.tool.name if request.tool is not None else request.tool_call["name"],
            status="error",
            artifact={"agentsfence": dict(refusal.details)},
        )

    def _offered(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """Return the request without tools that run at the provider, where no hook sees them, and with the note."""
        self._session.learn(tool for tool in request.tools if isinstance(tool, BaseTool))
        kept = [tool for tool in request.tools if not runs_at_the_provider(tool, self._session.provider_tools)]
        if len(kept) != len(request.tools):
            self._session.warn_of_provider_tools(tool for tool in request.tools if tool not in kept)
            request = request.override(tools=kept)
        if not self._session.note:
            return request
        said = request.system_message
        if said is None:
            return request.override(system_message=SystemMessage(NOTE))
        if NOTE in said.text:
            return request
        blocks = said.content if isinstance(said.content, list) else [{"type": "text", "text": said.content}]
        return request.override(system_message=SystemMessage([*blocks, {"type": "text", "text": f"\n\n{NOTE}"}]))


class _Outcome:
    """What a tool answered, once it has."""

    result: Any = None


def _config(request: ToolCallRequest) -> Mapping[str, object]:
    return dict(request.runtime.config or {})


def _status(request: ToolCallRequest, result: object) -> Status:
    """Return what became of a call whose tool answered. Arguments that the schema refuses never reach the body."""
    if not isinstance(result, ToolMessage) or result.status != "error":
        return "done"
    schema = getattr(request.tool, "tool_call_schema", None)
    validate = getattr(schema, "model_validate", None)
    if validate is None:
        return "failed"
    try:
        validate(request.tool_call["args"])
    except Exception:  # noqa: BLE001  (a validator is the tool's own code)
        return "not_run"
    return "failed"
