"""A scripted model, tools that record that they ran, and agents of every kind around them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import Field

from agentsfence_core import Fence
from agentsfence_langchain import LangChainFence

RECENT = int(version("langgraph").split(".")[1]) >= 2
"""LangGraph as it is now; the oldest that the package allows does some things otherwise."""
JOHN, EVIL = "john@example.com", "mallory@evil.example"
WORDS = f"Read the report and email it to {JOHN}"
CONFIG: Any = {"configurable": {"thread_id": "t"}}
YES: Any = {"decisions": [{"type": "approve"}]}
NO: Any = {"decisions": [{"type": "reject", "message": "not him"}]}
SETTINGS = {"store": "memory:", "audit": {"enabled": False}, "compiler": {"name": "rules"}}


class Script(BaseChatModel):
    """Answers with the scripted messages, one after the other, and records what it saw and was offered."""

    answers: list[Any]
    seen: list[list[BaseMessage]] = Field(default_factory=list)
    offered: list[list[Any]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        self.offered.append([tool if isinstance(tool, dict) else tool.name for tool in tools])
        return self

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        self.seen.append(list(messages))
        place = min(len(self.seen), len(self.answers)) - 1
        answer = self.answers[place]
        message = answer(messages) if callable(answer) else answer.model_copy(deep=True)
        return ChatResult(generations=[ChatGeneration(message=message)])


def call(name: str, call_id: str = "1", /, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": call_id, "type": "tool_call"}


def send(to: str = JOHN, call_id: str = "1", **args: Any) -> dict[str, Any]:
    return call("send_email", call_id, to=to, **args)


def says(*calls: dict[str, Any], text: str = "") -> AIMessage:
    return AIMessage(content=text, tool_calls=list(calls))


@dataclass
class World:
    """What the tools did."""

    ran: list[tuple[str, Any]] = field(default_factory=list)

    @property
    def sent(self) -> list[Any]:
        return [what for name, what in self.ran if name == "send_email"]

    def tool(self, name: str, does: Callable[..., Any], *, doc: str = "A tool.", **options: Any) -> BaseTool:
        return StructuredTool.from_function(does, name=name, description=doc, **options)

    def send_email(self) -> BaseTool:
        def send_email(to: str, body: str = "hello") -> str:
            self.ran.append(("send_email", to))
            return f"sent to {to}"

        return self.tool("send_email", send_email, doc="Send an email.")

    def async_send_email(self) -> BaseTool:
        async def send_email(to: str, body: str = "hello") -> str:
            self.ran.append(("send_email", to))
            return f"sent to {to}"

        return StructuredTool.from_function(coroutine=send_email, name="send_email", description="Send an email.")

    def read_file(self) -> BaseTool:
        def read_file(path: str) -> str:
            self.ran.append(("read_file", path))
            return "contents"

        return self.tool("read_file", read_file, doc="Read a file.")

    def delete_file(self) -> BaseTool:
        def delete_file(path: str) -> str:
            self.ran.append(("delete_file", path))
            return "deleted"

        return self.tool("delete_file", delete_file, doc="Delete a file.")

    def tools(self) -> list[BaseTool]:
        return [self.send_email(), self.read_file(), self.delete_file()]


def fence_of(
    words: str | None = WORDS, *, thread: str | None = "t", draft: Any = None, **options: Any
) -> LangChainFence:
    """Return a fence over a memory store, with a task for the thread ``t``."""
    made = LangChainFence(fence=options.pop("fence", None) or Fence.open(SETTINGS), **options)
    if words is not None:
        made.start_task(words, thread_id=thread, draft=draft)
    return made


def counted(limit: int) -> LangChainFence:
    """Return a fence whose task may email John so many times."""
    made = fence_of(None)
    made.adopt(
        {
            "purpose": "mail",
            "allow_external_writes": True,
            "permissions": [{"capability": "email.send", "recipients": [JOHN], "max_calls": limit}],
        },
        thread_id="t",
    )
    return made


def left(fence: LangChainFence, limit: int) -> int:
    """Return how many more sends the task of `counted` has."""
    for used in range(limit + 1):
        if not fence.fence.check("t", "send_email", {"to": JOHN, "body": str(used)}).allowed:
            return used
    raise AssertionError("more sends than the limit")


@dataclass
class Agent:
    """An agent under test; every step can be synchronous or asynchronous."""

    graph: Any
    model: Script
    asynchronous: bool = False
    config: Any = field(default_factory=lambda: dict(CONFIG))

    def invoke(self, given: Any) -> dict[str, Any]:
        if self.asynchronous:
            return dict(asyncio.run(self.graph.ainvoke(given, self.config)))
        return dict(self.graph.invoke(given, self.config))

    def say(self, text: str = "go") -> dict[str, Any]:
        return self.invoke({"messages": [HumanMessage(text)]})

    def answer(self, value: Any) -> dict[str, Any]:
        return self.invoke(Command(resume=value))


def agent_of(
    fence: LangChainFence,
    tools: Sequence[BaseTool],
    *answers: Any,
    middleware: Sequence[Any] | None = None,
    bound: bool = True,
    saver: Any = "memory",
    asynchronous: bool = False,
) -> Agent:
    """Return a ``create_agent`` agent that gives the answers, then says that it is done."""
    model = Script(answers=[*answers, AIMessage("done")], seen=[], offered=[])
    graph = create_agent(
        model,
        list(tools),
        middleware=[fence.middleware()] if middleware is None else list(middleware),
        checkpointer=InMemorySaver() if saver == "memory" else saver,
    )
    return Agent(fence.bind(graph) if bound else graph, model, asynchronous)


def answers_of(result: dict[str, Any]) -> list[str]:
    """Return what the tools answered, as the model sees it."""
    return [str(message.content) for message in result["messages"] if isinstance(message, ToolMessage)]


def questions_of(result: dict[str, Any]) -> list[Any]:
    return list(result.get("__interrupt__", ()))


def assert_whole(result: dict[str, Any]) -> None:
    """Every tool call of the history has exactly one answer: model providers refuse any other history."""
    messages = result["messages"]
    asked = [one["id"] for message in messages if isinstance(message, AIMessage) for one in message.tool_calls]
    answered = [message.tool_call_id for message in messages if isinstance(message, ToolMessage)]
    assert sorted(map(str, asked)) == sorted(answered)
