"""The values that reading the targets of a clause yields: roles, references, and the folders they start from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from agentsfence_compiler.language.tokens import FILE_ENDINGS, Token
from agentsfence_core.classification.targets.paths import canonical_bound
from agentsfence_core.limits import LIMITS

_TEMPLATE = re.compile(r"\{[^{}]{1,60}\}|<[^<>]{1,60}>|\[[a-z][a-z _-]{0,60}\]")
"""A place that the agent is to fill in: "Booking {hotel}" binds what begins with "Booking ", no literal."""
_WRITTEN = 4  # characters of a template that the person wrote


class Role(StrEnum):
    """What a target is to its verb."""

    OBJECT = "object"
    TO = "to"
    INSIDE = "in"
    AS = "as"
    SOURCE = "from"
    OF = "of"
    WITH = "with"
    TOPIC = "about"
    FOR = "for"
    EXCEPT = "except"


@dataclass(frozen=True, slots=True)
class Places:
    """The folders that relative paths and ``~`` start from, and the person's address book."""

    home: str | None = None
    workspace: str | None = None
    workdir: str | None = None
    contacts: Mapping[str, str] = field(default_factory=dict)
    """Casefolded name -> address."""

    def path(self, text: str, *, inside: bool = False) -> str:
        """Return a path of the words in canonical form, empty for a root or home folder."""
        text = text.rstrip("/") + "/" if inside and not text.endswith("/") else text
        bound = canonical_bound(text, workdir=self.workdir or self.workspace, home=self.home)
        whole = bound.rstrip("/") or "/"
        roots = {"/", "~", ".", "..", (self.home or "~").rstrip("/")}
        if whole in roots or whole.endswith(":") or len(bound) > LIMITS.target_length:
            return ""
        # What the person wrote from home stays so: the policy is the same wherever that home is.
        portable = canonical_bound(text, workdir=None, home=None) if text.startswith("~/") else ""
        return portable if portable.startswith("~/") else bound


@dataclass(slots=True)
class References:
    """Everything that one clause names."""

    parties: list[tuple[Role, str]] = field(default_factory=list)
    """Addresses, handles, channels, accounts: canonical."""
    names: list[tuple[Role, str]] = field(default_factory=list)
    paths: list[tuple[Role, str, bool]] = field(default_factory=list)
    """Role, path as written, whether it is a known folder."""
    hosts: list[tuple[Role, str]] = field(default_factory=list)
    slashed: list[tuple[Role, str]] = field(default_factory=list)
    objects: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    amounts: list[str] = field(default_factory=list)
    nouns: list[str] = field(default_factory=list)
    """Of the direct object, singular, last one first."""
    places: list[str] = field(default_factory=list)
    words: list[tuple[Role, str]] = field(default_factory=list)
    """Other words, as written."""
    count: int | None = None
    definite: bool = False
    plural: bool = False
    universal: bool = False
    every: bool = False
    """All that is universal is "all" or "everyone", not "any"."""
    pronoun: bool = False
    to_me: bool = False
    closed: bool = False
    """What follows says what a message is about."""
    conditional: bool = False
    instead: bool = False
    only: bool = False
    endings: list[str] = field(default_factory=list)
    """Kinds of files that the object is: "the .tmp files"."""
    otherwise: bool = False
    """"else" was said."""


def has_ending(path: str) -> bool:
    """Whether a path ends in a file name with a known ending."""
    name = path.rstrip("/").rpartition("/")[2]
    return "." in name[1:] and name.rpartition(".")[2].lower() in FILE_ENDINGS


def is_template(text: str) -> bool:
    """Whether a name has a place that the agent is to fill in."""
    return _TEMPLATE.search(text) is not None


def bound_name(value: str) -> str:
    """Return what a quoted name binds: itself, a template with ``*`` where the agent fills in, or nothing."""
    if "*" in value:
        return ""  # a wildcard of the words binds nothing
    name = _TEMPLATE.sub("*", value)
    return "" if name != value and len(name.replace("*", "").strip()) < _WRITTEN else name


def canonical_party(token: Token) -> str:
    """Return a party as the classifier writes it."""
    from agentsfence_core.classification.targets.recipients import canonical_recipient  # noqa: PLC0415

    return canonical_recipient(token.value)
