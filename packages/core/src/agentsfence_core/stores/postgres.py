"""Task records in PostgreSQL, for many workers on many machines (DESIGN 8). Needs the extra ``postgres``.

Rules of this file:

* One transaction per `transact`: the record's row is locked first, so that reading, deciding and charging have nobody
  else in between. A subtask's row comes before its ancestors', so that two transactions cannot wait for each other.
* A connection that is lost before the commit was sent is replaced once; one that is lost while it is sent is
  `StoreError`, since nobody knows what was kept: the call is blocked, and what was charged stays charged.
* Statements of one step travel together (pipeline mode): a check costs two round trips.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, local

import psycopg
from psycopg import conninfo, errors
from psycopg_pool import ConnectionPool, PoolTimeout

from agentsfence_core.errors import StoreError
from agentsfence_core.ports import AuditHead, TaskRecord
from agentsfence_core.stores import codec
from agentsfence_core.stores.rows import Cache, Entry, RacedError, Rows

_WAIT_SECONDS = 10.0  # for a connection, and for a row that another transaction holds
_CONNECTIONS = 16
_ATTEMPTS = 5
_SCHEMA_LOCK = 0x41466E63
_PREFIX = "agentsfence_"
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS agentsfence_format (format INTEGER PRIMARY KEY)",
    "CREATE TABLE IF NOT EXISTS agentsfence_tasks"
    " (task BYTEA PRIMARY KEY, version BIGINT NOT NULL, facts BYTEA NOT NULL)",
    "CREATE TABLE IF NOT EXISTS agentsfence_policies"
    " (task BYTEA PRIMARY KEY, keep_until DOUBLE PRECISION, policy BYTEA NOT NULL)",
    "CREATE INDEX IF NOT EXISTS agentsfence_policies_by_end ON agentsfence_policies (keep_until)"
    " WHERE keep_until IS NOT NULL",
    "CREATE TABLE IF NOT EXISTS agentsfence_items (task BYTEA NOT NULL, kind INTEGER NOT NULL, id BYTEA NOT NULL,"
    " place BIGINT NOT NULL, stamp BIGINT NOT NULL, item BYTEA NOT NULL, PRIMARY KEY (task, kind, id))",
    "CREATE TABLE IF NOT EXISTS agentsfence_heads"
    " (chain TEXT PRIMARY KEY, number BIGINT NOT NULL, hash TEXT NOT NULL, at DOUBLE PRECISION NOT NULL)",
)
_ROWS = Rows(marker="%s", prefix=_PREFIX, lock=" FOR UPDATE")
_Change = Callable[[TaskRecord | None], tuple[TaskRecord | None, object]]
_Connection = psycopg.Connection[tuple[object, ...]]
_AGAIN = (RacedError, errors.SerializationFailure, errors.DeadlockDetected)


class _Thread(local):
    """This thread's open transaction, if any."""

    connection: _Connection | None = None
    failed = False
    committing = False

    def __init__(self) -> None:
        self.pending: dict[str, Entry] = {}


