"""Statements whose options decide what they do: each handler adds the effects and says whether that was all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from agentsfence_core.classification.sql import tables
from agentsfence_core.classification.sql.found import NOTHING, Found, names_at, texts_of
from agentsfence_core.classification.sql.lexer import Kind, Piece
from agentsfence_core.model.action import TargetKind

Handler = Callable[[Sequence[Piece], int, Found], bool]
"""(statement, place of its first word, what is found) -> whether the statement is read in full."""


def _words(statement: Sequence[Piece], start: int) -> list[str]:
    return [piece.text for piece in statement[start:] if piece.kind is Kind.WORD]


def _copy(statement: Sequence[Piece], start: int, found: Found) -> bool:
    """``COPY t TO/FROM`` a file, a URL, a program or the client; ``COPY INTO`` of warehouses; ``COPY (query) TO``."""
    words = _words(statement, start)
    texts = texts_of(statement[start:])
    if "PROGRAM" in words:
        found.add(tables.RUN, "COPY … PROGRAM", unverified=(TargetKind.PROGRAM,))
    table = names_at(statement, start + 1, several=False)
    place = _direction(statement, start + 1)
    outwards = place < len(statement) and statement[place].text == "TO"
    ends_in_client = bool({"STDIN", "STDOUT"} & set(_words(statement, place)[:2]))
    ends_in_file = not ends_in_client and "PROGRAM" not in words
    if outwards:
        found.add(tables.READ, "COPY … TO", objects=table)
        if ends_in_file:
            _add_outwards(texts_of(statement[place : place + 3]), "COPY … TO", found)
        return False
    found.add(tables.WRITE, "COPY", objects=table)
    if ends_in_file and texts:
        _add_inwards(texts_of(statement[place : place + 3]), "COPY … FROM", found)
    return True


def _direction(statement: Sequence[Piece], start: int) -> int:
    """Return the place of the first TO or FROM outside brackets, or the end."""
    depth = 0
    for place in range(start, len(statement)):
        piece = statement[place]
        if piece.kind is Kind.MARK:
            depth += (piece.text == "(") - (piece.text == ")")
        elif piece.kind is Kind.WORD and piece.text in {"TO", "FROM"} and depth == 0:
            return place
    return len(statement)


def _add_outwards(texts: Sequence[str], because: str, found: Found) -> None:
    """Add what writing to a file or a URL does."""
    sent = [text for text in texts if "://" in text]
    kept = [text for text in texts if "://" not in text]
    if sent:
        found.add(tables.UPLOAD, because, texts=sent)
    if kept or not sent:
        found.add(tables.FILE_WRITE, because, texts=kept, unverified=() if kept else (TargetKind.PATHS,))


def _add_inwards(texts: Sequence[str], because: str, found: Found) -> None:
    """Add what reading from a file or a URL does."""
    fetched = [text for text in texts if "://" in text]
    kept = [text for text in texts if "://" not in text]
    if fetched:
        found.add(tables.FETCH, because, texts=fetched)
    if kept:
        found.add(tables.FILE_READ, because, texts=kept)


def _load(statement: Sequence[Piece], start: int, found: Found) -> bool:
    """``LOAD DATA INFILE 'f' INTO TABLE t``; ``LOAD 'library'`` brings code into the server."""
    words = _words(statement, start)
    if len(words) < 2 or words[1] not in {"DATA", "XML", "INDEX"}:
        found.add(tables.RUN, "LOAD", texts=texts_of(statement[start:])[:1], unverified=(TargetKind.PROGRAM,))
        return True
    into = next((n for n in range(start, len(statement)) if statement[n].text == "INTO"), len(statement))
    found.add(tables.WRITE, "LOAD DATA", objects=names_at(statement, into + 1, several=False))
    _add_inwards(texts_of(statement[start:into])[:1], "LOAD DATA", found)
    return True


def _outward(statement: Sequence[Piece], start: int, found: Found) -> bool:
    """``UNLOAD``, ``EXPORT``, ``BACKUP``, ``VACUUM INTO``, ``TEE``, ``PUT``: data leaves for a file or a URL."""
    verb = statement[start].text
    texts = texts_of(statement[start:])
    if verb == "VACUUM" and not texts:
        return False
    places = [text for text in texts if "://" in text or "/" in text or "\\" in text or "." in text]
    found.add(tables.READ, verb)
    _add_outwards([text for text in places if " " not in text.strip()][-1:], verb, found)
    return verb not in {"UNLOAD", "EXPORT"}


def _attach(statement: Sequence[Piece], start: int, found: Found) -> bool:
    """``ATTACH 'f'`` opens a database file and makes it where it is missing."""
    found.add(tables.WRITE, "ATTACH")
    _add_inwards(texts_of(statement[start:])[:1], "ATTACH", found)
    return True


def _source(statement: Sequence[Piece], start: int, found: Found) -> bool:
    """``SOURCE f`` runs the SQL of a file that nobody sees here."""
    name = "".join(piece.written or piece.text for piece in statement[start + 1 :])
    found.add(tables.WRITE, "SOURCE", unverified=(TargetKind.OBJECTS,))
    found.add(tables.FILE_READ, "SOURCE", texts=[name])
    return True


def _program(statement: Sequence[Piece], start: int, found: Found) -> bool:
    """``SYSTEM``, ``PAGER``: the rest of the line is a shell's."""
    found.add(tables.RUN, statement[start].text, unverified=(TargetKind.PROGRAM,))
    return True


