"""Values of the model as JSON types and back, without pydantic: the form that stores keep and policies are dumped in.

Rules of this file:

* A field that has its default value is left out, so that a field added later reads old records.
* ``from_plain`` checks every type and raises `PlainError`: a damaged record never becomes a value with a hole in it.
* Sets are written in sorted order, so that equal values have equal texts.
"""

from __future__ import annotations

import dataclasses
import datetime
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import TypeVar

Value = TypeVar("Value")
_Reader = Callable[[object], object]


class PlainError(Exception):
    """The data does not have the shape of the value that is asked for; ``path`` says where."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        """Keep what is wrong; the readers above add the steps that lead here."""
        super().__init__(message)
        self.hint = hint
        self.path: tuple[str | int, ...] = ()

    def under(self, step: str | int) -> PlainError:
        """Return the same fault, seen from one level above."""
        self.path = (step, *self.path)
        return self


def to_plain(value: object) -> object:
    """Return ``value`` as dicts, lists, texts, numbers, booleans and ``None``."""
    if value is None or type(value) in _AS_IS:
        return value
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    if isinstance(value, frozenset):
        return sorted(str(item) for item in value)
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    return _dataclass_to_plain(value)


def from_plain(kind: type[Value], data: object) -> Value:
    """Return the value of type ``kind`` that ``data`` describes, or raise `PlainError`."""
    return typing.cast("Value", _reader(kind)(data))


_AS_IS = frozenset({str, int, float, bool})
_MISSING = dataclasses.MISSING
_FIELDS: dict[type, tuple[tuple[str, object], ...]] = {}
_READERS: dict[object, _Reader] = {}


def _dataclass_to_plain(value: object) -> dict[str, object]:
    """Return the fields of a dataclass that differ from their defaults."""
    plain: dict[str, object] = {}
    for name, default in _fields(type(value)):
        item = getattr(value, name)
        if item is not default and item != default:
            plain[name] = to_plain(item)
    return plain


def _fields(kind: type) -> tuple[tuple[str, object], ...]:
    """Return name and default of each field, computed once per type; `_MISSING` where there is no default."""
    found = _FIELDS.get(kind)
    if found is None:
        found = _FIELDS[kind] = _compute_fields(kind)
    return found


def _compute_fields(kind: type) -> tuple[tuple[str, object], ...]:
    if not dataclasses.is_dataclass(kind):
        raise PlainError(f"{kind.__name__} has no plain form")
    return tuple(
        (field.name, field.default_factory() if field.default_factory is not _MISSING else field.default)
        for field in dataclasses.fields(kind)
        if field.init
    )


def _reader(kind: object) -> _Reader:
    """Return the function that reads one type; made once per type."""
    reader = _READERS.get(kind)
    if reader is None:
        reader = _READERS[kind] = _make_reader(kind)
    return reader


def _make_reader(kind: object) -> _Reader:
    """Return the function that reads one type."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is object:
        return lambda data: data
    if origin in {typing.Union, types.UnionType}:
        return _optional(arguments)
    if origin is tuple:
        return _tuple(arguments)
    if origin is frozenset:
        return _frozenset(arguments[0])
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(arguments[1])
    if isinstance(kind, type):
        return _scalar(kind)
    raise PlainError(f"{kind} has no plain form")


def _scalar(kind: type) -> _Reader:
    """Read texts, numbers, booleans, enums, times, and dataclasses."""
    if kind is float:
        return lambda data: float(_checked(data, (float, int)))  # type: ignore[arg-type]
    if kind in _AS_IS:
        return lambda data: _checked(data, (kind,))
    if issubclass(kind, StrEnum):
        members = {member.value: member for member in kind}
        return lambda data: _looked_up(members, data)
    if issubclass(kind, datetime.datetime):
        return _time
    return _dataclass(kind)


_NOUNS = {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}


def _checked(data: object, kinds: tuple[type, ...]) -> object:
    if type(data) not in kinds:
        raise PlainError(f"must be {_NOUNS[kinds[0]]}", hint="write it in quotes" if kinds[0] is str else "")
    return data


def _looked_up(members: Mapping[str, object], data: object) -> object:
    if not isinstance(data, str) or data not in members:
        raise PlainError(f"'{str(data)[:80]}' is not known here", hint=_suggestion(str(data), members))
    return members[data]


def _suggestion(name: str, known: Iterable[str]) -> str:
    """Return the near name, whatever its case, or all of them."""
    import difflib  # noqa: PLC0415  (only for a fault)

    folded = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(name.casefold(), folded, n=1)
    return f"did you mean {folded[near[0]]}?" if near else f"known: {', '.join(folded.values())}"


def _time(data: object) -> object:
    try:
        return datetime.datetime.fromisoformat(str(_checked(data, (str,))))
    except ValueError as error:
        raise PlainError("no time") from error


def _optional(arguments: tuple[object, ...]) -> _Reader:
    """Read ``T | None``."""
    (inner,) = (_reader(argument) for argument in arguments if argument is not type(None))
    return lambda data: None if data is None else inner(data)


def _tuple(arguments: tuple[object, ...]) -> _Reader:
    """Read ``tuple[T, ...]`` and tuples of fixed length."""
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        inner = _reader(arguments[0])
        return lambda data: tuple([_at(place, inner, item) for place, item in enumerate(_list(data))])
    readers = tuple(_reader(argument) for argument in arguments)

    def read(data: object) -> object:
        items = _list(data)
        if len(items) != len(readers):
            raise PlainError("a list of the wrong length")
        return tuple([reader(item) for reader, item in zip(readers, items, strict=True)])

    return read


def _frozenset(argument: object) -> _Reader:
    """Read ``frozenset[T]`` from a list."""
    inner = _reader(argument)
    return lambda data: frozenset([_at(place, inner, item) for place, item in enumerate(_list(data))])


def _mapping(argument: object) -> _Reader:
    """Read ``Mapping[str, T]``."""
    inner = _reader(argument)

    def read(data: object) -> object:
        return {key: _at(key, inner, item) for key, item in _dict(data).items()}

    return read


def _dataclass(kind: type) -> _Reader:
    """Read a dataclass; unknown and missing fields are refused."""
    hints = typing.get_type_hints(kind)
    known = {name: hints[name] for name, _ in _fields(kind)}
    needed = frozenset(name for name, default in _fields(kind) if default is _MISSING)

    def read(data: object) -> object:
        fields = _dict(data)
        for name in fields.keys() - known.keys():
            raise PlainError("unknown field", hint=_suggestion(name, known)).under(name)
        for name in sorted(needed - fields.keys()):
            raise PlainError("missing", hint="add it").under(name)
        return kind(**{name: _at(name, _reader(known[name]), item) for name, item in fields.items()})

    return read


def _list(data: object) -> list[object]:
    if not isinstance(data, list | tuple):
        raise PlainError("must be a list", hint="write [a, b]")
    return list(data)


def _dict(data: object) -> Mapping[str, object]:
    if not isinstance(data, Mapping):
        raise PlainError("must be a mapping", hint="write name: value")
    for key in data:
        _checked(key, (str,))
    return data


def _at(step: str | int, reader: _Reader, item: object) -> object:
    """Read one value; a fault in it says where it is."""
    try:
        return reader(item)
    except PlainError as error:
        raise error.under(step) from None
