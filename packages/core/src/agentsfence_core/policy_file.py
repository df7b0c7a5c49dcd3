"""Policies as people write them: YAML or JSON text, files and mappings in, a `TaskPolicy` out (DESIGN 6).

Rules of this file:

* The fields are those of `TaskPolicy` itself: pydantic derives the validation and the schema from its dataclasses.
* A fault is a `PolicyError` with the path of the field and what to write instead. Nothing is guessed and nothing is
  dropped: a field that is not understood could be the ban that its author relies on.
* ``examples`` are read here and checked by whoever loads the policy.
"""

from __future__ import annotations

import difflib
import json
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from agentsfence_core._policy_shorthand import BANS, BANS_ALIAS, expanded
from agentsfence_core._policy_width import refuse_too_wide
from agentsfence_core.errors import PolicyError
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Permission, Prohibition, Targets, TaskPolicy, ToolConstraint
from agentsfence_core.plain import to_plain
from agentsfence_core.strict_yaml import Document, StrictYamlError, parse

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails

_Owner = TaskPolicy | ToolConstraint | Permission | Prohibition | Targets
_STRUCTURE = 8
"""Values that one entry of a policy may have, at most: bounds reading before anything is counted exactly."""


def load_policy(data: Mapping[str, object] | str | Path, *, home: str | None = None) -> TaskPolicy:
    """Return the policy that ``data`` describes: a mapping, YAML or JSON text, or the path of a file.

    ``home`` is the home folder that no path may open; default: that of this account.
    """
    if isinstance(data, Path):
        return _from_text(_file_text(data), str(data), home)
    if isinstance(data, str):
        return _from_text(data, "", home)
    if not isinstance(data, Mapping):
        raise PolicyError("a policy is a mapping of fields", hint="start with 'purpose: …'")
    try:
        return _validated(data, home)
    except RecursionError:
        raise PolicyError("too deeply nested", hint="a policy has at most four levels") from None


def dump_policy(policy: TaskPolicy) -> dict[str, object]:
    """Return the policy as JSON types, default values left out; `load_policy` reads it back unchanged."""
    plain = to_plain(policy)
    return plain if isinstance(plain, dict) else {}


def policy_schema() -> dict[str, object]:
    """Return the JSON Schema of a policy file, short forms included."""
    schema = _adapter().json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    ban = schema["$defs"]["Prohibition"]
    ban["required"] = []
    names = ("capability", "risk")
    ban["properties"].update({name: {"type": "string", "description": "Another name for `what`."} for name in names})
    ban["anyOf"] = [{"required": [name]} for name in ("what", *names)]
    ban["properties"]["except"] = {"description": "Another name for `exceptions`."}
    for name in ("targets", "exceptions", "except"):
        texts: dict[str, object] = {"type": "array", "items": {"type": "string"}}
        ban["properties"][name] = {**ban["properties"][name], "anyOf": [{"$ref": "#/$defs/Targets"}, texts]}
        ban["properties"][name].pop("$ref", None)
    bans = schema["properties"][BANS]
    bans["items"] = {"anyOf": [{"type": "string"}, bans["items"]]}
    schema["properties"][BANS_ALIAS] = {**bans, "description": f"Another name for `{BANS}`.", "title": "Prohibitions"}
    for row in ("Permission", "ToolConstraint"):
        schema["$defs"][row]["properties"]["max_amount"]["anyOf"].insert(1, {"type": "number"})
    return schema


@cache
def _adapter() -> TypeAdapter[TaskPolicy]:
    """Return pydantic's view of the dataclasses; built once."""
    from pydantic import TypeAdapter  # noqa: PLC0415  (lazy: start-up budget, DESIGN 13)

    return TypeAdapter(TaskPolicy)


