"""One statement at a time: what its first word, the words inside it and its functions do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from agentsfence_core.classification.sql import tables
from agentsfence_core.classification.sql.clients import read_dot, read_meta
from agentsfence_core.classification.sql.found import (
    ALL_KINDS,
    NOTHING,
    Found,
    arguments_at,
    names_at,
    tables_in,
    texts_of,
)
from agentsfence_core.classification.sql.lexer import Kind, Piece
from agentsfence_core.classification.sql.special import SPECIAL
from agentsfence_core.model.action import TargetKind

Inner = Callable[[str, Found], None]
"""Reads SQL inside a string of a statement into what is found."""

_BODY: Final = frozenset({"BEGIN", "AS", "THEN", "ELSE", "DO", "LOOP", ")"})
_QUIET: Final = frozenset({"GRANT", "REVOKE", "ALTER", "CREATE", "SHOW", "DESCRIBE", "DESC", "COMMENT", "DENY"})
"""Statements whose clauses name other statements: ``GRANT DELETE ON``, ``CREATE TRIGGER … AFTER UPDATE``."""
_NAMELESS: Final = frozenset(
    {"CALL", "EXEC", "EXECUTE", "DO", "GRANT", "REVOKE", "DENY", "REASSIGN", "SECURITY", "COMMENT"}
)
"""Words that no table follows."""
_RUN_TEXTS: Final = frozenset({"EXEC", "EXECUTE", "PREPARE"})
"""Statements that run the SQL in their strings."""
_OBJECT_KINDS: Final = {
    **dict.fromkeys(("DATABASE", "SCHEMA"), "database"),
    **dict.fromkeys(("ROLE", "USER", "GROUP", "LOGIN"), "role"),
    **dict.fromkeys(
        ("INDEX", "FUNCTION", "PROCEDURE", "TRIGGER", "SEQUENCE", "TYPE", "EXTENSION", "POLICY", "SERVER", "SYSTEM"),
        "name",
    ),
}
"""What stands behind CREATE, ALTER or DROP -> kind of object."""
_RUN_STRINGS: Final = frozenset({"dblink", "dblink_exec", "dblink_send_query", "query_to_xml", "openquery", "ts_stat"})
_UNKNOWN_TARGETS: Final = {
    "shell.exec": (TargetKind.PROGRAM,),
    "schedule.create": (TargetKind.PROGRAM,),
    "file.read": (TargetKind.PATHS,),
    "file.write": (TargetKind.PATHS,),
    "file.delete": (TargetKind.PATHS,),
    "web.post": (TargetKind.DOMAINS,),
    "web.read": (TargetKind.DOMAINS,),
    "email.send": (TargetKind.RECIPIENTS,),
}


def read_statement(statement: Sequence[Piece], found: Found, inner: Inner) -> None:
    """Add the effects of one statement."""
    first = statement[0]
    if first.kind is Kind.META:
        read_meta(first.text, found)
        return
    if first.text == "." and len(statement) > 1:
        read_dot(statement, found)
        return
    start = next((place for place, piece in enumerate(statement) if piece.text != "("), len(statement))
    verb = statement[start].text if start < len(statement) and statement[start].kind is Kind.WORD else ""
    if verb not in tables.STATEMENTS:
        found.add(tables.WRITE, "not a statement", unverified=ALL_KINDS)
        return
    special = SPECIAL.get(verb)
    if special is not None and special(statement, start, found):
        return
    _read_first(statement, start, found)
    for place in range(start + 1, len(statement)):
        _read_inside(statement, place, verb, found, inner)


def _read_first(statement: Sequence[Piece], start: int, found: Found) -> None:
    """Add what the first word of a statement says, and the tables it reads."""
    verb = statement[start].text
    if tables.STATEMENTS[verb] == tables.READ:
        found.add(tables.READ, verb, objects=tables_in(statement, start))
        return
    _add_verb(statement, start, found)
    if any(piece.kind is Kind.WORD and piece.text in {"SELECT", "USING", "JOIN"} for piece in statement[start:]):
        named = found.named()
        found.add(tables.READ, verb, objects=[name for name in tables_in(statement, start + 1) if name not in named])


def _add_verb(statement: Sequence[Piece], place: int, found: Found) -> None:
    """Add what one acting word does, with what it acts on."""
    verb = statement[place].text
    does = tables.STATEMENTS[verb]
    ahead = [piece.text for piece in statement[place + 1 : place + 6] if piece.kind is Kind.WORD]
    if verb in _NAMELESS:
        _read_privileges(statement, place, does, found)
        return
    targets = names_at(statement, place + 1)
    kind = "table"
    if verb in {"CREATE", "ALTER", "DROP"}:
        kind = next((_OBJECT_KINDS[word] for word in ahead[:4] if word in _OBJECT_KINDS), kind)
        if any(word in tables.PRIVILEGE_NOUNS for word in ahead[:3]):
            found.add(tables.ADMIN, verb, objects=targets, kind=kind)
            if verb != "DROP":
                return
    found.add(does, verb, objects=targets, kind=kind)
    if verb == "ALTER":
        _read_alter(statement, place, targets, found)
    elif verb == "CREATE":
        _read_create(statement, place, targets, found)
    elif verb == "INSERT" and "OVERWRITE" in ahead:
        found.add(tables.DELETE, "INSERT OVERWRITE", objects=targets)


def _read_privileges(statement: Sequence[Piece], place: int, does: tables.Does, found: Found) -> None:
    """Add ``GRANT … ON t TO r`` with its table and role; a procedure's name is no table."""
    verb = statement[place].text
    found.add(does, verb)
    if does != tables.ADMIN:
        return
    for index in range(place + 1, len(statement) - 1):
        word = statement[index].text if statement[index].kind is Kind.WORD else ""
        if word == "ON":
            found.add(does, verb, objects=names_at(statement, index + 1))
        elif word in {"TO", "FROM"}:
            found.add(does, verb, objects=names_at(statement, index + 1), kind="role")


