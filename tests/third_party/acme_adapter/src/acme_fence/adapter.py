"""The adapter: a person's message in, a check before each tool, a question to a person, the outcome back."""

from __future__ import annotations

import copy
import uuid
from collections.abc import Callable, Mapping

from agentsfence_core import Decision, HostFacts, open_or_block
from agentsfence_core.fence import Fence

Body = Callable[[Mapping[str, object]], str]
Ask = Callable[[str], str]
"""Shows a sentence to the person; returns ``once``, ``task``, ``no``, or nothing where there was no answer."""


class Suspended(Exception):  # noqa: N818  (no error: the tool stopped)
    """How an Acme tool says that it stopped in the middle."""


class AcmeFence:
    """Fences one conversation of an Acme agent."""

    def __init__(self, conversation: str, ask: Ask | None) -> None:
        """Take the conversation's id, and a way to ask its person; ``None``: nobody is there."""
        self._task = conversation
        self._ask = ask
        self._fence = open_or_block()
        self._facts = HostFacts(human_present=ask is not None)

    def on_message(self, text: str) -> None:
        """A person wrote this. Acme calls it for the person's own messages and nothing else."""
        if isinstance(self._fence, Fence):
            self._fence.amend(text, task=self._task, host=self._facts)

    def run_tool(self, name: str, body: Body, args: Mapping[str, object], *, call_id: str, step: str = "") -> str:
        """Run a tool if the fence allows it; return what the agent is told.

        ``step`` is Acme's own id of this execution, the same when Acme plays it back.
        """
        mine = copy.deepcopy(dict(args))  # what is checked is what runs, whoever else holds the arguments
        step = step or uuid.uuid4().hex
        decision = self._check(name, mine, call_id, step)
        if decision.question and self._answered(decision):
            decision = self._check(name, mine, call_id, step)
        if not decision.allowed:
            return decision.guidance
        return self._run(body, mine, decision)

    def close(self) -> None:
        """End the conversation's process, not its task."""
        if isinstance(self._fence, Fence):
            self._fence.close()

    def _check(self, name: str, args: Mapping[str, object], call_id: str, step: str) -> Decision:
        return self._fence.check(self._task, name, args, call_id=call_id, key=step, host=self._facts)

    def _answered(self, decision: Decision) -> bool:
        """Carry the question to the person and the answer back; whether it was a yes."""
        answer = self._ask(decision.sentence) if self._ask is not None else ""
        if not isinstance(self._fence, Fence) or not answer:
            return False
        if answer == "no":
            self._fence.deny(self._task, decision.question)
            return False
        return self._fence.approve(self._task, decision.question, scope=answer) is not None

    def _run(self, body: Body, args: Mapping[str, object], decision: Decision) -> str:
        try:
            answer = body(args)
        except Suspended:
            self._tell(decision, "suspended")
            return "suspended"
        except Exception as error:  # noqa: BLE001  (a tool may raise anything; it was entered, so it counts)
            self._tell(decision, "failed")
            return f"{name_of(error)}: {error}"
        self._tell(decision, "done")
        return answer

    def _tell(self, decision: Decision, status: str) -> None:
        if isinstance(self._fence, Fence):
            self._fence.outcome(self._task, decision.ticket, status=status)


def name_of(error: Exception) -> str:
    """Return the kind of an error."""
    return type(error).__name__
