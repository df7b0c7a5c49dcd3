"""ASK_USER: an interrupt, bound to the call that was shown, whoever answers and in whatever order."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware, ToolRetryMiddleware
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt
from packages.langchain.tests.aids import (
    CONFIG,
    EVIL,
    JOHN,
    NO,
    RECENT,
    YES,
    World,
    agent_of,
    answers_of,
    assert_whole,
    call,
    counted,
    fence_of,
    left,
    questions_of,
    says,
    send,
)

from agentsfence_core import Fence
from agentsfence_langchain import AskRequest, LangChainFence
from agentsfence_langchain.gate import Memory

BOB, EVE = "bob@x.example", "eve@x.example"
both = pytest.mark.parametrize("asynchronous", [False, True])
APPROVALS = [
    YES,
    {"type": "approve"},
    {"type": "approve", "scope": "once"},
    {"decisions": [{"type": "approve"}], "extra": 1},
]
REFUSALS = [
    NO,
    False,
    None,
    True,
    "approve",
    "yes",
    1,
    [],
    {"type": "Approve"},
    {"type": "approve", "scope": "forever"},
    {"decisions": []},
    {"decisions": [{"type": "approve"}, {"type": "approve"}]},
    {"decisions": ["approve"]},
    {"decisions": {"type": "approve"}},
    [{"type": "approve"}],
    {"type": "edit", "edited_action": {"name": "send_email", "args": {"to": EVIL}}},
    {"type": "respond", "message": "later"},
    {"approved": True},
]


@both
class TestAnswers:
    @pytest.mark.parametrize("answer", APPROVALS, ids=str)
    def test_a_yes_runs_it_once(self, answer: Any, asynchronous: bool) -> None:
        world = World()
        agent = agent_of(
            fence_of("Email Bob"), world.tools(), says(send(BOB)), says(send(BOB, "2")), asynchronous=asynchronous
        )
        assert len(questions_of(agent.say())) == 1
        result = agent.answer(answer)
        assert world.sent == [BOB]
        assert len(questions_of(result)) == 1, "once is once"

    @pytest.mark.parametrize("answer", [one for one in REFUSALS if one is not None], ids=str)
    def test_anything_else_does_not(self, answer: Any, asynchronous: bool) -> None:
        world = World()
        agent = agent_of(fence_of("Email Bob"), world.tools(), says(send(BOB)), asynchronous=asynchronous)
        agent.say()
        result = agent.answer(answer)
        assert world.ran == []
        assert_whole(result)

    def test_the_words_of_a_no_reach_the_model(self, asynchronous: bool) -> None:
        agent = agent_of(fence_of("Email Bob"), World().tools(), says(send(BOB)), asynchronous=asynchronous)
        agent.say()
        assert "not him" in answers_of(agent.answer(NO))[0]

    @pytest.mark.parametrize("scope", ["task", "session", "always"])
    def test_a_yes_for_the_task_holds_for_the_same_call_only(self, scope: str, asynchronous: bool) -> None:
        world = World()
        agent = agent_of(
            fence_of("Email Bob"), world.tools(), says(send(BOB)), says(send(BOB, "2")), says(send(EVE, "3")),
            asynchronous=asynchronous,
        )  # fmt: skip
        agent.say()
        result = agent.answer({"type": "approve", "scope": scope})
        assert world.sent == [BOB, BOB]
        assert questions_of(result)[0].value["action_requests"][0]["args"]["to"] == EVE

    def test_a_no_is_remembered(self, asynchronous: bool) -> None:
        """deepagents#2946: a model that repeats a refused call would be asked about for ever."""
        world = World()
        agent = agent_of(
            fence_of("Email Bob"), world.tools(), *(says(send(BOB, str(number))) for number in range(4)),
            asynchronous=asynchronous,
        )  # fmt: skip
        agent.say()
        result = agent.answer(NO)
        assert questions_of(result) == []
        assert world.ran == []


