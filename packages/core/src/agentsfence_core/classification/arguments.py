"""Targets of a call, from its arguments: parties, hosts, paths, objects and values (DESIGN 5, "Targets").

Rules of this file:

* A key's role decides (`keys`); under a key that says nothing, a value that is wholly an address, a URL or a path does.
* Text that a call carries is never searched; structure always is, also inside JSON that was written as a string.
* Arguments are hostile: any depth, type, size, cycles. Where reading stops, every kind of target is *unverified*.
* Parties count for what reaches somebody: a read or a write on this machine has none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from agentsfence_core.classification.keys import PLAIN, KeyRole, Role, role_of
from agentsfence_core.classification.names import fold_key
from agentsfence_core.classification.targets.hosts import canonical_host, read_url
from agentsfence_core.classification.targets.paths import canonical_path, is_literal
from agentsfence_core.classification.targets.recipients import canonical_recipient, read_recipients, recipients_in_mime
from agentsfence_core.limits import LIMITS
from agentsfence_core.model.action import Effect, ObjectRef, TargetKind
from agentsfence_core.model.risk import Risk

if TYPE_CHECKING:
    from agentsfence_core.classification.catalogue.rows import Meaning, Plan
    from agentsfence_core.model.call import ToolCall

REACHES: Final = frozenset(
    {Risk.EXECUTION, Risk.EXTERNAL_WRITE, Risk.COMMUNICATION, Risk.PERMISSION_CHANGE, Risk.FINANCIAL, Risk.UNKNOWN}
)
"""Classes whose parties are collected."""
_SPEAKS_TO: Final = frozenset({Risk.COMMUNICATION, Risk.PERMISSION_CHANGE, Risk.FINANCIAL})
"""Classes for which a user, a place or a channel is a party and not only the thing acted on."""
_ALL_TARGETS: Final = frozenset({TargetKind.RECIPIENTS, TargetKind.DOMAINS, TargetKind.PATHS})
_HEADER_LINES: Final = ("to:", "cc:", "bcc:", "resent-to:", "resent-cc:", "resent-bcc:")
_SENDERS: Final = ("from", "sender", "author", "account")
_OWN: Final = frozenset({"me", "self", "primary", "default", "current", "origin", "local", ""})
_PUBLIC: Final = frozenset({"anyone", "public", "everyone", "domain", "world", "anyonewithlink"})
_ABOUT_PARTIES: Final = frozenset({"contact.write", "record.write"})
"""Capabilities whose addresses are what is written down, not who is reached."""
_KNOWN_RUNS: Final = frozenset(
    "test.run build.run lint.run package.install process.control schedule.create skill.write system.configure container.run".split()
)
"""Executions that say by their name what runs."""
_TITLES: Final[Mapping[str, str]] = {
    "calendar.create": "event",
    "folder.create": "folder",
    "repo.write": "repo",
    "playlist.write": "playlist",
    "calendar.update": "event",
}
"""Capability -> kind of the object that a title or name argument names."""
_TITLE_KEYS: Final = frozenset({"title", "summary", "name"})


class Gatherer:
    """Collects the targets of one effect. Lives for one call of `targets_of`."""

    __slots__ = ("call", "domains", "left", "meaning", "nodes", "objects", "paths", "plan", "queue", "recipients", "sources", "unverified", "urls", "values")

    def __init__(self, call: ToolCall, plan: Plan, meaning: Meaning) -> None:
        """Start with nothing found."""
        self.call = call
        self.plan = plan
        self.meaning = meaning
        self.recipients: list[str] = []
        self.domains: list[str] = []
        self.paths: list[str] = []
        self.sources: list[str] = []
        self.urls: list[str] = []
        self.objects: list[ObjectRef] = []
        self.values: list[tuple[str, str]] = []
        self.unverified: set[TargetKind] = set()
        self.queue: list[tuple[KeyRole, str, object, int]] = []
        self.nodes = LIMITS.argument_nodes
        self.left = LIMITS.argument_text

    def run(self, args: Mapping[str, object]) -> None:
        """Read all arguments, breadth first."""
        for key, value in args.items():
            self.take(self.role(key), key, value, 0)
        place = 0
        while place < len(self.queue):
            role, key, value, depth = self.queue[place]
            place += 1
            self.descend(role, key, value, depth)

    def role(self, key: object) -> KeyRole:
        """Return what a key says, the catalogue's row first."""
        if not isinstance(key, str):
            return PLAIN
        if self.plan.roles:
            given = self.plan.roles.get(fold_key(key))
            if given is not None:
                return given
        return role_of(key)

    def take(self, role: KeyRole, key: str, value: object, depth: int) -> None:
        """Read one value under the role of its key."""
        self.nodes -= 1
        if self.nodes < 0:
            self.unverified |= _ALL_TARGETS
            return
        if isinstance(value, str):
            _HANDLERS[role.role](self, role, key, value)
        elif isinstance(value, Mapping | list | tuple | set | frozenset):
            self.nested(role, key, value, depth)
        elif isinstance(value, bytes | bytearray):
            self.take(role, key, bytes(value[: LIMITS.argument_text]).decode("utf-8", "replace"), depth)
        elif value is not None:
            self.scalar(role, key, value)

    def nested(self, role: KeyRole, key: str, value: object, depth: int) -> None:
        """Note a structure for later; one that holds parties is read as a whole."""
        if depth >= LIMITS.argument_depth or len(self.queue) >= LIMITS.argument_nodes:
            self.unverified |= _ALL_TARGETS
            return
        if role.role is Role.RECIPIENT and self.meaning.risk in REACHES:
            self.parties(value)
            return
        self.queue.append((role, key, value, depth))

    def descend(self, role: KeyRole, key: str, value: object, depth: int) -> None:
        """Read the values of a structure: a key inside it speaks for itself, an item of a list has its list's role."""
        if isinstance(value, Mapping):
            inherited = PLAIN if role.role in {Role.CONTENT, Role.HEADER, Role.QUERY} else role
            for inner, item in value.items():
                own = self.role(inner)
                if role.role is Role.SELECTOR and own.role in {Role.RECIPIENT, Role.PARTY, Role.PLAIN} and fold_key(key).startswith(_SENDERS):
                    continue
                if own.role in {Role.PLAIN, Role.ID} and inherited.role not in {Role.PLAIN, Role.SELECTOR}:
                    own = inherited
                if isinstance(inner, str) and "@" in inner and self.meaning.risk in REACHES:
                    self.address(inner)
                self.take(own, inner if isinstance(inner, str) else "", item, depth + 1)
        elif isinstance(value, Iterable):
            for item in value:
                if self.nodes < 0:
                    break
                self.take(role, key, item, depth + 1)

    def scalar(self, role: KeyRole, key: str, value: object) -> None:
        """Read a number or a boolean: it can be a party's number, an id or a value."""
        if isinstance(value, bool | int | float):
            text = str(value).lower() if isinstance(value, bool) else number_text(value)
            if role.role in {Role.VALUE, Role.ID, Role.OBJECT, Role.PARTY} or (role.role is Role.RECIPIENT and not isinstance(value, bool)):
                _HANDLERS[role.role](self, role, key, text)
        else:
            self.unverified |= _ALL_TARGETS

    def spend(self, value: str, kind: TargetKind) -> bool:
        """Whether a text may still be read; what is too long is unverified."""
        self.left -= len(value)
        if self.left < 0 or len(value) > LIMITS.target_length * 16:
            self.unverified.add(kind)
            return False
        return True

    def parties(self, value: object) -> None:
        """Add the parties of a value of any shape."""
        if isinstance(value, str) and not self.spend(value, TargetKind.RECIPIENTS):
            return
        reading = read_recipients(value)
        self.recipients.extend(reading.parties)
        if not reading.complete:
            self.unverified.add(TargetKind.RECIPIENTS)

    def address(self, value: str) -> None:
        """Add a value that is wholly an address, or a list of addresses."""
        text = value.strip()
        if len(text) > LIMITS.target_length or not (" " not in text or text.endswith(">") or "," in text or ";" in text or "\n" in text):
            return
        self.recipients.extend(party for party in read_recipients(text).parties if "@" in party[1:])

    def url(self, value: str) -> bool:
        """Add a value that is a URL; say whether it was one."""
        if len(value) > LIMITS.target_length * 16:
            self.unverified.add(TargetKind.DOMAINS)
            return False
        reading = read_url(value)
        if reading is None:
            return False
        if reading.scheme == "file":
            self.path(value)
            return True
        self.urls.append(value.strip())
        self.domains.extend(reading.hosts)
        return True

    def path(self, value: str) -> None:
        """Add a path in canonical form."""
        if not value.strip():
            return
        if len(value) > LIMITS.target_length:
            self.unverified.add(TargetKind.PATHS)
            return
        if not is_literal(value):
            self.unverified.add(TargetKind.PATHS)
        self.paths.append(canonical_path(value, workdir=self.call.workdir, home=self.call.home))

    def effect(self, because: str) -> Effect:
        """Return the effect with what was found. What runs is known only where the table says what the capability runs."""
        if self.meaning.risk is Risk.EXECUTION and self.meaning.capability not in _KNOWN_RUNS:
            self.unverified.add(TargetKind.PROGRAM)
        return Effect(
            self.meaning.capability,
            self.meaning.risk,
            distinct(self.recipients) if self.recipients else (),
            distinct(self.domains) if self.domains else (),
            distinct(self.paths) if self.paths else (),
            tuple(dict.fromkeys(self.objects)) if self.objects else (),
            tuple(dict.fromkeys(self.values)) if self.values else (),
            distinct(self.urls) if self.urls else (),
            frozenset(self.unverified) if self.unverified else _NONE,
            0,
            because,
        )


