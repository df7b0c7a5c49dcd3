"""The callback handler by itself: what it stops, in each way that LangChain runs a tool."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.types import Command
from packages.langchain.tests.aids import (
    CONFIG,
    EVIL,
    JOHN,
    NO,
    YES,
    World,
    agent_of,
    answers_of,
    call,
    counted,
    fence_of,
    left,
    questions_of,
    says,
    send,
)

from agentsfence_langchain import FenceBlocked, FenceCallbackHandler, LangChainFence


def ways(tool: BaseTool, handler: Any, to: str) -> dict[str, Callable[[], Any]]:
    """Every documented way to run a tool with a handler in its configuration."""
    config: Any = {"callbacks": [handler]}
    args = {"to": to}
    chain: Any = RunnableLambda(lambda x: {"to": x}) | tool
    return {
        "invoke": lambda: tool.invoke(args, config),
        "ainvoke": lambda: asyncio.run(tool.ainvoke(args, config)),
        "batch": lambda: tool.batch([args], config),
        "abatch": lambda: asyncio.run(tool.abatch([args], config)),
        "stream": lambda: list(tool.stream(args, config)),
        "run": lambda: tool.run(args, callbacks=[handler]),
        "tool call": lambda: tool.invoke(send(to), config),
        "chain": lambda: chain.invoke(to, config),
    }


WAYS = sorted(ways(World().send_email(), None, ""))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_blocked_body_is_never_entered(way: str, kind: str) -> None:
    world, fence = World(), fence_of(thread=None)
    tool = world.send_email() if kind == "sync" else world.async_send_email()
    if kind == "async" and not way.startswith("a"):
        pytest.skip("LangChain has no synchronous way to run it")
    with pytest.raises(FenceBlocked, match="recipient_not_listed"):
        ways(tool, fence.handler, EVIL)[way]()
    assert world.ran == []
    ways(tool, fence.handler, JOHN)[way]()
    assert world.sent == [JOHN]


def test_exceptions_in_a_batch_are_refusals() -> None:
    world, fence = World(), fence_of(thread=None)
    given = world.send_email().batch(
        [{"to": EVIL}, {"to": JOHN}], {"callbacks": [fence.handler]}, return_exceptions=True
    )
    assert isinstance(given[0], FenceBlocked)
    assert world.sent == [JOHN]


@pytest.mark.parametrize("failure", [NotImplementedError, ValueError, RecursionError, LookupError])
def test_a_fault_inside_the_fence_blocks(failure: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    """LangChain logs a NotImplementedError out of a handler and runs the tool."""
    world, fence = World(), fence_of(thread=None)

    def fails(*_: object, **__: object) -> Any:
        raise failure("inside")

    for place in ("admit", "settle"):
        monkeypatch.setattr(fence.gate, place, fails)
    with pytest.raises(FenceBlocked):
        world.send_email().invoke({"to": JOHN}, {"callbacks": [fence.handler]})
    assert world.ran == []


def test_its_switches_are_locked() -> None:
    handler = fence_of().handler
    assert handler.raise_error
    assert handler.run_inline
    assert not handler.ignore_agent
    for name in ("raise_error", "run_inline", "ignore_agent"):
        with pytest.raises(AttributeError):
            setattr(handler, name, False)


@pytest.mark.parametrize("name", ["raise_error", "run_inline", "ignore_agent", "on_tool_start"])
def test_a_subclass_that_switches_it_off_cannot_be_made(name: str) -> None:
    with pytest.raises(TypeError, match=name):
        type("Softer", (FenceCallbackHandler,), {name: False})


def test_a_refusal_is_no_not_implemented_error() -> None:
    assert not issubclass(FenceBlocked, NotImplementedError)


def test_a_text_input_is_judged() -> None:
    world, fence = World(), fence_of(thread=None)
    tool = world.tool("send_email", lambda to: world.ran.append(("send_email", to)))
    fence.learn([tool])
    with pytest.raises(FenceBlocked):
        tool.run(EVIL, callbacks=[fence.handler])
    tool.run(JOHN, callbacks=[fence.handler])
    assert world.sent == [JOHN]


def test_arguments_that_another_handler_changed_are_refused() -> None:
    class Rewrites(BaseCallbackHandler):
        run_inline = True

        def on_tool_start(self, serialized: Any, input_str: str, **kwargs: Any) -> None:
            kwargs["inputs"]["to"] = JOHN

    world, fence = World(), fence_of(thread=None)
    with pytest.raises(FenceBlocked, match="changed its arguments"):
        world.send_email().invoke({"to": EVIL}, {"callbacks": [Rewrites(), fence.handler]})
    assert world.ran == []


def test_annotations_of_a_server_choose_no_task() -> None:
    """An MCP server's annotations overwrite callback metadata, thread_id included."""
    world, fence = World(), fence_of(f"Email {EVIL}", thread="rich")
    tool = world.send_email()
    tool.metadata = {"thread_id": "rich", "agentsfence_task": "rich", "readOnlyHint": True}
    agent = agent_of(fence, [tool], says(send(EVIL)), middleware=[], saver=None)
    fence.start_task(WORDS_READ, thread_id="t")
    with pytest.raises(FenceBlocked):
        agent.say()
    assert world.ran == []


WORDS_READ = "Read the report"


