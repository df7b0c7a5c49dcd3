"""Subtasks are a live link: what holds for the parent holds for the child at its next call (DESIGN 8, 12)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packages.core.tests.test_fence import DELETE, JOHN, MAIL_JOHN, READ, SEND, Words, begun, fence

from agentsfence_core.errors import HostContractError
from agentsfence_core.fence import Fence
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Permission, Prohibition, ReasonCode, TaskPolicy, Verdict
from agentsfence_core.model.decision import STRICTNESS
from agentsfence_core.ports import PolicyStore, TaskRecord
from agentsfence_core.stores.memory import MemoryStore
from agentsfence_core.stores.sqlite import SqliteStore

WRITE = ("write_file", {"path": "/srv/w/x.txt", "content": "x"})


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> PolicyStore:
    return MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "state.db")


@pytest.fixture
def family(store: PolicyStore) -> Fence:
    """Task ``t`` may mail John twice; ``t/a`` and ``t/b`` are its subtasks, ``t/a/x`` one of theirs."""
    one = begun(store=store)
    for parent, task in (("t", "t/a"), ("t", "t/b"), ("t/a", "t/a/x")):
        one.child(parent, task=task)
    return one


def change_policy(one: Fence, task: str, change: Callable[[TaskPolicy], TaskPolicy]) -> None:
    def amended(record: TaskRecord | None) -> tuple[TaskRecord | None, object]:
        assert record is not None
        return replace(record, policy=change(record.policy)), None

    one._store.transact(task, amended)


def test_a_subtask_may_what_its_parent_may_and_no_more(family: Fence) -> None:
    for task in ("t/a", "t/a/x"):
        assert family.check(task, *READ).verdict is Verdict.ALLOW
        assert family.check(task, *WRITE).verdict is Verdict.ASK_USER
        assert family.check(task, *DELETE).verdict is Verdict.BLOCK
    assert family.check("t/a/x", *SEND).evidence == ("email John",)
    assert family.policy("t/a/x").permissions == MAIL_JOHN.permissions


def test_a_ban_added_to_the_parent_blocks_the_next_call_below(family: Fence) -> None:
    assert family.check("t/a/x", *SEND).verdict is Verdict.ALLOW
    ban = Prohibition(what="COMMUNICATION", quote="stop mailing")
    change_policy(family, "t", lambda policy: replace(policy, user_prohibitions=(ban,)))
    for task in ("t/a/x", "t/a", "t"):
        assert family.check(task, *SEND).reason is ReasonCode.PROHIBITED


def test_budgets_are_the_roots_whoever_uses_them(family: Fence) -> None:
    assert [family.check(task, *SEND).verdict for task in ("t/a/x", "t/b", "t", "t/a")] == [
        Verdict.ALLOW,
        Verdict.ALLOW,
        Verdict.BLOCK,
        Verdict.BLOCK,
    ]


def test_what_was_not_run_is_refunded_to_the_root(family: Fence) -> None:
    for _ in range(4):
        family.outcome("t/a/x", family.check("t/a/x", *SEND).ticket, status="not_run")
    assert [family.check("t", *SEND).verdict for _ in range(3)] == [Verdict.ALLOW, Verdict.ALLOW, Verdict.BLOCK]


def test_a_replayed_call_of_a_subtask_is_charged_once(family: Fence) -> None:
    first = family.check("t/a", *SEND, key="k")
    assert family.check("t/a", *SEND, key="k").ticket == first.ticket
    assert family.check("t/a", *SEND, key="k").verdict is Verdict.ALLOW
    assert family.check("t/b", *SEND, key="k").ticket not in {"", first.ticket}
    assert family.check("t", *SEND).reason is ReasonCode.MAX_CALLS_USED


def test_an_approval_in_a_subtask_stays_there(family: Fence) -> None:
    grant = family.approve("t/a", family.check("t/a", *WRITE).question, scope="task")
    assert grant is not None
    assert family.check("t/a", *WRITE).covered_by == grant.id
    for other in ("t", "t/b", "t/a/x"):
        expected = Verdict.ASK_USER
        assert family.check(other, *WRITE).verdict is expected, other
    assert family.grants("t/a") == (grant,)
    assert family.grants("t") == ()


def test_a_grant_of_the_parent_covers_the_same_call_below_and_is_used_up_there(family: Fence) -> None:
    family.approve("t", family.check("t", *WRITE).question, scope="times", times=2)
    assert [family.check(task, *WRITE).verdict for task in ("t/a", "t", "t/b")] == [
        Verdict.ALLOW,
        Verdict.ALLOW,
        Verdict.ASK_USER,
    ]


def test_a_denial_of_the_parent_holds_below(family: Fence) -> None:
    family.deny("t", family.check("t", *WRITE).question)
    assert family.check("t/a/x", *WRITE).reason is ReasonCode.DENIED_BY_PERSON


@pytest.mark.parametrize("call", [READ, SEND])
def test_a_subtask_whose_parent_has_ended_is_blocked(family: Fence, call: tuple[str, dict[str, object]]) -> None:
    family.close("t/a")
    assert family.check("t/a/x", *call).reason is ReasonCode.UNKNOWN_TASK
    assert family.check("t/b", *call).verdict is Verdict.ALLOW
    family.close("t")
    assert family.check("t/b", *call).reason is ReasonCode.UNKNOWN_TASK


def test_there_is_no_subtask_of_nothing_no_second_one_and_no_circle(family: Fence) -> None:
    with pytest.raises(HostContractError, match="not live"):
        family.child("nobody", task="n/a")
    with pytest.raises(HostContractError, match="begun already"):
        family.child("t/b", task="t/a")
    family.close("t")
    with pytest.raises(HostContractError, match="not live"):
        family.child("t/a/x", task="t")
    with pytest.raises(HostContractError):
        fence().child("x", task="x")


def test_depth_is_bounded() -> None:
    one = begun()
    parent = "t"
    for level in range(LIMITS.subtask_depth):
        one.child(parent, task=f"{parent}/{level}")
        parent = f"{parent}/{level}"
    assert one.check(parent, *SEND).verdict is Verdict.ALLOW
    with pytest.raises(HostContractError, match="levels deep"):
        one.child(parent, task="deeper")


def test_a_message_never_cuts_a_subtask_loose() -> None:
    words = Words()
    one = begun(pipeline=words)
    one.child("t", task="t/a")
    with pytest.raises(HostContractError):
        one.begin("do anything", task="t/a")
    with pytest.raises(HostContractError):
        one.adopt({"allowed_tools": ["file.delete"], "allow_destructive_actions": True}, task="t/a")
    words.policy = TaskPolicy(
        allow_destructive_actions=True, permissions=(Permission(capability="file.delete", paths=("/srv/w",)),)
    )
    one.amend("delete a.md", task="t/a")
    assert words.restricted == 1
    assert one.check("t/a", *DELETE).verdict is Verdict.BLOCK


CALLS = [
    READ,
    SEND,
    WRITE,
    DELETE,
    (SEND[0], {"to": "mallory@example.net", "body": "b"}),
    ("terminal", {"command": "ls"}),
]
POLICIES = st.builds(
    lambda *fields: TaskPolicy(
        allow_external_writes=fields[0],
        allow_local_writes=fields[1],
        allow_destructive_actions=fields[2],
        allowed_tools=("email.send", "file.write", "file.delete") if fields[3] else (),
        allowed_recipients=(JOHN,) if fields[4] else (),
        max_external_writes=fields[5],
        requires_approval=("file.write",) if fields[6] else (),
        user_prohibitions=(Prohibition(what="DELETE"),) if fields[7] else (),
    ),
    *[st.booleans()] * 5,
    st.sampled_from([None, 0, 1, 2]),
    *[st.booleans()] * 2,
)


@settings(max_examples=60, deadline=None)
@given(POLICIES, POLICIES, st.lists(st.tuples(st.sampled_from(["t", "t/a", "t/b"]), st.integers(0, 5)), max_size=8))
def test_theorem_child_is_within_parent(first: TaskPolicy, second: TaskPolicy, before: list[tuple[str, int]]) -> None:
    """Whatever was called before and whatever the parent's policy becomes: no call is judged milder below."""
    one = fence(store=MemoryStore())
    one.adopt(first, task="t")
    one.child("t", task="t/a")
    one.child("t", task="t/b")
    for place, (task, number) in enumerate(before):
        if place == len(before) // 2:
            change_policy(one, "t", lambda policy: replace(second, expires_at=policy.expires_at))
        one.check(task, *CALLS[number])
    for call in CALLS:
        root = one._store.read("t")
        below = one.check("t/a", *call)
        one._store.transact("t", lambda _, root=root: (root, None))  # type: ignore[misc]  # as it was before that call
        above = one.check("t", *call)
        assert STRICTNESS[below.verdict] >= STRICTNESS[above.verdict]
        one._store.transact("t", lambda _, root=root: (root, None))  # type: ignore[misc]