_NONE: Final[frozenset[TargetKind]] = frozenset()


def distinct(found: list[str]) -> tuple[str, ...]:
    """Return each target once, in order."""
    return tuple(found) if len(found) == 1 else tuple(dict.fromkeys(found))[: LIMITS.targets]


def number_text(value: float) -> str:
    """Return a number as a person writes it; ``10.0`` is ``10``."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value) if isinstance(value, float) or value.bit_length() < 1024 else hex(value)


def gather(call: ToolCall, plan: Plan, meaning: Meaning) -> Gatherer:
    """Return what the arguments of a call name, for one effect of it."""
    found = Gatherer(call, plan, meaning)
    found.run(call.args)
    _join_repository(found)
    return found


def _join_repository(found: Gatherer) -> None:
    """``owner`` and ``repo`` are one object: ``example/app``."""
    owner = found.call.args.get("owner")
    if isinstance(owner, str) and owner and len(owner) < 200:
        found.objects = [
            ObjectRef("repo", f"{owner}/{thing.name}") if thing.kind == "repo" and "/" not in thing.name else thing for thing in found.objects
        ]


# --- one handler per role


def _plain(found: Gatherer, role: KeyRole, key: str, value: str) -> None:
    """A key that says nothing: the value is a URL, an address, a path, JSON, or nothing."""
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
    if found.meaning.capability in _TITLES and fold_key(key) in _TITLE_KEYS:
        found.objects.append(ObjectRef(_TITLES[found.meaning.capability], value))


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


def _recipient(found: Gatherer, role: KeyRole, key: str, value: str) -> None:
    """A party where the call reaches anybody; else the object it is about."""
    risk = found.meaning.risk
    if found.meaning.capability in _ABOUT_PARTIES:
        found.values.append((fold_key(key), canonical_recipient(value)))
    elif risk in _SPEAKS_TO or (risk in REACHES and (role.name or fold_key(key) not in _CHANNEL_KEYS)):
        if value.strip().casefold() not in _OWN:
            found.parties(value)
    elif risk in REACHES or risk is Risk.DELETE:
        _object(found, KeyRole(Role.OBJECT, "channel"), key, value)


_CHANNEL_KEYS: Final = frozenset(
    "channel channels channelid channelids channelname chatid chat chats chatids chatname roomid room conversationid conversation company "
    "target targets guildid".split()
)
"""Keys whose value is a place to speak in: a party of a send, an object of any other write."""


def _party(found: Gatherer, role: KeyRole, key: str, value: str) -> None:
    """A user is a party of a send, a payment or a change of rights, else the object."""
    if value.strip().casefold() in _OWN:
        return
    if found.meaning.risk in _SPEAKS_TO:
        found.parties(value)
    elif "@" in value and found.meaning.risk in REACHES:
        found.address(value)
    elif found.meaning.risk is not Risk.READ:
        _object(found, KeyRole(Role.OBJECT, "user"), key, value)


def _nothing(found: Gatherer, role: KeyRole, key: str, value: str) -> None:
    """Text, or whom the call acts as: no target."""


def _content(found: Gatherer, role: KeyRole, key: str, value: str) -> None:
    """Text is never searched; a title names the thing that is made."""
    if found.meaning.capability in _TITLES and fold_key(key) in _TITLE_KEYS and len(value) < LIMITS.target_length:
        found.objects.append(ObjectRef(_TITLES[found.meaning.capability], value))


def _header(found: Gatherer, role: KeyRole, key: str, value: str) -> None:
    """A line break in a header line starts another header: ``Subject: x\\nBcc: b@y`` (header injection)."""
    if found.meaning.risk not in REACHES:
        return
    if ("\n" in value or "\r" in value) and found.spend(value, TargetKind.RECIPIENTS):
        for line in value.splitlines()[1:]:
            if line.casefold().lstrip().startswith(_HEADER_LINES):
                found.parties(line.partition(":")[2])
    elif "@" in value and not fold_key(key).startswith("subject"):
        found.address(value)


def _query(found: Gatherer, role: KeyRole, key: str, value: str) -> None:
    """Words to look for are no target, unless the whole value is a URL."""
    if "://" in value[:12] and " " not in value.strip():
        found.url(value)


def _mime(found: Gatherer, role: KeyRole, key: str, value: str) -> None:
    """A whole message has parties of its own."""
    if found.meaning.risk in REACHES:
        reading = recipients_in_mime(value)
        found.recipients.extend(reading.parties)
        if not reading.complete:
            found.unverified.add(TargetKind.RECIPIENTS)


def _path(found: Gatherer, role: KeyRole, key: str, value: str) -> None:
    """A path here; on a service, the name of a file there, unless it is plainly one of this machine."""
    if value[:1] in "[{" and value:
        _unfold(found, role, key, value)
        return
    if found.plan.remote and role.role is Role.PATH and value[:1] not in {"/", "~"} and ":" not in value[:10]:
        if value:
            found.objects.append(ObjectRef("file", value[: LIMITS.target_length]))
        return
    if ":" in value and "://" in value[:12] and found.url(value):
        return
    found.path(value)


def _source(found: Gatherer, role: KeyRole, key: str, value: str) -> None:
    """What is read so that something else is written. A source can be a URL."""
    if "://" in value[:12] and found.url(value):
        return
    place = len(found.paths)
    found.path(value)
    found.sources.extend(found.paths[place:])


def _pattern(found: Gatherer, role: KeyRole, key: str, value: str) -> None:
    """A glob with a folder in it is a path that cannot be verified."""
    if ("/" in value[:LIMITS.target_length] or found.meaning.risk is Risk.DELETE) and "\n" not in value[:LIMITS.target_length]:
        found.path(value)
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


def _domain(found: Gatherer, role: KeyRole, key: str, value: str) -> None:
    """A host by name; ``lock`` as a home's domain is none."""
    if found.url(value):
        return
    if ("." in value or ":" in value or value.casefold() == "localhost") and (host := canonical_host(value)):
        found.domains.append(host)


