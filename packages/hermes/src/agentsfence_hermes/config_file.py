"""Our entry in the plugin lists of a HERMES_HOME's ``config.yaml``, and not one other character of the file.

Hermes rewrites this file with its own tools, people write comments into it. So the text is edited where the parser says
that the list stands, and the result is parsed again: unless it says exactly what was meant, nothing is written.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import yaml

from agentsfence_core import SettingsError

NAME = "agentsfence"
_HINT = "edit the list `plugins.enabled` in it by hand"


def enabled_in(text: str) -> bool:
    """Whether the configuration enables our plugin; ``plugins.disabled`` wins, as Hermes reads it."""
    plugins = _plugins(_parsed(text))
    return NAME in _names(plugins, "enabled") and NAME not in _names(plugins, "disabled")


def with_plugin(text: str) -> str:
    """Return the text with our plugin enabled. Raises `SettingsError` where that is not possible by a small edit."""
    text = _removed(text, "disabled")
    plugins = _plugins(_parsed(text))
    names = _names(plugins, "enabled")
    if NAME in names:
        return text
    return _checked(text, _added(text), [*names, NAME])


def without_plugin(text: str) -> str:
    """Return the text without our plugin; what only it needed goes too."""
    return _removed(text, "enabled")


def write(path: Path, text: str) -> None:
    """The file says this, whole or not at all, with the rights that it had."""
    target = path.resolve()
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".config-", suffix=".yaml")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        Path(name).chmod(mode)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


# ------------------------------------------------------------------------------------------------------------- reading


def _parsed(text: str) -> dict[str, object]:
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise SettingsError(f"config.yaml cannot be read: {error}", hint="mend it first") from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise SettingsError("config.yaml is not a mapping of fields", hint="mend it first")
    return data


def _plugins(data: dict[str, object]) -> dict[str, object]:
    found = data.get("plugins")
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise SettingsError("config.yaml: plugins is not a mapping", hint="mend it first")
    return found


def _names(plugins: dict[str, object], field: str) -> list[object]:
    found = plugins.get(field)
    return list(found) if isinstance(found, list) else []


def _checked(before: str, after: str, names: list[object], field: str = "enabled") -> str:
    """Return the new text if it says what the old one did but for this list."""
    expected, found = _parsed(before), _parsed(after)
    plugins = {**_plugins(expected), field: names}
    if not names:
        plugins.pop(field)
    found_plugins = {name: value for name, value in _plugins(found).items() if value != [] or name != field}
    expected["plugins"], found["plugins"] = plugins, found_plugins
    if expected != found:
        raise SettingsError("config.yaml is written in a way that cannot be edited safely", hint=_HINT)
    return after


# ------------------------------------------------------------------------------------------------------------- editing


def _child(node: yaml.Node | None, name: str) -> tuple[yaml.Node, yaml.Node] | None:
    """Return key and value of a field."""
    if not isinstance(node, yaml.MappingNode):
        return None
    return next(((key, value) for key, value in node.value if key.value == name), None)


def _added(text: str) -> str:
    ended = text if text.endswith("\n") or not text else f"{text}\n"
    plugins = _child(yaml.compose(text, Loader=yaml.SafeLoader), "plugins")
    if plugins is None:
        return f"{ended}plugins:\n  enabled:\n  - {NAME}\n"
    enabled = _child(plugins[1], "enabled")
    if enabled is not None:
        return _added_to(text, enabled)
    if isinstance(plugins[1], yaml.MappingNode) and plugins[1].flow_style:
        place = plugins[1].start_mark.index + 1
        return f"{text[:place]}enabled: [{NAME}]{', ' if plugins[1].value else ''}{text[place:]}"
    if isinstance(plugins[1], yaml.MappingNode):
        first = plugins[1].value[0][0].start_mark
        indent = " " * first.column
        return f"{text[: first.index]}enabled:\n{indent}- {NAME}\n{indent}{text[first.index :]}"
    place = plugins[0].end_mark.index + 1  # `plugins:` with nothing, or `null`, behind it
    end = plugins[1].end_mark.index if plugins[1].value else place
    return f"{text[:place]}\n  enabled:\n  - {NAME}{text[max(place, end) :] or chr(10)}"


def _added_to(text: str, enabled: tuple[yaml.Node, yaml.Node]) -> str:
    key, names = enabled
    if not isinstance(names, yaml.SequenceNode):
        place = key.end_mark.index + 1
        end = max(place, names.end_mark.index if names.value else place)
        return f"{text[:place]} [{NAME}]{text[end:]}"
    if names.flow_style:
        place = names.end_mark.index - 1
        comma = ", " if names.value else ""
        return f"{text[:place].rstrip(' ,') if comma else text[:place]}{comma}{NAME}{text[place:]}"
    dash = text.rindex("-", 0, names.value[0].start_mark.index)
    indent = " " * (dash - text.rfind("\n", 0, dash) - 1)
    last = names.value[-1].end_mark.index
    line = text.find("\n", last if text[last - 1] != "\n" else last - 1)
    head, tail = (text[: line + 1], text[line + 1 :]) if line >= 0 else (f"{text}\n", "")
    return f"{head}{indent}- {NAME}\n{tail}"


def _removed(text: str, field: str) -> str:
    plugins = _plugins(_parsed(text))
    names = _names(plugins, field)
    if NAME not in names:
        return text
    left = [name for name in names if name != NAME]
    node = _child(yaml.compose(text, Loader=yaml.SafeLoader), "plugins")
    entry = _child(node[1], field) if node else None
    if node is None or entry is None or not isinstance(entry[1], yaml.SequenceNode):
        raise SettingsError("config.yaml is written in a way that cannot be edited safely", hint=_HINT)
    if entry[1].flow_style:
        spans = [_flow_span(text, entry[1], one) for one in entry[1].value if one.value == NAME]
    elif left:
        spans = [_line_of(text, one) for one in entry[1].value if one.value == NAME]
    elif len(plugins) == 1:
        spans = [(node[0].start_mark.index, _line_of(text, entry[1].value[-1])[1])]
    else:
        start = text.rfind("\n", 0, entry[0].start_mark.index) + 1
        spans = [(start, _line_of(text, entry[1].value[-1])[1])]
    after = text
    for start, end in reversed(spans):
        after = after[:start] + after[end:]
    if not _plugins(_parsed(after)) and not left and len(plugins) == 1:
        expected = {name: value for name, value in _parsed(text).items() if name != "plugins"}
        if {name: value for name, value in _parsed(after).items() if name != "plugins"} == expected:
            return after
    return _checked(text, after, left, field)


def _line_of(text: str, node: yaml.Node) -> tuple[int, int]:
    """Return where the line of a list's entry begins and ends."""
    start = text.rfind("\n", 0, node.start_mark.index) + 1
    end = text.find("\n", node.start_mark.index)
    return start, len(text) if end < 0 else end + 1


def _flow_span(text: str, names: yaml.SequenceNode, node: yaml.Node) -> tuple[int, int]:
    """Return the entry of an inline list with the comma that belongs to it."""
    start, end = node.start_mark.index, node.end_mark.index
    before = text[names.start_mark.index + 1 : start]
    if "," in before:
        return start - (len(before) - before.rindex(",")), end
    after = text.find(",", end, names.end_mark.index)
    if after < 0:
        return start, end
    after += 1
    while text[after] == " ":
        after += 1
    return start, after