class PostgresStore:
    """A `PolicyStore` in a PostgreSQL database. Any number of processes and machines share it."""

    def __init__(self, url: str) -> None:
        """Connect and make the tables where they are missing; `StoreError` where that is not possible."""
        self._url = url
        self._name = _shown(url)
        self._cache = Cache()
        self._thread = _Thread()
        self._opening = Lock()
        self._closed = False
        self._inherited: list[ConnectionPool[_Connection]] = []
        self._process = os.getpid()
        with self._faults(), psycopg.connect(url) as connection:
            _make_schema(connection, self._name)
        self._pool = self._open()

    def read(self, task: str) -> TaskRecord | None:
        """Return the record, or ``None`` where there is none."""
        self._usable()  # first: in a forked child this makes the thread's state anew
        mine = self._thread
        if mine.connection is not None:
            return self._entry(mine.connection, task).record
        for attempt in range(2):
            try:
                with self._translated(), self._usable().connection() as connection:
                    return self._entry(connection, task).record
            except _LostError as error:
                if attempt:
                    raise StoreError(f"{self._name}: {error}", hint=_HINT) from error
                self._usable().check()
        raise AssertionError

    def transact(self, task: str, change: _Change) -> object:
        """Run ``change`` as one transaction; an exception in it leaves everything as it was.

        A ``transact`` inside ``change`` joins the outer transaction: both are kept, or neither.
        """
        self._usable()
        if self._thread.connection is not None:
            return self._joined(task, change, self._thread.connection)
        for attempt in range(_ATTEMPTS):
            try:
                return self._outermost(task, change)
            except _AGAIN as error:
                if attempt == _ATTEMPTS - 1:
                    raise StoreError(f"{self._name}: {type(error).__name__}", hint="try again") from error
            except _LostError as error:
                if attempt or self._thread.committing:
                    raise StoreError(f"{self._name}: {error}", hint=_HINT) from error
                self._usable().check()
        raise AssertionError

    def tasks(self) -> tuple[str, ...]:
        """Return the ids of all live tasks."""
        with self._faults(), self._usable().connection() as connection:
            return _ROWS.tasks(connection)

    def heads(self) -> tuple[AuditHead, ...]:
        """Return the newest head of each audit chain that any record was kept with."""
        with self._faults(), self._usable().connection() as connection:
            return _ROWS.heads(connection)

    def discard(self, task: str) -> None:
        """Remove a record that is damaged, with all its bans: a person's decision, never the fence's own."""
        with self._faults(), self._usable().connection() as connection:
            _ROWS.clear(connection, task)
        self._cache.put(task, Entry(0, None))

    def close(self) -> None:
        """Close all connections; later calls raise `StoreError`."""
        if not self._closed:
            self._closed = True
            if self._process == os.getpid():
                self._pool.close()

    # ------------------------------------------------------------------------------------------------ transactions

    def _outermost(self, task: str, change: _Change) -> object:
        mine = self._thread
        mine.pending, mine.failed, mine.committing = {}, False, False
        with self._translated(), self._usable().connection() as connection:
            mine.connection = connection
            try:
                with connection.pipeline():
                    result = self._changed(task, change, connection)
                    if mine.failed:
                        raise StoreError(f"{self._name}: an inner transaction failed, so the outer one is not kept")
                    if mine.pending:
                        mine.committing = True
                        connection.commit()
                    else:
                        connection.rollback()  # nothing to keep: the end of a lock need not reach the disk
            finally:
                mine.connection = None
        for name, entry in mine.pending.items():
            self._cache.put(name, entry)
        return result

    def _joined(self, task: str, change: _Change, connection: _Connection) -> object:
        try:
            return self._changed(task, change, connection)
        except BaseException:
            self._thread.failed = True
            raise

    def _changed(self, task: str, change: _Change, connection: _Connection) -> object:
        pending = self._thread.pending
        entry = pending.get(task) or self._loaded(connection, task)
        after, result = change(entry.record)
        if after is not entry.record:
            pending[task] = _ROWS.save(connection, task, pending.get(task, entry), after)
        return result

    def _entry(self, connection: _Connection, task: str) -> Entry:
        """Return a record to look at; one that is not known yet is locked while its rows are read."""
        if task in self._thread.pending and self._thread.connection is not None:
            return self._thread.pending[task]
        known = self._cache.get(task)
        if known is not None and _ROWS.is_newest(connection, task, known):
            return known
        return self._loaded(connection, task)

    def _loaded(self, connection: _Connection, task: str) -> Entry:
        known = self._cache.get(task)
        try:
            entry = _ROWS.load(connection, task, known, locked=True)
        except codec.DamagedError as error:
            raise codec.damaged(self._name, task, error) from error
        if entry is not known and task not in self._thread.pending:
            self._cache.put(task, entry)
        return entry

    # ------------------------------------------------------------------------------------------------- connections

    def _usable(self) -> ConnectionPool[_Connection]:
        """Return the pool; a forked child gets one of its own, since connections must not cross a fork."""
        if self._closed:
            raise StoreError(f"{self._name}: the store is closed", hint="open the fence again")
        if self._process != os.getpid():
            with self._opening:
                if self._process != os.getpid():
                    self._cache.clear()
                    self._thread = _Thread()
                    self._inherited.append(self._pool)  # never closed here: that would end the parent's sessions
                    self._pool = self._open()
                    self._process = os.getpid()
        return self._pool

    def _open(self) -> ConnectionPool[_Connection]:
        pool: ConnectionPool[_Connection] = ConnectionPool(
            self._url, min_size=1, max_size=_CONNECTIONS, timeout=_WAIT_SECONDS, configure=_configure, open=False
        )
        pool.open()
        return pool

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Lets every fault of the database leave as `StoreError`, a lost connection as `_LostError`."""
        try:
            yield
        except _AGAIN:
            raise
        except (PoolTimeout, errors.LockNotAvailable) as error:
            raise StoreError(
                f"{self._name}: {_first_line(error)}", hint="it is too busy, or cannot be reached"
            ) from error
        except psycopg.OperationalError as error:
            raise _LostError(_first_line(error)) from error
        except psycopg.Error as error:
            raise StoreError(f"{self._name}: {_first_line(error)}", hint="check the rights of the account") from error

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            with self._translated():
                yield
        except _LostError as error:
            raise StoreError(f"{self._name}: {error}", hint=_HINT) from error


class _LostError(StoreError):
    """The connection is gone."""


_HINT = "check that the server runs and can be reached"


def _configure(connection: _Connection) -> None:
    """Bound every wait: a worker that is cut off must not hold a task up for good."""
    milliseconds = int(_WAIT_SECONDS * 1_000)
    connection.execute(f"SET lock_timeout = {milliseconds}")
    connection.execute(f"SET idle_in_transaction_session_timeout = {3 * milliseconds}")
    connection.commit()


def _make_schema(connection: _Connection, name: str) -> None:
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_SCHEMA_LOCK,))
    row = connection.execute("SELECT to_regclass('agentsfence_format') IS NOT NULL").fetchone()
    if row is None or not row[0]:
        for statement in _SCHEMA:
            connection.execute(statement)
        connection.execute("INSERT INTO agentsfence_format VALUES (%s)", (codec.FORMAT,))
    found = connection.execute("SELECT format FROM agentsfence_format").fetchone()
    if found is None or found[0] != codec.FORMAT:
        version = found[0] if found is not None else "none"
        raise StoreError(f"{name}: written by another version ({version})", hint="upgrade agentsfence-core")


def _shown(url: str) -> str:
    """Return the server and database of a URL, without account and password."""
    try:
        parts = conninfo.conninfo_to_dict(url)
    except psycopg.Error as error:
        raise StoreError("the store's URL cannot be read", hint="write postgresql://account@host/database") from error
    return f"postgresql:{parts.get('host', '')}/{parts.get('dbname', '')}"


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
