"""What every `PolicyStore` must do, as tests: subclass `StoreContract` and make the store.

    class TestMyStore(StoreContract):
        def make(self, folder: Path) -> PolicyStore: ...

``make`` with the same folder twice gives two openings of one store where ``durable`` is true.
"""

# ruff: noqa: S101, D102, ARG001  (tests that are shipped: a test's name is its claim)
from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from agentsfence_core.errors import StoreError
from agentsfence_core.layered import layered
from agentsfence_core.model import Delta, ExecutionState, Grant, Permission, Prohibition, Scope, Targets, TaskPolicy
from agentsfence_core.ports import PolicyStore, TaskRecord

Changed = tuple[TaskRecord | None, object]


def a_record(task: str = "t1", **counters: int) -> TaskRecord:
    """Return a record in which every part is filled."""
    policy = TaskPolicy(
        purpose="contract",
        permissions=(Permission(capability="email.send", recipients=("john@example.com",), max_calls=1),),
        user_prohibitions=(Prohibition(what="DELETE", targets=Targets(paths=("/srv/x",)), quote="don't"),),
    )
    grant = Grant(
        id="g1",
        tool="send",
        deltas=(Delta(capability="email.send", risk="COMMUNICATION", values=(("amount", "1"),)),),
        arguments_digest="d",
        answers=frozenset({"b", "a"}),
        scope=Scope.TASK,
    )
    state = ExecutionState(counters, {"g1": 1}, (grant,), frozenset({"x"}))
    return TaskRecord(task, policy, state, "ann", "root", "abc", 12.5, {"q1": {"a": [1, None]}}, {"k1": {"s": "done"}})


def keep(store: PolicyStore, record: TaskRecord) -> None:
    """Put a record into the store."""
    store.transact(record.task, lambda _: (record, None))


def count_up(store: PolicyStore, limit: int, task: str = "t1") -> bool:
    """Use one unit of a budget, or say that it is used up: what a check does."""

    def change(record: TaskRecord | None) -> Changed:
        assert record is not None
        used = record.state.counters.get("n", 0)
        if used >= limit:
            return record, False
        return replace(record, state=replace(record.state, counters={"n": used + 1})), True

    return bool(store.transact(task, change))


