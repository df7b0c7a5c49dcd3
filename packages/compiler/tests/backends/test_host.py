"""The host backend: a callable of the host answers, and whatever it does leaves as a compiler error."""

from __future__ import annotations

import time

import pytest

from agentsfence_compiler.backends.host import HostBackend
from agentsfence_compiler.backends.prompt import system_prompt
from agentsfence_core.classification.vocabulary import vocabulary
from agentsfence_core.errors import CompilerError
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Risk
from agentsfence_core.ports import CompileContext, Instruction

WORDS = Instruction("Email the notes to bob@x.example")


def test_text_and_parsed_answers_are_both_read() -> None:
    assert HostBackend(lambda system, user: '{"permissions": []}').draft(WORDS, CompileContext(), None) == {
        "permissions": []
    }
    assert HostBackend(lambda system, user: {"permissions": []}).draft(WORDS, CompileContext(), None) == {
        "permissions": []
    }


def test_the_callable_sees_the_words_and_the_fault() -> None:
    seen: list[str] = []

    def remember(system: str, user: str) -> str:
        seen.append(user)
        return "{}"

    HostBackend(remember).draft(WORDS, CompileContext(), "wrong before")
    assert WORDS in seen[0]
    assert "wrong before" in seen[0]


def test_a_raising_slow_or_huge_model_is_a_compiler_error() -> None:
    def fails(system: str, user: str) -> str:
        raise OSError("gone")

    with pytest.raises(CompilerError, match="OSError"):
        HostBackend(fails).draft(WORDS, CompileContext(), None)
    with pytest.raises(CompilerError, match="longer than"):
        HostBackend(lambda system, user: time.sleep(1), timeout=0.05).draft(WORDS, CompileContext(), None)
    with pytest.raises(CompilerError, match="too much"):
        HostBackend(lambda system, user: "x" * (LIMITS.draft_bytes + 1)).draft(WORDS, CompileContext(), None)


def test_the_prompt_lists_every_consequential_capability() -> None:
    prompt = system_prompt()
    for name, entry in vocabulary().capabilities.items():
        if entry.risk not in {Risk.READ, Risk.UNKNOWN}:
            assert f"  {name}: " in prompt
