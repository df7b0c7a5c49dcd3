"""Verdicts, the reasons for them, and the decision that an adapter receives."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentsfence_core.model.action import Effect
    from agentsfence_core.model.risk import Risk


class Verdict(StrEnum):
    """The three answers (paper, 3.4)."""

    ALLOW = "ALLOW"
    ASK_USER = "ASK_USER"
    BLOCK = "BLOCK"


STRICTNESS = {Verdict.ALLOW: 0, Verdict.ASK_USER: 1, Verdict.BLOCK: 2}
"""A BLOCK always wins over a question, a question over ALLOW."""


def strictest(first: Verdict, second: Verdict) -> Verdict:
    """Return the stricter of two verdicts."""
    return first if STRICTNESS[first] >= STRICTNESS[second] else second


class ReasonCode(StrEnum):
    """Why a verdict was given. Stable: written into audit lines, settings and tests."""

    AUTHORIZED = "authorized"
    READ_DEFAULT = "read_default"
    GRANTED = "granted"
    # Check 1, expiry
    POLICY_EXPIRED = "policy_expired"
    # Check 2, guards
    PROTECTS_FENCE = "protects_fence"
    SECRET_READ = "secret_read"  # noqa: S105
    RUNS_LATER = "runs_later"
    # Check 3, prohibitions
    PROHIBITED = "prohibited"
    MAY_BE_PROHIBITED = "may_be_prohibited"
    # Check 4, deny list
    DENIED = "denied"
    # Check 6, argument constraints
    RECIPIENT_NOT_LISTED = "recipient_not_listed"
    DOMAIN_NOT_LISTED = "domain_not_listed"
    PATH_NOT_LISTED = "path_not_listed"
    OBJECT_NOT_LISTED = "object_not_listed"
    VALUE_NOT_LISTED = "value_not_listed"
    AMOUNT_ABOVE_LIMIT = "amount_above_limit"
    TARGET_UNVERIFIED = "target_unverified"
    MAX_CALLS_USED = "max_calls_used"
    # Check 7, ceiling and listing
    CEILING_OFF = "ceiling_off"
    NOT_LISTED = "not_listed"
    UNKNOWN_TOOL = "unknown_tool"
    # Checks 8 to 13
    RECIPIENT_NOT_BOUND = "recipient_not_bound"
    DOMAIN_OUTSIDE = "domain_outside"
    EXFILTRATION_SHAPED_URL = "exfiltration_shaped_url"
    PATH_OUTSIDE = "path_outside"
    BUDGET_USED = "budget_used"
    APPROVAL_REQUIRED = "approval_required"
    # Outside the walk
    AUTO_APPROVAL_REFUSED = "auto_approval_refused"
    NO_HUMAN = "no_human"
    NO_POLICY = "no_policy"
    UNKNOWN_TASK = "unknown_task"
    DENIED_BY_PERSON = "denied_by_person"
    ALREADY_DONE = "already_done"
    PLUGIN_VERDICT = "plugin_verdict"
    PLUGIN_FAULT = "plugin_fault"
    STORE_FAULT = "store_fault"
    AUDIT_FAULT = "audit_fault"
    INTERNAL_FAULT = "internal_fault"
    SETTINGS_FAULT = "settings_fault"
    SHADOW = "shadow"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one check says of one effect, or of the whole action: BLOCK, ASK_USER, or ALLOW by a grant."""

    verdict: Verdict
    code: ReasonCode
    detail: str
    """What the check saw, for the person: ``mallory@example.net is not among john@example.com``."""
    effect: Effect | None = None
    """The effect that determined it; ``None`` for the whole task."""

    @property
    def key(self) -> str:
        """Identity of a question: its code and the capability it is about. A grant answers keys, not sentences."""
        return f"{self.code.value}:{self.effect.capability if self.effect else '*'}"


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to one check.

    ``verdict`` is what the policy says, ``enforced`` what the host must do; they differ only under ``unsafe_shadow``.
    """

    verdict: Verdict
    reason: ReasonCode
    rule: str
    """Name of the check that decided, as in ``CHECKS``; ``default`` where none objected."""
    sentence: str
    """For the person: what was decided and why, one sentence."""
    guidance: str
    """For the model: what was decided, and not to work around it."""
    risk: Risk
    capability: str
    effect: Effect | None = None
    """The effect that determined the verdict."""
    evidence: tuple[str, ...] = ()
    """Quotes of the person's words on which an ALLOW (or a ban) rests."""
    asks: tuple[str, ...] = ()
    """Keys of all questions of the walk: what an approval would answer."""
    covered_by: str = ""
    """Id of the grant that allowed it, else empty."""
    question: str = ""
    """Id to hand to ``approve`` or ``deny``; empty unless the verdict is ASK_USER."""
    ticket: str = ""
    """Id to hand to ``outcome``; empty unless the call was admitted."""
    policy_digest: str = ""
    action_digest: str = ""
    enforced: Verdict = Verdict.BLOCK

    @property
    def allowed(self) -> bool:
        """Whether the host may run the call."""
        return self.enforced is Verdict.ALLOW
