"""``agentsfence test``: your own policies and tools, tested like code."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentsfence_cli.kept import AsJson
from agentsfence_cli.screen import SCREEN
from agentsfence_cli.testing import Tested, junit, sessions_of, tested
from agentsfence_cli.wire import JsonObject, write_json
from agentsfence_cli.workbench import Workbench
from agentsfence_core.errors import FenceError

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(name="test")
def test_(
    files: Annotated[list[Path], typer.Argument(metavar="FILES", help="Files with sessions, YAML or JSON.")],
    junit_file: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Also write the results for a CI system.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Play sessions of messages and calls, and compare each verdict with the one that you expect.

    Nothing runs and nothing is kept. Exit code 1 if an expectation is not met.
    """
    workbench = Workbench.open()
    sessions = [(file, session) for file in files for session in sessions_of(file)]
    results = []
    for file, session in sessions:
        results.append(tested(file, session, workbench))
        if not as_json:
            _show(results[-1])
    if junit_file is not None:
        _write(junit_file, junit(results))
    failed = sum(not each.passed for each in results)
    if as_json:
        write_json({"schema": "agentsfence.test/1", "ok": not failed, "sessions": [_object(each) for each in results]})
    else:
        SCREEN.line()
        expectations = sum(each.expectations for each in results)
        SCREEN.line(f"{len(results)} sessions, {expectations} expectations, {failed or 'no'} failed.")
    if failed:
        raise typer.Exit(1)


def _show(result: Tested) -> None:
    """Show one session as soon as it is played, and each expectation that it missed."""
    sign = "ok  " if result.passed else "FAIL"
    SCREEN.line(f"{sign} {result.file}: {result.name}")
    for miss in result.misses:
        SCREEN.line(f"steps[{miss.step}] {miss.call}: expected {miss.expected}, got {miss.got}", indent=5)
        SCREEN.line(miss.why, indent=7)
    if result.fault:
        SCREEN.line(result.fault, indent=5)


def _object(result: Tested) -> JsonObject:
    misses: list[JsonObject] = [
        {"step": miss.step, "tool": miss.call, "expected": miss.expected, "verdict": miss.got, "message": miss.why}
        for miss in result.misses
    ]
    return {
        "file": result.file,
        "name": result.name,
        "passed": result.passed,
        "expectations": result.expectations,
        "missed": misses,
        "error": result.fault or None,
    }


def _write(file: Path, content: bytes) -> None:
    try:
        file.write_bytes(content)
    except OSError as error:
        raise FenceError(f"{file}: {error.strerror or error}", hint="check the path of --junit") from error
