"""What the façade makes of a person's messages and answers: values in, values out (DESIGN 3, 8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from agentsfence_core import tasks
from agentsfence_core.errors import HostContractError
from agentsfence_core.evaluation.grants import surviving
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Scope, TaskPolicy
from agentsfence_core.model.policy import POLICY_LIFETIME_HOURS
from agentsfence_core.ports import Compiled, Dropped, Instruction, PersonMessage, Removed, RequestView, TaskRecord


@dataclass(frozen=True, slots=True)
class Task:
    """What `begin` and `amend` return: the policy in force and how the words were read."""

    task: str
    policy: TaskPolicy
    instruction: Instruction
    removed: tuple[Removed, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    requests: tuple[RequestView, ...] = ()
    changed: bool = True


def with_lifetime(policy: TaskPolicy, now: float) -> TaskPolicy:
    """Return a policy that a person wrote with an end, the usual one where it names none."""
    created = policy.created_at or datetime.fromtimestamp(now, UTC)
    expires = policy.expires_at or created + timedelta(hours=POLICY_LIFETIME_HOURS)
    return replace(policy, created_at=created, expires_at=expires)


def amending(
    seen: TaskPolicy, compiled: Compiled, now: float
) -> Callable[[TaskRecord | None], tuple[TaskRecord | None, object]]:
    """Return a change that keeps the amended policy only if nobody amended it in between."""

    def change(record: TaskRecord | None) -> tuple[TaskRecord | None, object]:
        if record is None or record.policy != seen:
            return record, False
        if record.inherits and not compiled.changed:
            return record, True  # words that change nothing leave a subtask as live as it was
        denied = frozenset[str]() if compiled.changed and compiled.requests else record.state.denied
        grants = surviving(record.state.grants, seen, compiled.policy)
        state = replace(record.state, denied=denied, grants=grants)
        keep = record.keep_until if record.parent is not None else tasks.kept_until(compiled.policy)
        return replace(record, policy=compiled.policy, state=state, last_seen=max(now, record.last_seen),
                       keep_until=keep, inherits=False), True  # fmt: skip

    return change


def message_of(text: str | PersonMessage, sender: str | None) -> PersonMessage:
    """Return a message with its sender, whether the host gave a text or a message."""
    if isinstance(text, PersonMessage):
        return text if sender is None else replace(text, sender=sender)
    return PersonMessage(str(text), sender)


def task_of(task: str, compiled: Compiled) -> Task:
    """Return what a host sees of a compiled message."""
    return Task(
        task,
        compiled.policy,
        compiled.instruction,
        compiled.removed,
        compiled.dropped,
        compiled.requests,
        compiled.changed,
    )


def scope_of(scope: str, times: int | None, until: float | None) -> tuple[Scope, int | None]:
    """Return an approval's lifetime and its uses; a host's ``session`` and ``always`` are for this task."""
    name = {"session": "task", "always": "task"}.get(scope, scope)
    try:
        kind = Scope(name)
    except ValueError:
        raise HostContractError(f"no such scope: {scope!r}", hint="once, times, until or task") from None
    if kind is Scope.TIMES:
        if times is None or times < 1:
            raise HostContractError("scope times needs a number of at least 1", hint="times=3")
        return kind, times
    if kind is Scope.UNTIL:
        if until is None:
            raise HostContractError("scope until needs a time", hint="until=seconds since the epoch")
        return kind, None
    return kind, LIMITS.task_grant_uses if kind is Scope.TASK else 1
