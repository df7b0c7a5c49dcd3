"""Questions as LangGraph interrupts, and the answers to them, read strictly.

Rules of this file:

* An answer is free-form input of whoever may resume the run. Only the shapes below are read; the rest is no approval.
* An answer that names a question is about that question, whichever call receives it: LangGraph delivers answers by
  position, and positions of calls that share a task move.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from agentsfence_core import Decision
from agentsfence_langchain.values import shown

VERSION = 1
_SCOPES = {"once": "once", "task": "task", "session": "task", "always": "task"}


class Reply(Enum):
    """What a person said."""

    YES = "yes"
    NO = "no"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer to one question."""

    reply: Reply
    scope: str = "once"
    question: str = ""
    """Id of the question that the answer names, where it names one."""
    digest: str = ""
    """Digest of the call that the answer names, where it names one."""
    message: str = ""
    """What the person wrote, for the model."""


@dataclass(frozen=True, slots=True)
class AskRequest:
    """A question for an approver that the application supplies."""

    task: str
    tool: str
    args: Mapping[str, object]
    question: str
    sentence: str
    capability: str
    risk: str
    digest: str
    asks: tuple[str, ...] = ()


def request_of(task: str, tool: str, args: Mapping[str, object], digest: str, decision: Decision) -> AskRequest:
    """Return a question with a copy of what it is about, cut where it is too long for a person."""
    copied = {str(name): shown(value) for name, value in args.items()}
    return AskRequest(
        task=task,
        tool=tool,
        args=copied,
        question=decision.question,
        sentence=decision.sentence,
        capability=decision.capability,
        risk=decision.risk.value,
        digest=digest,
        asks=decision.asks,
    )


def interrupt_value(request: AskRequest, call_id: str, *, name_it: bool) -> dict[str, object]:
    """Return what a human-in-the-loop screen shows; ``name_it``: the answer must repeat the question's id."""
    description = request.sentence
    if name_it:
        description += f' (several calls wait together: answer with "question": "{request.question}")'
    return {
        "action_requests": [{"name": request.tool, "args": request.args, "description": description}],
        "review_configs": [{"action_name": request.tool, "allowed_decisions": ["approve", "reject"]}],
        "agentsfence": {
            "v": VERSION,
            "question": request.question,
            "digest": request.digest,
            "tool_call_id": call_id,
            "capability": request.capability,
            "risk": request.risk,
            "reasons": list(request.asks),
            "scopes": ["once", "task"],
        },
    }


def read_answer(value: object) -> Answer:
    """Return what a resume value says: ``{"decisions": [one]}``, or one decision by itself."""
    if isinstance(value, Mapping) and isinstance(value.get("decisions"), list):
        decisions = value["decisions"]
        named = {name: value[name] for name in ("question", "digest") if name in value}
        return _decision({**named, **decisions[0]}) if _one_mapping(decisions) else Answer(Reply.UNREADABLE)
    if value is False:
        return Answer(Reply.NO)
    return _decision(value) if isinstance(value, Mapping) else Answer(Reply.UNREADABLE)


def _one_mapping(decisions: list[object]) -> bool:
    return len(decisions) == 1 and isinstance(decisions[0], Mapping)


def _decision(value: Mapping[str, object]) -> Answer:
    kind = _text(value.get("type"))
    named = {name: _text(value.get(name)) for name in ("question", "digest")}
    if kind == "approve":
        scope = _SCOPES.get(_text(value.get("scope", "once")))
        return Answer(Reply.YES, scope, **named) if scope else Answer(Reply.UNREADABLE, **named)
    if kind in {"reject", "respond"}:
        return Answer(Reply.NO, message=_text(value.get("message"))[:2_000], **named)
    # An edit is another call: the model makes it, and it is checked as what it is.
    message = "The person wants other arguments: make a new call." if kind == "edit" else ""
    return Answer(Reply.NO if kind == "edit" else Reply.UNREADABLE, message=message, **named)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def read_approval(value: object) -> Answer:
    """Return what an approver that the application supplies says: ``True`` or a scope approves, nothing else does."""
    if value is True:
        return Answer(Reply.YES)
    if isinstance(value, str) and value in _SCOPES:
        return Answer(Reply.YES, _SCOPES[value])
    return Answer(Reply.NO) if value is False or value is None or value == "deny" else Answer(Reply.UNREADABLE)
