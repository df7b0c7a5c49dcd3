"""Task records in this process's memory: for tests, simulation, and hosts that forget a task when they end."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock

from agentsfence_core.errors import StoreError
from agentsfence_core.ports import TaskRecord


class MemoryStore:
    """A `PolicyStore` that ends with its process. Threads share it; processes do not."""

    def __init__(self) -> None:
        self._records: dict[str, TaskRecord] = {}
        self._lock = RLock()
        self._undo: dict[str, TaskRecord | None] | None = None
        self._failed = False
        self._closed = False

    def read(self, task: str) -> TaskRecord | None:
        """Return the record, or ``None`` where there is none."""
        with self._lock:
            self._refuse_when_closed()
            return self._records.get(task)

    def transact(self, task: str, change: Callable[[TaskRecord | None], tuple[TaskRecord | None, object]]) -> object:
        """Run ``change`` with nobody else in between; an exception in it leaves everything as it was.

        A ``transact`` inside ``change`` joins the outer transaction: both are kept, or neither.
        """
        with self._lock:
            self._refuse_when_closed()
            outermost = self._undo is None
            undo = self._undo = {} if self._undo is None else self._undo
            self._failed = self._failed and not outermost
            try:
                before = self._records.get(task)
                after, result = change(before)
                undo.setdefault(task, before)
                self._put(task, after)
                self._refuse_half()
            except BaseException:
                for name, record in undo.items():
                    self._put(name, record)
                self._failed = True
                raise
            finally:
                if outermost:
                    self._undo = None
            return result

    def tasks(self) -> tuple[str, ...]:
        """Return the ids of all live tasks."""
        with self._lock:
            self._refuse_when_closed()
            return tuple(self._records)

    def close(self) -> None:
        """Forget everything; later calls raise `StoreError`."""
        with self._lock:
            self._closed = True
            self._records.clear()

    def _put(self, task: str, record: TaskRecord | None) -> None:
        if record is None:
            self._records.pop(task, None)
        else:
            self._records[task] = record

    def _refuse_half(self) -> None:
        if self._failed:
            raise StoreError("an inner transaction failed, so the outer one is not kept")

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise StoreError("the store is closed", hint="open the fence again")
