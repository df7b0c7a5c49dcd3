"""``agentsfence close``: the end of a task."""

from __future__ import annotations

from typing import Annotated

import typer

from agentsfence_cli.kept import AsJson, TaskId, kept_fence, kept_tasks
from agentsfence_cli.screen import SCREEN
from agentsfence_cli.wire import write_json
from agentsfence_core.errors import FenceError

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def close(
    task: TaskId,
    discard: Annotated[
        bool, typer.Option("--discard", help="Also where the task's record is damaged; its bans are lost with it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """End a task: its policy, counters, questions and grants are forgotten. The audit log stays."""
    with kept_fence() as fence:
        if task not in kept_tasks(None):
            raise FenceError(f"no task {task!r}", hint="it has been closed, or nobody began it")
        fence.close(task, discard=discard)
    if as_json:
        write_json({"schema": "agentsfence.closed/1", "task": task})
    else:
        SCREEN.line(f"Task {task} is closed.")
