"""``agentsfence demo``: nothing to configure, nothing left behind."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from agentsfence_cli.commands.check import decision_lines
from agentsfence_cli.demo.story import Event, Result, Scene, Watcher, play
from agentsfence_cli.demo.world import World
from agentsfence_cli.screen import SCREEN, shortened
from agentsfence_cli.wire import JsonObject, decision_object, policy_object, write_json
from agentsfence_cli.workbench import Workbench
from agentsfence_core.model import Decision

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def demo(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Watch an agent obey an injected mail, and the fence stop it.

    Real files in a temporary folder, real calls through a real fence. Exit code 1 if a stopped call ran.
    """
    with tempfile.TemporaryDirectory(prefix="agentsfence-demo-") as folder:
        world = World.build(Path(folder).resolve())
        fence = Workbench.without_settings(world.home).fence(look_up=True)
        result = play(fence, world, Watcher() if as_json else _Narrator(world))
        fence.close()
    if as_json:
        write_json(_object(result))
    else:
        _show_end(result)
    if not result.kept:
        raise typer.Exit(1)


class _Narrator(Watcher):
    """Shows what happens while it happens."""

    def __init__(self, world: World) -> None:
        self._folder = str(world.folder)
        SCREEN.line(
            "An agent with a mailbox, a drive and a shell. One mail gives it orders of its own, and the agent obeys."
        )
        SCREEN.line(
            "Every call passes the fence first. Mails, files and calls are real; nothing leaves a temporary folder."
        )

    def scene(self, scene: Scene) -> None:
        SCREEN.heading(f"You: “{scene.request}”")

    def event(self, event: Event) -> None:
        self._decision(event, event.decision)
        if event.approved is not None:
            SCREEN.line("You approve it, once:", indent=4)
            self._decision(event, event.approved)

    def _decision(self, event: Event, decision: Decision) -> None:
        SCREEN.verdict(decision.verdict, self._call(event), indent=2)
        for line in decision_lines(decision):
            SCREEN.line(self._short(line), indent=4)

    def _call(self, event: Event) -> str:
        shown = ", ".join(
            f"{name}={shortened(value, 60)}" for name, value in event.args.items() if name not in _CONTENT
        )
        return self._short(f"{event.tool}({shown})")

    def _short(self, text: str) -> str:
        """Leave out the temporary folder's long name."""
        return text.replace(f"{self._folder}/", "")


_CONTENT = frozenset({"body", "content", "subject"})


def _show_end(result: Result) -> None:
    SCREEN.heading("What the tools' own recorder says")
    rows = (
        (str(event.number), event.tool, event.final.verdict.value, _times(result.ran.count(event.number)))
        for event in result.events
    )
    SCREEN.rows(rows, header=("call", "tool", "verdict", "recorder"))
    SCREEN.line()
    stopped = sum(not event.admitted for event in result.events)
    if result.kept:
        SCREEN.line(f"{len(result.ran)} calls ran, {stopped} were stopped, and no stopped call ran.")
    else:
        SCREEN.line("The recorder does not agree with the verdicts: the fence did not hold.")


def _times(count: int) -> str:
    return {0: "did not run", 1: "ran"}.get(count, f"ran {count} times")


def _object(result: Result) -> JsonObject:
    return {
        "schema": "agentsfence.demo/1",
        "scenes": [
            {
                "request": scene.request,
                "policy": policy_object(scene.task.policy),
                "calls": [_event(event, result) for event in scene.events],
            }
            for scene in result.scenes
        ],
        "ok": result.kept,
    }


def _event(event: Event, result: Result) -> JsonObject:
    return {
        "call": event.number,
        "tool": event.tool,
        "args": dict(event.args),
        "decision": decision_object(event.decision),
        "after_approval": decision_object(event.approved) if event.approved else None,
        "ran": result.ran.count(event.number),
    }
