"""The most that the words can carry: one row per request and capability (DESIGN 7.3 to 7.5).

Rules of this file:

* A row binds what its own request names; what it must bind and cannot, it leaves to the person (``needs_approval``).
* People named without an address make two rows: one for an argument equal to the name, one that binds nobody.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from agentsfence_compiler.language import coverage
from agentsfence_compiler.language.reading import Envelope, Reading, Request
from agentsfence_compiler.language.tables import ACCESS_ROLES, BUILDS, BUILT
from agentsfence_core.model import Permission, Risk, TargetKind

_NEEDS_TARGET = frozenset({Risk.DELETE, Risk.PERMISSION_CHANGE, Risk.FINANCIAL})
_REACHING = frozenset({Risk.COMMUNICATION, Risk.PERMISSION_CHANGE, Risk.FINANCIAL})
_COUNTED = frozenset({Risk.EXTERNAL_WRITE, Risk.COMMUNICATION, Risk.DELETE, Risk.PERMISSION_CHANGE, Risk.FINANCIAL})
_CARRYING = ("calendar.", "email.draft", "task.", "issue.update")
"""Writes outside that can carry a party."""
_ATTACHING = frozenset({"email.send", "message.send", "chat.send"})
"""What carries files: those that the words name, and no other."""
_COMMANDS = 128
"""Different commands of one message that are read; beyond them every command is asked about."""
_NO_FILES = frozenset({"memory.write"})
"""Local writes that touch none of the person's files."""
_WHICH = frozenset({"target", "script"})
"""Values that say which of a tool's jobs runs: ``make docs`` is no ``make deploy``."""
_OWN_PACKAGES = "package:(those that the project declares)"
"""Stands for "the dependencies": equal to no package name, so that any package named in a call is outside."""

_FAMILY_KINDS = {
    "email": ("label", "draft", "message"),
    "message": (),
    "chat": ("channel",),
    "calendar": ("event", "calendar"),
    "file": ("file", "folder"),
    "comment": ("repo", "issue", "pr", "page", "task"),
    "folder": ("folder",),
    "drive": ("file", "folder", "page"),
    "git": ("branch", "remote", "tag", "commit"),
    "repo": ("repo", "branch", "pr", "issue", "file"),
    "issue": ("repo", "issue", "label", "pr"),
    "pr": ("repo", "pr", "branch"),
    "package": ("package",),
    "container": ("container", "image", "service"),
    "cloud": ("service", "bucket", "resource"),
    "database": ("database", "table"),
    "task": ("task", "project", "issue"),
    "note": ("note", "page", "database"),
    "payment": ("invoice", "order", "payee"),
    "purchase": ("product", "order", "subscription"),
    "booking": ("booking", "order"),
    "playlist": ("playlist", "track"),
    "record": ("invoice", "contact", "account", "order", "product"),
    "workflow": ("workflow", "repo"),
    "schedule": ("job",),
    "process": ("process", "service"),
    "access": ("repo", "role", "group", "file"),
    "contact": ("contact",),
    "media": ("playlist", "track"),
    "social": ("repo", "account"),
    "account": ("account",),
    "skill": (),
    "memory": (),
    "deploy": ("service",),
}
"""Kinds of objects that a capability's effects can carry; other names of the clause do not bind it."""


def envelope(
    reading: Reading, *, workspace: str | None = None, workdir: str | None = None, home: str | None = None
) -> Envelope:
    """Return the rows, bans and limits that a reading carries. Total and linear."""
    rows: list[Permission] = []
    left = _COMMANDS
    for request in reading.requests:
        for capability in request.capabilities:
            rows += _rows(request, capability, workspace)
        if request.commands:
            commands = tuple(dict.fromkeys(request.commands))
            few = replace(request, commands=commands[:left])
            rows += _command_rows(few, workspace=workspace, workdir=workdir, home=home)
            if len(commands) > left:
                # INVARIANT: a limit is where reading stops, never where protection stops.
                rows.append(Permission(capability="shell.exec", needs_approval=True, evidence=request.quote))
            left = max(0, left - len(commands))
    return Envelope(
        permissions=tuple(_distinct(rows)),
        prohibitions=reading.prohibitions,
        only_domains=reading.only_domains,
        max_external_writes=reading.max_external_writes,
        requires_approval=reading.requires_approval,
    )


def _distinct(rows: Iterable[Permission]) -> list[Permission]:
    """Return the rows without exact repetitions."""
    kept: list[Permission] = []
    seen: set[tuple[str, str]] = set()
    for row in rows:
        key = (repr(replace(row, evidence="")), row.evidence)  # a long quote is hashed once, not once per row
        if key not in seen:
            seen.add(key)
            kept.append(row)
    return kept


