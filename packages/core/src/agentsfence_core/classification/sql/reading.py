"""A text of SQL, read in every way that its server may cut it.

Rules of this package:

* Every statement counts, also one inside a CTE, a body or behind another one without ``;``; words in strings, quoted
  names and comments are data.
* A READ needs two witnesses: the linear scan of `lexer` finds nothing that acts, *and* sqlglot can parse the query.
  What either cannot read is an EXTERNAL_WRITE whose targets are not known.
* sqlglot is loaded when the first query is read, and never sees more than ``LIMITS.sql_bytes``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from agentsfence_core.classification.sql import tables
from agentsfence_core.classification.sql.found import Found, merged, unreadable
from agentsfence_core.classification.sql.lexer import MODES, Kind, Mode, Piece, cut, modes_for
from agentsfence_core.classification.sql.statements import read_statement
from agentsfence_core.limits import LIMITS
from agentsfence_core.model.action import Effect
from agentsfence_core.model.risk import RANK, Risk

if TYPE_CHECKING:
    from types import ModuleType

_ALIASES: Final = {
    "postgresql": "postgres", "pg": "postgres", "psql": "postgres", "cockroach": "postgres", "mariadb": "mysql",
    "sqlite3": "sqlite", "mssql": "tsql", "sqlserver": "tsql", "sqlcmd": "tsql", "supabase": "postgres",
}  # fmt: skip
_TRIED: Final = ("", "postgres", "mysql", "tsql")
"""Dialects in which a query may be well-formed; what a server cannot parse it does not run."""
_PARSED: Final = frozenset({"SELECT", "WITH", "VALUES", "TABLE", "FROM"})
_FAULTS: Final = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What a parser may raise on hostile text beside its own errors; RecursionError is a RuntimeError."""
_DEPTH: Final = 2  # levels of SQL inside strings of SQL that are read


def read_sql(text: str, dialect: str | None = None) -> tuple[Effect, ...]:
    """Return what a text of SQL does: one effect for each statement and capability; never empty."""
    name = (dialect or "").lower()
    if len(text) > LIMITS.sql_bytes or len(text.encode("utf-8", "replace")) > LIMITS.sql_bytes:
        return (unreadable("longer than is read"),)
    name = _ALIASES.get(name, name)
    return _read(text, name if name in MODES else "", _DEPTH)


def _read(text: str, dialect: str, depth: int) -> tuple[Effect, ...]:
    """Return the effects under every way of cutting, merged by statement and capability."""
    effects: dict[tuple[int, str], Effect] = {}
    for mode in modes_for(text, dialect):
        for effect in _read_cut(text, mode, dialect, depth):
            key = (effect.invocation, effect.capability)
            known = effects.get(key)
            effects[key] = merged(known, effect) if known else effect
    found = sorted(effects.values(), key=lambda effect: (effect.invocation, -RANK[effect.risk]))
    if len(found) > LIMITS.command_effects:
        worst_first = sorted(found, key=lambda effect: -RANK[effect.risk])
        found = [*worst_first[: LIMITS.command_effects], unreadable("more statements than are read")]
    return tuple(found) or (Effect(*tables.READ, because="no statement"),)


def _read_cut(text: str, mode: Mode, dialect: str, depth: int) -> Iterator[Effect]:
    """Yield the effects of each statement under one way of cutting."""

    def inner(nested: str, into: Found) -> None:
        if not depth:
            into.merge(unreadable("SQL in SQL in SQL"))
            return
        for effect in _read(nested, dialect, depth - 1):
            into.merge(effect)

    pieces, sound = cut(text, mode)
    statements = list(_statements(pieces))
    only_reads = True
    for number, statement in enumerate(statements):
        found = Found(number)
        read_statement(statement, found, inner)
        only_reads = only_reads and all(effect.risk is Risk.READ for effect in found.effects.values())
        yield from found.effects.values()
    if not sound or (only_reads and not _parses(text, statements, dialect)):
        yield unreadable("cannot be parsed")


def _statements(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Yield the statements between ``;``; a psql command is one of its own, and ends the one before it."""
    current: list[Piece] = []
    for piece in pieces:
        ends = piece.kind is Kind.META or (piece.kind is Kind.MARK and piece.text == ";")
        if not ends:
            current.append(piece)
            continue
        if current:
            yield current
        if piece.kind is Kind.META:
            yield [piece]
        current = []
    if current:
        yield current


def _parses(text: str, statements: Sequence[Sequence[Piece]], dialect: str) -> bool:
    """Whether sqlglot can parse a text of queries; a text with other statements is read by their words alone."""
    if not statements or not all(_first_word(statement) in _PARSED for statement in statements):
        return True
    sqlglot = _sqlglot()
    for name in dict.fromkeys((dialect, *_TRIED)):
        try:
            sqlglot.parse(text, read=name or None)
        except (sqlglot.errors.SqlglotError, *_FAULTS):
            continue
        return True
    return False


def _first_word(statement: Sequence[Piece]) -> str:
    """Return the first word of a statement, brackets in front of it aside."""
    first = next((piece for piece in statement if piece.text != "("), None)
    return first.text if first is not None and first.kind is Kind.WORD else ""


@cache
def _sqlglot() -> ModuleType:
    """Return the parser, quiet: what it cannot read is an effect, not a log line."""
    import logging  # noqa: PLC0415

    import sqlglot  # noqa: PLC0415

    logging.getLogger("sqlglot").addHandler(logging.NullHandler())
    return sqlglot
