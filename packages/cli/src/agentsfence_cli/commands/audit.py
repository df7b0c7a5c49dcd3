"""``agentsfence audit``: what was decided, whether the record is whole, what another policy would have said."""

from __future__ import annotations

import json
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from agentsfence_cli.journal import Event, Wanted, followed, show_event
from agentsfence_cli.kept import AsJson, kept_fence
from agentsfence_cli.screen import SCREEN, working
from agentsfence_cli.walk import options_of
from agentsfence_cli.wire import JsonObject, write_json
from agentsfence_cli.workbench import person_host
from agentsfence_core.audit import Head, Replayed, read_events
from agentsfence_core.audit import replay as judged_again
from agentsfence_core.audit import verify as verified
from agentsfence_core.errors import FenceError
from agentsfence_core.model import Verdict
from agentsfence_core.policy_file import load_policy
from agentsfence_core.settings import load_settings

app = typer.Typer(add_completion=False, rich_markup_mode=None, help="Show, verify or replay the log of decisions.")
TaskFilter = Annotated[str, typer.Option("--task", metavar="ID", help="Only events of this task.")]
LogPath = Annotated[
    Path | None, typer.Option("--log", metavar="PATH", help="Another log: its folder, or one file (default: yours).")
]


@app.callback(invoke_without_command=True)
def show(  # noqa: PLR0913, PLR0917  (each argument is an option of the command)
    context: typer.Context,
    task: TaskFilter = "",
    tool: Annotated[str, typer.Option("--tool", metavar="NAME", help="Only calls of this tool.")] = "",
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help="Only this kind: decision, begin, amend, approve, …")
    ] = "",
    verdict: Annotated[
        Verdict | None, typer.Option("--verdict", metavar="VERDICT", help="Only decisions with this verdict.")
    ] = None,
    minutes: Annotated[float, typer.Option("--minutes", metavar="N", min=0, help="Only the last so many minutes.")] = 0,
    last: Annotated[int, typer.Option("--last", metavar="N", min=1, help="At most so many events, the newest.")] = 50,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with each new event, until Ctrl-C.")] = False,
    log: LogPath = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False,
) -> None:
    """Show the newest decisions and other events of the log, the newest last."""
    if context.invoked_subcommand is not None:
        return
    since = time.time() - 60 * minutes if minutes else 0.0
    wanted = Wanted(task, tool, kind, verdict.value if verdict else "", since)
    path = log or _configured()
    for event in deque((event for event in _recorded(path) if wanted.has(event)), maxlen=last):
        _print(event, as_json=as_json)
    if follow:
        try:
            for event in followed(path):
                if wanted.has(event):
                    _print(event, as_json=as_json)
        except KeyboardInterrupt:
            return


@app.command()
def verify(log: LogPath = None, as_json: AsJson = False) -> None:
    """Look whether the log is whole: no line changed, taken out or cut off. Exit code 1 where it is not."""
    heads: tuple[Head, ...] = ()
    if log is None:
        with kept_fence() as fence:
            heads = fence.heads()
    path = log or _configured()
    with working("reading the log"):
        found = verified(path, heads)
    if as_json:
        gaps: list[JsonObject] = [{"file": gap.file, "line": gap.line, "why": gap.why} for gap in found.gaps]
        write_json(
            {"schema": "agentsfence.audit/1", "holds": found.holds, "lines": found.lines, "chains": found.chains,
             "heads": len(heads), "gaps": gaps}
        )  # fmt: skip
    else:
        for gap in found.gaps:
            SCREEN.line(str(gap))
        kept = f", compared with {len(heads)} heads that the store keeps" if heads else ""
        SCREEN.line(
            f"{path}: {'holds together' if found.holds else 'does NOT hold together'}: "
            f"{found.lines} lines, {found.chains} chains{kept}."
        )
    if not found.holds:
        raise typer.Exit(1)


@app.command()
def replay(
    policy: Annotated[Path, typer.Option("--policy", metavar="FILE", help="The policy file to judge under.")],
    task: TaskFilter = "",
    every: Annotated[bool, typer.Option("--all", help="Also decisions that would be the same.")] = False,
    log: LogPath = None,
    as_json: AsJson = False,
) -> None:
    """Judge the recorded decisions once more under another policy, and show which would differ. Nothing runs.

    The log keeps targets and no content, so that grants, URLs and further effects of a call are not judged.
    """
    settings = load_settings()
    options = options_of(settings, person_host(None, None))
    wanted = Wanted(task=task)
    path = log or _configured()
    judging = load_policy(policy)
    with working("reading the log"):
        found = judged_again((event for event in _recorded(path) if wanted.has(event)), judging, options)
    shown = [each for each in found if every or each.differs]
    differ = sum(each.differs for each in found)
    unknown = sum(each.replayed is None for each in found)
    if as_json:
        counts = {"decisions": len(found), "differ": differ, "unknown": unknown}
        write_json({"schema": "agentsfence.replay/1", **counts, "results": [_object(each) for each in shown]})
        return
    SCREEN.rows(
        [(each.recorded.value, each.replayed.value if each.replayed else "?", each.tool, each.why) for each in shown],
        header=("then", "now", "tool", "why"),
        indent=0,
    )
    SCREEN.line(f"{len(found)} decisions, {differ} would differ, {unknown} cannot be told.")


def _object(each: Replayed) -> JsonObject:
    return {
        "at": each.at,
        "task": each.task,
        "tool": each.tool,
        "capability": each.capability,
        "recorded": each.recorded.value,
        "replayed": each.replayed.value if each.replayed else None,
        "message": each.why,
        "outcome": each.outcome,
    }


def _configured() -> Path:
    path = load_settings().audit_path
    if path is None:
        raise FenceError("nothing is recorded: audit.enabled is off", hint="name a log with --log")
    return path


def _recorded(path: Path) -> Iterator[Event]:
    """Yield the events of a log; a folder without one yields none, another path that is not there is an error."""
    if not path.exists() and path != load_settings().audit_path:
        raise FenceError(f"{path}: no audit log", hint="check the path after --log")
    yield from read_events(path) if path.exists() else ()


def _print(event: Event, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(event) + "\n")
        sys.stdout.flush()
    else:
        show_event(event)
