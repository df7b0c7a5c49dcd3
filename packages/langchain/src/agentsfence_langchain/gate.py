"""The one way from a call to its permission, for middleware, handler and guarded tools alike.

Rules of this file:

* No policy: the verdict is the fence's. What is decided here is how a verdict reaches LangChain.
* A call is charged when it is admitted. LangGraph runs a task again from its start after every answer, so nothing
  before the admission has an effect that a second run would repeat.
* Nothing but a refusal (`FenceBlocked`) and LangGraph's own signals leaves `admit`.
"""

from __future__ import annotations

import inspect
import logging
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, NamedTuple, TypeVar

from langgraph.errors import GraphBubbleUp
from langgraph.types import interrupt

from agentsfence_core import BlockingFence, Decision, Fence, HostFacts, Verdict
from agentsfence_core.model import ReasonCode, Risk
from agentsfence_langchain.answers import (
    Answer,
    AskRequest,
    Reply,
    interrupt_value,
    read_answer,
    read_approval,
    request_of,
)
from agentsfence_langchain.errors import FenceBlocked
from agentsfence_langchain.places import Place, here, waiting_answer

_LOG = logging.getLogger("agentsfence.langchain")
_KEPT = 256  # calls whose questions are remembered
_RESULTS = 64  # results kept for a call that is played back
_ANSWERS = 64  # answers of one task that are read before the fence gives up

ApproverMode = Literal["auto", "interrupt", "deny", "pending"]
Approver = ApproverMode | Callable[[AskRequest], object | Awaitable[object]]
Status = Literal["done", "failed", "suspended", "not_run"]
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Call(NamedTuple):
    """One call as one of the hooks saw it."""

    tool: str
    args: Mapping[str, object]
    call_id: str
    place: Place
    key: str
    """Execution key; empty where nothing tells a replay from a new call."""
    content: str
    """Digest of tool and arguments."""
    started: float
    """When the hook saw it, in seconds since the epoch."""


class Admission(NamedTuple):
    """A call that may run, and what has to be reported about it."""

    call: Call
    ticket: str
    risk: Risk


class Memory(OrderedDict[_Key, _Value]):
    """The newest entries of a process, bounded."""

    def __init__(self, size: int) -> None:
        """Keep at most ``size`` entries."""
        super().__init__()
        self._size = size

    def keep(self, name: _Key, value: _Value) -> None:
        """Keep an entry as the newest one."""
        self[name] = value
        self.move_to_end(name)
        while len(self) > self._size:
            self.popitem(last=False)


