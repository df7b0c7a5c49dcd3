"""Task records as bytes and back (DESIGN 8).

Rules of this file:

* A record has parts that change at different speeds: the policy (a new message), the facts (every check), and items:
  one question, ticket, grant, use of a grant or denial each. A check rewrites the facts and one item.
* Every part carries a checksum, so that a record which is damaged where it lies is refused and not half believed.
* Texts are written as ASCII JSON: an id that is no valid Unicode comes back as it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar
from zlib import crc32

from agentsfence_core.errors import StoreError
from agentsfence_core.json_text import encoder, object_text
from agentsfence_core.model import Grant, TaskPolicy
from agentsfence_core.plain import PlainError, from_plain, to_plain
from agentsfence_core.ports import TaskRecord

FORMAT = 2
"""Version of what is written here; a store keeps it and refuses what is newer."""

Item = Mapping[str, object]
_Value = TypeVar("_Value")


class DamagedError(Exception):
    """The bytes are not what was written."""


def damaged(store: str, task: str, error: DamagedError) -> StoreError:
    """Return the fault of a record that cannot be trusted: its task is blocked until a person removes it."""
    return StoreError(
        f"{store}: the record of task {task[:80]!r} is damaged: {error}",
        hint="its calls stay blocked until a person discards it, which forgets its bans; others are not concerned",
    )


@dataclass(frozen=True, slots=True)
class Facts:
    """What of a record is neither policy nor items: the part that every check rewrites."""

    born: int
    """Version at which the record was added; a record that was removed and added again is another one."""
    policy_at: int
    """Version that wrote the policy."""
    gone_at: int
    """Version that last deleted an item."""
    grants_at: int
    """Version that last wrote a grant, a use of one or a denial: checks read past thousands of them."""
    items: int
    """How many items belong to the record: one that is lost shows."""
    last_seen: float
    counters: Mapping[str, int] = field(default_factory=dict)
    starter: str | None = None
    parent: str | None = None
    instruction_digest: str = ""
    keep_until: float | None = None
    head: tuple[str, int, str] | None = None
    inherits: bool = False


# What is encoded is built here or read from JSON, so it has no cycles.
_encode = encoder()
_decode = json.JSONDecoder().decode
_SUM = 8  # hexadecimal digits of the checksum before each part


def key(text: str) -> bytes:
    """Return an id as bytes: equal only when every character is, invalid Unicode included."""
    return text.encode("utf-8", "surrogatepass")


def text(key: bytes) -> str:
    """Return the id that `key` made bytes of."""
    return bytes(key).decode("utf-8", "surrogatepass")


def encode_policy(policy: TaskPolicy) -> bytes:
    """Return a policy as bytes."""
    return _sealed(to_plain(policy))


def decode_policy(data: bytes) -> TaskPolicy:
    """Return the policy, or raise `DamagedError`."""
    return _read(TaskPolicy, data)


def encode_grant(grant: Grant) -> bytes:
    """Return a grant as bytes."""
    return _sealed(to_plain(grant))


def decode_grant(data: bytes) -> Grant:
    """Return the grant, or raise `DamagedError`."""
    return _read(Grant, data)


def encode_facts(record: TaskRecord, *, born: int, policy_at: int, gone_at: int, grants_at: int, items: int) -> bytes:
    """Return the facts of a record as bytes. This is in the path of every check."""
    plain: dict[str, object] = {
        "born": born, "policy_at": policy_at, "gone_at": gone_at, "grants_at": grants_at, "items": items,
        "last_seen": record.last_seen, "instruction_digest": record.instruction_digest,
    }  # fmt: skip
    counters = record.state.counters
    if counters:
        plain["counters"] = counters if isinstance(counters, dict) else dict(counters)
    if record.head is not None:
        plain["head"] = record.head
    if record.keep_until is not None:
        plain["keep_until"] = record.keep_until
    if record.starter is not None:
        plain["starter"] = record.starter
    if record.parent is not None:
        plain["parent"] = record.parent
    if record.inherits:
        plain["inherits"] = True
    return _sealed(plain)


def decode_facts(data: bytes) -> Facts:
    """Return the facts, or raise `DamagedError`."""
    return _read(Facts, data)


def encode_item(item: Item) -> bytes:
    """Return a question or a ticket as bytes."""
    return _sealed(item if type(item) is dict else dict(item))


def decode_item(data: bytes) -> Item:
    """Return a question or a ticket, or raise `DamagedError`."""
    item = _opened(data)
    if not isinstance(item, dict):
        raise DamagedError("no mapping")
    return item


def encode_number(number: int) -> bytes:
    """Return a count as bytes."""
    return _sealed(number)


def decode_number(data: bytes) -> int:
    """Return the count, or raise `DamagedError`."""
    number = _opened(data)
    if type(number) is not int:
        raise DamagedError("no number")
    return number


def _read(kind: type[_Value], data: bytes) -> _Value:
    try:
        return from_plain(kind, _opened(data))
    except PlainError as error:
        raise DamagedError(str(error)) from error


def _sealed(plain: object) -> bytes:
    text = object_text(plain, _encode) if isinstance(plain, dict) else _encode(plain)
    body = text.encode("ascii")
    return b"%08x" % crc32(body) + body


def _opened(data: object) -> object:
    """Return what was sealed, or raise `DamagedError`."""
    if not isinstance(data, bytes):
        raise DamagedError("no bytes")
    body = data[_SUM:]
    if data[:_SUM] != b"%08x" % crc32(body):
        raise DamagedError("the checksum differs")
    try:
        return _decode(body.decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise DamagedError("no JSON") from error
