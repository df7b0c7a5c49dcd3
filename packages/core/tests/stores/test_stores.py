"""Both built-in stores keep the contract; the file store also refuses what is not its own."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import stat
from pathlib import Path

import pytest

from agentsfence_core.errors import StoreError
from agentsfence_core.ports import PolicyStore
from agentsfence_core.stores.memory import MemoryStore
from agentsfence_core.stores.sqlite import SqliteStore, path_of
from agentsfence_core.testkit.stores import StoreContract, a_record, count_up, keep


class TestMemoryStore(StoreContract):
    durable = False

    def make(self, folder: Path) -> PolicyStore:
        return MemoryStore()


class TestSqliteStore(StoreContract):
    def make(self, folder: Path) -> PolicyStore:
        return SqliteStore(folder / "state" / "state.db")


def use_budget(path: Path, times: int, limit: int, passed: multiprocessing.SimpleQueue[int]) -> None:
    store = SqliteStore(path)
    passed.put(sum(count_up(store, limit) for _ in range(times)))
    store.close()


def test_processes_cannot_pass_a_limit_together(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    keep(SqliteStore(path), a_record(n=0))
    context = multiprocessing.get_context("spawn")
    passed = context.SimpleQueue()
    workers = [context.Process(target=use_budget, args=(path, 50, 100, passed)) for _ in range(4)]
    for worker in workers:
        worker.start()
    counts = [passed.get() for _ in workers]
    for worker in workers:
        worker.join()
    record = SqliteStore(path).read("t1")
    assert sum(counts) == 100
    assert record is not None
    assert record.state.counters == {"n": 100}


def test_processes_that_create_the_file_together_get_one_store(tmp_path: Path) -> None:
    path = tmp_path / "new" / "state.db"
    first, second = SqliteStore(path), SqliteStore(path)
    keep(first, a_record())
    assert second.read("t1") == a_record()
    assert {item.name.removesuffix("-wal").removesuffix("-shm") for item in path.parent.iterdir()} == {"state.db"}


def test_a_forked_child_does_not_use_the_parents_connection(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "state.db")
    keep(store, a_record(n=0))
    child = os.fork()
    if child == 0:  # pragma: no cover  (the child reports by its exit code)
        os._exit(0 if count_up(store, 9) else 1)
    assert os.waitpid(child, 0)[1] == 0
    record = store.read("t1")
    assert record is not None
    assert record.state.counters == {"n": 1}


def test_files_are_this_accounts_alone(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "state.db"
    store = SqliteStore(path)
    keep(store, a_record())
    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.parent.parent.stat().st_mode) == 0o700


def test_a_readable_file_becomes_private_again(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    SqliteStore(path).close()
    path.chmod(0o644)
    SqliteStore(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_others_can_write_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    SqliteStore(path).close()
    path.chmod(0o666)
    with pytest.raises(StoreError, match=r"state\.db"):
        SqliteStore(path)


def test_a_folder_that_others_can_write_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(StoreError, match="other accounts can write"):
        SqliteStore(folder / "state.db")


@pytest.mark.parametrize(
    "content", [b"", b"hello, this is a text file", b"SQLite format 3\0" + b"\0" * 100], ids=["empty", "text", "cut"]
)
def test_a_foreign_or_cut_file_is_refused_and_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(StoreError, match=r"state\.db"):
        SqliteStore(path)
    assert path.read_bytes() == content


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE songs (name)")
    other.commit()
    other.close()
    path.chmod(0o600)
    with pytest.raises(StoreError, match="not a state file"):
        SqliteStore(path)


def test_a_file_cut_in_the_middle_is_a_fault_and_never_an_empty_store(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    store = SqliteStore(path)
    for number in range(50):
        keep(store, a_record(f"t{number}"))
    store.close()
    path.write_bytes(path.read_bytes()[:9000])
    with pytest.raises(StoreError, match=r"state\.db"):
        _ = [SqliteStore(path).read(f"t{number}") for number in range(50)]


def test_a_newer_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    SqliteStore(path).close()
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA user_version = 99")
    raw.close()
    with pytest.raises(StoreError, match="another version"):
        SqliteStore(path)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE tasks SET facts = X'00' WHERE task = CAST('t1' AS BLOB)",
        "UPDATE tasks SET facts = CAST(replace(CAST(facts AS TEXT), '12.5', '99.5') AS BLOB)"
        " WHERE task = CAST('t1' AS BLOB)",
        "UPDATE tasks SET facts = 'text' WHERE task = CAST('t1' AS BLOB)",
        "UPDATE policies SET policy = X'' WHERE task = CAST('t1' AS BLOB)",
        "DELETE FROM policies WHERE task = CAST('t1' AS BLOB)",
        "UPDATE items SET item = CAST('00000000{}' AS BLOB) WHERE task = CAST('t1' AS BLOB)",
    ],
)
def test_a_damaged_record_is_a_fault_of_its_task_only(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "state.db"
    store = SqliteStore(path)
    keep(store, a_record("t1"))
    keep(store, a_record("t2"))
    store.close()
    raw = sqlite3.connect(path)
    raw.execute(damage)
    raw.commit()
    raw.close()
    store = SqliteStore(path)
    with pytest.raises(StoreError, match="t1"):
        store.read("t1")
    with pytest.raises(StoreError, match="t1"):
        count_up(store, 9)
    assert store.read("t2") == a_record("t2")
    store.transact("t2", lambda _: (None, None))


def test_a_locked_file_is_a_fault_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentsfence_core.stores.sqlite._BUSY_SECONDS", 0.05)
    path = tmp_path / "state.db"
    store = SqliteStore(path)
    keep(store, a_record(n=0))
    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match=r"state\.db.*locked"):
        count_up(store, 9)
    raw.execute("ROLLBACK")
    raw.close()
    assert count_up(store, 9)


@pytest.mark.parametrize(
    ("url", "path"),
    [("sqlite:/a/b.db", "/a/b.db"), ("sqlite:///a/b.db", "/a/b.db"), ("sqlite:b.db", "b.db")],
)
def test_a_url_names_a_file(url: str, path: str) -> None:
    assert str(path_of(url)) == path


def test_a_url_without_a_file_is_refused() -> None:
    with pytest.raises(StoreError):
        path_of("sqlite:")
