"""``agentsfence amend``: a later message of a person, merged into the policy of a task."""

from __future__ import annotations

from typing import Annotated

import typer

from agentsfence_cli.calls import read_text
from agentsfence_cli.kept import AsJson, Sender, TaskId, Workspace, kept_fence
from agentsfence_cli.screen import SCREEN, working
from agentsfence_cli.sentences import show_task
from agentsfence_cli.wire import task_object, write_json
from agentsfence_cli.workbench import person_host
from agentsfence_core.ports import PersonMessage

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def amend(
    task: TaskId,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The person's message; - reads standard input.")],
    sender: Sender = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Take a later message of a person into the policy of a task; the newest explicit statement wins.

    A message to a task that nobody began begins it. In a shared chat, somebody else's message can only narrow.
    """
    message = PersonMessage(read_text(text) if text == "-" else text, sender, "command line")
    host = person_host(None, workspace, shared=sender is not None)
    with kept_fence() as fence, working("compiling the message"):
        amended = fence.amend(message, task=task, host=host)
    if as_json:
        write_json(task_object(amended))
        return
    SCREEN.line(
        f"Task {task}: {'the policy is' if amended.changed else 'nothing in this changes the policy, which is'}"
    )
    show_task(amended)