class Gate:
    """Admits calls, or refuses them. Thread-safe."""

    def __init__(self, fence: Fence | BlockingFence, approver: Approver, host: HostFacts) -> None:
        """Take the fence, who answers its questions, and what the host knows about itself."""
        self.fence = fence
        self.approver = approver
        self.host = host
        self._lock = threading.Lock()
        self._running: Memory[str, None] = Memory(4_096)
        self._asked: Memory[str, None] = Memory(_KEPT)
        """Questions that this process has shown."""
        self._interrupted: Memory[str, tuple[str, ...]] = Memory(_KEPT)
        """Calls that this process has shown, by key, and what was asked about each."""
        self._first: Memory[str, str] = Memory(_KEPT)
        """LangGraph task -> id of the only call that was seen in it, empty for several."""
        self._results: Memory[str, object] = Memory(_RESULTS)
        self._reads: set[str] = set()
        """Tools whose latest call was a read that no row lists, and so none counts."""

    # --- before the call

    def admit(self, call: Call, *, may_ask: bool = True) -> Admission:
        """Return the admission of a call, or raise what refuses or suspends it."""
        with self._claimed(call) as claimed:
            decision = self._check(claimed)
            if not _is_question(decision):
                return self._answered_before(claimed, decision)
            self._require_askable(call, decision, may_ask)
            if not callable(self.approver):
                return self._admission(claimed, self._ask(claimed, decision))
            given = self.approver(self._request(claimed, decision))
            if inspect.isawaitable(given):
                _close(given)
                raise _refusal(decision, "The approver is asynchronous and this call is not, so nobody was asked.")
            return self._admission(claimed, self._obeyed(claimed, decision, read_approval(given)))

    async def aadmit(self, call: Call, *, may_ask: bool = True) -> Admission:
        """Return the admission of a call, waiting for an asynchronous approver where there is one."""
        if not callable(self.approver):
            return self.admit(call, may_ask=may_ask)
        with self._claimed(call) as claimed:
            decision = self._check(claimed)
            if not _is_question(decision):
                return self._answered_before(claimed, decision)
            self._require_askable(call, decision, may_ask)
            given = self.approver(self._request(claimed, decision))
            if inspect.isawaitable(given):
                given = await given
            return self._admission(claimed, self._obeyed(claimed, decision, read_approval(given)))

    def one_of_several(self, execution: str, call_id: str) -> bool:
        """Whether the model made another call in the same LangGraph task, as far as this process has seen."""
        if not execution:
            return False
        with self._lock:
            first = self._first.setdefault(execution, call_id)
            if first == call_id:
                self._first.keep(execution, call_id)
                return False
            self._first.keep(execution, "")
            return True

    def remembered(self, call: Call) -> object | None:
        """Return the result of this very execution where it is done already, so that it is not done twice."""
        if not call.key or call.key in self._running:
            return None
        known = self._results.get(call.key)
        if known is not None and call.key in self._interrupted and call.place.alone and waiting_answer(here()):
            interrupt(None)  # its answer, which the next question must not get
        return known

    # --- after the call

    def settle(self, admission: Admission, status: Status, result: object = None) -> None:
        """Report what became of an admitted call. A report that fails leaves the charge as it is."""
        with self._lock:
            self._running.pop(admission.call.key, None)
            if status == "done" and admission.call.key and admission.risk is not Risk.READ and result is not None:
                self._results.keep(admission.call.key, result)
        if not admission.ticket or isinstance(self.fence, BlockingFence):
            return
        try:
            self.fence.outcome(admission.call.place.task, admission.ticket, status=status)
        except Exception as error:  # noqa: BLE001  (the tool has run: its result must not be lost)
            _LOG.warning("the outcome of %s could not be kept: %s", admission.call.tool, error)

    # --- inside

    def _check(self, call: Call) -> Decision:
        task, host = call.place.task, self.host
        if call.tool in self._reads:
            # A read that nothing counts needs no ticket: it is the same whether it is played back or not.
            decision = self.fence.check(task, call.tool, call.args, call_id=call.call_id, host=host)
            if decision.risk is Risk.READ and decision.allowed and not decision.ticket:
                return decision
            self._reads.discard(call.tool)
            if decision.ticket and not isinstance(self.fence, BlockingFence):
                self.fence.outcome(task, decision.ticket, status="not_run")
        decision = self.fence.check(task, call.tool, call.args, call_id=call.call_id, key=call.key or None, host=host)
        if decision.reason is ReasonCode.READ_DEFAULT and decision.allowed:
            self._remember_read(call.tool)
        return decision

    def _require_askable(self, call: Call, decision: Decision, may_ask: bool) -> None:
        if not may_ask:
            raise _refusal(decision, f"There is no tool called {call.tool} here.")
        if decision.reason is ReasonCode.ALREADY_DONE and not call.call_id:
            raise _refusal(decision, "It has been done.")
        if self.host.shared and self.approver in {"auto", "interrupt"}:
            # Whoever resumes a run is not named, so it may be anybody in the chat (DESIGN 8).
            raise _refusal(decision, "Several people write here: ask the one who started the task to write it.")

    def _remember_read(self, tool: str) -> None:
        if len(self._reads) >= _KEPT:
            self._reads.clear()
        self._reads.add(tool)

    @contextmanager
    def _claimed(self, call: Call) -> Iterator[Call]:
        """Hold the key of a call until it is settled, or until it turns out that it doesn't run now.

        Where the same key is running, the call gets a key of its own: two runs are two executions.
        """
        claimed = self._apart(call)
        try:
            yield claimed
        except BaseException as error:
            with self._lock:
                self._running.pop(claimed.key, None)
            if isinstance(error, Exception) and not isinstance(error, FenceBlocked | GraphBubbleUp):
                raise _fault(error) from None
            raise

    def _apart(self, call: Call) -> Call:
        if not call.key:
            return call
        with self._lock:
            name, number = call.key, 1
            while name in self._running:
                number += 1
                name = f"{call.key}#{number}"
            self._running.keep(name, None)
        return call if number == 1 else call._replace(key=name)

    def _admission(self, call: Call, decision: Decision) -> Admission:
        if not decision.allowed:
            raise _refusal(decision)
        return Admission(call, decision.ticket, decision.risk)

    def _answered_before(self, call: Call, decision: Decision) -> Admission:
        """Return the admission of a call that needs no answer now.

        A call that was asked about in this task takes its answer from LangGraph again: LangGraph counts, and an answer
        left lying would reach the next question, which may be the tool's own.
        """
        admission = self._admission(call, decision)
        if not (decision.covered_by and call.place.alone):
            return admission
        waiting = waiting_answer(here())
        if not waiting:
            return admission
        if _shown_as(call) not in self._interrupted and read_answer(waiting[0]).reply is not Reply.YES:
            return admission
        answer = read_answer(interrupt(None))
        if answer.reply is not Reply.YES and answer.question in {"", decision.question}:
            self.settle(admission, "not_run")
            raise _said_no(decision, answer)
        return admission

    def _ask(self, call: Call, decision: Decision) -> Decision:
        """Return the decision after a person's answer, by whichever way this run has to reach one."""
        if self.approver == "deny":
            return self._obeyed(call, decision, Answer(Reply.NO))
        if self.approver != "pending" and call.place.resumable:
            return self._interrupted_for(call, decision)
        if self.approver == "interrupt":
            raise _refusal(decision, "This run has no checkpointer, so it cannot wait for the person's answer.")
        raise _refusal(decision, _pending(decision))

    def _request(self, call: Call, decision: Decision) -> AskRequest:
        return request_of(call.place.task, call.tool, call.args, call.content, decision)

    def _interrupted_for(self, call: Call, decision: Decision) -> Decision:
        """Return the decision after an answer from LangGraph; raises its signal where there is none yet."""
        shown_before = self._was_shown(call, decision)
        request = self._request(call, decision)
        for _ in range(_ANSWERS):
            self._shown(call, decision)
            value = interrupt(interrupt_value(request, call.call_id, name_it=not call.place.alone))
            answer = read_answer(value)
            if answer.question and answer.question != decision.question:
                decision = self._for_another(call, decision, answer)
                if not _is_question(decision):
                    return decision
                continue
            if answer.question or answer.digest == request.digest:
                return self._obeyed(call, decision, answer)
            if answer.digest or not call.place.alone:
                continue  # it is about another call, or may be: ask again under a new interrupt
            if not shown_before:
                # An outer middleware changed the call between question and answer (shown: bob; now: mallory).
                raise _refusal(decision, "The call is not the one that the person was asked about.")
            return self._obeyed(call, decision, answer)
        raise _refusal(decision, "The answers were about other calls.")

    def _for_another(self, call: Call, decision: Decision, answer: Answer) -> Decision:
        """Give an answer to the question that it names, and return the decision on this call after it."""
        self._record(call.place.task, answer.question, answer)
        after = self._check(call)
        return after if after.question != decision.question else decision

    def _was_shown(self, call: Call, decision: Decision) -> bool:
        """Whether a person was asked about exactly this call before this run of the task began."""
        asks = self._interrupted.get(_shown_as(call))
        if asks is not None or decision.question in self._asked:
            return asks == decision.asks
        # Another process asked: the store says when.
        kept = () if isinstance(self.fence, BlockingFence) else self.fence.questions(call.place.task)
        return any(known.id == decision.question and known.asked_at < call.started for known in kept)

    def _shown(self, call: Call, decision: Decision) -> None:
        with self._lock:
            self._asked.keep(decision.question, None)
            self._interrupted.keep(_shown_as(call), decision.asks)

    def _obeyed(self, call: Call, decision: Decision, answer: Answer) -> Decision:
        """Return the decision after an answer to this very call's question, or refuse."""
        if answer.reply is Reply.NO:
            self._record(call.place.task, decision.question, answer)
        if answer.reply is not Reply.YES:
            raise _said_no(decision, answer)
        latest = decision
        for _ in range(3):
            self._record(call.place.task, latest.question, answer)
            latest = self._check(call)
            # Where a call of the same content took this approval, the same question comes again: it is answered.
            if not _is_question(latest) or latest.asks != decision.asks:
                break
        if not latest.allowed:
            raise _refusal(latest)
        return latest

    def _record(self, task: str, question: str, answer: Answer) -> None:
        if isinstance(self.fence, BlockingFence):
            return
        if answer.reply is Reply.YES:
            self.fence.approve(task, question, scope=answer.scope)
        elif answer.reply is Reply.NO:
            self.fence.deny(task, question)


