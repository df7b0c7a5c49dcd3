"""The person's own terminal: where questions are answered, and nowhere else (DESIGN 11).

Rules of this file:

* The answer comes from the terminal that controls this process, never from standard input, an argument or a variable:
  what a program can write, an agent can write.
* Whatever was typed before the question was shown is thrown away: nobody answers a question that nobody has seen.
* Without such a terminal there is no answer: the question stays open.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, TextIO

from agentsfence_cli.screen import clean
from agentsfence_core.errors import FenceError

_DEVICE = "/dev/tty"
_TRIES = 3
_HINT = "run the same command yourself, in a terminal of your own"


class Terminal:
    """One open terminal."""

    def __init__(self, reads: TextIO, writes: TextIO) -> None:
        """Take what is typed and what is shown."""
        self._reads = reads
        self._writes = writes

    def show(self, text: str) -> None:
        """Show one line; control characters are written out."""
        self._writes.write(f"{clean(text)}\n")
        self._writes.flush()

    def ask(self, question: str, answers: Sequence[str]) -> str:
        """Return one of the answers as the person typed it; an empty text where there is none."""
        for _ in range(_TRIES):
            self._forget_what_was_typed()
            self._writes.write(f"{clean(question)} [{'/'.join(answers)}] ")
            self._writes.flush()
            line = self._reads.readline(200)
            if not line:
                return ""
            if line.strip().lower() in answers:
                return line.strip().lower()
            self.show(f"Type one of: {', '.join(answers)}.")
        return ""

    def _forget_what_was_typed(self) -> None:
        if sys.platform != "win32":
            import termios  # noqa: PLC0415  (absent on Windows)

            termios.tcflush(self._reads.fileno(), termios.TCIFLUSH)


@contextmanager
def controlling_terminal() -> Iterator[Terminal]:
    """Yield the terminal that controls this process; raise `FenceError` where there is none to ask at."""
    reads, writes = _opened()
    with reads, writes:
        yield Terminal(reads, writes)


def _opened() -> tuple[TextIO, TextIO]:
    windows = sys.platform == "win32"
    reads, writes = _device("CONIN$" if windows else _DEVICE, "r"), _device("CONOUT$" if windows else _DEVICE, "w")
    if sys.platform != "win32" and os.tcgetpgrp(reads.fileno()) != os.getpgrp():
        reads.close()
        writes.close()
        raise FenceError("this command runs in the background, where nobody can answer", hint=_HINT)
    return reads, writes


def _device(name: str, mode: Literal["r", "w"]) -> TextIO:
    try:
        return open(name, mode, encoding="utf-8", errors="replace")  # noqa: PTH123  (a device, not a path)
    except OSError:
        raise FenceError(
            "only a person at a terminal can answer a question, and there is no terminal here", hint=_HINT
        ) from None