def _read_alter(statement: Sequence[Piece], place: int, targets: Sequence[str], found: Found) -> None:
    """Add what ``ALTER`` takes away (a column and its data) or whom it lets in."""
    words = [piece.text for piece in statement[place:] if piece.kind is not Kind.TEXT]
    for index, word in enumerate(words[:-1]):
        if word == "DROP" and words[index + 1] not in tables.KEEPS_DATA:
            found.add(tables.DELETE, "ALTER … DROP", objects=targets)
        if word == "OWNER" or (word in {"ENABLE", "DISABLE", "FORCE"} and words[index + 1] == "ROW"):
            found.add(tables.ADMIN, f"ALTER … {word}", objects=targets)


def _read_create(statement: Sequence[Piece], place: int, targets: Sequence[str], found: Found) -> None:
    """Add what ``CREATE OR REPLACE TABLE`` destroys, and code that a new function brings to the server."""
    words = [piece.text for piece in statement[place:] if piece.kind is not Kind.BODY]
    if words[1:4] == ["OR", "REPLACE", "TABLE"]:
        found.add(tables.DELETE, "CREATE OR REPLACE TABLE", objects=targets)
    for index, word in enumerate(words[:-1]):
        if word == "LANGUAGE" and words[index + 1].upper() in tables.UNTRUSTED_LANGUAGES:
            found.add(tables.RUN, f"LANGUAGE {words[index + 1]}", unverified=(TargetKind.PROGRAM,))