def _file_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(LIMITS.policy_bytes + 1)
        if len(raw) > LIMITS.policy_bytes:
            raise PolicyError(f"{path}: the file is too large", hint=f"at most {LIMITS.policy_bytes} bytes")
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise PolicyError(f"{path}: {error.strerror or error}", hint="check the path") from error
    except ValueError as error:
        raise PolicyError(f"{path}: not UTF-8", hint="save the file as UTF-8 text") from error


def _from_text(text: str, name: str, home: str | None) -> TaskPolicy:
    """Read a policy from text; errors say the line, and the file where there is one."""
    if len(text) > LIMITS.policy_bytes:
        raise PolicyError("the policy is too large", hint=f"at most {LIMITS.policy_bytes} bytes")
    before = f"{name}: " if name else ""
    try:
        document = parse(text, max_values=_STRUCTURE * LIMITS.policy_entries)
    except StrictYamlError as error:
        raise PolicyError(f"{before}{error}", hint=error.hint) from error
    if not isinstance(document.value, Mapping):
        hint = "start with 'purpose: …'; to read a file, pass its path"
        raise PolicyError(f"{before}a policy is a mapping of fields", hint=hint)
    return _validated(document.value, home, document, before)


def _validated(
    data: Mapping[str, object], home: str | None, document: Document | None = None, before: str = ""
) -> TaskPolicy:
    """Return the policy, or raise `PolicyError` with the line where the data came from text."""
    try:
        policy = _parsed(_json(_with_one_name(data)))
        refuse_too_wide(policy, _home() if home is None else home)
    except PolicyError as error:
        if document is None:
            raise
        line = document.line(_steps(error.field, document))
        message = Exception.__str__(error).removeprefix(f"{error.field}: ")
        raise PolicyError(message, field=error.field, hint=error.hint, where=f"{before}line {line}") from error
    return policy


def _with_one_name(data: Mapping[str, object]) -> Mapping[str, object]:
    """Return the data without short forms; refuse two fields that mean the same."""
    if BANS in data and BANS_ALIAS in data:
        raise PolicyError(f"another name for {BANS}, which is there too", field=BANS_ALIAS, hint=f"use {BANS}")
    return expanded(data)


def _home() -> str:
    """Return the home folder of this account, or an empty text."""
    folder = posixpath.expanduser("~")
    return "" if folder.startswith("~") else posixpath.normpath(folder)


def _json(data: Mapping[str, object]) -> str:
    """Return the data as JSON text; count what it holds."""
    entries = _entries(data)
    if entries > LIMITS.policy_entries:
        raise PolicyError(f"{entries} entries or more", hint=f"a policy has at most {LIMITS.policy_entries}")
    try:
        text = json.dumps(data, allow_nan=False, default=_json_default)
    except (TypeError, ValueError, RecursionError) as error:
        raise PolicyError("a value that is no text, number, list or mapping", hint="write texts in quotes") from error
    if len(text) > LIMITS.policy_bytes * 2:
        raise PolicyError("the policy is too large", hint=f"at most {LIMITS.policy_bytes} bytes")
    return text


def _json_default(value: object) -> object:
    """Return dates as ISO text and sets as lists; a mapping of another kind as a dict."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    isoformat = getattr(value, "isoformat", None)
    if callable(isoformat):
        return isoformat()
    raise TypeError


def _entries(data: object) -> int:
    """Count the leaves of nested lists and mappings, and stop soon after the limit; a cycle passes the limit too."""
    count, todo, steps = 0, [data], 0
    while todo and count <= LIMITS.policy_entries:
        value = todo.pop()
        steps += 1
        if isinstance(value, Mapping):
            todo.extend(value.values())
        elif isinstance(value, list | tuple):
            todo.extend(value)
            count += not value
        else:
            count += 1
        if max(steps, len(todo)) > _STRUCTURE * LIMITS.policy_entries:
            return LIMITS.policy_entries + 1
    return count


def _parsed(text: str) -> TaskPolicy:
    """Validate strictly: in JSON, a list is a tuple and a text is an enum's member, but ``"yes"`` is no boolean."""
    from pydantic import ValidationError  # noqa: PLC0415

    try:
        return _adapter().validate_json(text, strict=True)
    except ValidationError as error:
        found = error.errors(include_url=False)
    details = min(found, key=lambda detail: detail["type"] != "unexpected_keyword_argument")
    raise _explained(details, len(found) - 1)


