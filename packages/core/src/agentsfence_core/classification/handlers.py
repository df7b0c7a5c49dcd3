"""What each role of an argument adds to an effect: one function per role.

Rules of this file:

* A handler gets one string. Structures, sizes and the budget are the gatherer's (`arguments`).
* Whether somebody is a *party* depends on the class: a send reaches a channel, an edit in a channel acts on it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from agentsfence_core.classification.keys import KeyRole, Role
from agentsfence_core.classification.names import fold_key
from agentsfence_core.classification.targets.hosts import canonical_host
from agentsfence_core.classification.targets.paths import looks_like_path
from agentsfence_core.classification.targets.recipients import canonical_recipient, recipients_in_mime
from agentsfence_core.limits import LIMITS
from agentsfence_core.model.action import ObjectRef, TargetKind
from agentsfence_core.model.risk import Risk

if TYPE_CHECKING:
    from agentsfence_core.classification.arguments import Gatherer

REACHES: Final = frozenset(
    {Risk.EXECUTION, Risk.EXTERNAL_WRITE, Risk.COMMUNICATION, Risk.PERMISSION_CHANGE, Risk.FINANCIAL, Risk.UNKNOWN}
)
"""Classes whose parties are collected."""
_SPEAKS_TO: Final = frozenset({Risk.COMMUNICATION, Risk.PERMISSION_CHANGE, Risk.FINANCIAL})
"""Classes for which a user, a place or a channel is a party and not only the thing acted on."""
_ALL_TARGETS: Final = frozenset({TargetKind.RECIPIENTS, TargetKind.DOMAINS, TargetKind.PATHS})
_HEADER_LINES: Final = ("to:", "cc:", "bcc:", "resent-to:", "resent-cc:", "resent-bcc:")
_OWN: Final = frozenset({"me", "self", "primary", "default", "current", "origin", "local", ""})
_PUBLIC: Final = frozenset({"anyone", "public", "everyone", "domain", "world", "anyonewithlink"})
_ABOUT_PARTIES: Final = frozenset({"contact.write", "record.write"})
"""Capabilities whose addresses are what is written down, not who is reached."""
_TITLES: Final[Mapping[str, str]] = {
    "calendar.create": "event",
    "folder.create": "folder",
    "repo.write": "repo",
    "playlist.write": "playlist",
    "calendar.update": "event",
}
"""Capability -> kind of the object that a title or name argument names."""
_TITLE_KEYS: Final = frozenset({"title", "summary", "name"})
_CHANNEL_KEYS: Final = frozenset(
    "channel channels channelid channelids channelname chatid chat chats chatids chatname roomid room "
    "conversationid conversation company target targets guildid".split()
)
"""Keys whose value is a place to speak in: a party of a send, an object of any other write."""
_VAGUE_PATHS: Final = frozenset(
    "location destination source src dst dest root target folder file files sources".split()
)
"""Keys that hold a path in some tools and a town, a currency or a word in others."""
_STRUCTURED: Final = frozenset({"payload", "data", "blocks", "request", "messages", "properties", "metadata"})
"""Content that is often structure: read where it is JSON."""


def reaches_by(found: Gatherer, key: str) -> bool:
    """Whether a value under a party's key is a party for this effect."""
    risk = found.meaning.risk
    if found.meaning.capability in _ABOUT_PARTIES:
        return False
    return risk in _SPEAKS_TO or (risk in REACHES and fold_key(key) not in _CHANNEL_KEYS)


def _plain(found: Gatherer, role: KeyRole, key: str, value: str) -> None:
    """A key that says nothing: the value is a URL, an address, a path, JSON, or nothing."""
    if fold_key(key) in _TITLE_KEYS:
        _title(found, value)
    if len(value) < 3 or not found.spend(value, TargetKind.RECIPIENTS):
        return
    first = value[0]
    if first in "[{" or (first.isspace() and value.lstrip()[:1] in {"[", "{"}):
        _unfold(found, role, key, value)
        return
    if ":" in value and found.url(value):
        return
    if "@" in value and found.meaning.risk in REACHES:
        found.address(value)
    if first in "/~\\" and "\n" not in value and len(value) < LIMITS.target_length and not value.startswith("//"):
        found.path(value)


def _unfold(found: Gatherer, role: KeyRole, key: str, value: str) -> None:
    """JSON that was written as a string is structure."""
    if len(value) > LIMITS.json_text:
        found.unverified |= _ALL_TARGETS
        return
    try:
        inner = json.loads(value)
    except (ValueError, RecursionError):
        return
    found.take(role, key, inner, 1)


