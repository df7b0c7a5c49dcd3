"""A person's words become policy: at once by the offline rules, or with a model that nobody has to wait for.

With a model the order is: first what the words forbid, with no model; then the model is asked, for a bounded time;
what it answers in time, or later while nothing newer was said, is amended. A failing model leaves the bans in force and
adds nothing.
"""

from __future__ import annotations

import contextvars
import logging
import threading
from collections.abc import Callable
from typing import Any

from agentsfence_compiler.backends.host import HostBackend
from agentsfence_compiler.pipeline import FAIL
from agentsfence_core import Fence, FenceError, HostFacts
from agentsfence_core.ports import CompileContext, CompilerBackend, Instruction, PersonMessage
from agentsfence_core.settings import Compiler, load_settings
from agentsfence_hermes import host
from agentsfence_hermes.fences import settings_environment
from agentsfence_hermes.identity import Recent
from agentsfence_hermes.ingress import Words

_LOG = logging.getLogger("agentsfence.hermes")
_PATIENCE = 10.0  # seconds that a turn waits for a model
HOST, CHAT = "host", "chat"


class Compiling:
    """Compiles the words of all sessions; each waits for its own model only."""

    def __init__(self) -> None:
        """Begin without a host's model."""
        self._llm: Any = None
        self._newest: Recent[object] = Recent()
        self._order = threading.Lock()

    def attach(self, ctx: Any) -> None:
        """Hermes' own model can be asked through this context."""
        self._llm = lambda: ctx.llm

    def hear(self, fence: Fence, task: str, words: Words, facts: HostFacts, kept: Callable[[], None]) -> None:
        """The policy of the task follows the words as far as it can without waiting longer than a turn may.

        ``kept`` is called as soon as what they forbid is in force.
        """
        message = PersonMessage(words.text, words.sender, words.source)
        with self._order:
            serial = object()
            self._newest.put(task, serial)
        compiler = _compiler()
        backend = self._backend(compiler)
        if backend is None:
            fence.amend(message, task=task, host=facts)
            kept()
            return
        heard = fence.amend(message, task=task, host=facts, draft=FAIL)
        kept()
        if any(view.kind == "request" for view in heard.requests):
            self._with_model(fence, task, message, facts, backend, compiler, heard.instruction, serial)

    def _with_model(
        self,
        fence: Fence,
        task: str,
        message: PersonMessage,
        facts: HostFacts,
        backend: CompilerBackend,
        compiler: Compiler,
        instruction: Instruction,
        serial: object,
    ) -> None:
        done = threading.Event()

        def draft_and_amend() -> None:
            try:
                context = CompileContext(host=facts, compiler=compiler.name, compiler_settings=compiler.values())
                draft = backend.draft(instruction, context, None)
                with self._order:
                    # INVARIANT: the newest words win. A late draft of older ones must not undo a "stop".
                    if self._newest.get(task) is serial:
                        fence.amend(message, task=task, host=facts, draft=draft)
            except FenceError as error:
                _LOG.warning("the compiler's model failed, only reading is authorized: %s", error)
            except Exception:  # noqa: BLE001  (foreign code on a thread of its own: the bans in force stay)
                _LOG.exception("the compiler's model failed, only reading is authorized")
            finally:
                done.set()

        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(draft_and_amend,), name="agentsfence-compile", daemon=True).start()
        done.wait(min(_PATIENCE, compiler.timeout))

    def _backend(self, compiler: Compiler) -> CompilerBackend | None:
        """Return the backend that asks a model, or ``None`` where the offline rules compile."""
        if compiler.name == HOST:
            return HostBackend(self._ask_host, timeout=compiler.timeout)
        if compiler.name == CHAT:
            from agentsfence_compiler.plugin import agentsfence_compilers  # noqa: PLC0415

            return agentsfence_compilers()[CHAT]
        return None

    def _ask_host(self, system: str, user: str) -> object:
        if self._llm is None:
            raise FenceError("Hermes offers no model to plugins")
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        return self._llm().complete(messages, temperature=0.0, purpose="agentsfence task policy").text


def _compiler() -> Compiler:
    """Return the compiler that the settings of this moment's profile name."""
    return load_settings(None, settings_environment(host.home())).compiler
