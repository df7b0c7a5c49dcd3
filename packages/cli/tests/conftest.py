"""A home of its own for every test of the command."""

from __future__ import annotations

from pathlib import Path

import pytest
from packages.cli.tests.running import Run, runner


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The account's home: empty, with no settings in it. The current folder is another one."""
    home, here = tmp_path / "home", tmp_path / "here"
    home.mkdir(mode=0o700)
    here.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("AGENTSFENCE_HOME", str(home / "fence"))
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("OPENROUTER_API_KEY", "AGENTSFENCE_PRESET", "AGENTSFENCE_STORE", "AGENTSFENCE_COMPILER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(here)
    return home


@pytest.fixture
def run(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command: ``run("check", …, stdin=…)``."""
    return runner(capsys, monkeypatch)
