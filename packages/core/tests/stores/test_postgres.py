"""The PostgreSQL store keeps the contract on a real server, and what is lost on the way is a fault, never a guess."""

from __future__ import annotations

import gc
import multiprocessing
import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from packages.core.tests.postgres import fresh_url

from agentsfence_core.builtin import agentsfence_stores
from agentsfence_core.errors import StoreError
from agentsfence_core.ports import PolicyStore, TaskRecord
from agentsfence_core.stores.postgres import PostgresStore
from agentsfence_core.testkit.stores import StoreContract, a_record, count_up, keep

pytestmark = pytest.mark.integration


@pytest.fixture
def url() -> str:
    return fresh_url()


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    store = PostgresStore(url)
    yield store
    store.close()


class TestPostgresStore(StoreContract):
    """The contract, on a real server."""

    @pytest.fixture(autouse=True)
    def _place(self) -> Iterator[None]:
        self.url = fresh_url()
        self.opened: list[PostgresStore] = []
        yield
        for store in self.opened:
            store.close()

    def make(self, folder: Path) -> PolicyStore:
        self.opened.append(PostgresStore(self.url))
        return self.opened[-1]


def test_both_names_of_the_scheme_open_it(url: str) -> None:
    for scheme in ("postgres", "postgresql"):
        opened = agentsfence_stores()[scheme](url)
        assert opened.tasks() == ()
        opened.close()


def end_connections(url: str) -> None:
    """What a restart of the server does to everybody who is connected."""
    with psycopg.connect(url, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )


def test_lost_connections_are_replaced(store: PostgresStore, url: str) -> None:
    keep(store, a_record(n=0))
    for _ in range(3):
        end_connections(url)
        assert count_up(store, 9)
        end_connections(url)
        assert store.read("t1") is not None
    record = store.read("t1")
    assert record is not None
    assert record.state.counters == {"n": 3}


def test_a_connection_that_is_lost_in_the_middle_keeps_nothing_twice(store: PostgresStore, url: str) -> None:
    keep(store, a_record(n=0))
    runs = []

    def change(record: TaskRecord | None) -> tuple[TaskRecord | None, object]:
        runs.append(record)
        if len(runs) == 1:
            end_connections(url)
        return record, count_up(store, 9)

    store.transact("t1", change)
    record = store.read("t1")
    assert record is not None
    assert record.state.counters == {"n": 1}
    assert len(runs) == 2


def test_a_server_that_is_gone_is_a_fault_without_the_password(url: str) -> None:
    with pytest.raises(StoreError) as raised:
        PostgresStore("postgresql://ann:hunter2@127.0.0.1:1/db?connect_timeout=1")
    assert "hunter2" not in str(raised.value)


def test_a_url_that_cannot_be_read_is_a_fault() -> None:
    with pytest.raises(StoreError, match="URL"):
        PostgresStore("postgresql://[")


def test_a_damaged_record_is_a_fault_of_its_task_only(url: str) -> None:
    store = PostgresStore(url)
    keep(store, a_record("t1"))
    keep(store, a_record("t2"))
    store.close()
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("UPDATE agentsfence_policies SET policy = '\\x00' WHERE task = %s", (b"t1",))
    store = PostgresStore(url)
    with pytest.raises(StoreError, match="t1"):
        store.read("t1")
    with pytest.raises(StoreError, match="t1"):
        count_up(store, 9)
    assert store.read("t2") == a_record("t2")
    store.discard("t1")
    assert store.read("t1") is None
    store.close()


def test_a_newer_database_is_refused(url: str) -> None:
    PostgresStore(url).close()
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("UPDATE agentsfence_format SET format = 99")
    with pytest.raises(StoreError, match="another version"):
        PostgresStore(url)


def use_budget(url: str, times: int, limit: int, passed: multiprocessing.SimpleQueue[int]) -> None:
    store = PostgresStore(url)
    passed.put(sum(count_up(store, limit) for _ in range(times)))
    store.close()


def test_processes_cannot_pass_a_limit_together(store: PostgresStore, url: str) -> None:
    keep(store, a_record(n=0))
    context = multiprocessing.get_context("spawn")
    passed: multiprocessing.SimpleQueue[int] = context.SimpleQueue()
    workers = [context.Process(target=use_budget, args=(url, 30, 50, passed)) for _ in range(3)]
    for worker in workers:
        worker.start()
    counts = [passed.get() for _ in workers]
    for worker in workers:
        worker.join()
    assert sum(counts) == 50


def test_a_forked_child_does_not_use_the_parents_connections(store: PostgresStore) -> None:
    keep(store, a_record(n=0))
    child = os.fork()
    if child == 0:  # pragma: no cover  (the child reports by its exit code)
        done = count_up(store, 9)
        store.close()
        gc.collect()
        os._exit(0 if done else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert count_up(store, 9)
    record = store.read("t1")
    assert record is not None
    assert record.state.counters == {"n": 2}