def _recipient(found: Gatherer, _role: KeyRole, key: str, value: str) -> None:
    """A party where the call reaches anybody; else the object it is about."""
    if value.strip().casefold() in _OWN:
        return
    if reaches_by(found, key):
        found.parties(value)
    elif found.meaning.capability in _ABOUT_PARTIES:
        found.values.append((fold_key(key), canonical_recipient(value[: LIMITS.target_length])))
    elif found.meaning.risk in REACHES or found.meaning.risk is Risk.DELETE:
        _object(found, KeyRole(Role.OBJECT, "channel" if fold_key(key) in _CHANNEL_KEYS else "name"), key, value)


def _party(found: Gatherer, _role: KeyRole, key: str, value: str) -> None:
    """A user is a party of a send, a payment or a change of rights, else the object."""
    if value.strip().casefold() in _OWN:
        return
    if found.meaning.risk in _SPEAKS_TO:
        found.parties(value)
    elif "@" in value and found.meaning.risk in REACHES:
        found.address(value)
    elif found.meaning.risk is not Risk.READ:
        kind = "id" if fold_key(key).endswith(("id", "ids")) else "user"
        _object(found, KeyRole(Role.OBJECT, kind), key, value)


def _nothing(found: Gatherer, _role: KeyRole, _key: str, value: str) -> None:
    """Text, or whom the call acts as: no target."""


def _content(found: Gatherer, role: KeyRole, key: str, value: str) -> None:
    """Text is never searched, but structure written as text is; a title names the thing that is made."""
    folded = fold_key(key)
    if folded in _STRUCTURED and value[:1] in {"{", "["}:
        _unfold(found, role, key, value)
    elif folded in _TITLE_KEYS:
        _title(found, value)


def _title(found: Gatherer, value: str) -> None:
    """Add the name of the thing that the call makes."""
    kind = _TITLES.get(found.meaning.capability)
    if kind is not None and value and len(value) <= LIMITS.target_length:
        found.objects.append(ObjectRef(kind, value))


def _header(found: Gatherer, _role: KeyRole, key: str, value: str) -> None:
    """A line break in a header line starts another header (header injection: a subject that goes on with ``Bcc:``)."""
    if found.meaning.risk not in REACHES:
        return
    if ("\n" in value or "\r" in value) and found.spend(value, TargetKind.RECIPIENTS):
        for line in value.splitlines()[1:]:
            if line.casefold().lstrip().startswith(_HEADER_LINES):
                found.parties(line.partition(":")[2])
    elif "@" in value and not fold_key(key).startswith("subject"):
        found.address(value)


def _query(found: Gatherer, _role: KeyRole, _key: str, value: str) -> None:
    """Words to look for are no target, unless the whole value is a URL."""
    if "://" in value[:12] and " " not in value.strip():
        found.url(value)


def _mime(found: Gatherer, _role: KeyRole, _key: str, value: str) -> None:
    """A whole message has parties of its own."""
    if found.meaning.risk in REACHES:
        reading = recipients_in_mime(value)
        found.recipients.extend(reading.parties)
        if not reading.complete:
            found.unverified.add(TargetKind.RECIPIENTS)


def _path(found: Gatherer, role: KeyRole, key: str, value: str) -> None:
    """A path here; on a service, the name of a file there, unless it is plainly one of this machine."""
    first = value[:1]
    if first in {"[", "{"} and value[1:2] in {'"', "{", "["}:
        _unfold(found, role, key, value)
    elif ("://" in value[:12] and found.url(value)) or not _is_path_here(found, key, value):
        return
    elif (
        _is_elsewhere(found) and role.role is Role.PATH and first not in {"/", "~"} and value[1:3] not in {":\\", ":/"}
    ):
        if value:
            found.objects.append(ObjectRef("file", value[: LIMITS.target_length]))
    else:
        found.path(value)


def _is_elsewhere(found: Gatherer) -> bool:
    """Whether the files of a tool are a service's."""
    return found.plan.remote or found.meaning.capability.startswith("drive.")


def _is_path_here(found: Gatherer, key: str, value: str) -> bool:
    """Whether a value under a path's key is one: ``location: Berlin`` is none, unless the tool is about files."""
    if fold_key(key) not in _VAGUE_PATHS:
        return True
    return found.meaning.capability.startswith(("file.", "folder.", "git.", "drive.")) or looks_like_path(value)


