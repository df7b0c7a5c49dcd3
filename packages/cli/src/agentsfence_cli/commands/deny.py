"""``agentsfence deny``: a person's no to one question, given at a terminal and nowhere else."""

from __future__ import annotations

from typing import Annotated

import typer

from agentsfence_cli.commands.approve import show_question
from agentsfence_cli.kept import AnyTask, AsJson, kept_fence, question_named
from agentsfence_cli.screen import SCREEN
from agentsfence_cli.terminal import controlling_terminal
from agentsfence_cli.wire import write_json
from agentsfence_core.errors import FenceError

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def deny(
    question: Annotated[str, typer.Argument(metavar="ID", help="The question, as check or questions shows it.")],
    task: AnyTask = None,
    by: Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who answers, in a shared chat.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show a question at this terminal and deny it once you say yes: the call is blocked until you ask for it anew."""
    with controlling_terminal() as terminal, kept_fence() as fence:
        asked = question_named(fence, question, task)
        show_question(terminal, asked)
        if terminal.ask("Deny it?", ("yes", "no")) != "yes":
            raise FenceError("not denied: the question stays open", hint="answer yes to deny it")
        fence.deny(asked.task, asked.id, by=by)
    if as_json:
        write_json({"schema": "agentsfence.answer/1", "answer": "no", "grant": None})
    else:
        SCREEN.line("Denied: this call is blocked until you ask for it in a new message.")
