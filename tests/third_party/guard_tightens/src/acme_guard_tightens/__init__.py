"""A guard that tightens: no mail leaves the company, whatever a person asks for."""

from __future__ import annotations

from agentsfence_core.hookspecs import hookimpl
from agentsfence_core.model import Action, Decision, ReasonCode, Verdict

COMPANY = "@example.com"


@hookimpl
def agentsfence_evaluate(action: Action) -> Decision | None:
    """Object to any recipient outside the company."""
    strangers = [name for effect in action.effects for name in effect.recipients if not name.endswith(COMPANY)]
    if not strangers:
        return None
    return Decision(
        verdict=Verdict.BLOCK,
        reason=ReasonCode.PLUGIN_VERDICT,
        rule="company mail",
        sentence=f"{strangers[0]} is outside the company.",
        guidance="Send mail inside the company only.",
        risk=action.risk,
        capability=action.capability,
    )
