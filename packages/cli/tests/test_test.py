"""`agentsfence test`: people's own sessions, with the verdicts that they expect."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as Xml

import pytest
from packages.cli.tests.running import rows

if TYPE_CHECKING:
    from packages.cli.tests.running import Run

GOOD = """
sessions:
  - name: mail to John
    steps:
      - {user: "Email the report to john@example.com"}
      - {tool: send_email, args: {to: john@example.com}, expect: ALLOW}
      - {tool: send_email, args: {to: eve@example.net}, expect: STOPPED}
  - name: by a policy
    steps:
      - {policy: policy.yaml}
      - {tool: read_file, args: {path: a}, expect: ALLOW}
      - {tool: write_file, args: {path: a, content: x}, expect: ASK_USER}
"""
BAD = """
name: too much hope
steps:
  - user: "Summarize my inbox. Do not send anything."
  - {tool: send_email, args: {to: eve@example.net}, expect: ALLOW}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.yaml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "bad.yaml").write_text(BAD, encoding="utf-8")
    (tmp_path / "policy.yaml").write_text("purpose: x\nallowed_tools: [file.read]\n", encoding="utf-8")
    return tmp_path


def test_expectations_that_are_met_are_exit_code_0(run: Run, folder: Path) -> None:
    done = run("test", str(folder / "good.yaml"))
    assert done.code == 0
    assert "2 sessions, 4 expectations, no failed" in done.out


def test_a_missed_expectation_says_step_call_verdict_and_why(run: Run, folder: Path) -> None:
    done = run("test", str(folder / "good.yaml"), str(folder / "bad.yaml"))
    assert done.code == 1
    assert "FAIL" in done.out
    assert "steps[1] send_email: expected ALLOW, got BLOCK" in done.out
    assert "Do not send anything" in done.out


def test_json_and_junit_say_the_same(run: Run, folder: Path) -> None:
    report = folder / "report.xml"
    done = run("test", str(folder / "good.yaml"), str(folder / "bad.yaml"), "--json", "--junit", str(report))
    assert done.json["schema"] == "agentsfence.test/1"
    assert [row["passed"] for row in rows(done, "sessions")] == [True, True, False]
    suite = Xml.parse(report).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "0")
    (failure,) = suite.iter("failure")
    assert failure.get("message") == "ALLOW expected, BLOCK given"


def test_a_session_that_expects_nothing_proves_nothing(run: Run, folder: Path) -> None:
    (folder / "idle.yaml").write_text("steps:\n  - {user: Read my inbox}\n", encoding="utf-8")
    done = run("test", str(folder / "idle.yaml"))
    assert done.code == 1
    assert "expects nothing" in done.out


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("- 1\n", "mapping"),
        ("steps: {}\n", "steps"),
        ("stepz: []\n", "stepz"),
        ("sessions: 3\n", "sessions"),
        ("sessions: []\nstepz: 1\n", "stepz"),
        ("steps: [\n", "line"),
        ("steps:\n  - {policy: gone.yaml}\n", "gone.yaml"),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error_with_the_field(text: str, named: str, run: Run, folder: Path) -> None:
    (folder / "x.yaml").write_text(text, encoding="utf-8")
    done = run("test", str(folder / "x.yaml"))
    assert done.code == 1
    assert named in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("step", ["{tool: x, expect: MAYBE}", "{policy: {purposse: x}}", "{zorp: 1}"])
def test_a_step_that_cannot_be_played_fails_its_session_and_the_rest_go_on(step: str, run: Run, folder: Path) -> None:
    (folder / "x.yaml").write_text(f"steps:\n  - {step}\n", encoding="utf-8")
    done = run("test", str(folder / "x.yaml"), str(folder / "good.yaml"))
    assert done.code == 1
    assert "steps[0]" in done.out or "expect" in done.out
    assert "ok   " in done.out


def test_no_file_is_a_usage_error(run: Run) -> None:
    assert run("test").code == 2
