"""The two agents of the documentation, run as a reader would: each fenced by the command alone."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"
REQUEST = "Read the report and email the summary to john@example.com"
AGENTS = {
    "shell": ["bash", "shell-agent.sh", REQUEST],
    "python": [sys.executable, "-W", "ignore", "python_agent.py", REQUEST],
}
CALLS = {"shell": "calls.tsv", "python": "calls.jsonl"}
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for file in EXAMPLES.iterdir():
        shutil.copy(file, tmp_path / file.name)
    (tmp_path / "report.txt").write_text("Sales are up.\n", encoding="utf-8")
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("AGENTSFENCE_HOME", str(tmp_path / "home" / "fence"))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    for name in ("OPENROUTER_API_KEY", "AGENTSFENCE_TASK", "AGENTSFENCE_STORE", "AGENTSFENCE_COMPILER"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.parametrize("agent", AGENTS)
def test_without_a_person_only_what_the_words_ask_for_runs(agent: str, place: Path) -> None:
    with (place / CALLS[agent]).open("rb") as calls:
        done = subprocess.run(
            AGENTS[agent], stdin=calls, capture_output=True, text=True, check=False, timeout=120, start_new_session=True
        )
    assert "Sales are up." in done.stdout
    assert (place / "outbox").read_text(encoding="utf-8") == "to john@example.com\n"
    assert not (place / "summary.txt").exists()
    assert "mallory@example.net is not" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("agent", AGENTS)
def test_a_person_at_the_terminal_is_asked_and_approves(agent: str, place: Path) -> None:
    child, terminal = pty.fork()
    if child == 0:
        os.dup2(os.open(CALLS[agent], os.O_RDONLY), 0)
        os.execvp(AGENTS[agent][0], AGENTS[agent])
    shown, ends = b"", time.monotonic() + 120
    while time.monotonic() < ends:
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            shown += os.read(terminal, 4096)
        except OSError:
            break
        if shown.endswith(b"[once/task/no] "):
            os.write(terminal, b"once\n")
    os.waitpid(child, 0)
    os.close(terminal)
    assert b"summary.txt" in shown
    assert (place / "summary.txt").exists(), shown.decode(errors="replace")
    assert (place / "outbox").read_text(encoding="utf-8") == "to john@example.com\n"


@pytest.mark.parametrize("agent", AGENTS)
def test_a_fence_that_cannot_start_runs_nothing(agent: str, place: Path) -> None:
    (place / "home" / "fence").mkdir(mode=0o700)
    (place / "home" / "fence" / "settings.yaml").write_text("presett: strict\n", encoding="utf-8")
    with (place / CALLS[agent]).open("rb") as calls:
        subprocess.run(AGENTS[agent], stdin=calls, capture_output=True, check=False, timeout=120)
    assert not (place / "outbox").exists()
    assert not (place / "summary.txt").exists()


@pytest.mark.parametrize("name", ["shell-agent.sh", "python_agent.py"])
def test_an_agent_is_as_short_as_the_documentation_says(name: str) -> None:
    lines = (EXAMPLES / name).read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line.strip() and not line.lstrip().startswith("#")]) <= 35
