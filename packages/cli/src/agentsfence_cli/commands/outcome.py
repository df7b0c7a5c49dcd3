"""``agentsfence outcome``: what became of a call that was allowed."""

from __future__ import annotations

from typing import Annotated

import typer

from agentsfence_cli.kept import AsJson, TaskId, kept_fence
from agentsfence_cli.wire import write_json
from agentsfence_core.tasks import OUTCOMES

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def outcome(
    task: TaskId,
    ticket: Annotated[str, typer.Argument(metavar="TICKET", help="The ticket that check gave.")],
    status: Annotated[str, typer.Argument(metavar="STATUS", help=f"One of {', '.join(sorted(OUTCOMES))}.")],
    as_json: AsJson = False,
) -> None:
    """Say what became of an allowed call. Only not_run, for a call that never started, gives its charge back."""
    if status not in OUTCOMES:
        raise typer.BadParameter(f"{status!r} is none of {', '.join(sorted(OUTCOMES))}", param_hint="STATUS")
    with kept_fence() as fence:
        fence.outcome(task, ticket, status=status)
    if as_json:
        write_json({"schema": "agentsfence.outcome/1", "task": task, "ticket": ticket, "status": status})