@both
class TestSeveral:
    def calls(self, asynchronous: bool) -> tuple[World, Any, list[Any]]:
        world = World()
        agent = agent_of(
            fence_of("Email Bob and Eve"), world.tools(), says(send(BOB, "1"), send(EVE, "2"), send(JOHN, "3")),
            asynchronous=asynchronous,
        )  # fmt: skip
        return world, agent, questions_of(agent.say())

    def of(self, asked: list[Any], to: str) -> str:
        return str(next(one.id for one in asked if one.value["action_requests"][0]["args"]["to"] == to))

    def test_each_has_its_own_question(self, asynchronous: bool) -> None:
        world, _, asked = self.calls(asynchronous)
        assert len(asked) == 3
        assert world.ran == []

    def test_one_answer_is_for_one_call(self, asynchronous: bool) -> None:
        world, agent, asked = self.calls(asynchronous)
        still = questions_of(agent.answer({self.of(asked, BOB): YES}))
        assert world.sent == [BOB]
        assert len(still) == 2
        result = agent.answer({self.of(still, EVE): NO, self.of(still, JOHN): YES})
        assert sorted(world.sent) == sorted([BOB, JOHN])
        assert_whole(result)

    def test_two_equal_calls_need_two_answers(self, asynchronous: bool) -> None:
        world = World()
        agent = agent_of(
            fence_of("Email Bob"), world.tools(), says(send(BOB, "1"), send(BOB, "2")), asynchronous=asynchronous
        )
        asked = questions_of(agent.say())
        agent.answer({asked[0].id: YES, asked[1].id: YES})
        assert world.sent == [BOB, BOB]

    def test_one_of_two_equal_calls_refused_runs_once(self, asynchronous: bool) -> None:
        world = World()
        agent = agent_of(
            fence_of("Email Bob"), world.tools(), says(send(BOB, "1"), send(BOB, "2")), asynchronous=asynchronous
        )
        asked = questions_of(agent.say())
        agent.answer({asked[0].id: YES, asked[1].id: NO})
        assert len(world.sent) <= 1

    def test_a_new_message_instead_of_an_answer_runs_nothing(self, asynchronous: bool) -> None:
        world, agent, _ = self.calls(asynchronous)
        agent.say("never mind")
        assert world.ran == []


@both
class TestChangedBetweenQuestionAndAnswer:
    def test_another_call_does_not_take_the_approval(self, asynchronous: bool) -> None:
        """Shown: bob. After the answer, a middleware outside makes it mallory."""
        hostile = [False]

        class Later(AgentMiddleware):
            def change(self, request: Any) -> Any:
                if not hostile[0]:
                    return request
                return request.override(tool_call={**request.tool_call, "args": {"to": EVIL}})

            def wrap_tool_call(self, request: Any, handler: Any) -> Any:
                return handler(self.change(request))

            async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
                return await handler(self.change(request))

        world, fence = World(), fence_of("Email Bob")
        agent = agent_of(
            fence, world.tools(), says(send(BOB)), middleware=[Later(), fence.middleware()], asynchronous=asynchronous
        )
        agent.say()
        hostile[0] = True
        result = agent.answer(YES)
        assert world.ran == []
        assert "not the one" in answers_of(result)[0]

    def test_an_edit_in_another_screen_is_judged_as_what_it_is(self, asynchronous: bool) -> None:
        """langchain#40166: an edit to another call skips that call's own gate."""
        world, fence = World(), fence_of()
        other = HumanInTheLoopMiddleware(interrupt_on={"send_email": True})
        agent = agent_of(
            fence, world.tools(), says(send(JOHN)), middleware=[other, fence.middleware()], asynchronous=asynchronous
        )
        agent.say()
        edit = {"type": "edit", "edited_action": {"name": "send_email", "args": {"to": EVIL}}}
        agent.answer({"decisions": [edit]})
        assert world.ran == []

    def test_a_retry_outside_does_not_swallow_the_question(self, asynchronous: bool) -> None:
        world, fence = World(), fence_of("Email Bob")
        retry = ToolRetryMiddleware(max_retries=2, initial_delay=0, jitter=False)
        agent = agent_of(
            fence, world.tools(), says(send(BOB)), middleware=[retry, fence.middleware()], asynchronous=asynchronous
        )
        asked = questions_of(agent.say())
        if not RECENT:  # langchain#38722: there the retry makes an error of the question, and nothing runs
            assert world.ran == []
            return
        assert len(asked) == 1
        agent.answer(YES)
        assert world.sent == [BOB]


