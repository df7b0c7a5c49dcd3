"""Fences for commands that keep nothing: the configured settings, plugins and catalogue, a store in memory, no log.

Rules of this file:

* Settings that cannot be read or must not be trusted end the command (DESIGN 9): nothing runs on defaults instead.
* Plugins are scanned once per process, never per line.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from agentsfence_core.classification.catalogue import Catalogue, builtin
from agentsfence_core.classification.classifier import classify
from agentsfence_core.fence import Fence
from agentsfence_core.model import Action, HostFacts, ToolCall
from agentsfence_core.plugins import Plugins, load_plugins
from agentsfence_core.ports import IntentPipeline
from agentsfence_core.settings import Settings, load_settings
from agentsfence_core.stores.memory import MemoryStore

_KEPT = 64  # settings and catalogues kept for sessions that give the same ones


@dataclass(slots=True)
class Workbench:
    """What all fences of one command share."""

    settings: Settings
    plugins: Plugins
    catalogue: Catalogue
    home: str
    """Home folder of the account that the tools act as."""
    now: float
    """The time of every fence: it stands still, so that one run is like the next."""
    _pipelines: list[IntentPipeline | None] = field(default_factory=list)
    _settled: dict[str, Settings] = field(default_factory=dict)
    _catalogues: dict[str, Catalogue] = field(default_factory=dict)

    @classmethod
    def open(cls) -> Workbench:
        """Return a workbench as the settings say."""
        return cls._of(load_settings(None, os.environ), account_home())

    @classmethod
    def without_settings(cls, folder: Path) -> Workbench:
        """Return a workbench on built-in defaults alone, at home in a folder: nobody's settings are read."""
        environ = {"AGENTSFENCE_HOME": str(folder / ".agentsfence")}
        return cls._of(load_settings(None, environ, read_user_file=False), str(folder))

    @classmethod
    def _of(cls, settings: Settings, home: str) -> Workbench:
        plugins = load_plugins(settings)
        return cls(settings, plugins, _catalogue(settings, plugins), home, time.time())

    def classify(self, call: ToolCall) -> Action:
        """Return what a call can do, lexically."""
        return classify(call, self.catalogue)

    def fence(
        self,
        *,
        overrides: Mapping[str, object] | None = None,
        tools: Sequence[Mapping[str, object]] = (),
        compiler: str | None = None,
        look_up: bool = False,
    ) -> Fence:
        """Return a fence that forgets everything when it is gone, and writes no log.

        ``overrides`` are settings on top of the configured ones, ``tools`` what the host offers. Without ``look_up``
        paths are lexical.
        """
        settings = self._with(overrides) if overrides else self.settings
        catalogue = self.catalogue if settings is self.settings else _catalogue(settings, self.plugins)
        if compiler is not None:
            settings = replace(settings, compiler=replace(settings.compiler, name=compiler))
        ports: dict[str, Any] = {} if look_up else {"look_up": None}
        return Fence(
            settings=settings,
            store=MemoryStore(),
            catalogue=self._extended(catalogue, tools) if tools else catalogue,
            pipeline=self._pipeline(),
            plugins=self.plugins,
            clock=lambda: self.now,
            **ports,
        )

    def _pipeline(self) -> IntentPipeline | None:
        """Return what turns words into policies; loaded once, for the first fence."""
        if not self._pipelines:
            self._pipelines.append(self.plugins.pipeline())
        return self._pipelines[0]

    def _with(self, overrides: Mapping[str, object]) -> Settings:
        """Return the settings of sessions that give these; read once."""
        key = json.dumps(overrides, sort_keys=True)
        if key not in self._settled:
            _make_room(self._settled)
            self._settled[key] = load_settings(overrides, os.environ)
        return self._settled[key]

    def _extended(self, catalogue: Catalogue, tools: Sequence[Mapping[str, object]]) -> Catalogue:
        """Return the catalogue with what a host offers; a host offers the same in session after session."""
        if catalogue is not self.catalogue:
            return catalogue.extended((), (), registered=tools)
        key = json.dumps(tools, sort_keys=True)
        if key not in self._catalogues:
            _make_room(self._catalogues)
            self._catalogues[key] = catalogue.extended((), (), registered=tools)
        return self._catalogues[key]


def _catalogue(settings: Settings, plugins: Plugins) -> Catalogue:
    """Return the built-in catalogue with the user's own rows and the plugins'."""
    rows = plugins.mappings()
    return builtin().extended(settings.tools, rows) if settings.tools or rows else builtin()


def _make_room(kept: dict[str, Settings] | dict[str, Catalogue]) -> None:
    if len(kept) >= _KEPT:
        kept.clear()


def account_home() -> str:
    """Return the home folder of this account."""
    return os.environ.get("HOME") or str(Path.home())


def person_host(
    workdir: str | None,
    workspace: str | None,
    *,
    shared: bool = False,
    human_present: bool = True,
    auto_approves: bool = False,
) -> HostFacts:
    """Return the facts of a program at a person's terminal: this account's home, this folder, somebody to ask."""
    return HostFacts(
        home=account_home(),
        workdir=absolute(workdir or "."),
        workspace=absolute(workspace) if workspace else None,
        shared=shared,
        human_present=human_present,
        auto_approves=auto_approves,
    )


def absolute(path: str) -> str:
    """Return an absolute path as text; one of another system, such as ``C:/x``, stays as it was written."""
    if PureWindowsPath(path).is_absolute() or PurePosixPath(path).is_absolute():
        return path
    return str(Path(path).absolute())
