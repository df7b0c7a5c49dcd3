"""``agentsfence simulate``: whole sessions, offline and without a trace."""

from __future__ import annotations

from typing import Annotated

import typer

from agentsfence_cli.jsonl import answer_lines
from agentsfence_cli.simulation import simulate as play
from agentsfence_cli.workbench import Workbench

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def simulate(
    jsonl: Annotated[str, typer.Option("--jsonl", metavar="FILE|-", help="Sessions, one JSON object a line.")] = "-",
) -> None:
    """Play sessions of messages and calls; nothing runs and nothing is kept.

    Each line is {"id", "steps": [...]}; a step is {"user": TEXT}, {"policy": {...}}, {"tool": NAME, "args": {...}}
    or {"approve": "once|task|deny"}. Each line is answered with {"id", "results": [...], "ok"}.
    """
    workbench = Workbench.open()
    answer_lines(jsonl, lambda line: play(line, workbench))
