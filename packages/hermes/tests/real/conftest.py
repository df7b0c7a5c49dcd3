"""A Hermes for each test, and no way out of this machine for any of them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

# Hermes freezes some of these when it is first imported, so they are set before any test.
os.environ["HERMES_DISABLE_LAZY_INSTALLS"] = "1"
os.environ["HERMES_HOME"] = tempfile.mkdtemp(prefix="hermes-home-")
for _name in [name for name in os.environ if name.endswith("_API_KEY") or name.startswith("HERMES_SESSION_")]:
    del os.environ[_name]

from packages.hermes.tests.real.world import World  # noqa: E402


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Hermes leaves pipes and sockets to the garbage collector; that is not for us to mend."""
    for item in items:
        if "real" in item.path.parts:
            item.add_marker(pytest.mark.integration)
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    import model_tools  # noqa: F401  (the registry and the approval gate are there before they are cleared)
    from tools import approval, terminal_tool

    for name in ("HERMES_YOLO_MODE", "HERMES_INTERACTIVE", "HERMES_GATEWAY_SESSION", "HERMES_EXEC_ASK",
                 "HERMES_CRON_SESSION", "HERMES_KANBAN_TASK", "TERMINAL_CWD", "TERMINAL_ENV"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    approval._session_approved.clear()
    approval._permanent_approved.clear()
    terminal_tool.set_approval_callback(None)
    made = World(tmp_path, monkeypatch)
    for tool in ("send_email", "read_thing"):
        made.tool(f"mcp__mail__{tool}")
    yield made
    made.close()
    terminal_tool.set_approval_callback(None)
