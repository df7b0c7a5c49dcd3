"""Task records in this process's memory: for tests, simulation, and hosts that forget a task when they end."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from threading import Lock, RLock, local
from weakref import WeakValueDictionary

from agentsfence_core.errors import StoreError
from agentsfence_core.limits import LIMITS
from agentsfence_core.ports import AuditHead, TaskRecord

_Change = Callable[[TaskRecord | None], tuple[TaskRecord | None, object]]


class _Turn:
    """The lock of one record: it lives as long as anybody holds or awaits it."""

    __slots__ = ("__weakref__", "lock")

    def __init__(self) -> None:
        self.lock = RLock()


class _Thread(local):
    """What this thread's transaction has changed so far (``None`` outside of one), and the locks it holds."""

    pending: dict[str, TaskRecord | None] | None = None
    failed = False

    def __init__(self) -> None:
        self.held: list[_Turn] = []


class MemoryStore:
    """A `PolicyStore` that ends with its process. Threads share it; processes do not.

    Each record has a lock of its own, so that one task's work never holds up another's. Transactions inside others go
    from a subtask to its ancestors, never down, so that two of them cannot wait for each other.
    """

    def __init__(self) -> None:
        self._records: dict[str, TaskRecord] = {}
        self._heads: dict[str, AuditHead] = {}
        self._ends: list[tuple[float, str]] = []
        self._turns: WeakValueDictionary[str, _Turn] = WeakValueDictionary()
        self._lock = Lock()
        self._thread = _Thread()
        self._closed = False

    def read(self, task: str) -> TaskRecord | None:
        """Return the record, or ``None`` where there is none."""
        self._refuse_when_closed()
        pending = self._thread.pending
        return pending[task] if pending is not None and task in pending else self._records.get(task)

    def transact(self, task: str, change: _Change) -> object:
        """Run ``change`` with nobody else in between; an exception in it leaves everything as it was.

        A ``transact`` inside ``change`` joins the outer transaction: both are kept, or neither.
        """
        mine = self._thread
        if mine.pending is not None:
            return self._joined(task, change, mine.pending)
        turn = self._turn(task)
        with turn.lock:
            mine.pending, mine.failed = {}, False
            try:
                result = self._changed(task, change, mine.pending)
                if mine.failed:
                    raise StoreError("an inner transaction failed, so the outer one is not kept")
                for name, record in mine.pending.items():
                    self._put(name, record)
                return result
            finally:
                mine.pending = None
                while mine.held:
                    mine.held.pop().lock.release()

    def _joined(self, task: str, change: _Change, pending: dict[str, TaskRecord | None]) -> object:
        """Run a transaction inside another; its record stays locked until the outer one ends."""
        turn = self._turn(task)
        turn.lock.acquire()
        self._thread.held.append(turn)
        try:
            return self._changed(task, change, pending)
        except BaseException:
            self._thread.failed = True
            raise

    def _changed(self, task: str, change: _Change, pending: dict[str, TaskRecord | None]) -> object:
        self._refuse_when_closed()
        before = pending[task] if task in pending else self._records.get(task)
        after, result = change(before)
        if after is not before:
            pending[task] = after
        return result

    def tasks(self) -> tuple[str, ...]:
        """Return the ids of all live tasks."""
        self._refuse_when_closed()
        return tuple(self._records)

    def heads(self) -> tuple[AuditHead, ...]:
        """Return the newest head of each audit chain that any record was kept with."""
        self._refuse_when_closed()
        newest = dict(self._heads)
        for record in list(self._records.values()):
            _keep(newest, record.head)
        return tuple(newest.values())

    def close(self) -> None:
        """Forget everything; later calls raise `StoreError`."""
        self._closed = True
        self._records.clear()

    def _turn(self, task: str) -> _Turn:
        with self._lock:
            turn = self._turns.get(task)
            if turn is None:
                turn = self._turns[task] = _Turn()
            return turn

    def _put(self, task: str, after: TaskRecord | None) -> None:
        before = self._records.get(task)
        if after is None:
            self._records.pop(task, None)
            _keep(self._heads, before.head if before is not None else None)
            return
        if before is None or before.keep_until != after.keep_until:
            with self._lock:
                if before is None:
                    self._forget(after.last_seen)
                if after.keep_until is not None:
                    heappush(self._ends, (after.keep_until, task))
        if before is not None and before.head is not None and before.head[:1] != (after.head or ())[:1]:
            _keep(self._heads, before.head)
        self._records[task] = after

    def _forget(self, now: float) -> None:
        """Remove some records whose time to be kept has passed."""
        for _ in range(LIMITS.forgotten_at_once):
            if not self._ends or self._ends[0][0] >= now:
                return
            end, name = heappop(self._ends)
            record = self._records.get(name)
            if record is not None and record.keep_until == end:
                del self._records[name]
                _keep(self._heads, record.head)

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise StoreError("the store is closed", hint="open the fence again")


def _keep(heads: dict[str, AuditHead], head: AuditHead | None) -> None:
    """Keep the newer head of a chain; the oldest chains go first."""
    if head is not None and (head[0] not in heads or heads[head[0]][1] < head[1]):
        heads.pop(head[0], None)
        heads[head[0]] = head
        if len(heads) > LIMITS.chains:
            del heads[next(iter(heads))]
