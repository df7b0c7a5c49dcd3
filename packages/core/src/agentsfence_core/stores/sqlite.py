"""Task records in one SQLite file, shared by any number of processes and threads (DESIGN 8). The default store.

Rules of this file:

* One transaction per `transact`: ``BEGIN IMMEDIATE`` first, so that reading, deciding and charging have nobody else in
  between. Two processes cannot both use the last unit of a budget.
* Write-ahead log with ``synchronous=NORMAL``: a crash of the process loses nothing; a power cut may forget the last
  commits, never half of one.
* A file that is foreign, cut, newer or not this account's is refused and left as it is. A new file gets its name only
  once it is complete, so an empty file is a cut one.
* Decoded records are kept in memory beside the version they had (``rows.py``).
* A record that is damaged is `StoreError` for its own task, until a person removes it with `transact` to ``None``.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import RLock

from agentsfence_core.errors import StoreError
from agentsfence_core.ports import AuditHead, TaskRecord
from agentsfence_core.stores import codec
from agentsfence_core.stores.private_files import create_privately, require_private
from agentsfence_core.stores.rows import Cache, Entry, Rows

_APPLICATION = 0x41466E63  # "AFnc", in the header of the file
_BUSY_SECONDS = 10.0
_SCHEMA = f"""
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {codec.FORMAT};
CREATE TABLE tasks (task BLOB PRIMARY KEY, version INTEGER NOT NULL, facts BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE policies (task BLOB PRIMARY KEY, keep_until REAL, policy BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX policies_by_end ON policies (keep_until) WHERE keep_until IS NOT NULL;
CREATE TABLE items (
    task BLOB NOT NULL, kind INTEGER NOT NULL, id BLOB NOT NULL, place INTEGER NOT NULL, stamp INTEGER NOT NULL,
    item BLOB NOT NULL, PRIMARY KEY (task, kind, id)
) WITHOUT ROWID;
CREATE TABLE heads (chain TEXT PRIMARY KEY, number INTEGER NOT NULL, hash TEXT NOT NULL, at REAL NOT NULL);
"""
_ROWS = Rows(marker="?", prefix="", lock="")
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
        if isinstance(error, sqlite3.Error | sqlite3.Warning | OSError | UnicodeDecodeError):
            hint = "it may be cut or no state file; move it away to start afresh, which forgets all bans and grants"
            raise StoreError(f"{self._path}: {error}", hint=hint) from error


class SqliteStore:
    """A `PolicyStore` in one file."""

    def __init__(self, path: Path) -> None:
        """Open the file, or create it; `StoreError` where it is not a store or not private."""
        self._path = path
        self._translated = _Translated(path)
        self._lock = RLock()
        self._cache = Cache()
        self._pending: dict[str, Entry] = {}
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
                return self._load(connection, task).record
            known = self._cache.get(task)
            if known is not None and _ROWS.is_newest(connection, task, known):
                return known.record
            connection.execute("BEGIN")
            try:
                return self._load(connection, task).record
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
                    entry = self._load(connection, task)
                after, result = change(entry.record)
                if after is not entry.record:
                    with self._translated:
                        # A transaction inside this one may have written the record as well: go on from there.
                        now = self._pending.get(task, entry)
                        self._pending[task] = _ROWS.save(connection, task, now, after)
            except BaseException:
                self._end(connection, failed=True)
                raise
            self._end(connection, failed=False)
            return result

    def tasks(self) -> tuple[str, ...]:
        """Return the ids of all live tasks."""
        with self._lock, self._translated:
            return _ROWS.tasks(self._usable())

    def heads(self) -> tuple[AuditHead, ...]:
        """Return the newest head of each audit chain that any record was kept with."""
        with self._lock, self._translated:
            return _ROWS.heads(self._usable())

    def discard(self, task: str) -> None:
        """Remove a record that is damaged, with all its bans: a person's decision, never the fence's own."""
        with self._lock:
            connection = self._begin()
            try:
                with self._translated:
                    _ROWS.clear(connection, task)
            except BaseException:
                self._end(connection, failed=True)
                raise
            self._cache.clear()
            self._end(connection, failed=False)

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

    def _remember(self, pending: Mapping[str, Entry]) -> None:
        for task, entry in pending.items():
            self._cache.put(task, entry)

    def _load(self, connection: sqlite3.Connection, task: str) -> Entry:
        """Return the record as this transaction sees it; decoded only where the version is new."""
        pending = self._pending.get(task)
        if pending is not None:
            return pending
        known = self._cache.get(task)
        try:
            entry = _ROWS.load(connection, task, known, locked=True)
        except codec.DamagedError as error:
            raise codec.damaged(str(self._path), task, error) from error
        if entry is not known:
            self._cache.put(task, entry)
        return entry

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


def _write_schema(path: Path) -> None:
    """Write an empty store into a new file."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()
