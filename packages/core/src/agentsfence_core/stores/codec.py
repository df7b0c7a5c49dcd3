"""Task records as bytes and back (DESIGN 8).

Rules of this file:

* A record has parts that change at different speeds: the policy (a new message), grants (an approval), the facts
  (every check), and items (one question or one admitted call each). A check rewrites the facts and one item.
* Every part carries a checksum, so that a record which is damaged where it lies is refused and not half believed.
* Texts are written as ASCII JSON: an id that is no valid Unicode comes back as it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from zlib import crc32

from agentsfence_core.model import ExecutionState, Grant, TaskPolicy
from agentsfence_core.plain import PlainError, from_plain, to_plain
from agentsfence_core.ports import TaskRecord

FORMAT = 1
"""Version of what is written here; a store keeps it and refuses what is newer."""

Item = Mapping[str, object]


class DamagedError(Exception):
    """The bytes are not what was written."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What of a record is neither policy, grants nor items: the part that every check rewrites."""

    state: ExecutionState
    starter: str | None
    parent: str | None
    instruction_digest: str
    last_seen: float


_encode = json.JSONEncoder(ensure_ascii=True, check_circular=True, separators=(",", ":")).encode
_decode = json.JSONDecoder().decode
_SUM = 8  # hexadecimal digits of the checksum before each part


def key(text: str) -> bytes:
    """Return an id as bytes: equal only when every character is, invalid Unicode included."""
    return text.encode("utf-8", "surrogatepass")


def text(key: bytes) -> str:
    """Return the id that `key` made bytes of."""
    return key.decode("utf-8", "surrogatepass")


def encode_policy(policy: TaskPolicy) -> bytes:
    """Return a policy as bytes."""
    return _sealed(to_plain(policy))


def decode_policy(data: bytes) -> TaskPolicy:
    """Return the policy, or raise `DamagedError`."""
    try:
        return from_plain(TaskPolicy, _opened(data))
    except PlainError as error:
        raise DamagedError(str(error)) from error


def encode_grants(grants: tuple[Grant, ...]) -> bytes:
    """Return grants as bytes."""
    return _sealed({"grants": to_plain(grants)})


def decode_grants(data: bytes) -> tuple[Grant, ...]:
    """Return the grants, or raise `DamagedError`."""
    try:
        return from_plain(ExecutionState, _opened(data)).grants
    except PlainError as error:
        raise DamagedError(str(error)) from error


def encode_facts(record: TaskRecord) -> bytes:
    """Return facts and state without grants as bytes. This is in the path of every check."""
    state = record.state
    plain: dict[str, object] = {"counters": dict(state.counters)}
    if state.grant_uses:
        plain["grant_uses"] = dict(state.grant_uses)
    if state.denied:
        plain["denied"] = sorted(state.denied)
    return _sealed(
        {
            "state": plain,
            "starter": record.starter,
            "parent": record.parent,
            "instruction_digest": record.instruction_digest,
            "last_seen": record.last_seen,
        }
    )


def decode_facts(data: bytes) -> Facts:
    """Return state and facts, or raise `DamagedError`."""
    try:
        return from_plain(Facts, _opened(data))
    except PlainError as error:
        raise DamagedError(str(error)) from error


def encode_item(item: Item) -> bytes:
    """Return a question or a ticket as bytes."""
    return _sealed(item if type(item) is dict else dict(item))


def decode_item(data: bytes) -> Item:
    """Return a question or a ticket, or raise `DamagedError`."""
    item = _opened(data)
    if not isinstance(item, dict):
        raise DamagedError("no mapping")
    return item


def _sealed(plain: object) -> bytes:
    body = _encode(plain).encode("ascii")
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
