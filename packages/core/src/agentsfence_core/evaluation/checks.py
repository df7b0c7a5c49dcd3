"""The thirteen checks, in the order of the paper (3.4) and of table 6 of the design.

Rules of this file:

* ``CHECKS`` is the order. Documentation and tests read it; nothing else decides it.
* A check is total and looks only at its context. It answers ``None`` (nothing to object), an `Outcome` with BLOCK
  (the walk ends) or with ASK_USER (remembered, the walk goes on, so that a later BLOCK still wins).
* Only the check on grants may answer ALLOW, and only after expiry, guards, prohibitions and the deny list have not
  blocked. INVARIANT: prohibitions precede grants.
* A check that cannot speak under a policy (no deny list, no domains …) is left out of that policy's walk (`relevant`).
"""

from __future__ import annotations

from agentsfence_core.evaluation.check import Check
from agentsfence_core.evaluation.context import Context, breach_of, carries_party, parties_of
from agentsfence_core.evaluation.exfiltration import exfiltration_shape
from agentsfence_core.evaluation.grants import matching_grant
from agentsfence_core.evaluation.guards import guard
from agentsfence_core.evaluation.prepared import PreparedPolicy
from agentsfence_core.model import Effect, Outcome, ReasonCode, Risk, TargetKind, Verdict
from agentsfence_core.model.state import OUTBOUND_COUNTER

_CONFINED_PATHS = frozenset({Risk.LOCAL_WRITE, Risk.DELETE, Risk.EXECUTION})
_OUTBOUND = frozenset({Risk.EXTERNAL_WRITE, Risk.COMMUNICATION})


def expiry(context: Context) -> Outcome | None:
    """1. A policy past ``expires_at`` blocks until the person's next message (how it works, "When things go wrong")."""
    expires_at = context.policy.expires_at
    if expires_at is not None and context.now >= expires_at:
        return Outcome(Verdict.BLOCK, ReasonCode.POLICY_EXPIRED, "the task's policy has expired")
    return None


def guards(context: Context) -> Outcome | None:
    """2. The fence's own files and switches: BLOCK; secrets and files that run later: ASK_USER (table 6)."""
    return guard(context.effect, context.policy.options.protected)


def prohibitions(context: Context) -> Outcome | None:
    """3. What the person forbade, before any grant (paper, 3.4). Opaque execution under limits: ASK_USER."""
    effect = context.effect
    question: Outcome | None = None
    for ban in context.policy.bans:
        if not ban.names.cover(context.action.tool, effect):
            continue
        if ban.exceptions is not None and ban.exceptions.hold_all(effect):
            continue
        if ban.targets is None or ban.targets.hit(effect):
            return _block(
                effect, ReasonCode.PROHIBITED, f"you said “{ban.quote}”" if ban.quote else f"{ban.what} is forbidden"
            )
        if ban.targets.blind(effect):
            question = _ask(
                effect, ReasonCode.MAY_BE_PROHIBITED, f"whether “{ban.quote or ban.what}” forbids it cannot be seen"
            )
    if (
        question is None
        and effect.risk is Risk.EXECUTION
        and TargetKind.PROGRAM in effect.unverified
        and context.policy.confined
    ):
        return _ask(effect, ReasonCode.MAY_BE_PROHIBITED, "what it runs cannot be seen, and the task has limits")
    return question


def deny_list(context: Context) -> Outcome | None:
    """4. ``denied_tools``: deny beats allow (task policies, "Fields")."""
    if context.policy.denied.cover(context.action.tool, context.effect):
        return _block(context.effect, ReasonCode.DENIED, f"{context.effect.capability} is on the task's deny list")
    return None


def grants(context: Context) -> Outcome | None:
    """5. What the person approved: this very call, and every question that this walk would ask (paper, 5)."""
    grant = matching_grant(context)
    if grant is None:
        return None
    return Outcome(Verdict.ALLOW, ReasonCode.GRANTED, grant.id, context.effect)


def argument_constraints(context: Context) -> Outcome | None:
    """6. The row's and the tool constraints' bounds on recipients, domains, paths, objects, values, amounts, counts."""
    question = breach_of(context.row, context) if context.row is not None else None
    if question is not None and question.verdict is Verdict.BLOCK:
        return question
    for bounds in context.constraints() if context.policy.constraints else ():
        outcome = breach_of(bounds, context)
        if outcome is not None and outcome.verdict is Verdict.BLOCK:
            return outcome
        question = question or outcome
    return question


def ceiling_and_listing(context: Context) -> Outcome | None:
    """7. Both keys: the class's ceiling is on *and* the call is listed; else the class's default verdict."""
    effect, policy = context.effect, context.policy
    risk = effect.risk
    if risk is Risk.UNKNOWN:
        if context.action.tool in policy.unknown_tools:
            return None
        return _unauthorized(
            context, ReasonCode.UNKNOWN_TOOL, f"nothing is known about the tool {context.action.tool[:80]}"
        )
    if risk is not Risk.READ and risk not in policy.ceilings:
        return _unauthorized(context, ReasonCode.CEILING_OFF, f"nothing you wrote asks for {_CLASS_WORDS[risk]}")
    listed = context.has_rows or policy.listed.cover(context.action.tool, effect)
    if listed:
        return None
    return _unauthorized(context, ReasonCode.NOT_LISTED, f"you did not ask for {effect.capability}")


