"""Many processes, one budget; workers that die at any point. Each claim has a control that shows it can fail."""

from __future__ import annotations

import os
import random
import signal
import time
from multiprocessing.context import ForkProcess
from pathlib import Path

import pytest
from packages.core.tests.postgres import fresh_url
from tests.state.aids import BUDGET, SEND, answered, begin, fence_over, start, store_of

from agentsfence_core.model import Verdict
from agentsfence_core.ports import TaskRecord

pytestmark = pytest.mark.integration

PROCESSES, CALLS = 16, 200


def place_of(kind: str, folder: Path) -> str:
    return fresh_url() if kind == "postgres" else str(folder / "state.db")


def record_of(kind: str, place: str) -> TaskRecord:
    store = store_of(kind, place)
    record = store.read("t")
    store.close()
    assert record is not None
    return record


def race(kind: str, folder: Path, processes: int) -> tuple[list[str], TaskRecord]:
    """Let all workers loose on one task; return the tickets of what ran, and the record that is left."""
    place = place_of(kind, folder)
    begin(kind, place)
    answers = [folder / f"answers-{number}" for number in range(processes)]
    for worker in start(kind, place, CALLS, answers):
        worker.join()
        assert worker.exitcode == 0
    return answered(answers), record_of(kind, place)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_sixteen_processes_share_one_budget_exactly(kind: str, tmp_path: Path) -> None:
    ran, record = race(kind, tmp_path, PROCESSES)
    assert len(ran) == BUDGET
    assert len(set(ran)) == BUDGET
    assert record.state.counters["outbound"] == BUDGET
    assert set(ran) == set(record.tickets)


def test_control_without_locking_the_budget_is_passed(tmp_path: Path) -> None:
    ran, _ = race("unlocked", tmp_path, 4)
    assert len(ran) > BUDGET


def crash(kind: str, folder: Path, *, seed: int) -> tuple[list[str], TaskRecord]:
    """Kill workers at random points and start others until the budget is used."""
    place = place_of(kind, folder)
    begin(kind, place)
    chance = random.Random(seed)
    answers = [folder / f"answers-{number}" for number in range(12)]
    for turn in range(0, 12, 3):
        workers = start(kind, place, CALLS, answers[turn : turn + 3])
        for path, worker in zip(answers[turn : turn + 3], workers, strict=True):
            wait_for(path, worker, lines=chance.randrange(1, 8))
            if worker.is_alive() and worker.pid is not None:
                os.kill(worker.pid, signal.SIGKILL)
        for worker in workers:
            worker.join()
    return answered(answers), record_of(kind, place)


def wait_for(path: Path, worker: ForkProcess, *, lines: int) -> None:
    """Return once a worker has answered some calls, or has ended."""
    while worker.is_alive() and not (path.exists() and path.read_text().count("\n") >= lines):
        time.sleep(0.0005)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_what_was_answered_survives_a_kill_and_the_budget_holds(kind: str, tmp_path: Path) -> None:
    ran, record = crash(kind, tmp_path, seed=7)
    assert ran
    assert set(ran) <= set(record.tickets)
    assert len(ran) <= record.state.counters["outbound"] <= BUDGET
    assert record.state.counters["outbound"] == len(record.tickets)


def test_control_a_store_that_answers_first_loses_what_it_answered(tmp_path: Path) -> None:
    ran, record = crash("forgetful", tmp_path, seed=7)
    assert not set(ran) <= set(record.tickets)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_revocation_and_a_ban_hold_for_the_next_call_in_every_process(kind: str, tmp_path: Path) -> None:
    place = place_of(kind, tmp_path)
    begin(kind, place)
    stores = [store_of(kind, place) for _ in range(2)]
    here, there = (fence_over(store) for store in stores)
    write = ("write_file", {"path": "/srv/w/x.txt", "content": ""})
    grant = here.approve("t", here.check("t", *write).question, scope="task")
    assert grant is not None
    assert there.check("t", *write).verdict is Verdict.ALLOW
    here.revoke("t", grant.id)
    assert there.check("t", *write).verdict is Verdict.ASK_USER
    assert there.check("t", *SEND).verdict is Verdict.ALLOW
    here.close("t")
    here.adopt({"denied_tools": ["email.send"]}, task="t")
    assert there.check("t", *SEND).verdict is Verdict.BLOCK
    for store in stores:
        store.close()