def _rows(request: Request, capability: str, workspace: str | None) -> list[Permission]:
    if capability == "shell.exec":
        return []
    risk = coverage.risk_of(capability, request.verb)
    paths = _paths(request, capability, risk, workspace)
    objects = _objects(request, capability)
    recipients = request.recipients if risk in _REACHING or capability.startswith(_CARRYING) else ()
    row = Permission(
        capability=capability,
        recipients=recipients,
        domains=request.domains if capability.startswith(("web.", "browser.", "file.upload")) else (),
        paths=paths,
        objects=objects,
        values=dict(request.values) if risk is Risk.PERMISSION_CHANGE else {},
        max_calls=request.max_calls if risk in _COUNTED else None,
        max_amount=request.max_amount if risk is Risk.FINANCIAL else None,
        needs_approval=_asks(request, capability, risk, paths, objects, recipients),
        evidence=request.quote,
    )
    rows = [row]
    if risk in _REACHING and request.names:
        named = tuple(dict.fromkeys((*recipients, *request.names)))
        asks = _asks(request, capability, risk, paths, objects, named)
        rows = [replace(row, recipients=named, needs_approval=asks), *(() if recipients else (row,))]
    if capability == "build.run" and not request.values:
        return _builds(row)
    return [each for row in rows for each in _by_role(row)]


def _builds(row: Permission) -> list[Permission]:
    """Return the row for the targets that only build; any other ("make deploy") is asked about."""
    named = [word for word in row.evidence.lower().split() if word.strip(".,;:!`'\"") in BUILT][:4]
    targets = dict.fromkeys((*BUILDS, *(word.strip(".,;:!`'\"") for word in named)))
    return [*(replace(row, values={"target": target}) for target in targets), replace(row, needs_approval=True)]


def _by_role(row: Permission) -> list[Permission]:
    """Return the row once for each way in which services write its role: "reader", "viewer", "read"."""
    spellings = ACCESS_ROLES.get(row.values.get("role", ""), ())
    return [replace(row, values={**row.values, "role": word}) for word in spellings] or [row]


def _paths(request: Request, capability: str, risk: Risk, workspace: str | None) -> tuple[str, ...]:
    if risk is Risk.COMMUNICATION and capability in _ATTACHING:
        return request.paths
    if capability.startswith(("drive.", "email.", "note.", "record.", "database.", "repo.", "calendar.", "account.")):
        return ()
    if risk in (Risk.DELETE, Risk.EXECUTION, Risk.PERMISSION_CHANGE):
        return request.paths
    if risk is not Risk.LOCAL_WRITE or capability in _NO_FILES:
        return ()
    return request.paths or ((workspace,) if workspace else ())


def _objects(request: Request, capability: str) -> tuple[str, ...]:
    """Return the names of the clause that this capability's effects can carry."""
    if capability == "package.install" and not any(o.startswith("package:") for o in request.objects):
        return (_OWN_PACKAGES,)
    kinds = _FAMILY_KINDS.get(capability.partition(".")[0])
    if kinds is None:
        return request.objects
    return tuple(name for name in request.objects if name.partition(":")[0] in {*kinds, "id"} or ":" not in name)


def _asks(
    request: Request,
    capability: str,
    risk: Risk,
    paths: tuple[str, ...],
    objects: tuple[str, ...],
    recipients: tuple[str, ...],
) -> bool:
    """Whether the row needs the person's approval (DESIGN 7.4)."""
    if request.ask_first:
        return True
    if risk is Risk.LOCAL_WRITE:
        return not paths and capability not in _NO_FILES
    if risk not in _NEEDS_TARGET:
        return False
    if request.conditional or (risk is Risk.FINANCIAL and request.max_amount is None):
        return True
    return not (paths or objects or recipients)


def _command_rows(
    request: Request, *, workspace: str | None, workdir: str | None, home: str | None
) -> list[Permission]:
    """Return rows for exactly the effects of the literal commands of the words; an opaque command is asked about."""
    from agentsfence_core.classification.shell import read_command  # noqa: PLC0415  (the parser loads only here)

    rows = []
    for command in request.commands:
        reading = read_command(command, workdir=workdir or workspace, home=home)
        for effect in reading.effects:
            if effect.risk in (Risk.READ, Risk.UNKNOWN):
                continue
            # A script that the words name is what they ask for; of other opaque programs nothing can be bound.
            named = (
                effect.capability == "script.run" and bool(effect.paths) and effect.unverified <= {TargetKind.PROGRAM}
            )
            opaque = not effect.verified and not named
            rows.append(
                Permission(
                    capability=effect.capability,
                    recipients=effect.recipients,
                    domains=effect.domains,
                    paths=effect.paths,
                    objects=tuple(str(reference) for reference in effect.objects),
                    values={name: value for name, value in effect.values if name in _WHICH},
                    needs_approval=opaque
                    or request.ask_first
                    or (request.conditional and effect.risk in _NEEDS_TARGET)
                    or (effect.risk in _NEEDS_TARGET and not (effect.paths or effect.objects or effect.recipients)),
                    evidence=request.quote,
                )
            )
    return rows
