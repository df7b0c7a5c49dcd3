"""Task records as rows of a database, whichever it is: what SQLite and PostgreSQL keep has one shape (DESIGN 8).

Rules of this file:

* A record is one row of facts with a version, one row of policy, and one row per item. What did not change is neither
  written nor read again: a process that knows an earlier version reads what was written since.
* A version is never used twice, also not by a record that was removed and added again.
* Nothing is committed here; the stores own their transactions.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import NamedTuple, Protocol

from agentsfence_core.layered import Layered, changes, layered
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import ExecutionState, Grant, TaskPolicy
from agentsfence_core.ports import AuditHead, TaskRecord
from agentsfence_core.stores import codec

QUESTION, TICKET, GRANT, USE, DENIAL = range(5)
_VERSION_BITS, _ITEMS_PER_VERSION = 46, 65_536  # places of items stay below 63 bits
_CACHED = 512  # records kept decoded


class Cursor(Protocol):
    """What a statement answers."""

    def fetchone(self) -> Sequence[object] | None:
        """Return the next row, or ``None``."""

    def fetchall(self) -> Sequence[Sequence[object]]:
        """Return all rows."""


class Connection(Protocol):
    """What both databases' connections have in common."""

    def execute(self, statement: str, parameters: Sequence[object], /) -> Cursor:
        """Run one statement."""


class RacedError(Exception):
    """Another transaction added the same record first; trying again will find it."""


class Entry(NamedTuple):
    """A record at one version, and what of it was written when."""

    version: int
    record: TaskRecord | None
    born: int = 0
    policy_at: int = 0
    gone_at: int = 0
    grants_at: int = 0


NO_ENTRY = Entry(0, None)


class Cache:
    """The newest entries that this process has seen. Any of them may be out of date: its version tells."""

    def __init__(self) -> None:
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._lock = Lock()

    def get(self, task: str) -> Entry | None:
        """Return the entry, or ``None``."""
        return self._entries.get(task)

    def put(self, task: str, entry: Entry) -> None:
        """Keep an entry; one without record takes away what was kept."""
        with self._lock:
            if entry.record is None:
                self._entries.pop(task, None)
                return
            if len(self._entries) >= _CACHED and task not in self._entries:
                self._entries.popitem(last=False)
            self._entries[task] = entry

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._entries.clear()


