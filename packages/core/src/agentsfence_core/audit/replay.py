"""Recorded decisions judged once more under another policy: which of them would differ (DESIGN 8).

What cannot be replayed, because the log does not have it:

* arguments, message text and URLs: the log keeps the targets of what changes something, so no grant can match and no
  URL can be found to carry data out;
* targets of reads: only the class of a read is judged;
* further effects of one call: the log names the effect that decided. The verdict on the whole call would be at least as
  strict as what is said here;
* targets that were cut short or masked, faults of the fence itself, and calls of tools that nothing is known about:
  these are reported as such and never guessed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from agentsfence_core.audit.redact import MASKS
from agentsfence_core.audit.verify import files
from agentsfence_core.errors import AuditError
from agentsfence_core.evaluation import EvaluationOptions, charge_of, evaluate, prepare
from agentsfence_core.model import (
    Action,
    Effect,
    ExecutionState,
    HostFacts,
    Risk,
    Source,
    TargetKind,
    TaskPolicy,
    ToolCall,
    Verdict,
    parse_object,
)

_TARGETS = ("recipients", "domains", "paths", "objects", "values")
Event = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Replayed:
    """One recorded decision, and what the other policy says."""

    at: float
    task: str
    tool: str
    capability: str
    recorded: Verdict
    replayed: Verdict | None
    """``None`` where it cannot be told."""
    why: str
    """The sentence of the new decision, or why there is none."""
    outcome: str = ""
    """What the host reported of the call, where it did."""

    @property
    def differs(self) -> bool:
        """Whether the other policy is known to decide otherwise."""
        return self.replayed is not None and self.replayed is not self.recorded


def read_events(path: Path) -> Iterator[Event]:
    """Yield the events of a log, oldest first; ``path`` is its folder or one file. Lines that are none are left out."""
    for log in files(path):
        try:
            with log.open("rb") as file:
                for line in file:
                    event = _event(line)
                    if event is not None:
                        yield event
        except OSError as error:
            raise AuditError(f"{log}: {error.strerror or error}", hint="check its rights") from error


def replay(
    recorded: Iterable[Event], policy: TaskPolicy, options: EvaluationOptions | None = None
) -> tuple[Replayed, ...]:
    """Return every recorded decision with what ``policy`` says; each task's counters start at nothing. Pure."""
    recorded = tuple(recorded)
    outcomes = {str(e.get("ticket")): str(e.get("status")) for e in recorded if e.get("kind") == "outcome"}
    prepared = prepare(policy, options)
    states: dict[str, ExecutionState] = {}
    replayed = []
    for event in recorded:
        verdict = _verdict(event)
        if verdict is None:
            continue
        task, at = str(event.get("task", "")), _number(event.get("at"))
        action = _action(event)
        found, why = None, action if isinstance(action, str) else ""
        if not isinstance(action, str):
            state = states.get(task, ExecutionState())
            decision = evaluate(prepared, state, action, HostFacts(), at)
            found, why = decision.verdict, decision.sentence
            if decision.verdict is Verdict.ALLOW:
                states[task] = state.charged(charge_of(prepared, state, action))
        names = (str(event.get("tool", "")), str(event.get("capability", "")))
        replayed.append(Replayed(at, task, *names, verdict, found, why, outcomes.get(str(event.get("ticket", "")), "")))
    return tuple(replayed)


def _event(line: bytes) -> Event | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def _verdict(event: Event) -> Verdict | None:
    """Return the verdict of a recorded decision; ``None`` for every other event."""
    try:
        return Verdict(str(event.get("verdict"))) if event.get("kind") == "decision" else None
    except ValueError:
        return None


def _action(event: Event) -> Action | str:
    """Return the call as far as the log has it, or why it cannot be judged again."""
    if str(event.get("reason", "")).endswith("_fault"):
        return "the fence itself failed"
    if event.get("shortened"):
        return "the line was too long to keep its targets"
    try:
        risk = Risk(str(event.get("risk")))
        unverified = frozenset(TargetKind(str(kind)) for kind in _listed(event.get("unverified")))
    except ValueError:
        return "the line has no class that is known"
    if risk is Risk.UNKNOWN:
        return "nothing is known about the tool"
    targets = {name: tuple(str(item) for item in _listed(event.get(name))) for name in _TARGETS}
    if any(mask in target for found in targets.values() for target in found for mask in MASKS):
        return "its targets were cut short or masked"
    effect = Effect(
        capability=str(event.get("capability", "")),
        risk=risk,
        recipients=targets["recipients"],
        domains=targets["domains"],
        paths=targets["paths"],
        objects=tuple(parse_object(name) for name in targets["objects"]),
        values=tuple(_pair(value) for value in targets["values"]),
        unverified=unverified,
    )
    return Action(ToolCall(str(event.get("tool", "")), {}), (effect,), Source.NONE)


def _pair(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
