"""``agentsfence doctor``: is the fence up, what weakens it, and does it block?"""

from __future__ import annotations

from typing import Annotated, Final

import typer

from agentsfence_cli.examination import Finding, State, examined
from agentsfence_cli.kept import AsJson
from agentsfence_cli.packages import versions
from agentsfence_cli.screen import SCREEN, working
from agentsfence_cli.wire import write_json

_WORDS: Final = {State.GOOD: "good", State.NOTE: "note", State.WEAK: "WEAK", State.WRONG: "WRONG"}
app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def doctor(
    probe: Annotated[
        bool, typer.Option("--probe", help="Ask the compiler, which may be a model on the network.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Look at settings, store, log, plugins, compiler and adapters, and make calls that must be blocked.

    Exit code 1 if anything is wrong. What the settings weaken on purpose is shown, and is no fault.
    """
    with working("looking"):
        found = examined(probe=probe)
    wrong = [finding for finding in found if finding.state is State.WRONG]
    if as_json:
        findings = [
            {"part": each.part, "state": each.state.value, "message": each.sentence, "hint": each.hint}
            for each in found
        ]
        write_json({"schema": "agentsfence.doctor/1", "ok": not wrong, "versions": versions(), "findings": findings})
    else:
        _show(found)
        SCREEN.line()
        weak = sum(finding.state is State.WEAK for finding in found)
        SCREEN.line(_summary(len(wrong), weak))
    if wrong:
        raise typer.Exit(1)


def _show(found: list[Finding]) -> None:
    rows = []
    for finding in found:
        rows.append((_WORDS[finding.state], finding.part, finding.sentence))
        if finding.hint and finding.state in {State.WEAK, State.WRONG}:
            rows.append(("", "", f"-> {finding.hint}"))
    SCREEN.rows(rows, indent=0)


def _summary(wrong: int, weak: int) -> str:
    if wrong:
        return f"{wrong} {'thing is' if wrong == 1 else 'things are'} wrong."
    if weak:
        return f"Nothing is wrong; {weak} {'setting weakens' if weak == 1 else 'settings weaken'} the fence."
    return "Nothing is wrong."
