"""``agentsfence begin``: a person's message, or a policy that a person wrote, becomes the policy of a task."""

from __future__ import annotations

from pathlib import Path
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
def begin(
    task: TaskId,
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT", help="The person's message; - reads standard input.")
    ] = None,
    policy: Annotated[
        Path | None, typer.Option("--policy", metavar="FILE", help="A policy file that a person wrote, instead.")
    ] = None,
    sender: Sender = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Begin a task: compile a person's message, or take a policy file, and keep the policy.

    TEXT must be what a person wrote, word for word: never what an agent read, and never an agent's summary.
    """
    if (text is None) == (policy is None):
        raise typer.BadParameter("give the person's message, or --policy")
    host = person_host(None, workspace, shared=sender is not None)
    with kept_fence() as fence:
        if policy is not None:
            begun = fence.adopt(policy, task=task, sender=sender)
        else:
            message = PersonMessage(read_text(text or "") if text == "-" else text or "", sender, "command line")
            with working("compiling the message"):
                begun = fence.begin(message, task=task, host=host)
    if as_json:
        write_json(task_object(begun))
        return
    SCREEN.line(f"Task {task} has begun.")
    show_task(begun)
