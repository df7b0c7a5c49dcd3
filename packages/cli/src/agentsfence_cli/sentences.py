"""A policy in plain words: what may be done without a question, what is never done, what is asked, what is blocked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from agentsfence_cli.screen import SCREEN, shortened
from agentsfence_cli.workbench import account_home
from agentsfence_core.classification.vocabulary import vocabulary
from agentsfence_core.evaluation import DEFAULT_UNAUTHORIZED
from agentsfence_core.fence import Task
from agentsfence_core.model import Permission, Prohibition, Risk, Targets, TaskPolicy, ToolConstraint, Verdict
from agentsfence_core.settings import load_settings

_CLASSES: Final[Mapping[Risk, str]] = {
    Risk.READ: "reading",
    Risk.LOCAL_WRITE: "writing files here",
    Risk.EXECUTION: "running programs",
    Risk.EXTERNAL_WRITE: "changing things outside",
    Risk.COMMUNICATION: "sending messages",
    Risk.DELETE: "deleting",
    Risk.PERMISSION_CHANGE: "changing access",
    Risk.FINANCIAL: "spending money",
    Risk.UNKNOWN: "tools that nothing is known about",
}
_QUOTE = 160  # characters of a quote that are shown
_READING: Final = "Read and search anything"


@dataclass(frozen=True, slots=True)
class _Item:
    """One thing that a policy says: what is done, to what, and by which words."""

    what: str
    where: tuple[str, ...] = ()
    quote: str = ""


def show_policy(policy: TaskPolicy, verdicts: Mapping[Risk, Verdict], home: str) -> None:
    """Show a policy for people; each permission and ban with the words it rests on.

    ``verdicts`` are those of calls that nothing authorizes, as the settings say; ``home`` is shown as ``~``.
    """
    title = policy.summary or policy.purpose
    if title:
        SCREEN.heading(f"Task: {title}")
    _show("Without a question", _allowed(policy), home)
    _show("Never, whoever approves it", _forbidden(policy), home)
    _show("Only after you approve it", _approved(policy), home)
    SCREEN.heading("Everything else")
    SCREEN.rows(_rest(verdicts))
    limits = _limits(policy)
    if limits:
        SCREEN.heading("Limits of the whole task")
        SCREEN.rows(limits)


def show_task(task: Task) -> None:
    """Show the policy that a task has after a message, and what the message asked for in vain."""
    settings = load_settings()
    show_policy(task.policy, settings.default_verdicts, account_home())
    if task.removed:
        SCREEN.heading("Left out as quoted material (it grants nothing)")
        SCREEN.rows((part.kind, f"{part.characters} characters", shortened(part.preview, 60)) for part in task.removed)
    if task.dropped:
        SCREEN.heading("Dropped")
        SCREEN.rows((shortened(part.what, 100), part.why) for part in task.dropped)


def _show(heading: str, items: Iterable[_Item], home: str) -> None:
    """Show items that speak of the same targets, or rest on the same words, together."""
    groups: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for item in items:
        groups.setdefault((item.where, item.quote), []).append(item.what)
    if groups:
        SCREEN.heading(heading)
    for (where, quote), names in groups.items():
        for name in dict.fromkeys(names):
            SCREEN.line(name, indent=2)
        for target in where:
            SCREEN.line(f"- {_short_path(target, home)}", indent=4)
        if quote:
            SCREEN.line(f"“{shortened(quote, _QUOTE)}”", indent=4)


def _allowed(policy: TaskPolicy) -> list[_Item]:
    """Return what runs unasked."""
    return [_Item(_READING), *(item for item, asks in _opened(policy) if not asks)]


def _opened(policy: TaskPolicy) -> list[tuple[_Item, bool]]:
    """Return what both keys open, rows or listed names and classes whose ceiling is on, and whether it is asked about.

    A send is asked about where nobody is named whom it may reach (check 8).
    """
    if policy.permissions:
        return [(_row(row), row.needs_approval or _reaches_nobody_named(policy, row)) for row in policy.permissions]
    overall = (*policy.allowed_recipients, *policy.allowed_paths)
    items = []
    for name in (*policy.allowed_tools, *(risk.value for risk in policy.allowed_risk_classes)):
        risk = Risk(name) if name in Risk.__members__ else vocabulary().risk_of(name)
        if risk is None or (risk is not Risk.READ and policy.permits_class(risk)):
            bounds = policy.tool_constraints.get(name)
            named = policy.allowed_recipients or (bounds is not None and bounds.allowed_recipients)
            item = _Item(_does(name), _bounds(bounds) if bounds else overall)
            items.append((item, risk is Risk.COMMUNICATION and not named))
    return items


def _reaches_nobody_named(policy: TaskPolicy, row: Permission) -> bool:
    bounds = policy.tool_constraints.get(row.capability)
    named = row.recipients or policy.allowed_recipients or (bounds is not None and bounds.allowed_recipients)
    return vocabulary().risk_of(row.capability) is Risk.COMMUNICATION and not named


def _forbidden(policy: TaskPolicy) -> list[_Item]:
    bans = [_ban(ban) for ban in policy.user_prohibitions]
    named = {ban.what for ban in policy.user_prohibitions}
    return bans + [_Item(_does(name)) for name in policy.denied_tools if name not in named]


def _approved(policy: TaskPolicy) -> list[_Item]:
    return [item for item, asks in _opened(policy) if asks] + [_Item(_does(name)) for name in policy.requires_approval]


def _row(row: Permission) -> _Item:
    values = tuple(f"{name} {value}" for name, value in row.values.items())
    counts = _counts(row.max_calls, row.max_amount)
    where = (*row.recipients, *row.domains, *row.paths, *row.objects, *values, *counts)
    return _Item(_does(row.capability), where, row.evidence)


def _bounds(bounds: ToolConstraint) -> tuple[str, ...]:
    lists = (bounds.allowed_recipients, bounds.allowed_domains, bounds.allowed_paths, bounds.allowed_objects)
    return (*(target for targets in lists for target in targets), *_counts(bounds.max_calls, bounds.max_amount))


def _counts(max_calls: int | None, max_amount: str | None) -> tuple[str, ...]:
    amount = () if max_amount is None else (f"at most {max_amount} in all",)
    calls = () if max_calls is None else ("once" if max_calls == 1 else f"at most {max_calls} times",)
    return (*amount, *calls)


def _ban(ban: Prohibition) -> _Item:
    where = (*_named(ban.targets), *(f"except {name}" for name in _named(ban.exceptions)))
    return _Item(_does(ban.what), where, ban.quote)


def _named(targets: Targets) -> tuple[str, ...]:
    return (*targets.recipients, *targets.domains, *targets.paths, *targets.objects)


def _rest(verdicts: Mapping[Risk, Verdict]) -> list[tuple[str, str]]:
    """Return what becomes of a call that the policy does not authorize, by verdict."""
    words = {Verdict.ALLOW: "allowed", Verdict.ASK_USER: "you are asked", Verdict.BLOCK: "blocked"}
    known = {**DEFAULT_UNAUTHORIZED, **verdicts}
    classes = {
        verdict: [_CLASSES[risk] for risk, given in known.items() if given is verdict and risk is not Risk.READ]
        for verdict in words
    }
    return [(words[verdict], ", ".join(named)) for verdict, named in classes.items() if named]


def _limits(policy: TaskPolicy) -> list[tuple[str, str]]:
    limits = []
    if policy.max_external_writes is not None:
        most = policy.max_external_writes
        limits.append(("sends and changes outside", f"at most {most}" if most else "none"))
    if policy.allowed_external_domains:
        limits.append(("hosts", ", ".join(policy.allowed_external_domains)))
    if policy.allowed_paths:
        limits.append(("writes only below", ", ".join(policy.allowed_paths)))
    if policy.expires_at is not None:
        limits.append(("valid until", policy.expires_at.strftime("%Y-%m-%d %H:%M %Z").strip()))
    return limits


def _does(name: str) -> str:
    """Return what a capability, class or glob means, with its name."""
    entry = vocabulary().capabilities.get(name)
    if entry is not None:
        return f"{entry.does} ({name})"
    if name in Risk.__members__:
        words = _CLASSES[Risk(name)]
        return f"{words[:1].upper()}{words[1:]} ({name})"
    return name


def _short_path(text: str, home: str) -> str:
    return f"~{text[len(home) :]}" if home and text.startswith(f"{home}/") else text
