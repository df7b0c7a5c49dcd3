"""A backend that asks a model through the host: a callable that the host passes in (DESIGN 7.6)."""

from __future__ import annotations

from collections.abc import Callable

from agentsfence_compiler.backends.deadline import within
from agentsfence_compiler.backends.prompt import prompt_for, read_answer
from agentsfence_core.errors import CompilerError
from agentsfence_core.limits import LIMITS
from agentsfence_core.ports import CompileContext, Instruction

Ask = Callable[[str, str], object]
"""(system prompt, user prompt) -> the model's answer, as text or as parsed JSON."""

TIMEOUT = 30.0  # seconds


class HostBackend:
    """Drafts with the host's own model. What the callable raises leaves as `CompilerError`."""

    def __init__(self, ask: Ask, *, timeout: float = TIMEOUT) -> None:
        self._ask = ask
        self._timeout = timeout

    def draft(self, instruction: Instruction, context: CompileContext, error: str | None) -> object:  # noqa: ARG002  (the host has settings of its own)
        """Return the draft of the host's model."""
        prompt = prompt_for(instruction, error)
        try:
            answer = within(self._timeout, lambda: self._ask(prompt.system, prompt.user), "the host's model")
        except CompilerError:
            raise
        except Exception as fault:
            raise CompilerError(f"the host's model failed: {type(fault).__name__}") from fault
        if not isinstance(answer, str):
            return answer
        if len(answer) > LIMITS.draft_bytes:
            raise CompilerError("the host's model answered too much")
        return read_answer(answer)
