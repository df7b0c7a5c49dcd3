"""The contract of every adapter, with each set of pieces that fences an agent by itself."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

pytest.importorskip("agentsfence_core.testkit.adapters")
from packages.langchain.tests.aids import Script, answers_of, says

from agentsfence_core.testkit.adapters import AdapterContract
from agentsfence_core.testkit.host import AdapterDriver, Attempt, Interrupted, Place, Tool
from agentsfence_langchain import LangChainFence

TASK = "contract"


class Outside(AgentMiddleware):
    """Keeps the newest call, as LangGraph does to run it again."""

    def __init__(self) -> None:
        super().__init__()
        self.newest: Any = None

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        self.newest = (request, handler)
        return handler(request)


class Inside(AgentMiddleware):
    """What happens between the check and the body."""

    def __init__(self) -> None:
        super().__init__()
        self.attempt: Attempt | None = None

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        if self.attempt is not None:
            self.attempt.meanwhile()
        return handler(request)


class Driver:
    """A ``create_agent`` agent whose model makes the attempted call."""

    def __init__(self, place: Place, pieces: str) -> None:
        self._fence = LangChainFence(approver="auto" if place.person_present else "deny")
        tools = [_tool(one) for one in place.tools]
        self._tools: list[BaseTool] = self._fence.guard_all(tools) if "guard" in pieces else tools
        self._pieces = pieces
        self._numbers = itertools.count()
        self._last: Any = None

    def say(self, text: str) -> None:
        self._fence.amend(text, thread_id=TASK)

    def attempt(self, attempt: Attempt) -> str:
        one = {"name": attempt.tool, "args": attempt.args, "id": attempt.call_id or "call", "type": "tool_call"}
        outside, inside = Outside(), Inside()
        inside.attempt = attempt
        checks = [self._fence.middleware()] if "middleware" in self._pieces else []
        model = Script(answers=[says(one), says(text="done")])
        agent: Any = create_agent(
            model, self._tools, middleware=[outside, *checks, inside], checkpointer=InMemorySaver()
        )
        agent = self._fence.bind(agent) if "handler" in self._pieces else agent
        config = {"configurable": {"thread_id": f"run-{next(self._numbers)}", "agentsfence_task": TASK}}
        self._last = agent, config, outside
        return self._told({"messages": [HumanMessage("go")]}, attempt.answer)

    def replay(self) -> str:
        agent, config, outside = self._last
        if agent.get_state(config).next:
            return self._told(Command(resume="go on"), "")
        request, handler = outside.newest
        return str(handler(request).content)

    def close(self) -> None:
        self._fence.close()

    def _told(self, given: Any, answer: str) -> str:
        agent, config, _ = self._last
        try:
            result = agent.invoke(given, config)
            if answer and "__interrupt__" in result:
                yes = {"type": "approve", "scope": answer}
                result = agent.invoke(Command(resume=yes if answer != "no" else {"type": "reject"}), config)
        except Exception as error:  # noqa: BLE001  (what the host would show)
            return str(error)
        told = answers_of(result)
        return told[0] if told else "waiting for the person"


def _tool(tool: Tool) -> BaseTool:
    def body(**args: Any) -> str:
        try:
            return tool.body(args)
        except Interrupted:
            interrupt("stopped")
            return tool.body(args)

    return StructuredTool(name=tool.name, description=tool.description, args_schema=dict(tool.parameters), func=body)


class TestEveryPiece(AdapterContract):
    """Middleware and handler, as the guide says."""

    def make(self, place: Place) -> AdapterDriver:
        return Driver(place, "middleware handler")


class TestMiddleware(AdapterContract):
    """The middleware alone."""

    def make(self, place: Place) -> AdapterDriver:
        return Driver(place, "middleware")


class TestGuarded(AdapterContract):
    """Guarded tools alone: without middleware nothing can play a finished call back but its own tool."""

    def make(self, place: Place) -> AdapterDriver:
        return Driver(place, "guard")


class TestHandler(AdapterContract):
    """The handler alone: it cannot give a finished call's answer again, so it refuses."""

    def make(self, place: Place) -> AdapterDriver:
        return Driver(place, "handler")


class TestEverything(AdapterContract):
    """All three."""

    def make(self, place: Place) -> AdapterDriver:
        return Driver(place, "middleware handler guard")
