"""Tool calls as the command line is given them: lines, arguments, files."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agentsfence_cli.jsonl import LineError, mapping_field, optional_text, text_field
from agentsfence_core.errors import FenceError
from agentsfence_core.model import ToolCall

GRAMMARS: Final = ("posix", "powershell", "cmd")
TERMINAL: Final = "terminal"
"""The tool that a bare command is classified as."""


def call_of_line(line: Mapping[str, object], home: str | None) -> ToolCall:
    """Return the call that a line of ``classify --jsonl`` describes."""
    workdir, home = optional_text(line, "workdir"), optional_text(line, "home") or home
    if "command" in line and "tool" not in line:
        return command_call(text_field(line, "command"), text_field(line, "shell", "posix"), workdir, home)
    return ToolCall(text_field(line, "tool"), mapping_field(line, "args"), workdir=workdir, home=home)


def command_call(command: str, grammar: str, workdir: str | None, home: str | None) -> ToolCall:
    """Return the call of a shell that would run a command."""
    if grammar not in GRAMMARS:
        raise LineError(f"shell: {grammar!r} is not known", hint=f"one of {', '.join(GRAMMARS)}")
    return ToolCall(TERMINAL, {"command": command}, workdir=workdir, home=home, shell=grammar)


def read_arguments(text: str) -> Mapping[str, object]:
    """Return the arguments of a call: a JSON object, ``@FILE`` or ``-`` for standard input."""
    text = read_text(text)
    try:
        data = json.loads(text or "{}")
    except RecursionError:
        raise FenceError("the arguments are nested too deeply", hint="flatten them") from None
    except ValueError as error:
        raise FenceError(
            f"the arguments are no JSON: {error}", hint='write {"name": "value"} in single quotes'
        ) from error
    if not isinstance(data, dict):
        raise FenceError("the arguments are no JSON object", hint='write {"name": "value"} in single quotes')
    return data


def read_text(text: str) -> str:
    """Return a text argument as it is, from ``@FILE``, or from standard input for ``-``."""
    if text == "-":
        return sys.stdin.buffer.read().decode("utf-8", errors="replace")
    if not text.startswith("@") or len(text) < 2:
        return text
    try:
        return Path(text[1:]).read_text(encoding="utf-8")
    except OSError as error:
        raise FenceError(f"{text[1:]}: {error.strerror or error}", hint="check the path after @") from error
    except ValueError as error:
        raise FenceError(f"{text[1:]}: not UTF-8", hint="save the file as UTF-8 text") from error
