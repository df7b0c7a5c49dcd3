"""Small mappings as ASCII JSON, fast: every check writes a few of them, and the general encoder's set-up costs more.

INVARIANT: the text is the one that the general encoder gives, so readers and hashes cannot tell which of them wrote it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from json.encoder import encode_basestring_ascii

Encode = Callable[[object], str]


def encoder(*, default: Callable[[object], object] | None = None) -> Encode:
    """Return a general encoder for values without cycles: ASCII, no spaces."""
    return json.JSONEncoder(ensure_ascii=True, check_circular=False, separators=(",", ":"), default=default).encode


def object_text(items: Mapping[str, object], encode: Encode) -> str:
    """Return a mapping as JSON; ``encode`` writes what is rare: other types, numbers that are not finite."""
    named = [f"{encode_basestring_ascii(name)}:{_text(value, encode)}" for name, value in items.items()]
    return f"{{{','.join(named)}}}"


def _text(value: object, encode: Encode) -> str:
    """Return one value as JSON. Exact types first: they are what nearly all values have."""
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if type(value) is int:
        return int.__repr__(value)
    if type(value) is float and value - value == 0:
        return float.__repr__(value)
    if isinstance(value, list | tuple):
        return f"[{','.join([_text(item, encode) for item in value])}]"
    if isinstance(value, dict) and all(type(name) is str for name in value):
        return object_text(value, encode)
    return encode(value)
