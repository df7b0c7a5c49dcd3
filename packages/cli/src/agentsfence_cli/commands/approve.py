"""``agentsfence approve``: a person's yes to one question, given at a terminal and nowhere else."""

from __future__ import annotations

import time
from typing import Annotated, Final

import typer

from agentsfence_cli.commands.questions import question_lines
from agentsfence_cli.kept import AnyTask, AsJson, kept_fence, question_named
from agentsfence_cli.screen import SCREEN
from agentsfence_cli.terminal import Terminal, controlling_terminal
from agentsfence_cli.wire import grant_object, write_json
from agentsfence_core.errors import FenceError
from agentsfence_core.fence import Fence
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Grant
from agentsfence_core.tasks import Question

DENIED: Final = 4
"""Exit code where the person says no, as for BLOCK."""
app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def approve(
    question: Annotated[str, typer.Argument(metavar="ID", help="The question, as check or questions shows it.")],
    task: AnyTask = None,
    times: Annotated[
        int | None, typer.Option("--times", metavar="N", min=1, help="Ask for so many uses instead of one.")
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option("--minutes", metavar="N", min=0.1, help="Ask for any number of uses in so many minutes."),
    ] = None,
    by: Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who answers, in a shared chat.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show a question at this terminal and take your answer: once, for the task, or no.

    Only a person at a terminal can answer: a program without one gets exit code 1, and the question stays open.
    Exit code: 0 granted, 4 you said no, 1 no answer or nothing could be granted.
    """
    if times is not None and minutes is not None:
        raise typer.BadParameter("give --times or --minutes, not both")
    with controlling_terminal() as terminal, kept_fence() as fence:
        asked = question_named(fence, question, task)
        answer = _answer(terminal, asked, times, minutes)
        grant = _granted(fence, asked, answer, times, minutes, by)
    if as_json:
        write_json(
            {"schema": "agentsfence.answer/1", "answer": answer, "grant": grant_object(grant) if grant else None}
        )
    if answer == "no":
        SCREEN.line("Denied: this call is blocked until you ask for it in a new message.") if not as_json else None
        raise typer.Exit(DENIED)
    if grant is None:
        raise FenceError("nothing could be granted", hint="only the person who began the task can approve its calls")
    if not as_json:
        SCREEN.line(f"Granted {grant.id}: this call, {_lasting(grant)}.")


def show_question(terminal: Terminal, asked: Question) -> None:
    """Show at the terminal what is asked, and all that a yes would cover."""
    terminal.show(f"Task {asked.task[:80]} wants to call {asked.tool[:200]}.")
    for line in question_lines(asked):
        terminal.show(line)


def _answer(terminal: Terminal, asked: Question, times: int | None, minutes: float | None) -> str:
    """Return ``once``, ``task``, ``yes`` (to the number or the time that was asked for) or ``no``."""
    show_question(terminal, asked)
    if times is not None:
        answer = terminal.ask(f"Approve it {times} times?", ("yes", "no"))
    elif minutes is not None:
        answer = terminal.ask(f"Approve it for {minutes:g} minutes?", ("yes", "no"))
    else:
        answer = terminal.ask("Approve it once, or for this task?", ("once", "task", "no"))
    if not answer:
        raise FenceError("there was no answer: the question stays open", hint="run it again")
    return answer


def _granted(
    fence: Fence, asked: Question, answer: str, times: int | None, minutes: float | None, by: str | None
) -> Grant | None:
    if answer == "no":
        fence.deny(asked.task, asked.id, by=by)
        return None
    if times is not None:
        return fence.approve(asked.task, asked.id, scope="times", times=times, by=by)
    if minutes is not None:
        return fence.approve(asked.task, asked.id, scope="until", until=time.time() + 60 * minutes, by=by)
    return fence.approve(asked.task, asked.id, scope=answer, by=by)


def _lasting(grant: Grant) -> str:
    if grant.max_calls is None:
        return "until the time that you named"
    if grant.max_calls == 1:
        return "once"
    of_task = " while the task lasts" if grant.max_calls == LIMITS.task_grant_uses else ""
    return f"at most {grant.max_calls} times{of_task}"
