"""Audit events: one mapping per decision, per message, per answer of a person. JSON types only, redacted (DESIGN 8)."""

from __future__ import annotations

from collections.abc import Mapping

from agentsfence_core.audit import redact
from agentsfence_core.model import Decision, TaskPolicy
from agentsfence_core.plain import to_plain

VERSION = 1
"""Version of the fields; written into every line as ``v``."""

Event = dict[str, object]


def decision_event(*, task: str, tool: str, call_id: str, decision: Decision, at: float) -> Event:
    """Return the event of one check: what was decided, by which rule, on which of the person's words."""
    event: Event = {
        "v": VERSION,
        "at": round(at, 3),
        "kind": "decision",
        "task": redact.text(task),
        "tool": redact.text(tool),
        "verdict": decision.verdict,
        "reason": decision.reason,
        "rule": decision.rule,
        "risk": decision.risk,
        "capability": redact.text(decision.capability),
    }
    if decision.enforced is not decision.verdict:
        event["enforced"] = decision.enforced
    for name, value in (
        ("call_id", call_id),
        ("question", decision.question),
        ("ticket", decision.ticket),
        ("grant", decision.covered_by),
        ("policy", decision.policy_digest),
        ("action", decision.action_digest),
    ):
        if value:
            event[name] = redact.text(value, 80)
    if decision.evidence:
        event["evidence"] = redact.texts(decision.evidence)
    if decision.reason.endswith("_fault"):
        event["sentence"] = redact.text(decision.sentence)
    event.update(redact.targets(decision.effect))
    return event


def event(kind: str, *, task: str, policy: TaskPolicy | None, details: Mapping[str, object], at: float) -> Event:
    """Return the event of a message, an approval, an outcome or another change of a task."""
    made: Event = {"v": VERSION, "at": round(at, 3), "kind": kind, "task": redact.text(task), **redact.details(details)}
    if policy is not None:
        made.update(_policy(policy))
    return made


def _policy(policy: TaskPolicy) -> Event:
    """Return what a policy grants and on which words; its purpose and summary are the person's words retold and go."""
    rows = []
    for row in policy.permissions[: redact.ENTRIES]:
        plain = to_plain(row)
        assert isinstance(plain, dict)  # noqa: S101  (a dataclass becomes a dict)
        rows.append({name: _kept(value) for name, value in plain.items()})
    on = [name for name in policy.__slots__ if name.startswith("allow_") and getattr(policy, name) is True]
    bans = [{"what": ban.what, "quote": redact.text(ban.quote)} for ban in policy.user_prohibitions[: redact.ENTRIES]]
    kept: Event = {"policy_source": policy.source, "ceilings": on, "permissions": rows, "prohibitions": bans}
    for name in ("allowed_tools", "denied_tools", "requires_approval", "allowed_recipients", "allowed_paths"):
        if entries := getattr(policy, name):
            kept[name] = redact.texts(entries)
    return kept


def _kept(value: object) -> object:
    """Return one field of a row, shortened."""
    if isinstance(value, list):
        return redact.texts(value)
    if isinstance(value, dict):
        return [f"{redact.text(name, 40)}={redact.text(item, 80)}" for name, item in value.items()][: redact.ENTRIES]
    return redact.text(value) if isinstance(value, str) else value
