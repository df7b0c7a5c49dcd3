"""``awk``: it prints, but its language runs programs, writes and reads files and opens sockets.

A program is cut into tokens in one pass, with a regular expression told from a division as awk does: by what stands in
front of the slash. So neither a string nor a pattern hides code, and none of them is taken for it.
"""

from __future__ import annotations

import re
from typing import Final

from agentsfence_core.classification.shell.call import ENVIRONMENT, Call
from agentsfence_core.classification.shell.engine import shell_line
from agentsfence_core.classification.shell.environment import SECRET
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.programs.sed import is_computed, past
from agentsfence_core.classification.shell.rows import Program, Role, rows, table_of
from agentsfence_core.classification.shell.words import Word
from agentsfence_core.model.action import TargetKind

_TOKEN: Final = re.compile(
    r'[ \t\r]+|\\\r?\n|#[^\n]*|"(?:[^"\\\n]|\\.)*"?|[A-Za-z_]\w*|\.?[0-9][\w.]*|\|&|\|\||&&|>>|>=|<=|\+\+|--|.',
    re.DOTALL,
)
_BEFORE_PATTERN: Final = frozenset("print printf return else do case delete in exit".split())
"""Words that no division follows."""
_CONTROLS: Final = frozenset({"if", "while", "for", "switch"})
_ENDS: Final = frozenset({";", "}", "\n", "{"})
_GOES_ON: Final = frozenset({",", "&&", "||"})
"""A line end behind one of these ends no statement."""
_RUNNERS: Final = frozenset({"system", "extension"})
_ENVIRON: Final = re.compile(r"\bENVIRON\b(?:\s*\[\s*\"([A-Za-z_]\w*)\"\s*\])?")
_STREAMS: Final = frozenset({"/dev/stderr", "/dev/stdout", "/dev/null", "/dev/tty", "-"})
_PATTERN: Final = "/"
"""Stands for a whole regular expression among the tokens."""


def tokens_of(text: str, *, brackets: bool = True) -> list[str]:
    """Return the tokens of a program without blanks and comments; strings keep their opening quote."""
    out: list[str] = []
    opened: list[bool] = []  # for each open parenthesis: whether a keyword such as ``if`` opened it
    operand = False
    place = 0
    while place < len(text):
        if text[place] == "/" and not operand:
            place = past(text, place + 1, "/", brackets=brackets)
            out.append(_PATTERN)
            if place > len(text) + 1:
                out += ["@", "("]  # what stands behind brackets that are too long may be anything
            operand = True
            continue
        found = _TOKEN.match(text, place)
        piece = found[0] if found else text[place]
        place += len(piece)
        if piece[0] in " \t\r\\#":
            continue
        if piece == "(":
            opened.append(bool(out) and out[-1] in _CONTROLS)
            operand = False
        elif piece == ")":
            operand = not (opened.pop() if opened else False)
        elif piece not in {"++", "--"}:
            operand = piece[0] in '"].' or ((piece[0].isalnum() or piece[0] == "_") and piece not in _BEFORE_PATTERN)
        if piece != "\n" or not out or out[-1] not in _GOES_ON:
            out.append(piece)
    return out


class Reading:
    """What a program does, by its tokens."""

    __slots__ = ("_tokens", "pipes", "reads", "runs", "strings", "unread", "unwritten", "writes")

    def __init__(self, tokens: list[str]) -> None:
        """Read all tokens once."""
        self.runs = self.pipes = False
        self.writes: list[str] = []
        self.reads: list[str] = []
        self.unwritten = self.unread = False
        """A file is written or read whose name is computed."""
        self.strings = [_content(piece) for piece in tokens if piece[0] == '"']
        self._tokens = tokens
        printing: int | None = None
        depth = 0
        for place, piece in enumerate(tokens):
            if piece in "([":
                depth += 1
            elif piece in ")]":
                depth -= 1
            elif piece in {"print", "printf"}:
                printing = depth
            elif piece in _ENDS:
                printing = None
            if printing is not None and depth <= printing and piece in {"|", "|&", ">", ">>"}:
                self._sent(place, piece)
            else:
                self._one(place, piece)

    def _next(self, place: int) -> str:
        return self._tokens[place + 1] if place + 1 < len(self._tokens) else ""

    def _sent(self, place: int, piece: str) -> None:
        """``print > "f"`` writes f, ``print | "cmd"`` starts cmd."""
        if piece in {"|", "|&"}:
            self.pipes = True
            return
        literal = self._literal(place + 1)
        if literal is None:
            self.unwritten = True
        elif literal not in _STREAMS:
            self.writes.append(literal)

    def _literal(self, place: int) -> str | None:
        """Return a string that is a whole name, not the beginning of a computed one."""
        tokens = self._tokens
        if place >= len(tokens) or tokens[place][0] != '"':
            return None
        after = tokens[place + 1] if place + 1 < len(tokens) else ";"
        return (
            _content(tokens[place]) if after in _ENDS or after in {")", ">", ">=", "<", "&&", "||", "=", "!"} else None
        )

    def _one(self, place: int, piece: str) -> None:
        after = self._next(place)
        if (
            (piece in _RUNNERS and after == "(")
            or (piece == "@" and after != _PATTERN)
            or piece == "|&"
            or (piece == "|" and after == "getline")
        ):
            self.runs = True
        elif piece == "getline":
            self._got(place + 1)

    def _got(self, place: int) -> None:
        """``getline line < "f"`` reads f."""
        end = min(place + 8, len(self._tokens))
        while place < end and self._tokens[place] not in _ENDS and self._tokens[place] != ")":
            if self._tokens[place] == "<":
                literal = self._literal(place + 1)
                self.unread = self.unread or literal is None
                if literal is not None and literal not in _STREAMS:
                    self.reads.append(literal)
                return
            place += 1


