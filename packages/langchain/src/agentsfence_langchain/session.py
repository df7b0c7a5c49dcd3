"""`LangChainFence`: one fence for the agents of a program, and the pieces that bind it to them."""

from __future__ import annotations

import logging
import os
import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool

from agentsfence_core import BlockingFence, Fence, HostContractError, HostFacts, Risk, open_or_block
from agentsfence_core.classification.vocabulary import vocabulary
from agentsfence_core.ports import PersonMessage, ToolMapping
from agentsfence_langchain.gate import Approver, Gate, Memory
from agentsfence_langchain.guard import OnBlock, guarded
from agentsfence_langchain.handler import FenceCallbackHandler
from agentsfence_langchain.instructions import InputHandler
from agentsfence_langchain.places import ENCLOSING
from agentsfence_langchain.probe import probe
from agentsfence_langchain.provider_tools import name_of
from agentsfence_langchain.tools import Known, described, hidden_from_handlers, known, tools_of

if TYPE_CHECKING:
    from agentsfence_core import Task, TaskPolicy
    from agentsfence_core.model import Grant
    from agentsfence_core.tasks import Question
    from agentsfence_langchain.middleware import FenceMiddleware

_LOG = logging.getLogger("agentsfence.langchain")
_SEEN = 4_096  # tools that are remembered
_MODES = ("auto", "interrupt", "deny", "pending")
_Agent = TypeVar("_Agent", bound=Runnable[Any, Any])
_Tool = TypeVar("_Tool", bound=BaseTool)
Names = str | Iterable[str]


