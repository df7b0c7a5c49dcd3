"""How one call is checked: classify, look up its paths, evaluate, commit, all under one store transaction (DESIGN 3).

The façade (``fence.py``) turns whatever is raised here into BLOCK; nothing here swallows a fault.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from agentsfence_core import tasks
from agentsfence_core._world import home_folder
from agentsfence_core.classification.classifier import classify
from agentsfence_core.classification.resolve import resolve
from agentsfence_core.errors import StoreError
from agentsfence_core.evaluation import EvaluationOptions, PreparedPolicy, call_digest, charge_of, evaluate, prepare
from agentsfence_core.evaluation.context import contexts_of
from agentsfence_core.evaluation.evaluator import objections_of
from agentsfence_core.evaluation.grants import covering_grants
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
from agentsfence_core.ports import PolicyStore, TaskRecord

if TYPE_CHECKING:
    from agentsfence_core.classification.catalogue import Catalogue
    from agentsfence_core.plugins import Plugins
    from agentsfence_core.settings import Settings

READ_ONLY = TaskPolicy(purpose="no_policy", source=PolicySource.FALLBACK, max_external_writes=0)
"""Core's own policy for a task that nobody began."""

_PREPARED = 512  # prepared policies kept
_HARD = frozenset({ReasonCode.PROTECTS_FENCE, ReasonCode.PROHIBITED, ReasonCode.SECRET_READ, ReasonCode.RUNS_LATER})
"""What ``unsafe_shadow`` never lets through: guards and prohibitions (DESIGN 9)."""


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
    ) -> None:
        """Take the ports; ``look_up=None`` makes paths lexical, as in simulation."""
        self.catalogue = catalogue
        self._settings = settings
        self._store = store
        self._plugins = plugins
        self._clock = clock
        self._look_up = look_up
        self._kept: OrderedDict[tuple[int, str | None, str | None], tuple[TaskPolicy, PreparedPolicy]] = OrderedDict()

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
        ticket, question = token(), token()

        def change(record: TaskRecord | None) -> tuple[TaskRecord | None, object]:
            return self._commit(record, task, action, key, host, now, (ticket, question))

        answer = self._store.transact(task, change)
        if not isinstance(answer, Decision):
            raise StoreError("the store did not answer with a decision")
        return answer

    def _read_only(self, task: str, action: Action, host: HostFacts, now: float) -> Decision | None:
        """Return the decision on a read that changes nothing in the store; ``None`` where something must be kept."""
        record = self._store.read(task)
        if record is None and self._settings.missing_policy == "block":
            return no_policy(action)
        policy = record.policy if record else READ_ONLY
        state = record.state if record else ExecutionState()
        now = max(now, record.last_seen) if record else now
        prepared = self.prepared(policy, host)
        decision = self._judge(prepared, state, action, host, now)
        if decision.verdict is Verdict.BLOCK:
            return self._enforced(decision)
        if decision.verdict is Verdict.ASK_USER or decision.covered_by:
            return None
        return self._enforced(decision) if not charge_of(prepared, state, action).counters else None

    def _commit(self, record: TaskRecord | None, task: str, action: Action, key: str, host: HostFacts, now: float,
                ids: tuple[str, str]) -> tuple[TaskRecord | None, Decision]:  # fmt: skip
        """Decide on the record as it is now, and return the record with the charge or the question in it."""
        if record is None and self._settings.missing_policy == "block":
            return None, no_policy(action)
        known = record or TaskRecord(task, READ_ONLY, ExecutionState(), last_seen=now)
        now = max(now, known.last_seen)
        identity = call_digest(action)
        replayed = tasks.find_ticket(known, key, identity)
        state = tasks.state_without(known, replayed)
        prepared = self.prepared(known.policy, host)
        decision = self._judge(prepared, state, action, host, now)
        if replayed and decision.verdict is Verdict.ALLOW:
            return record, replace(self._enforced(decision), ticket=replayed, action_digest=identity)
        if decision.verdict is Verdict.ASK_USER and identity in known.state.denied:
            decision = denied_by_person(decision)
        decision = self._enforced(decision)
        if decision.enforced is Verdict.ALLOW:
            charge = charge_of(prepared, state, action, decision.covered_by)
            kept = tasks.admitted(known, charge, ids[0], key, identity, now)
            return kept, replace(decision, ticket=ids[0], action_digest=identity)
        if decision.verdict is Verdict.ASK_USER:
            kept, question = tasks.asked(known, action, decision, ids[1], now)
            return kept, replace(decision, question=question, action_digest=identity)
        return record, decision

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