def _explain(statement: Sequence[Piece], start: int, found: Found) -> bool:
    """``EXPLAIN`` reads; with ``ANALYZE`` it runs what it explains, and the rest is read like any statement."""
    stop = next((n for n in range(start + 1, len(statement)) if statement[n].text in tables.EXPLAINED), len(statement))
    options = _words(statement[:stop], start)
    found.add(tables.READ, "EXPLAIN")
    if "ANALYZE" not in options and "ANALYSE" not in options:
        return True
    verb = statement[stop].text if stop < len(statement) else ""
    does = tables.STATEMENTS.get(verb, tables.READ)
    if does != tables.READ:
        found.add(does, f"EXPLAIN ANALYZE {verb}", objects=names_at(statement, stop + 1))
    return False


def _pragma(statement: Sequence[Piece], start: int, found: Found) -> bool:
    """``PRAGMA name`` reads, ``name = value`` and ``name(value)`` set, except where the argument is a question."""
    rest = [piece for piece in statement[start + 1 :] if piece.text != "."]
    name = next((piece.text.lower() for piece in rest if piece.text.lower() in tables.HARMLESS_PRAGMAS), "")
    argument = any(piece.kind is Kind.MARK and piece.text in {"=", "("} for piece in rest)
    acts = any(piece.text.lower() in tables.ACTING_PRAGMAS for piece in rest)
    found.add(tables.WRITE if (argument and not name) or acts else tables.READ, "PRAGMA")
    return True


def _set(statement: Sequence[Piece], start: int, found: Found) -> bool:
    """``SET`` changes this session only, unless it says GLOBAL, or takes another identity."""
    words = _words(statement, start)[1:4]
    if "PASSWORD" in words:
        found.add(tables.ADMIN, "SET PASSWORD")
    elif "ROLE" in words[:2] or "AUTHORIZATION" in words:
        found.add(tables.ADMIN, "SET ROLE")
    elif words[:1] and words[0] in {"GLOBAL", "PERSIST"}:
        found.add(tables.WRITE, f"SET {words[0]}")
    return False


def _run(statement: Sequence[Piece], start: int, found: Found) -> bool:
    """``CALL``, ``EXEC``, ``EXECUTE``: a procedure or a text that the server runs."""
    following = statement[start + 1 : start + 8]
    name = next((piece for piece in reversed(_name_pieces(following)) if piece.kind is not Kind.MARK), NOTHING)
    procedure = name.text.lower()
    if procedure in tables.HARMLESS_PROCEDURES:
        found.add(tables.READ, procedure)
        return True
    known = tables.FUNCTIONS.get(procedure)
    if known is not None:
        found.add(known, procedure, unverified=(TargetKind.PROGRAM,))
    found.add(tables.WRITE, statement[start].text, unverified=(TargetKind.OBJECTS, TargetKind.PROGRAM))
    return False


def _name_pieces(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the leading pieces that make a dotted, maybe bracketed name."""
    name: list[Piece] = []
    for piece in pieces:
        joins = piece.kind is Kind.MARK and piece.text in {".", "[", "]"}
        if not joins and (piece.kind not in {Kind.WORD, Kind.NAME} or (name and name[-1].text not in {".", "["})):
            break
        name.append(piece)
    return name


def _prepare(statement: Sequence[Piece], start: int, found: Found) -> bool:
    """``PREPARE p FROM @text`` or from a string: what will run is not seen here."""
    if any(piece.text == "@" or piece.kind is Kind.TEXT for piece in statement[start:]):
        found.add(tables.WRITE, "PREPARE", unverified=(TargetKind.OBJECTS,))
    return False


def _lock(statement: Sequence[Piece], start: int, found: Found) -> bool:
    """``LOCK TABLES`` holds others up."""
    found.add(tables.WRITE, statement[start].text, objects=names_at(statement, start + 1))
    return True


SPECIAL: Final[Mapping[str, Handler]] = MappingProxyType(
    {
        "COPY": _copy,
        "LOAD": _load,
        **dict.fromkeys(("UNLOAD", "EXPORT", "BACKUP", "VACUUM", "TEE", "PUT", "GET"), _outward),
        "ATTACH": _attach,
        "SOURCE": _source,
        **dict.fromkeys(("SYSTEM", "PAGER"), _program),
        "EXPLAIN": _explain,
        **dict.fromkeys(("DESCRIBE", "DESC"), _explain),
        "PRAGMA": _pragma,
        "SET": _set,
        **dict.fromkeys(("CALL", "EXEC", "EXECUTE"), _run),
        "PREPARE": _prepare,
        "LOCK": _lock,
    }
)
