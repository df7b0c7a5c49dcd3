"""``agentsfence serve``: one process that answers a program's requests as long as the program lives."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from typing import Annotated, NoReturn

import typer

from agentsfence_cli.service import Service, requests
from agentsfence_core import Fence, open_or_block

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def serve(
    stdio: Annotated[bool, typer.Option("--stdio", help="Read requests from standard input.")] = False,
) -> None:
    """Answer requests, one JSON object a line, against the configured store, until the input ends.

    A request is {"id", "op": "check", "task", "tool", "args"} or another op; "hello" lists them. Each is answered
    with one line. Run a tool only where "enforced" is "ALLOW"; an answer with "error" means: do not run it.
    """
    if not stdio:
        raise typer.BadParameter("write --stdio: there is no other way to be reached")
    signal.signal(signal.SIGTERM, _leave)
    fence = open_or_block()
    try:
        with suppress(BrokenPipeError):  # the program went away: what it was not told it did not run
            _answer_all(Service(fence))
    finally:
        if isinstance(fence, Fence):
            fence.close()
    _forget_standard_output()


def _answer_all(service: Service) -> None:
    """Answer every line. Answers have an output of their own, so that nothing else that prints can garble them."""
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        for line in requests(sys.stdin.buffer):
            out.write(json.dumps(service.answer(line), separators=(",", ":")).encode("ascii") + b"\n")
            out.flush()


def _forget_standard_output() -> None:
    """A reader that is gone is no fault at exit either."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _leave(*_: object) -> NoReturn:
    raise SystemExit(0)
