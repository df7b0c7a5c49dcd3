"""Questions, tickets and what a check commits: pure functions from one task record to the next (DESIGN 8).

Rules of this file:

* No I/O and no clock: ids and times come in. A store may call these functions more than once for one check.
* What is kept of a call is its digest and its targets, never its arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace

from agentsfence_core.canonical import digest
from agentsfence_core.evaluation.explain import neighbours
from agentsfence_core.evaluation.grants import deltas_digest, deltas_of
from agentsfence_core.layered import layered
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Action, Decision, Delta, ExecutionState, Grant, PolicySource, Scope, TaskPolicy
from agentsfence_core.model.policy import POLICY_LIFETIME_HOURS
from agentsfence_core.ports import AuditHead, TaskRecord

ADMITTED, SUSPENDED, DONE, FAILED, NOT_RUN = "admitted", "suspended", "done", "failed", "not_run"
OUTCOMES = frozenset({DONE, FAILED, SUSPENDED, NOT_RUN})
_OPEN = frozenset({ADMITTED, SUSPENDED})
COMMAND_VALUE = "command"
"""Name of the value that holds the words of a command that is run."""
UNBEGUN = "no_policy"
"""Purpose of the read-only policy of a task that nobody began."""
NO_WORDS = TaskPolicy(purpose="subtask", source=PolicySource.FALLBACK, max_external_writes=0)
"""Stands where a subtask has no policy of its own; nothing is ever judged by it."""
_SHOWN = 400  # characters of a sentence kept with a question


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
    covered_too: str = ""
    """One more call that an approval would cover."""
    not_covered: str = ""
    """A near one that it would not."""


Share = tuple[tuple[tuple[str, int], ...], tuple[str, ...]]
"""Units per counter, and ids of the grants that are used once each."""


@dataclass(frozen=True, slots=True)
class Bill:
    """What admitting a call adds to which records."""

    counters: tuple[tuple[str, int], ...] = ()
    payer: str = ""
    """The task whose counters are charged: the root of a subtask; empty for the task itself."""
    uses: tuple[tuple[str, str], ...] = ()
    """Task and id of each grant that is used; an empty task for the task itself."""

    def shares(self) -> dict[str, Share]:
        """Return what each task is charged with: counters and grants. Empty for the task itself."""
        shares: dict[str, Share] = {self.payer: (self.counters, ())} if self.counters else {}
        for lender, grant in self.uses:
            counters, grants = shares.get(lender, ((), ()))
            shares[lender] = (counters, (*grants, grant))
        return shares


def find_ticket(record: TaskRecord, key: str, identity: str) -> tuple[str, str]:
    """Return id and status of the newest ticket of this very call under this key; empty texts where there is none."""
    if not key or not identity:
        return "", ""
    found = "", ""
    for name in _attempts(record.task, key, identity):
        kept = record.tickets.get(name)
        if kept is None:
            return found
        found = name, str(kept.get("status"))
    return found


def ticket_id(record: TaskRecord, key: str, identity: str, fresh: str) -> str:
    """Return the id for a new ticket: findable by the host's key where there is one, else ``fresh``."""
    if not key or not identity:
        return fresh
    return next((name for name in _attempts(record.task, key, identity) if name not in record.tickets), fresh)


def _attempts(task: str, key: str, identity: str) -> Iterable[str]:
    """Return the ids that the attempts at one keyed call get, the first one first."""
    base = digest(task, key, identity)[:24]
    return (f"{base}.{attempt}" for attempt in range(1, LIMITS.tickets)) if base else ()


def is_open(status: str) -> bool:
    """Whether a ticket of this status may still be played back as the same call."""
    return status in _OPEN


