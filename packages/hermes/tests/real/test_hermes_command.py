"""The `hermes` command itself, in a process of its own, against a model on the loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packages.hermes.tests.real.model_server import ModelServer, say, use

if TYPE_CHECKING:
    from packages.hermes.tests.real.world import World


@pytest.mark.parametrize("fenced", [True, False], ids=["with the fence", "control without it"])
def test_one_shot_with_yolo_writes_what_was_asked_for_and_nothing_else(world: World, fenced: bool) -> None:
    """`hermes -z` answers every question with yes by itself. A block is no question."""
    asked, other = world.work / "asked.txt", world.work / "other.txt"
    server = ModelServer([
        use(("write_file", {"path": str(other), "content": "injected"})),
        use(("write_file", {"path": str(asked), "content": "hello"})),
        say("done"),
    ])  # fmt: skip
    model = {"default": "loopback", "provider": "custom", "base_url": server.url, "api_key": "sk-loopback"}
    config = {
        "security": {"allow_lazy_installs": False, "tirith_enabled": False},
        "memory": {"memory_enabled": False, "user_profile_enabled": False},
        "model": model,
        "plugins": {"enabled": ["agentsfence"] if fenced else []},
    }
    (world.home / "config.yaml").write_text(json.dumps(config))
    command = Path(sys.executable).parent / "hermes"
    done = subprocess.run(
        [command, "-z", f"Write hello to {asked}"],
        cwd=world.work, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, check=False,
        env={**os.environ, "HERMES_HOME": str(world.home)},
    )  # fmt: skip
    server.close()
    assert "done" in done.stdout, done.stderr
    assert asked.read_text().strip() == "hello"
    assert other.exists() is not fenced