def recipient_binding(context: Context) -> Outcome | None:
    """8. A party that the row or the task binds is among them; where none is bound, ask ("Email John")."""
    effect, policy = context.effect, context.policy
    if not carries_party(effect):
        return None
    if policy.recipients is not None:
        for party in effect.recipients:
            if party not in policy.recipients:
                return _block(effect, ReasonCode.RECIPIENT_NOT_LISTED, f"{party[:120]} is not somebody you named")
    row = context.row
    if row is not None:
        return parties_of(row, context)
    bound = policy.recipients is not None or any(c.recipients is not None for c in context.constraints())
    if not bound:
        return _ask(effect, ReasonCode.RECIPIENT_NOT_BOUND, "you named no address for this")
    if not effect.recipients or TargetKind.RECIPIENTS in effect.unverified:
        return _ask(effect, ReasonCode.RECIPIENT_NOT_BOUND, "it does not show whom it reaches")
    return None


def domain_allowlist(context: Context) -> Outcome | None:
    """9. Where the task names its hosts, every effect with a host stays among them, reads too."""
    effect, hosts = context.effect, context.policy.domains
    if hosts is None:
        return None
    for host in effect.domains:
        if host not in hosts:
            return _block(effect, ReasonCode.DOMAIN_OUTSIDE, f"{host[:120]} is not among the hosts of this task")
    if TargetKind.DOMAINS in effect.unverified:
        return _ask(effect, ReasonCode.TARGET_UNVERIFIED, "its host cannot be read from the call")
    return None


def exfiltration_urls(context: Context) -> Outcome | None:
    """10. A URL shaped like data on its way out is asked about (paper, 8, "heuristic exfiltration checks")."""
    for url in context.effect.urls:
        shape = exfiltration_shape(url)
        if shape:
            return _ask(context.effect, ReasonCode.EXFILTRATION_SHAPED_URL, shape)
    return None


def path_allowlist(context: Context) -> Outcome | None:
    """11. Where the task names its paths, what writes, deletes or runs a path stays inside them."""
    effect, paths = context.effect, context.policy.paths
    if paths is None or effect.risk not in _CONFINED_PATHS:
        return None
    for path in effect.paths:
        if path not in paths:
            return _block(effect, ReasonCode.PATH_OUTSIDE, f"{path[:120]} is outside the paths of this task")
    if TargetKind.PATHS in effect.unverified:
        return _ask(effect, ReasonCode.TARGET_UNVERIFIED, "its path cannot be read from the call")
    return None


def outbound_budget(context: Context) -> Outcome | None:
    """12. ``max_external_writes`` over sends and external writes that no earlier check questions."""
    limit = context.policy.policy.max_external_writes
    if limit is None or context.questioned or context.effect.risk not in _OUTBOUND:
        return None
    if context.state.counters.get(OUTBOUND_COUNTER, 0) + context.outbound_invocations() > limit:
        return _block(context.effect, ReasonCode.BUDGET_USED, f"the task may send or write outside {limit} times")
    return None


def approval_requirements(context: Context) -> Outcome | None:
    """13. ``requires_approval`` and rows that need approval: always ASK_USER."""
    row = context.row
    if (row is not None and row.needs_approval) or context.policy.approval.cover(context.action.tool, context.effect):
        return _ask(context.effect, ReasonCode.APPROVAL_REQUIRED, f"{context.effect.capability} needs your approval")
    return None


def _always(_: PreparedPolicy) -> bool:
    return True


CHECKS: tuple[Check, ...] = (
    Check(1, "expiry", expiry, True, lambda policy: policy.expires_at is not None),
    Check(2, "guards", guards, False, _always),
    Check(3, "prohibitions", prohibitions, False, lambda policy: policy.confined),
    Check(4, "deny_list", deny_list, False, lambda policy: bool(policy.denied)),
    Check(5, "grants", grants, True, _always),
    Check(
        6, "argument_constraints", argument_constraints, False, lambda policy: bool(policy.rows or policy.constraints)
    ),
    Check(7, "ceiling_and_listing", ceiling_and_listing, False, _always),
    Check(8, "recipient_binding", recipient_binding, False, _always),
    Check(9, "domain_allowlist", domain_allowlist, False, lambda policy: policy.domains is not None),
    Check(10, "exfiltration_urls", exfiltration_urls, False, _always),
    Check(11, "path_allowlist", path_allowlist, False, lambda policy: policy.paths is not None),
    Check(12, "outbound_budget", outbound_budget, False, lambda policy: policy.policy.max_external_writes is not None),
    Check(
        13, "approval_requirements", approval_requirements, False, lambda policy: bool(policy.rows or policy.approval)
    ),
)
"""The evaluation order (paper, 3.4)."""

_CLASS_WORDS = {
    Risk.LOCAL_WRITE: "writing files",
    Risk.EXECUTION: "running programs",
    Risk.EXTERNAL_WRITE: "changing anything outside",
    Risk.COMMUNICATION: "sending anything",
    Risk.DELETE: "deleting anything",
    Risk.PERMISSION_CHANGE: "changing access",
    Risk.FINANCIAL: "spending money",
}


def _unauthorized(context: Context, code: ReasonCode, detail: str) -> Outcome | None:
    options = context.policy.options
    verdict = options.unauthorized.get(context.effect.risk, Verdict.BLOCK)
    if options.unrequested_blocks and code is ReasonCode.CEILING_OFF:
        verdict = Verdict.BLOCK
    return None if verdict is Verdict.ALLOW else Outcome(verdict, code, detail, context.effect)


def _ask(effect: Effect, code: ReasonCode, detail: str) -> Outcome:
    return Outcome(Verdict.ASK_USER, code, detail, effect)


def _block(effect: Effect, code: ReasonCode, detail: str) -> Outcome:
    return Outcome(Verdict.BLOCK, code, detail, effect)