def _read_inside(statement: Sequence[Piece], place: int, verb: str, found: Found, inner: Inner) -> None:
    """Add what acts at one place inside a statement: a write in a CTE, a second statement, ``INTO``, a function."""
    piece = statement[place]
    if (piece.kind is Kind.BODY and verb == "DO") or (
        piece.kind is Kind.TEXT and verb in _RUN_TEXTS and " " in piece.text
    ):
        inner(piece.text, found)
    if piece.kind is not Kind.WORD:
        return
    following = statement[place + 1] if place + 1 < len(statement) else NOTHING
    if following.text == "(" and following.kind is Kind.MARK:
        _read_function(statement, place, found, inner)
    elif piece.text in tables.ANYWHERE and _begins(statement, place, following, verb):
        _add_verb(statement, place, found)
    elif piece.text == "INTO" and _is_select_into(statement, place, verb):
        _read_into(statement, place, following, found)


def _begins(statement: Sequence[Piece], place: int, following: Piece, verb: str) -> bool:
    """Whether an acting word stands where a statement can begin, not where it is a column or a clause."""
    before = statement[place - 1]
    if before.kind is Kind.MARK and before.text in {"(", ")"}:
        return following.text not in {")", ","}
    if verb in _QUIET and before.text not in _BODY:
        return False
    if before.text == "THEN":
        return True
    if before.text == "DO" and statement[place].text == "UPDATE":
        return False
    if before.kind in {Kind.WORD, Kind.MARK} and before.text in tables.NO_STATEMENT_AFTER:
        return False
    return following.kind in {Kind.WORD, Kind.NAME, Kind.TEXT} or following.text in {"[", "@"}


def _is_select_into(statement: Sequence[Piece], place: int, verb: str) -> bool:
    """Whether ``INTO`` belongs to a SELECT, not to ``INSERT INTO``, ``MERGE INTO``, ``FETCH … INTO``."""
    if verb == "FETCH" or statement[place - 1].text in tables.BEFORE_INTO:
        return False
    return tables.STATEMENTS[verb] == tables.READ


def _read_into(statement: Sequence[Piece], place: int, following: Piece, found: Found) -> None:
    """Add what ``SELECT … INTO`` makes: a file, a table; a variable is nothing."""
    if following.text in {"OUTFILE", "DUMPFILE"}:
        found.add(tables.FILE_WRITE, f"INTO {following.text}", texts=texts_of(statement[place + 1 : place + 4]))
    elif following.text not in {"@", ":"}:
        found.add(tables.WRITE, "SELECT INTO", objects=names_at(statement, place + 1, several=False))


def _read_function(statement: Sequence[Piece], place: int, found: Found, inner: Inner) -> None:
    """Add what calling a function does beside computing, by its name."""
    name = statement[place].text.lower()
    qualified = place >= 2 and statement[place - 1].text == "."
    does = _does(name, statement[place - 2].text.lower() if qualified else "")
    if does is None:
        return
    texts = arguments_at(statement, place + 1)
    first: Sequence[str] = ()
    if does in {tables.FILE_READ, tables.POST, tables.FETCH}:
        first = texts[:1]
    elif does == tables.FILE_WRITE:
        first = [text for text in texts if "/" in text][:1] or texts[:1]
    unknown = () if first else _UNKNOWN_TARGETS.get(does[0], (TargetKind.OBJECTS,))
    found.add(does, f"{name}(…)", texts=first, unverified=unknown)
    if name in _RUN_STRINGS:
        for text in texts:
            if len(text.split()) > 1 and "=" not in text.split()[0]:
                inner(text, found)


def _does(name: str, schema: str) -> tables.Does | None:
    """Return what a function does, or ``None`` where it only computes.

    A function of the server's owner does what its name begins with: ``delete_user(…)`` deletes.
    """
    if schema == "cron" and name.startswith("un"):
        return tables.UNSCHEDULE
    known = tables.FUNCTIONS.get(name) or (tables.SCHEMAS.get(schema) if schema else None)
    verb, underscore, _ = name.partition("_")
    if known is not None or not underscore or name in tables.HARMLESS_WITH_VERB:
        return known
    if verb in tables.DELETING_VERBS:
        return tables.DELETE
    return tables.WRITE if verb in tables.ACTING_VERBS else None
