"""Our callbacks keep their place in Hermes' tables: first among the checks, last around the execution.

Hermes has no priorities: the first directive of a `pre_tool_call` callback wins, so an earlier plugin's "approve" would
hide our "block"; whatever wraps an execution inside of us could change its arguments after our second look. Forced
rediscovery empties the tables of a running process, and calls made meanwhile would pass unchecked.

Rules of this file:

* Only the standard library is imported: it must work where everything else is broken.
* A list is replaced, never edited in place: iterations in progress keep the list they began with.
* Other plugins' callbacks stay, in their own order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

Callback = Callable[..., Any]

INNERMOST = frozenset({"tool_execution"})
"""Kinds of middleware where the last callback is the closest to the execution."""


class _Ordered(list[Callback]):
    """Callbacks with ours among them; a list for everybody who edits it, in order for everybody who walks it."""

    def __init__(self, ours: Callback, others: Iterable[Callback]) -> None:
        self.ours = ours
        super().__init__((ours, *(other for other in others if other is not ours)))

    def _others(self) -> Iterator[Callback]:
        return (other for other in list.__iter__(self) if other is not self.ours)


class FirstOurs(_Ordered):
    """Callbacks that are walked with ours first, wherever others put theirs."""

    def __iter__(self) -> Iterator[Callback]:
        """Yield our callback, then the others in their order."""
        yield self.ours
        yield from self._others()


class LastOurs(_Ordered):
    """Callbacks that are walked with ours last, wherever others put theirs."""

    def __iter__(self) -> Iterator[Callback]:
        """Yield the others in their order, then our callback."""
        yield from self._others()
        yield self.ours


class Table(dict[str, list[Callback]]):
    """A table of callbacks by name that never lacks ours, not even while it is emptied and filled again."""

    def __init__(self, known: Mapping[str, list[Callback]], ours: Mapping[str, Callback]) -> None:
        self.ours = dict(ours)
        super().__init__({name: list(callbacks) for name, callbacks in known.items()})
        for name in self.ours:
            self[name] = self.get(name, [])

    def __setitem__(self, name: str, callbacks: list[Callback]) -> None:
        """Keep the callbacks, with ours in its place."""
        ours = self.ours.get(name)
        if ours is not None:
            callbacks = (LastOurs if name in INNERMOST else FirstOurs)(ours, callbacks)
        super().__setitem__(name, callbacks)

    def __delitem__(self, name: str) -> None:
        """Forget the callbacks of everybody else."""
        if name in self.ours:
            self[name] = []
        else:
            super().__delitem__(name)

    def pop(self, name: str, *default: Any) -> Any:
        """Forget the callbacks of everybody else, and return all that there were."""
        found = self.get(name, *default) if default else self[name]
        if name in self:
            del self[name]
        return found

    def clear(self) -> None:
        """Forget the callbacks of everybody else. There is no moment without ours."""
        for name in tuple(self):
            del self[name]


def hold(manager: Any, hooks: Mapping[str, Callback], middleware: Mapping[str, Callback]) -> bool:
    """Our callbacks have their places in the manager's tables. Whether it has such tables; idempotent."""
    held = True
    for attribute, ours in (("_hooks", hooks), ("_middleware", middleware)):
        table = getattr(manager, attribute, None)
        if isinstance(table, Table) and table.ours == ours:
            continue
        if isinstance(table, dict):
            setattr(manager, attribute, Table(table, ours))
        else:
            held = False
    return held


def holds(manager: Any) -> bool:
    """Whether our checks are first and our second look is last, as Hermes would walk them now."""
    for attribute, name, place in (("_hooks", "pre_tool_call", 0), ("_middleware", "tool_execution", -1)):
        table = getattr(manager, attribute, None)
        if not isinstance(table, Table) or name not in table.ours:
            return False
        walked = list(table.get(name, ()))
        if not walked or walked[place] is not table.ours[name]:
            return False
    return True
