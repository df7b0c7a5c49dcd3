"""Keeps of a draft only what the words carry (DESIGN 7.7).

The theorem: for every draft, each hardened permission is a narrowing of one row of the envelope *and* of one row of the
draft. It holds by construction: a permission is made by `_meet` alone, from one row of each, and `_meet` only takes
the smaller of two bounds.

Rules of this file:

* Pure and total. A draft is untrusted whoever wrote it; a quote only chooses rows of the envelope, it makes none.
* Rows that come from one row of the envelope stay on its counter: "pay 10" split into four rows is 10 in all.
* A list whose entries all fall is not an empty list: an empty list would bind nothing, so the permission falls with it.
* Everything that falls is named with a reason.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from agentsfence_compiler.assembly import RiskMap, inferred_risks, risks_of, shared
from agentsfence_compiler.canonical_names import canonical_capability
from agentsfence_compiler.language.reading import Envelope, Reading, Request
from agentsfence_compiler.language.tokens import Kind, tokenize
from agentsfence_core.classification.targets.hosts import canonical_host, read_url
from agentsfence_core.classification.targets.paths import canonical_bound, is_literal, is_within, looks_like_path
from agentsfence_core.classification.targets.recipients import canonical_recipient
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Permission, Prohibition, Risk, Targets, parse_object
from agentsfence_core.ports import Dropped

if TYPE_CHECKING:
    from agentsfence_compiler.draft import DraftPermission, DraftProhibition, PolicyDraft

_OCCURRENCES = 256  # places of one quote that are looked at
_REPORTED = 1_000  # dropped entries that are listed
_ROWS = 10_000  # rows of a hardened policy
_WILD = frozenset("*?[]{}")
_TEMPLATE = re.compile(r"\{[^{}]{1,60}\}")
"""A place to fill in, as a draft repeats it from the words."""


@dataclass(frozen=True, slots=True)
class Hardened:
    """What is left of a draft."""

    permissions: tuple[Permission, ...] = ()
    prohibitions: tuple[Prohibition, ...] = ()
    """Those of the words first; a draft can add some, never remove one."""
    max_external_writes: int | None = None
    dropped: tuple[Dropped, ...] = ()


@dataclass(slots=True)
class _Words:
    """The instruction with its requests, made ready for look-ups by quote."""

    instruction: str
    requests: tuple[Request, ...]
    starts: list[int]
    rows: Mapping[str, list[Permission]]
    """Request quote -> rows of the envelope that rest on it."""
    inferred: RiskMap
    home: str | None
    found: dict[str, tuple[list[Permission], str]] = field(default_factory=dict)
    dropped: list[Dropped] = field(default_factory=list)

    def drop(self, what: str, why: str) -> None:
        if len(self.dropped) < _REPORTED:
            self.dropped.append(Dropped(what[: LIMITS.evidence_words], why))


def harden(
    draft: PolicyDraft, reading: Reading, envelope: Envelope, instruction: str, *, home: str | None = None
) -> Hardened:
    """Return the part of a draft that the words carry: within the envelope and within the draft, with all that fell."""
    words = _prepare(reading, envelope, instruction, home)
    kept = _all_hardened(draft, words)
    bans = [
        ban for ban in (_ban(entry, envelope.prohibitions, words) for entry in draft.prohibitions) if ban is not None
    ]
    budgets = [limit for limit in (envelope.max_external_writes, draft.max_external_writes) if limit is not None]
    return Hardened(
        kept,
        (*envelope.prohibitions, *bans),
        min(budgets, default=None),
        tuple(words.dropped),
    )


def whole(envelope: Envelope) -> Hardened:
    """Return the envelope itself: what the rules backend drafts."""
    return Hardened(shared(envelope.permissions), envelope.prohibitions, envelope.max_external_writes)


def _prepare(reading: Reading, envelope: Envelope, instruction: str, home: str | None) -> _Words:
    requests = tuple(sorted(reading.requests, key=lambda request: (request.start, request.end)))
    rows: dict[str, list[Permission]] = {}
    for row in shared(envelope.permissions):
        rows.setdefault(row.evidence, []).append(row)
    return _Words(instruction, requests, [request.start for request in requests], rows, inferred_risks(requests), home)


# ------------------------------------------------------------------------------------------------------------------
# Which rows a quote chooses


def _rows_of(quote: str, words: _Words) -> tuple[list[Permission], str]:
    """Return the envelope's rows that a quote rests on, or none and the reason."""
    known = words.found.get(quote)
    if known is None:
        known = words.found[quote] = _look_up(quote.strip(), words)
    return known