def _content(piece: str) -> str:
    return piece[1:].removesuffix('"').replace('\\"', '"').replace("\\\\", "\\").replace("\\/", "/")


def _awk(call: Call, program: Program) -> None:
    """Read the options, the program and the files of a call."""
    split = Split(call.words[1:], table_of(program), posix=True, single=False)
    scripts = [value for _, option, value in split.given if option.role is Role.SCRIPT and value is not None]
    operands = split.operands
    call.effect("file.read")
    for name, option, value in split.given:
        if option.role is Role.WRITE and value is not None:
            call.path("file.write", value)
        elif option.role is Role.READ and value is not None:
            _from_file(call, value, operands)
        elif option.role is Role.UNSEEN:
            call.unseen(f"-{name} runs what the text does not show")
    in_files = any(name in {"f", "file", "E", "exec"} for name, _, _ in split.given)
    if not scripts and not in_files:
        scripts, operands = operands[:1], operands[1:]
    for script in scripts:
        _program(call, script)
    for word in operands:
        if "=" not in word.text:
            call.path("file.read", word)


def _from_file(call: Call, value: Word, operands: list[Word]) -> None:
    """``-f prog``, ``-i lib``: code from a file; ``-i inplace`` edits the files."""
    if value.text.endswith("inplace"):
        for word in operands[1:]:
            call.path("file.write", word)
        return
    call.unseen("an awk program from a file", "script.run")
    call.path("script.run", value)


def _program(call: Call, word: Word) -> None:
    text = word.text
    for found in _ENVIRON.finditer(text):
        if not found[1] or SECRET.search(found[1]):
            call.path("system.read", Word(ENVIRONMENT))
            break
    tokens = tokens_of(text)
    _does(call, Reading(tokens), word)
    if "[" in text and "/" in text:  # whether a slash in brackets ends a pattern depends on the awk
        other = tokens_of(text, brackets=False)
        if other != tokens:
            _does(call, Reading(other), word)
    if word.runs or is_computed(word):
        call.unseen("the awk program is computed")


def _does(call: Call, reading: Reading, word: Word) -> None:
    """Add what one reading of a program does."""
    if reading.runs or reading.pipes:
        call.unseen("awk runs a program")
        for line in reading.strings:
            if reading.pipes or " " in line or line.startswith("/"):
                shell_line(call, Word(line, word.sure))
    if any(line.startswith("/inet") for line in reading.strings):
        _sockets(call, reading.strings)
    for name in reading.writes:
        call.path("file.write", Word(name))
    for name in reading.reads:
        call.path("file.read", Word(name))
    if reading.unwritten:
        call.unverified("file.write", TargetKind.PATHS)
    if reading.unread:
        call.unverified("file.read", TargetKind.PATHS)


def _sockets(call: Call, strings: list[str]) -> None:
    """``/inet/tcp/0/host/80`` reaches a host; a co-process that no string names may reach any."""
    call.unverified("web.post", TargetKind.DOMAINS)
    for line in strings:
        parts = line.split("/")
        if line.startswith("/inet") and len(parts) > 4:
            call.host("web.post", Word(parts[4]))


PROGRAMS = rows(
    "awk gawk mawk nawk goawk",
    Program(
        "file.read",
        options={
            Role.TEXT: "-F --field-separator -v --assign -b! -S! -P! -c!",
            Role.READ: "-f --file -E --exec -i --include",
            Role.UNSEEN: "-l --load -D --debug?",
            Role.SCRIPT: "-e --source",
            Role.WRITE: "-o? --pretty-print? -d? --dump-variables? -p? --profile?",
        },
        hook=_awk,
    ),
)
