"""Arguments as plain values: what a tool receives, in a form that can be classified, digested and shown.

Any value of any type has one. What cannot be
looked into is named by its type, so that it is shown and never hidden.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import hashlib
import pathlib
import uuid
from collections.abc import Mapping

from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.callbacks.manager import BaseRunManager
from langgraph.prebuilt import ToolRuntime
from langgraph.store.base import BaseStore
from pydantic import BaseModel, SecretStr

_DEPTH = 60  # levels; below it a value is named by its type
_VALUES = 100_000  # lists, dictionaries and objects of one call
_PLAIN = (str, int, float, bool, bytes, type(None))
_WRITTEN = pathlib.PurePath | uuid.UUID | decimal.Decimal
_FROM_HOST = (ToolRuntime, BaseStore, BaseCallbackManager, BaseCallbackHandler, BaseRunManager)
_DATES = (datetime.date, datetime.time)


def plain_arguments(args: Mapping[str, object]) -> dict[str, object]:
    """Return a copy in which every model, enum, path and date is a plain value, without what LangGraph puts in.

    A model can name an argument ``runtime`` or ``callbacks``, but it cannot make such an object. Raises `ValueError`
    for more values than can be looked at: such a call is not run.
    """
    left = [_VALUES]
    return {str(name): _plain(value, _DEPTH, left) for name, value in args.items() if not isinstance(value, _FROM_HOST)}


def content_digest(tool: str, args: Mapping[str, object]) -> str:
    """Return the digest of a call whose arguments are plain; equal only for the same arguments in the same order."""
    return hashlib.sha256(repr((tool, args)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _plain(value: object, depth: int, left: list[int]) -> object:
    kind = type(value)
    if kind in _PLAIN:
        return value
    left[0] -= 1
    if depth <= 0:
        return f"<{kind.__name__}>"
    if left[0] < 0:
        raise ValueError("more values than can be looked at")
    if isinstance(value, Mapping):
        return {str(name): _plain(item, depth - 1, left) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, depth - 1, left) for item in value]
    if isinstance(value, set | frozenset):
        # The order of a set differs between processes; the digest must not.
        return sorted((_plain(item, depth - 1, left) for item in value), key=repr)
    return _opened(value, depth, left)


def _opened(value: object, depth: int, left: list[int]) -> object:
    """Return what an object holds: a validated model's recipients count as much as a dictionary's."""
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, enum.Enum):
        return _plain(value.value, depth - 1, left)
    if isinstance(value, _DATES):
        return value.isoformat()
    if isinstance(value, int | float):
        return value
    if isinstance(value, str | _WRITTEN):
        return str(value)
    return _fields(value, depth, left)


def _fields(value: object, depth: int, left: list[int]) -> object:
    if isinstance(value, BaseModel):
        return {name: _plain(item, depth - 1, left) for name, item in value}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: _plain(getattr(value, name, None), depth - 1, left) for name in names}
    held = getattr(value, "__dict__", None)
    if isinstance(held, dict) and held and not isinstance(value, type) and not callable(value):
        return {str(name): _plain(item, depth - 1, left) for name, item in held.items()}
    return f"<{type(value).__name__}>"


def shown(value: object, depth: int = 12, width: int = 4_000) -> object:
    """Return a value for a person's screen and a checkpoint: JSON types only, long texts cut."""
    if isinstance(value, str):
        return value if len(value) <= width else f"{value[:width]}… ({len(value)} characters)"
    if value is None or isinstance(value, bool | int | float):
        return value
    if depth <= 0 or not isinstance(value, Mapping | list | tuple):
        return f"<{type(value).__name__}>"
    if isinstance(value, Mapping):
        return {str(name)[:width]: shown(item, depth - 1, width) for name, item in value.items()}
    return [shown(item, depth - 1, width) for item in value]