@pytest.mark.parametrize("asynchronous", [False, True])
class TestAlone:
    """In an agent without the middleware."""

    def test_allow_and_block(self, asynchronous: bool) -> None:
        world = World()
        fence = fence_of()
        agent = agent_of(fence, world.tools(), says(send(JOHN)), middleware=[], asynchronous=asynchronous)
        assert answers_of(agent.say()) == [f"sent to {JOHN}"]
        other = agent_of(fence, world.tools(), says(send(EVIL)), middleware=[], asynchronous=asynchronous)
        with pytest.raises(FenceBlocked):
            other.say()
        assert world.sent == [JOHN]

    def test_a_question_waits_for_the_answer(self, asynchronous: bool) -> None:
        world = World()
        agent = agent_of(
            fence_of("Email Eve"), world.tools(), says(send("eve@x.example")), middleware=[], asynchronous=asynchronous
        )
        asked = questions_of(agent.say())
        assert asked[0].value["action_requests"][0]["args"] == {"to": "eve@x.example"}
        assert world.ran == []
        agent.answer(YES)
        assert world.sent == ["eve@x.example"]

    def test_a_no_is_obeyed(self, asynchronous: bool) -> None:
        world = World()
        agent = agent_of(
            fence_of("Email Eve"), world.tools(), says(send("eve@x.example")), middleware=[], asynchronous=asynchronous
        )
        agent.say()
        with pytest.raises(FenceBlocked, match="said no"):
            agent.answer(NO)
        assert world.ran == []

    def test_a_resume_without_callbacks_is_still_fenced(self, asynchronous: bool) -> None:
        world, fence = World(), fence_of("Email Eve")
        agent = agent_of(
            fence, world.tools(), says(send("eve@x.example"), send(EVIL, "2")), middleware=[], asynchronous=asynchronous
        )
        asked = questions_of(agent.say())
        assert len(asked) == 2
        eve = next(one for one in asked if one.value["action_requests"][0]["args"]["to"] != EVIL)
        agent.answer({eve.id: YES})
        assert world.sent == ["eve@x.example"]


def test_each_execution_is_charged() -> None:
    world, fence = World(), counted(5)
    tool = world.send_email()
    for _ in range(2):
        agent_of(fence, [tool], says(send(JOHN)), middleware=[], saver=None).say()
    assert world.sent == [JOHN, JOHN]
    assert left(fence, 5) == 3


def test_a_handler_given_twice_charges_once() -> None:
    world, fence = World(), counted(5)
    agent = agent_of(fence, [world.send_email()], says(send(JOHN)), middleware=[], saver=None)
    agent.config = {**CONFIG, "callbacks": [fence.handler, fence.handler]}
    agent.say()
    assert left(fence, 5) == 4


def test_a_nested_agent_with_its_own_thread_stays_in_the_outer_task() -> None:
    """LangGraph drops the ambient configuration of a nested run that has coordinates of its own."""
    world, fence = World(), fence_of()
    fence.start_task(f"Email {EVIL}", thread_id="SUB")
    inner = agent_of(fence, [world.send_email()], says(send(EVIL)), middleware=[], bound=False)

    def delegate(task: str) -> str:
        inner.graph.invoke({"messages": [("user", task)]}, {"configurable": {"thread_id": "SUB"}})
        return "did it"

    outer = agent_of(
        fence, [world.tool("search_notes", delegate)], says(call("search_notes", task="send")), middleware=[]
    )
    with pytest.raises(FenceBlocked, match="recipient_not_listed"):
        outer.say()
    assert world.ran == []


def test_a_refusal_is_not_logged_as_an_error_of_a_callback(caplog: pytest.LogCaptureFixture) -> None:
    world, fence = World(), fence_of(thread=None)
    fence.bind(RunnableLambda(lambda x: x))
    with pytest.raises(FenceBlocked):
        world.send_email().invoke({"to": EVIL}, {"callbacks": [fence.handler]})
    assert "Error in" not in caplog.text


def test_refusals_need_a_langchain_that_obeys(monkeypatch: pytest.MonkeyPatch) -> None:
    from agentsfence_core import HostContractError

    monkeypatch.setattr(StructuredTool, "run", lambda self, *args, **kwargs: self.func())
    with pytest.raises(HostContractError, match="runs tools"):
        fence_of().bind(RunnableLambda(lambda x: x))


def test_without_any_handler_the_tool_runs() -> None:
    """The negative control: it is the handler that stops the tool."""
    world = World()
    world.send_email().invoke({"to": EVIL})
    agent = agent_of(fence_of(), [world.send_email()], says(send(EVIL)), middleware=[], bound=False)
    agent.say()
    assert world.sent == [EVIL, EVIL]


def test_one_fence_does_not_speak_for_another() -> None:
    """What one fence has checked, the handler of another has not."""
    world, wide, narrow = World(), fence_of(f"Email {EVIL}"), fence_of("Read the report")
    agent = agent_of(wide, world.tools(), says(send(EVIL)), bound=False, saver=None)
    agent.graph = narrow.bind(agent.graph)
    agent.say()
    assert world.ran == []


def test_a_thread_that_nobody_began_may_read() -> None:
    world = World()
    fence = LangChainFence(fence=fence_of(None).fence)
    agent = agent_of(fence, world.tools(), says(call("read_file", path="/srv/report"), send(JOHN, "2")))
    result = agent.say()
    assert world.ran == [("read_file", "/srv/report")]
    assert len(questions_of(result)) == 1
    assert isinstance(agent.answer(NO), dict)
    assert isinstance(Command(), Command)
