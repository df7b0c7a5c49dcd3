"""How one call is checked: classify, look up its paths, evaluate, commit, all under one store transaction (DESIGN 3).

The façade (``fence.py``) turns whatever is raised here into BLOCK; nothing here swallows a fault.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agentsfence_core import tasks
from agentsfence_core._levels import GrantIndex, Judged, Level, bill_for, counts, done_before, strictest_of, uses_of
from agentsfence_core._world import home_folder
from agentsfence_core.classification.classifier import classify
from agentsfence_core.classification.resolve import resolve
from agentsfence_core.errors import StoreError
from agentsfence_core.evaluation import EvaluationOptions, PreparedPolicy, call_digest, evaluate, prepare
from agentsfence_core.evaluation.context import contexts_of
from agentsfence_core.evaluation.evaluator import objections_of
from agentsfence_core.evaluation.grants import covering_grants
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import (
    Action,
    Decision,
    ExecutionState,
    HostFacts,
    Locality,
    PathFacts,
    PolicySource,
    ReasonCode,
    Risk,
    TargetKind,
    TaskPolicy,
    ToolCall,
    Verdict,
)
from agentsfence_core.ports import AuditHead, PolicyStore, TaskRecord

if TYPE_CHECKING:
    from agentsfence_core.classification.catalogue import Catalogue
    from agentsfence_core.plugins import Plugins
    from agentsfence_core.settings import Settings

READ_ONLY = TaskPolicy(purpose=tasks.UNBEGUN, source=PolicySource.FALLBACK, max_external_writes=0)
"""Core's own policy for a task that nobody began."""

_PREPARED = 512  # prepared policies kept
_HARD = frozenset({ReasonCode.PROTECTS_FENCE, ReasonCode.PROHIBITED, ReasonCode.SECRET_READ, ReasonCode.RUNS_LATER})
"""What ``unsafe_shadow`` never lets through: guards and prohibitions (DESIGN 9)."""


@dataclass(frozen=True, slots=True)
class _Call:
    """One call under decision: what it is, and the ids it gets if it is admitted or asked about."""

    task: str
    action: Action
    identity: str
    """Digest of everything but message text; empty where the call has none."""
    key: str
    host: HostFacts
    now: float
    ticket: str
    question: str


