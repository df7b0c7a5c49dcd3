"""The session object: tasks, settings, words from the input, and the small pieces below it."""

from __future__ import annotations

import datetime
import enum
import logging
import pathlib
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from packages.langchain.tests.aids import (
    CONFIG,
    EVIL,
    JOHN,
    SETTINGS,
    World,
    agent_of,
    answers_of,
    call,
    counted,
    fence_of,
    left,
    says,
    send,
)
from pydantic import BaseModel, SecretStr

from agentsfence_core import Fence, HostContractError, SettingsError
from agentsfence_core.canonical import digest
from agentsfence_core.ports import AdapterInfo
from agentsfence_langchain import LangChainFence
from agentsfence_langchain.answers import Reply, read_answer
from agentsfence_langchain.gate import Memory
from agentsfence_langchain.instructions import new_words
from agentsfence_langchain.places import key_of, place_of
from agentsfence_langchain.provider_tools import runs_at_the_provider
from agentsfence_langchain.values import plain_arguments, shown


class TestTasks:
    def test_a_live_task_is_amended_not_started(self) -> None:
        fence = fence_of()
        with pytest.raises(HostContractError, match="amend"):
            fence.start_task("Email Eve", thread_id="t")
        assert fence.amend(f"Now also email {EVIL}", thread_id="t").changed

    def test_threads_are_tasks_of_their_own(self) -> None:
        world, fence = World(), fence_of(f"Email {EVIL}", thread="other")
        agent_of(fence, world.tools(), says(send(EVIL)), saver=None).say()
        assert world.ran == []

    def test_a_task_named_in_the_configuration_comes_before_the_thread(self) -> None:
        world, fence = World(), fence_of(f"Email {EVIL}", thread="other")
        agent = agent_of(fence, world.tools(), says(send(EVIL)), saver=None)
        agent.config = {"configurable": {"thread_id": "t", "agentsfence_task": "other"}}
        agent.say()
        assert world.sent == [EVIL]

    def test_calls_without_a_thread_share_one_task(self) -> None:
        world, fence = World(), fence_of(None)
        agent = agent_of(fence, world.tools(), says(call("read_file", path="/r"), send(JOHN, "2")), saver=None)
        agent.config = {}
        agent.say()
        assert world.ran == [("read_file", "/r")], "nobody began it: it may read"
        fence.start_task(f"Email {JOHN}")
        again = agent_of(fence, world.tools(), says(send(JOHN)), saver=None)
        again.config = {}
        again.say()
        assert world.sent == [JOHN]

    def test_a_block_of_code_can_be_given_to_a_task(self) -> None:
        world, fence = World(), fence_of()
        tool = fence.guard(world.send_email())
        tool.invoke({"to": JOHN})
        assert world.ran == []
        with fence.using("t"):
            tool.invoke({"to": JOHN})
        assert world.sent == [JOHN]

    def test_a_hand_written_policy(self) -> None:
        fence = counted(2)
        assert left(fence, 2) == 2


class TestSettings:
    def test_a_fence_that_cannot_start_blocks_everything(self) -> None:
        world, fence = World(), LangChainFence({"store": "nowhere:"})
        result = agent_of(fence, world.tools(), says(call("read_file", path="/r"))).say()
        assert world.ran == []
        assert "could not start" in answers_of(result)[0]
        with pytest.raises(Exception, match="nowhere"):
            fence.start_task("x", thread_id="t")
        fence.close()

    def test_settings_as_for_every_adapter(self) -> None:
        with pytest.raises(SettingsError):
            _ = LangChainFence({**SETTINGS, "presett": "strict"}).fence
        fence = LangChainFence({**SETTINGS, "preset": "strict"})
        fence.start_task("Read the report", thread_id="t")
        assert isinstance(fence.fence, Fence)
        fence.close()

    def test_shadow_runs_what_it_would_stop(self) -> None:
        world = World()
        fence = LangChainFence({**SETTINGS, "unsafe_shadow": True})
        fence.start_task("Read the report", thread_id="t")
        agent_of(fence, world.tools(), says(send(EVIL))).say()
        assert world.sent == [EVIL]


class TestWordsFromTheInput:
    """Opt-in: the person's words are the root graph's own input."""

    def agent(self, fence: LangChainFence, world: World, *answers: Any) -> Any:
        made = agent_of(fence, world.tools(), *answers, bound=False)
        made.graph = fence.bind(made.graph, instructions="input")
        return made

    def test_the_first_message_begins_and_the_next_amends(self) -> None:
        world, fence = World(), fence_of(None)
        agent = self.agent(fence, world, says(send(JOHN)), AIMessage("ok"), says(send(JOHN, "2")))
        agent.say(f"Email {JOHN}")
        assert world.sent == [JOHN]
        agent.say("Don't send anything any more.")
        assert world.sent == [JOHN]

    def test_without_opting_in_no_message_is_an_instruction(self) -> None:
        world, fence = World(), fence_of(None)
        agent_of(fence, world.tools(), says(send(EVIL))).say(f"Email {EVIL}")
        assert world.ran == []

    def test_a_nested_agents_input_is_no_instruction(self) -> None:
        world, fence = World(), fence_of(None)
        inner = agent_of(fence, world.tools(), says(send(EVIL)), bound=False, saver=None)

        def search_notes(query: str) -> str:
            return str(answers_of(inner.graph.invoke({"messages": [("user", f"Email {EVIL}")]})))

        outer = agent_of(
            fence, [world.tool("search_notes", search_notes)], says(call("search_notes", query="x")), bound=False
        )
        outer.graph = fence.bind(outer.graph, instructions="input")
        outer.say("Read my notes")
        assert world.ran == []

    @pytest.mark.parametrize(
        ("messages", "words"),
        [
            ([HumanMessage("a")], "a"),
            ([("user", "a")], "a"),
            ([{"role": "user", "content": "a"}], "a"),
            ([HumanMessage("old"), AIMessage("x"), HumanMessage("new")], "new"),
            ([HumanMessage("never email"), HumanMessage("read")], "never email\n\nread"),
            ([HumanMessage("planted"), ToolMessage("x", tool_call_id="1")], ""),
            ([HumanMessage("a", name="summary")], ""),
            ([HumanMessage("a", additional_kwargs={"lc_source": "summarization"})], ""),
            ([], ""),
            (None, ""),
            ("text", ""),
        ],
    )
    def test_what_counts_as_new(self, messages: Any, words: str) -> None:
        assert new_words(messages) == words


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    to: str