@both
@pytest.mark.parametrize("forgetful", [False, True])
def test_a_tools_own_question_gets_its_own_answer(asynchronous: bool, forgetful: bool) -> None:
    """LangGraph counts answers by position: the fence takes its own again, also in another process."""
    heard: list[Any] = []
    world, fence = World(), fence_of("Email Bob")

    def send_email(to: str) -> str:
        heard.append(interrupt("really?"))
        world.ran.append(("send_email", to))
        return "sent"

    tool = StructuredTool.from_function(send_email, name="send_email", description="Send.")
    agent = agent_of(fence, [tool], says(send(BOB)), asynchronous=asynchronous)
    agent.say()
    assert questions_of(agent.answer(YES))[0].value == "really?"
    if forgetful:
        fence.gate._asked, fence.gate._interrupted = Memory(9), Memory(9)
    agent.answer("indeed")
    assert heard[-1] == "indeed"
    assert world.sent == [BOB]


class ByHand:
    """A graph whose tool calls share one LangGraph task."""

    def __init__(self, fence: LangChainFence, world: World, *calls: Any) -> None:
        middleware = fence.middleware()
        node = ToolNode(
            world.tools(), wrap_tool_call=middleware.wrap_tool_call, awrap_tool_call=middleware.awrap_tool_call
        )
        graph = StateGraph(MessagesState)
        graph.add_node("model", lambda state: {"messages": [says(*calls)]})
        graph.add_node("tools", node)
        graph.add_edge(START, "model")
        graph.add_edge("model", "tools")
        graph.add_edge("tools", END)
        self.graph: Any = fence.bind(graph.compile(checkpointer=InMemorySaver()))

    def say(self) -> dict[str, Any]:
        result: dict[str, Any] = self.graph.invoke({"messages": [HumanMessage("go")]}, CONFIG)
        return result

    def answer(self, value: Any) -> dict[str, Any]:
        result: dict[str, Any] = self.graph.invoke(Command(resume=value), CONFIG)
        return result


class TestSharedTask:
    """langgraph#6533: with several calls in one task, an approval can reach the wrong call."""

    def test_an_answer_that_names_no_question_approves_nothing(self) -> None:
        world = World()
        agent = ByHand(fence_of("Email Bob and Eve"), world, send(BOB, "a"), send(EVE, "b"))
        agent.say()
        for _ in range(3):
            result = agent.answer(YES)
            assert questions_of(result)
        assert world.ran == []

    def test_an_answer_is_about_the_question_that_it_names(self) -> None:
        world = World()
        agent = ByHand(fence_of("Email Bob and Eve"), world, send(BOB, "a"), send(EVE, "b"), send(EVIL, "c"))
        result, answered = agent.say(), set()
        for _ in range(12):
            asked = [one.value for one in questions_of(result)]
            if not asked:
                break
            named = asked[0]["agentsfence"]["question"]
            yes = asked[0]["action_requests"][0]["args"]["to"] != EVIL
            answered.add(asked[0]["action_requests"][0]["args"]["to"])
            result = agent.answer({"type": "approve" if yes else "reject", "question": named})
        assert sorted(world.sent) == [BOB, EVE]
        assert answered == {BOB, EVE, EVIL}

    def test_a_single_call_needs_no_name(self) -> None:
        world = World()
        agent = ByHand(fence_of("Email Bob"), world, send(BOB, "a"))
        agent.say()
        agent.answer(YES)
        assert world.sent == [BOB]


def test_several_calls_in_one_send_are_a_shared_task() -> None:
    """A graph may send several calls to its tools at once: one answer is then not one call's answer."""
    from langgraph.types import Send

    world, fence = World(), fence_of("Email Bob and Eve")
    checks = fence.middleware()
    graph = StateGraph(MessagesState)
    calls = [send(BOB, "a"), send(EVE, "b")]
    graph.add_node("model", lambda state: {"messages": [says(*calls)]})
    graph.add_node(
        "tools", ToolNode(world.tools(), wrap_tool_call=checks.wrap_tool_call, awrap_tool_call=checks.awrap_tool_call)
    )
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", lambda state: [Send("tools", calls)])
    agent: Any = fence.bind(graph.compile(checkpointer=InMemorySaver()))
    asked = agent.invoke({"messages": [HumanMessage("go")]}, CONFIG)["__interrupt__"]
    shown = {one.value["action_requests"][0]["args"]["to"] for one in asked}
    agent.invoke(Command(resume=YES), CONFIG)
    assert set(world.sent) <= shown
    assert len(world.sent) <= 1