class Checker:
    """Decides on calls over one store. Faults are raised as they are."""

    def __init__(
        self,
        settings: Settings,
        store: PolicyStore,
        catalogue: Catalogue,
        plugins: Plugins | None,
        clock: Callable[[], float],
        look_up: Callable[[tuple[str, ...]], PathFacts] | None,
        head: Callable[[], AuditHead | None] = lambda: None,
    ) -> None:
        """Take the ports; ``look_up=None`` makes paths lexical, as in simulation."""
        self.catalogue = catalogue
        self._settings = settings
        self._store = store
        self._plugins = plugins
        self._clock = clock
        self._look_up = look_up
        self._head = head
        self._kept: OrderedDict[tuple[int, str | None, str | None], tuple[TaskPolicy, PreparedPolicy]] = OrderedDict()
        self._index = GrantIndex()

    def check(self, task: object, tool: object, args: object, key: str, host: HostFacts) -> Decision:
        """Return the decision on one call, committed. Arguments are what a host hands over, whatever their types."""
        if not isinstance(task, str) or not task:
            return fault(ReasonCode.UNKNOWN_TASK, "the call belongs to no task", rule="task")
        action = self._action(tool, args, host)
        now = self._clock()
        if action.risk is Risk.READ and not key:
            decision = self._read_only(task, action, host, now)
            if decision is not None:
                return decision
        # Digests are made before the store is held: 100 kB of arguments must not make others wait.
        call = _Call(task, action, call_digest(action), key, host, now, token(), token())

        def change(record: TaskRecord | None) -> tuple[TaskRecord | None, object]:
            return self._commit(record, call)

        answer = self._store.transact(task, change)
        if not isinstance(answer, Decision):
            raise StoreError("the store did not answer with a decision")
        return answer

    def _read_only(self, task: str, action: Action, host: HostFacts, now: float) -> Decision | None:
        """Return the decision on a read that changes nothing in the store; ``None`` where something must be kept."""
        record = self._store.read(task)
        if record is None and self._settings.missing_policy == "block":
            return no_policy(action)
        known = record or TaskRecord(task, READ_ONLY, ExecutionState(), last_seen=now)
        ancestors = self._ancestors(known) if known.parent is not None else ()
        if ancestors is None:
            return no_parent(action)
        identity = call_digest(action) if known.state.grants or ancestors else ""
        levels = self._levels(known, ancestors, identity, _NO_BILL, host)
        now = max(now, known.last_seen, *(ancestor.last_seen for ancestor in ancestors))
        decision = self._judged(levels, action, host, now).decision
        if decision.verdict is Verdict.BLOCK:
            return self._enforced(decision)
        if decision.verdict is Verdict.ASK_USER or decision.covered_by:
            return None
        return None if any(counts(level, action) for level in levels) else self._enforced(decision)

    def _commit(self, record: TaskRecord | None, call: _Call) -> tuple[TaskRecord | None, Decision]:
        """Decide on the record as it is now, and return the record with the charge or the question in it."""
        if record is None:
            if self._settings.missing_policy == "block":
                return None, no_policy(call.action)
            keep = call.now + LIMITS.unbegun_kept_seconds
            known = TaskRecord(call.task, READ_ONLY, ExecutionState(), last_seen=call.now, keep_until=keep)
        else:
            known = record
        if known.parent is None:
            after, decision, _ = self._decide(known, (), call)
            return (record if after is known else after), decision
        ancestors = self._ancestors(known)
        if ancestors is None:
            return record, no_parent(call.action)
        return self._commit_below(known, ancestors, call)

    def _commit_below(
        self, known: TaskRecord, ancestors: tuple[TaskRecord, ...], call: _Call
    ) -> tuple[TaskRecord | None, Decision]:
        """Decide on a subtask's call with the root locked, and charge all who pay in the same transaction."""

        def with_root(root: TaskRecord | None) -> tuple[TaskRecord | None, object]:
            if root is None:
                return None, (known, no_parent(call.action))
            after, decision, bill = self._decide(known, (*ancestors[:-1], root), call)
            for payer, (counters, grants) in bill.shares().items():
                if payer == root.task:
                    root = replace(root, state=tasks.charged(root.state, counters, grants))
                elif payer:
                    self._store.transact(payer, charging(counters, grants))
            return root, (after, decision)

        answer = self._store.transact(ancestors[-1].task, with_root)
        if not (isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], Decision)):
            raise StoreError("the store did not answer with a decision")
        return answer

    def depth(self, record: TaskRecord) -> int | None:
        """Return how many tasks a subtask of this one would have above it; ``None`` where its own chain has a gap."""
        ancestors = self._ancestors(record)
        return len(ancestors) + 1 if ancestors is not None else None

    def _ancestors(self, record: TaskRecord) -> tuple[TaskRecord, ...] | None:
        """Return the ancestors of a subtask, nearest first; ``None`` where one has ended or there are too many."""
        found: list[TaskRecord] = []
        while record.parent is not None:
            above = self._store.read(record.parent)
            if above is None or len(found) >= LIMITS.subtask_depth:
                return None
            found.append(above)
            record = above
        return tuple(found)

    def _decide(
        self, known: TaskRecord, ancestors: tuple[TaskRecord, ...], call: _Call
    ) -> tuple[TaskRecord, Decision, tasks.Bill]:
        """Return the record after this call, the decision, and what is to be charged."""
        action, identity = call.action, call.identity
        now = max(call.now, known.last_seen, *(ancestor.last_seen for ancestor in ancestors))
        ticket, status = tasks.find_ticket(known, call.key, identity) if call.key else ("", "")
        replayed = ticket if tasks.is_open(status) else ""
        again = tasks.bill_of(known, replayed) if replayed else _NO_BILL
        levels = self._levels(known, ancestors, identity, again, call.host)
        judged = self._judged(levels, action, call.host, now)
        if replayed and judged.decision.verdict is Verdict.ALLOW:
            return known, replace(self._enforced(judged.decision), ticket=replayed, action_digest=identity), _NO_BILL
        if status == tasks.DONE and action.risk is not Risk.READ:
            judged = done_before(judged, known.state, action, now)
        decision = judged.decision
        if decision.verdict is Verdict.ASK_USER and any(
            identity in record.state.denied for record in (known, *ancestors)
        ):
            decision = denied_by_person(decision)
        decision = self._enforced(decision)
        if decision.enforced is Verdict.ALLOW:
            bill = bill_for(levels, judged, known, ancestors, action)
            ticket = tasks.ticket_id(known, call.key, identity, call.ticket)
            after = tasks.admitted(known, bill, ticket, identity, now, self._head())
            return after, replace(decision, ticket=ticket, action_digest=identity), bill
        if decision.verdict is Verdict.ASK_USER:
            after, question = tasks.asked(known, action, identity, decision, call.question, now)
            after = after if after is known else replace(after, head=self._head() or known.head)
            decision = replace(decision, question=question, action_digest=identity)
            return after, decision, _NO_BILL
        return known, decision, _NO_BILL

    def _levels(
        self, known: TaskRecord, ancestors: tuple[TaskRecord, ...], identity: str, without: tasks.Bill, host: HostFacts
    ) -> tuple[Level, ...]:
        """Return every policy that a call must satisfy, the task's own first; ``without`` is a replayed call's charge.

        Counters are the root's. A task's own grants answer for it at every level, an ancestor's only at its own.
        """
        payer = ancestors[-1] if ancestors else known
        counters = payer.state.counters
        if without.counters:
            counters = tasks.charged(payer.state, without.counters, (), -1).counters
        again = frozenset(grant for _, grant in without.uses)
        levels = []
        for record in (known, *ancestors):
            if record.inherits:
                continue
            grants = self._index.about(known.state.grants, identity)
            if record is not known:
                grants += self._index.about(record.state.grants, identity)
            uses = uses_of((*grants, *record.policy.grants), known.state, record.state, again)
            state = ExecutionState(counters, uses, grants, known.state.denied)
            levels.append(Level("" if record is known else record.task, self.prepared(record.policy, host), state))
        return tuple(levels)

    def _judged(self, levels: tuple[Level, ...], action: Action, host: HostFacts, now: float) -> Judged:
        """Return the strictest decision over all levels, and the grants that it rests on."""
        if not levels:
            return Judged(no_parent(action))
        return strictest_of(levels, [self._judge(level.prepared, level.state, action, host, now) for level in levels])

    def _judge(
        self, prepared: PreparedPolicy, state: ExecutionState, action: Action, host: HostFacts, now: float
    ) -> Decision:
        """Return the evaluator's decision, tightened by third-party ones where there are any: the strictest wins."""
        decision = evaluate(prepared, state, action, host, now)
        if self._plugins is None or not self._plugins.has_deciders or decision.verdict is Verdict.BLOCK:
            return decision
        others = self._plugins.evaluate(prepared.policy, state, action, now)
        for second in others:
            if second.verdict is Verdict.BLOCK:
                return replace(second, enforced=Verdict.BLOCK, risk=action.risk, capability=action.capability)
        asking = [second for second in others if second.verdict is Verdict.ASK_USER]
        return _asked_too(decision, asking, prepared, state, action, host, now) if asking else decision

    def _enforced(self, decision: Decision) -> Decision:
        """Return the decision with what the host must do: its verdict, or ALLOW under ``unsafe_shadow``."""
        if self._settings.unsafe_shadow and decision.verdict is not Verdict.ALLOW and decision.reason not in _HARD:
            return replace(decision, enforced=Verdict.ALLOW)
        return decision if decision.enforced is decision.verdict else replace(decision, enforced=decision.verdict)

    def _action(self, tool: object, args: object, host: HostFacts) -> Action:
        call = self.call(tool, args, host)
        action = classify(call, self.catalogue)
        if self._plugins is not None and self._plugins.has_deciders:
            action = self._plugins.classify(call, action)
        if self._look_up is None:
            return action
        if host.locality is not Locality.LOCAL:
            return _unverified_paths(action)
        paths = tuple(dict.fromkeys(path for effect in action.effects for path in effect.paths))
        return resolve(action, self._look_up(paths)) if paths else action

    def call(self, tool: object, args: object, host: HostFacts) -> ToolCall:
        """Return the call as a value; what is no name or no mapping is still a call."""
        name = tool if isinstance(tool, str) else str(type(tool).__name__)
        values = args if isinstance(args, Mapping) else {"": args}
        return ToolCall(name, values, workdir=host.workdir or host.workspace, home=host.home or home_folder())

    def prepared(self, policy: TaskPolicy, host: HostFacts) -> PreparedPolicy:
        """Return the prepared form of a policy; kept by identity, since a policy is a value."""
        key = (id(policy), host.home, host.workdir or host.workspace)
        known = self._kept.get(key)
        if known is not None and known[0] is policy:
            return known[1]
        prepared = prepare(self._settings.narrowing.applied(policy), self.options(host))
        self._kept[key] = (policy, prepared)
        while len(self._kept) > _PREPARED:
            self._kept.popitem(last=False)
        return prepared

    def options(self, host: HostFacts) -> EvaluationOptions:
        settings = self._settings
        return EvaluationOptions(
            unauthorized=settings.default_verdicts,
            strict_auto_approve=settings.strict_auto_approve,
            unrequested_blocks=settings.preset == "strict",
            home=host.home or home_folder(),
            workdir=host.workdir or host.workspace,
            protected=settings.protected,
        )


