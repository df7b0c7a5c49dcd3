"""When two names, hosts, paths or objects count as the same for the naive evaluator. Nothing here comes from core."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase

from agentsfence_core.model import OBJECT_KINDS, Effect, ObjectRef, Verdict

ALLOW, ASK, BLOCK = Verdict.ALLOW, Verdict.ASK_USER, Verdict.BLOCK


def party_in(party: str, entries: Iterable[str]) -> bool:
    """Whether a party is listed; ``*`` lists everybody, and a channel or handle may be written without its sign."""
    for entry in entries:
        if entry in {"*", party}:
            return True
        if "@" not in party[1:] and "@" not in entry[1:]:
            signs = {name[0] for name in (party, entry) if name[:1] in {"#", "@"}}
            if len(signs) == 1 and party.lstrip("#@") == entry.lstrip("#@"):
                return True
    return False


def names(entry: str, tool: str, effect: Effect, *, classes: bool = True) -> bool:
    """Whether an entry of a list names this tool or effect."""
    if classes and entry == effect.risk.value:
        return True
    return any(entry == name or fnmatchcase(name, entry) for name in (tool, effect.capability))


def host_in(host: str, entries: tuple[str, ...]) -> bool:
    """Whether a host is one of the entries, ``www.`` before one of them, or below a ``*.`` entry."""
    for entry in entries:
        if host in {entry, f"www.{entry}"}:
            return True
        if entry.startswith("*.") and host.endswith(entry[1:]) and host != entry[2:]:
            return True
    return False


def path_in(path: str, entries: tuple[str, ...], home: str | None) -> bool:
    """Whether a path is an entry or below it; below only, where the entry ends in a slash."""
    for written in entries:
        entry = home + written[1:] if home and written.startswith("~/") else written
        if entry.endswith("/"):
            if path.startswith(entry) and path != entry:
                return True
        elif path == entry or path.startswith(entry + "/"):
            return True
    return False


def read_object(text: str) -> ObjectRef:
    """``branch:main`` or a bare name."""
    kind, _, name = text.partition(":")
    return ObjectRef(kind, name) if name and kind in OBJECT_KINDS else ObjectRef("name", text)


def comparable(one: ObjectRef, other: ObjectRef) -> bool:
    """Whether two objects are of one kind, as far as the words say."""
    return one.kind == other.kind or "name" in {one.kind, other.kind}


def object_in(thing: ObjectRef, entries: tuple[str, ...]) -> Verdict:
    """ALLOW where an object is among the entries or no entry is of its kind, ASK where it is opaque, else BLOCK."""
    rivals = [entry for entry in map(read_object, entries) if comparable(thing, entry)]
    if any(rival.name == thing.name for rival in rivals):
        return ALLOW
    if thing.kind == "id":
        return ASK
    return BLOCK if rivals else ALLOW


def amounts_of(effect: Effect) -> list[Decimal] | None:
    """Every amount of an effect; ``None`` where there is none, or one that cannot be added up."""
    amounts = []
    for name, text in effect.values:
        if name == "amount":
            try:
                amount = Decimal(text)
            except InvalidOperation:
                return None
            if not amount.is_finite() or amount < 0:
                return None
            amounts.append(amount)
    return amounts or None
