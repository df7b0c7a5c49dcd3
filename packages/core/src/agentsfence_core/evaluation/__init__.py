"""May this action run? Policy, state, action, host and time in; a decision out. Pure and total (paper, 3.4)."""

from agentsfence_core.evaluation.checks import CHECKS
from agentsfence_core.evaluation.evaluator import charge_of, evaluate, prepare
from agentsfence_core.evaluation.grants import call_digest, grant_for
from agentsfence_core.evaluation.options import DEFAULT_UNAUTHORIZED, EvaluationOptions
from agentsfence_core.evaluation.prepared import PreparedPolicy, policy_digest

__all__ = [
    "CHECKS",
    "DEFAULT_UNAUTHORIZED",
    "EvaluationOptions",
    "PreparedPolicy",
    "call_digest",
    "charge_of",
    "evaluate",
    "grant_for",
    "policy_digest",
    "prepare",
]