class Rows:
    """Reads and writes records over a connection. ``marker`` stands for a parameter in this database's statements."""

    def __init__(self, *, marker: str, prefix: str, lock: str) -> None:
        """Write the statements once; ``lock`` ends a look-up that nobody else may make at the same time."""

        def written(statement: str) -> str:
            return statement.replace("?", marker).replace("@", prefix)

        self._facts = written("SELECT version, facts FROM @tasks WHERE task = ?")
        self._version = written("SELECT version FROM @tasks WHERE task = ?")
        self._facts_locked = self._facts + lock
        self._policy = written("SELECT policy FROM @policies WHERE task = ?")
        self._items = written("SELECT kind, id, item FROM @items WHERE task = ? ORDER BY kind, place, id")
        self._fresh = written(
            "SELECT kind, id, item FROM @items WHERE task = ? AND stamp > ? AND kind <= ? ORDER BY kind, place, id"
        )
        self._add = written(
            "INSERT INTO @tasks (task, version, facts) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1"
        )
        self._update = written("UPDATE @tasks SET version = ?, facts = ? WHERE task = ?")
        self._put_policy = written(
            "INSERT INTO @policies (task, keep_until, policy) VALUES (?, ?, ?)"
            " ON CONFLICT (task) DO UPDATE SET keep_until = excluded.keep_until, policy = excluded.policy"
        )
        self._put_item = written(
            "INSERT INTO @items (task, kind, id, place, stamp, item) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (task, kind, id) DO UPDATE SET stamp = excluded.stamp, item = excluded.item"
        )
        self._drop_item = written("DELETE FROM @items WHERE task = ? AND kind = ? AND id = ?")
        self._removals = tuple(
            written(f"DELETE FROM @{table} WHERE task = ?")  # noqa: S608  (constant names)
            for table in ("items", "policies", "tasks")
        )
        self._ended = written("SELECT task FROM @policies WHERE keep_until < ? ORDER BY keep_until LIMIT ?")
        self._keep_head = written(
            "INSERT INTO @heads (chain, number, hash, at) VALUES (?, ?, ?, ?) ON CONFLICT (chain) DO UPDATE"
            " SET number = excluded.number, hash = excluded.hash, at = excluded.at"
            " WHERE excluded.number > @heads.number"
        )
        self._drop_heads = written(
            "DELETE FROM @heads WHERE chain NOT IN (SELECT chain FROM @heads ORDER BY at DESC LIMIT ?)"
        )
        self._all_facts = written("SELECT facts FROM @tasks")
        self._kept_heads = written("SELECT chain, number, hash FROM @heads")
        self._tasks = written("SELECT task FROM @tasks")

    # ----------------------------------------------------------------------------------------------------- reading

    def load(self, connection: Connection, task: str, known: Entry | None, *, locked: bool) -> Entry:
        """Return the record as this transaction sees it; `codec.DamagedError` where it is not what was written."""
        key = codec.key(task)
        row = connection.execute(self._facts_locked if locked else self._facts, (key,)).fetchone()
        if row is None:
            return NO_ENTRY
        version, data = row
        if known is not None and known.version == version:
            return known
        facts = codec.decode_facts(data)  # type: ignore[arg-type]
        assert isinstance(version, int)  # noqa: S101  (the column is one of integers)
        before = known.record if known is not None and facts.born == known.born and known.version < version else None
        at = known.version if known is not None else 0
        if before is not None and facts.policy_at <= at:
            policy = before.policy
        else:
            found = connection.execute(self._policy, (key,)).fetchone()
            if found is None:
                raise codec.DamagedError("its policy is missing")
            policy = codec.decode_policy(found[0])  # type: ignore[arg-type]
        if before is not None and facts.gone_at <= at:
            kinds = DENIAL if facts.grants_at > at else TICKET
            parts = _Parts(before, connection.execute(self._fresh, (key, at, kinds)).fetchall())
        else:
            parts = _Parts(None, connection.execute(self._items, (key,)).fetchall())
        record = parts.record(task, facts, policy)
        if _count(record) != facts.items:
            raise codec.DamagedError(f"{facts.items} items were written, {_count(record)} are there")
        return Entry(version, record, facts.born, facts.policy_at, facts.gone_at, facts.grants_at)

    def is_newest(self, connection: Connection, task: str, known: Entry) -> bool:
        """Whether nothing was written since: one look-up, where most reads end."""
        row = connection.execute(self._version, (codec.key(task),)).fetchone()
        return row is not None and row[0] == known.version

    def tasks(self, connection: Connection) -> tuple[str, ...]:
        """Return the ids of all records."""
        return tuple(codec.text(row[0]) for row in connection.execute(self._tasks, ()).fetchall())  # type: ignore[arg-type]

    def heads(self, connection: Connection) -> tuple[AuditHead, ...]:
        """Return the newest head of each chain, over all records that can be read and those that are gone."""
        newest: dict[str, AuditHead] = {}
        for chain, number, digest in connection.execute(self._kept_heads, ()).fetchall():
            newest[str(chain)] = (str(chain), int(number), str(digest))  # type: ignore[call-overload]
        for head in _heads_in(connection.execute(self._all_facts, ()).fetchall()):
            if head[0] not in newest or newest[head[0]][1] < head[1]:
                newest[head[0]] = head
        return tuple(newest.values())

    # ----------------------------------------------------------------------------------------------------- writing

    def save(self, connection: Connection, task: str, entry: Entry, after: TaskRecord | None) -> Entry:
        """Write what differs between two records of a task; return the new entry."""
        key, before = codec.key(task), entry.record
        if after is None:
            self._remove(connection, key, before)
            return NO_ENTRY
        if before is None:
            self._forget(connection, after.last_seen)
        if after.task != task:
            after = replace(after, task=task)
        version = entry.version + 1 if before is not None else secrets.randbits(_VERSION_BITS)
        changed = _changed_items(before, after)
        gone_at = version if any(item is None for _, _, item in changed) else entry.gone_at
        new_policy = before is None or after.policy is not before.policy or after.keep_until != before.keep_until
        policy_at = version if new_policy else entry.policy_at
        born = entry.born if before is not None else version
        grants_at = version if any(kind > TICKET for kind, _, _ in changed) else entry.grants_at
        facts = codec.encode_facts(
            after, born=born, policy_at=policy_at, gone_at=gone_at, grants_at=grants_at, items=_count(after)
        )
        if before is not None:
            connection.execute(self._update, (version, facts, key))
            if before.head is not None and after.head is not None and before.head[0] != after.head[0]:
                # Another process wrote here before: the end of its chain is still to be known.
                connection.execute(self._keep_head, (*before.head, before.last_seen))
        elif not connection.execute(self._add, (key, version, facts)).fetchall():
            raise RacedError
        if new_policy:
            connection.execute(self._put_policy, (key, after.keep_until, codec.encode_policy(after.policy)))
        for place, (kind, name, item) in enumerate(changed, version * _ITEMS_PER_VERSION):
            if item is None:
                connection.execute(self._drop_item, (key, kind, codec.key(name)))
            else:
                connection.execute(self._put_item, (key, kind, codec.key(name), place, version, item))
        return Entry(version, after, born, policy_at, gone_at, grants_at)

    def clear(self, connection: Connection, task: str) -> None:
        """Remove all that belongs to a task, whether it can be read or not."""
        self._remove(connection, codec.key(task), None)

    def _remove(self, connection: Connection, key: bytes, before: TaskRecord | None) -> None:
        if before is not None and before.head is not None:
            connection.execute(self._keep_head, (*before.head, before.last_seen))
        for statement in self._removals:
            connection.execute(statement, (key,))

    def _forget(self, connection: Connection, now: float) -> None:
        """Remove some records whose time to be kept has passed; their heads stay."""
        connection.execute(self._drop_heads, (LIMITS.chains,))
        ended = connection.execute(self._ended, (now, LIMITS.forgotten_at_once)).fetchall()
        for (key,) in ended:
            facts = connection.execute(self._facts, (key,)).fetchone()
            for head in _heads_in([(facts[1],)] if facts is not None else []):
                connection.execute(self._keep_head, (*head, now))
            self._remove(connection, key, None)  # type: ignore[arg-type]