def _look_up(quote: str, words: _Words) -> tuple[list[Permission], str]:
    if not quote:
        return [], "it quotes nothing"
    text, position, reason = words.instruction, -1, "its quote is not in your words"
    for _ in range(_OCCURRENCES):
        position = text.find(quote, position + 1)
        if position < 0:
            break
        end = position + len(quote)
        if not _whole_token(text, position, end):
            continue
        requests = _overlapped(position, end, words)
        rows = [row for request in requests[:1] for row in words.rows.get(request.quote, ())]
        if len(requests) == 1 and rows:
            return rows, ""
        reason = "its quote takes in several requests" if len(requests) > 1 else "its quote asks for nothing"
    return [], reason


def _whole_token(text: str, start: int, end: int) -> bool:
    """Whether a piece neither starts nor ends inside a word or an address: ``alice@x`` is not in ``not-alice@x``."""
    return not (_joined(text[start - 1 : start], text[start]) or _joined(text[end - 1], text[end : end + 1]))


def _joined(left: str, right: str) -> bool:
    if not left or not right or not (left.isascii() and right.isascii()):
        return False
    return (left.isalnum() or left in "_@-") and (right.isalnum() or right in "_@-")


def _overlapped(start: int, end: int, words: _Words) -> list[Request]:
    """Return the consequential requests that a piece of the instruction touches, at most two.

    A request to read grants nothing and needs no evidence, so a quote may take one in: "Read the report and email it".
    """
    found: list[Request] = []
    place = max(0, bisect_right(words.starts, start) - 1)
    while (
        place > 0
        and words.requests[place - 1].end > start
        and words.requests[place - 1].start == words.requests[place].start
    ):
        place -= 1
    for request in words.requests[place : place + 64]:
        if request.start >= end or len(found) > 1:
            break
        if (
            request.end > start
            and request.risks - {Risk.READ}
            and not any(_same_span(request, other) for other in found)
        ):
            found.append(request)
    return found


def _same_span(first: Request, second: Request) -> bool:
    return first.start == second.start and first.end == second.end


# ------------------------------------------------------------------------------------------------------------------
# Permissions


def _all_hardened(draft: PolicyDraft, words: _Words) -> tuple[Permission, ...]:
    """Return what is left of all permissions, with counts that together are those of the words and of the draft."""
    kept: dict[str, Permission] = {}
    counts = _Counts()
    for entry in {repr(entry): entry for entry in draft.permissions[: LIMITS.draft_permissions]}.values():
        rows = _hardened(entry, words)
        counts.add(rows)
        for row in rows:
            if len(kept) < _ROWS:
                kept.setdefault(repr(row), row)
    own: dict[_Counter, Permission] = {}
    for row in (row for rows in words.rows.values() for row in rows if row.shares):
        known = own.setdefault(_counter(row), row)
        own[_counter(row)] = replace(
            row,
            max_calls=_smaller(row.max_calls, known.max_calls),
            max_amount=_less(row.max_amount, known.max_amount),
        )
    limited = (counts.limit(row, own[_counter(row)]) if row.shares else row for row in kept.values())
    return tuple({repr(row): row for row in limited}.values())


_Counter = tuple[str, str]
"""The counter of a row, and the request whose limit it is: two requests may count on one."""


def _counter(row: Permission) -> _Counter:
    return row.shares, row.evidence


