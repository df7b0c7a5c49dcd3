"""Print what the fence adds to a tool call: fenced and unfenced runs of one agent, interleaved, 2,000 calls each."""

from __future__ import annotations

import random
import statistics
import time
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from packages.langchain.tests.aids import CONFIG, JOHN, SETTINGS, Script, World, call, says, send

from agentsfence_langchain import LangChainFence

RUNS = 2_000
KINDS = ("unfenced", "middleware", "middleware + handler", "handler", "guarded tools")


class Once(Script):
    """Makes the scripted call, then ends, in every run."""

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        answer = AIMessage("done") if isinstance(messages[-1], ToolMessage) else self.answers[0]
        return ChatResult(generations=[ChatGeneration(message=answer)])


def agent_for(kind: str, one: dict[str, Any]) -> Any:
    """Return an agent that makes one call a run, with the pieces that its kind names."""
    world = World()
    fence = LangChainFence(SETTINGS, note=False)
    fence.start_task(f"Read the report and email it to {JOHN}", thread_id="t")
    tools = fence.guard_all(world.tools()) if "guarded" in kind else world.tools()
    agent = create_agent(
        Once(answers=[says(one)]), tools, middleware=[fence.middleware()] if "middleware" in kind else []
    )
    return fence.bind(agent) if "handler" in kind else agent


def main() -> None:
    """Measure a read and a send."""
    for name, one in {"a read": call("read_file", path="/srv/report"), "a send": send(JOHN)}.items():
        agents = {kind: agent_for(kind, one) for kind in KINDS}
        times: dict[str, list[float]] = {kind: [] for kind in KINDS}
        for _ in range(RUNS):
            for kind in random.sample(KINDS, len(KINDS)):
                start = time.perf_counter()
                agents[kind].invoke({"messages": [HumanMessage("go")]}, CONFIG)
                times[kind].append(time.perf_counter() - start)
        floor = statistics.median(times["unfenced"])
        print(f"{name}: an unfenced run takes {floor * 1e6:.0f} µs (p50)")
        for kind in KINDS[1:]:
            added = statistics.median(times[kind]) - floor
            print(f"  {kind:22} + {added * 1e6:4.0f} µs, {added / floor:5.1%}")


if __name__ == "__main__":
    main()
