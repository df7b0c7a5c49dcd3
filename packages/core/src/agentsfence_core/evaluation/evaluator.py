"""The evaluator: a total, deterministic function from policy, state, action, host and time to a decision (paper, 3.4).

How "first match" and "a BLOCK always wins" fit together: the checks are walked in order, each over all effects; the
first BLOCK ends the walk; a question is remembered and the walk goes on; a matching grant ends it with ALLOW. At the
end the first remembered question decides, else ALLOW, because then ceiling *and* listing have both said yes.
"""

from __future__ import annotations

from dataclasses import replace

from agentsfence_core.evaluation.check import Check
from agentsfence_core.evaluation.checks import CHECKS
from agentsfence_core.evaluation.context import Context, amount_counter, contexts_of, effect_amount
from agentsfence_core.evaluation.options import EvaluationOptions
from agentsfence_core.evaluation.prepared import PreparedPolicy, values_of
from agentsfence_core.model import (
    OUTBOUND,
    Action,
    Charge,
    Decision,
    ExecutionState,
    HostFacts,
    Outcome,
    PolicySource,
    ReasonCode,
    Risk,
    TaskPolicy,
    Verdict,
)
from agentsfence_core.model.state import OUTBOUND_COUNTER

_NO_WORKAROUND = "Do not try to reach the same effect another way; tell the person what you wanted to do."


def prepare(policy: TaskPolicy, options: EvaluationOptions | None = None) -> PreparedPolicy:
    """Return the policy in the form that `evaluate` reads, with only the checks that can speak under it."""
    prepared = values_of(policy, options or EvaluationOptions())
    return replace(prepared, plan=tuple(check for check in CHECKS if check.relevant(prepared)))


def evaluate(policy: PreparedPolicy, state: ExecutionState, action: Action, host: HostFacts, now: float) -> Decision:
    """Return the verdict on an action with the check that gave it and the words it rests on. Total and pure."""
    contexts = contexts_of(policy, state, action, host, now)
    questions: list[tuple[Check, Outcome]] = []
    for check in policy.plan:
        for context in contexts[:1] if check.whole else contexts:
            outcome = check.run(context)
            if outcome is None:
                continue
            if outcome.verdict is Verdict.BLOCK:
                return _refusal(outcome, check, action)
            if outcome.verdict is Verdict.ALLOW:
                return _granted(outcome, check, action)
            context.questioned = True
            questions.append((check, outcome))
    if questions:
        return _question(questions, policy, action, host)
    return _allowance(contexts, action)


def objections_of(context: Context) -> tuple[frozenset[str], frozenset[ReasonCode]]:
    """Return what the walk over an action objects, grants aside: keys of its questions, codes of its blocks."""
    policy, action = context.policy, context.action
    contexts = contexts_of(policy, context.state, action, context.host, context.now)
    asked: set[str] = set()
    blocked: set[ReasonCode] = set()
    for check in policy.plan:
        if check.whole:
            continue
        for each in contexts:
            outcome = check.run(each)
            if outcome is None:
                continue
            if outcome.verdict is Verdict.ASK_USER:
                each.questioned = True
                asked.add(outcome.key)
            elif outcome.verdict is Verdict.BLOCK:
                blocked.add(outcome.code)
    return frozenset(asked), frozenset(blocked)


def charge_of(policy: PreparedPolicy, state: ExecutionState, action: Action, grant: str = "") -> Charge:
    """Return what admitting an action adds to a task's counters: rows, constraints, amounts, outbound, the grant's use.

    ``state`` is the state that the action was evaluated under, so that the charged row is the row that fitted.
    """
    counters: dict[str, int] = {}
    outbound = len({effect.invocation for effect in action.effects if effect.risk in OUTBOUND})
    if outbound:
        counters[OUTBOUND_COUNTER] = outbound
    charged: set[tuple[str, int]] = set()
    if policy.rows or policy.constraints:
        for context in contexts_of(policy, state, action, HostFacts(), 0.0):
            effect = context.effect
            for bounds in (*((context.row,) if context.row else ()), *context.constraints()):
                if bounds.max_calls is not None and (bounds.key, effect.invocation) not in charged:
                    charged.add((bounds.key, effect.invocation))
                    counters[bounds.key] = counters.get(bounds.key, 0) + 1
                if bounds.max_amount is not None:
                    name = amount_counter(bounds)
                    counters[name] = counters.get(name, 0) + effect_amount(effect)[0]
    return Charge(tuple(counters.items()), grant)


