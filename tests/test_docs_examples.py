"""Every example of the documentation runs, and shows what the page says that it shows.

A ``console`` block holds commands after ``$`` and, below each, parts of its output: each line must occur in the output
in this order. A ``python`` block is executed. A ``yaml`` block titled ``policy.yaml`` or ``settings.yaml`` is loaded.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from agentsfence_core.policy_file import load_policy
from agentsfence_core.settings import load_settings

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md")] + sorted(
    (ROOT / "docs").rglob("*.md")
)
NOT_RUN = ("pip ", "python -m pip", "git ", "uv run nox", "uv sync", "hermes ", "agentsfence hermes")
"""Commands that install or check the repository itself, or need a Hermes, which has tests of its own."""
_BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    kind: str
    title: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(kind: str, title: str = "") -> list[Block]:
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in _BLOCK.finditer(text):
            block = Block(page, text.count("\n", 0, match.start()) + 1, match[1], match[2].strip(), match[3])
            # A block that shows a file of docs/examples is that file: it has a test of its own.
            if block.kind == kind and title in block.title and not block.text.startswith("--8<--"):
                found.append(block)
    return found


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the documentation in it, a home of its own and no settings."""
    shutil.copytree(ROOT / "docs" / "examples", tmp_path / "docs" / "examples")
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("AGENTSFENCE_HOME", str(tmp_path / "home" / "fence"))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("OPENROUTER_API_KEY", "AGENTSFENCE_PRESET", "AGENTSFENCE_STORE", "AGENTSFENCE_COMPILER"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def commands(block: Block) -> list[tuple[str, list[str]]]:
    """Return each command with the lines that the page shows below it."""
    found: list[tuple[str, list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.strip() and found:
            found[-1][1].append(line.strip())
    return found


@pytest.mark.parametrize("block", blocks("console"), ids=str)
def test_commands_show_what_the_page_shows(block: Block, place: Path) -> None:
    code = 0
    for command, shown in commands(block):
        if command.startswith(NOT_RUN):
            continue
        line = command.replace("$?", str(code)).replace("uv run agentsfence", "agentsfence")
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, cwd=place, timeout=60)
        code = done.returncode
        output = done.stdout + done.stderr
        assert "Traceback" not in output, output
        assert code in {0, 3, 4} or shown, f"{command} ends with {code}: {output}"
        place_in_output = 0
        for part in shown:
            place_in_output = output.find(part, place_in_output)
            assert place_in_output >= 0, f"{command} does not show {part!r} but:\n{output}"


@pytest.mark.parametrize("block", blocks("python"), ids=str)
def test_python_runs(block: Block, place: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", block.text],
        capture_output=True,
        text=True,
        check=False,
        cwd=place,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("block", blocks("yaml", "policy.yaml"), ids=str)
def test_policies_load(block: Block) -> None:
    assert load_policy(block.text).purpose


@pytest.mark.parametrize("block", blocks("yaml", "settings.yaml"), ids=str)
def test_settings_load(block: Block, place: Path) -> None:
    home = place / "home" / "fence"
    home.mkdir(mode=0o700)
    (home / "settings.yaml").write_text(block.text, encoding="utf-8")
    assert load_settings(None, os.environ).home == home


def test_a_policy_printed_in_the_guide_is_the_file_that_it_names() -> None:
    page = (ROOT / "docs" / "writing-a-policy.md").read_text(encoding="utf-8")
    assert (ROOT / "docs" / "examples" / "weekly-report.yaml").read_text(encoding="utf-8") in page


def test_there_are_examples_to_run() -> None:
    assert len(blocks("console")) > 10
    assert blocks("python")
    assert blocks("yaml", "policy.yaml")
    assert blocks("yaml", "settings.yaml")
