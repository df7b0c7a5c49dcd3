"""Sessions with expectations, from files that people write: what ``agentsfence test`` reads and what it reports.

A file is one session (``steps: […]``), or several (``sessions: […]``); ``settings``, ``tools`` and ``workspace`` beside
``sessions`` hold for each of them. A step ``policy: FILE`` names a policy file, starting from the file's own folder.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agentsfence_cli.simulation import meets, simulate
from agentsfence_cli.workbench import Workbench
from agentsfence_core.errors import FenceError
from agentsfence_core.limits import LIMITS
from agentsfence_core.strict_yaml import StrictYamlError, parse

_SHARED: Final = ("settings", "tools", "workspace")
_FIELDS: Final = frozenset({"id", "name", "steps", "compiler", *_SHARED})


@dataclass(frozen=True, slots=True)
class Miss:
    """An expectation that was not met."""

    step: int
    call: str
    expected: str
    got: str
    why: str


@dataclass(frozen=True, slots=True)
class Tested:
    """What became of one session."""

    file: str
    name: str
    expectations: int
    misses: tuple[Miss, ...]
    fault: str
    """Why the session could not be played to its end, or proves nothing; else empty."""
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether every expectation was met, and there was one."""
        return not self.misses and not self.fault


def sessions_of(file: Path) -> list[Mapping[str, object]]:
    """Return the sessions of a file; `FenceError` names the file and the field."""
    data = _document(file)
    if not isinstance(data, Mapping):
        raise FenceError(f"{file}: not a mapping of fields", hint="start with 'steps:' or 'sessions:'")
    if "sessions" not in data:
        return [_session(file, data, "session")]
    unknown = sorted(str(name) for name in data.keys() - {"sessions", *_SHARED})
    if unknown:
        raise FenceError(f"{file}: {unknown[0]}: no such field", hint=f"one of sessions, {', '.join(_SHARED)}")
    listed = data["sessions"]
    if not isinstance(listed, list) or not all(isinstance(each, Mapping) for each in listed):
        raise FenceError(f"{file}: sessions: must be a list of sessions", hint="- {name: …, steps: […]}")
    shared = {name: data[name] for name in _SHARED if name in data}
    return [_session(file, {**shared, **each}, f"sessions[{place}]") for place, each in enumerate(listed)]


def _session(file: Path, data: Mapping[str, object], where: str) -> Mapping[str, object]:
    unknown = sorted(str(name) for name in data.keys() - _FIELDS)
    if unknown:
        raise FenceError(f"{file}: {where}: {unknown[0]}: no such field", hint=f"one of {', '.join(sorted(_FIELDS))}")
    steps = data.get("steps")
    if not isinstance(steps, list) or not steps:
        raise FenceError(f"{file}: {where}: steps: must be a list of steps", hint="- {user: …} or - {tool: …}")
    name = data.get("name") or data.get("id") or where
    return {**data, "name": str(name), "steps": [_step(file, step) for step in steps]}


def _step(file: Path, step: object) -> object:
    """Return a step with the policy that it names read in."""
    if not isinstance(step, Mapping) or not isinstance(step.get("policy"), str):
        return step
    return {**step, "policy": _document(file.parent / str(step["policy"]))}


def _document(file: Path) -> object:
    try:
        if file.stat().st_size > LIMITS.policy_bytes:
            raise FenceError(f"{file}: the file is too large", hint=f"at most {LIMITS.policy_bytes} bytes")
        return parse(file.read_text(encoding="utf-8-sig"), max_values=LIMITS.policy_entries).value
    except OSError as error:
        raise FenceError(f"{file}: {error.strerror or error}", hint="check the path") from error
    except StrictYamlError as error:
        raise FenceError(f"{file}: {error}", hint=error.hint) from error
    except ValueError as error:
        raise FenceError(f"{file}: not UTF-8", hint="save the file as UTF-8 text") from error


def tested(file: Path, session: Mapping[str, object], workbench: Workbench) -> Tested:
    """Return what became of a session; a fault in it is a result as well."""
    began = time.monotonic()
    name, steps = str(session["name"]), session["steps"]
    expected = (
        [step for step in steps if isinstance(step, Mapping) and "expect" in step] if isinstance(steps, list) else []
    )
    fault, misses = "", tuple[Miss, ...]()
    try:
        results = simulate(session, workbench)["results"]
        if isinstance(steps, list) and isinstance(results, list):
            misses = _misses(steps, results)
    except FenceError as error:
        fault = str(error)
    if not expected:
        fault = fault or "it expects nothing: write expect beside a call"
    return Tested(str(file), name, len(expected), misses, fault, time.monotonic() - began)


def _misses(steps: list[object], results: list[object]) -> tuple[Miss, ...]:
    found = []
    for place, (step, result) in enumerate(zip(steps, results, strict=False)):
        if isinstance(step, Mapping) and isinstance(result, Mapping) and "expect" in step:
            expect, got = str(step["expect"]), str(result["verdict"])
            if not meets(expect, got):
                found.append(Miss(place, str(step["tool"]), expect, got, str(result["message"])))
    return tuple(found)


def junit(results: list[Tested]) -> bytes:
    """Return the results in the format that continuous integration reads."""
    from xml.etree import ElementTree as Xml  # noqa: PLC0415  (written, never read)

    failures, errors = sum(bool(each.misses) for each in results), sum(bool(each.fault) for each in results)
    suite = Xml.Element(
        "testsuite", name="agentsfence", tests=str(len(results)), failures=str(failures), errors=str(errors)
    )
    for each in results:
        seconds = f"{each.seconds:.3f}"
        case = Xml.SubElement(
            suite, "testcase", classname=_printable(each.file), name=_printable(each.name), time=seconds
        )
        for miss in each.misses:
            failure = Xml.SubElement(case, "failure", message=f"{miss.expected} expected, {miss.got} given")
            failure.text = _printable(f"steps[{miss.step}] {miss.call}: {miss.why}")
        if each.fault:
            Xml.SubElement(case, "error", message=_printable(each.fault))
    return bytes(Xml.tostring(suite, encoding="utf-8", xml_declaration=True))


def _printable(text: str) -> str:
    """Return text without the characters that XML cannot hold."""
    return "".join(character if character.isprintable() else " " for character in text)
