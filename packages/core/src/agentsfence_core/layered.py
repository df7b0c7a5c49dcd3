"""A mapping that is never changed and cheap to derive from: a base that is shared, and a few changes on top.

Every check adds one ticket to a few hundred, so a copy of all of them would be most of its cost. Deriving copies only
the changes since the base; a store that knows the mapping before finds what differs without looking at the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Generic, TypeVar

Value = TypeVar("Value")
_CHANGES = 64  # changes on top of a base before a new base is made
_SERIALS = count(1)  # tells a mapping's direct ancestor from every other one


class Layered(Mapping[str, Value], Generic[Value]):
    """A frozen mapping in the order of insertion. INVARIANT: neither dictionary changes after construction."""

    __slots__ = ("_base", "_changed", "_origin", "_recent", "_serial", "_size")

    def __init__(self, items: Mapping[str, Value] | None = None) -> None:
        """Hold a copy of ``items``."""
        self._base: dict[str, Value] = dict(items) if items else {}
        self._recent: dict[str, Value] = {}
        self._size = len(self._base)
        self._serial, self._origin = next(_SERIALS), 0
        self._changed: Mapping[str, Value | None] = {}

    def having(self, name: str, value: Value) -> Layered[Value]:
        """Return the mapping with one item added or replaced."""
        made = self._derived({name: value}, self._size + (name not in self))
        made._base, made._recent = self._base, {**self._recent, name: value}
        if len(made._recent) > _CHANGES:
            made._base, made._recent = {**made._base, **made._recent}, {}
        return made

    def lacking(self, names: Iterable[str]) -> Layered[Value]:
        """Return the mapping without some of its items. This copies the rest, so it is done for many at once."""
        gone = frozenset(names)
        base = {**self._base, **self._recent}
        kept = {name: value for name, value in base.items() if name not in gone}
        made = self._derived(dict.fromkeys(name for name in base if name in gone), len(kept))
        made._base, made._recent = kept, {}
        return made

    def changes_since(self, before: Mapping[str, Value]) -> Mapping[str, Value | None]:
        """Return what differs from an earlier mapping: the new values, and ``None`` for what is gone."""
        if before is self:
            return {}
        if isinstance(before, Layered) and before._serial == self._origin:
            return self._changed
        old, new = _plain(before), _plain(self)
        changed: dict[str, Value | None] = dict.fromkeys(name for name in old if name not in new)
        changed.update((name, value) for name, value in new.items() if old.get(name) is not value)
        return changed

    def __getitem__(self, name: str) -> Value:
        return self._recent[name] if name in self._recent else self._base[name]

    def __contains__(self, name: object) -> bool:
        return name in self._recent or name in self._base

    def __iter__(self) -> Iterator[str]:
        yield from self._base
        for name in self._recent:
            if name not in self._base:
                yield name

    def __len__(self) -> int:
        return self._size

    def _derived(self, changed: Mapping[str, Value | None], size: int) -> Layered[Value]:
        """Return a mapping that knows what it was derived from; its items are the caller's to set."""
        made: Layered[Value] = Layered.__new__(Layered)
        made._size, made._serial, made._origin, made._changed = size, next(_SERIALS), self._serial, changed
        return made


def _plain(items: Mapping[str, Value]) -> Mapping[str, Value]:
    """Return a mapping that is quick to look things up in."""
    if isinstance(items, Layered):
        return {**items._base, **items._recent} if items._recent else items._base
    return items


def layered(items: Mapping[str, Value]) -> Layered[Value]:
    """Return a mapping in the form that is cheap to derive from."""
    return items if isinstance(items, Layered) else Layered(items)


def changes(before: Mapping[str, Value], after: Mapping[str, Value]) -> Mapping[str, Value | None]:
    """Return what differs between two mappings: the new values, and ``None`` for what is gone."""
    return {} if after is before else layered(after).changes_since(before)
