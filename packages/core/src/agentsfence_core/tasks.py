"""Questions, tickets and what a check commits: pure functions from one task record to the next (DESIGN 8).

Rules of this file:

* No I/O and no clock: ids and times come in. A store may call these functions more than once for one check.
* What is kept of a call is its digest and its targets, never its arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from agentsfence_core.evaluation.grants import call_digest, deltas_of
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Action, Charge, Decision, Delta, ExecutionState, Grant, Scope
from agentsfence_core.ports import TaskRecord

ADMITTED, SUSPENDED, DONE, FAILED, NOT_RUN = "admitted", "suspended", "done", "failed", "not_run"
OUTCOMES = frozenset({DONE, FAILED, SUSPENDED, NOT_RUN})
_OPEN = frozenset({ADMITTED, SUSPENDED})
_TICKETS = 256  # tickets kept per task; older ones can no longer be reported on


@dataclass(frozen=True, slots=True)
class Question:
    """An ASK_USER that waits for a person, with all that an approval would cover."""

    id: str
    task: str
    tool: str
    capability: str
    risk: str
    sentence: str
    asks: tuple[str, ...]
    deltas: tuple[Delta, ...]
    asked_at: float


def find_ticket(record: TaskRecord, key: str, identity: str) -> str:
    """Return the id of the admitted or suspended ticket of this very call under this key; empty where there is none."""
    if not key or not identity:
        return ""
    for ticket, kept in record.tickets.items():
        if kept.get("key") == key and kept.get("call") == identity and kept.get("status") in _OPEN:
            return ticket
    return ""


def state_without(record: TaskRecord, ticket: str) -> ExecutionState:
    """Return the state as it was before this ticket was charged, so that a replay is judged as the call it repeats."""
    kept = record.tickets.get(ticket)
    return _refunded(record.state, kept) if kept is not None else record.state


def admitted(record: TaskRecord, charge: Charge, ticket: str, key: str, identity: str, now: float) -> TaskRecord:
    """Return the record after a call was admitted: charged, and its ticket kept."""
    kept: dict[str, object] = {
        "key": key, "call": identity, "status": ADMITTED, "at": now, "counters": [list(c) for c in charge.counters],
        "grant": charge.grant,
    }  # fmt: skip
    tickets = {**dict(list(record.tickets.items())[-_TICKETS + 1 :]), ticket: kept}
    return replace(record, state=record.state.charged(charge), tickets=tickets, last_seen=max(record.last_seen, now))


def reported(record: TaskRecord, ticket: str, status: str) -> TaskRecord:
    """Return the record after the host told what became of an admitted call.

    Only ``not_run`` refunds: the body was never entered. A ticket that is closed already stays as it is.
    """
    kept = record.tickets.get(ticket)
    if kept is None or kept.get("status") not in _OPEN:
        return record
    tickets = {**record.tickets, ticket: {**kept, "status": status}}
    state = _refunded(record.state, kept) if status == NOT_RUN else record.state
    return replace(record, tickets=tickets, state=state)


def asked(record: TaskRecord, action: Action, decision: Decision, question: str, now: float) -> tuple[TaskRecord, str]:
    """Return the record with a question open, and the question's id: the same call's open question is asked once."""
    identity = call_digest(action)
    for known, kept in record.questions.items():
        if identity and kept.get("call") == identity and kept.get("asks") == list(decision.asks):
            return record, known
    kept = {
        "tool": action.tool,
        "call": identity,
        "capability": decision.capability,
        "risk": decision.risk.value,
        "sentence": decision.sentence,
        "asks": list(decision.asks),
        "deltas": [asdict(delta) for delta in deltas_of(action)],
        "at": now,
    }
    questions = {**dict(list(record.questions.items())[-LIMITS.open_questions + 1 :]), question: kept}
    return replace(record, questions=questions, last_seen=max(record.last_seen, now)), question


def question_of(task: str, question: str, kept: Mapping[str, object]) -> Question:
    """Return an open question as a value."""
    return Question(
        id=question,
        task=task,
        tool=str(kept["tool"]),
        capability=str(kept["capability"]),
        risk=str(kept["risk"]),
        sentence=str(kept["sentence"]),
        asks=tuple(str(key) for key in _listed(kept["asks"])),
        deltas=tuple(_delta(entry) for entry in _listed(kept["deltas"])),
        asked_at=_number(kept["at"]),
    )


def approved(
    record: TaskRecord,
    question: str,
    *,
    grant_id: str,
    scope: Scope,
    uses: int | None,
    until: float | None,
    by: str | None,
    now: float,
) -> tuple[TaskRecord, Grant | None]:
    """Return the record with the question answered, and the grant; ``None`` where nothing may be granted.

    Nothing is granted for a question nobody asked, for a call that no digest identifies, or when a task that has a
    starter is answered by somebody else.
    """
    kept = record.questions.get(question)
    if kept is None or not kept.get("call") or (record.starter is not None and by is not None and by != record.starter):
        return record, None
    view = question_of(record.task, question, kept)
    grant = Grant(
        id=grant_id,
        tool=view.tool,
        deltas=view.deltas,
        arguments_digest=str(kept["call"]),
        answers=frozenset(view.asks),
        scope=scope,
        max_calls=uses,
        expires_at=until,
        granted_at=now,
        granted_by=by,
    )
    questions = {known: entry for known, entry in record.questions.items() if known != question}
    state = replace(
        record.state, grants=(*record.state.grants, grant), denied=record.state.denied - {grant.arguments_digest}
    )
    return replace(record, questions=questions, state=state), grant


def refused(record: TaskRecord, question: str) -> TaskRecord:
    """Return the record after a person said no: the same call is not asked again until a new explicit request."""
    kept = record.questions.get(question)
    if kept is None:
        return record
    questions = {known: entry for known, entry in record.questions.items() if known != question}
    call = str(kept.get("call") or "")
    denied = record.state.denied | {call} if call else record.state.denied
    return replace(record, questions=questions, state=replace(record.state, denied=denied))


def revoked(record: TaskRecord, grant: str) -> TaskRecord:
    """Return the record without a grant."""
    kept = tuple(known for known in record.state.grants if known.id != grant)
    return replace(record, state=replace(record.state, grants=kept))


def _refunded(state: ExecutionState, ticket: Mapping[str, object]) -> ExecutionState:
    counters = dict(state.counters)
    for entry in _listed(ticket.get("counters", [])):
        name, units = str(entry[0]), int(entry[1])  # type: ignore[index]
        counters[name] = max(0, counters.get(name, 0) - units)
    uses = dict(state.grant_uses)
    grant = str(ticket.get("grant") or "")
    if grant:
        uses[grant] = max(0, uses.get(grant, 0) - 1)
    return replace(state, counters=counters, grant_uses=uses)


def _delta(entry: object) -> Delta:
    if not isinstance(entry, Mapping):
        raise TypeError(entry)
    plain = {name: value if isinstance(value, str) else tuple(_listed(value)) for name, value in entry.items()}
    plain["values"] = tuple((str(pair[0]), str(pair[1])) for pair in _listed(entry.get("values", ())))  # type: ignore[index]
    return Delta(**plain)  # type: ignore[arg-type]


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