class _Parts:
    """Rows of items, put together to a record."""

    def __init__(self, before: TaskRecord | None, rows: Iterable[Sequence[object]]) -> None:
        """Take the rows on top of what is known from before."""
        new: tuple[dict[str, object], ...] = ({}, {}, {}, {}, {})
        for kind, name, data in rows:
            if type(kind) is not int or not 0 <= kind < len(_DECODERS):
                raise codec.DamagedError("an item of no kind")
            new[kind][codec.text(name)] = _DECODERS[kind](data)  # type: ignore[arg-type]
        self._before = before
        self._new = new

    def record(self, task: str, facts: codec.Facts, policy: TaskPolicy) -> TaskRecord:
        """Return the record."""
        before, new = self._before, self._new
        state = before.state if before is not None else ExecutionState()
        known = {grant.id: grant for grant in state.grants} if new[GRANT] else {}
        return TaskRecord(
            task,
            policy,
            ExecutionState(
                facts.counters,
                _joined(state.grant_uses, new[USE]),  # type: ignore[arg-type]
                tuple({**known, **new[GRANT]}.values()) if new[GRANT] else state.grants,  # type: ignore[arg-type]
                state.denied | new[DENIAL].keys() if new[DENIAL] else state.denied,
            ),
            facts.starter,
            facts.parent,
            facts.instruction_digest,
            facts.last_seen,
            _joined(before.questions if before is not None else {}, new[QUESTION]),  # type: ignore[arg-type]
            _joined(before.tickets if before is not None else {}, new[TICKET]),  # type: ignore[arg-type]
            facts.keep_until,
            facts.head,
            facts.inherits,
        )


_DECODERS = (
    codec.decode_item,
    codec.decode_item,
    codec.decode_grant,
    codec.decode_number,
    codec.decode_item,
)


def _joined(before: Mapping[str, object], new: Mapping[str, object]) -> Layered[object]:
    if not before:
        return Layered(new)
    made = layered(before)
    for name, item in new.items():
        made = made.having(name, item)
    return made


_Changed = list[tuple[int, str, bytes | None]]


def _changed_items(before: TaskRecord | None, after: TaskRecord) -> _Changed:
    """Return kind, id and new bytes of every item that differs; ``None`` for what is gone."""
    known = before if before is not None else _EMPTY
    changed: _Changed = []
    if after.tickets is not known.tickets:
        changed += _encoded(TICKET, changes(known.tickets, after.tickets))
    if after.questions is not known.questions:
        changed += _encoded(QUESTION, changes(known.questions, after.questions))
    state, old = after.state, known.state
    if state.grant_uses is not old.grant_uses:
        for name, uses in changes(old.grant_uses, state.grant_uses).items():
            changed.append((USE, name, None if uses is None else codec.encode_number(uses)))
    if state.grants is not old.grants:
        changed += _changed_grants(old.grants, state.grants)
    if state.denied is not old.denied:
        changed += [(DENIAL, name, None) for name in sorted(old.denied - state.denied)]
        changed += [(DENIAL, name, codec.encode_item({})) for name in sorted(state.denied - old.denied)]
    return changed


_EMPTY = TaskRecord("", TaskPolicy(), ExecutionState())


def _encoded(kind: int, items: Mapping[str, codec.Item | None]) -> Iterator[tuple[int, str, bytes | None]]:
    for name, item in items.items():
        yield kind, name, None if item is None else codec.encode_item(item)


def _changed_grants(before: tuple[Grant, ...], after: tuple[Grant, ...]) -> _Changed:
    if after[: len(before)] == before:
        return [(GRANT, grant.id, codec.encode_grant(grant)) for grant in after[len(before) :]]
    known, kept = {grant.id: grant for grant in before}, {grant.id for grant in after}
    gone: _Changed = [(GRANT, name, None) for name in known if name not in kept]
    return gone + [(GRANT, g.id, codec.encode_grant(g)) for g in after if known.get(g.id) != g]


def _count(record: TaskRecord) -> int:
    state = record.state
    return len(record.questions) + len(record.tickets) + len(state.grants) + len(state.grant_uses) + len(state.denied)


def _heads_in(rows: Iterable[Sequence[object]]) -> Iterator[AuditHead]:
    for (data,) in rows:
        try:
            facts = codec.decode_facts(data)  # type: ignore[arg-type]
        except codec.DamagedError:
            continue  # a damaged record blocks its own task; verification goes by the others
        if facts.head is not None:
            yield facts.head
