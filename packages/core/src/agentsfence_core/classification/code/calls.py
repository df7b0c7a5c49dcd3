"""Calls and strings in code of any language, by one linear scan that never needs the code to be well-formed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final


class Kind(Enum):
    """What a piece of code is."""

    NAME = auto()
    """A dotted name: ``os.path.join``; the dots of every language are one."""
    TEXT = auto()
    """A string, without its quotes."""
    MARK = auto()


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of code."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call that can be seen in code."""

    name: str
    """Dotted, as resolved as can be: ``urllib.request.urlopen``."""
    texts: tuple[str, ...] = ()
    """Literal strings among its arguments, in order."""
    listed: bool = False
    """The first argument is a list, as of ``subprocess.run(["rm", "x"])``."""
    words: frozenset[str] = frozenset()
    """Names among its arguments: keywords (``data``), keys (``method``)."""

    @property
    def last(self) -> str:
        """The last part of the name."""
        return self.name.rpartition(".")[2]


_HASH: Final = frozenset(
    {"python", "py", "python3", "ruby", "perl", "php", "r", "julia", "elixir", "powershell", "sh", "bash"}
)
_SLASH: Final = frozenset(
    {
        "javascript",
        "js",
        "node",
        "typescript",
        "ts",
        "deno",
        "bun",
        "java",
        "go",
        "rust",
        "c",
        "cpp",
        "php",
        "kotlin",
        "swift",
        "scala",
    }
)
_BARE_CALLS: Final = frozenset({"perl", "ruby", "php"})
"""Languages that call without brackets: ``unlink "a"``."""
_PIECE: Final = re.compile(
    r"(?P<space>\s+)|(?P<name>[A-Za-z_$][\w$]{0,100}(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]{0,100}){0,10})"
    r"|(?P<number>\d\w*)|(?P<comment>//|/\*|\#)|(?P<long>\"\"\"|''')|(?P<quote>[\"'`])|(?P<mark>.)",
    re.DOTALL,
)
_STRING: Final = {
    '"': re.compile(r'(?:[^"\\\n]|\\.)*+', re.DOTALL),
    "'": re.compile(r"(?:[^'\\\n]|\\.)*+", re.DOTALL),
    "`": re.compile(r"(?:[^`\\]|\\.)*+", re.DOTALL),
}
_DOTS: Final = re.compile(r"->|::|\?\.")
_ESCAPE: Final = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_PLAIN_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
_ARGUMENTS: Final = 60  # pieces after a bracket that are looked at


def scan(text: str, language: str) -> tuple[Piece, ...]:
    """Return the pieces of code; comments are left out where the language is known."""
    pieces: list[Piece] = []
    position = 0
    while position < len(text):
        found = _PIECE.match(text, position)
        if found is None:  # pragma: no cover  (the last alternative matches anything)
            break
        kind, start, position = found.lastgroup, position, found.end()
        if kind == "name":
            pieces.append(Piece(Kind.NAME, _DOTS.sub(".", found[0])))
        elif kind == "comment":
            position = _past_comment(text, start, found[0], language)
        elif kind in {"quote", "long"}:
            content, position = _string(text, position, found[0])
            pieces.append(Piece(Kind.TEXT, _unescaped(content)))
        elif kind == "mark":
            pieces.append(Piece(Kind.MARK, found[0]))
    return tuple(pieces)


def calls_in(pieces: Sequence[Piece], language: str, matters: Callable[[str], bool]) -> tuple[Call, ...]:
    """Return the calls among the pieces of code whose name matters."""
    calls: list[Call] = []
    for place, piece in enumerate(pieces):
        if piece.kind is not Kind.NAME or not matters(piece.text):
            continue
        following = pieces[place + 1] if place + 1 < len(pieces) else None
        if following is None:
            if language in _BARE_CALLS:
                calls.append(Call(piece.text))
        elif following.kind is Kind.MARK and following.text == "(":
            calls.append(_call(piece.text, pieces, place + 1))
        elif language in _BARE_CALLS and (following.kind is not Kind.MARK or following.text in "@$"):
            calls.append(_bare_call(piece.text, pieces, place + 1))
    return tuple(calls)


def _call(name: str, pieces: Sequence[Piece], place: int) -> Call:
    """Read the arguments between the bracket at ``place`` and the one that closes it."""
    depth = 0
    texts: list[str] = []
    words: set[str] = set()
    for piece in pieces[place : place + _ARGUMENTS]:
        if piece.kind is Kind.TEXT:
            texts.append(piece.text)
        elif piece.kind is Kind.NAME:
            words.add(piece.text)
        elif piece.text in "([{":
            depth += 1
        elif piece.text in ")]}":
            depth -= 1
            if depth == 0:
                break
    opening = pieces[place + 1].text if place + 1 < len(pieces) else ""
    return Call(name, tuple(texts), opening == "[", frozenset(words))


def _bare_call(name: str, pieces: Sequence[Piece], place: int) -> Call:
    """Read the arguments of a call without brackets, up to the end of its statement."""
    texts: list[str] = []
    for piece in pieces[place : place + _ARGUMENTS]:
        if piece.kind is Kind.MARK and piece.text in ";{}":
            break
        if piece.kind is Kind.TEXT:
            texts.append(piece.text)
    return Call(name, tuple(texts))


def _past_comment(text: str, start: int, opening: str, language: str) -> int:
    """Return the place behind a comment, or behind its first characters where the language has none like it."""
    if (opening == "#" and language in _HASH) or (opening == "//" and language in _SLASH):
        end = text.find("\n", start)
        return len(text) if end < 0 else end
    if opening == "/*" and language in _SLASH:
        end = text.find("*/", start + 2)
        return start + 2 if end < 0 else end + 2
    return start + len(opening)


def _string(text: str, position: int, opening: str) -> tuple[str, int]:
    """Return the content of a string and the place behind it; one that does not end goes to the end of its line."""
    if len(opening) == 3:
        end = text.find(opening, position)
        return (text[position:], len(text)) if end < 0 else (text[position:end], end + 3)
    found = _STRING[opening].match(text, position)
    content = found[0] if found else ""
    end = position + len(content)
    return content, end + 1 if text[end : end + 1] == opening else end


def _unescaped(text: str) -> str:
    r"""Return a string with its escapes resolved, so that ``\x2essh`` is seen as ``.ssh``."""
    if "\\" not in text:
        return text

    def plain(found: re.Match[str]) -> str:
        code = found[1] or found[2]
        return chr(int(code, 16)) if code else _PLAIN_ESCAPES.get(found[3], found[3])

    return _ESCAPE.sub(plain, text)