def _source(found: Gatherer, _role: KeyRole, key: str, value: str) -> None:
    """What is read so that something else is written. A source can be a URL."""
    if ("://" in value[:12] and found.url(value)) or not _is_path_here(found, key, value):
        return
    place = len(found.paths)
    found.path(value)
    found.sources.extend(found.paths[place:])


def _pattern(found: Gatherer, _role: KeyRole, _key: str, value: str) -> None:
    """A glob with a folder in it is a path that cannot be verified."""
    head = value[: LIMITS.target_length]
    if ("/" in head or found.meaning.risk is Risk.DELETE) and "\n" not in head:
        found.path(value, globs=True)
    elif found.meaning.capability == "file.search":
        found.values.append(("pattern", value[:200]))


def _url(found: Gatherer, role: KeyRole, key: str, value: str) -> None:
    """A URL, or a path where a tool takes either."""
    if value[:1] in "[{" and value:
        _unfold(found, role, key, value)
    elif not found.spend(value, TargetKind.DOMAINS) or found.url(value) or not value.strip():
        return
    elif value[:1] in {"/", "~", "."}:
        found.path(value)
    elif "." in value and (host := canonical_host(value.partition("/")[0])):
        found.domains.append(host)
        found.urls.append(value)
    elif found.meaning.risk in REACHES and "@" in value:
        found.address(value)


def _hook(found: Gatherer, role: KeyRole, key: str, value: str) -> None:
    """Where a call reports to is a host and a party."""
    _url(found, role, key, value)
    if found.meaning.risk in REACHES and value.strip():
        found.parties(value)


def _domain(found: Gatherer, _role: KeyRole, _key: str, value: str) -> None:
    """A host by name; ``lock`` as a home's domain is none."""
    if found.url(value):
        return
    if ("." in value or ":" in value or value.casefold() == "localhost") and (host := canonical_host(value)):
        found.domains.append(host)


def _object(found: Gatherer, role: KeyRole, key: str, value: str) -> None:
    """The thing acted on, by a name that people use."""
    if value and len(value) <= LIMITS.target_length and value.casefold() not in _OWN:
        if value[0] == "[":
            _unfold(found, role, key, value)
        else:
            found.objects.append(ObjectRef(role.name or "name", value))


def _id(found: Gatherer, _role: KeyRole, _key: str, value: str) -> None:
    """An opaque id: a name that the words bind cannot be compared with it."""
    if "@" in value and found.meaning.risk in _SPEAKS_TO:
        found.address(value)
    named = value and len(value) <= LIMITS.target_length and value.casefold() not in _OWN
    if named and found.meaning.risk is not Risk.READ:
        found.objects.append(ObjectRef("id", value))


def _value(found: Gatherer, role: KeyRole, key: str, value: str) -> None:
    """A value that is the effect itself. Rights given to everybody reach a party of that name."""
    if role.name == "scope":
        if found.meaning.risk is Risk.PERMISSION_CHANGE and fold_key(value) in _PUBLIC:
            found.recipients.append("anyone")
        return
    if role.name == "amount" and fold_key(key) != "amount" and not _is_amount(value):
        _id(found, role, key, value)
    elif 0 < len(value) <= 200:
        found.values.append((role.name, value))
        if role.name == "quantity" and found.meaning.risk is Risk.FINANCIAL and value.strip() not in _ONCE:
            found.unverified.add(TargetKind.COUNT)
    if "@" in value and found.meaning.risk in REACHES:
        found.address(value)


_ONCE: Final = frozenset({"1", "1.0"})


def _is_amount(value: str) -> bool:
    """Whether a text is a sum of money, and not the id of a price."""
    return value.strip().lstrip("€$£¥+-ABCDEFGHIJKLMNOPQRSTUVWXYZ ").lstrip()[:1].isdigit()


HANDLERS: Final[Mapping[Role, Callable[[Gatherer, KeyRole, str, str], None]]] = {
    Role.PLAIN: _plain,
    Role.RECIPIENT: _recipient,
    Role.PARTY: _party,
    Role.SELECTOR: _nothing,
    Role.CONTENT: _content,
    Role.HEADER: _header,
    Role.QUERY: _query,
    Role.MIME: _mime,
    Role.PATH: _path,
    Role.LOCAL_PATH: _path,
    Role.SOURCE_PATH: _source,
    Role.PATTERN: _pattern,
    Role.URL: _url,
    Role.HOOK: _hook,
    Role.DOMAIN: _domain,
    Role.OBJECT: _object,
    Role.ID: _id,
    Role.VALUE: _value,
}