@pytest.mark.parametrize("approver", ["auto", "interrupt"])
def test_in_a_shared_chat_nobody_answers_for_the_starter(approver: Any) -> None:
    from agentsfence_core import HostFacts

    world, fence = World(), fence_of(None, approver=approver, host=HostFacts(shared=True))
    fence.start_task("Email Bob", thread_id="t", sender="alice")
    result = agent_of(fence, world.tools(), says(send(BOB))).say()
    assert questions_of(result) == []
    assert "started the task" in answers_of(result)[0]


@pytest.mark.parametrize("last", [YES, NO], ids=["yes", "no"])
def test_a_tool_that_asks_twice_below_is_answered_twice(last: Any) -> None:
    """Tools called by a tool have no call id: each is a call of its own, and each gets the answer to its question."""
    world, fence = World(), fence_of("Read my notes and email Bob and Eve")
    mail = fence.guard(world.send_email())

    def search_notes(query: str) -> str:
        return " ".join(str(mail.invoke({"to": to})) for to in (BOB, EVE))

    agent = agent_of(fence, [world.tool("search_notes", search_notes)], says(call("search_notes", query="x")))
    assert questions_of(agent.say())[0].value["action_requests"][0]["args"]["to"] == BOB
    asked = questions_of(agent.answer(YES))
    assert asked[0].value["action_requests"][0]["args"]["to"] == EVE
    agent.answer(last)
    assert world.sent == ([BOB, EVE] if last is YES else [BOB]), "Bob's mail went out when it was approved, once"


def test_a_body_that_runs_again_does_not_do_again_what_is_done() -> None:
    """A tool calls another and then asks something itself: its body runs from the start after the answer."""
    for guarded in (True, False):
        world, fence = World(), fence_of(f"Read my notes and email {JOHN}")
        mail = fence.guard(world.send_email()) if guarded else world.send_email()
        heard: list[Any] = []

        def search_notes(query: str, mail: Any = mail, heard: Any = heard) -> str:
            mail.invoke({"to": JOHN})
            heard.append(interrupt("really?"))
            return "done"

        tool = StructuredTool.from_function(search_notes, name="search_notes", description="x", infer_schema=False,
                                            args_schema={"type": "object", "properties": {"query": {}}})  # fmt: skip
        agent = agent_of(fence, [tool], says(call("search_notes", query="x")))
        assert questions_of(agent.say())[0].value == "really?"
        agent.answer("indeed")
        assert world.sent == [JOHN]
        assert heard == (["indeed"] if guarded else [])


def test_equal_calls_of_one_body_are_calls_of_their_own() -> None:
    world, fence = World(), counted(5)
    mail = fence.guard(world.send_email())

    def search_notes(query: str) -> str:
        return " ".join(str(mail.invoke({"to": JOHN})) for _ in range(2))

    agent_of(fence, [world.tool("search_notes", search_notes)], says(call("search_notes", query="x"))).say()
    assert world.sent == [JOHN, JOHN]
    assert left(fence, 5) == 3


