"""``check --explain``: what each check says of a call, and what would be decided. Nothing is charged, asked or kept.

Rules of this file:

* The decision and the walk come from core's own `evaluate` and `explain`; this file brings their arguments together.
* Paths are read as written, and what a task has used up so far is not known here: both are said to the reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from agentsfence_cli.screen import SCREEN
from agentsfence_cli.wire import JsonObject
from agentsfence_core.evaluation import EvaluationOptions, evaluate, prepare
from agentsfence_core.evaluation.explain import CheckReport, Explanation, explain
from agentsfence_core.fence import Fence
from agentsfence_core.model import Decision, ExecutionState, HostFacts, Verdict
from agentsfence_core.settings import Settings, load_settings

_NOTE: Final = "Links are not followed here, and what the task has used up is not counted."


@dataclass(frozen=True, slots=True)
class Walk:
    """The decision that a call would get, and what each check says."""

    decision: Decision
    explanation: Explanation


def walked(fence: Fence, task: str, tool: str, args: Mapping[str, object], host: HostFacts) -> Walk:
    """Return the walk of a call under the policy that a task has now."""
    policy = fence.policy(task)
    settings = load_settings()
    prepared = prepare(settings.narrowing.applied(policy), options_of(settings, host))
    action = fence.classify(tool, args, host=host)
    state, now = ExecutionState(), policy.created_at.timestamp() if policy.created_at else 0.0
    decision = evaluate(prepared, state, action, host, now)
    return Walk(replace(decision, enforced=decision.verdict), explain(prepared, state, action, host, now))


def options_of(settings: Settings, host: HostFacts) -> EvaluationOptions:
    """Return what the settings say about evaluating."""
    return EvaluationOptions(
        unauthorized=settings.default_verdicts,
        strict_auto_approve=settings.strict_auto_approve,
        unrequested_blocks=settings.preset == "strict",
        home=host.home,
        workdir=host.workdir or host.workspace,
        protected=settings.protected,
    )


def show_walk(walk: Walk) -> None:
    """Show each check with what it says, and what an approval would and would not cover."""
    SCREEN.heading("Check by check")
    SCREEN.rows((str(report.number), report.name, _said(report)) for report in walk.explanation.reports)
    if walk.explanation.covered_too and walk.decision.verdict is Verdict.ASK_USER:
        SCREEN.line(f"An approval would cover {walk.explanation.covered_too}.", indent=2)
        SCREEN.line(f"It would not cover {walk.explanation.not_covered}.", indent=2)
    SCREEN.line(_NOTE, indent=2)


def _said(report: CheckReport) -> str:
    if not report.speaks:
        return "has nothing to say"
    if not report.outcomes:
        return "no objection"
    return "; ".join(f"{outcome.verdict.value} {outcome.code.value}: {outcome.detail}" for outcome in report.outcomes)


def walk_object(walk: Walk) -> JsonObject:
    """Return the walk beside the fields of a decision."""
    return {
        "checks": [
            {
                "number": report.number,
                "name": report.name,
                "speaks": report.speaks,
                "outcomes": [
                    {"verdict": outcome.verdict.value, "reason": outcome.code.value, "message": outcome.detail}
                    for outcome in report.outcomes
                ],
            }
            for report in walk.explanation.reports
        ],
        "covered_too": walk.explanation.covered_too,
        "not_covered": walk.explanation.not_covered,
        "note": _NOTE,
    }
