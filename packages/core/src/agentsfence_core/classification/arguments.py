"""Targets of a call, from its arguments: parties, hosts, paths, objects and values (DESIGN 5, "Targets").

Rules of this file:

* A key's role decides (`keys`); under a key that says nothing, a value that is wholly an address, a URL or a path does.
* Text that a call carries is never searched; structure always is, also inside JSON that was written as a string.
* Arguments are hostile: any depth, type, size, cycles. Where reading stops, every kind of target is *unverified*.
* Parties count for what reaches somebody: a read or a write on this machine has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from agentsfence_core.classification.handlers import HANDLERS, REACHES, reaches_by
from agentsfence_core.classification.keys import ODD_KEY, PLAIN, KeyRole, Role, role_of
from agentsfence_core.classification.names import NAME_LENGTH, fold_key
from agentsfence_core.classification.targets.hosts import read_url
from agentsfence_core.classification.targets.paths import canonical_path, is_literal
from agentsfence_core.classification.targets.recipients import read_recipients
from agentsfence_core.limits import LIMITS
from agentsfence_core.model.action import Effect, ObjectRef, TargetKind
from agentsfence_core.model.risk import Risk

if TYPE_CHECKING:
    from agentsfence_core.classification.catalogue.rows import Meaning, Plan
    from agentsfence_core.model.call import ToolCall

_ALL_TARGETS: Final = frozenset({TargetKind.RECIPIENTS, TargetKind.DOMAINS, TargetKind.PATHS})
_NONE: Final[frozenset[TargetKind]] = frozenset()
_NUMBERS: Final = frozenset({Role.VALUE, Role.ID, Role.OBJECT, Role.PARTY, Role.RECIPIENT})
_TEXTS: Final = frozenset({Role.CONTENT, Role.HEADER})
_SENDERS: Final = ("from", "sender", "author", "account")
_KNOWN_RUNS: Final = frozenset(
    "test.run build.run lint.run package.install process.control schedule.create skill.write system.configure".split()
)
"""Executions that say by their name what runs."""
_FILE_ROLES: Final[Mapping[str, KeyRole]] = {
    "to": KeyRole(Role.PATH),
    "target": KeyRole(Role.PATH),
    "name": KeyRole(Role.PATH),
    "from": KeyRole(Role.SOURCE_PATH),
    "uri": KeyRole(Role.PATH),
}
"""What keys mean for a tool that moves, writes or deletes files here: ``to`` is no person."""
_STORES: Final = frozenset({"drive.write", "database.write", "note.write", "record.write", "contact.write"})
"""Capabilities whose rows and values are data: an address in a cell of a table is told nothing."""
_FILE_TOOLS: Final = frozenset(
    "file.write file.move file.copy file.delete file.archive file.permissions folder.create".split()
)
_SEVERAL: Final = 2
_COUNTED: Final = frozenset({Risk.COMMUNICATION, Risk.FINANCIAL, Risk.EXTERNAL_WRITE, Risk.PERMISSION_CHANGE})
"""Classes of which a limit in words counts single acts."""
_FEW: Final = 64
"""Parties of a plain list that are read one by one, which is quicker."""
_TEXT_LENGTH: Final = LIMITS.target_length * 16
"""Characters of one argument that are read for targets."""


class Gatherer:
    """Collects the targets of one effect. Lives for one call of `gather`."""

    __slots__ = (
        "call",
        "domains",
        "files",
        "left",
        "meaning",
        "nodes",
        "objects",
        "paths",
        "plan",
        "queue",
        "recipients",
        "sources",
        "unverified",
        "urls",
        "values",
    )

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
        self.files = meaning.capability in _FILE_TOOLS and not plan.remote
        self.nodes = LIMITS.argument_nodes
        self.left = LIMITS.argument_text

    def run(self, args: Mapping[str, object]) -> None:
        """Read all arguments, breadth first."""
        for key, value in args.items():
            role = self.role(key)
            self.take(role, "" if role is ODD_KEY else key, value, 0)
        place = 0
        while place < len(self.queue):
            role, key, value, depth = self.queue[place]
            place += 1
            self.descend(role, key, value, depth)

    def role(self, key: object) -> KeyRole:
        """Return what a key says, the catalogue's row first."""
        if not isinstance(key, str):
            return ODD_KEY
        if self.plan.roles:
            given = self.plan.roles.get(fold_key(key))
            if given is not None:
                return given
        if self.files:
            given = _FILE_ROLES.get(key)
            if given is not None:
                return given
        return role_of(key) if len(key) <= NAME_LENGTH else PLAIN  # a longer key must not fill the cache of roles

    def take(self, role: KeyRole, key: str, value: object, depth: int) -> None:
        """Read one value under the role of its key."""
        self.nodes -= 1
        if self.nodes < 0:
            self.unverified |= _ALL_TARGETS
            return
        if isinstance(value, str):
            HANDLERS[role.role](self, role, key, value)
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
        elif role.role is Role.RECIPIENT and reaches_by(self, key) and not self.is_message(value):
            if isinstance(value, list) and len(value) <= _FEW and all(isinstance(item, str) for item in value):
                for item in value:
                    self.parties(item)
            else:
                self.parties(value)
        else:
            self.queue.append((role, key, value, depth))

    def is_message(self, value: object) -> bool:
        """Whether a structure under a party's key is a whole message: ``email: {to: …, body: …}``."""
        return isinstance(value, Mapping) and any(self.role(key).role in _TEXTS for key in value)

    def descend(self, role: KeyRole, key: str, value: object, depth: int) -> None:
        """Read the values of a structure: a key inside it speaks for itself, an item of a list has its list's role."""
        if isinstance(value, Mapping):
            for inner, item in value.items():
                name = inner if isinstance(inner, str) else ""
                own = self.inner_role(role, key, name)
                if own is not None:
                    if "@" in name and self.meaning.risk in REACHES:
                        self.address(name)
                    self.take(own, name, item, depth + 1)
        elif isinstance(value, Iterable):
            if self.is_batch(value):
                self.unverified.add(TargetKind.COUNT)
            for item in value:
                if self.nodes < 0:
                    break
                self.take(role, key, item, depth + 1)

    def is_batch(self, value: object) -> bool:
        """Whether a list holds several acts, each with a party or a sum of its own: ``payments: [{…}, {…}]``."""
        if self.meaning.risk not in _COUNTED or not isinstance(value, list | tuple) or len(value) < _SEVERAL:
            return False
        return any(isinstance(item, Mapping) and any(self.names_act(key) for key in item) for item in value[:_FEW])

    def names_act(self, key: object) -> bool:
        """Whether a key inside an item of a list says whom the item reaches or what it costs."""
        role = self.role(key)
        return role.role is Role.RECIPIENT or (role.role is Role.VALUE and role.name == "amount")

    def inner_role(self, outer: KeyRole, outer_key: str, key: str) -> KeyRole | None:
        """Return the role of a key inside a structure; ``None`` where it only describes whom the call acts as."""
        own = self.role(key)
        if outer.role is Role.SELECTOR:
            names_sender = own.role in {Role.RECIPIENT, Role.PARTY, Role.PLAIN}
            return None if names_sender and fold_key(outer_key).startswith(_SENDERS) else own
        if outer.role is Role.CONTENT and self.meaning.capability in _STORES:
            return outer
        if outer.role in {Role.CONTENT, Role.HEADER, Role.QUERY, Role.PLAIN}:
            return own
        if own.name == "date" and outer.role is Role.VALUE:
            return outer
        inherits = own.role is Role.PLAIN or (own.role is Role.ID and outer.role in {Role.PARTY, Role.OBJECT})
        return outer if inherits else own

    def scalar(self, role: KeyRole, key: str, value: object) -> None:
        """Read a number or a boolean: it can be a party's number, an id or a value."""
        if isinstance(value, bool):
            if role.role is Role.VALUE:
                HANDLERS[Role.VALUE](self, role, key, "true" if value else "false")
        elif isinstance(value, int | float):
            if role.role in _NUMBERS:
                HANDLERS[role.role](self, role, key, number_text(value))
        else:
            self.unverified |= _ALL_TARGETS

    def spend(self, value: str, kind: TargetKind) -> bool:
        """Whether a text may still be read; what is too long is unverified."""
        self.left -= len(value)
        if self.left < 0 or len(value) > _TEXT_LENGTH:
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
        if len(text) <= LIMITS.target_length and (
            " " not in text or text[-1:] == ">" or any(map(text.__contains__, ",;\n"))
        ):
            self.recipients.extend(
                party for party in read_recipients(text).parties if "@" in party[1:] and " " not in party
            )

    def url(self, value: str) -> bool:
        """Add a value that is a URL; say whether it was one."""
        if len(value) > _TEXT_LENGTH:
            self.unverified.add(TargetKind.DOMAINS)
            return False
        reading = read_url(value)
        if reading is None:
            return False
        if reading.scheme == "file":
            self.path(value)
            return True
        if reading.scheme in {"mailto", "tel", "sms"} and self.meaning.risk in REACHES:
            self.parties(value)
        self.urls.append(value.strip())
        self.domains.extend(reading.hosts)
        return True

    def path(self, value: str, *, globs: bool = False) -> None:
        """Add a path in canonical form. A tool that takes one file does not expand globs; one that deletes may."""
        if not value.strip():
            return
        if len(value) > LIMITS.target_length:
            self.unverified.add(TargetKind.PATHS)
            return
        if not is_literal(value, globs=globs or self.meaning.risk is Risk.DELETE):
            self.unverified.add(TargetKind.PATHS)
        self.paths.append(canonical_path(value, workdir=self.call.workdir, home=self.call.home))

    def effect(self, because: str) -> Effect:
        """Return the effect with what was found. What an execution runs is known only where its capability says so."""
        if self.meaning.risk is Risk.EXECUTION and self.meaning.capability not in _KNOWN_RUNS:
            self.unverified.add(TargetKind.PROGRAM)
        return Effect(
            self.meaning.capability,
            self.meaning.risk,
            self.distinct(self.recipients, TargetKind.RECIPIENTS) if self.recipients else (),
            self.distinct(self.domains, TargetKind.DOMAINS) if self.domains else (),
            self.distinct(self.paths, TargetKind.PATHS) if self.paths else (),
            tuple(dict.fromkeys(self.objects))[: LIMITS.targets] if self.objects else (),
            self.all_values() if self.values else (),
            tuple(dict.fromkeys(self.urls)) if self.urls else (),
            frozenset(self.unverified) if self.unverified else _NONE,
            0,
            because,
        )

    def all_values(self) -> tuple[tuple[str, str], ...]:
        """Return each value once, but every amount: two payments of ten are twenty."""
        once = dict.fromkeys(self.values)
        if len(once) == len(self.values):
            return tuple(once)[: LIMITS.targets]
        kept = [pair for pair in self.values if pair[0] == "amount" or once.pop(pair, 0) is None]
        if len(kept) > LIMITS.targets:
            self.unverified.add(TargetKind.VALUES)
        return tuple(kept[: LIMITS.targets])

    def distinct(self, found: list[str], kind: TargetKind) -> tuple[str, ...]:
        """Return each target once, in order; where there are more than are kept, the kind is unverified."""
        if len(found) == 1:
            return (found[0],)
        each = tuple(dict.fromkeys(found))
        if len(each) > LIMITS.targets:
            self.unverified.add(kind)
            return each[: LIMITS.targets]
        return each


def number_text(value: int | float) -> str:
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
            ObjectRef("repo", f"{owner}/{thing.name}") if thing.kind == "repo" and "/" not in thing.name else thing
            for thing in found.objects
        ]
