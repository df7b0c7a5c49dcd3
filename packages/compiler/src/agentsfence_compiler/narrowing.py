"""What a prohibition does to what was allowed before, and a request to what was forbidden before (DESIGN 7.8).

Pure. `without` only takes away; `lifted` only for a request that the person has written after the ban.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from agentsfence_compiler.assembly import RiskMap, risks_of
from agentsfence_core.classification.targets.hosts import canonical_host
from agentsfence_core.classification.targets.paths import canonical_bound, is_within
from agentsfence_core.classification.targets.recipients import canonical_recipient
from agentsfence_core.classification.vocabulary import vocabulary
from agentsfence_core.model import Permission, Prohibition, Risk, Targets, parse_object

KINDS = ("recipients", "paths", "domains", "objects")
"""Kinds of targets, in the order in which one of them tells what a request is about."""

_CLASSES = frozenset(risk.value for risk in Risk)


def covers(ban: Prohibition, capability: str, inferred: RiskMap) -> bool:
    """Whether a ban is about a capability, whatever its targets."""
    if ban.what in _CLASSES:
        return Risk(ban.what) in risks_of(capability, inferred)
    return ban.what == capability or fnmatchcase(capability, ban.what)


def without(rows: Iterable[Permission], bans: Iterable[Prohibition], inferred: RiskMap) -> tuple[Permission, ...]:
    """Return the rows minus what the bans forbid; a row that loses every target of a kind goes."""
    kept = list(rows)
    for ban in bans:
        kept = [left for row in kept if (left := _spared(row, ban, inferred)) is not None]
    return tuple(kept)


def _spared(row: Permission, ban: Prohibition, inferred: RiskMap) -> Permission | None:
    if not covers(ban, row.capability, inferred):
        return row
    if ban.targets:
        return _reduced(row, ban.targets, keep=False)
    return _reduced(row, ban.exceptions, keep=True) if ban.exceptions else None


def _reduced(row: Permission, targets: Targets, *, keep: bool) -> Permission | None:
    """Return the row with only (or without) the targets named, ``None`` where a bound kind has none left.

    A kind that the row leaves open stays open: the ban itself still forbids its targets.
    """
    for kind in KINDS:
        named, own = getattr(targets, kind), getattr(row, kind)
        if not named or not own:
            continue
        left = tuple(target for target in own if any(same(kind, target, other) for other in named) is keep)
        if not left:
            return None
        row = aimed(row, {kind: left})
    return row


def aimed(row: Permission, targets: Mapping[str, tuple[str, ...]]) -> Permission:
    """Return the row with its targets of the given kinds replaced."""
    return replace(
        row,
        recipients=targets.get("recipients", row.recipients),
        paths=targets.get("paths", row.paths),
        domains=targets.get("domains", row.domains),
        objects=targets.get("objects", row.objects),
    )


def _set(targets: Targets, kind: str, entries: tuple[str, ...]) -> Targets:
    return Targets(
        recipients=entries if kind == "recipients" else targets.recipients,
        paths=entries if kind == "paths" else targets.paths,
        domains=entries if kind == "domains" else targets.domains,
        objects=entries if kind == "objects" else targets.objects,
    )


def same(kind: str, target: str, named: str) -> bool:
    """Whether a target is one that is named, or lies within it."""
    if kind == "recipients":
        return canonical_recipient(target) == canonical_recipient(named)
    if kind == "domains":
        return canonical_host(target) == canonical_host(named)
    if kind == "paths":
        inner, outer = (canonical_bound(path, workdir=None, home=None) for path in (target, named))
        return inner.rstrip("/") == outer.rstrip("/") or is_within(inner.rstrip("/"), outer)
    first, second = parse_object(target), parse_object(named)
    return first.name.casefold() == second.name.casefold() and (
        first.kind == second.kind or "name" in {first.kind, second.kind}
    )


def lifted(
    bans: Iterable[Prohibition], rows: Iterable[tuple[Permission, Permission]], inferred: RiskMap
) -> tuple[Prohibition, ...]:
    """Return the older bans after the rows of a newer explicit request: lifted for what it asks, no more.

    Each row comes with what the words themselves name of it: a workspace that is only implied names nothing.
    """
    left = list(bans)
    for row, named in rows:
        left = [rest for ban in left for rest in _after(ban, row, named, inferred)]
    return tuple({repr(ban): ban for ban in left}.values())


def _after(ban: Prohibition, row: Permission, named: Permission, inferred: RiskMap) -> tuple[Prohibition, ...]:
    if not covers(ban, row.capability, inferred):
        return (ban,)
    if ban.targets:
        return _spoken_of(ban, named)
    kind = next((kind for kind in KINDS if getattr(row, kind)), "")
    return (_excepting(ban, kind, getattr(row, kind)),) if kind else _unscoped(ban, row.capability)


def _spoken_of(ban: Prohibition, named: Permission) -> tuple[Prohibition, ...]:
    """Return what is left of a ban on targets: those go that a request names itself; a folder around them names none.

    "Don't touch a.py" is not taken back by "fix the bug" or "clean up the folder", but by "edit a.py".
    """
    for kind in KINDS:
        asked: tuple[str, ...] = getattr(named, kind)
        banned: tuple[str, ...] = getattr(ban.targets, kind)
        rest = tuple(target for target in banned if not any(_names(kind, wanted, target) for wanted in asked))
        inside = tuple(wanted for wanted in asked if any(same(kind, wanted, target) for target in rest))
        if rest != banned:
            ban = replace(ban, targets=_set(ban.targets, kind, rest))
        if inside:
            ban = _excepting(ban, kind, inside)
    return (ban,) if ban.targets else ()


def _names(kind: str, wanted: str, target: str) -> bool:
    """Whether a request names a banned target itself."""
    return same(kind, target, wanted) and (kind != "paths" or same(kind, wanted, target))


def _excepting(ban: Prohibition, kind: str, asked: tuple[str, ...]) -> Prohibition:
    known: tuple[str, ...] = getattr(ban.exceptions, kind)
    return replace(ban, exceptions=_set(ban.exceptions, kind, tuple(dict.fromkeys((*known, *asked)))))


def _unscoped(ban: Prohibition, capability: str) -> tuple[Prohibition, ...]:
    """Return what is left of a ban without targets after a request that names none.

    A ban of a class goes on for the other capabilities of that class: after "don't send anything", "post it on Slack"
    does not let a mail out.
    """
    return () if ban.what == capability else _others(ban, capability)


def _others(ban: Prohibition, capability: str) -> tuple[Prohibition, ...]:
    table = vocabulary().capabilities
    names = [
        name
        for name, entry in table.items()
        if name != capability and covers(ban, name, {name: frozenset({entry.risk})})
    ]
    return tuple(replace(ban, what=name) for name in names)
