"""``agentsfence adapters``: which hosts can be fenced here, and what each adapter cannot see."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated

import typer

from agentsfence_cli.screen import SCREEN
from agentsfence_cli.wire import JsonObject, write_json
from agentsfence_core.errors import PluginError
from agentsfence_core.ports import AdapterInfo

GROUP = "agentsfence.adapters"
_HINT = "reinstall or remove it"
app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def adapters(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the adapters that are installed and what they cannot see."""
    found = installed()
    good = [info for info in found if isinstance(info, AdapterInfo)]
    if as_json:
        write_json({"schema": "agentsfence.adapters/1", "adapters": [_object(info) for info in good]})
    else:
        _show(good)
    for fault in found:
        if isinstance(fault, PluginError):
            raise fault


def _show(found: list[AdapterInfo]) -> None:
    for info in found:
        SCREEN.heading(f"{info.name}  ({info.distribution})")
        SCREEN.line(info.what, indent=2)
        if info.blind_spots:
            SCREEN.line("What it cannot see:", indent=2)
        for sentence in info.blind_spots:
            SCREEN.line(f"- {sentence}", indent=4)


def installed() -> list[AdapterInfo | PluginError]:
    """Return what every installed adapter says about itself, by name; the fault of one hides no other."""
    found: list[AdapterInfo | PluginError] = []
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            found.append(_info(entry))
        except PluginError as error:
            found.append(error)
    return found


def mounted(name: str) -> typer.Typer | None:
    """Return the commands that an installed adapter brings under its name; ``None`` where it brings none."""
    for entry in entry_points(group=GROUP, name=name):
        where = _info(entry).command
        if not where:
            continue
        module, _, attribute = where.partition(":")
        try:
            found = getattr(import_module(module), attribute)
        except Exception as error:  # as above
            raise PluginError(f"the commands of {name!r} ({where}) cannot be loaded: {error}", hint=_HINT) from error
        if isinstance(found, typer.Typer):
            return found
        raise PluginError(f"the commands of {name!r} ({where}) are no typer app", hint=_HINT)
    return None


def _info(entry: EntryPoint) -> AdapterInfo:
    try:
        info = entry.load()
    except Exception as error:  # a foreign module: whatever it raises, the person needs its name
        raise PluginError(f"adapter {entry.name!r} ({entry.value}) cannot be loaded: {error}", hint=_HINT) from error
    if not isinstance(info, AdapterInfo):
        raise PluginError(f"adapter {entry.name!r} ({entry.value}) is no AdapterInfo", hint=_HINT)
    return info


def _object(info: AdapterInfo) -> JsonObject:
    return {
        "name": info.name,
        "distribution": info.distribution,
        "what": info.what,
        "blind_spots": list(info.blind_spots),
        "command": info.command,
    }
