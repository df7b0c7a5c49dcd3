"""Print checks per second over each store, with more and more clients: `python -m tests.bench.stores`.

On PostgreSQL an admitted call waits until the disk has confirmed its commit. Clients with a task each wait side by
side; clients that share one task wait for each other, since its record is locked from reading to commit.
"""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path

from packages.core.tests.postgres import fresh_url

from agentsfence_core.classification.catalogue import builtin
from agentsfence_core.fence import Fence
from agentsfence_core.model import Permission, Risk, TaskPolicy
from agentsfence_core.ports import PolicyStore
from agentsfence_core.settings import Settings
from agentsfence_core.stores.memory import MemoryStore
from agentsfence_core.stores.postgres import PostgresStore
from agentsfence_core.stores.sqlite import SqliteStore

JOHN = "john@example.com"
SEND = ("mcp_gmail_send_email", {"to": JOHN, "subject": "s", "body": "b"})
POLICY = TaskPolicy(
    allowed_risk_classes=(Risk.READ, Risk.COMMUNICATION),
    allow_external_writes=True,
    permissions=(Permission(capability="email.send", recipients=(JOHN,)),),
)
SECONDS = 1.0


def per_second(fence: Fence, tasks: list[str]) -> float:
    """Return how many checks all clients together get through; one client for each entry of ``tasks``."""
    done = [0] * len(tasks)
    end = time.monotonic() + SECONDS

    def client(number: int) -> None:
        while time.monotonic() < end:
            fence.check(tasks[number], *SEND)
            done[number] += 1

    clients = [threading.Thread(target=client, args=(number,)) for number in range(len(tasks))]
    for one in clients:
        one.start()
    for one in clients:
        one.join()
    return sum(done) / SECONDS


def table(name: str, store: PolicyStore) -> None:
    """Print one line for each number of clients."""
    fence = Fence(settings=Settings(), store=store, catalogue=builtin())
    for number in range(32):
        fence.adopt(POLICY, task=f"t{number}")
    for clients in (1, 8, 32):
        apart = per_second(fence, [f"t{number}" for number in range(clients)])
        together = per_second(fence, ["t0"] * clients)
        print(f"{name}, {clients} clients{'':10}{apart:10.0f} checks/s apart{together:10.0f} on one task")
    fence.close()


def stores() -> None:
    """Print the tables of all stores."""
    table("memory", MemoryStore())
    with tempfile.TemporaryDirectory() as folder:
        table("sqlite", SqliteStore(Path(folder, "state", "state.db")))
    table("postgres", PostgresStore(fresh_url()))


if __name__ == "__main__":
    stores()
