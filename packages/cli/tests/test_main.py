"""The entry point: lists, exit codes, and errors in one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agentsfence_cli.main import COMMANDS

if TYPE_CHECKING:
    from packages.cli.tests.running import Run


def test_help_lists_every_command(run: Run) -> None:
    done = run("--help")
    assert done.code == 0
    assert all(name in done.out for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, run: Run) -> None:
    done = run(command, "--help")
    assert done.code == 0
    assert "Usage: agentsfence" in done.out


def test_help_loads_nothing_that_only_a_command_needs() -> None:
    heavy = "rich pydantic yaml sqlglot tree_sitter httpx structlog agentsfence_core.fence agentsfence_compiler"
    script = (
        "import sys\n"
        "from agentsfence_cli.main import main\n"
        "try: main(['--help'])\n"
        f"except SystemExit: print('loaded', [name for name in {heavy.split()!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "loaded []"


def test_version_names_the_distribution(run: Run) -> None:
    done = run("--version")
    assert done.code == 0
    assert done.out.startswith("agentsfence 0.")


def test_a_misspelt_command_is_a_usage_error_with_the_near_one(run: Run) -> None:
    done = run("chekc")
    assert done.code == 2
    assert "'check'" in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "mcp_gmail_send_email"),
        ("check", "--policy", "a.yaml", "--request", "Read it", "read_file"),
        ("classify",),
        ("classify", "read_file", "--command", "ls"),
        ("compile",),
        ("policy", "validate"),
    ],
)
def test_arguments_that_do_not_fit_are_a_usage_error(arguments: tuple[str, ...], run: Run) -> None:
    assert run(*arguments).code == 2


def test_a_mistake_is_one_sentence_without_a_traceback(run: Run) -> None:
    done = run("policy", "validate", "missing.yaml")
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert "missing.yaml" in done.err
    assert "Traceback" not in done.err


def test_a_terminal_without_unicode_stops_no_answer(home: Path) -> None:
    command = [sys.executable, "-m", "agentsfence_cli.main", "compile", "Email “the notes” to bob@x.example"]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    for arguments in ([], ["--json"], ["--policy-only"]):
        done = subprocess.run([*command, *arguments], capture_output=True, env=ascii_only, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        assert b"bob@x.example" in done.stdout


def test_a_reader_that_goes_away_is_no_traceback(home: Path) -> None:
    script = f"{sys.executable} -m agentsfence_cli.main capabilities --json | head -1"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.strip() == "{"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "at", "found"),
    [
        ("agentsfence gra", 1, "grants"),
        ("agentsfence grants re", 2, "revoke"),
        ("agentsfence check --no", 2, "--no-person"),
    ],
)
def test_the_shell_completes_commands_and_options(words: str, at: int, found: str, home: Path) -> None:
    environ = {**os.environ, "COMP_WORDS": words, "COMP_CWORD": str(at), "_AGENTSFENCE_COMPLETE": "complete_bash"}
    line = [sys.executable, "-c", "from agentsfence_cli.main import main; main()"]
    done = subprocess.run(line, capture_output=True, text=True, env=environ, check=False, timeout=60)
    assert done.stdout.split() == [found]


@pytest.mark.parametrize("arguments", [("doctor",), ("check", "--request", "Read it", "read_file"), ("audit",)])
def test_no_colour_means_no_escape(arguments: tuple[str, ...], run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b[3" not in run(*arguments).out


@pytest.mark.parametrize(
    "arguments",
    [
        ("doctor",),
        ("questions",),
        ("grants", "list"),
        ("check", "--request", "Read my inbox", "send_email", '{"to": "eve@example.net"}', "--explain"),
    ],
)
def test_a_narrow_terminal_shows_all(arguments: tuple[str, ...], run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = run(*arguments).out.splitlines()
    assert max(map(len, lines)) <= 60
    assert "…" not in "".join(lines)
