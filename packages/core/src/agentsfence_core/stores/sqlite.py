"""Task records in one SQLite file, shared by any number of processes and threads (DESIGN 8). The default store.

Rules of this file:

* One transaction per `transact`: ``BEGIN IMMEDIATE`` first, so that reading, deciding and charging have nobody else in
  between. Two processes cannot both use the last unit of a budget.
* Write-ahead log with ``synchronous=NORMAL``: a crash of the process loses nothing; a power cut may forget the last
  commits, never half of one.
* A file that is foreign, cut, newer or not this account's is refused and left as it is. A new file gets its name only
  once it is complete, so an empty file is a cut one.
* Decoded records are kept in memory beside the version they had; a version is never used twice.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import islice, takewhile
from operator import is_
from pathlib import Path
from threading import RLock

from agentsfence_core.errors import StoreError
from agentsfence_core.ports import TaskRecord
from agentsfence_core.stores import codec
from agentsfence_core.stores.private_files import create_privately, require_private

_APPLICATION = 0x41466E63  # "AFnc", in the header of the file
_BUSY_SECONDS = 10.0
_CACHED = 512  # records kept decoded
_QUESTION, _TICKET = 0, 1
_SCHEMA = f"""
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {codec.FORMAT};
CREATE TABLE tasks (task BLOB PRIMARY KEY, version INTEGER NOT NULL, facts BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE policies (task BLOB PRIMARY KEY, policy BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE grants (task BLOB PRIMARY KEY, grants BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE items (
    task BLOB NOT NULL, kind INTEGER NOT NULL, id BLOB NOT NULL, place INTEGER NOT NULL, item BLOB NOT NULL,
    PRIMARY KEY (task, kind, id)
) WITHOUT ROWID;
"""
_ITEMS_PER_VERSION = 4096
_PUT_ITEM = "INSERT INTO items VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET item = excluded.item"
_DROP_ITEM = "DELETE FROM items WHERE task = ? AND kind = ? AND id = ?"
_Items = Mapping[str, codec.Item]
_Place = tuple[bytes, int, int]
"""Task, kind and version: where and when an item is written."""
_Change = Callable[[TaskRecord | None], tuple[TaskRecord | None, object]]


def path_of(url: str) -> Path:
    """Return the file that a URL names: ``sqlite:relative``, ``sqlite:/absolute``, ``sqlite:///absolute``."""
    rest = url.partition(":")[2]
    rest = rest.removeprefix("//")
    if not rest or rest == "/":
        raise StoreError(f"{url}: no file is named", hint="write sqlite:/folder/state.db")
    return Path(rest).expanduser()


class _Translated:
    """Lets every fault of the file leave the block as `StoreError`, with the file's name. Reused, since it is hot."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Nothing needs to be prepared."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            return
        if isinstance(error, sqlite3.OperationalError):
            hint = "another process holds it; try again" if "locked" in str(error) else "check disk space and rights"
            raise StoreError(f"{self._path}: {error}", hint=hint) from error
        if isinstance(error, sqlite3.Error | sqlite3.Warning | OSError):
            hint = "it may be cut or no state file; move it away to start afresh, which forgets all bans and grants"
            raise StoreError(f"{self._path}: {error}", hint=hint) from error


class SqliteStore:
    """A `PolicyStore` in one file."""

    def __init__(self, path: Path) -> None:
        """Open the file, or create it; `StoreError` where it is not a store or not private."""
        self._path = path
        self._translated = _Translated(path)
        self._lock = RLock()
        self._cache: OrderedDict[str, tuple[int, TaskRecord]] = OrderedDict()
        self._pending: dict[str, tuple[int, TaskRecord] | None] = {}
        self._depth = 0
        self._failed = False
        self._closed = False
        self._inherited: sqlite3.Connection | None = None
        with self._translated:
            self._connection = self._open()
        self._process = os.getpid()

    def read(self, task: str) -> TaskRecord | None:
        """Return the record, or ``None`` where there is none."""
        with self._lock, self._translated:
            connection = self._usable()
            if self._depth:
                return self._load(connection, task)[1]
            connection.execute("BEGIN")
            try:
                return self._load(connection, task)[1]
            finally:
                connection.execute("COMMIT")

    def transact(self, task: str, change: _Change) -> object:
        """Run ``change`` as one transaction; an exception in it leaves everything as it was.

        A ``transact`` inside ``change`` joins the outer transaction: both are kept, or neither.
        """
        with self._lock:
            connection = self._begin()
            try:
                with self._translated:
                    version, before = self._load(connection, task)
                after, result = change(before)
                if after is not before:
                    with self._translated:
                        self._save(connection, task, version, before, after)
            except BaseException:
                self._end(connection, failed=True)
                raise
            self._end(connection, failed=False)
            return result

    def tasks(self) -> tuple[str, ...]:
        """Return the ids of all live tasks."""
        with self._lock, self._translated:
            return tuple(codec.text(row[0]) for row in self._usable().execute("SELECT task FROM tasks"))

    def close(self) -> None:
        """Close the file; later calls raise `StoreError`."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._cache.clear()
                if self._process == os.getpid():
                    self._connection.close()

    # ------------------------------------------------------------------------------------------------ transactions

    def _begin(self) -> sqlite3.Connection:
        with self._translated:
            connection = self._usable()
            if not self._depth:
                connection.execute("BEGIN IMMEDIATE")
                self._failed = False
        self._depth += 1
        return connection

    def _end(self, connection: sqlite3.Connection, *, failed: bool) -> None:
        """Leave one level; the outermost level commits, or rolls back where any level failed."""
        self._depth -= 1
        self._failed = self._failed or failed
        if self._depth:
            return
        pending, self._pending = self._pending, {}
        if self._failed:
            connection.rollback()
            if not failed:
                raise StoreError(f"{self._path}: an inner transaction failed, so the outer one is not kept")
            return
        try:
            with self._translated:
                connection.execute("COMMIT")
        except StoreError:
            connection.rollback()
            raise
        self._remember(pending)

    def _remember(self, pending: Mapping[str, tuple[int, TaskRecord] | None]) -> None:
        cache = self._cache
        for task, entry in pending.items():
            if entry is None:
                cache.pop(task, None)
            else:
                cache[task] = entry
                cache.move_to_end(task)
        while len(cache) > _CACHED:
            cache.popitem(last=False)

    # ----------------------------------------------------------------------------------------------------- records

    def _load(self, connection: sqlite3.Connection, task: str) -> tuple[int, TaskRecord | None]:
        """Return version and record as this transaction sees them; decoded only where the version is new."""
        known = self._pending.get(task) or self._cache.get(task)
        key = codec.key(task)
        row = connection.execute("SELECT version, facts FROM tasks WHERE task = ?", (key,)).fetchone()
        if row is None:
            return 0, None
        version, data = row
        if known is not None and known[0] == version:
            return known
        try:
            record = self._decoded(connection, task, key, data)
        except codec.DamagedError as error:
            hint = "end this task and begin it again; other tasks are not concerned"
            raise StoreError(
                f"{self._path}: the record of task {task[:80]!r} is damaged: {error}", hint=hint
            ) from error
        self._remember({task: (version, record)})
        return version, record

    def _decoded(self, connection: sqlite3.Connection, task: str, key: bytes, data: bytes) -> TaskRecord:
        policy = connection.execute("SELECT policy FROM policies WHERE task = ?", (key,)).fetchone()
        grants = connection.execute("SELECT grants FROM grants WHERE task = ?", (key,)).fetchone()
        if policy is None or grants is None:
            raise codec.DamagedError("a part of it is missing")
        items: tuple[dict[str, codec.Item], dict[str, codec.Item]] = ({}, {})
        rows = connection.execute("SELECT kind, id, item FROM items WHERE task = ? ORDER BY kind, place, id", (key,))
        for kind, item_id, item in rows:
            items[_TICKET if kind else _QUESTION][codec.text(item_id)] = codec.decode_item(item)
        facts = codec.decode_facts(data)
        return TaskRecord(
            task,
            codec.decode_policy(policy[0]),
            replace(facts.state, grants=codec.decode_grants(grants[0])),
            facts.starter,
            facts.parent,
            facts.instruction_digest,
            facts.last_seen,
            items[_QUESTION],
            items[_TICKET],
        )

    def _save(
        self,
        connection: sqlite3.Connection,
        task: str,
        version: int,
        before: TaskRecord | None,
        after: TaskRecord | None,
    ) -> None:
        """Write what differs between two records of a task."""
        key = codec.key(task)
        if after is None:
            for table in ("tasks", "policies", "grants", "items"):
                connection.execute(f"DELETE FROM {table} WHERE task = ?", (key,))  # noqa: S608  (constant names)
            self._pending[task] = None
            return
        if after.task != task:
            after = replace(after, task=task)
        facts = codec.encode_facts(after)
        if before is None:
            version = secrets.randbits(50)
            connection.execute("INSERT INTO tasks VALUES (?, ?, ?)", (key, version, facts))
        else:
            version += 1
            connection.execute("UPDATE tasks SET version = ?, facts = ? WHERE task = ?", (version, facts, key))
        if before is None or after.policy is not before.policy:
            policy = codec.encode_policy(after.policy)
            connection.execute("INSERT OR REPLACE INTO policies VALUES (?, ?)", (key, policy))
        if before is None or after.state.grants is not before.state.grants:
            grants = codec.encode_grants(after.state.grants)
            connection.execute("INSERT OR REPLACE INTO grants VALUES (?, ?)", (key, grants))
        _save_items(connection, (key, _QUESTION, version), before.questions if before else {}, after.questions)
        _save_items(connection, (key, _TICKET, version), before.tickets if before else {}, after.tickets)
        self._pending[task] = (version, after)

    # -------------------------------------------------------------------------------------------------------- file

    def _usable(self) -> sqlite3.Connection:
        """Return the connection; a forked child gets one of its own, since SQLite's must not cross a fork."""
        if self._closed:
            raise StoreError(f"{self._path}: the store is closed", hint="open the fence again")
        if self._process != os.getpid():
            self._cache.clear()
            self._pending, self._depth = {}, 0
            self._inherited = self._connection  # never closed here: closing could remove the parent's log
            self._connection = self._open()
            self._process = os.getpid()
        return self._connection

    def _open(self) -> sqlite3.Connection:
        """Return a connection to a file that is known to be ours."""
        if not create_privately(self._path, _write_schema):
            require_private(self._path)
        connection = sqlite3.connect(
            self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=32
        )
        try:
            self._require_ours(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            connection.close()
            raise
        return connection

    def _require_ours(self, connection: sqlite3.Connection) -> None:
        if self._path.stat().st_size == 0:
            raise StoreError(f"{self._path}: the file is empty", hint="restore it, or move it away to start afresh")
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != _APPLICATION:
            raise StoreError(f"{self._path}: not a state file of AgentsFence", hint="name another file in 'store'")
        if version != codec.FORMAT:
            raise StoreError(f"{self._path}: written by another version ({version})", hint="upgrade agentsfence-core")


def _save_items(connection: sqlite3.Connection, at: _Place, before: _Items, after: _Items) -> None:
    """Write the items that are new or changed, delete those that are gone; the order of creation is kept."""
    if after is before:
        return
    key, kind, version = at
    gone, fresh = _difference(before, after)
    for item_id in gone:
        connection.execute(_DROP_ITEM, (key, kind, codec.key(item_id)))
    for place, item_id in enumerate(fresh, version * _ITEMS_PER_VERSION):
        connection.execute(_PUT_ITEM, (key, kind, codec.key(item_id), place, codec.encode_item(after[item_id])))


def _difference(before: _Items, after: _Items) -> tuple[Iterable[str], Iterable[str]]:
    """Return the ids that are gone, and those that are new or changed.

    The usual case is first: the oldest went, some were added at the end, the rest is the very same.
    """
    first = next(iter(after), None)
    gone = list(takewhile(lambda item_id: item_id != first, before)) if first in before else []
    kept = len(before) - len(gone)
    same_ids = kept <= len(after) and all(map(is_, islice(before, len(gone), None), after))
    if same_ids and all(map(is_, islice(before.values(), len(gone), None), after.values())):
        return gone, list(islice(after, kept, None))
    return before.keys() - after.keys(), [name for name, item in after.items() if before.get(name) is not item]


def _write_schema(path: Path) -> None:
    """Write an empty store into a new file."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()