class TestApprovers:
    """Who is asked, and how."""

    @both
    def test_a_callable_decides(self, asynchronous: bool) -> None:
        shown: list[AskRequest] = []

        def approver(request: AskRequest) -> bool:
            shown.append(request)
            return request.args["to"] == BOB

        world, fence = World(), fence_of("Email Bob and Eve", approver=approver)
        agent = agent_of(fence, world.tools(), says(send(BOB), send(EVE, "2")), saver=None, asynchronous=asynchronous)
        result = agent.say()
        assert world.sent == [BOB]
        assert_whole(result)
        assert {one.capability for one in shown} == {"email.send"}

    @both
    def test_an_asynchronous_one_is_awaited_or_refused(self, asynchronous: bool) -> None:
        async def approver(request: AskRequest) -> str:
            return "once"

        world, fence = World(), fence_of("Email Bob", approver=approver)
        agent = agent_of(fence, world.tools(), says(send(BOB)), saver=None, asynchronous=asynchronous)
        agent.say()
        assert world.sent == ([BOB] if asynchronous else [])

    @pytest.mark.parametrize("given", [None, 1, "yes", "", object(), {"type": "approve"}, [True]], ids=str)
    def test_whatever_is_no_clear_yes_is_none(self, given: Any) -> None:
        world, fence = World(), fence_of("Email Bob", approver=lambda request: given)
        agent_of(fence, world.tools(), says(send(BOB)), saver=None).say()
        assert world.ran == []

    def test_one_that_fails_approves_nothing(self) -> None:
        def approver(request: AskRequest) -> bool:
            raise NotImplementedError

        world, fence = World(), fence_of("Email Bob", approver=approver)
        result = agent_of(fence, world.tools(), says(send(BOB)), saver=None).say()
        assert world.ran == []
        assert_whole(result)

    def test_deny_asks_nobody(self) -> None:
        world, fence = World(), fence_of("Email Bob", approver="deny")
        result = agent_of(fence, world.tools(), says(send(BOB))).say()
        assert questions_of(result) == []
        assert world.ran == []

    @pytest.mark.parametrize("approver", ["pending", "auto"])
    def test_pending_waits_in_the_store(self, approver: Any) -> None:
        world, fence = World(), fence_of("Email Bob", approver=approver)
        agent = agent_of(fence, world.tools(), says(send(BOB)), says(send(BOB, "2")), says(send(BOB, "3")), saver=None)
        first = agent_of(fence, world.tools(), says(send(BOB)), saver=None).say()
        [question] = fence.questions("t")
        assert f"agentsfence approve {question.id}" in answers_of(first)[0]
        fence.approve(question.id, thread_id="t")
        agent.say()
        assert world.sent == [BOB], "once is once"

    def test_interrupt_without_a_checkpointer_refuses(self) -> None:
        world, fence = World(), fence_of("Email Bob", approver="interrupt")
        result = agent_of(fence, world.tools(), says(send(BOB)), saver=None).say()
        assert "checkpointer" in answers_of(result)[0]
        assert world.ran == []

    def test_another_name_is_an_error(self) -> None:
        from agentsfence_core import HostContractError

        with pytest.raises(HostContractError, match="approver"):
            fence_of(approver="autoapprove")


def test_a_resume_on_another_machine(tmp_path: Path) -> None:
    """Worker A asks; worker B, with its own process memory, hears the answer: store and checkpoints are shared."""
    world = World()
    settings = {
        "store": f"sqlite:{tmp_path / 'fence.sqlite'}", "audit": {"enabled": False}, "compiler": {"name": "rules"},
    }  # fmt: skip

    def worker() -> Any:
        fence = LangChainFence(fence=Fence.open(settings))
        saver = SqliteSaver(sqlite3.connect(tmp_path / "graph.sqlite", check_same_thread=False))
        return fence, agent_of(fence, world.tools(), says(send(BOB)), saver=saver)

    first, agent = worker()
    first.start_task("Email Bob", thread_id="t")
    asked = questions_of(agent.say())
    assert asked
    second, other = worker()
    other.model.seen.append([])
    result = other.answer(YES)
    assert world.sent == [BOB]
    assert isinstance(result["messages"][-2], ToolMessage)
    assert second.questions("t") == ()
    for fence in (first, second):
        fence.close()


def test_the_question_is_one_that_existing_screens_show() -> None:
    agent = agent_of(fence_of("Email Bob"), World().tools(), says(send(BOB, body="hi")))
    [asked] = questions_of(agent.say())
    assert asked.value["action_requests"] == [
        {
            "name": "send_email",
            "args": {"to": BOB, "body": "hi"},
            "description": asked.value["action_requests"][0]["description"],
        }
    ]
    assert asked.value["review_configs"] == [{"action_name": "send_email", "allowed_decisions": ["approve", "reject"]}]
    own = asked.value["agentsfence"]
    assert own["v"] == 1
    assert own["question"]
    assert own["digest"]
