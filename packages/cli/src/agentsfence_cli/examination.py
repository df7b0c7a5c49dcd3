"""What ``agentsfence doctor`` looks at: each part by itself, so that one fault does not hide the next.

Rules of this file:

* Looking changes nothing: no task is begun, no line is logged and no policy is kept. A store is opened, as any command
  would open it.
* The network is touched only where the person asks for it (``probe``).
* A finding says what is, and where something is wrong or weak, what to do.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import import_module, metadata
from pathlib import Path
from typing import Final

from agentsfence_cli.commands.adapters import installed
from agentsfence_cli.packages import versions
from agentsfence_cli.workbench import Workbench
from agentsfence_core.audit import Head, verify
from agentsfence_core.errors import FenceError, PluginError
from agentsfence_core.evaluation import DEFAULT_UNAUTHORIZED
from agentsfence_core.model import HostFacts, PolicySource, Verdict
from agentsfence_core.model.decision import STRICTNESS
from agentsfence_core.plugins import GROUP, Plugins, load_plugins
from agentsfence_core.ports import AdapterInfo, PersonMessage
from agentsfence_core.settings import FILE_NAME, Settings, load_settings, settings_home

_CANARY_SECONDS: Final = 30.0
_VARIABLES: Final = "HOME PRESET STORE COMPILER MODEL BASE_URL".split()
_BANNED: Final = "Read my inbox. Do not send anything."
_SEND: Final = ("send_email", {"to": "eve@example.net", "body": "canary"})


class State(StrEnum):
    """How a part is."""

    GOOD = "good"
    NOTE = "note"
    WEAK = "weak"
    """It works, and the settings make it weaker than the default."""
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found about one part."""

    part: str
    state: State
    sentence: str
    hint: str = ""


Findings = Iterator[Finding]


def examined(*, probe: bool) -> list[Finding]:
    """Return all findings."""
    findings = list(_versions())
    try:
        settings = load_settings()
        plugins = load_plugins(settings)
    except FenceError as error:
        findings.append(_wrong("settings", error, "the fence cannot start, and every call is BLOCK"))
        return findings
    parts: tuple[tuple[str, Callable[[], Findings]], ...] = (
        ("settings", lambda: _settings(settings)),
        ("weakening", lambda: _weak(settings)),
        ("plugins", lambda: _plugins(settings, plugins)),
        ("store", lambda: _store(settings, plugins)),
        ("audit", lambda: _audit(settings, plugins)),
        ("compiler", lambda: _compiler(settings, plugins, probe=probe)),
        ("fence", _fence),
        ("adapters", _adapters),
    )
    for part, look in parts:
        try:
            findings.extend(look())
        except FenceError as error:
            findings.append(_wrong(part, error))
        except Exception as error:  # noqa: BLE001  (a part that cannot be looked at must not hide the others)
            findings.append(Finding(part, State.WRONG, f"{type(error).__name__}: {error}", "this is a fault of ours"))
    return findings


def _wrong(part: str, error: FenceError, consequence: str = "") -> Finding:
    sentence = Exception.__str__(error) + (f"; {consequence}" if consequence else "")
    return Finding(part, State.WRONG, sentence, error.hint)


def _versions() -> Findings:
    listed = ", ".join(f"{name} {version}" for name, version in versions().items())
    yield Finding("versions", State.GOOD, f"{listed}; Python {sys.version.split()[0]}")


def _settings(settings: Settings) -> Findings:
    home = settings.home or settings_home(os.environ)
    file = home / FILE_NAME
    if file.exists():
        yield Finding("settings", State.GOOD, f"read from {file}")
    else:
        yield Finding("settings", State.GOOD, f"defaults; {file} would be read if it were there")
    named = [f"AGENTSFENCE_{name}" for name in _VARIABLES if os.environ.get(f"AGENTSFENCE_{name}")]
    if named:
        yield Finding("settings", State.NOTE, f"the environment sets {', '.join(named)}")
    if settings.preset != "balanced":
        yield Finding("settings", State.NOTE, f"the preset is {settings.preset}")


def _weak(settings: Settings) -> Findings:
    weak = []
    if settings.unsafe_shadow:
        weak.append(("unsafe_shadow: what is asked about or blocked runs anyway, unless it is forbidden or guarded",
                     "take unsafe_shadow out of the settings"))  # fmt: skip
    for risk, verdict in settings.default_verdicts.items():
        if STRICTNESS[verdict] < STRICTNESS[DEFAULT_UNAUTHORIZED[risk]]:
            sentence = f"evaluation.unauthorized: {risk} is {verdict}, and {DEFAULT_UNAUTHORIZED[risk]} by default"
            weak.append((sentence, f"take {risk} out of evaluation.unauthorized"))
    if settings.audit_path is None:
        weak.append(("audit.enabled: nothing is recorded", "take audit.enabled out of the settings"))
    if settings.store.startswith("memory:"):
        weak.append(("store: policies, counters and bans are forgotten when a process ends", "use sqlite"))
    for sentence, hint in weak:
        yield Finding("weakening", State.WEAK, sentence, hint)
    if not weak:
        yield Finding("weakening", State.GOOD, "no setting weakens the fence")