@dataclass(slots=True)
class _Counts:
    """What the entries of a draft allow on each counter, added up.

    A draft that writes "two mails to bob and carol" as one mail to each means two in all; on the one counter that
    both rows are on, a limit of one each would refuse the second.
    """

    calls: dict[_Counter, int] = field(default_factory=dict)
    amounts: dict[_Counter, Decimal] = field(default_factory=dict)

    def add(self, rows: Iterable[Permission]) -> None:
        """Add one entry: what it allows at most on each of its counters."""
        calls: dict[_Counter, int] = {}
        amounts: dict[_Counter, Decimal] = {}
        for row in rows:
            key = _counter(row)
            if row.shares and row.max_calls is not None:
                calls[key] = max(row.max_calls, calls.get(key, 0))
            if row.shares and row.max_amount is not None:
                amounts[key] = max(_decimal(row.max_amount), amounts.get(key, Decimal(0)))
        for key, count in calls.items():
            self.calls[key] = self.calls.get(key, 0) + count
        for key, amount in amounts.items():
            self.amounts[key] = self.amounts.get(key, Decimal(0)) + amount

    def limit(self, row: Permission, own: Permission) -> Permission:
        """Return a row with the limits of its counter: never above those of the words."""
        calls, amount = row.max_calls, row.max_amount
        if calls is not None:
            calls = _smaller(self.calls.get(_counter(row)), own.max_calls)
        if amount is not None and _counter(row) in self.amounts:
            amount = _less(format(self.amounts[_counter(row)], "f"), own.max_amount)
        return replace(row, max_calls=calls, max_amount=amount)


def _decimal(amount: str) -> Decimal:
    try:
        return Decimal(amount)
    except InvalidOperation:
        return Decimal(0)


def _hardened(entry: DraftPermission, words: _Words) -> list[Permission]:
    """Return what is left of one permission, one row for each row of the envelope that it meets."""
    what = entry.capability or str(entry.risk)
    name = canonical_capability(entry.capability) if entry.capability else ""
    if entry.capability and not name:
        words.drop(f"{what}: {entry.quote}", "it names a wildcard or a tool about which nothing is known")
        return []
    if entry.risk is Risk.READ or (name and risks_of(name, words.inferred) == {Risk.READ}):
        return []  # reading needs no permission
    rows, reason = _rows_of(entry.quote, words)
    chosen = [row for row in rows if row.capability == name or entry.risk in risks_of(row.capability, words.inferred)]
    if not chosen:
        words.drop(f"{what}: {entry.quote}", reason or "the words that it quotes do not ask for this")
        return []
    met = [(_meet(entry, row, words)) for row in chosen]
    kept = [row for row in met if isinstance(row, Permission)]
    if not kept:
        words.drop(f"{what}: {entry.quote}", next(str(why) for why in met))
    return kept


def _meet(entry: DraftPermission, row: Permission, words: _Words) -> Permission | str:
    """Return the narrower of a drafted permission and a row of the envelope, or why there is none."""
    left = {
        "recipients": _of_kind(entry.recipients, row.recipients, _parties(entry.recipients, row, words)),
        "domains": _of_kind(entry.domains, row.domains, _hosts(entry.domains, row)),
        "paths": _of_kind(entry.paths, row.paths, _paths(entry.paths, row, words)),
        "objects": _of_kind(entry.objects, row.objects, _objects(entry.objects, row)),
    }
    for kind, targets in left.items():
        if targets is None:
            return f"none of its {kind} stands in the request that it quotes"
        asked: list[str] = getattr(entry, kind)
        for target in asked:
            if not _survived(target, targets):
                words.drop(f"{kind}: {target}", "it does not stand in the request that is quoted")
    values = _values(entry.values, row)
    if values is None:
        return "one of its values is not the one in your words"
    return Permission(
        capability=row.capability,
        recipients=left["recipients"] or (),
        domains=left["domains"] or (),
        paths=left["paths"] or (),
        objects=left["objects"] or (),
        values=values,
        max_calls=_smaller(entry.max_calls, row.max_calls),
        max_amount=_less(entry.max_amount, row.max_amount),
        needs_approval=entry.needs_approval or row.needs_approval,
        evidence=row.evidence,
        shares=row.shares,
    )


