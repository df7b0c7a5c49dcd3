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
from pathlib import Path

from agentsfence_core._opening import catalogue_of
from agentsfence_core._world import home_folder, look_up_paths
from agentsfence_core.classification.catalogue import Catalogue
from agentsfence_core.classification.classifier import classify
from agentsfence_core.fence import Fence
from agentsfence_core.model import Action, HostFacts, ToolCall
from agentsfence_core.plugins import Plugins, load_plugins
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
    now: float
    _settings: dict[str, Settings] = field(default_factory=dict)
    _catalogues: dict[str, Catalogue] = field(default_factory=dict)

    @classmethod
    def open(cls) -> Workbench:
        """Return a workbench as the settings say."""
        return cls._of(load_settings(), os.environ.get("HOME") or home_folder())

    @classmethod
    def without_settings(cls, home: str) -> Workbench:
        """Return a workbench on built-in defaults alone: nobody's settings are read."""
        return cls._of(Settings(), home)

    @classmethod
    def _of(cls, settings: Settings, home: str) -> Workbench:
        plugins = load_plugins(settings)
        return cls(settings, plugins, catalogue_of(settings, plugins), home, time.time())

    def classify(self, call: ToolCall) -> Action:
        """Return what a call can do, lexically."""
        return classify(call, self.catalogue)

    def fence(
        self,
        overrides: Mapping[str, object],
        tools: Sequence[object] = (),
        *,
        compiler: str | None = None,
        look_up: bool = False,
    ) -> Fence:
        """Return a fence that forgets everything when it is gone. Its clock stands still, so that runs are alike.

        ``overrides`` are settings on top of the configured ones; ``tools`` are what the host offers.
        """
        settings = self._settled(overrides)
        if compiler is not None:
            settings = replace(settings, compiler=replace(settings.compiler, name=compiler))
        return Fence(
            settings=settings,
            store=MemoryStore(),
            catalogue=self._extended(settings, tools),
            pipeline=self.plugins.pipeline(),
            clock=lambda: self.now,
            look_up=look_up_paths if look_up else None,
        )