class LangChainFence:
    """Fences LangChain and LangGraph agents. Open one per process and share it; it is thread-safe.

    fence = LangChainFence()
    agent = create_agent(model, tools, middleware=[fence.middleware()], checkpointer=saver)
    agent = fence.bind(agent)
    fence.start_task("Read the report and email it to john@example.com", thread_id="t1")
    """

    def __init__(
        self,
        settings: str | Path | Mapping[str, object] | None = None,
        *,
        fence: Fence | None = None,
        approver: Approver = "auto",
        host: HostFacts | None = None,
        workspace: str | None = None,
        note: bool = True,
        unsafe_provider_tools: Iterable[str] = (),
    ) -> None:
        """Open the fence that the settings describe; one that cannot start blocks every call.

        ``approver``: ``auto`` (interrupt where a checkpointer can wait, else pending), ``interrupt``, ``pending``
        (refuse now, ``agentsfence approve ID`` later), ``deny``, or a callable that is given an `AskRequest`.
        ``workspace``: the folder that the task's files belong to. ``note``: tell the model that a policy is in force.
        ``unsafe_provider_tools``: types of provider-side tools that the model is offered although nothing checks them.
        """
        if not callable(approver) and approver not in _MODES:
            raise HostContractError(f"no such approver: {approver!r}", hint=f"{', '.join(_MODES)}, or a callable")
        facts = host or HostFacts(workdir=os.getcwd(), workspace=workspace)  # noqa: PTH109
        self.gate = Gate(
            fence if fence is not None else open_or_block(settings),
            approver,
            replace(facts, human_present=False) if approver == "deny" else facts,
        )
        self.note = note
        self.provider_tools = frozenset(unsafe_provider_tools)
        self.default_task = f"langchain-{secrets.token_hex(8)}"
        """The task of calls that belong to no thread: read-only until `start_task` is called without a thread."""
        self.handler = FenceCallbackHandler(self)
        self._seen: Memory[int, Known] = Memory(_SEEN)
        """Tools by identity; an entry keeps its tool, so that no other can have its place."""
        self._known: Memory[str, Known] = Memory(_SEEN)
        """The newest tool of each name."""
        self._registered: Memory[str, object] = Memory(_SEEN)
        """What the fence was told of each name."""
        self._declared: dict[str, ToolMapping] = {}
        self._warned: set[str] = set()
        self._lock = threading.Lock()
        self._probe = threading.local()

    # --- binding

    def middleware(self) -> FenceMiddleware:
        """Return the middleware for ``create_agent``; put it last in the list."""
        from agentsfence_langchain.middleware import FenceMiddleware  # noqa: PLC0415  (chains need no agents package)

        return FenceMiddleware(self)

    def bind(self, agent: _Agent, *, instructions: Literal["input"] | None = None) -> _Agent:
        """Return the agent with the callback handler in its configuration, where a resume finds it too.

        ``instructions="input"``: the person's newest message in this agent's own input begins or amends the thread's
        task. Only for an agent whose input comes from the person alone. Raises `HostContractError` where the installed
        LangChain ignores refusals.
        """
        probe(self)
        self.learn(tools_of(agent))
        handlers = [self.handler, *([InputHandler(self)] if instructions == "input" else [])]
        return agent.with_config(callbacks=handlers)  # type: ignore[return-value]

    def guard(  # noqa: PLR0913  (one keyword for each thing that can be said of a tool)
        self,
        tool: _Tool,
        *,
        capability: str = "",
        risk: Risk | str = "",
        recipients: Names = (),
        paths: Names = (),
        domains: Names = (),
        objects: Mapping[str, str] | None = None,
        values: Mapping[str, str] | None = None,
        content: Names = (),
        on_block: OnBlock = "message",
    ) -> _Tool:
        """Return a copy of a tool that asks the fence itself, with or without callbacks.

        ``capability`` (``email.send``) declares what the tool does, the other fields which of its arguments hold
        what; a row of the person's settings comes first. ``on_block="raise"``: a refusal leaves as `FenceBlocked`
        instead of as the tool's answer.
        """
        if capability:
            self._declare(
                ToolMapping(
                    match=tool.name,
                    capability=capability,
                    risk=str(risk),
                    recipients=_names(recipients),
                    paths=_names(paths),
                    domains=_names(domains),
                    objects=objects or {},
                    values=values or {},
                    content=_names(content),
                )
            )
        elif risk or recipients or paths or domains or objects or values or content:
            raise HostContractError(f"{tool.name}: what it does is not said", hint='capability="email.send"')
        self.learn((tool,))
        return guarded(self, tool, on_block)

    def guard_all(self, tools: Sequence[BaseTool], *, on_block: OnBlock = "message") -> list[BaseTool]:
        """Return guarded copies. Raises `HostContractError` for two tools of one name.

        LangGraph would keep only one of them, and nobody says which.
        """
        names = [tool.name for tool in tools]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise HostContractError(f"two tools are called {', '.join(twice)}", hint="prefix them with their server")
        return [self.guard(tool, on_block=on_block) for tool in tools]

    def deep_agent_kwargs(self, *, subagents: Sequence[Any] = (), middleware: Sequence[Any] = ()) -> dict[str, Any]:
        """Return ``middleware`` and ``subagents`` for ``create_deep_agent``, with the fence in every one of them."""
        from agentsfence_langchain.deep import deep_agent_kwargs  # noqa: PLC0415  (deepagents is optional)

        return deep_agent_kwargs(self, subagents, middleware)

    # --- a person's words

    def start_task(
        self, text: str | PersonMessage, *, thread_id: object = None, sender: str | None = None, draft: object = None
    ) -> Task:
        """Compile a person's message into the policy of a thread. Raises where the thread's task is live: `amend`."""
        return self.fence.begin(text, task=self.task_id(thread_id), sender=sender, host=self.gate.host, draft=draft)

    def amend(
        self, text: str | PersonMessage, *, thread_id: object = None, sender: str | None = None, draft: object = None
    ) -> Task:
        """Merge a later message of the person; begins the task where nobody has."""
        return self.fence.amend(text, task=self.task_id(thread_id), sender=sender, host=self.gate.host, draft=draft)

    def adopt(self, policy: TaskPolicy | Mapping[str, object] | str | Path, *, thread_id: object = None) -> Task:
        """Take a policy that a person wrote as the policy of a thread."""
        return self.fence.adopt(policy, task=self.task_id(thread_id))

    @contextmanager
    def using(self, thread_id: object) -> Iterator[None]:
        """Give the calls inside to a thread's task, whatever their configuration says: scripts, chains, raw threads."""
        token = ENCLOSING.set(self.task_id(thread_id))
        try:
            yield
        finally:
            ENCLOSING.reset(token)

    # --- a person's answers

    def questions(self, thread_id: object = None) -> tuple[Question, ...]:
        """Return the open questions of a thread, oldest first."""
        return self.fence.questions(self.task_id(thread_id))

    def approve(self, question: str, *, thread_id: object = None, scope: str = "once") -> Grant | None:
        """Answer a question with yes; ``None`` where nothing may be granted."""
        return self.fence.approve(self.task_id(thread_id), question, scope=scope)

    def deny(self, question: str, *, thread_id: object = None) -> None:
        """Answer a question with no."""
        self.fence.deny(self.task_id(thread_id), question)

    # --- looking

    @property
    def fence(self) -> Fence:
        """The fence itself. Raises what kept it from starting."""
        if isinstance(self.gate.fence, BlockingFence):
            raise self.gate.fence.error
        return self.gate.fence

    def task_id(self, thread_id: object) -> str:
        """Return the task of a thread."""
        return self.default_task if thread_id is None else str(thread_id)

    def unknown_tools(self, tools: Iterable[BaseTool]) -> tuple[str, ...]:
        """Return the names of tools about which nothing is known: each of their calls is a question."""
        fence = self.gate.fence
        if isinstance(fence, BlockingFence):
            return ()
        return tuple(tool.name for tool in tools if fence.classify(tool.name, {}).risk is Risk.UNKNOWN)

    def close(self) -> None:
        """End the fence: later calls are blocked."""
        if not isinstance(self.gate.fence, BlockingFence):
            self.gate.fence.close()

    # --- for the pieces

    def learn(self, tools: Iterable[BaseTool]) -> None:
        """Tell the fence what the host offers, once a tool, and warn of tools about which nothing is known."""
        new = [tool for tool in tools if (seen := self._seen.get(id(tool))) is None or seen.tool is not tool]
        if not new:
            return
        try:
            self._learn(new)
        except Exception:  # noqa: BLE001  (see below)
            # Nothing is decided here: what a tool says about itself only raises its risk, and each call is checked.
            _LOG.exception("what %s say about themselves could not be read", ", ".join(tool.name for tool in new))

    def named(self, tool: str, text: str) -> dict[str, object]:
        """Return a text input under the name of the argument that it is for."""
        seen = self._known.get(tool)
        return {seen.arguments[0] if seen is not None and seen.arguments else "input": text}

    def hidden(self, tool: BaseTool) -> frozenset[str]:
        """Return the names of a tool's arguments that a callback handler is not shown."""
        seen = self._seen.get(id(tool))
        return seen.hidden if seen is not None and seen.tool is tool else hidden_from_handlers(tool)

    def probing(self) -> bool:
        """Whether this thread is finding out that a refusal counts."""
        return bool(getattr(self._probe, "on", False))

    @contextmanager
    def probed(self) -> Iterator[None]:
        """Refuse every call of this thread."""
        self._probe.on = True
        try:
            yield
        finally:
            self._probe.on = False

    def warn_of_provider_tools(self, tools: Iterable[object]) -> None:
        """Say once that a tool of the provider is withheld."""
        for name in {name_of(tool) for tool in tools if isinstance(tool, Mapping)} - self._warned:
            self._warned.add(name)
            _LOG.warning("%s runs at the model's provider, unseen: it is withheld (unsafe_provider_tools)", name)

    def _learn(self, tools: Sequence[BaseTool]) -> None:
        with self._lock:
            rows = [row for tool in tools if (row := described(tool)) != self._registered.get(tool.name)]
            for tool in tools:
                self._seen.keep(id(tool), seen := known(tool))
                self._known.keep(tool.name, seen)
            if rows and not isinstance(self.gate.fence, BlockingFence):
                self.gate.fence.register_tools(rows)
            for row in rows:
                self._registered.keep(str(row["name"]), row)
            unknown = sorted(set(self.unknown_tools(tools)) - self._warned)
            self._warned.update(unknown)
        if unknown:
            _LOG.warning(
                "nothing is known about %s: each call will be a question. Say what they do with "
                "guard(tool, capability=...) or in the settings",
                ", ".join(unknown),
            )

    def _declare(self, row: ToolMapping) -> None:
        if not row.risk and vocabulary().risk_of(row.capability) is None:
            raise HostContractError(f"{row.match}: no such capability: {row.capability}", hint="name a risk as well")
        if row.risk and row.risk not in set(Risk):
            raise HostContractError(f"{row.match}: no such risk: {row.risk}", hint=f"one of {', '.join(Risk)}")
        with self._lock:
            before = self._declared.setdefault(row.match, row)
            if before != row:
                raise HostContractError(
                    f"{row.match} is declared twice, differently", hint="give one tool another name"
                )
            if not isinstance(self.gate.fence, BlockingFence):
                self.gate.fence.declare_tools([row])


def _names(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