def _asked_too(
    decision: Decision,
    asking: list[Decision],
    prepared: PreparedPolicy,
    state: ExecutionState,
    action: Action,
    host: HostFacts,
    now: float,
) -> Decision:
    """Return the question of plugins and evaluator together, or ALLOW where one grant answers all of it."""
    own, _ = objections_of(contexts_of(prepared, state, action, host, now)[0])
    keys = own.union(*(second.asks for second in asking))
    known = (*prepared.grants, *state.grants)
    grant = next((g for g in covering_grants(known, state, action, now) if keys <= g.answers), None)
    if grant is not None:
        return replace(decision, verdict=Verdict.ALLOW, reason=ReasonCode.GRANTED, covered_by=grant.id, asks=())
    first = decision if decision.verdict is Verdict.ASK_USER else asking[0]
    return replace(
        first,
        verdict=Verdict.ASK_USER,
        asks=tuple(sorted(keys)),
        covered_by="",
        risk=action.risk,
        capability=action.capability,
    )


_NO_BILL = tasks.Bill()


def charging(
    counters: tuple[tuple[str, int], ...], grants: tuple[str, ...], sign: int = 1
) -> Callable[[TaskRecord | None], tuple[TaskRecord | None, object]]:
    """Return a change that charges a record, or refunds it with ``sign=-1``."""

    def change(record: TaskRecord | None) -> tuple[TaskRecord | None, object]:
        if record is None:
            return None, None
        return replace(record, state=tasks.charged(record.state, counters, grants, sign)), None

    return change


