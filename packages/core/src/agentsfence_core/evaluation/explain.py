"""What each check said of a call, what its approval would cover, and what it would not (DESIGN 6, `explain`).

The same checks as `evaluate`, run to the end instead of to the first BLOCK. For people; nothing decides by it.
"""

from __future__ import annotations

from dataclasses import dataclass

from agentsfence_core.evaluation.checks import CHECKS
from agentsfence_core.evaluation.context import contexts_of
from agentsfence_core.evaluation.grants import deltas_of
from agentsfence_core.evaluation.prepared import PreparedPolicy
from agentsfence_core.model import Action, Delta, Effect, ExecutionState, HostFacts, Outcome, Verdict


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What one check says: an outcome per effect that it objects to, none where it is content."""

    number: int
    name: str
    speaks: bool
    """Whether the policy has anything for it to look at."""
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """A walk in full, and the grant that would allow the call."""

    reports: tuple[CheckReport, ...]
    covers: tuple[Delta, ...]
    """Exactly what an approval would cover; empty where no approval can help."""
    covered_too: str
    """One more call that the approval would cover."""
    not_covered: str
    """A near one that it would not."""


def explain(policy: PreparedPolicy, state: ExecutionState, action: Action, host: HostFacts, now: float) -> Explanation:
    """Return what every check says of an action. Pure and total, like `evaluate`."""
    contexts = contexts_of(policy, state, action, host, now)
    reports = []
    blocked = False
    for check in CHECKS:
        speaks = check in policy.plan
        outcomes = []
        for context in (contexts[:1] if check.whole else contexts) if speaks else ():
            outcome = check.run(context)
            if outcome is not None:
                outcomes.append(outcome)
                context.questioned = context.questioned or outcome.verdict is Verdict.ASK_USER
                blocked = blocked or outcome.verdict is Verdict.BLOCK
        reports.append(CheckReport(check.number, check.name, speaks, tuple(outcomes)))
    covers = () if blocked else deltas_of(action)
    return Explanation(tuple(reports), covers, *(("", "") if blocked else neighbours(action)))


def neighbours(action: Action) -> tuple[str, str]:
    """Return a call that an approval of this one covers too, and a near one that it does not."""
    worst = action.worst
    where = _where(worst)
    same = f"the same {action.tool} call{where}"
    if action.content:
        same += f" with another {' or '.join(sorted(action.content)[:2])}"
    if worst.recipients:
        return same, f"{action.tool} to anybody else, or to one more recipient"
    if worst.paths:
        return same, f"{action.tool} on any other path"
    if worst.domains:
        return same, f"{action.tool} to any other host"
    return same, f"{action.tool} with any other arguments"


def _where(effect: Effect) -> str:
    targets = (*effect.recipients, *effect.paths, *effect.domains)[:2]
    return f" ({', '.join(target[:80] for target in targets)})" if targets else ""
