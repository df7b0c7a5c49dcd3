"""``agentsfence hermes``: put the plugin into a HERMES_HOME, look at it, take it out again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from agentsfence_core import SettingsError
from agentsfence_hermes import config_file, doctor
from agentsfence_hermes.adapter import INFO

app = typer.Typer(
    help="Hermes Agent: install, status, uninstall, doctor.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
Home = Annotated[
    Path | None,
    typer.Option("--home", help="The HERMES_HOME; without it $HERMES_HOME, or .hermes in your home folder."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def install(home: Home = None, as_json: Json = False) -> None:
    """Enable the plugin in Hermes' configuration; nothing else in the file changes."""
    if strangers := doctor.strangers():
        raise SettingsError(
            f"another package takes this plugin's name, command and folder: {', '.join(strangers)}",
            hint=f"pip uninstall {strangers[0]}",
        )
    _edit(home, as_json, wanted=True)


@app.command()
def uninstall(home: Home = None, as_json: Json = False) -> None:
    """Take the plugin out of Hermes' configuration; policies and the audit log stay."""
    _edit(home, as_json, wanted=False)


@app.command()
def status(home: Home = None, as_json: Json = False) -> None:
    """Show whether the plugin is enabled, and where its state is."""
    place = home or doctor.default_home()
    enabled, version = doctor.enabled(place), doctor.hermes_version()
    if as_json:
        _print_json({"home": str(place), "enabled": enabled, "hermes": version, "state": str(place / "agentsfence")})
        return
    typer.echo(f"Hermes Agent: {version or 'not installed beside this command'}")
    typer.echo(f"HERMES_HOME:  {place}")
    typer.echo(f"Plugin:       {'enabled' if enabled else 'not enabled (agentsfence hermes install)'}")
    typer.echo(f"State:        {place / 'agentsfence'}")


@app.command("doctor")
def examine(home: Home = None, as_json: Json = False) -> None:
    """Start a Hermes, make a call that must be blocked, and say what the fence cannot see. Exit code 1: not fenced."""
    place = home or doctor.default_home()
    found = doctor.examine(place)
    good = all(finding.good for finding in found)
    if as_json:
        findings = [{"what": one.what, "good": one.good, "detail": one.detail} for one in found]
        _print_json({"home": str(place), "good": good, "findings": findings, "blind_spots": list(INFO.blind_spots)})
    else:
        for finding in found:
            typer.echo(
                f"{'ok  ' if finding.good else 'NO  '} {finding.what}{': ' + finding.detail if finding.detail else ''}"
            )
        typer.echo("\nWhat this plugin cannot see:")
        for sentence in INFO.blind_spots:
            typer.echo(f"- {sentence}")
    if not good:
        raise typer.Exit(1)


def _edit(home: Path | None, as_json: bool, *, wanted: bool) -> None:
    place = home or doctor.default_home()
    if not place.is_dir():
        raise SettingsError(f"{place}: no such folder", hint="start Hermes once, or name it with --home")
    path = place / "config.yaml"
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    after = config_file.with_plugin(before) if wanted else config_file.without_plugin(before)
    changed = after != before
    if changed:
        config_file.write(path, after)
    if as_json:
        _print_json({"file": str(path), "enabled": wanted, "changed": changed})
        return
    done = "enabled" if wanted else "no longer enabled"
    typer.echo(f"The plugin is {done} in {path}." if changed else f"{path} needed no change: the plugin is {done}.")
    typer.echo("Restart Hermes, then run: agentsfence hermes doctor" if wanted else "Restart Hermes.")


def _print_json(fields: dict[str, object]) -> None:
    typer.echo(json.dumps({"schema": "agentsfence.hermes/1", **fields}))
