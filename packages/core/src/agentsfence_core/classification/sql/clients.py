"""Commands of the database clients, which are not SQL: backslash commands of psql, dot commands of sqlite3."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from agentsfence_core.classification.sql import tables
from agentsfence_core.classification.sql.found import Found
from agentsfence_core.classification.sql.lexer import Piece
from agentsfence_core.model.action import TargetKind

_META: Final = re.compile(r"(![^\s]*|[A-Za-z_]+|\?)\+?(.*)", re.DOTALL)
_COPY: Final = re.compile(r"(.*)\b(to|from)\s+(program\b)?\s*(.*)", re.IGNORECASE | re.DOTALL)
_FILE_ARGUMENTS: Final = frozenset({"i", "ir", "include", "include_relative", "o", "out", "w", "write", "s"})


def read_meta(text: str, found: Found) -> None:
    """Add what a backslash command of psql does; ``text`` is without the backslash."""
    parsed = _META.match(text)
    name, rest = (parsed[1], parsed[2].strip()) if parsed else ("", "")
    if "`" in rest:
        # psql hands text between backquotes to a shell, in any command.
        found.add(tables.RUN, f"\\{name} `…`", unverified=(TargetKind.PROGRAM,))
    does = tables.RUN if name.startswith("!") else tables.META.get(name)
    if name == "copy":
        _read_copy(rest, found)
    elif does is None or does == tables.RUN:
        found.add(tables.RUN, f"\\{name}", unverified=(TargetKind.PROGRAM,))
    elif name in _FILE_ARGUMENTS | {"g", "gx"} and rest:
        _read_file_argument(name, rest, found)
    else:
        found.add(does, f"\\{name}", unverified=() if does == tables.READ else (TargetKind.OBJECTS, TargetKind.PATHS))


def _read_file_argument(name: str, rest: str, found: Found) -> None:
    r"""Add what ``\i file``, ``\o file`` and ``\g |program`` do."""
    if rest.startswith("|"):
        found.add(tables.RUN, f"\\{name} |", unverified=(TargetKind.PROGRAM,))
    elif name.startswith("i"):
        found.add(tables.WRITE, f"\\{name}", unverified=(TargetKind.OBJECTS,))
        found.add(tables.FILE_READ, f"\\{name}", texts=[rest.split(maxsplit=1)[0].strip("'\"")])
    else:
        found.add(tables.FILE_WRITE, f"\\{name}", texts=[rest.rsplit(maxsplit=1)[-1].strip("'\"")])


def _read_copy(rest: str, found: Found) -> None:
    r"""Add what ``\copy table from|to file|program|stdin`` does."""
    parsed = _COPY.match(rest)
    if parsed is None:
        found.add(tables.WRITE, "\\copy", unverified=(TargetKind.OBJECTS, TargetKind.PATHS))
        return
    outwards = parsed[2].lower() == "to"
    table = parsed[1].split("(")[0].split()
    found.add(tables.READ if outwards else tables.WRITE, "\\copy", objects=[table[0].lower()] if table else [])
    target = parsed[4].split()
    if parsed[3]:
        found.add(tables.RUN, "\\copy … program", unverified=(TargetKind.PROGRAM,))
    elif target and target[0].lower() not in {"stdin", "stdout", "pstdin", "pstdout"}:
        found.add(tables.FILE_WRITE if outwards else tables.FILE_READ, "\\copy", texts=[target[0].strip("'\"")])


def read_dot(statement: Sequence[Piece], found: Found) -> None:
    """Add what a dot command of sqlite3 does."""
    name = statement[1].text.lower()
    does = tables.DOT.get(name)
    if does is None or does == tables.RUN:
        found.add(tables.RUN, f".{name}", unverified=(TargetKind.PROGRAM,))
        return
    argument = "".join(piece.written or piece.text for piece in statement[2:])
    if argument.startswith("|") or "'|" in argument:
        found.add(tables.RUN, f".{name} |", unverified=(TargetKind.PROGRAM,))
    elif does == tables.FILE_WRITE and argument:
        found.add(does, f".{name}", texts=[argument])
    else:
        found.add(does, f".{name}", unverified=() if does == tables.READ else (TargetKind.OBJECTS, TargetKind.PATHS))
