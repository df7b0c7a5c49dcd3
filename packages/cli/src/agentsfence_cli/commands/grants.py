"""``agentsfence grants``: what was approved, and taking it back."""

from __future__ import annotations

from typing import Annotated

import typer

from agentsfence_cli.kept import AnyTask, AsJson, kept_fence, kept_tasks
from agentsfence_cli.screen import SCREEN
from agentsfence_cli.wire import grant_object, write_json
from agentsfence_core.errors import FenceError
from agentsfence_core.model import Grant

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="List what was approved, or take an approval back.",
)


@app.command(name="list")
def list_(task: AnyTask = None, as_json: AsJson = False) -> None:
    """List the grants of a task, or of all tasks, and what each covers."""
    with kept_fence() as fence:
        found = [(name, grant) for name in kept_tasks(task) for grant in fence.grants(name)]
    if as_json:
        shown = [{"task": name, **grant_object(grant)} for name, grant in found]
        write_json({"schema": "agentsfence.grants/1", "grants": shown})
        return
    SCREEN.rows(
        [(grant.id, name, grant.tool, _covers(grant), grant.scope.value) for name, grant in found],
        header=("grant", "task", "tool", "covers", "scope"),
        indent=0,
    )
    if not found:
        SCREEN.line("Nothing was approved.")


@app.command()
def revoke(
    grant: Annotated[str, typer.Argument(metavar="ID", help="The grant, as grants list shows it.")],
    task: AnyTask = None,
    as_json: AsJson = False,
) -> None:
    """Take an approval back: it holds for no later call, in any process."""
    with kept_fence() as fence:
        name = next((name for name in kept_tasks(task) if any(grant == each.id for each in fence.grants(name))), None)
        if name is None:
            raise FenceError(f"no grant {grant!r}", hint="agentsfence grants list shows those in force")
        fence.revoke(name, grant)
    if as_json:
        write_json({"schema": "agentsfence.revoked/1", "task": name, "grant": grant})
    else:
        SCREEN.line(f"Revoked {grant}.")


def _covers(grant: Grant) -> str:
    parts = []
    for delta in grant.deltas:
        targets = ", ".join((*delta.recipients, *delta.domains, *delta.paths, *delta.objects))
        parts.append(f"{delta.capability} {targets}".strip())
    return "; ".join(parts)
