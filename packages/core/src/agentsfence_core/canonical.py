"""One canonical form for arguments, and digests over it (DESIGN 8: grants; DESIGN 12: canonicalisation is idempotent).

Total and linear: any value of any type, NaN, bytes, cycles and unbounded depth included. What has no canonical form
(a cycle, an unknown object, more than a million values) has the empty digest, and an empty digest never matches.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from json.encoder import encode_basestring_ascii
from typing import TypeGuard

from agentsfence_core.json_text import object_text

_DEPTH = 200  # levels; below json's own recursion limit
_NODES = 1_000_000  # values
# Cycles never reach the encoder: `_plain` ends at `_DEPTH`.
_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=True, check_circular=False, separators=(",", ":")).encode


class _NoFormError(Exception):
    """The value has no canonical form."""


def canonical(value: object) -> str:
    """Return a text that is equal for equal arguments whatever the order of keys, or an empty text. Never raises."""
    if type(value) is str:
        return encode_basestring_ascii(value)
    if value is None:
        return "null"
    if type(value) is dict and _is_flat(value):
        return object_text({name: value[name] for name in sorted(value)}, _encode)
    try:
        return _encode(_plain(value, 0, [_NODES]))
    except Exception:  # noqa: BLE001  (hostile objects raise what they like)
        return ""


def _is_flat(value: Mapping[object, object]) -> TypeGuard[Mapping[str, str]]:
    """Whether every name is a text with characters and every value a text: then the value is its own plain form."""
    return all(type(name) is str and name and type(item) is str for name, item in value.items())


def digest(*parts: object) -> str:
    """Return a 32-character hexadecimal digest of ``parts``, or an empty text when one has no canonical form."""
    forms = [canonical(part) for part in parts]
    if "" in forms:
        return ""
    forms.append("")
    return hashlib.sha256("\0".join(forms).encode("ascii")).hexdigest()[:32]


def digest_arguments(args: Mapping[str, object], without: Iterable[str] = ()) -> str:
    """Return the digest of a call's arguments, with the named top-level ones (message text) left out."""
    left_out = frozenset(without)
    return digest({name: value for name, value in args.items() if name not in left_out} if left_out else args)


def _plain(value: object, depth: int, left: list[int]) -> object:
    """Rewrite a value as JSON types; every kind that JSON lacks becomes a tagged object that no JSON value equals."""
    left[0] -= 1
    if depth > _DEPTH or left[0] < 0:
        raise _NoFormError
    if type(value) is str or value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if value.bit_length() < 1024 else {"": ["int", hex(value)]}
    if isinstance(value, float):
        return {"": ["float", repr(value)]} if value != value or value in {float("inf"), float("-inf")} else value  # noqa: PLR0124
    if isinstance(value, Mapping):
        pairs = [
            (key if isinstance(key, str) else {"": repr(key)}, _plain(item, depth + 1, left))
            for key, item in value.items()
        ]
        if all(isinstance(key, str) for key, _ in pairs) and "" not in value:
            return {str(key): item for key, item in pairs}
        return {"": ["map", sorted(json.dumps(pair, sort_keys=True) for pair in pairs)]}
    if isinstance(value, list | tuple):
        return [_plain(item, depth + 1, left) for item in value]
    if isinstance(value, bytes | bytearray):
        return {"": ["bytes", hashlib.sha256(bytes(value)).hexdigest()]}
    if isinstance(value, set | frozenset):
        return {"": ["set", sorted(json.dumps(_plain(item, depth + 1, left), sort_keys=True) for item in value)]}
    raise _NoFormError