def fault(reason: ReasonCode, detail: str, rule: str = "fault") -> Decision:
    """Return the BLOCK of a call that could not be decided on."""
    return Decision(
        verdict=Verdict.BLOCK,
        reason=reason,
        rule=rule,
        sentence=f"Blocked: {detail}.",
        guidance=f"This call was blocked: {detail}. Do not work around it; tell the person.",
        risk=Risk.UNKNOWN,
        capability="tool.unknown",
        enforced=Verdict.BLOCK,
    )


def no_policy(action: Action) -> Decision:
    decision = fault(ReasonCode.NO_POLICY, "this task has no policy", rule="task")
    return replace(decision, risk=action.risk, capability=action.capability)


def no_parent(action: Action) -> Decision:
    """Return the BLOCK of a subtask whose chain of parents is not whole."""
    decision = fault(ReasonCode.UNKNOWN_TASK, "the task that this subtask belongs to has ended", rule="task")
    return replace(decision, risk=action.risk, capability=action.capability)


def denied_by_person(decision: Decision) -> Decision:
    """Return the BLOCK of a question that the person has answered with no."""
    return replace(
        decision,
        verdict=Verdict.BLOCK,
        reason=ReasonCode.DENIED_BY_PERSON,
        sentence=f"Blocked {decision.capability}: you said no to this call.",
        guidance="The person said no to this call. Do not try it again.",
        asks=(),
        enforced=Verdict.BLOCK,
    )


def _unverified_paths(action: Action) -> Action:
    """Return the action with every path unverified: they live where this machine cannot look."""
    effects = tuple(
        replace(effect, unverified=effect.unverified | {TargetKind.PATHS}) if effect.paths else effect
        for effect in action.effects
    )
    return replace(action, effects=effects)


def token() -> str:
    """Return a fresh id that nobody can guess."""
    return secrets.token_hex(8)
