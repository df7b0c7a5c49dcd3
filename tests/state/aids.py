"""Workers that share one task: separate processes, each with a fence of its own over the same store."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from multiprocessing.context import ForkProcess
from pathlib import Path

from agentsfence_core.classification.catalogue import builtin
from agentsfence_core.classification.classifier import classify
from agentsfence_core.fence import Fence
from agentsfence_core.model import Permission, Risk, TaskPolicy, ToolCall, Verdict
from agentsfence_core.ports import PolicyStore, TaskRecord
from agentsfence_core.settings import Settings
from agentsfence_core.stores.postgres import PostgresStore
from agentsfence_core.stores.sqlite import SqliteStore

BUDGET = 100
JOHN = "john@example.com"
SEND = ("mcp_gmail_send_email", {"to": JOHN, "subject": "s", "body": "b"})
POLICY = TaskPolicy(
    allowed_risk_classes=(Risk.READ, Risk.COMMUNICATION),
    allow_external_writes=True,
    permissions=(Permission(capability="email.send", recipients=(JOHN,)),),
    max_external_writes=BUDGET,
)
CATALOGUE = builtin()  # read with the import, before any worker is forked
classify(ToolCall(*SEND), CATALOGUE)
Change = Callable[[TaskRecord | None], tuple[TaskRecord | None, object]]


class Unlocked(SqliteStore):
    """The negative control of races: reads, decides and writes without holding the record."""

    def transact(self, task: str, change: Change) -> object:
        after, result = change(self.read(task))
        super().transact(task, lambda _: (after, None))
        return result


class Forgetful(SqliteStore):
    """The negative control of crashes: answers first, and keeps what it answered when it ends."""

    def transact(self, task: str, change: Change) -> object:
        record = self.__dict__.get("latest") or self.read(task)
        after, result = change(record)
        self.__dict__["latest"] = after
        return result

    def close(self) -> None:
        latest = self.__dict__.get("latest")
        if latest is not None:
            super().transact(latest.task, lambda _: (latest, None))
        super().close()


def store_of(kind: str, place: str) -> PolicyStore:
    """Return an opening of a store."""
    if kind == "postgres":
        return PostgresStore(place)
    return {"sqlite": SqliteStore, "unlocked": Unlocked, "forgetful": Forgetful}[kind](Path(place))


def fence_over(store: PolicyStore) -> Fence:
    """Return a fence without compiler and log."""
    return Fence(settings=Settings(), store=store, catalogue=CATALOGUE)


def begin(kind: str, place: str) -> None:
    """Begin the task that the workers share."""
    store = store_of(kind, place)
    fence_over(store).adopt(POLICY, task="t")
    store.close()


def call_often(kind: str, place: str, times: int, answers: str) -> None:
    """Check ``times`` calls; every answer that let one run is written down at once, before anything else happens."""
    store = store_of(kind, place)
    fence = fence_over(store)
    out = os.open(answers, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)
    for _ in range(times):
        decision = fence.check("t", *SEND)
        if decision.verdict is Verdict.ALLOW:
            os.write(out, f"{decision.ticket}\n".encode())
    os.close(out)
    store.close()


def start(kind: str, place: str, times: int, answers: Sequence[Path]) -> list[ForkProcess]:
    """Start one worker for each file of answers. A fork is quick, and no store is open across it."""
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=call_often, args=(kind, place, times, str(path))) for path in answers]
    for worker in workers:
        worker.start()
    return workers


def answered(paths: Sequence[Path]) -> list[str]:
    """Return the tickets of all calls that were let through."""
    return [line for path in paths if path.exists() for line in path.read_text().splitlines()]