def admitted(
    record: TaskRecord, bill: Bill, ticket: str, identity: str, now: float, head: AuditHead | None
) -> TaskRecord:
    """Return the record after a call was admitted: its ticket kept, and charged with its own share of the bill."""
    shares = (("counters", bill.counters), ("payer", bill.payer), ("uses", bill.uses))
    kept: dict[str, object] = {"call": identity, "status": ADMITTED, "at": now}
    kept.update((name, value) for name, value in shares if value)
    tickets = layered(record.tickets).having(ticket, kept)
    if len(tickets) > LIMITS.tickets:
        oldest = iter(tickets)
        tickets = tickets.lacking([next(oldest) for _ in range(LIMITS.tickets // 4)])
    counters, grants = bill.shares().get("", ((), ()))
    state = charged(record.state, counters, grants)
    return TaskRecord(
        record.task, record.policy, state, record.starter, record.parent, record.instruction_digest,
        max(record.last_seen, now), record.questions, tickets, record.keep_until, head or record.head, record.inherits,
    )  # fmt: skip


def charged(
    state: ExecutionState, counters: Iterable[tuple[str, int]], grants: Iterable[str], sign: int = 1
) -> ExecutionState:
    """Return the state with units added to counters and one use to each grant; ``sign=-1`` takes them away again."""
    used: Mapping[str, int] = state.counters
    if counters:
        changed = dict(used)
        for name, number in counters:
            changed[name] = max(0, changed.get(name, 0) + sign * number)
        used = changed
    uses: Mapping[str, int] = state.grant_uses
    for grant in grants:
        if sign > 0 or grant in uses:
            uses = layered(uses).having(grant, max(0, uses.get(grant, 0) + sign))
    return ExecutionState(used, uses, state.grants, state.denied)


def bill_of(record: TaskRecord, ticket: str) -> Bill:
    """Return what a ticket was charged with."""
    kept = record.tickets.get(ticket, {})
    counters = tuple((str(entry[0]), int(entry[1])) for entry in _listed(kept.get("counters", ())))  # type: ignore[index]
    uses = tuple((str(entry[0]), str(entry[1])) for entry in _listed(kept.get("uses", ())))  # type: ignore[index]
    return Bill(counters, str(kept.get("payer") or ""), uses)


def reported(record: TaskRecord, ticket: str, status: str) -> tuple[TaskRecord, Bill]:
    """Return the record after the host told what became of an admitted call, and what is to be refunded.

    Only ``not_run`` refunds: the body was never entered. A ticket that is closed already stays as it is. Shares that
    others paid are refunded in their records by the caller.
    """
    kept = record.tickets.get(ticket)
    if kept is None or kept.get("status") not in _OPEN:
        return record, Bill()
    record = replace(record, tickets=layered(record.tickets).having(ticket, {**kept, "status": status}))
    if status != NOT_RUN:
        return record, Bill()
    bill = bill_of(record, ticket)
    counters, grants = bill.shares().get("", ((), ()))
    return replace(record, state=charged(record.state, counters, grants, -1)), bill


def asked(
    record: TaskRecord, action: Action, identity: str, decision: Decision, question: str, now: float
) -> tuple[TaskRecord, str]:
    """Return the record with a question open, and the question's id: the same call's open question is asked once."""
    asks = list(decision.asks)
    for known, kept in record.questions.items():
        if identity and kept.get("call") == identity and kept.get("asks") == asks:
            return record, known
    covered_too, not_covered = neighbours(action)
    deltas = deltas_of(action)
    shown = tuple(_shown(delta) for delta in deltas)
    entry: dict[str, object] = {
        "tool": action.tool,
        "call": identity,
        "capability": decision.capability,
        "risk": decision.risk.value,
        "sentence": decision.sentence,
        "asks": asks,
        "deltas": [_plain_delta(delta) for delta in shown],
        "at": now,
        "covered_too": covered_too[:_SHOWN],
        "not_covered": not_covered[:_SHOWN],
    }
    if shown != deltas:
        entry["deltas_digest"] = deltas_digest(deltas)
    questions = layered(record.questions)
    if len(questions) >= LIMITS.open_questions:
        questions = questions.lacking([next(iter(questions))])
    questions = questions.having(question, entry)
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
        covered_too=str(kept.get("covered_too", "")),
        not_covered=str(kept.get("not_covered", "")),
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

    Nothing is granted for a question nobody asked, for a call that no digest identifies, when a task that has a starter
    is answered by somebody else, or when as many grants are in force as a task may have.
    """
    kept = record.questions.get(question)
    if kept is None or not kept.get("call") or (record.starter is not None and by is not None and by != record.starter):
        return record, None
    grants = _without_spent(record.state, now)
    if len(grants) >= LIMITS.grants:
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
        deltas_digest=str(kept.get("deltas_digest", "")),
        granted_at=now,
        granted_by=by,
    )
    state = replace(
        record.state,
        grants=(*grants, grant),
        grant_uses=_uses_of(record.state, grants),
        denied=record.state.denied - {grant.arguments_digest},
    )
    return replace(record, questions=layered(record.questions).lacking([question]), state=state), grant


def _without_spent(state: ExecutionState, now: float) -> tuple[Grant, ...]:
    """Return the grants in force, and the newest of those that are used up or have ended."""
    uses = state.grant_uses
    spent = [
        grant.id
        for grant in state.grants
        if (grant.max_calls is not None and uses.get(grant.id, 0) >= grant.max_calls)
        or (grant.expires_at is not None and grant.expires_at <= now)
    ]
    if len(spent) <= LIMITS.spent_grants:
        return state.grants
    gone = frozenset(spent[: -LIMITS.spent_grants // 2])
    return tuple(grant for grant in state.grants if grant.id not in gone)


def _uses_of(state: ExecutionState, grants: tuple[Grant, ...]) -> Mapping[str, int]:
    """Return the uses without those of grants that are gone; a grant in the policy itself keeps its own."""
    if grants is state.grants:
        return state.grant_uses
    kept = {grant.id for grant in grants}
    gone = [grant.id for grant in state.grants if grant.id not in kept]
    return layered(state.grant_uses).lacking(gone)


def refused(record: TaskRecord, question: str) -> TaskRecord:
    """Return the record after a person said no: the same call is not asked again until a new explicit request."""
    kept = record.questions.get(question)
    if kept is None:
        return record
    call, denied = str(kept.get("call") or ""), record.state.denied
    if call and len(denied) < LIMITS.denials:
        denied |= {call}
    questions = layered(record.questions).lacking([question])
    return replace(record, questions=questions, state=replace(record.state, denied=denied))


def revoked(record: TaskRecord, grant: str) -> TaskRecord:
    """Return the record without a grant."""
    kept = tuple(known for known in record.state.grants if known.id != grant)
    uses = layered(record.state.grant_uses).lacking([grant])
    return replace(record, state=replace(record.state, grants=kept, grant_uses=uses))


def _shown(delta: Delta) -> Delta:
    """Return a delta as it may be kept: of a command its program, of an address no account; both can hold a secret."""
    values = tuple((name, _program(value) if name == COMMAND_VALUE else value) for name, value in delta.values)
    return replace(
        delta,
        values=values,
        recipients=tuple(_without_account(party) for party in delta.recipients),
        objects=tuple(_without_account(name) for name in delta.objects),
    )


def _program(command: str) -> str:
    program, _, rest = command.partition(" ")
    return f"{program} …" if rest else program


def _without_account(text: str) -> str:
    scheme, mark, rest = text.partition("://")
    return f"{scheme}{mark}…@{rest.rpartition('@')[2]}" if mark and "@" in rest else text


def _plain_delta(delta: Delta) -> dict[str, object]:
    """Return a delta with the fields that say something."""
    return {name: value for name, value in asdict(delta).items() if value != ()}


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


def begins_anew(record: TaskRecord, now: float) -> bool:
    """Whether a message begins this task: it has ended, or it exists only because a call came before any message."""
    if record.parent is not None:
        return False  # INVARIANT: no message cuts a subtask loose from its parent
    expires = record.policy.expires_at
    unbegun = record.policy.source is PolicySource.FALLBACK and record.policy.purpose == UNBEGUN
    return unbegun or (expires is not None and max(now, record.last_seen) >= expires.timestamp())


def with_bans(policy: TaskPolicy, before: TaskRecord | None) -> TaskPolicy:
    """Return a fresh policy that keeps the bans of the ended one, after its own."""
    if before is None or not before.policy.user_prohibitions:
        return policy
    bans = tuple(dict.fromkeys((*policy.user_prohibitions, *before.policy.user_prohibitions)))
    return replace(policy, user_prohibitions=bans)


def begun(
    task: str, policy: TaskPolicy, starter: str | None, words: str, now: float, before: TaskRecord | None
) -> TaskRecord:
    """Return the record of a task that begins, or begins again; ``words`` is the digest of the instruction."""
    seen = max(now, before.last_seen) if before is not None else now
    return TaskRecord(
        task, policy, ExecutionState(), starter, None, words, seen,
        keep_until=kept_until(policy), head=before.head if before is not None else None,
    )  # fmt: skip


def kept_until(policy: TaskPolicy) -> float | None:
    """Return when a task may be forgotten: its bans wait long after its end; a policy without end is kept for good."""
    if policy.expires_at is not None:
        return policy.expires_at.timestamp() + LIMITS.bans_kept_seconds
    lifetime = POLICY_LIFETIME_HOURS * 3_600 + LIMITS.bans_kept_seconds
    return policy.created_at.timestamp() + lifetime if policy.created_at is not None else None


def child_of(parent: TaskRecord, task: str, now: float) -> TaskRecord:
    """Return the record of a subtask: it has no policy of its own, and is kept as long as its parent."""
    return TaskRecord(
        task, NO_WORDS, ExecutionState(), parent.starter, parent.task, "", max(now, parent.last_seen),
        keep_until=parent.keep_until, inherits=True,
    )  # fmt: skip
