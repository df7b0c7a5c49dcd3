"""``agentsfence acme``: commands of the adapter's own."""

from __future__ import annotations

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def status() -> None:
    """Say that the adapter is here."""
    typer.echo("acme is fenced")
