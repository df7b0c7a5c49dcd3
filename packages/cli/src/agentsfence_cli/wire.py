"""The values of core as JSON objects: the formats of DESIGN 11 and of ``--json``. Nothing is decided here."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping

from agentsfence_core.fence import Task
from agentsfence_core.model import Action, Decision, Delta, Effect, Grant, TaskPolicy
from agentsfence_core.policy_file import dump_policy
from agentsfence_core.ports import Dropped, Removed, RequestView
from agentsfence_core.tasks import Question

JsonObject = dict[str, object]

_ALWAYS_SHOWN = (
    "purpose", "summary", "allowed_tools", "denied_tools", "allowed_risk_classes", "allow_local_writes",
    "allow_external_writes", "allow_destructive_actions", "allow_financial_actions", "allow_execution",
    "allow_permission_changes", "tool_constraints", "allowed_recipients", "allowed_external_domains", "allowed_paths",
    "max_external_writes", "requires_approval", "permissions", "user_prohibitions",
)  # fmt: skip


def write_json(value: Mapping[str, object], *, indent: int | None = 2) -> None:
    """Write one JSON value and a newline, flushed. ASCII only, so that no terminal or locale can spoil it."""
    sys.stdout.write(json.dumps(value, indent=indent) + "\n")
    sys.stdout.flush()


def policy_object(policy: TaskPolicy) -> JsonObject:
    """Return a policy as `load_policy` reads it, with every field of the task written out, off or empty ones too."""
    plain = dump_policy(policy)
    shown: JsonObject = {}
    for name in _ALWAYS_SHOWN:
        shown[name] = plain.pop(name) if name in plain else _plain_default(getattr(policy, name))
    return {**shown, **plain}


def _plain_default(value: object) -> object:
    if isinstance(value, tuple):
        return [str(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value


def action_object(action: Action) -> JsonObject:
    """Return a classification; the lists on top are the union over all effects."""
    return {
        "tool": action.tool,
        "capability": action.capability,
        "risk": action.risk.value,
        "source": action.source.value,
        "effects": [effect_object(effect) for effect in action.effects],
        "recipients": _union(effect.recipients for effect in action.effects),
        "domains": _union(effect.domains for effect in action.effects),
        "paths": _union(effect.paths for effect in action.effects),
    }


def effect_object(effect: Effect) -> JsonObject:
    """Return one effect with all its targets."""
    return {
        "capability": effect.capability,
        "risk": effect.risk.value,
        "recipients": list(effect.recipients),
        "domains": list(effect.domains),
        "paths": list(effect.paths),
        "objects": [str(thing) for thing in effect.objects],
        "values": [list(pair) for pair in effect.values],
        "verified": effect.verified,
        "unverified": sorted(kind.value for kind in effect.unverified),
    }


def _union(lists: Iterable[tuple[str, ...]]) -> list[str]:
    return list(dict.fromkeys(target for targets in lists for target in targets))


def result_object(decision: Decision) -> JsonObject:
    """Return a decision as one result of ``simulate``."""
    return {
        "verdict": decision.verdict.value,
        "reason": decision.reason.value,
        "rule": decision.rule,
        "risk": decision.risk.value,
        "capability": decision.capability,
        "message": decision.sentence,
    }


def decision_object(decision: Decision) -> JsonObject:
    """Return a decision for a program that fences itself with ``check``."""
    return {
        "schema": "agentsfence.decision/1",
        "verdict": decision.verdict.value,
        "enforced": decision.enforced.value,
        "reason": decision.reason.value,
        "rule": decision.rule,
        "risk": decision.risk.value,
        "capability": decision.capability,
        "message": decision.sentence,
        "guidance": decision.guidance,
        "evidence": list(decision.evidence),
        "effect": effect_object(decision.effect) if decision.effect else None,
        "question": decision.question,
        "ticket": decision.ticket,
    }


def grant_object(grant: Grant) -> JsonObject:
    """Return a grant: the call it is for and all that it covers."""
    return {
        "id": grant.id,
        "tool": grant.tool,
        "scope": grant.scope.value,
        "max_calls": grant.max_calls,
        "expires_at": grant.expires_at,
        "effects": [_delta_object(delta) for delta in grant.deltas],
    }


def question_object(question: Question) -> JsonObject:
    """Return an open question: the call that waits, and all that an approval would cover."""
    return {
        "id": question.id,
        "task": question.task,
        "tool": question.tool,
        "capability": question.capability,
        "risk": question.risk,
        "message": question.sentence,
        "covers": [_delta_object(delta) for delta in question.deltas],
        "covered_too": question.covered_too,
        "not_covered": question.not_covered,
        "asked_at": question.asked_at,
    }


def _delta_object(delta: Delta) -> JsonObject:
    return {
        "capability": delta.capability,
        "risk": delta.risk,
        "recipients": list(delta.recipients),
        "domains": list(delta.domains),
        "paths": list(delta.paths),
        "objects": list(delta.objects),
        "values": [list(pair) for pair in delta.values],
    }


def task_object(task: Task) -> JsonObject:
    """Return what a message made of a task's policy, and how it was read."""
    return {
        "schema": "agentsfence.task/1",
        "task": task.task,
        "policy": policy_object(task.policy),
        "changed": task.changed,
        "instruction": str(task.instruction),
        "removed": removed_objects(task.removed),
        "dropped": dropped_objects(task.dropped),
        "requests": request_objects(task.requests),
    }


def removed_objects(removed: Iterable[Removed]) -> list[JsonObject]:
    """Return what isolation took out of a message."""
    return [{"kind": part.kind, "characters": part.characters, "preview": part.preview} for part in removed]


def dropped_objects(dropped: Iterable[Dropped]) -> list[JsonObject]:
    """Return what the policy does not contain, and why."""
    return [{"what": part.what, "why": part.why} for part in dropped]


def request_objects(requests: Iterable[RequestView]) -> list[JsonObject]:
    """Return every clause as it was read."""
    return [
        {
            "quote": view.quote,
            "kind": view.kind,
            "capabilities": list(view.capabilities),
            "targets": list(view.targets),
            "note": view.note,
        }
        for view in requests
    ]