def _refusal(outcome: Outcome, check: Check, action: Action) -> Decision:
    effect = outcome.effect or action.worst
    return Decision(
        verdict=Verdict.BLOCK,
        reason=outcome.code,
        rule=check.name,
        sentence=f"Blocked {effect.capability}: {outcome.detail}.",
        guidance=f"This call was blocked ({outcome.code.value}): {outcome.detail}. {_NO_WORKAROUND}",
        risk=action.risk,
        capability=action.capability,
        effect=effect,
        enforced=Verdict.BLOCK,
    )


def _granted(outcome: Outcome, check: Check, action: Action) -> Decision:
    return Decision(
        verdict=Verdict.ALLOW,
        reason=ReasonCode.GRANTED,
        rule=check.name,
        sentence=f"Allowed {action.capability}: you approved this call.",
        guidance="",
        risk=action.risk,
        capability=action.capability,
        effect=outcome.effect,
        covered_by=outcome.detail,
        enforced=Verdict.ALLOW,
    )


def _question(
    questions: list[tuple[Check, Outcome]], policy: PreparedPolicy, action: Action, host: HostFacts
) -> Decision:
    check, outcome = questions[0]
    effect = outcome.effect or action.worst
    asks = tuple(dict.fromkeys(o.key for _, o in questions))
    detail = "; ".join(dict.fromkeys(o.detail for _, o in questions))
    fallback = policy.policy.source is PolicySource.FALLBACK
    if host.auto_approves and (fallback or policy.options.strict_auto_approve):
        return Decision(
            verdict=Verdict.BLOCK,
            reason=ReasonCode.AUTO_APPROVAL_REFUSED,
            rule=check.name,
            sentence=f"Blocked {effect.capability}: {detail}; the host would have approved it by itself.",
            guidance=f"This call was blocked: {detail}. {_NO_WORKAROUND}",
            risk=action.risk,
            capability=action.capability,
            effect=effect,
            enforced=Verdict.BLOCK,
        )
    nobody = (
        ""
        if host.human_present
        else f" Nobody is here to answer: to authorize it, write it as a request ({effect.capability})."
    )
    return Decision(
        verdict=Verdict.ASK_USER,
        reason=outcome.code,
        rule=check.name,
        sentence=f"{effect.capability} needs your decision: {detail}.{nobody}",
        guidance=f"This call waits for the person ({outcome.code.value}): {detail}. {_NO_WORKAROUND}",
        risk=action.risk,
        capability=action.capability,
        effect=effect,
        asks=asks,
        enforced=Verdict.ASK_USER,
    )


def _allowance(contexts: tuple[Context, ...], action: Action) -> Decision:
    if action.risk is Risk.READ:
        return Decision(
            Verdict.ALLOW, ReasonCode.READ_DEFAULT, "default", "", "", Risk.READ, action.capability, action.worst,
            enforced=Verdict.ALLOW,
        )  # fmt: skip
    evidence = tuple(dict.fromkeys(c.row.evidence for c in contexts if c.row is not None and c.row.evidence))
    rests = f": you asked “{evidence[0]}”" if evidence else ""
    return Decision(
        verdict=Verdict.ALLOW,
        reason=ReasonCode.AUTHORIZED,
        rule="default",
        sentence=f"Allowed {action.capability}{rests}.",
        guidance="",
        risk=action.risk,
        capability=action.capability,
        effect=action.worst,
        evidence=evidence,
        enforced=Verdict.ALLOW,
    )
