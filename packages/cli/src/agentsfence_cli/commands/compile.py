"""``agentsfence compile``: the policy that a request compiles to, without running anything."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Annotated

import typer

from agentsfence_cli.calls import read_text
from agentsfence_cli.screen import SCREEN, shortened, working
from agentsfence_cli.sentences import show_policy
from agentsfence_cli.wire import (
    JsonObject,
    dropped_objects,
    policy_object,
    removed_objects,
    request_objects,
    write_json,
)
from agentsfence_cli.workbench import Workbench, person_host
from agentsfence_core.fence import Task
from agentsfence_core.model import PolicySource

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(name="compile")
def compile_(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The request in your words; - reads standard input.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    policy_only: Annotated[bool, typer.Option("--policy-only", help="Only the policy, as a policy file.")] = False,
    compiler: Annotated[
        str | None, typer.Option("--compiler", metavar="NAME", help="rules (offline), chat, or a plugin's.")
    ] = None,
    workspace: Annotated[
        str | None, typer.Option("--workspace", metavar="DIR", help="The folder for the task's own files.")
    ] = None,
) -> None:
    """Show the policy that a request compiles to. Nothing runs and nothing is kept."""
    workbench = Workbench.open()
    fence = workbench.fence(compiler=compiler)
    words = read_text(text) if text == "-" else text
    with working("compiling the message"):
        task = fence.begin(words, task="compile", host=person_host(None, workspace))
    if policy_only:
        # A policy file has an author and no age: it lives from the moment that somebody uses it.
        policy = replace(task.policy, source=PolicySource.MANUAL, created_at=None, expires_at=None)
        _print_policy(policy_object(policy), as_json=as_json)
    elif as_json:
        write_json(_object(task))
    else:
        show_policy(task.policy, workbench.settings.default_verdicts, workbench.home)
        _show_reading(task)


def _object(task: Task) -> JsonObject:
    return {
        "schema": "agentsfence.compiled/1",
        "policy": policy_object(task.policy),
        "instruction": str(task.instruction),
        "removed": removed_objects(task.removed),
        "dropped": dropped_objects(task.dropped),
        "requests": request_objects(task.requests),
    }


def _print_policy(policy: JsonObject, *, as_json: bool) -> None:
    if as_json:
        write_json(policy)
        return
    import yaml  # noqa: PLC0415  (only this output needs it)

    shown = {name: value for name, value in policy.items() if value not in (None, [], {}, "")}
    readable = sys.stdout.encoding.lower().startswith("utf")
    sys.stdout.write(yaml.safe_dump(shown, sort_keys=False, allow_unicode=readable, width=100))


def _show_reading(task: Task) -> None:
    """Show each clause as it was read, what was left out, and what was dropped."""
    if task.requests:
        SCREEN.heading("How your words were read")
    for view in task.requests:
        SCREEN.line(f"{view.kind}: “{shortened(view.quote, 200)}”", indent=2)
        read_as = ", ".join((*view.capabilities, *view.targets))
        if read_as:
            SCREEN.line(f"as {read_as}", indent=4)
        if view.note:
            SCREEN.line(view.note, indent=4)
    if task.removed:
        SCREEN.heading("Left out as quoted material (it grants nothing)")
        SCREEN.rows((part.kind, f"{part.characters} characters", shortened(part.preview, 60)) for part in task.removed)
    if task.dropped:
        SCREEN.heading("Dropped")
        SCREEN.rows((shortened(part.what, 100), part.why) for part in task.dropped)