def _shown_as(call: Call) -> str:
    """Return the name under which a call that was shown to a person is remembered."""
    return call.key or repr((call.place.execution, call.content))


def _is_question(decision: Decision) -> bool:
    return not decision.allowed and decision.verdict is Verdict.ASK_USER


def details_of(decision: Decision) -> dict[str, object]:
    """Return what a host may show of a decision, as JSON types."""
    return {
        "verdict": decision.verdict.value,
        "reason": decision.reason.value,
        "rule": decision.rule,
        "sentence": decision.sentence,
        "capability": decision.capability,
        "risk": decision.risk.value,
        "question": decision.question,
    }


def _refusal(decision: Decision, more: str = "") -> FenceBlocked:
    text = decision.guidance or decision.sentence
    return FenceBlocked(f"{text} {more}".strip(), details_of(decision))


def _said_no(decision: Decision, answer: Answer) -> FenceBlocked:
    if answer.reply is Reply.UNREADABLE:
        return FenceBlocked(
            "The answer could not be read as an approval, so the call did not run.", details_of(decision)
        )
    text = "The person said no to this call. It did not run. Do not try it again and do not work around it."
    return FenceBlocked(f"{text} They wrote: {answer.message}" if answer.message else text, details_of(decision))


def _pending(decision: Decision) -> str:
    return (
        f"The person can approve it with `agentsfence approve {decision.question}`. "
        "Tell them; after that, the same call runs once."
    )


def _fault(error: Exception) -> FenceBlocked:
    _LOG.error("a call was blocked by a fault inside AgentsFence: %s", error, exc_info=error)
    return FenceBlocked(
        f"This call was blocked: {type(error).__name__} inside AgentsFence. Do not work around it; tell the person.",
        {"verdict": Verdict.BLOCK.value, "reason": "internal_fault"},
    )


def _close(given: object) -> None:
    """Leave no coroutine un-awaited."""
    if inspect.iscoroutine(given):
        given.close()
