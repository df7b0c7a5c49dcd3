"""``sed``: it prints, but its language writes files (``w``), reads them (``r``) and runs programs (``e``).

A script is read command by command as GNU sed does: addresses, the command's letter, then what that letter takes. So
what stands in a pattern, a label or an inserted text is never taken for a command, and no command hides behind one.
"""

from __future__ import annotations

import re
from typing import Final

from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.engine import by_row, shell_line
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.rows import Program, Role, table_of
from agentsfence_core.classification.shell.words import Word

_STREAMS: Final = frozenset({"/dev/stdout", "/dev/stderr"})
_LABEL: Final = re.compile(r"[ \t]*[^\s;}]*")
_NUMBER: Final = re.compile(r"[0-9+~]+|[$]")
_BRACKET: Final = 256  # characters of a bracket expression that are read
_FLAGS: Final = frozenset("gpiImM0123456789")


def past(text: str, place: int, mark: str, *, brackets: bool = True) -> int:
    """Return the place behind the next unescaped ``mark``; inside brackets it does not count.

    A place beyond the end says that brackets are too long to be read: the rest is unknown.
    """
    size = len(text)
    while place < size:
        char = text[place]
        if char == "\\":
            place += 2
        elif char == mark:
            return place + 1
        elif char == "[" and brackets:
            behind = _behind_bracket(text, place + 1, mark)
            if behind > size:
                return behind
            brackets = behind > 0  # one that nothing closes: no later one is closed either
            place = behind or place + 1
        else:
            place += 1
    return size


def _behind_bracket(text: str, place: int, mark: str) -> int:
    """Return the place behind a bracket expression, 0 where nothing closes it, beyond the end if it is too long."""
    place += text.startswith("^", place)
    place += text.startswith("]", place)
    limit = place + _BRACKET
    while place < len(text):
        if place > limit:
            return len(text) + 2
        char = text[place]
        if char == "]":
            return place + 1
        inner = text[place + 1 : place + 2]
        if char == "[" and inner and inner in ":.=":
            end = text.find(f"{inner}]", place + 2, place + 40)
            place = end + 2 if end >= 0 else place + 1
        else:
            place += 2 if char == "\\" and inner == mark else 1
    return 0


class Script:
    """A sed script, read to its end: the shell lines, the files written and the files read that it names."""

    __slots__ = ("_place", "_text", "files", "reads", "runs")

    def __init__(self, text: str) -> None:
        """Read ``text`` in one pass."""
        self.runs: list[str] = []
        self.files: list[str] = []
        self.reads: list[str] = []
        self._text = text
        self._place = 0
        while self._place < len(text):
            self._address()
            self._command()
        if self._place > len(text) + 1:
            self.runs.append("")  # what stands behind brackets that are too long may be anything

    def _address(self) -> None:
        """Step over addresses, separators and blanks in front of a command."""
        text = self._text
        while self._place < len(text):
            char = text[self._place]
            if char in " \t\n;,!{}IM":
                self._place += 1
            elif char == "/":
                self._place = past(text, self._place + 1, "/")
            elif char == "\\" and self._place + 1 < len(text):
                self._place = past(text, self._place + 2, text[self._place + 1])
            elif number := _NUMBER.match(text, self._place):
                self._place = number.end()
            else:
                return

    def _command(self) -> None:
        """Read one command with what it takes."""
        text = self._text
        if self._place >= len(text):
            return
        char = text[self._place]
        self._place += 1
        if char in "sy":
            self._substitution(char)
        elif char in "aic":
            self._inserted()
        elif char in "#erRwW":
            self._to_line_end(char)
        elif char in ":btTv":
            label = _LABEL.match(text, self._place)
            self._place = label.end() if label else self._place

    def _to_line_end(self, char: str) -> None:
        text = self._text
        stop = text.find("\n", self._place)
        stop = len(text) if stop < 0 else stop
        rest = text[self._place : stop].strip()
        self._place = stop
        if char == "e":
            self.runs.append(rest)
        elif char in "wW":
            self.files.append(rest)
        elif char in "rR" and rest:
            self.reads.append(rest)

    def _inserted(self) -> None:
        r"""Step over the text of ``a``, ``i`` and ``c``: to the end of the line, and on where a backslash ends it."""
        text = self._text
        while self._place < len(text) and text[self._place] != "\n":
            self._place += 2 if text[self._place] == "\\" else 1

    def _substitution(self, kind: str) -> None:
        """Read ``s/a/b/flags``: flag ``e`` runs the result, ``w`` writes it."""
        text = self._text
        if self._place >= len(text):
            return
        mark = text[self._place]
        if mark in "\n\\":
            return
        self._place = past(text, self._place + 1, mark, brackets=kind == "s")
        self._place = past(text, self._place, mark, brackets=False)
        while kind == "s" and self._place < len(text):
            flag = text[self._place]
            if flag == "w":
                self._place += 1
                self._to_line_end("w")
                return
            if flag == "e":
                self.runs.append("")
            elif flag not in _FLAGS:
                return
            self._place += 1


def sed_commands(script: str) -> tuple[list[str], list[str], list[str]]:
    """Return the shell lines, the files written and the files read that a sed script names."""
    read = Script(script)
    return read.runs, read.files, read.reads


def is_computed(word: Word) -> bool:
    """Whether a script comes whole from a variable, not only a pattern within it."""
    return not word.sure and word.text[:1] == "$"


def _sed(call: Call, program: Program) -> None:
    """``sed`` prints; ``-i`` edits; its script may do more."""
    words = call.words[1:]
    split = Split(words, table_of(program), posix=False, single=False)
    scripts = [value for _, option, value in split.given if option.role is Role.SCRIPT and value is not None]
    if not scripts and not any(
        name == "f" or (len(name) > 1 and "file".startswith(name)) for name, _, _ in split.given
    ):
        scripts = split.operands[:1]
    if scripts and "sandbox" not in split.strays:
        _script(call, scripts)
    by_row(call, program, words)


def _script(call: Call, pieces: list[Word]) -> None:
    """Read the pieces of a script as the one text that they make."""
    sure = all(word.sure for word in pieces)
    runs, files, reads = sed_commands("\n".join([word.text for word in pieces]))
    for line in runs:
        call.unseen("sed runs a program")
        if line:
            shell_line(call, Word(line, sure))
    for file in files:
        if file not in _STREAMS:
            call.path("file.write", Word(file, sure))
    for file in reads:
        call.path("file.read", Word(file, sure))
    if any(word.runs or is_computed(word) for word in pieces):
        call.unseen("the sed script is computed")


PROGRAMS = {
    "sed": Program(
        "file.read",
        operands=(Role.TEXT,),
        rest=Role.TARGET,
        options={Role.SCRIPT: "-e --expression", Role.UNSEEN: "-f --file", Role.TEXT: "-l --line-length"},
        also={"file.write": "-i? --in-place?"},
        hook=_sed,
    ),
}
