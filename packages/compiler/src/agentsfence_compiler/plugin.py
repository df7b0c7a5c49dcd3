"""This package as a plugin: the backends that come with it, by name (DESIGN 4)."""

from __future__ import annotations

import os
from collections.abc import Mapping

from agentsfence_compiler.backends.rules import RulesBackend
from agentsfence_core.hookspecs import hookimpl
from agentsfence_core.ports import CompileContext, CompilerBackend, Instruction


class LazyChat:
    """The chat backend, made at its first use: an offline fence never loads an HTTP client."""

    def __init__(self) -> None:
        self._backend: CompilerBackend | None = None

    def draft(self, instruction: Instruction, context: CompileContext, error: str | None) -> object:
        """Return what the endpoint in the settings drafts. Raises `CompilerError` for every fault."""
        if self._backend is None:
            from agentsfence_compiler.backends.chat import ChatBackend  # noqa: PLC0415  (lazy: start-up budget)

            self._backend = ChatBackend(os.environ)
        return self._backend.draft(instruction, context, error)


@hookimpl
def agentsfence_compilers() -> Mapping[str, CompilerBackend]:
    """Return ``rules`` (offline) and ``chat`` (OpenRouter and any OpenAI-compatible endpoint)."""
    return {"rules": RulesBackend(), "chat": LazyChat()}
