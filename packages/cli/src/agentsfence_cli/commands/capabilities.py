"""``agentsfence capabilities``: the one table that policies, tool names and words are read with."""

from __future__ import annotations

from typing import Annotated

import typer

from agentsfence_cli.screen import SCREEN
from agentsfence_cli.wire import JsonObject, write_json
from agentsfence_core.classification.vocabulary import Capability, vocabulary
from agentsfence_core.model import Risk

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def capabilities(
    search: Annotated[str, typer.Argument(help="Only capabilities whose name, words or class contain this.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the capabilities that policies and calls are written in, by risk class."""
    found = [row for row in vocabulary().capabilities.values() if _matches(row, search.casefold())]
    if as_json:
        write_json({"schema": "agentsfence.capabilities/1", "capabilities": [_object(row) for row in found]})
        return
    for risk in Risk:
        rows_of_class = [(row.name, row.does) for row in found if row.risk is risk]
        if rows_of_class:
            SCREEN.heading(risk.value)
            SCREEN.rows(rows_of_class)
    if not found:
        SCREEN.line(f"No capability matches {search!r}.")


def _object(row: Capability) -> JsonObject:
    return {
        "name": row.name,
        "risk": row.risk.value,
        "does": row.does,
        "verbs": list(row.verbs),
        "nouns": list(row.nouns),
    }


def _matches(row: Capability, search: str) -> bool:
    return search in " ".join((row.name, row.risk.value, row.does, *row.verbs, *row.nouns)).casefold()
