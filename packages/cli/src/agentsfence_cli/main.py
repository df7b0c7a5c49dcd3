"""The entry point: which sub-commands there are, and how an error becomes one sentence and an exit code.

Rules of this file:

* A sub-command's module is imported when it is called, never for ``--help`` (start-up budget, DESIGN 13).
* A mistake of the person is one sentence on the error output and exit code 1; a usage mistake is exit code 2.
"""

from __future__ import annotations

import sys
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from agentsfence_core.errors import FenceError

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS: Final = {
    "compile": "Show the policy that a request compiles to",
    "check": "Decide on one tool call",
    "classify": "Show what a tool call can do",
    "simulate": "Play sessions of messages and calls; nothing runs and nothing is kept",
    "begin": "Begin a task: keep the policy of a person's message",
    "amend": "Take a later message into the policy of a task",
    "outcome": "Say what became of an allowed call",
    "close": "End a task",
    "questions": "List the calls that wait for a person's answer",
    "approve": "Answer a question at this terminal",
    "deny": "Deny a question at this terminal",
    "grants": "List what was approved, or take an approval back",
    "serve": "Answer a program's requests, one JSON line each",
    "policy": "Show the policy of a task, validate a policy file, or print the schema",
    "capabilities": "List the capabilities that policies and calls are written in",
    "doctor": "Look whether everything is in order and the fence blocks",
    "test": "Play sessions of your own with the verdicts that you expect",
    "audit": "Show, verify or replay the log of decisions",
    "adapters": "List the adapters that are installed and what they cannot see",
    "demo": "Watch an agent obey an injected mail, and the fence stop it",
}
"""Sub-command -> its line in the list. The module ``commands.NAME`` holds its ``app``."""


class _Commands(TyperGroup):
    """Sub-commands by name: placeholders for the list, the real one when it is called."""

    def __init__(self, **attributes: object) -> None:
        super().__init__(**attributes)  # type: ignore[arg-type]
        for name, line in COMMANDS.items():
            self.commands[name] = TyperCommand(name, help=line, rich_markup_mode=None)

    def resolve_command(self, ctx: object, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Put the called sub-command in its place, then resolve as usual."""
        if args and not args[0].startswith("-"):
            found = _app_of(args[0])
            if found is not None:
                command = typer.main.get_command(found)
                command.name = args[0]
                self.commands[args[0]] = command
        return super().resolve_command(ctx, args)  # type: ignore[arg-type]


def _app_of(name: str) -> typer.Typer | None:
    """Return the app of a sub-command, or of an adapter that brings commands of its own (DESIGN 1)."""
    if name in COMMANDS:
        app: typer.Typer = import_module(f"agentsfence_cli.commands.{name}").app
        return app
    from agentsfence_cli.commands.adapters import mounted  # noqa: PLC0415

    return mounted(name)


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from agentsfence_cli.packages import versions  # noqa: PLC0415

        found = versions()
        typer.echo(f"agentsfence {found['agentsfence-cli']}")
        for name, version in found.items():
            typer.echo(f"{name} {version}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show each package's version and exit."),
    ] = False,
) -> None:
    """Decide which tool calls of an agent a person's own words allow."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit: 0 done or ALLOW, 1 error, 2 usage, 3 ASK_USER, 4 BLOCK."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal that cannot show a character must not stop an answer
            stream.reconfigure(errors="replace")
    try:
        app(args=_completed(sys.argv[1:] if arguments is None else arguments), prog_name="agentsfence")
    except FenceError as error:
        _fail(str(error))
    except RecursionError:
        _fail("the input is nested too deeply (flatten it)")


def _completed(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with ``-`` after a ``--jsonl`` that names no file: standard input."""
    completed: list[str] = []
    for place, argument in enumerate(arguments):
        completed.append(argument)
        following = arguments[place + 1 : place + 2]
        if argument == "--jsonl" and (not following or following[0].startswith("--")):
            completed.append("-")
    return completed


def _fail(sentence: str) -> None:
    from agentsfence_cli.screen import clean  # noqa: PLC0415

    sys.stderr.write(f"agentsfence: {clean(sentence)}\n")
    sys.exit(1)


if __name__ == "__main__":
    main()
