"""One JSON object a line in, one answer a line out, in the same order and flushed line by line (DESIGN 11).

Rules of this file:

* A line that cannot be answered gives ``{"id", "error"}``, and the rest go on. No input line ends the process.
* Nothing is kept from one line to the next here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from agentsfence_cli.wire import JsonObject
from agentsfence_core.errors import FenceError

Answer = Callable[[Mapping[str, object]], JsonObject]


class LineError(FenceError):
    """A line does not have the form of its format; the message names the field."""


def answer_lines(source: str, answer: Answer) -> None:
    """Answer every line of a file, or of standard input for ``-``. Empty lines have no answer."""
    out = sys.stdout
    with _lines(source) as lines:
        for line in lines:
            if line.strip():
                out.write(json.dumps(_answered(line, answer)) + "\n")
                out.flush()


def _answered(line: bytes, answer: Answer) -> JsonObject:
    """Return the answer to one line, or what is wrong with it."""
    try:
        data = json.loads(line)
    except ValueError as error:
        return {"id": None, "error": f"not a JSON object on one line: {error}"}
    except RecursionError:
        return {"id": None, "error": "the JSON is nested too deeply"}
    if not isinstance(data, dict):
        return {"id": None, "error": f"a line is a JSON object, not {type(data).__name__}"}
    name = data.get("id")
    try:
        return {"id": name, **answer(data)}
    except FenceError as error:
        return {"id": name, "error": str(error)}
    except Exception as error:  # noqa: BLE001  (one line's fault must not silence the lines after it)
        return {"id": name, "error": f"{type(error).__name__}: {error}"}


@contextmanager
def _lines(source: str) -> Iterator[BinaryIO]:
    """Open what is read; an error names the file."""
    if source == "-":
        yield sys.stdin.buffer
        return
    path = Path(source)
    if not path.is_file():
        what = "not a file" if path.exists() else "no such file"
        raise FenceError(f"{source}: {what}", hint="check the path, or use - for standard input")
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise FenceError(f"{source}: {error.strerror or error}", hint="check its rights") from error


def text_field(data: Mapping[str, object], name: str, default: str | None = None) -> str:
    """Return a text field; raise `LineError` where it is missing or of another type."""
    value = data.get(name, default)
    if not isinstance(value, str):
        raise LineError(f"{name}: must be a text")
    return value


def optional_text(data: Mapping[str, object], name: str) -> str | None:
    """Return a text field, or ``None`` where it is absent or null."""
    return None if data.get(name) is None else text_field(data, name)


def flag_field(data: Mapping[str, object], name: str, *, default: bool) -> bool:
    """Return a field that is true or false; raise `LineError` where it is of another type."""
    value = data.get(name, default)
    if not isinstance(value, bool):
        raise LineError(f"{name}: must be true or false")
    return value


def mapping_field(data: Mapping[str, object], name: str) -> Mapping[str, object]:
    """Return an object field, empty where it is absent or null."""
    value = data.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise LineError(f"{name}: must be an object")
    return value


def list_field(data: Mapping[str, object], name: str) -> list[object]:
    """Return a list field, empty where it is absent or null."""
    value = data.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise LineError(f"{name}: must be a list")
    return value
