"""Lines that hold together: each carries the hash of the one before it, per writing process (DESIGN 8).

A line that was changed, taken out or moved shows, and so does a whole process's chain that was taken out, since the
next one names the line it began after. Whoever can write the file can also make a new chain: this is a seal against
accidents and partial edits, and against a cut tail for whoever kept the `Head`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

_MARK = b',"hash":"'
HASH = 32  # hexadecimal digits


@dataclass(frozen=True, slots=True)
class Head:
    """The newest line of a chain: what to keep elsewhere so that a cut tail shows."""

    chain: str
    number: int
    hash: str


@dataclass(frozen=True, slots=True)
class Link:
    """A line as it was read."""

    chain: str
    number: int
    previous: str
    hash: str
    whole: bool
    """Whether the hash is that of the line."""


def sealed(body: bytes) -> tuple[bytes, str]:
    """Return a line with its hash, and the hash. ``body`` is a JSON object with at least one field."""
    digest = hashlib.sha256(body).hexdigest()[:HASH]
    return b"".join((body[:-1], _MARK, digest.encode("ascii"), b'"}\n')), digest


def link(line: bytes) -> Link | None:
    """Return a line's place in its chain, or ``None`` where it is no audit line."""
    head, mark, tail = line.rstrip(b"\n").rpartition(_MARK)
    if not mark or not tail.endswith(b'"}'):
        return None
    body, stated = head + b"}", tail[:-2].decode("ascii", "replace")
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    chain, number, previous = fields.get("chain"), fields.get("n"), fields.get("prev")
    if not (isinstance(chain, str) and isinstance(number, int) and isinstance(previous, str)):
        return None
    return Link(chain, number, previous, stated, hashlib.sha256(body).hexdigest()[:HASH] == stated)