def _plugins(settings: Settings, plugins: Plugins) -> Findings:
    for name in settings.plugins:
        yield Finding("plugins", State.NOTE, f"{name} {_version(name)} takes part in decisions, as the settings say")
    for name in plugins.skipped:
        yield Finding(
            "plugins", State.NOTE, f"{name} {_version(name)} is installed and has no say: no setting names it"
        )
    if not settings.plugins and not plugins.skipped:
        yield Finding("plugins", State.GOOD, f"none but our own (entry points '{GROUP}')")


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "(not installed)"


def _store(settings: Settings, plugins: Plugins) -> Findings:
    store = plugins.open_store(settings.store)
    try:
        tasks = store.tasks()
        for task in tasks:
            store.read(task)
    finally:
        store.close()
    yield Finding("store", State.GOOD, f"{_without_password(settings.store)} is readable; {_number(tasks, 'task')}")


def _audit(settings: Settings, plugins: Plugins) -> Findings:
    path = settings.audit_path
    if path is None:
        return
    if not _has_lines(path):
        yield Finding("audit", State.GOOD, f"{path} has no line yet")
        return
    store = plugins.open_store(settings.store)
    try:
        heads = [Head(*head) for head in store.heads()]
    finally:
        store.close()
    found = verify(path, heads)
    for gap in found.gaps[:10]:
        yield Finding("audit", State.WRONG, str(gap), "agentsfence audit verify shows all; somebody changed the log")
    if found.holds:
        yield Finding("audit", State.GOOD, f"{path} holds together: {found.lines} lines, {found.chains} chains")


def _has_lines(path: Path) -> bool:
    return path.is_dir() and any(file.stat().st_size for file in path.glob("audit*.jsonl"))


def _compiler(settings: Settings, plugins: Plugins, *, probe: bool) -> Findings:
    if plugins.pipeline() is None:
        yield Finding("compiler", State.WRONG, "no compiler is installed: begin fails, and tasks only read",
                      "pip install agentsfence-compiler")  # fmt: skip
        return
    name = settings.compiler.name
    known = plugins.compilers()
    if name not in known:
        yield Finding("compiler", State.WRONG, f"there is no compiler {name!r}", f"one of {', '.join(sorted(known))}")
        return
    if not probe:
        offline = name == "rules"
        sentence = f"{name}, which works offline" if offline else f"{name}; --probe asks it"
        yield Finding("compiler", State.GOOD, sentence)
        return
    task = (
        Workbench.open().fence(compiler=name).begin(PersonMessage("Email the report to ann@example.com"), task="probe")
    )
    if task.policy.source is PolicySource.FALLBACK:
        why = "; ".join(f"{part.what}: {part.why}" for part in task.dropped) or "no usable answer"
        yield Finding("compiler", State.WRONG, f"{name} failed: {why}", "until it answers, tasks only read")
    else:
        yield Finding("compiler", State.GOOD, f"{name} answered")


def _fence() -> Findings:
    """The configured fence blocks what is forbidden: in memory, so that no task and no line is left behind."""
    fence = Workbench.open().fence()
    fence.begin(_BANNED, task="canary", host=HostFacts())
    decision = fence.check("canary", *_SEND)
    if decision.enforced is Verdict.BLOCK:
        yield Finding("fence", State.GOOD, "a forbidden call is blocked")
    else:
        yield Finding("fence", State.WRONG, f"a forbidden call is {decision.enforced}", "do not rely on this fence")


def _adapters() -> Findings:
    for info in installed():
        yield _wrong("adapters", info) if isinstance(info, PluginError) else _adapter(info)


def _adapter(info: AdapterInfo) -> Finding:
    """Return what became of an adapter's own canary."""
    name = f"{info.name} ({info.distribution} {_version(info.distribution)})"
    if not info.canary:
        return Finding("adapters", State.NOTE, f"{name}: brings no canary, so only its own tests can tell")
    module, _, attribute = info.canary.partition(":")
    answers: list[object] = []
    errors: list[str] = []

    def ask() -> None:
        try:
            answers.append(getattr(import_module(module), attribute)())
        except BaseException as error:  # noqa: BLE001  (whatever a foreign adapter raises)
            errors.append(f"{type(error).__name__}: {error}")

    worker = threading.Thread(target=ask, daemon=True)
    worker.start()
    worker.join(_CANARY_SECONDS)
    good = Finding("adapters", State.GOOD, f"{name}: its forbidden call did not run")
    if answers == [False]:
        return good
    if answers:
        return replace(
            good, state=State.WRONG, sentence=f"{name}: its forbidden call ran", hint=f"do not use {info.name}"
        )
    why = errors[0] if errors else f"no answer within {_CANARY_SECONDS:g} seconds"
    return replace(good, state=State.WRONG, sentence=f"{name}: its canary failed: {why}", hint="reinstall it")


def _without_password(url: str) -> str:
    head, at, tail = url.rpartition("@")
    return f"{head.partition('://')[0]}://…@{tail}" if at else url


def _number(things: tuple[str, ...], name: str) -> str:
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"
