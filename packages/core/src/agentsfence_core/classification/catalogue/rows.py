"""Rows of the catalogue: what one tool does, how its arguments refine that, and how its files are read.

A file maps a server's name to what is known of it::

    gmail:
      servers: gmail google_mail          # names it goes by; the key itself is one
      about: email                        # subject for tool names that say no object of their own
      remote: true                        # its paths are not on this machine
      args: {ref: ignore}                 # argument -> role, for all its tools
      tools:
        email.send: send_email send_message
      rows:
        modify_email: {is: email.update, if: {addLabelIds: {TRASH SPAM: email.delete}}}

A row has ``is`` (capability), and where needed: ``by`` (the argument that multiplexes) with ``when`` (values ->
capability) and ``else`` (any other value, or none: the tool's worst); ``if`` (argument -> capability where it is
present, or values -> capability); ``reads`` (the language an argument is written in, with a detail behind ``:``);
``args`` (argument -> role, for names that say too little). A capability that the table does not have carries its
class: ``meeting.leave@EXTERNAL_WRITE``. Rows of a server without tools of its own name stand under
``bare``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Final

from agentsfence_core.classification.keys import KeyRole, Role
from agentsfence_core.classification.names import fold_key, words_of
from agentsfence_core.classification.vocabulary import vocabulary
from agentsfence_core.model.action import Source
from agentsfence_core.model.risk import RANK, Risk


class Reader(StrEnum):
    """The language, or the nesting, in which a tool's arguments say what happens."""

    NONE = ""
    SHELL = "shell"
    SQL = "sql"
    PATCH = "patch"
    HTTP = "http"
    CODE = "code"
    GRAPHQL = "graphql"
    CYPHER = "cypher"
    PIPELINE = "pipeline"
    """A document database's pipeline, whose stages may write."""
    DISPATCH = "dispatch"
    """Arguments that name another tool and its arguments, or several."""
    COPY = "copy"
    """A source that is read, a destination that is written."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """A capability and its class."""

    capability: str
    risk: Risk


@dataclass(frozen=True, slots=True)
class Rule:
    """An argument that changes what the call does."""

    argument: str
    """Folded name."""
    values: frozenset[str]
    """Folded values that mean it; empty: any value that says something."""
    means: Meaning


@dataclass(frozen=True, slots=True)
class Plan:
    """All that is known of one tool before its arguments are seen."""

    means: Meaning
    source: Source
    because: str
    reader: Reader = Reader.NONE
    detail: str = ""
    """Program, dialect, language or method that the reader needs."""
    by: frozenset[str] = frozenset()
    """Folded names of the multiplexing argument."""
    choices: Mapping[str, Meaning] = field(default_factory=dict)
    otherwise: Meaning | None = None
    """What any value that is not among ``choices`` means."""
    rules: tuple[Rule, ...] = ()
    roles: Mapping[str, KeyRole] = field(default_factory=dict)
    """Folded argument name -> role, before what the name itself says."""
    remote: bool = False
    """Paths are a service's, not this machine's."""
    floor: Risk = Risk.READ
    """No effect of the call is taken for less: a plugin's row, an annotation or a description raised it."""
    nothing_known: bool = False


@dataclass(frozen=True, slots=True)
class Server:
    """What is known of all tools of one server."""

    name: str
    about: str = ""
    remote: bool = False
    roles: Mapping[str, KeyRole] = field(default_factory=dict)
    """Folded argument name -> role, for all tools of the server."""


UNKNOWN: Final = Meaning("tool.unknown", Risk.UNKNOWN)

_ROLES: Final[Mapping[str, Role]] = {
    "recipient": Role.RECIPIENT,
    "path": Role.PATH,
    "local": Role.LOCAL_PATH,
    "source": Role.SOURCE_PATH,
    "url": Role.URL,
    "hook": Role.HOOK,
    "domain": Role.DOMAIN,
    "content": Role.CONTENT,
    "ignore": Role.SELECTOR,
    "query": Role.QUERY,
    "id": Role.ID,
    "object": Role.OBJECT,
    "value": Role.VALUE,
    "plain": Role.PLAIN,
}


@cache
def meaning(text: str) -> Meaning:
    """Return a capability with its class: from the table, or written behind it (``meeting.leave@EXTERNAL_WRITE``)."""
    capability, _, risk = text.partition("@")
    return Meaning(capability, Risk(risk) if risk else vocabulary().risk_of(capability) or Risk.UNKNOWN)


def tool_key(name: str) -> str:
    """Return the form under which a tool's name is looked up: its words, joined."""
    return "_".join(words_of(name))


def read_server(name: str, entry: Mapping[str, object]) -> Server:
    """Return what an entry says of all tools of its server."""
    roles = read_roles(entry.get("args"))
    return Server(name, str(entry.get("about", "")), bool(entry.get("remote", False)), roles)


def read_roles(row: object) -> dict[str, KeyRole]:
    """Return the roles of arguments by folded name."""
    return {fold_key(key): _role(str(role)) for key, role in _mapping(row).items()}


def read_row(name: str, row: Mapping[str, object], server: Server) -> Plan:
    """Return the plan of one row."""
    reads = str(row.get("reads", ""))
    reader, _, detail = reads.partition(":")
    choices: dict[str, Meaning] = {}
    for values, capability in _mapping(row.get("when")).items():
        choices.update(dict.fromkeys((fold_value(value) for value in values.split()), meaning(str(capability))))
    otherwise = row.get("else")
    base = meaning(str(row.get("is", "tool.unknown")))
    by = frozenset(fold_key(key) for key in str(row.get("by", "")).split())
    return Plan(
        base,
        Source.CATALOGUE,
        f"{server.name}: {name}",
        reader=Reader(reader),
        detail=detail,
        by=by,
        choices=choices,
        otherwise=meaning(str(otherwise)) if otherwise else _worst_of(base, choices) if by else None,
        rules=tuple(_rules(_mapping(row.get("if")))),
        roles={**server.roles, **read_roles(row.get("args"))},
        remote=server.remote,
    )


def fold_value(value: str) -> str:
    """Return the value of a multiplexing argument without case and separators."""
    return fold_key(value)


def _worst_of(base: Meaning, choices: Mapping[str, Meaning]) -> Meaning:
    return max((base, *choices.values()), key=lambda means: RANK[means.risk])


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _rules(rows: Mapping[str, object]) -> list[Rule]:
    rules: list[Rule] = []
    for argument, means in rows.items():
        for key in argument.split():
            if isinstance(means, Mapping):
                for values, capability in means.items():
                    folded = frozenset(fold_value(value) for value in str(values).split())
                    rules.append(Rule(fold_key(key), folded, meaning(str(capability))))
            else:
                rules.append(Rule(fold_key(key), frozenset(), meaning(str(means))))
    return rules


def _role(text: str) -> KeyRole:
    role, _, name = text.partition(":")
    return KeyRole(_ROLES[role], name)
