"""SQL cut into words, names, texts and marks, in linear time: the scan that runs before any parser sees the text.

Servers disagree on what a comment and a string are, and a text can show each of them something else. So a text whose
server is unknown is cut in every way (`MODES`) that matters for it, and what *any* server would run counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

from agentsfence_core.limits import LIMITS


class Kind(Enum):
    """What a piece of SQL is."""

    WORD = auto()
    """A keyword or a bare name, in capitals."""
    NAME = auto()
    """A quoted name."""
    TEXT = auto()
    """A string, without its quotes."""
    BODY = auto()
    """A dollar-quoted string, without its delimiters: often code."""
    META = auto()
    """A backslash command of psql, to the end of its line."""
    MARK = auto()
    """Any other character."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of SQL."""

    kind: Kind
    text: str
    written: str = ""
    """A word as it is written; empty for other kinds."""


@dataclass(frozen=True, slots=True)
class Mode:
    """How one family of servers reads quotes and comments."""

    backslash: bool
    """A backslash escapes inside strings."""
    hash_comment: bool
    nested_comment: bool
    double_quoted_text: bool
    dollar: bool
    """``$$`` quotes, and a backslash outside strings begins a command of psql."""


STANDARD = Mode(backslash=False, hash_comment=False, nested_comment=False, double_quoted_text=False, dollar=False)
POSTGRES = Mode(backslash=False, hash_comment=False, nested_comment=True, double_quoted_text=False, dollar=True)
MYSQL = Mode(backslash=True, hash_comment=True, nested_comment=False, double_quoted_text=True, dollar=False)

MODES: dict[str, tuple[Mode, ...]] = {
    "postgres": (POSTGRES,),
    "redshift": (POSTGRES,),
    "duckdb": (POSTGRES,),
    "mysql": (MYSQL,),
    "bigquery": (MYSQL,),
    "snowflake": (MYSQL, POSTGRES),
    "sqlite": (STANDARD,),
    "oracle": (STANDARD,),
    "tsql": (STANDARD, POSTGRES),
}

_AMBIGUOUS = re.compile(r"[\\#$]|/\*|--[^\s]")
_PIECE = re.compile(
    r"(?P<space>\s+)|(?P<word>[^\W\d][\w$]*)|(?P<number>\d[\w.]*)|(?P<comment>--|/\*|\#)|(?P<quote>[\"'`])"
    r"|(?P<dollar>\$[^\W\d]?\w{0,60}\$)|(?P<meta>\\)|(?P<mark>.)",
    re.DOTALL,
)
_PLAIN_END = {"'": re.compile("[^']*'"), '"': re.compile('[^"]*"'), "`": re.compile("[^`]*`")}
_ESCAPED_END = {
    "'": re.compile(r"(?:[^'\\]|\\.)*+'", re.DOTALL),
    '"': re.compile(r'(?:[^"\\]|\\.)*+"', re.DOTALL),
    "`": _PLAIN_END["`"],
}
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_EXECUTED_COMMENT = re.compile(r"/\*M?!\d{0,6}")
_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")


def modes_for(text: str, dialect: str | None) -> tuple[Mode, ...]:
    """Return the ways of cutting that matter for a text."""
    if text.lstrip().startswith("\\"):
        return (POSTGRES,)
    known = MODES.get(dialect or "")
    if known is not None:
        return known
    return (POSTGRES, MYSQL, STANDARD) if _AMBIGUOUS.search(text) else (STANDARD,)


def cut(text: str, mode: Mode) -> tuple[tuple[Piece, ...], bool]:
    """Return the pieces of a text, and whether every quote, comment and bracket is closed and not nested too deeply."""
    pieces: list[Piece] = []
    position, depth, sound = 0, 0, True
    while position < len(text):
        found = _PIECE.match(text, position)
        if found is None:  # pragma: no cover  (the last alternative matches anything)
            break
        kind, start, position = found.lastgroup, position, found.end()
        if kind == "comment":
            position, closed, inside = _skip_comment(text, start, found[0], mode)
            sound = sound and closed
            if inside:
                pieces.extend(cut(inside, STANDARD)[0])
            continue
        if kind in {"quote", "dollar", "meta"}:
            piece, position = _quoted(text, start, found[0], mode, pieces)
            sound = sound and piece is not None
            pieces.append(piece or Piece(Kind.MARK, found[0]))
        elif kind == "word":
            pieces.append(Piece(Kind.WORD, found[0].upper(), found[0]))
        elif kind != "space":
            pieces.append(Piece(Kind.MARK, found[0]))
            depth += (found[0] in _OPENING) - (found[0] in _CLOSING)
            sound = sound and 0 <= depth <= LIMITS.sql_nesting
    return tuple(pieces), sound and depth == 0


def _quoted(text: str, start: int, opening: str, mode: Mode, before: list[Piece]) -> tuple[Piece | None, int]:
    """Read a string, a quoted name or a psql command; ``None`` where it does not end."""
    if opening == "\\":
        if not mode.dollar:
            return Piece(Kind.MARK, opening), start + 1
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        return Piece(Kind.META, text[start + 1 : end].strip()), end
    if len(opening) > 1:
        if not mode.dollar:
            return Piece(Kind.MARK, opening), start + len(opening)
        end = text.find(opening, start + len(opening))
        return (
            (None, len(text)) if end < 0 else (Piece(Kind.BODY, text[start + len(opening) : end]), end + len(opening))
        )
    escaped = mode.backslash or (opening == "'" and before and before[-1].text == "E" and text[start - 1] in "eE")
    found = (_ESCAPED_END if escaped else _PLAIN_END)[opening].match(text, start + 1)
    if found is None:
        return None, len(text)
    kind = Kind.TEXT if opening == "'" or (opening == '"' and mode.double_quoted_text) else Kind.NAME
    return Piece(kind, found[0][:-1]), found.end()


def _skip_comment(text: str, start: int, opening: str, mode: Mode) -> tuple[int, bool, str]:
    """Return where a comment ends, whether it does, and the code in it that some servers run (``/*!50000 … */``)."""
    if opening == "#" and not mode.hash_comment:
        return start + 1, True, ""
    # In MySQL `--` opens a comment only before white space: `5--1` is a subtraction.
    if opening == "--" and mode is MYSQL and not text[start + 2 : start + 3].isspace() and start + 2 < len(text):
        return start + 2, True, ""
    if opening in {"#", "--"}:
        end = text.find("\n", start)
        return (len(text) if end < 0 else end), True, ""
    end = _block_end(text, start, nested=mode.nested_comment)
    executed = _EXECUTED_COMMENT.match(text, start)
    inside = text[executed.end() : max(end - 2, executed.end())] if executed else ""
    return (len(text), False, inside) if end < 0 else (end, True, inside)


def _block_end(text: str, start: int, *, nested: bool) -> int:
    """Return the place behind the end of a block comment, or -1."""
    if not nested:
        end = text.find("*/", start + 2)
        return end if end < 0 else end + 2
    depth = 0
    for edge in _COMMENT_EDGE.finditer(text, start):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            return edge.end()
    return -1
