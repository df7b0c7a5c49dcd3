"""``simulate``: a session of messages and calls, played against a fence that forgets it afterwards (DESIGN 11).

Rules of this file:

* Nothing runs, nothing is kept, no model and no network is asked, and no path is looked up: paths are lexical.
* Every step goes through `Fence`, the same as in earnest; this file only reads steps and writes results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from agentsfence_cli.jsonl import LineError, list_field, mapping_field, optional_text, text_field
from agentsfence_cli.wire import (
    JsonObject,
    dropped_objects,
    grant_object,
    policy_object,
    removed_objects,
    result_object,
)
from agentsfence_cli.workbench import Workbench
from agentsfence_core.errors import FenceError
from agentsfence_core.fence import Fence, Task
from agentsfence_core.model import HostFacts, Verdict
from agentsfence_core.ports import PersonMessage

WORKSPACE: Final = "/srv/w"
"""The session's current folder, which counts as its workspace, where the line names none."""
_TASK = "session"
_KINDS = ("user", "policy", "tool", "approve")
_STOPPED = "STOPPED"
_EXPECTATIONS = frozenset({*(verdict.value for verdict in Verdict), _STOPPED})


@dataclass(slots=True)
class _Session:
    """One session while it is played."""

    fence: Fence
    host: HostFacts
    begun: bool = False
    question: str = ""
    kept: bool | None = None
    """Whether every expectation so far was met; ``None`` while there is none."""


def simulate(line: Mapping[str, object], workbench: Workbench) -> JsonObject:
    """Return the results of a session, one per step, and whether its expectations were met.

    Raises:
        FenceError: a step or a setting cannot be read; the message names it.
    """
    steps = [_step(place, step) for place, step in enumerate(list_field(line, "steps"))]
    session = _Session(_fence(line, workbench), _host(line, workbench, steps))
    results = []
    for place, step in enumerate(steps):
        try:
            results.append(_played(session, step))
        except FenceError as error:
            raise LineError(f"steps[{place}]: {error}") from error
    return {"results": results, "ok": session.kept}


def _step(place: int, step: object) -> Mapping[str, object]:
    if not isinstance(step, dict):
        raise LineError(f"steps[{place}]: must be an object")
    if sum(kind in step for kind in _KINDS) != 1:
        raise LineError(f"steps[{place}]: needs exactly one of {', '.join(_KINDS)}")
    return step


def _fence(line: Mapping[str, object], workbench: Workbench) -> Fence:
    compiler = optional_text(line, "compiler")
    if compiler not in {None, "rules"}:
        raise LineError(
            f"compiler: {compiler!r} would ask a model", hint="simulate is offline: use rules, or give a draft"
        )
    tools = [tool for tool in list_field(line, "tools") if isinstance(tool, dict)]
    if len(tools) < len(list_field(line, "tools")):
        raise LineError("tools: must be a list of objects")
    return workbench.fence(overrides=mapping_field(line, "settings"), tools=tools, compiler="rules")


def _host(line: Mapping[str, object], workbench: Workbench, steps: list[Mapping[str, object]]) -> HostFacts:
    workspace = optional_text(line, "workspace") or WORKSPACE
    shared = any(step.get("sender") is not None for step in steps)
    return HostFacts(home=workbench.home, workdir=workspace, workspace=workspace, shared=shared)


def _played(session: _Session, step: Mapping[str, object]) -> JsonObject:
    """Return the result of one step."""
    if "user" in step:
        return _message(session, step)
    if "policy" in step:
        return _policy(session, step)
    return _call(session, step) if "tool" in step else _answer(session, step)


def _message(session: _Session, step: Mapping[str, object]) -> JsonObject:
    """Begin the task with the first message; a later one amends it."""
    message = PersonMessage(text_field(step, "user"), optional_text(step, "sender"))
    draft = step.get("draft")
    tell = session.fence.amend if session.begun else session.fence.begin
    task = tell(message, task=_TASK, host=session.host, draft=draft)
    session.begun = True
    return _read(task)


def _policy(session: _Session, step: Mapping[str, object]) -> JsonObject:
    """Take a hand-written policy; one that comes later replaces the policy in force and its counters."""
    if session.begun:
        session.fence.close(_TASK)
    task = session.fence.adopt(mapping_field(step, "policy"), task=_TASK, sender=optional_text(step, "sender"))
    session.begun = True
    return _read(task)


def _read(task: Task) -> JsonObject:
    return {
        "policy": policy_object(task.policy),
        "instruction": str(task.instruction),
        "removed": removed_objects(task.removed),
        "dropped": dropped_objects(task.dropped),
    }


def _call(session: _Session, step: Mapping[str, object]) -> JsonObject:
    expect = optional_text(step, "expect")
    if expect is not None and expect not in _EXPECTATIONS:
        raise LineError(f"expect: {expect!r} is no verdict", hint=f"one of {', '.join(sorted(_EXPECTATIONS))}")
    decision = session.fence.check(
        _TASK,
        text_field(step, "tool"),
        mapping_field(step, "args"),
        call_id=text_field(step, "call_id", ""),
        host=session.host,
    )
    session.question = decision.question or session.question
    if expect is not None:
        met = meets(expect, decision.verdict.value)
        session.kept = met if session.kept is None else session.kept and met
    return result_object(decision)


def meets(expect: str, verdict: str) -> bool:
    """Whether a verdict is the expected one; STOPPED is BLOCK or ASK_USER."""
    return verdict != Verdict.ALLOW.value if expect == _STOPPED else verdict == expect


def _answer(session: _Session, step: Mapping[str, object]) -> JsonObject:
    """Answer the last question; no question, no grant."""
    scope = text_field(step, "approve")
    if scope not in {"once", "task", "deny"}:
        raise LineError(f"approve: {scope!r} is no answer", hint="one of once, task, deny")
    question, session.question = session.question, ""
    if not question:
        return {"grant": None}
    if scope == "deny":
        session.fence.deny(_TASK, question)
        return {"grant": None}
    grant = session.fence.approve(_TASK, question, scope=scope)
    return {"grant": grant_object(grant) if grant else None}
