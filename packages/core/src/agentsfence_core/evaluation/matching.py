"""Sets that policies are made of, prepared once so that a look-up does not grow with the number of entries.

Rules of this file: pure values; an empty set never stands for "everything" (a caller that means "not bound" has
``None``); every look-up is linear in the length of what is looked up, never in the number of entries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import translate

from agentsfence_core.classification.targets.hosts import canonical_host
from agentsfence_core.classification.targets.paths import canonical_path
from agentsfence_core.classification.targets.recipients import canonical_recipient
from agentsfence_core.model import Effect, ObjectRef, Risk, parse_object

_MEMO = 4_096  # look-ups remembered per set of names
_GLOB = frozenset("*?[")
_CLASSES = {risk.value: risk for risk in Risk}


def is_glob(text: str) -> bool:
    """Whether a pattern has wildcards."""
    return not _GLOB.isdisjoint(text)


def glob_matcher(patterns: Iterable[str]) -> re.Pattern[str] | None:
    """Return one compiled pattern that matches what any of the globs matches; ``None`` for none."""
    parts = [f"(?:{translate(pattern)})" for pattern in patterns]
    return re.compile("|".join(parts)) if parts else None


@dataclass(frozen=True, slots=True)
class Names:
    """Tool names, capabilities, globs and risk classes: the syntax of ``allowed_tools`` (task policies, "Fields")."""

    exact: frozenset[str] = frozenset()
    classes: frozenset[Risk] = frozenset()
    globs: re.Pattern[str] | None = None
    _memo: dict[tuple[str, str], bool] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, entries: Iterable[str], classes: Iterable[Risk] = ()) -> Names:
        """Return the set that a list of entries describes."""
        listed = tuple(entries)
        named = frozenset(_CLASSES[entry] for entry in listed if entry in _CLASSES)
        exact = frozenset(entry for entry in listed if entry not in _CLASSES and not is_glob(entry))
        return cls(exact, named | frozenset(classes), glob_matcher(sorted({e for e in listed if is_glob(e)})))

    def __bool__(self) -> bool:
        """Whether anything is named."""
        return bool(self.exact or self.classes or self.globs is not None)

    def cover(self, tool: str, effect: Effect) -> bool:
        """Whether the tool, the effect's capability or its class is named."""
        if effect.risk in self.classes or effect.capability in self.exact or tool in self.exact:
            return True
        if self.globs is None:
            return False
        key = (tool, effect.capability)
        known = self._memo.get(key)
        if known is None:
            known = bool(self.globs.match(effect.capability) or self.globs.match(tool))
            if len(self._memo) < _MEMO:
                self._memo[key] = known
        return known


@dataclass(frozen=True, slots=True)
class Parties:
    """Addresses, handles, channels, accounts; ``@example.com`` stands for every address of a domain.

    A channel or handle with its sign and one without are the same (``#general`` and ``general``, ``@bob`` and ``bob``),
    because tools take either; ``#bob`` and ``@bob`` are not.
    """

    exact: frozenset[str]
    at_domains: frozenset[str] = frozenset()
    everyone: bool = False
    """``*``, which only a prohibition can say."""

    @classmethod
    def of(cls, entries: Iterable[str]) -> Parties:
        """Return the set of canonical parties."""
        exact: set[str] = set()
        domains: set[str] = set()
        listed = tuple(entries)
        for entry in listed:
            bare = entry.strip().removeprefix("*")
            if bare.startswith("@") and "." in bare:
                domains.add(bare[1:].lower())
            else:
                exact.add(canonical_recipient(entry))
        return cls(frozenset(exact - {"*"}), frozenset(domains), everyone="*" in listed)

    def __contains__(self, party: str) -> bool:
        """Whether this canonical party is one of them."""
        if party in self.exact or self.everyone:
            return True
        name, at, domain = party.rpartition("@")
        if at and name:
            return domain in self.at_domains
        if party[:1] in {"#", "@"}:
            return party[1:] in self.exact
        return f"#{party}" in self.exact or f"@{party}" in self.exact


@dataclass(frozen=True, slots=True)
class Hosts:
    """Hosts: equal, or ``www.`` of one; ``*.example.com`` for every subdomain."""

    exact: frozenset[str]
    below: frozenset[str] = frozenset()

    @classmethod
    def of(cls, entries: Iterable[str]) -> Hosts:
        """Return the set of canonical hosts; an entry that is no host matches nothing."""
        exact: set[str] = set()
        below: set[str] = set()
        for entry in entries:
            wild = entry.startswith("*.")
            host = canonical_host(entry[2:] if wild else entry)
            if host:
                (below if wild else exact).add(host)
        return cls(frozenset(exact), frozenset(below))

    def __contains__(self, host: str) -> bool:
        """Whether this canonical host is one of them."""
        if host in self.exact or host.removeprefix("www.") in self.exact:
            return True
        while self.below and "." in host:
            host = host.partition(".")[2]
            if host in self.below:
                return True
        return False