class StoreContract:
    """The contract. Ids are opaque, transactions are whole, faults are `StoreError`."""

    durable = True

    def make(self, folder: Path) -> PolicyStore:
        """Open the store in ``folder``."""
        raise NotImplementedError

    @pytest.fixture
    def store(self, tmp_path: Path) -> PolicyStore:
        """The store under test."""
        return self.make(tmp_path)

    def test_an_unknown_task_has_no_record(self, store: PolicyStore) -> None:
        assert store.read("nobody") is None
        assert store.tasks() == ()

    def test_what_is_kept_is_read_back_whole(self, store: PolicyStore) -> None:
        keep(store, a_record(n=3))
        assert store.read("t1") == a_record(n=3)

    def test_another_opening_reads_the_same(self, store: PolicyStore, tmp_path: Path) -> None:
        if self.durable:
            keep(store, a_record(n=3))
            assert self.make(tmp_path).read("t1") == a_record(n=3)

    def test_a_change_in_one_opening_is_seen_in_the_other(self, store: PolicyStore, tmp_path: Path) -> None:
        other = self.make(tmp_path) if self.durable else store
        keep(store, a_record(n=0))
        assert other.read("t1") == a_record(n=0)
        assert count_up(store, 9)
        seen = other.read("t1")
        assert seen is not None
        assert seen.state.counters == {"n": 1}
        store.transact("t1", lambda _: (None, None))
        assert other.read("t1") is None
        keep(store, a_record(n=7))
        assert other.read("t1") == a_record(n=7)

    def test_the_result_of_the_change_comes_back(self, store: PolicyStore) -> None:
        result = object()
        assert store.transact("t1", lambda record: (record, result)) is result

    def test_a_record_is_removed(self, store: PolicyStore) -> None:
        keep(store, a_record())
        store.transact("t1", lambda _: (None, None))
        assert store.read("t1") is None
        assert store.tasks() == ()

    def test_questions_and_tickets_come_and_go(self, store: PolicyStore, tmp_path: Path) -> None:
        keep(store, a_record())
        later = replace(
            a_record(), questions={"q2": {"new": True}}, tickets={"k1": {"s": "done"}, "k0": {"s": "admitted"}}
        )
        keep(store, later)
        assert (self.make(tmp_path) if self.durable else store).read("t1") == later

    def test_items_keep_their_order(self, store: PolicyStore, tmp_path: Path) -> None:
        for number in (3, 1, 2):
            name = f"q{number}"

            def add(record: TaskRecord | None, name: str = name) -> Changed:
                assert record is not None
                return replace(record, questions={**record.questions, name: {"n": name}}), None

            if number == 3:
                keep(store, replace(a_record(), questions={}))
            store.transact("t1", add)
        found = (self.make(tmp_path) if self.durable else store).read("t1")
        assert found is not None
        assert list(found.questions) == ["q3", "q1", "q2"]

    def test_an_exception_in_the_change_keeps_nothing(self, store: PolicyStore) -> None:
        keep(store, a_record(n=1))

        def fail(record: TaskRecord | None) -> Changed:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            store.transact("t1", fail)
        assert store.read("t1") == a_record(n=1)
        assert count_up(store, 9)

    def test_a_transaction_inside_another_is_one_with_it(self, store: PolicyStore) -> None:
        keep(store, a_record("root", n=0))
        keep(store, a_record("child", n=0))

        def both(record: TaskRecord | None) -> Changed:
            assert count_up(store, 9, "root")
            seen = store.read("root")
            assert seen is not None
            assert seen.state.counters == {"n": 1}
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            store.transact("child", both)
        assert store.read("root") == a_record("root", n=0)

    def test_a_failed_inner_transaction_fails_the_outer_one(self, store: PolicyStore) -> None:
        keep(store, a_record("root", n=0))
        keep(store, a_record("child", n=0))

        def fail(record: TaskRecord | None) -> Changed:
            raise ZeroDivisionError

        def swallow(record: TaskRecord | None) -> Changed:
            with pytest.raises(ZeroDivisionError):
                store.transact("root", fail)
            assert record is not None
            return replace(record, starter="eve"), None

        with pytest.raises(StoreError):
            store.transact("child", swallow)
        assert store.read("child") == a_record("child", n=0)

    @pytest.mark.parametrize(
        "task", ["a", "A", "a ", "a\0b", "é", "e\u0301", "\ud800", "x" * 5000, "../../etc", "%s'\";--"]
    )
    def test_ids_are_opaque_and_equal_only_to_themselves(self, store: PolicyStore, task: str) -> None:
        keep(store, a_record("a", n=0))
        keep(store, a_record(task, n=1))
        found = store.read(task)
        assert found == a_record(task, n=1)
        assert len(store.tasks()) == (1 if task == "a" else 2)

    def test_threads_cannot_pass_a_limit_together(self, store: PolicyStore) -> None:
        keep(store, a_record(n=0))
        passed: list[bool] = []
        workers = [
            threading.Thread(target=lambda: passed.extend(count_up(store, 50) for _ in range(25))) for _ in range(4)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert passed.count(True) == 50

    def test_a_deletion_in_one_opening_is_seen_in_the_other(self, store: PolicyStore, tmp_path: Path) -> None:
        other = self.make(tmp_path) if self.durable else store
        keep(store, a_record())
        assert other.read("t1") == a_record()
        fewer = replace(
            a_record(), questions={}, tickets={}, state=replace(a_record().state, grants=(), denied=frozenset())
        )
        keep(store, fewer)
        assert other.read("t1") == fewer
        keep(store, a_record())
        assert other.read("t1") == a_record()

    def test_hundreds_of_items_come_and_go_in_their_order(self, store: PolicyStore, tmp_path: Path) -> None:
        other = self.make(tmp_path) if self.durable else store
        keep(store, replace(a_record(), tickets={}))
        for number in range(150):

            def add(record: TaskRecord | None, number: int = number) -> Changed:
                assert record is not None
                tickets = layered(record.tickets).having(f"k{number}", {"n": number})
                tickets = tickets.having("k0", {"n": -number})
                return replace(record, tickets=tickets.lacking([f"k{number - 100}"])), None

            store.transact("t1", add)
            if number % 40 == 0:
                seen = other.read("t1")
                assert seen is not None
                assert seen.tickets == store.read("t1").tickets  # type: ignore[union-attr]
        found = (self.make(tmp_path) if self.durable else store).read("t1")
        assert found is not None
        # k0 was taken away with the hundredth and came again with the next one.
        assert list(found.tickets) == [*(f"k{n}" for n in range(50, 102)), "k0", *(f"k{n}" for n in range(102, 150))]

    def test_what_may_be_forgotten_goes_when_something_new_comes(self, store: PolicyStore) -> None:
        for name, until in (("old", 10.0), ("kept", None), ("young", 99.0)):
            keep(store, replace(a_record(name), keep_until=until, last_seen=5.0))
        keep(store, replace(a_record("new"), keep_until=99.0, last_seen=50.0))
        assert sorted(store.tasks()) == ["kept", "new", "young"]
        assert store.read("old") is None

    def test_a_record_whose_end_was_moved_is_kept(self, store: PolicyStore) -> None:
        keep(store, replace(a_record("t1"), keep_until=10.0))
        store.transact("t1", lambda r: (replace(r, keep_until=99.0) if r else None, None))
        keep(store, replace(a_record("new"), last_seen=50.0))
        assert sorted(store.tasks()) == ["new", "t1"]

    def test_heads_outlive_their_records(self, store: PolicyStore, tmp_path: Path) -> None:
        keep(store, replace(a_record("t1"), head=("c1", 3, "abc"), keep_until=10.0))
        keep(store, replace(a_record("t2"), head=("c1", 4, "abd")))
        keep(store, replace(a_record("t3"), head=("c2", 9, "eee")))
        assert sorted(store.heads()) == [("c1", 4, "abd"), ("c2", 9, "eee")]
        store.transact("t2", lambda _: (None, None))
        store.transact("t3", lambda _: (None, None))
        keep(store, replace(a_record("new"), last_seen=50.0))
        assert store.tasks() == ("new",)
        heads = (self.make(tmp_path) if self.durable else store).heads()
        assert sorted(heads) == [("c1", 4, "abd"), ("c2", 9, "eee")]

    def test_heads_of_processes_that_take_turns_are_all_kept(self, store: PolicyStore) -> None:
        keep(store, a_record())
        for head in (("c1", 3, "abc"), ("c2", 1, "eee"), ("c1", 4, "abd"), ("c2", 2, "eef")):
            store.transact("t1", lambda record, head=head: (replace(record, head=head) if record else None, None))  # type: ignore[misc]
        assert sorted(store.heads()) == [("c1", 4, "abd"), ("c2", 2, "eef")]

    def test_a_read_inside_a_transaction_sees_it(self, store: PolicyStore) -> None:
        keep(store, a_record("root", n=0))

        def look(record: TaskRecord | None) -> Changed:
            assert count_up(store, 9, "root")
            return a_record("child", n=7), store.read("root")

        seen = store.transact("child", look)
        assert isinstance(seen, TaskRecord)
        assert seen.state.counters == {"n": 1}
        assert store.read("child") == a_record("child", n=7)

    def test_a_closed_store_is_a_fault(self, store: PolicyStore) -> None:
        store.close()
        store.close()
        with pytest.raises(StoreError):
            store.read("t1")
        with pytest.raises(StoreError):
            store.transact("t1", lambda record: (record, None))
        with pytest.raises(StoreError):
            store.tasks()