def _object(found: Gatherer, role: KeyRole, key: str, value: str) -> None:
    """The thing acted on, by a name that people use."""
    if value and len(value) <= LIMITS.target_length:
        if value[0] == "[":
            _unfold(found, role, key, value)
        else:
            found.objects.append(ObjectRef(role.name or "name", value))


def _id(found: Gatherer, role: KeyRole, key: str, value: str) -> None:
    """An opaque id: a name that the words bind cannot be compared with it."""
    if "@" in value and found.meaning.risk in _SPEAKS_TO:
        found.address(value)
    if value and len(value) <= LIMITS.target_length and found.meaning.risk is not Risk.READ:
        found.objects.append(ObjectRef("id", value))


def _value(found: Gatherer, role: KeyRole, key: str, value: str) -> None:
    """A value that is the effect itself. Rights given to everybody reach a party of that name."""
    if role.name == "scope":
        if found.meaning.risk is Risk.PERMISSION_CHANGE and fold_key(value) in _PUBLIC:
            found.recipients.append("anyone")
        return
    if len(value) <= 200 and value:
        found.values.append((role.name, value))
    if "@" in value and found.meaning.risk in REACHES:
        found.address(value)


_HANDLERS: Final[Mapping[Role, Callable[[Gatherer, KeyRole, str, str], None]]] = {
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
