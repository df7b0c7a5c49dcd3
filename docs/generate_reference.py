"""Write the generated parts of the reference pages from the code: `python docs/generate_reference.py`.

`command-line.md` gets the arguments and options of each command from the application itself, `policy-schema.md` the
fields of a policy from its JSON Schema, `adapters.md` what each adapter says about itself. A test compares the pages
with what this script makes of the code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import typer

from agentsfence_cli.main import COMMANDS
from agentsfence_core.policy_file import policy_schema

DOCS = Path(__file__).parent
ADAPTERS = ("cli", "hermes", "langchain")
_MARK = re.compile(r"<!-- generated: ([\w-]+) -->\n.*?<!-- end -->", re.DOTALL)
Schema = Mapping[str, Any]


class Parameter(Protocol):
    """An argument or an option."""

    name: str
    param_type_name: str
    metavar: str | None
    opts: list[str]
    required: bool
    nargs: int
    is_flag: bool
    help: str | None


class Command(Protocol):
    """A command, or a group of them."""

    params: list[Parameter]
    help: str | None


def command_line() -> str:
    """Return the page of the command line as it must be."""
    return _filled("command-line.md", {name: command(name) for name in COMMANDS})


def policy_page() -> str:
    """Return the page of the policy schema as it must be."""
    return _filled("policy-schema.md", {"fields": "\n\n".join(_schema_parts())})


def _filled(page: str, parts: Mapping[str, str]) -> str:
    """Return a page with its generated parts; a part without a place, or a place without a part, is an error."""
    text = (DOCS / page).read_text(encoding="utf-8")
    missing = parts.keys() ^ {match[1] for match in _MARK.finditer(text)}
    if missing:
        raise ValueError(f"{page}: {', '.join(sorted(missing))}: no such part, or no place for it")
    return _MARK.sub(lambda match: f"<!-- generated: {match[1]} -->\n\n{parts[match[1]]}\n\n<!-- end -->", text)


def adapters_page() -> str:
    """Return the page of the adapters as it must be."""
    return _filled("adapters.md", {"adapters": "\n\n".join(map(_adapter, ADAPTERS))})


def _adapter(package: str) -> str:
    """Return what an adapter of this repository says about itself."""
    info = import_module(f"agentsfence_{package}.adapter").INFO
    seen = "\n".join(f"* {sentence}" for sentence in info.blind_spots)
    return f"## {info.name}\n\n`{info.distribution}`. {info.what}.\n\nWhat it cannot see:\n\n{seen}"


# ------------------------------------------------------------------------------------------------------------ commands


def command(name: str) -> str:
    """Return usage, sentences and options of a command and of its sub-commands."""
    return "\n\n".join(_parts(typer.main.get_command(import_module(f"agentsfence_cli.commands.{name}").app), name))


def _parts(found: Command, path: str) -> Iterator[str]:
    subcommands: Mapping[str, Command] = getattr(found, "commands", {})
    if found.params and (not subcommands or getattr(found, "invoke_without_command", False)):
        usage = " ".join(part for part in (_argument(each) for each in found.params) if part)
        yield f"```text\nagentsfence {path} {usage}\n```"
        yield _prose(found.help)
        yield _options(found)
    elif not subcommands:
        yield f"```text\nagentsfence {path}\n```"
        yield _prose(found.help)
    for name, inner in subcommands.items():
        yield from _parts(inner, f"{path} {name}")


def _prose(text: str | None) -> str:
    """Return a help text as paragraphs."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text or "").replace("|", "\\|").strip()


def _argument(parameter: Parameter) -> str:
    if parameter.param_type_name != "argument":
        return ""
    name = parameter.metavar or parameter.name.upper()
    name = f"{name}..." if parameter.nargs < 0 else name
    return name if parameter.required else f"[{name}]"


def _options(found: Command) -> str:
    rows = ["| Argument or option | Meaning |", "| --- | --- |"]
    for parameter in found.params:
        if parameter.name == "help":
            continue
        rows.append(f"| {_name(parameter)} | {_cell(parameter.help or '')} |")
    return "\n".join(rows)


def _name(parameter: Parameter) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar or parameter.name.upper()}`"
    if not parameter.is_flag and not parameter.metavar:
        raise ValueError(f"{parameter.opts[0]}: has no metavar")
    value = "" if parameter.is_flag else f" {parameter.metavar}"
    return _cell(", ".join(f"`{option}{value}`" for option in parameter.opts))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


# -------------------------------------------------------------------------------------------------------------- policy


def _schema_parts() -> Iterator[str]:
    schema = policy_schema()
    yield _table("TaskPolicy", schema)
    for name, part in schema["$defs"].items():  # type: ignore[attr-defined]
        if "properties" in part:
            yield f"## {name}\n\n{_sentence(part.get('description', ''))}\n\n{_table(name, part)}"
        elif "enum" in part:
            values = ", ".join(f"`{value}`" for value in part["enum"])
            yield f"## {name}\n\n{_sentence(part.get('description', ''))}\n\nOne of {values}."


def _table(name: str, part: Schema) -> str:
    del name
    needed = part.get("required", ())
    rows = ["| Field | Type | Default | Meaning |", "| --- | --- | --- | --- |"]
    for field, entry in part["properties"].items():
        default = "required" if field in needed else _default(entry)
        rows.append(f"| `{field}` | {_type(entry)} | {default} | {_sentence(entry.get('description', ''))} |")
    return "\n".join(rows)


def _type(entry: Schema) -> str:
    if "$ref" in entry:
        name = entry["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in entry:
        return " or ".join(dict.fromkeys(_type(each) for each in entry["anyOf"]))
    kind = entry.get("type", "any")
    if kind == "array":
        return f"list of {_type(entry['items'])}" if "items" in entry else "list"
    if kind == "object":
        inner = entry.get("additionalProperties")
        return f"mapping to {_type(inner)}" if isinstance(inner, dict) else "mapping"
    return {"string": "text", "integer": "whole number", "null": "nothing"}.get(kind, str(kind))


def _default(entry: Schema) -> str:
    default = entry.get("default")
    if default in (None, [], {}, ""):
        return "none"
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def _sentence(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("``", "`").replace("|", "\\|").strip()


if __name__ == "__main__":
    (DOCS / "command-line.md").write_text(command_line(), encoding="utf-8")
    (DOCS / "policy-schema.md").write_text(policy_page(), encoding="utf-8")
    (DOCS / "adapters.md").write_text(adapters_page(), encoding="utf-8")