def _explained(details: ErrorDetails, others: int) -> PolicyError:
    """Turn pydantic's first error into a sentence with a fix."""
    path = details["loc"]
    field, kind = _field(path), details["type"]
    more = f", and {others} more" if others else ""
    if kind == "unexpected_keyword_argument":
        known = _known_fields(path)
        near = difflib.get_close_matches(str(path[-1]), known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
        return PolicyError(f"unknown field{more}", field=field, hint=hint)
    if kind == "enum":
        expected = str(details.get("ctx", {}).get("expected", "")).replace("'", "")
        near = difflib.get_close_matches(str(details["input"]).upper(), expected.replace(" or ", ", ").split(", "), n=1)
        hint = f"did you mean {near[0]}?" if near else f"one of {expected}"
        return PolicyError(f"'{str(details['input'])[:80]}' is not known here{more}", field=field, hint=hint)
    if kind == "missing":
        return PolicyError(f"missing{more}", field=field, hint="add it")
    return PolicyError(f"{_wrong_type(kind)}{more}", field=field, hint=_HINTS.get(kind, ""))


_HINTS: Mapping[str, str] = {
    "bool_type": "write true or false",
    "int_type": "write a whole number without quotes",
    "string_type": "write it in quotes",
    "tuple_type": "write a list: [a, b]",
    "dataclass_type": "write its fields: {name: value}",
    "dict_type": "write a mapping: {name: value}",
    "mapping_type": "write a mapping: {name: value}",
    "datetime_type": "write 2026-05-04 or 2026-05-04T12:00:00Z",
    "datetime_parsing": "write 2026-05-04 or 2026-05-04T12:00:00Z",
    "datetime_from_date_parsing": "write 2026-05-04 or 2026-05-04T12:00:00Z",
}


def _wrong_type(kind: str) -> str:
    nouns = {
        "bool": "true or false",
        "int": "a whole number",
        "string": "a text",
        "tuple": "a list",
        "datetime": "a time",
    }
    noun = nouns.get(kind.partition("_")[0], "a mapping")
    return f"must be {noun}" if kind in _HINTS else f"not readable: {kind}"


def _known_fields(path: Sequence[str | int]) -> tuple[str, ...]:
    """Return the field names that fit at the place of the last step of ``path``."""
    kinds: Mapping[object, type[_Owner]] = {
        "tool_constraints": ToolConstraint,
        "permissions": Permission,
        BANS: Prohibition,
        "targets": Targets,
        "exceptions": Targets,
    }
    owner: type[_Owner] = next((kinds[step] for step in reversed(path[:-1]) if step in kinds), TaskPolicy)
    return tuple(field.name for field in fields(owner))


def _field(path: Sequence[str | int]) -> str:
    """Return a path as it is written in messages: ``permissions[0].recipients``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def _steps(field: str, document: Document) -> tuple[str | int, ...]:
    """Return the steps of a written path; names of tools have dots of their own, so the document is asked."""
    value, steps, rest = document.value, list[str | int](), field
    while rest:
        if rest.startswith("["):
            number, _, rest = rest[1:].partition("]")
            steps.append(int(number))
            value = value[int(number)] if isinstance(value, list) and int(number) < len(value) else None
        else:
            rest = rest.removeprefix(".")
            names = [str(name) for name in value if rest.startswith(str(name))] if isinstance(value, Mapping) else []
            name = max(names, key=len, default="")
            if not name:
                break
            steps.append(name)
            value, rest = value[name] if isinstance(value, Mapping) else None, rest[len(name) :]
    return tuple(steps)
