"""One fence for each profile: settings and state in the ``agentsfence`` folder of its HERMES_HOME."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path

from agentsfence_core import BlockingFence, Fence, open_or_block
from agentsfence_hermes import host

FOLDER = "agentsfence"


def settings_environment(folder: Path) -> Mapping[str, str]:
    """Return the environment in which a profile's settings are read."""
    return {**os.environ, "AGENTSFENCE_HOME": str(folder / FOLDER)}


class Fences:
    """The fences of this process by profile, opened at their first use. Thread-safe."""

    def __init__(self) -> None:
        """Begin with none."""
        self._lock = threading.Lock()
        self._open: dict[Path, Fence | BlockingFence] = {}

    def current(self) -> Fence | BlockingFence:
        """Return the fence of the profile that this code runs for; one that could not start blocks every call."""
        return self.of(host.home())

    def of(self, folder: Path) -> Fence | BlockingFence:
        """Return the fence of a profile."""
        found = self._open.get(folder)
        if isinstance(found, Fence):
            return found
        with self._lock:
            found = self._open.get(folder)
            if not isinstance(found, Fence):
                # A fence that could not start is tried again: its person may have mended the settings.
                found = open_or_block(home=folder / FOLDER, host_places=host.host_places(folder))
                self._open[folder] = found
        return found

    def close(self) -> None:
        """Every fence is closed; one that is needed again is opened again."""
        with self._lock:
            for fence in self._open.values():
                if isinstance(fence, Fence):
                    fence.close()
            self._open.clear()
