"""What a parser may see: a linear scan in front of tree-sitter, which is neither linear nor bounded on hostile text.

Rules of this file:

* Every bound is checked here, before a parser sees one byte.
* Here-document bodies are cut out and kept aside, and ``<<EOF`` becomes an input redirection from a marked name: so
  literal bodies count against no bound, and the parser's own trouble with here-documents does not matter.
  INVARIANT: the parser must find exactly as many marked redirections as were made; the walker checks it. So a
  ``<<'EOF'`` that this scan took for one but that stands in a quoted text cannot hide the lines after it.
* Characters that the parser takes for blanks and bash does not are replaced by marks that are neither.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agentsfence_core.limits import LIMITS

_TOKEN = re.compile(
    r"""
      \$'(?:[^'\\]|\\.)*'?                        # ANSI-C quotes
    | '[^']*'?                                    # single quotes
    | "(?:[^"\\]|\\.)*"?                          # double quotes
    | \\.                                         # an escaped character
    | (?:(?<=[\s;&|()])|\A)\#[^\n]*               # a comment
    | <<<
    | <<-?[ \t]*(?P<end>(?:'[^'\n]*'|"[^"\n]*"|\\.|[^\s'"\\;&|<>()])+)
    | <>
    | \n
    | [(){}`|;&<>]
    """,
    re.VERBOSE | re.DOTALL,
)
REPEATS = frozenset({"for_statement", "while_statement", "c_style_for_statement", "function_definition"})
"""Nodes whose commands run nobody counts how often."""
_QUICK = 256
_ODD = "\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200C))
)
_HIDE = {ord(char): 0xE000 + place for place, char in enumerate(_ODD)}
_SHOW = {mark: char for char, mark in _HIDE.items()}
_ODD_BLANK = re.compile(f"[{_ODD}]")
_BLOCKS = re.compile(r"\b(?:if|while|until|for|case|select)\b|\[\[|=~")


DOCUMENT = "/.here-document/"
"""The marked name that stands for a here-document; its number follows."""


@dataclass(frozen=True, slots=True)
class Document:
    """The body of a here-document."""

    text: str
    literal: bool
    """Nothing in it is expanded."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A command as the parser may see it."""

    text: str
    documents: tuple[Document, ...] = ()
    """Here-documents that were cut, in the order of the text."""
    fault: str = ""
    """Why no parser may see it; empty where it may."""
    marked: bool = False
    """Odd blanks were replaced; `restore` brings them back."""


def restore(text: str) -> str:
    """Return a word with its odd blanks."""
    return text.translate(_SHOW)


def prepare(text: str) -> Prepared:
    """Return the command without literal here-document bodies, or the bound that it breaks."""
    if "\0" in text:
        return Prepared("", fault="a NUL character")
    marked = False
    if not text.isascii() or "\r" in text or "\v" in text or "\f" in text or "\x1c" in text or "\x1d" in text:
        text = text.replace("\r\n", "\n")
        if "\r" in text:
            return Prepared("", fault="a carriage return inside a line")
        if _ODD_BLANK.search(text):
            marked = True
            text = text.translate(_HIDE)
    if len(text) > LIMITS.command_bytes and "<<" not in text:
        return Prepared("", fault=f"longer than {LIMITS.command_bytes} bytes")
    openers = text.count("(") + text.count("{") + text.count("`")
    if len(text) <= _QUICK and openers <= LIMITS.command_nesting and "<<" not in text and "<>" not in text:
        return Prepared(text, marked=marked)
    return _Scanner(text).run(marked=marked)


def _unquoted(word: str) -> str:
    """Return the end word of a here-document without its quotes."""
    return re.sub(r"['\"\\]", "", word)


class _Scanner:
    """One pass over the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.out: list[str] = []
        self.documents: list[Document] = []
        self.waiting: list[tuple[str, bool, bool]] = []
        """Here-documents whose bodies begin after this line: end word, literal, tabs stripped."""
        self.copied = 0
        self.cut = 0
        """Characters that were cut out."""
        self.operators = 0
        self.depth = 0
        self.deepest = 0
        self.marked = 0

    def run(self, *, marked: bool) -> Prepared:
        """Return what the parser may see."""
        place = 0
        while (token := _TOKEN.search(self.text, place)) is not None:
            place = self._token(token)
            if place - self.cut > LIMITS.command_bytes:
                return Prepared("", fault=f"longer than {LIMITS.command_bytes} bytes")
            if self.operators > LIMITS.command_operators:
                return Prepared("", fault=f"more than {LIMITS.command_operators} operators")
            if self.deepest > LIMITS.command_nesting:
                return Prepared("", fault=f"nested deeper than {LIMITS.command_nesting}")
        self.out.append(self.text[self.copied :])
        text = "".join(self.out)
        if len(text.encode("utf-8", "surrogatepass")) > LIMITS.command_bytes:
            return Prepared("", fault=f"longer than {LIMITS.command_bytes} bytes")
        if len(_BLOCKS.findall(text)) > LIMITS.command_nesting * 4:
            return Prepared("", fault="too many blocks")
        # The tokens above follow quotes, and nested quotes can mislead them; this bound does not.
        if sum([text.count(char) for char in "|&;<>("]) > LIMITS.command_operators * 4:
            return Prepared("", fault="too many operators")
        if self.marked != len(self.documents):
            return Prepared("", fault="a here-document without a body")
        return Prepared(text, tuple(self.documents), marked=marked)

    def _token(self, token: re.Match[str]) -> int:
        text = token[0]
        first = text[0]
        end = token.end()
        if first == "\n":
            self.operators += 1
            return self._bodies(end) if self.waiting else end
        if first in "'\\#" or text[:2] == "$'":
            return end
        if first == '"':
            self._inside(text)
        elif token["end"] is not None:
            word = token["end"]
            if self.marked >= LIMITS.command_nesting or "`" in word or "$(" in word or "${" in word:
                self.operators = LIMITS.command_operators + 1
            self.out += [self.text[self.copied : token.start()], f"<{DOCUMENT}{self.marked} "]
            self.copied = end
            self.marked += 1
            self.waiting.append((_unquoted(word), word != _unquoted(word), text[2] == "-"))
            self.operators += 1
        elif text == "<>":
            # The parser does not know read-write redirection; for what it does to the file it is an appending one.
            self.out += [self.text[self.copied : token.start()], ">>"]
            self.copied = end
            self.operators += 1
        else:
            self.operators += 1
            self._nest(text)
        return end

    def _nest(self, text: str) -> None:
        if text in "({":
            self.depth += 1
        elif text in ")}":
            self.depth = max(0, self.depth - 1)
        elif text == "`":
            self.depth += 1
        self.deepest = max(self.deepest, self.depth)

    def _inside(self, text: str) -> None:
        """Count the substitutions inside double quotes; quotes inside them make this an upper bound."""
        opened = text.count("$(") + text.count("${") + text.count("`")
        self.operators += opened
        self.deepest = max(self.deepest, self.depth + opened)
        self.depth = max(0, self.depth + opened - text.count(")") - text.count("}") - text.count("`"))

    def _bodies(self, place: int) -> int:
        """Pass over the bodies that begin at ``place``; cut the literal ones."""
        self.out.append(self.text[self.copied : place])
        for end, literal, tabs in self.waiting:
            start = place
            stop, place = self._end_of_body(place, end, tabs=tabs)
            body = self.text[start:stop]
            if tabs:
                body = "\n".join([line.lstrip("\t") for line in body.split("\n")])
            self.documents.append(Document(body, literal))
            if literal:
                self.cut += place - start
            else:
                self._inside(body)
        self.copied = place
        self.waiting.clear()
        return place

    def _end_of_body(self, place: int, end: str, *, tabs: bool) -> tuple[int, int]:
        """Return where the body stops and where the line after its end word begins; an unclosed one has it all."""
        while place < len(self.text):
            stop = self.text.find("\n", place)
            stop = len(self.text) if stop < 0 else stop
            line = self.text[place:stop]
            if (line.lstrip("\t") if tabs else line) == end:
                return place, stop + 1 if stop < len(self.text) else stop
            place = stop + 1
        return len(self.text), len(self.text)