def _of_kind(asked: list[str], own: tuple[str, ...], met: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return what a row binds of one kind: as the words say where the draft is silent, else what both name."""
    return met if asked else own


def _survived(target: str, left: tuple[str, ...]) -> bool:
    folded = target.casefold()
    return any(kept.casefold() in folded or folded in kept.casefold() for kept in left[:64])


def _parties(asked: Iterable[str], row: Permission, words: _Words) -> tuple[str, ...] | None:
    """Return the row's parties that the draft names too.

    A row without parties has none to give: every effect asks. A send whose drafted parties all fall becomes such a
    row (the words do ask for a send); a payment or a share falls whole.
    """
    wanted = {canonical_recipient(target) for target in asked}
    left = tuple(party for party in row.recipients if canonical_recipient(party) in wanted)
    asks = not row.recipients or risks_of(row.capability, words.inferred) == {Risk.COMMUNICATION}
    return left if left or asks else None


def _hosts(asked: Iterable[str], row: Permission) -> tuple[str, ...] | None:
    wanted = {host for host in (canonical_host(target) for target in asked if _WILD.isdisjoint(target)) if host}
    if row.domains:
        return tuple(host for host in row.domains if canonical_host(host) in wanted) or None
    spoken = _hosts_of(row.evidence) if wanted else frozenset()
    return tuple(sorted(host for host in wanted if host in spoken or _stands_in(host, row.evidence))) or None


def _hosts_of(evidence: str) -> frozenset[str]:
    """Return the hosts of the URLs that stand in the words of a request."""
    urls = (token.value for token in tokenize(evidence) if token.kind is Kind.URL)
    return frozenset(host for url in urls if (read := read_url(url)) is not None and (host := read.host))


def _paths(asked: Iterable[str], row: Permission, words: _Words) -> tuple[str, ...] | None:
    """Return the smaller of each drafted and bound path; a row that binds no path takes literal ones."""
    bound = [(own, canonical_bound(own, workdir=None, home=words.home)) for own in row.paths]
    found: dict[str, None] = {}
    for target in asked:
        path = canonical_bound(target, workdir=None, home=words.home)
        if not is_literal(target) or _is_root(path, words.home):
            continue
        relative = "/" in target and "://" not in target and len(target.split()) == 1
        if not row.paths and (relative or looks_like_path(target)) and _stands_in(target, row.evidence):
            found[path] = None
        for own, canonical in bound:
            smaller = path if _ends_within(path, canonical) else _smaller_path(path, canonical)
            if smaller:
                found[own if smaller == canonical else smaller] = None
    return tuple(found) or None


def _ends_within(path: str, pattern: str) -> bool:
    """Whether a path is one of "the .tmp files in /srv/w/": ``/srv/w/**.tmp``."""
    folder, stars, ending = pattern.partition("**")
    return bool(stars) and not _WILD & set(ending) and is_within(path, folder) and path.endswith(ending)


def _smaller_path(first: str, second: str) -> str:
    """Return the one of two paths that lies within the other, nothing where neither does."""
    bare = (first.rstrip("/"), second.rstrip("/"))
    if bare[0] == bare[1]:
        return max(first, second, key=len)  # with a trailing slash: only what is below
    if is_within(bare[0], second):
        return first
    return second if is_within(bare[1], first) else ""


def _is_root(path: str, home: str | None) -> bool:
    """Whether a path is a root or a home directory, which no draft can name."""
    bare = path.rstrip("/\\")
    parts = bare.split("/")
    if bare in {"", ".", "/root", "/home", "/Users"} or (home and bare == home.rstrip("/")):
        return True
    if len(parts) == 1:
        return bare.startswith("~") or bare.endswith(":")
    return len(parts) == 3 and parts[1] in {"home", "Users"}


def _objects(asked: Iterable[str], row: Permission) -> tuple[str, ...] | None:
    """Return the row's objects that the draft names too; a row that binds none takes literal ones."""
    wanted = [parse_object(target) for target in asked if _WILD.isdisjoint(_TEMPLATE.sub("", target))]
    if not row.objects:
        return (
            tuple(dict.fromkeys(str(reference) for reference in wanted if _stands_in(reference.name, row.evidence)))
            or None
        )
    names = {_TEMPLATE.sub("*", reference.name).casefold(): reference.kind for reference in wanted}
    kept = [text for text in row.objects if _names(names, text)]
    return tuple(kept) or None


def _names(wanted: Mapping[str, str], text: str) -> bool:
    own = parse_object(text)
    kind = wanted.get(own.name.casefold())
    return kind is not None and (kind == own.kind or "name" in {kind, own.kind})


def _values(asked: Mapping[str, str], row: Permission) -> dict[str, str] | None:
    """Return the values of both; ``None`` where they contradict, or where a new one does not stand in the words."""
    found = dict(row.values)
    for name, value in asked.items():
        own = row.values.get(name)
        if own is None and not _stands_in(value, row.evidence):
            return None
        if own is not None and own.strip().casefold() != value.strip().casefold():
            return None
        found.setdefault(name, value)
    return found


def _stands_in(target: str, words: str) -> bool:
    """Whether a target stands in the words of a request as a whole token."""
    folded, wanted = words.casefold(), target.strip().casefold()
    position = folded.find(wanted) if wanted else -1
    for _ in range(_OCCURRENCES):
        if position < 0:
            return False
        end = position + len(wanted)
        if not (_inside(folded[position - 1 : position] if position else "") or _goes_on(folded[end : end + 2])):
            return True
        position = folded.find(wanted, position + 1)
    return False


def _goes_on(after: str) -> bool:
    """Whether what follows belongs to the same token: a full stop does only where something stands behind it."""
    return _inside(after[:1]) and (after[0] != "." or after[1:].isalnum())


def _inside(character: str) -> bool:
    return bool(character) and (character.isalnum() or character in "_@-./\\~")


def _smaller(first: int | None, second: int | None) -> int | None:
    return min((limit for limit in (first, second) if limit is not None), default=None)


def _less(first: str | None, second: str | None) -> str | None:
    """Return the smaller amount; one that cannot be read counts as nothing allowed."""
    if first is None or second is None:
        return second if first is None else first
    try:
        return first if Decimal(first) < Decimal(second) else second
    except InvalidOperation:
        return "0"


# ------------------------------------------------------------------------------------------------------------------
# Prohibitions


def _ban(entry: DraftProhibition, own: tuple[Prohibition, ...], words: _Words) -> Prohibition | None:
    """Return a drafted prohibition whose quote stands in the words; those that the words are read to say win."""
    what = canonical_capability(entry.capability) if entry.capability else str(entry.risk)
    quote = entry.quote.strip()
    if not what or not quote or quote not in words.instruction:
        words.drop(f"prohibition of {entry.capability or entry.risk}: {entry.quote}", "its quote is not in your words")
        return None
    if any(ban.quote and (ban.quote in quote or quote in ban.quote) for ban in own):
        return None  # the words are read already, with their own scope
    targets = [target for target in entry.targets if _stands_in(target, words.instruction)]
    if entry.targets and not targets:
        words.drop(f"prohibition of {what}: {entry.quote}", "none of its targets stands in your words")
        return None
    return Prohibition(what=what, targets=sorted_targets(targets), quote=quote)


def sorted_targets(targets: Iterable[str]) -> Targets:
    """Return targets by kind: addresses, paths, hosts, and names."""
    kinds: dict[str, list[str]] = {"recipients": [], "domains": [], "paths": [], "objects": []}
    for target in targets:
        if "@" in target or target.startswith("#"):
            kinds["recipients"].append(canonical_recipient(target))
        elif target.startswith(("/", "~/", "./")):
            kinds["paths"].append(target)
        elif "." in target and " " not in target and canonical_host(target):
            kinds["domains"].append(str(canonical_host(target)))
        else:
            kinds["objects"].append(target)
    return Targets(**{kind: tuple(dict.fromkeys(found)) for kind, found in kinds.items()})
