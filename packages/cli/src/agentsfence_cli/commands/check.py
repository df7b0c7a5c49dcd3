"""``agentsfence check``: one call, one verdict, one exit code. How any program is fenced."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from agentsfence_cli.calls import read_arguments
from agentsfence_cli.screen import SCREEN, shortened
from agentsfence_cli.wire import decision_object, write_json
from agentsfence_cli.workbench import Workbench, person_host
from agentsfence_core.fence import Fence
from agentsfence_core.model import Decision, HostFacts, Verdict

EXIT_CODES: Final = {Verdict.ALLOW: 0, Verdict.ASK_USER: 3, Verdict.BLOCK: 4}
_TASK = "check"
app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def check(
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="The tool's name as the agent calls it.")],
    args: Annotated[str, typer.Argument(metavar="[JSON_ARGS]", help="Its arguments: JSON, @FILE or -.")] = "{}",
    policy: Annotated[Path | None, typer.Option("--policy", help="A policy file that you wrote.")] = None,
    request: Annotated[str | None, typer.Option("--request", help="A request in your words.")] = None,
    task: Annotated[
        str | None, typer.Option("--task", help="A task of the configured store; the call is charged.")
    ] = None,
    workdir: Annotated[
        str | None, typer.Option("--workdir", help="The tool's current folder (default: this one).")
    ] = None,
    workspace: Annotated[str | None, typer.Option("--workspace", help="The folder for the task's own files.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Decide on one tool call, under a policy file, a request, or a task that is kept.

    Exit code: 0 ALLOW, 3 ASK_USER, 4 BLOCK, 1 error, 2 usage. Run the tool only on 0.
    """
    if sum(given is not None for given in (policy, request, task)) != 1:
        raise typer.BadParameter("give one of --policy, --request or --task")
    values = read_arguments(args)
    host = person_host(workdir, workspace)
    if task is not None:
        fence = Fence.open()
    else:
        fence = Workbench.open().fence(look_up=True)
        _begin(fence, policy, request, host)
    try:
        decision = fence.check(_TASK if task is None else task, tool, values, host=host)
    finally:
        fence.close()
    if as_json:
        write_json(decision_object(decision))
    else:
        show_decision(decision)
    raise typer.Exit(EXIT_CODES[decision.enforced])


def _begin(fence: Fence, policy: Path | None, request: str | None, host: HostFacts) -> None:
    if policy is not None:
        fence.adopt(policy, task=_TASK)
    else:
        fence.begin(request or "", task=_TASK, host=host)


def show_decision(decision: Decision) -> None:
    """Show a decision for people: the verdict, the sentence, the words it rests on."""
    SCREEN.verdict(decision.verdict, f"{decision.capability} ({decision.risk.value})")
    for line in decision_lines(decision) or ["It only reads."]:
        SCREEN.line(line, indent=2)
    SCREEN.line(f"Rule: {decision.rule}, reason: {decision.reason.value}", indent=2)
    if decision.question:
        SCREEN.line(f"Question: {decision.question}", indent=2)


def decision_lines(decision: Decision) -> list[str]:
    """Return the sentence of a decision, and the words that it rests on where the sentence does not quote them."""
    quotes = [quote for quote in decision.evidence if quote not in decision.sentence]
    return [
        line for line in (decision.sentence, *(f"Your words: “{shortened(quote, 160)}”" for quote in quotes)) if line
    ]
