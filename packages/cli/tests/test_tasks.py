"""A program that runs the command before each call: begin, check, outcome, questions, grants, close."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packages.cli.tests.running import rows

if TYPE_CHECKING:
    from packages.cli.tests.running import Run

TO_JOHN = '{"to": "john@example.com", "body": "x"}'
TO_EVE = '{"to": "eve@example.net", "body": "x"}'
POLICY = """
purpose: one_mail
allow_external_writes: true
allowed_tools: [email.send]
tool_constraints:
  email.send: {allowed_recipients: [john@example.com], max_calls: 1}
"""


@pytest.fixture
def one_mail(run: Run, tmp_path: Path) -> str:
    """A task that may send one mail to John."""
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY, encoding="utf-8")
    assert run("begin", "--task", "t1", "--policy", str(file)).code == 0
    return "t1"


def check(run: Run, args: str, *more: str, tool: str = "send_email", task: str = "t1") -> dict[str, object]:
    return run("check", "--task", task, tool, args, "--json", *more).json


def test_a_message_begins_a_task_that_later_runs_know(run: Run) -> None:
    done = run("begin", "--task", "t1", "Email the report to john@example.com")
    assert done.code == 0
    assert "john@example.com" in done.out
    assert check(run, TO_JOHN)["verdict"] == "ALLOW"
    assert check(run, TO_EVE)["verdict"] == "BLOCK"
    assert check(run, TO_JOHN, task="t2")["verdict"] == "ASK_USER"


def test_the_task_may_stand_in_the_environment(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTSFENCE_TASK", "t9")
    assert run("begin", "Email the report to john@example.com").code == 0
    assert run("check", "send_email", TO_JOHN).code == 0
    assert run("check", "--request", "Read my inbox", "send_email", TO_JOHN).code == 3


def test_a_task_begins_once(run: Run) -> None:
    assert run("begin", "--task", "t1", "Read my inbox").code == 0
    again = run("begin", "--task", "t1", "Email eve@example.net")
    assert again.code == 1
    assert "amend" in again.err


def test_a_later_message_amends_and_a_ban_holds_at_once(run: Run) -> None:
    run("begin", "--task", "t1", "Email the report to john@example.com")
    amended = run("amend", "--task", "t1", "Do not send anything.", "--json").json
    assert amended["changed"] is True
    assert check(run, TO_JOHN)["reason"] == "prohibited"


def test_somebody_else_in_a_shared_chat_cannot_widen(run: Run) -> None:
    run("begin", "--task", "t1", "--sender", "ann", "Read my inbox")
    run("amend", "--task", "t1", "--sender", "bob", "Email the report to eve@example.net")
    assert check(run, TO_EVE)["verdict"] == "ASK_USER"


def test_a_message_may_come_on_standard_input(run: Run) -> None:
    done = run("begin", "--task", "t1", "-", "--json", stdin="Email the report to john@example.com")
    assert done.json["schema"] == "agentsfence.task/1"
    assert check(run, TO_JOHN)["verdict"] == "ALLOW"


def test_what_never_ran_is_given_back_and_what_failed_is_not(run: Run, one_mail: str) -> None:
    first = check(run, TO_JOHN)
    assert check(run, TO_JOHN)["verdict"] != "ALLOW"
    assert run("outcome", "--task", one_mail, str(first["ticket"]), "not_run").code == 0
    second = check(run, TO_JOHN)
    assert second["verdict"] == "ALLOW"
    assert run("outcome", "--task", one_mail, str(second["ticket"]), "failed").code == 0
    assert check(run, TO_JOHN)["verdict"] != "ALLOW"


def test_a_key_makes_a_replay_the_same_call(run: Run, one_mail: str) -> None:
    first = check(run, TO_JOHN, "--key", "run-1")
    again = check(run, TO_JOHN, "--key", "run-1")
    assert (first["verdict"], again["verdict"]) == ("ALLOW", "ALLOW")
    assert first["ticket"] == again["ticket"]
    assert check(run, TO_JOHN, "--key", "run-2")["verdict"] != "ALLOW"


def test_an_outcome_that_does_not_exist_is_a_usage_error(run: Run) -> None:
    assert run("outcome", "--task", "t1", "abc", "fine").code == 2


def test_a_question_waits_and_says_what_a_yes_would_cover(run: Run) -> None:
    run("begin", "--task", "t1", "Read my inbox")
    asked = check(run, TO_EVE)
    (question,) = rows(run("questions", "--json"), "questions")
    assert question["id"] == asked["question"]
    assert question["task"] == "t1"
    assert "eve@example.net" in str(question["covers"])
    shown = run("questions").out
    assert "eve@example.net" in shown
    assert "does not cover" in shown


def test_where_nobody_is_there_the_call_does_not_wait(run: Run) -> None:
    run("begin", "--task", "t1", "Read my inbox")
    done = run("check", "--task", "t1", "send_email", TO_EVE, "--no-person")
    assert done.code in {3, 4}
    assert "write" in done.out.lower()


def test_a_closed_task_only_reads(run: Run) -> None:
    run("begin", "--task", "t1", "Email the report to john@example.com")
    assert run("close", "--task", "t1").code == 0
    assert check(run, TO_JOHN)["verdict"] == "ASK_USER"
    gone = run("close", "--task", "t2")
    assert gone.code == 1
    assert "t2" in gone.err


def test_the_policy_of_a_task_is_shown(run: Run) -> None:
    run("begin", "--task", "t1", "Email the report to john@example.com")
    assert "john@example.com" in run("policy", "show", "--task", "t1").out
    shown = run("policy", "show", "--task", "t1", "--json").json
    assert shown["schema"] == "agentsfence.policy/1"
    assert "Nobody began" in run("policy", "show", "--task", "t2").out


def test_explaining_charges_and_asks_nothing(run: Run, one_mail: str) -> None:
    for _ in range(3):
        done = run("check", "--task", one_mail, "send_email", TO_JOHN, "--explain")
        assert done.code == 0
    assert "argument_constraints" in done.out
    assert run("check", "--task", one_mail, "send_email", TO_EVE, "--explain").code == 4
    assert run("questions", "--json").json["questions"] == []
    assert check(run, TO_JOHN)["verdict"] == "ALLOW"


def test_the_explanation_has_every_check(run: Run) -> None:
    found = run("check", "--request", "Read my inbox", "send_email", TO_EVE, "--explain", "--json").json
    checks = found["checks"]
    assert isinstance(checks, list)
    assert [entry["number"] for entry in checks] == list(range(1, 14))
    assert any(entry["outcomes"] for entry in checks)


def test_paths_of_another_system_stay_as_they_are_written(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(
        "purpose: x\nallow_local_writes: true\nallowed_tools: [file.write]\nallowed_paths: ['C:\\Users\\ann\\notes']\n",
        encoding="utf-8",
    )
    args = json.dumps({"path": "a.md", "content": "x"})
    for folder, code in (("C:\\Users\\ann\\notes", 0), ("C:\\Users\\ann\\other", 4)):
        assert run("check", "--policy", str(file), "write_file", args, "--workdir", folder).code == code


@pytest.mark.parametrize("command", ["begin", "amend", "outcome", "close"])
def test_a_task_must_be_named(command: str, run: Run) -> None:
    assert run(command, "x", "done").code == 2
