"""Agents inside agents: one policy at every depth."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from packages.langchain.tests.aids import (
    CONFIG,
    EVIL,
    JOHN,
    NO,
    YES,
    Script,
    World,
    agent_of,
    answers_of,
    assert_whole,
    call,
    fence_of,
    questions_of,
    says,
    send,
)

from agentsfence_core import HostContractError

both = pytest.mark.parametrize("asynchronous", [False, True])


class TestNested:
    """A tool that runs an agent with coordinates of its own."""

    def outer(self, fence: Any, world: World, to: str, *, fenced: bool, asynchronous: bool = False) -> Any:
        inner = agent_of(
            fence, [world.send_email()], says(send(to)), middleware=None if fenced else [], bound=False, saver=None
        )

        def search_notes(task: str) -> str:
            result = inner.graph.invoke({"messages": [("user", task)]}, {"configurable": {"thread_id": "SUB"}})
            return str(answers_of(result))

        return agent_of(
            fence, [world.tool("search_notes", search_notes)], says(call("search_notes", task="x")),
            asynchronous=asynchronous,
        )  # fmt: skip

    @both
    def test_its_own_thread_gives_it_no_other_task(self, asynchronous: bool) -> None:
        world, fence = World(), fence_of()
        fence.start_task(f"Email {EVIL}", thread_id="SUB")
        result = self.outer(fence, world, EVIL, fenced=True, asynchronous=asynchronous).say()
        assert world.ran == []
        assert "recipient_not_listed" in answers_of(result)[0]

    @both
    def test_a_refusal_below_becomes_the_answer_above(self, asynchronous: bool) -> None:
        """The nested agent has no middleware: the handler stops its call, and the outer middleware answers."""
        world, fence = World(), fence_of()
        result = self.outer(fence, world, EVIL, fenced=False, asynchronous=asynchronous).say()
        assert world.ran == []
        assert "recipient_not_listed" in answers_of(result)[0]
        assert_whole(result)

    @both
    def test_what_the_outer_task_allows_runs_below(self, asynchronous: bool) -> None:
        world, fence = World(), fence_of()
        self.outer(fence, world, JOHN, fenced=True, asynchronous=asynchronous).say()
        assert world.sent == [JOHN]


deepagents = pytest.importorskip("deepagents")


class Delegates(Script):
    """Main agent and subagent in one model: the main one delegates, the subagent sends."""

    kind: str = "general-purpose"
    to: str = EVIL

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        from langchain_core.outputs import ChatGeneration, ChatResult

        last = messages[-1]
        if isinstance(last, HumanMessage) and last.content == "go":
            answer = says(call("task", "p1", description="send it", subagent_type=self.kind))
        elif isinstance(last, HumanMessage):
            answer = says(send(self.to, "k1"))
        else:
            answer = AIMessage(f"told: {last.content}")
        return ChatResult(generations=[ChatGeneration(message=answer)])


def deep(fence: Any, world: World, kind: str = "general-purpose", to: str = EVIL, **kwargs: Any) -> Any:
    graph = deepagents.create_deep_agent(
        model=Delegates(answers=[], kind=kind, to=to),
        tools=[world.send_email()],
        checkpointer=InMemorySaver(),
        **kwargs,
    )
    return fence.bind(graph)


SPEC: Any = {"name": "mailer", "description": "Sends mail.", "system_prompt": "Send mail."}


class TestDeepAgents:
    """deepagents#2744: middleware of the main agent does not reach its subagents."""

    @pytest.mark.parametrize("kind", ["general-purpose", "mailer"])
    def test_every_subagent_is_fenced(self, kind: str) -> None:
        world, fence = World(), fence_of()
        agent = deep(fence, world, kind, **fence.deep_agent_kwargs(subagents=[SPEC]))
        result = agent.invoke({"messages": [HumanMessage("go")]}, CONFIG)
        assert world.ran == []
        told = [str(message.content) for message in result["messages"] if isinstance(message, ToolMessage)]
        assert "told: This call was blocked" in told[0], "the subagent itself has read the reason"
        assert_whole(result)

    @pytest.mark.parametrize("kind", ["general-purpose", "mailer"])
    def test_the_handler_alone_reaches_them_as_well(self, kind: str) -> None:
        world, fence = World(), fence_of()
        agent = deep(fence, world, kind, middleware=[fence.middleware()], subagents=[SPEC])
        result = agent.invoke({"messages": [HumanMessage("go")]}, CONFIG)
        assert world.ran == []
        assert "recipient_not_listed" in answers_of(result)[0]

    def test_without_the_fence_the_subagent_sends(self) -> None:
        """The negative control."""
        world = World()
        agent: Any = deepagents.create_deep_agent(model=Delegates(answers=[]), tools=[world.send_email()])
        agent.invoke({"messages": [HumanMessage("go")]}, CONFIG)
        assert world.sent == [EVIL]

    @pytest.mark.parametrize(("answer", "sent"), [(YES, ["eve@x.example"]), (NO, []), (False, [])])
    def test_a_question_at_depth_one(self, answer: Any, sent: list[str]) -> None:
        world, fence = World(), fence_of("Email Eve")
        agent = deep(fence, world, "mailer", "eve@x.example", **fence.deep_agent_kwargs(subagents=[SPEC]))
        asked = questions_of(agent.invoke({"messages": [HumanMessage("go")]}, CONFIG))
        assert len(asked) == 1
        result = agent.invoke(Command(resume=answer), CONFIG)
        assert world.sent == sent
        assert_whole(result)

    def test_what_cannot_be_fenced_is_an_error(self) -> None:
        fence = fence_of()
        compiled = {"name": "ready", "description": "x", "runnable": create_agent(Script(answers=[]), [])}
        with pytest.raises(HostContractError, match="ready"):
            fence.deep_agent_kwargs(subagents=[compiled])
