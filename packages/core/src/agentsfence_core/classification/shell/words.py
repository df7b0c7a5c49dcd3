"""A word of a command after the shell's own decoding, and how much of it can be known from the text alone."""

from __future__ import annotations

from typing import NamedTuple


class Word(NamedTuple):
    """One word: quotes and backslashes are gone, expansions stand as they were written."""

    text: str
    sure: bool = True
    """No variable and no substitution: the program will receive exactly this text."""
    glob: bool = False
    """An unquoted pattern or brace list: the program receives whatever matches."""
    runs: bool = False
    """Holds the output of a command: data that the text does not show."""
    open: bool = False
    """A whole unquoted variable that the command does not set: it may stand for options, or for several words."""

    @property
    def literal(self) -> bool:
        """Whether the program receives exactly ``text``."""
        return self.sure and not self.glob

    def after(self, count: int) -> Word:
        """Return the word without its first characters: the value in ``--opt=value``."""
        return Word(self.text[count:], self.sure, self.glob, self.runs)


def words_of(texts: list[str]) -> list[Word]:
    """Return literal words."""
    return [Word(text) for text in texts]


def holds_code(text: str) -> bool:
    """Whether a text has a substitution in a subscript: bash runs it where it reads the text as arithmetic."""
    opened = text.find("[")
    return opened >= 0 and ("`" in text[opened:] or "$(" in text[opened:] or "${" in text[opened:])


_ANSI = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "E": "\x1b"}
_DIGITS = {"x": ("0123456789abcdefABCDEF", 2), "u": ("0123456789abcdefABCDEF", 4), "U": ("0123456789abcdefABCDEF", 8)}


def unescape(text: str) -> str:
    """Return an unquoted word without its backslashes; an escaped line end joins two lines."""
    if "\\" not in text:
        return text
    out: list[str] = []
    pending = False
    for char in text:
        if pending:
            pending = False
            if char != "\n":
                out.append(char)
        elif char == "\\":
            pending = True
        else:
            out.append(char)
    return "".join(out)


def unescape_double(text: str) -> str:
    """Return the inside of double quotes: a backslash only protects ``$``, a backquote, ``"`` and itself."""
    if "\\" not in text:
        return text
    out: list[str] = []
    place = 0
    while place < len(text):
        char = text[place]
        following = text[place + 1 : place + 2]
        if char == "\\" and following and following in '$`"\\\n':
            if following != "\n":
                out.append(following)
            place += 2
        else:
            out.append(char)
            place += 1
    return "".join(out)


def _number(text: str, place: int, digits: str, most: int, base: int) -> tuple[str, int]:
    end = place
    while end < len(text) and end - place < most and text[end] in digits:
        end += 1
    if end == place:
        return "", end
    value = int(text[place:end], base)
    return (chr(value) if value < 0x110000 else ""), end


def unescape_ansi(text: str) -> str:
    r"""Return the inside of ``$'...'``: ``\x72m`` is ``rm``."""
    out: list[str] = []
    place = 0
    while place < len(text):
        char = text[place]
        if char != "\\" or place + 1 >= len(text):
            out.append(char)
            place += 1
            continue
        code = text[place + 1]
        place += 2
        if code in _ANSI:
            out.append(_ANSI[code])
        elif code in _DIGITS:
            digits, most = _DIGITS[code]
            made, place = _number(text, place, digits, most, 16)
            out.append(made)
        elif code in "01234567":
            made, place = _number(text, place - 1, "01234567", 3, 8)
            out.append(made)
        else:
            out.append(code)
    return "".join(out)
