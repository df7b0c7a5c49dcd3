"""Arguments as plain values: what a tool receives, in a form that can be classified, digested and shown.

Total: any value of any type. What has no plain form is named by its type, so that it is shown and never hidden.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import pathlib
import uuid
from collections.abc import Mapping

from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.callbacks.manager import BaseRunManager
from langgraph.prebuilt import ToolRuntime
from langgraph.store.base import BaseStore
from pydantic import BaseModel, SecretStr

_DEPTH = 60  # levels; below it a value is named by its type
_PLAIN = (str, int, float, bool, bytes, type(None))
_WRITTEN = pathlib.PurePath | uuid.UUID | decimal.Decimal
_FROM_HOST = (ToolRuntime, BaseStore, BaseCallbackManager, BaseCallbackHandler, BaseRunManager)
_DATES = (datetime.date, datetime.time)


def plain_arguments(args: Mapping[str, object]) -> dict[str, object]:
    """Return a copy in which every model, enum, path and date is a plain value, without what LangGraph puts in.

    A model can name an argument ``runtime`` or ``callbacks``, but it cannot make such an object.
    """
    return {str(name): plain(value) for name, value in args.items() if not isinstance(value, _FROM_HOST)}


def plain(value: object, depth: int = _DEPTH) -> object:
    """Return one value in plain form."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if depth <= 0:
        return f"<{kind.__name__}>"
    if isinstance(value, Mapping):
        return {str(name): plain(item, depth - 1) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item, depth - 1) for item in value]
    return _opened(value, depth)


def _opened(value: object, depth: int) -> object:
    """Return what an object holds: a validated model's recipients count as much as a dictionary's."""
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, BaseModel):
        return {name: plain(item, depth - 1) for name, item in value}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name), depth - 1) for field in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return plain(value.value, depth - 1)
    if isinstance(value, _DATES):
        return value.isoformat()
    if isinstance(value, int | float):
        return value
    if isinstance(value, str | _WRITTEN):
        return str(value)
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
