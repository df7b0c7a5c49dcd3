"""Opening a fence: settings, plugins, store, compiler and log wired together, or a fence that blocks everything."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentsfence_core._checker import fault
from agentsfence_core.classification.targets.recipients import canonical_recipient
from agentsfence_core.errors import FenceError, SettingsError
from agentsfence_core.fence import Fence
from agentsfence_core.model import Decision, ReasonCode, ToolCall

if TYPE_CHECKING:
    from agentsfence_core.classification.catalogue import Catalogue
    from agentsfence_core.plugins import Plugins
    from agentsfence_core.ports import ToolExample, ToolMapping
    from agentsfence_core.settings import Settings


def open_fence(
    kind: type[Fence],
    source: str | Path | Mapping[str, object] | None,
    home: Path | None = None,
    host_places: tuple[str, ...] = (),
) -> Fence:
    """Return a fence as the settings say. Raises a `FenceError` that names what is wrong and what to do.

    ``home`` is the folder of settings and state where the host has one of its own. ``host_places`` are folders and
    files of the host, absolute, that no call may change.
    """
    from agentsfence_core.audit import AuditLog  # noqa: PLC0415
    from agentsfence_core.plugins import load_plugins  # noqa: PLC0415
    from agentsfence_core.settings import load_settings  # noqa: PLC0415

    environ = os.environ if home is None else {**os.environ, "AGENTSFENCE_HOME": str(home)}
    settings = replace(load_settings(source, environ), host_places=host_places)
    plugins = load_plugins(settings)
    return kind(
        settings=settings,
        store=plugins.open_store(settings.store),
        catalogue=_catalogue(settings, plugins),
        pipeline=plugins.pipeline(),
        audit=AuditLog(settings.audit_path, notify=plugins.emit) if settings.audit_path else None,
        plugins=plugins,
    )


def _catalogue(settings: Settings, plugins: Plugins) -> Catalogue:
    """Return the built-in catalogue with the user's own rows and the plugins'."""
    from agentsfence_core.classification.catalogue import builtin  # noqa: PLC0415

    rows = plugins.mappings()
    catalogue = builtin().extended(settings.tools, rows) if settings.tools or rows else builtin()
    for place, row in enumerate(settings.tools):
        for number, example in enumerate(row.examples):
            _check_example(catalogue, row, example, f"tools[{place}].examples[{number}]")
    return catalogue


def _check_example(catalogue: Catalogue, row: ToolMapping, example: ToolExample, field: str) -> None:
    """Raise `SettingsError` where a call is read in another way than its author expects."""
    from agentsfence_core.classification.classifier import classify  # noqa: PLC0415

    action = classify(ToolCall(example.tool or row.match, example.args), catalogue)
    read = {"risk": action.risk.value, "capability": action.capability}
    wanted = {"risk": example.risk, "capability": example.capability}
    for name, value in wanted.items():
        if value and value != read[name]:
            raise SettingsError(f"{field}: {name} is {read[name]}, not {value}", hint="change the row or the example")
    reached = {party for effect in action.effects for party in effect.recipients}
    missing = sorted({canonical_recipient(party) for party in example.recipients} - reached)
    if missing:
        raise SettingsError(
            f"{field}: {missing[0]} is not among its recipients", hint="name the argument that holds it"
        )


class BlockingFence:
    """The fence that could not start: every call is BLOCK with the reason and the repair (how it works)."""

    def __init__(self, error: FenceError) -> None:
        """Keep why the fence could not start."""
        self.error = error

    def check(self, task: str, tool: str, args: Mapping[str, object], **_: object) -> Decision:
        """Return BLOCK."""
        del task, tool, args
        return fault(ReasonCode.SETTINGS_FAULT, f"AgentsFence could not start: {self.error}")


def open_or_block(
    settings: str | Path | Mapping[str, object] | None = None,
    *,
    home: Path | None = None,
    host_places: tuple[str, ...] = (),
) -> Fence | BlockingFence:
    """Return the configured fence, or one that blocks every call where it cannot start. For adapters.

    ``home`` and ``host_places`` as in `open_fence`.
    """
    try:
        return open_fence(Fence, settings, home, host_places)
    except FenceError as error:
        return BlockingFence(error)
    except Exception as error:  # noqa: BLE001  (the host boundary)
        return BlockingFence(FenceError(f"{type(error).__name__}: {error}"))
