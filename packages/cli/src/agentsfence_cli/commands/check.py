"""``agentsfence check``: one call, one verdict, one exit code. How any program is fenced."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import Annotated, Final

import typer

from agentsfence_cli.calls import read_arguments
from agentsfence_cli.kept import TASK_VARIABLE, AsJson, Workspace
from agentsfence_cli.screen import SCREEN, shortened
from agentsfence_cli.walk import show_walk, walk_object, walked
from agentsfence_cli.wire import decision_object, write_json
from agentsfence_cli.workbench import Workbench, person_host
from agentsfence_core.fence import Fence
from agentsfence_core.model import Decision, HostFacts, Verdict

EXIT_CODES: Final = {Verdict.ALLOW: 0, Verdict.ASK_USER: 3, Verdict.BLOCK: 4}
_TASK = "check"
app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def check(  # noqa: PLR0913, PLR0917  (each argument is an option of the command)
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="The tool's name as the agent calls it.")],
    args: Annotated[str, typer.Argument(metavar="JSON_ARGS", help="Its arguments: JSON, @FILE or -.")] = "{}",
    policy: Annotated[
        Path | None, typer.Option("--policy", metavar="FILE", help="A policy file that you wrote.")
    ] = None,
    request: Annotated[str | None, typer.Option("--request", metavar="TEXT", help="A request in your words.")] = None,
    task: Annotated[
        str | None,
        typer.Option("--task", metavar="ID", help=f"A task that has begun; the call is charged ({TASK_VARIABLE})."),
    ] = None,
    key: Annotated[
        str,
        typer.Option(
            "--key", metavar="KEY", help="With --task: this execution's own key; a replay of it is charged once."
        ),
    ] = "",
    call_id: Annotated[
        str, typer.Option("--call-id", metavar="ID", help="With --task: the model's id, for the log.")
    ] = "",
    no_person: Annotated[bool, typer.Option("--no-person", help="Nobody is there who could be asked.")] = False,
    auto_approves: Annotated[
        bool, typer.Option("--auto-approves", help="The program would answer questions by itself.")
    ] = False,
    workdir: Annotated[
        str | None, typer.Option("--workdir", metavar="DIR", help="The tool's current folder (default: this one).")
    ] = None,
    workspace: Workspace = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what each check says. Nothing is charged or asked.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Decide on one tool call, under a policy file, a request, or a task that is kept.

    Exit code: 0 ALLOW, 3 ASK_USER, 4 BLOCK, 1 error, 2 usage. Run the tool only on 0.
    """
    if task is None and policy is None and request is None:
        task = os.environ.get(TASK_VARIABLE) or None
    if sum(given is not None for given in (policy, request, task)) != 1:
        raise typer.BadParameter("give one of --policy, --request or --task")
    values = read_arguments(args)
    host = person_host(workdir, workspace, human_present=not no_person, auto_approves=auto_approves)
    with closing(_fence(policy, request, host)) as fence:
        name = _TASK if task is None else task
        if explain:
            walk = walked(fence, name, tool, values, host)
            decision = walk.decision
        else:
            decision = fence.check(name, tool, values, host=host, key=key or None, call_id=call_id)
    if as_json:
        write_json({**decision_object(decision), **(walk_object(walk) if explain else {})})
    else:
        show_decision(decision, kept=task is not None)
        if explain:
            show_walk(walk)
    raise typer.Exit(EXIT_CODES[decision.enforced])


def _fence(policy: Path | None, request: str | None, host: HostFacts) -> Fence:
    """Return the fence that holds what is asked about: the configured one for a task, else one that keeps nothing."""
    if policy is None and request is None:
        return Fence.open()
    fence = Workbench.open().fence(look_up=True)
    _begin(fence, policy, request, host)
    return fence


def _begin(fence: Fence, policy: Path | None, request: str | None, host: HostFacts) -> None:
    if policy is not None:
        fence.adopt(policy, task=_TASK)
    else:
        fence.begin(request or "", task=_TASK, host=host)


def show_decision(decision: Decision, *, kept: bool) -> None:
    """Show a decision for people: the verdict, the sentence, the words it rests on; how to answer, if it is kept."""
    SCREEN.verdict(decision.verdict, f"{decision.capability} ({decision.risk.value})")
    for line in decision_lines(decision) or ["It only reads."]:
        SCREEN.line(line, indent=2)
    SCREEN.line(f"Rule: {decision.rule}, reason: {decision.reason.value}", indent=2)
    if decision.question and kept:
        SCREEN.line(f"To answer: agentsfence approve {decision.question}", indent=2)


def decision_lines(decision: Decision) -> list[str]:
    """Return the sentence of a decision, and the words that it rests on where the sentence does not quote them."""
    quotes = [quote for quote in decision.evidence if quote not in decision.sentence]
    return [
        line for line in (decision.sentence, *(f"Your words: “{shortened(quote, 160)}”" for quote in quotes)) if line
    ]
