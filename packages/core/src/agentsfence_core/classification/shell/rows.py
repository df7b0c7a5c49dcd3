"""What a row of the table of programs can say. Rows are data; ``engine.py`` reads them.

A row names the capability of the program, what its operands are, and the options that matter: those that take a
value (so that the value is not taken for an operand), and those that write, run, send or delete. An option that no
row names takes no value and changes nothing, unless the row is ``strict``.

Options are written as they are typed, separated by blanks. ``-i?`` takes a value only when it is glued to it,
``-x!`` takes none, ``--arg#`` takes two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentsfence_core.classification.shell.call import Call


class Role(Enum):
    """What a word of a command is to its program."""

    TEXT = auto()
    """Data: a pattern, a number, a format, a message."""
    FLAG = auto()
    """An option without value that changes nothing. Only ``strict`` rows need to name these."""
    TARGET = auto()
    """A path of the program's own capability."""
    READ = auto()
    """A file that is read."""
    WRITE = auto()
    """A file that is made or changed."""
    EMPTY = auto()
    """A file that loses its content."""
    DELETE = auto()
    """A file that goes."""
    RUN = auto()
    """A program or a shell line that is started."""
    UNSEEN = auto()
    """Brings in options or instructions that the text does not show: a configuration file, a plug-in."""
    SCRIPT = auto()
    """Data that takes the place of the first operand: the pattern of ``grep -e``."""
    OBJECT = auto()
    """An object of the row's ``kind``."""
    URL = auto()
    """An address that is contacted."""
    HOST = auto()
    """A machine that is contacted, as ``host``, ``user@host`` or ``host:port``."""
    RECIPIENT = auto()
    """A party that the program reaches."""
    ARGV = auto()
    """The first word of a command that the program starts: it and all that follows."""


@dataclass(frozen=True, slots=True)
class Option:
    """What one option does."""

    role: Role = Role.FLAG
    takes: str = ""
    """``""`` no value, ``"="`` always one, ``"?"`` only a glued one, ``"2"`` two words."""
    also: str = ""
    """A capability that the option adds; the operands are its paths."""
    instead: str = ""
    """The capability that the program has under this option."""


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """One program, or one subcommand of a program."""

    does: str
    operands: tuple[Role, ...] = ()
    """What the first operands are."""
    rest: Role = Role.TEXT
    """What the other operands are."""
    last: Role | None = None
    """What the last operand is, where it differs and there are at least two."""
    options: Mapping[Role, str] = field(default_factory=dict)
    also: Mapping[str, str] = field(default_factory=dict)
    """Capability -> options that add it."""
    instead: Mapping[str, str] = field(default_factory=dict)
    """Capability -> options that make it the program's only one."""
    kind: str = "name"
    """Kind of the objects."""
    subcommands: Mapping[str, Program] | None = None
    """Subcommand -> row; a key may have several words."""
    otherwise: Program | None = None
    """Row for a subcommand that is not listed; without it, it is an unknown program."""
    bare: str = ""
    """Capability when there is no operand at all, where that differs."""
    sure: bool = True
    """Whether the row says what the program does. False: it runs code that nobody can see from here."""
    strict: bool = False
    """An option that is not named here makes the program unverified."""
    posix: bool = False
    """Options end at the first operand."""
    single: bool = False
    """Long options may be written with one dash."""
    dash_is_file: bool = False
    """A lone ``-`` for an output is a file of that name, not standard output."""
    acting: bool = False
    """Has options that act, beyond those that the row names: a hook reads them."""
    hook: Callable[[Call, Program], None] | None = None
    """Reads the call instead of the engine, for programs with a language of their own."""
    before: Callable[[Call], None] | None = None
    """Adds effects before the engine reads the row."""


@dataclass(frozen=True, slots=True)
class OptionTable:
    """The options of one row, by name."""

    short: Mapping[str, Option]
    long: Mapping[str, Option]
    dangerous: bool
    """Some option runs, writes, sends or deletes."""


_VALUELESS = frozenset({Role.FLAG})
_HARMLESS = frozenset({Role.TEXT, Role.FLAG, Role.TARGET, Role.READ, Role.SCRIPT, Role.OBJECT})


def _named(text: str, role: Role, also: str = "", instead: str = "") -> list[tuple[str, Option]]:
    valueless = role in _VALUELESS or bool(also or instead)
    pairs = []
    for name in text.split():
        takes = "" if valueless else "="
        if name[-1] in "?!#":
            takes = {"?": "?", "!": "", "#": "2"}[name[-1]]
            name = name[:-1]  # noqa: PLW2901  (the mark is not part of the name)
        elif name[-1] == "=":
            takes = "="
            name = name[:-1]  # noqa: PLW2901
        pairs.append((name, Option(role, takes, also, instead)))
    return pairs


@cache
def table_of(program: Program) -> OptionTable:
    """Return the row's options by name; made once per row."""
    pairs = [pair for role, text in program.options.items() for pair in _named(text, role)]
    pairs += [pair for name, text in program.also.items() for pair in _named(text, Role.FLAG, also=name)]
    pairs += [pair for name, text in program.instead.items() for pair in _named(text, Role.FLAG, instead=name)]
    short = {name[1:]: option for name, option in pairs if not name.startswith("--") and len(name) == 2}
    long = {name.lstrip("-"): option for name, option in pairs if name.startswith("--") or len(name) > 2}
    dangerous = any(o.also or o.role not in _HARMLESS for _, o in pairs)
    return OptionTable(short, long, dangerous)


def rows(names: str, program: Program) -> dict[str, Program]:
    """Return the same row under several names."""
    return dict.fromkeys(names.split(), program)