@dataclass(frozen=True, slots=True)
class Paths:
    """Paths: the entry and all below it; with a trailing ``/`` only what is below; globs."""

    at_or_below: frozenset[str]
    below: frozenset[str] = frozenset()
    globs: re.Pattern[str] | None = None
    above: frozenset[str] = frozenset()
    """Every folder that an entry lies in."""
    names: frozenset[str] = frozenset()
    """Last segment of each entry, case folded: by it a tool without paths names the same file."""

    @classmethod
    def of(cls, entries: Iterable[str], *, home: str | None = None, workdir: str | None = None) -> Paths:
        """Return the set of canonical paths; ``~`` and relative entries are made absolute where possible."""
        whole: set[str] = set()
        inner: set[str] = set()
        globs: set[str] = set()
        for entry in entries:
            if is_glob(entry):
                globs.add(_path_glob(canonical_path(entry, workdir=workdir, home=home)))
                continue
            path = canonical_path(entry, workdir=workdir, home=home)
            (inner if entry.endswith("/") and path != "/" else whole).add(path.rstrip("/") or "/")
        compiled = re.compile("|".join(sorted(globs))) if globs else None
        above = frozenset(_folders_of(whole | inner))
        names = frozenset(path.rpartition("/")[2].casefold() for path in whole)
        return cls(frozenset(whole), frozenset(inner), compiled, above, names)

    def __contains__(self, path: str) -> bool:
        """Whether this canonical path is one of them or lies below one. Linear in its depth."""
        if path in self.at_or_below:
            return True
        end = path.rfind("/")
        while end > 0:
            folder = path[:end]
            if folder in self.at_or_below or folder in self.below:
                return True
            end = path.rfind("/", 0, end)
        return self.globs is not None and self.globs.fullmatch(path) is not None


def _folders_of(paths: Iterable[str]) -> Iterable[str]:
    """Yield every folder above each path."""
    for path in paths:
        end = path.rfind("/")
        while end > 0:
            yield path[:end]
            end = path.rfind("/", 0, end)
        if path.startswith("/"):
            yield "/"


def _path_glob(pattern: str) -> str:
    """Return a regular expression in which ``*`` stays inside one folder and ``**`` crosses folders."""
    parts: list[str] = []
    place = 0
    while place < len(pattern):
        if pattern.startswith("**", place):
            parts.append(".*")
            place += 2 + (pattern[place + 2 : place + 3] == "*")
            while pattern.startswith("*", place):
                place += 1
        elif pattern[place] == "*":
            parts.append("[^/]*")
            place += 1
        elif pattern[place] == "?":
            parts.append("[^/]")
            place += 1
        else:
            parts.append(re.escape(pattern[place]))
            place += 1
    return f"(?:{''.join(parts)})"


@dataclass(frozen=True, slots=True)
class Objects:
    """Names of things by kind. An entry without a kind (``name``) speaks of every kind; ``*`` stands for any text."""

    by_kind: Mapping[str, frozenset[str]]
    patterns: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Kind, and the texts between the ``*`` of a name such as ``Dinner at *``."""

    @classmethod
    def of(cls, entries: Iterable[str]) -> Objects:
        """Return the set of objects that ``kind:name`` entries describe."""
        kinds: dict[str, set[str]] = {}
        patterns: list[tuple[str, tuple[str, ...]]] = []
        for entry in entries:
            reference = parse_object(entry)
            names = kinds.setdefault(reference.kind, set())
            if "*" in reference.name:
                patterns.append((reference.kind, tuple(reference.name.casefold().split("*"))))
            else:
                names.add(reference.name.casefold())
        return cls({kind: frozenset(names) for kind, names in kinds.items()}, tuple(patterns))

    def binds(self, kind: str) -> bool:
        """Whether an object of this kind is bound by some entry."""
        return kind in self.by_kind or "name" in self.by_kind or kind == "name"

    def __contains__(self, reference: ObjectRef) -> bool:
        """Whether this object is one of them."""
        name = reference.name.casefold()
        if self.patterns and any(
            "name" in {kind, reference.kind} or kind == reference.kind
            for kind, parts in self.patterns
            if _fills(parts, name)
        ):
            return True
        if reference.kind == "name":
            return any(name in names for names in self.by_kind.values())
        return name in self.by_kind.get(reference.kind, ()) or name in self.by_kind.get("name", ())


def _fills(parts: tuple[str, ...], name: str) -> bool:
    """Whether a name is these texts in order with anything in between; linear in the name for a given pattern."""
    first, *middle, last = parts
    if len(name) < sum(map(len, parts)) or not name.startswith(first) or not name.endswith(last):
        return False
    place, end = len(first), len(name) - len(last)
    for part in middle:
        place = name.find(part, place, end)
        if place < 0:
            return False
        place += len(part)
    return True