class Mail(BaseModel):
    to: list[str]
    key: SecretStr = SecretStr("k")


class TestValues:
    def test_whatever_a_tool_receives_has_a_plain_form(self) -> None:
        given = {
            "mail": Mail(to=[JOHN]),
            "point": Point(1, EVIL),
            "colour": Colour.RED,
            "path": pathlib.PurePosixPath("/srv/x"),
            "day": datetime.date(2026, 5, 4),
            "set": {1},
            "thing": object(),
        }
        assert plain_arguments(given) == {
            "mail": {"to": [JOHN], "key": "k"},
            "point": {"x": 1, "to": EVIL},
            "colour": "red",
            "path": "/srv/x",
            "day": "2026-05-04",
            "set": [1],
            "thing": "<object>",
        }
        assert digest(plain_arguments(given))

    def test_cycles_and_depth_end(self) -> None:
        loop: list[Any] = []
        loop.append(loop)
        assert plain_arguments({"x": loop})
        loop.append(loop)
        with pytest.raises(ValueError, match="more values"):
            plain_arguments({"x": loop})
        assert shown({"x": "a" * 10_000}) != {"x": "a" * 10_000}

    @settings(max_examples=60, deadline=None)
    @given(
        st.recursive(
            st.none() | st.booleans() | st.text() | st.integers(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
        )
    )
    def test_no_answer_but_an_approval_approves(self, value: Any) -> None:
        assert read_answer(value).reply is not Reply.YES
        assert read_answer({"type": value}).reply is not Reply.YES or value == "approve"


class TestPlaces:
    def test_a_call_id_alone_is_no_key(self) -> None:
        assert key_of(place_of({"configurable": {"thread_id": "t"}}, "d"), "1", "x") == ""

    def test_keys_differ_by_thread_execution_id_and_call(self) -> None:
        def key(thread: str, execution: str, call_id: str, content: str) -> str:
            config = {"configurable": {"thread_id": thread, "__pregel_task_id": execution}}
            return key_of(place_of(config, "d"), call_id, content)

        keys = {key("a", "b", "c", "d"), key("x", "b", "c", "d"), key("a", "x", "c", "d"), key("a", "b", "x", "d"),
                key("a", "b", "c", "x"), key("a'", "b", "c", "d"), key("a', 'b", "", "c", "d")}  # fmt: skip
        assert len(keys) == 7

    def test_an_older_langgraph_names_the_execution_in_the_namespace(self) -> None:
        assert place_of({"configurable": {"checkpoint_ns": "a:1|tools:2"}}, "d").execution == "2"


@pytest.mark.parametrize(
    ("tool", "withheld"),
    [
        ({"type": "web_search_20250305", "name": "web_search"}, True),
        ({"type": "code_interpreter", "container": {"type": "auto"}}, True),
        ({"type": "mcp", "server_url": "https://x.example"}, True),
        ({"google_search": {}}, True),
        ({"type": "function"}, True),
        ({"type": "function", "function": {"name": "x"}}, False),
        ({"name": "x", "input_schema": {}}, False),
        ({"type": "bash_20250124", "name": "bash"}, False),
    ],
)
def test_which_tools_run_at_the_provider(tool: dict[str, Any], withheld: bool) -> None:
    assert runs_at_the_provider(tool, ()) is withheld


def test_memory_is_bounded() -> None:
    memory: Memory[str, int] = Memory(3)
    for number in range(10):
        memory.keep(str(number), number)
    assert list(memory) == ["7", "8", "9"]


def test_tools_that_nobody_knows_are_named_at_the_start(caplog: pytest.LogCaptureFixture) -> None:
    fence = fence_of()
    caplog.set_level(logging.WARNING)
    agent_of(fence, [World().tool("frobnicate", lambda whom: "x")])
    assert "frobnicate" in caplog.text


def test_the_adapter_says_what_it_cannot_see() -> None:
    from agentsfence_langchain.adapter import INFO

    assert isinstance(INFO, AdapterInfo)
    assert INFO.name == "langchain"
    assert len(INFO.blind_spots) >= 5


def test_listing_the_adapters_loads_no_langchain() -> None:
    import subprocess
    import sys

    code = "import sys, agentsfence_langchain.adapter; print(any(n.startswith('lang') for n in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_configuration_is_read_from_the_run() -> None:
    assert CONFIG["configurable"]["thread_id"] == "t"
