"""A policy in plain words: what may be done without a question, what is never done, what is asked, what is blocked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from agentsfence_cli.screen import SCREEN, shortened
from agentsfence_core.classification.vocabulary import vocabulary
from agentsfence_core.evaluation import DEFAULT_UNAUTHORIZED
from agentsfence_core.model import Permission, Prohibition, Risk, Targets, TaskPolicy, Verdict

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


def show_policy(policy: TaskPolicy, verdicts: Mapping[Risk, Verdict] = DEFAULT_UNAUTHORIZED) -> None:
    """Show a policy for people; each permission and ban with the words it rests on.

    ``verdicts`` are those of calls that nothing authorizes, as the settings say.
    """
    if policy.purpose or policy.summary:
        SCREEN.heading(f"Task: {policy.summary or policy.purpose}")
    SCREEN.heading("Without a question")
    SCREEN.rows(_allowed(policy))
    never = [*(_ban(ban) for ban in policy.user_prohibitions), *((_does(name), "", "") for name in _denied(policy))]
    if never:
        SCREEN.heading("Never, whoever approves it")
        SCREEN.rows(never)
    asked = [*(_row(row) for row in policy.permissions if row.needs_approval), *_approvals(policy)]
    if asked:
        SCREEN.heading("Only after you approve it")
        SCREEN.rows(asked)
    SCREEN.heading("Everything else")
    SCREEN.rows(_rest(verdicts))
    _show_limits(policy)


def _allowed(policy: TaskPolicy) -> list[tuple[str, str, str]]:
    """Return what both keys open: rows, or listed names and classes whose ceiling is on."""
    rows = [("Read and search anything", "", "")] if Risk.READ in policy.allowed_risk_classes else []
    rows += [_row(row) for row in policy.permissions if not row.needs_approval]
    if policy.permissions:
        return rows
    for risk in policy.allowed_risk_classes:
        if risk is not Risk.READ and policy.permits_class(risk):
            rows.append((_capital(_CLASSES[risk]), _where_overall(policy), ""))
    for name in policy.allowed_tools:
        known = vocabulary().risk_of(name)
        if known is None or (known is not Risk.READ and policy.permits_class(known)):
            rows.append((_does(name), _where_constrained(policy, name), ""))
    return rows


def _row(row: Permission) -> tuple[str, str, str]:
    where = [
        *row.recipients,
        *row.domains,
        *row.paths,
        *row.objects,
        *(f"{name} {value}" for name, value in row.values.items()),
    ]
    if row.max_amount is not None:
        where.append(f"at most {row.max_amount}")
    if row.max_calls is not None:
        where.append("once" if row.max_calls == 1 else f"{row.max_calls} times")
    return _does(row.capability), "\n".join(where), _quoted(row.evidence)


def _ban(ban: Prohibition) -> tuple[str, str, str]:
    only, but = ", ".join(_named(ban.targets)), ", ".join(_named(ban.exceptions))
    where = "\n".join([*([only] if only else []), *([f"except {but}"] if but else [])])
    return _does(ban.what), where, _quoted(ban.quote)


def _named(targets: Targets) -> tuple[str, ...]:
    return (*targets.recipients, *targets.domains, *targets.paths, *targets.objects)


def _denied(policy: TaskPolicy) -> list[str]:
    banned = {ban.what for ban in policy.user_prohibitions}
    return [name for name in policy.denied_tools if name not in banned]


def _approvals(policy: TaskPolicy) -> list[tuple[str, str, str]]:
    return [(_does(name), "", "") for name in policy.requires_approval]


def _rest(verdicts: Mapping[Risk, Verdict]) -> list[tuple[str, str]]:
    """Return what becomes of a call that the policy does not authorize, by verdict."""
    words = {Verdict.ALLOW: "allowed", Verdict.ASK_USER: "you are asked", Verdict.BLOCK: "blocked"}
    classes = {
        verdict: [_CLASSES[risk] for risk, given in verdicts.items() if given is verdict and risk is not Risk.READ]
        for verdict in words
    }
    return [(words[verdict], ", ".join(named)) for verdict, named in classes.items() if named]


def _show_limits(policy: TaskPolicy) -> None:
    limits = []
    if policy.max_external_writes is not None:
        limits.append(("sends and outside changes", f"at most {policy.max_external_writes}"))
    if policy.allowed_external_domains:
        limits.append(("hosts", ", ".join(policy.allowed_external_domains)))
    if policy.allowed_paths:
        limits.append(("writes only below", ", ".join(policy.allowed_paths)))
    if policy.expires_at is not None:
        limits.append(("valid until", policy.expires_at.strftime("%Y-%m-%d %H:%M %Z").strip()))
    if limits:
        SCREEN.heading("Limits of the whole task")
        SCREEN.rows(limits)


def _where_overall(policy: TaskPolicy) -> str:
    return "\n".join((*policy.allowed_recipients, *policy.allowed_paths))


def _where_constrained(policy: TaskPolicy, name: str) -> str:
    bounds = policy.tool_constraints.get(name)
    if bounds is None:
        return _where_overall(policy)
    where: Iterable[str] = (
        *bounds.allowed_recipients, *bounds.allowed_domains, *bounds.allowed_paths, *bounds.allowed_objects
    )  # fmt: skip
    return "\n".join((*where, *([f"{bounds.max_calls} times"] if bounds.max_calls is not None else [])))


def _does(name: str) -> str:
    """Return what a capability, class or glob means, with its name."""
    entry = vocabulary().capabilities.get(name)
    if entry is not None:
        return f"{entry.does} ({name})"
    if name in Risk.__members__:
        return f"{_capital(_CLASSES[Risk(name)])} ({name})"
    return name


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _quoted(words: str) -> str:
    return f"“{shortened(words, 160)}”" if words else ""
