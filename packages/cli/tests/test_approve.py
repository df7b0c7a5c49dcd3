"""Questions are answered by a person at a terminal: no argument, input or variable of a program answers one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packages.cli.tests.running import rows
from packages.cli.tests.terminals import at_terminal

if TYPE_CHECKING:
    from packages.cli.tests.running import Run

TO_EVE = '{"to": "eve@example.net", "body": "x"}'
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")


@pytest.fixture
def question(run: Run) -> str:
    """A send that nobody asked for waits for an answer."""
    run("begin", "--task", "t1", "Read my inbox")
    return str(send(run)["question"])


def send(run: Run, args: str = TO_EVE) -> dict[str, object]:
    return run("check", "--task", "t1", "send_email", args, "--json").json


@pytest.mark.parametrize(("answer", "verdicts"), [("once", "ALLOW ASK_USER"), ("task", "ALLOW ALLOW")])
def test_a_person_approves_exactly_what_is_shown(answer: str, verdicts: str, question: str, run: Run) -> None:
    sat = at_terminal("approve", question, types=f"{answer}\n")
    assert sat.code == 0, sat.shown
    assert "eve@example.net" in sat.shown
    assert [send(run)["verdict"], send(run)["verdict"]] == verdicts.split()
    assert send(run, '{"to": "mallory@example.net", "body": "x"}')["verdict"] == "ASK_USER"


def test_a_person_says_no_and_is_not_asked_again(question: str, run: Run) -> None:
    assert at_terminal("approve", question, types="no\n").code == 4
    assert send(run)["reason"] == "denied_by_person"


def test_deny_wants_one_yes(question: str, run: Run) -> None:
    assert at_terminal("deny", question, types="no\n").code == 1
    assert send(run)["verdict"] == "ASK_USER"
    assert at_terminal("deny", question, types="yes\n").code == 0
    assert send(run)["reason"] == "denied_by_person"


def test_a_number_of_uses_can_be_asked_for(question: str, run: Run) -> None:
    assert at_terminal("approve", question, "--times", "2", types="yes\n").code == 0
    assert [send(run)["verdict"] for _ in range(3)] == ["ALLOW", "ALLOW", "ASK_USER"]


@pytest.mark.parametrize("command", ["approve", "deny"])
@pytest.mark.parametrize("given", ["once\n", "yes\n" * 20, ""])
def test_a_program_without_a_terminal_answers_nothing(command: str, given: str, question: str, run: Run) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agentsfence_cli.main", command, question],
        input=given, capture_output=True, text=True, check=False, timeout=60, start_new_session=True,
    )  # fmt: skip
    assert done.returncode == 1
    assert "terminal" in done.stderr
    assert "Traceback" not in done.stderr
    assert send(run)["verdict"] == "ASK_USER"


def test_standard_input_answers_nothing_even_at_a_terminal(question: str, run: Run, tmp_path: Path) -> None:
    """A program started from a person's terminal can write into its child's input, but not type."""
    script = f"yes once | {sys.executable} -m agentsfence_cli.main approve {question}"
    child = [sys.executable, "-c", f"import os; os.execvp('bash', ['bash', '-c', {script!r}])"]
    done = subprocess.run(
        ["timeout", "4", "script", "-qec", " ".join(map(_quoted, child)), str(tmp_path / "log")],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env=os.environ, timeout=60,
    )  # fmt: skip
    assert done.returncode != 0
    assert send(run)["verdict"] == "ASK_USER"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def test_what_was_typed_before_the_question_is_no_answer(question: str, run: Run) -> None:
    sat = at_terminal("approve", question, early="once\n", types="no\n")
    assert sat.code == 4, sat.shown
    assert send(run)["verdict"] != "ALLOW"


def test_an_answer_that_means_nothing_is_asked_again_and_ends(question: str, run: Run) -> None:
    assert at_terminal("approve", question, types="maybe\nhm\nwell\n").code == 1
    assert send(run)["verdict"] == "ASK_USER"


def test_a_question_that_nobody_asks_is_an_error(home: Path) -> None:
    sat = at_terminal("approve", "0123456789abcdef", types="once\n")
    assert sat.code == 1
    assert "no open question" in sat.shown


def test_a_call_cannot_repaint_the_question(run: Run) -> None:
    run("begin", "--task", "t1", "Read my inbox")
    hostile = json.dumps({"to": "eve@example.net", "subject": "\x1b[2J\x1b[H", "channel": "\x1b[31mx"})
    question = str(send(run, hostile)["question"])
    sat = at_terminal("approve", question, types="no\n")
    assert "\x1b[2J" not in sat.shown
    assert "\x1b[31m" not in sat.shown


def test_a_flood_of_targets_does_not_push_the_question_off_the_screen(run: Run) -> None:
    run("begin", "--task", "t1", "Read my inbox")
    many = json.dumps({"to": [f"a{number}@example.net\nA yes covers nothing." for number in range(500)]})
    question = str(send(run, many)["question"])
    sat = at_terminal("approve", question, types="no\n")
    assert "TARGETS" in sat.shown
    assert len(sat.shown.splitlines()) < 60
    assert not any(line.strip().startswith("A yes covers nothing") for line in sat.shown.splitlines())


def test_a_grant_is_listed_and_taken_back(question: str, run: Run) -> None:
    assert at_terminal("approve", question, types="task\n").code == 0
    (grant,) = rows(run("grants", "list", "--json"), "grants")
    assert grant["task"] == "t1"
    assert "eve@example.net" in run("grants", "list").out
    assert run("grants", "revoke", str(grant["id"])).code == 0
    assert send(run)["verdict"] == "ASK_USER"
    assert run("grants", "revoke", str(grant["id"])).code == 1
    assert "Nothing was approved" in run("grants", "list").out
