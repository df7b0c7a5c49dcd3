"""The configured fence, for commands that act on tasks which are kept: begun, checked and answered across processes.

Rules of this file:

* Settings that cannot be read or must not be trusted end the command: nothing runs on defaults instead (DESIGN 9).
* A question may be named without its task: it is looked for in every task that the store holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from agentsfence_core.errors import FenceError
from agentsfence_core.fence import Fence
from agentsfence_core.plugins import load_plugins
from agentsfence_core.settings import load_settings
from agentsfence_core.tasks import Question

TASK_VARIABLE = "AGENTSFENCE_TASK"
TaskId = Annotated[
    str, typer.Option("--task", metavar="ID", envvar=TASK_VARIABLE, help="The task's id.", show_envvar=True)
]
AnyTask = Annotated[
    str | None,
    typer.Option("--task", metavar="ID", envvar=TASK_VARIABLE, help="The task's id (default: every task)."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Sender = Annotated[
    str | None, typer.Option("--sender", metavar="NAME", help="Who wrote the message, where several people do.")
]
Workspace = Annotated[
    str | None, typer.Option("--workspace", metavar="DIR", help="The folder for the task's own files.")
]


@contextmanager
def kept_fence() -> Iterator[Fence]:
    """Yield the configured fence; it is closed afterwards."""
    fence = Fence.open()
    try:
        yield fence
    finally:
        fence.close()


def kept_tasks(task: str | None) -> tuple[str, ...]:
    """Return the ids of the tasks that are meant: the one that is named, else all that the store holds."""
    if task is not None:
        return (task,)
    settings = load_settings()
    store = load_plugins(settings).open_store(settings.store)
    try:
        return store.tasks()
    finally:
        store.close()


def question_named(fence: Fence, question: str, task: str | None) -> Question:
    """Return an open question by its id; an error where nobody asks it."""
    for name in kept_tasks(task):
        for found in fence.questions(name):
            if found.id == question:
                return found
    raise FenceError(f"no open question {question!r}", hint="agentsfence questions lists those that are open")
