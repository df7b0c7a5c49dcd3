"""Short ways to write policies and actions in tests of the evaluator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agentsfence_core.evaluation import EvaluationOptions, evaluate, prepare
from agentsfence_core.model import (
    CEILING_OF,
    Action,
    Decision,
    Effect,
    ExecutionState,
    HostFacts,
    ObjectRef,
    Permission,
    Prohibition,
    Risk,
    Source,
    Targets,
    TaskPolicy,
    ToolCall,
)

JOHN, MALLORY = "john@example.com", "mallory@example.net"


def action(
    *effects: Effect, tool: str = "tool", args: dict[str, object] | None = None, content: frozenset[str] = frozenset()
) -> Action:
    """Return an action with the given effects."""
    return Action(ToolCall(tool, args or {}), effects, Source.CATALOGUE, content)


def read(**fields: Any) -> Effect:
    """Return a READ effect."""
    return Effect("file.read", Risk.READ, **fields)


def send(*to: str, **fields: Any) -> Effect:
    """Return an e-mail to the given parties."""
    return Effect("email.send", Risk.COMMUNICATION, recipients=to, **fields)


def write(*paths: str, **fields: Any) -> Effect:
    """Return a file write."""
    return Effect("file.write", Risk.LOCAL_WRITE, paths=paths, **fields)


def delete(*paths: str, **fields: Any) -> Effect:
    """Return a deletion."""
    return Effect("file.delete", Risk.DELETE, paths=paths, **fields)


def pay(payee: str, amount: str | None, **fields: Any) -> Effect:
    """Return a payment."""
    return Effect(
        "payment.send", Risk.FINANCIAL, recipients=(payee,), values=(("amount", amount),) if amount else (), **fields
    )


def decide(
    policy: TaskPolicy,
    what: Action | Effect,
    *,
    state: ExecutionState | None = None,
    host: HostFacts | None = None,
    now: float = 0.0,
    options: EvaluationOptions | None = None,
) -> Decision:
    """Return the decision on an action, or on a call with one effect."""
    prepared = prepare(policy, options or EvaluationOptions(home="/home/u", workdir="/srv/w"))
    return evaluate(
        prepared,
        state or ExecutionState(),
        what if isinstance(what, Action) else action(what),
        host or HostFacts(),
        now,
    )


def ban(what: str, *, quote: str = "don't", **targets: tuple[str, ...]) -> Prohibition:
    """Return a prohibition of a class, capability or glob, on the given targets."""
    return Prohibition(what=what, targets=Targets(**targets), quote=quote)


def sends_to_john(**fields: Any) -> TaskPolicy:
    """Return the second policy of the task-policies seed as a row."""
    row = Permission(
        capability="email.send", recipients=(JOHN,), evidence="email the summary to john@example.com", **fields
    )
    return TaskPolicy(
        allowed_risk_classes=(Risk.READ, Risk.COMMUNICATION),
        allow_external_writes=True,
        permissions=(row,),
        allowed_recipients=(JOHN,),
    )


def thing(kind: str, name: str) -> ObjectRef:
    """Return an object reference."""
    return ObjectRef(kind, name)


def with_ceiling(policy: TaskPolicy, risk: Risk) -> TaskPolicy:
    """Return the policy with the ceiling of a class on."""
    on: Any = {CEILING_OF[risk].value: True}
    return replace(policy, **on)
