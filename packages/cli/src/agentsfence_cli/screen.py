"""What people see: headings, tables and verdicts that read well at 60 columns, with or without colour.

Rules of this file:

* Everything shown may be hostile. `clean` makes control characters visible, so that an argument can neither move the
  cursor, nor recolour a verdict, nor turn the reading direction around.
* Colour never carries meaning alone: the verdict's word is always there. ``NO_COLOR`` is honoured.
"""

from __future__ import annotations

import sys
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from agentsfence_core.model import Verdict

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_WIDEST = 100  # columns; longer lines are hard to read
_PATIENCE = 1.0  # seconds before somebody wonders
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_SIGN: Final = {Verdict.ALLOW: "+", Verdict.ASK_USER: "?", Verdict.BLOCK: "x"}
_COLOUR: Final = {Verdict.ALLOW: "green", Verdict.ASK_USER: "yellow", Verdict.BLOCK: "red"}


def clean(text: str) -> str:
    """Return the text with control, format and surrogate characters written out; newlines stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    if character == "\n" or unicodedata.category(character) not in _HIDDEN:
        return character
    return " " if character == "\t" else f"\\u{ord(character):04x}"


def shortened(text: str, limit: int) -> str:
    """Return the text on one line, at most ``limit`` characters; the end is cut with an ellipsis."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


class Screen:
    """The output for people. Nothing is imported for it until something is shown."""

    def line(self, text: str = "", *, indent: int = 0) -> None:
        """Show one paragraph, wrapped; an empty one is an empty line."""
        from rich.text import Text  # noqa: PLC0415

        self._show(Text(clean(text) or " "), indent)

    def heading(self, text: str) -> None:
        """Show a heading after an empty line."""
        from rich.text import Text  # noqa: PLC0415

        self._show(Text(f"\n{clean(text)}", style="bold"), 0)

    def rows(self, rows: Iterable[Sequence[str]], *, header: Sequence[str] = (), indent: int = 2) -> None:
        """Show a table; every cell wraps, so that nothing is cut at 60 columns."""
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        table = Table(box=None, show_header=bool(header), pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        cells = [[clean(cell) for cell in row] for row in rows]
        for place in range(max((len(row) for row in cells), default=0)):
            table.add_column(header[place] if header else "", overflow="fold")
        for row in cells:
            table.add_row(*(Text(cell) for cell in row))
        if cells:
            self._show(table, indent)

    def verdict(self, verdict: Verdict, text: str, *, indent: int = 0) -> None:
        """Show a verdict's sign and word, then what it is about; a long text wraps beside the word, not below it."""
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        row = Table.grid(padding=(0, 1, 0, 0))
        row.add_column(no_wrap=True)
        row.add_column(overflow="fold")
        row.add_row(Text(f"{_SIGN[verdict]} {verdict.value:<8}", style=_COLOUR[verdict]), Text(clean(text)))
        self._show(row, indent)

    def _show(self, content: RenderableType, indent: int) -> None:
        """Write the content as wide as the terminal is but no wider than people read, without trailing blanks."""
        from rich.padding import Padding  # noqa: PLC0415

        console = _console()
        with console.capture() as captured:
            console.print(Padding(content, (0, 0, 0, indent), expand=False))
        sys.stdout.write("".join(f"{part.rstrip()}\n" for part in captured.get().splitlines()))
        sys.stdout.flush()


@contextmanager
def working(on: str) -> Iterator[None]:
    """Say at a terminal what takes longer than a second, on a line that goes away with it."""
    if not sys.stderr.isatty():
        yield
        return
    shown = threading.Event()

    def show() -> None:
        shown.set()
        _note(f"\r{shortened(clean(on), 60)} …")

    timer = threading.Timer(_PATIENCE, show)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if shown.is_set():
            _note("\r\x1b[K")


def _note(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _console() -> Console:
    from rich.console import Console  # noqa: PLC0415

    console = Console(file=sys.stdout, markup=False, highlight=False, emoji=False)
    console.width = min(console.width, _WIDEST)
    return console


SCREEN = Screen()
