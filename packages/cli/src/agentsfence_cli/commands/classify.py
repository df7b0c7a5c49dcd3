"""``agentsfence classify``: what a call can do, read from the call alone."""

from __future__ import annotations

from typing import Annotated

import typer

from agentsfence_cli.calls import GRAMMARS, call_of_line, command_call, read_arguments
from agentsfence_cli.jsonl import answer_lines
from agentsfence_cli.screen import SCREEN, shortened
from agentsfence_cli.wire import action_object, write_json
from agentsfence_cli.workbench import Workbench
from agentsfence_core.model import Action, Effect, ToolCall

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def classify(
    tool: Annotated[str | None, typer.Argument(metavar="TOOL", help="The tool's name as the agent calls it.")] = None,
    args: Annotated[str, typer.Argument(metavar="JSON_ARGS", help="Its arguments: JSON, @FILE or -.")] = "{}",
    command: Annotated[
        str | None, typer.Option("--command", metavar="TEXT", help="A shell command instead of a tool.")
    ] = None,
    shell: Annotated[
        str, typer.Option("--shell", metavar="GRAMMAR", help=f"Its grammar: {', '.join(GRAMMARS)}.")
    ] = "posix",
    workdir: Annotated[
        str | None, typer.Option("--workdir", metavar="DIR", help="Folder that relative paths start from.")
    ] = None,
    jsonl: Annotated[
        str | None, typer.Option("--jsonl", metavar="FILE|-", help="Calls, one JSON object a line.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what a tool call can do: its effects, their risk classes and targets. Nothing runs.

    A call is TOOL with JSON_ARGS, or --command "rm a", or lines of --jsonl, each answered with one line.
    """
    if sum(given is not None for given in (tool, command, jsonl)) != 1:
        raise typer.BadParameter("give one of TOOL, --command or --jsonl")
    workbench = Workbench.open()
    if jsonl is not None:
        answer_lines(jsonl, lambda line: action_object(workbench.classify(call_of_line(line, workbench.home))))
        return
    if command is not None:
        call = command_call(command, shell, workdir, workbench.home)
    else:
        call = ToolCall(tool or "", read_arguments(args), workdir=workdir, home=workbench.home)
    action = workbench.classify(call)
    if as_json:
        write_json({"schema": "agentsfence.classification/1", **action_object(action)})
    else:
        show_action(action)


def show_action(action: Action) -> None:
    """Show an action for people: its worst effect first, then each effect with its targets."""
    SCREEN.line(f"{action.tool}: {action.capability} ({action.risk.value}), known from {action.source.value}")
    for place, effect in enumerate(action.effects, start=1):
        SCREEN.heading(f"Effect {place}: {effect.capability} ({effect.risk.value})")
        SCREEN.rows(effect_rows(effect))
    if action.note:
        SCREEN.line(f"Not read in full: {action.note}")


def effect_rows(effect: Effect) -> list[tuple[str, str]]:
    """Return the targets of an effect as lines of a table; what cannot be read is named."""
    lists = {
        "recipients": effect.recipients,
        "domains": effect.domains,
        "paths": effect.paths,
        "objects": tuple(str(thing) for thing in effect.objects),
        "values": tuple(f"{name} {value}" for name, value in effect.values),
    }
    rows = [
        (name, "\n".join(shortened(target, 200) for target in targets)) for name, targets in lists.items() if targets
    ]
    if effect.unverified:
        rows.append(("not visible", ", ".join(sorted(kind.value for kind in effect.unverified))))
    if effect.because:
        rows.append(("because of", shortened(effect.because, 200)))
    return rows
