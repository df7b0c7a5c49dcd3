"""What has been found in one statement so far, and how names and texts are taken out of its pieces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from agentsfence_core.classification.sql.lexer import Kind, Piece
from agentsfence_core.classification.sql.tables import WRITE, Does
from agentsfence_core.classification.targets.hosts import hosts_in
from agentsfence_core.classification.targets.paths import canonical_path
from agentsfence_core.model.action import Effect, ObjectRef, TargetKind

NOTHING: Final = Piece(Kind.MARK, "")
ALL_KINDS: Final = frozenset({TargetKind.OBJECTS, TargetKind.PATHS, TargetKind.DOMAINS, TargetKind.PROGRAM})
_SKIPPED: Final = frozenset(
    {
        "ONLY", "IF", "NOT", "EXISTS", "LATERAL", "TABLE", "INTO", "FROM", "IGNORE", "OVERWRITE", "TEMPORARY", "TEMP",
        "VIEW", "OR", "REPLACE", "MATERIALIZED", "UNLOGGED", "EXTERNAL", "LOW_PRIORITY", "DELAYED", "DATABASE",
        "SCHEMA", "INDEX", "UNIQUE", "COLUMN", "SEQUENCE", "FUNCTION", "PROCEDURE", "TRIGGER", "TYPE", "EXTENSION",
        "CONCURRENTLY", "USER", "ROLE", "GROUP", "POLICY", "LOGIN", "SYSTEM",
    }
)  # fmt: skip
_MOST_SKIPPED: Final = 8  # words between a verb and the name it acts on
_NO_NAME: Final = frozenset({"SELECT", "VALUES", "SET", "WHERE", "AS", "ON", "USING", "WITH", "OUTFILE", "DUMPFILE"})
_FROM_INSIDE: Final = frozenset({"EXTRACT", "SUBSTRING", "TRIM", "OVERLAY", "POSITION"})
_BEFORE_TABLE: Final = frozenset({"FROM", "JOIN", "USING"})


@dataclass(slots=True)
class Found:
    """Effects of one statement by capability."""

    invocation: int
    effects: dict[str, Effect] = field(default_factory=dict)

    def add(
        self,
        does: Does,
        because: str,
        *,
        objects: Sequence[str] = (),
        kind: str = "table",
        texts: Sequence[str] = (),
        unverified: Iterable[TargetKind] = (),
    ) -> None:
        """Merge one effect; literal texts become paths, or hosts where they are URLs."""
        urls = tuple(text for text in texts if "://" in text)
        paths = tuple(canonical_path(text, workdir=None, home=None) for text in texts if text and "://" not in text)
        self.merge(
            Effect(
                *does,
                domains=tuple(dict.fromkeys(host for url in urls for host in hosts_in(url))),
                paths=paths,
                objects=tuple(ObjectRef(kind, name) for name in objects),
                urls=urls,
                unverified=frozenset(unverified),
                because=because[:80],
            )
        )

    def merge(self, effect: Effect) -> None:
        """Merge an effect with the one of the same capability."""
        effect = replace(effect, invocation=self.invocation)
        known = self.effects.get(effect.capability)
        self.effects[effect.capability] = merged(known, effect) if known else effect

    def named(self) -> set[str]:
        """Return the tables that some effect already names."""
        return {target.name for effect in self.effects.values() for target in effect.objects}


def merged(one: Effect, other: Effect) -> Effect:
    """Return one effect with the targets of both; they are of one capability."""
    return replace(
        one,
        domains=tuple(dict.fromkeys((*one.domains, *other.domains))),
        paths=tuple(dict.fromkeys((*one.paths, *other.paths))),
        objects=tuple(dict.fromkeys((*one.objects, *other.objects))),
        urls=tuple(dict.fromkeys((*one.urls, *other.urls))),
        unverified=one.unverified | other.unverified,
    )


def unreadable(why: str, invocation: int = 0) -> Effect:
    """Return the effect of SQL that cannot be read: it may write, and nobody knows where."""
    return Effect(*WRITE, unverified=ALL_KINDS, invocation=invocation, because=why)


def texts_of(pieces: Iterable[Piece]) -> list[str]:
    """Return the strings among some pieces."""
    return [piece.text for piece in pieces if piece.kind is Kind.TEXT]


def arguments_at(statement: Sequence[Piece], place: int) -> list[str]:
    """Return the strings between the bracket at ``place`` and the one that closes it."""
    depth = 0
    texts: list[str] = []
    for piece in statement[place : place + 200]:
        if piece.kind is Kind.TEXT:
            texts.append(piece.text)
        elif piece.kind is Kind.MARK:
            depth += (piece.text == "(") - (piece.text == ")")
            if depth == 0:
                break
    return texts


def names_at(statement: Sequence[Piece], place: int, *, several: bool = True) -> list[str]:
    """Return the table names that are written at ``place``: ``a.b`` or, after commas, ``a, b``."""
    names: list[str] = []
    for _ in range(_MOST_SKIPPED):
        if place < len(statement) and statement[place].kind is Kind.WORD and statement[place].text in _SKIPPED:
            place += 1
    while place < len(statement) and len(names) < 50:
        name, place = _dotted(statement, place)
        if not name:
            break
        names.append(name)
        if not several:
            break
        place = _past_comma(statement, place)
    return names


def tables_in(statement: Sequence[Piece], start: int) -> list[str]:
    """Return the tables that are read from ``start`` on: behind FROM, JOIN and USING, each once, in order."""
    names: dict[str, None] = {}
    common = _common_tables(statement)
    for place in range(start, len(statement)):
        piece = statement[place]
        if piece.kind is not Kind.WORD or (piece.text == "FROM" and _is_no_source(statement, place)):
            continue
        if piece.text in _BEFORE_TABLE or (place == start and piece.text == "TABLE"):
            names.update(dict.fromkeys(name for name in names_at(statement, place + 1) if name not in common))
    return list(names)


def _is_no_source(statement: Sequence[Piece], place: int) -> bool:
    """Whether this FROM belongs to ``DELETE FROM`` or to a function (``EXTRACT(year FROM ts)``)."""
    if statement[place - 1].text == "DELETE":
        return True
    return place >= 3 and statement[place - 2].text == "(" and statement[place - 3].text in _FROM_INSIDE


def _common_tables(statement: Sequence[Piece]) -> set[str]:
    """Return the names that a ``WITH`` of the statement defines: they are no tables."""
    if not any(piece.kind is Kind.WORD and piece.text == "WITH" for piece in statement):
        return set()
    return {
        statement[place - 1].written.lower() or statement[place - 1].text
        for place in range(1, len(statement) - 1)
        if statement[place].text == "AS" and statement[place + 1].text in {"(", "MATERIALIZED", "NOT"}
    }


def _dotted(statement: Sequence[Piece], place: int) -> tuple[str, int]:
    """Return a dotted name and the place behind it; nothing where none is written."""
    parts: list[str] = []
    while place < len(statement):
        piece = statement[place]
        if piece.kind is Kind.MARK and piece.text == "[":
            inside, place = _bracketed(statement, place + 1)
            parts.append(inside)
        elif piece.kind is Kind.NAME or (piece.kind is Kind.WORD and piece.text not in _NO_NAME):
            parts.append(piece.written.lower() or piece.text)
        else:
            break
        place += 1
        if place >= len(statement) or statement[place].text != ".":
            break
        place += 1
    if place < len(statement) and statement[place].text == "(" and len(parts) == 1 and _is_call(statement, place):
        return "", place
    return ".".join(parts), place


def _bracketed(statement: Sequence[Piece], place: int) -> tuple[str, int]:
    """Return a name in square brackets and the place of the closing one."""
    words: list[str] = []
    while place < len(statement) and statement[place].text != "]" and len(words) < 20:
        words.append(statement[place].written.lower() or statement[place].text)
        place += 1
    return " ".join(words), place


def _is_call(statement: Sequence[Piece], place: int) -> bool:
    """Whether the bracket at ``place`` belongs to a table function, not to the column list of ``INSERT INTO t (…)``."""
    before = statement[place - 2] if place > 1 else NOTHING
    return before.text in {"FROM", "JOIN", ",", "LATERAL"}


def _past_comma(statement: Sequence[Piece], place: int) -> int:
    """Return the place of the next name in a list, past an alias and a comma, or the end."""
    for step in range(4):
        if place + step < len(statement) and statement[place + step].text == ",":
            return place + step + 1
        if place + step >= len(statement) or (
            statement[place + step].kind not in {Kind.WORD, Kind.NAME}
            or statement[place + step].text in _NO_NAME - {"AS"}
        ):
            break
    return len(statement)
