"""YAML that a person wrote, read strictly: safe types only, no key twice, no alias bomb, bounded nesting, line numbers.

Policies and settings decide what an agent may do, so a text that two readers could understand in two ways is refused:
a key that stands twice silently loses one of its values in every ordinary YAML loader.
"""

from __future__ import annotations

import datetime
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import yaml

_DEPTH = 100  # levels of nesting


class StrictYamlError(Exception):
    """The text is no YAML that can be trusted; ``line`` counts from 1, 0 where none is known."""

    def __init__(self, message: str, *, line: int = 0, hint: str = "") -> None:
        """Keep where the fault is and what helps."""
        super().__init__(f"line {line}: {message}" if line else message)
        self.line = line
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed text and the places of its values."""

    value: object
    """Plain Python values; dates and times are ISO texts."""
    root: yaml.Node | None

    def line(self, path: Sequence[str | int]) -> int:
        """Return the line of the value at ``path``, or of the nearest value above it; 0 for an empty text."""
        node, line = self.root, 1 if self.root is not None else 0
        for step in path:
            if node is None:
                break
            line, node = _step(node, step, line)
        return line


def parse(text: str, *, max_values: int) -> Document:
    """Return the one document in ``text``; more than ``max_values`` values, aliases written out, are refused."""
    import yaml  # noqa: PLC0415  (lazy: start-up budget, DESIGN 13)

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _measure(yaml.parse(text, Loader=loader), max_values)
        reader = loader(text)
        try:
            root = reader.get_single_node()
            if root is None:
                return Document(None, None)
            _refuse_doubles(root)
            return Document(_iso(reader.construct_document(root)), root)
        finally:
            reader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise StrictYamlError(
            f"not YAML: {error.problem or error.context}", line=mark.line + 1 if mark else 0
        ) from error
    except yaml.YAMLError as error:
        raise StrictYamlError("not YAML: a character that YAML excludes", hint="save the file as UTF-8 text") from error
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise StrictYamlError("a value cannot be read", hint="write it in quotes") from error


def _measure(events: object, max_values: int) -> None:
    """Refuse nesting and aliases that would grow without bound, before anything is built.

    A hundred bytes of nested aliases can stand for billions of values: each alias counts as much as what it stands for.
    """
    import yaml  # noqa: PLC0415

    open_counts: list[tuple[str | None, int]] = []
    sizes: dict[str, int] = {}
    total = 0
    for event in events:  # type: ignore[attr-defined]
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                raise StrictYamlError("an alias to itself or to nothing", line=line, hint="write the value out")
            total += sizes[event.anchor]
        elif isinstance(event, yaml.CollectionStartEvent):
            open_counts.append((event.anchor, total))
            total += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_counts.pop()
            if anchor:
                sizes[anchor] = total - before
        elif isinstance(event, yaml.ScalarEvent):
            total += 1
            if event.anchor:
                sizes[event.anchor] = 1
        if total > max_values or len(open_counts) > _DEPTH:
            raise StrictYamlError(
                "too many or too deeply nested values", line=line, hint=f"at most {max_values} values"
            )


def _refuse_doubles(root: yaml.Node) -> None:
    """Refuse a mapping that has one key twice, or a key that is no plain text."""
    import yaml  # noqa: PLC0415

    todo, seen = [root], {id(root)}
    while todo:
        node = todo.pop()
        children: list[yaml.Node] = []
        if isinstance(node, yaml.MappingNode):
            _check_keys(node)
            children = [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            children = node.value
        fresh = [child for child in children if id(child) not in seen]
        seen.update(map(id, fresh))
        todo.extend(fresh)


def _check_keys(node: yaml.MappingNode) -> None:
    """Raise where two keys of one mapping are the same text."""
    import yaml  # noqa: PLC0415

    first_line: dict[Hashable, int] = {}
    for key, _ in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise StrictYamlError("a key must be a plain text", line=line)
        if key.value in first_line:
            raise StrictYamlError(
                f"the key '{key.value[:80]}' stands twice, first in line {first_line[key.value]}",
                line=line,
                hint="keep one of them",
            )
        first_line[key.value] = line


def _step(node: yaml.Node, step: str | int, line: int) -> tuple[int, yaml.Node | None]:
    """Return the line and the node one step below, or the line so far and nothing."""
    import yaml  # noqa: PLC0415

    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == step:
                return key.start_mark.line + 1, value
    elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and 0 <= step < len(node.value):
        return node.value[step].start_mark.line + 1, node.value[step]
    return line, None


def _iso(value: object) -> object:
    """Return the value with ISO texts for dates; sets and bytes are refused. Depth is bounded by `_measure`."""
    if isinstance(value, dict):
        return {key: _iso(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_iso(item) for item in value]
    if isinstance(value, datetime.date):
        return value.isoformat()
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(type(value).__name__)
