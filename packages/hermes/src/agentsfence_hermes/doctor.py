"""Whether a HERMES_HOME is fenced: what its files say, and what a Hermes that is started on it does."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from agentsfence_core import SettingsError
from agentsfence_hermes import config_file

GROUP = "hermes_agent.plugins"
OURS = "agentsfence-hermes"
_PATIENCE = 120  # seconds that a start of Hermes may take


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    what: str
    good: bool
    detail: str = ""
    """What is wrong and what to do, or what to know."""


def hermes_version() -> str:
    """Return the version of Hermes Agent beside us, or an empty text."""
    try:
        return metadata.version("hermes-agent")
    except metadata.PackageNotFoundError:
        return ""


def default_home() -> Path:
    """Return the HERMES_HOME of this account, as Hermes finds it."""
    if named := os.environ.get("HERMES_HOME", "").strip():
        return Path(named).expanduser()
    return Path.home() / ".hermes"


def enabled(home: Path) -> bool:
    """Whether the configuration of this HERMES_HOME enables the plugin."""
    path = home / "config.yaml"
    return path.exists() and config_file.enabled_in(path.read_text(encoding="utf-8"))


def strangers() -> list[str]:
    """Return other distributions that would load under our name, or bring the same command and folder."""
    found = {
        entry.dist.name
        for entry in metadata.entry_points(group=GROUP, name=config_file.NAME)
        if entry.dist is not None and entry.dist.name.lower().replace("_", "-") != OURS
    }
    with contextlib.suppress(metadata.PackageNotFoundError):
        found.add(metadata.distribution(config_file.NAME).name)
    return sorted(found)


def examine(home: Path) -> list[Finding]:
    """Return all findings, the decisive one (a call that must be blocked) among them."""
    version = hermes_version()
    found = [
        Finding("Hermes Agent is installed beside this plugin", bool(version) and find_spec("model_tools") is not None,
                version or "install agentsfence-hermes into the environment that Hermes runs in"),
        Finding("no other package takes this plugin's name", not strangers(),
                f"uninstall {', '.join(strangers())}" if strangers() else ""),
        _enabled(home),
        Finding("plugins are not switched off", os.environ.get("HERMES_SAFE_MODE", "") not in {"1", "true", "yes"},
                "HERMES_SAFE_MODE is set: Hermes loads no plugins; unset it"),
        Finding("Hermes does not answer questions by itself", not os.environ.get("HERMES_YOLO_MODE"),
                "HERMES_YOLO_MODE is set: questions are answered with yes; blocks hold"),
    ]  # fmt: skip
    if found[0].good:
        found += _canary(home)
    return [finding if not finding.good or finding is found[0] else Finding(finding.what, True) for finding in found]


def _enabled(home: Path) -> Finding:
    what = f"the plugin is enabled in {home / 'config.yaml'}"
    try:
        return Finding(what, enabled(home), "run: agentsfence hermes install")
    except SettingsError as error:
        return Finding(what, False, str(error))


def _canary(home: Path) -> list[Finding]:
    environment = {**os.environ, "HERMES_HOME": str(home), "HERMES_DISABLE_LAZY_INSTALLS": "1"}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "agentsfence_hermes.canary"],
            env=environment, capture_output=True, text=True, timeout=_PATIENCE, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        seen = json.loads(done.stdout.strip().splitlines()[-1])
    except (subprocess.TimeoutExpired, ValueError, IndexError, OSError) as error:
        return [Finding("a Hermes that is started now loads the plugin", False, f"it did not start: {error}")]
    if not isinstance(seen, dict):
        return [Finding("a Hermes that is started now loads the plugin", False, "it answered nonsense")]
    why = str(seen.get("why") or seen.get("error") or "")
    not_ours = "another plugin has this name" if seen.get("other_plugin_of_this_name") else why or "enable it"
    loaded = Finding("a Hermes that is started now loads the plugin", bool(seen.get("loaded")), not_ours)
    return [
        loaded,
        Finding("the fence could start", not why, why),
        Finding("its checks are first and its second look is last", bool(seen.get("first")), "see Hermes' log"),
        Finding("a call that nobody asked for was blocked", bool(seen.get("blocked")) and not seen.get("ran"),
                "the canary's call RAN: nothing is protected" if seen.get("ran") else str(seen.get("answer", ""))),
        *(Finding("Hermes is configured as the fence can cover it", False, text) for text in seen.get("warnings", ())),
    ]  # fmt: skip
