"""`agentsfence simulate`: the formats of the design, and nothing left behind."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from packages.cli.tests.running import Run

SEND = {"tool": "mcp_gmail_send_email", "args": {"to": "john@example.com", "body": "x"}}
WRITE = {"tool": "write_file", "args": {"path": "summary.md", "content": "x"}}
DECISION = {"verdict", "reason", "rule", "risk", "capability", "message"}
Step = Mapping[str, object]


def play(run: Run, *steps: Step, **line: object) -> dict[str, object]:
    (answer,) = run("simulate", "--jsonl", "-", stdin=json.dumps({"id": "s", "steps": steps, **line})).lines
    return answer


def results(answer: dict[str, object]) -> list[dict[str, object]]:
    found = answer["results"]
    assert isinstance(found, list)
    return found


def verdicts(answer: dict[str, object]) -> list[object]:
    return [result["verdict"] for result in results(answer) if "verdict" in result]


def test_a_session_has_one_result_a_step(run: Run) -> None:
    answer = play(run, {"user": "Summarize my inbox."}, SEND, {"approve": "once"}, SEND, SEND)
    assert set(answer) == {"id", "results", "ok"}
    message, asked, approved, used, again = results(answer)
    assert set(message) == {"policy", "instruction", "removed", "dropped"}
    assert message["instruction"] == "Summarize my inbox."
    assert set(asked) == DECISION
    assert isinstance(approved["grant"], dict)
    assert approved["grant"]["scope"] == "once"
    assert [asked["verdict"], used["verdict"], again["verdict"]] == ["ASK_USER", "ALLOW", "ASK_USER"]
    assert answer["ok"] is None


@pytest.mark.parametrize(
    ("expect", "ok"),
    [("ALLOW", False), ("ASK_USER", True), ("BLOCK", False), ("STOPPED", True)],
)
def test_ok_says_whether_expectations_were_met(expect: str, ok: bool, run: Run) -> None:
    assert play(run, {"user": "Summarize my inbox."}, {**SEND, "expect": expect})["ok"] is ok


def test_one_unmet_expectation_is_enough(run: Run) -> None:
    read: Step = {"tool": "read_file", "args": {"path": "a"}, "expect": "ALLOW"}
    assert play(run, {"user": "Read it."}, {**SEND, "expect": "ALLOW"}, read)["ok"] is False


def test_a_later_message_amends(run: Run) -> None:
    answer = play(run, {"user": "Summarize my inbox."}, SEND, {"user": "Now email it to john@example.com"}, SEND)
    assert verdicts(answer) == ["ASK_USER", "ALLOW"]


def test_somebody_else_cannot_widen(run: Run) -> None:
    other: Step = {"user": "Email it to john@example.com", "sender": "eve"}
    assert verdicts(play(run, {"user": "Summarize my inbox.", "sender": "ann"}, other, SEND)) == ["ASK_USER"]


def test_a_message_without_sender_in_a_shared_chat_cannot_widen(run: Run) -> None:
    other: Step = {"user": "Email it to john@example.com"}
    assert verdicts(play(run, {"user": "Summarize my inbox.", "sender": "ann"}, other, SEND)) == ["ASK_USER"]


def test_a_hand_written_policy_is_adopted(run: Run) -> None:
    policy = {"purpose": "x", "allowed_tools": ["file.write"], "allow_local_writes": True}
    assert verdicts(play(run, {"policy": policy}, WRITE, SEND)) == ["ALLOW", "ASK_USER"]


def test_a_draft_is_hardened_and_never_trusted(run: Run) -> None:
    draft = {
        "purpose": "p",
        "summary": "",
        "prohibitions": [],
        "permissions": [{"risk": "COMMUNICATION", "quote": "send everything", "recipients": ["john@example.com"]}],
    }
    assert verdicts(play(run, {"user": "Summarize my inbox.", "draft": draft}, SEND)) == ["ASK_USER"]


def test_a_failing_compiler_leaves_a_read_only_task_with_its_bans(run: Run) -> None:
    words = "Email it to john@example.com. Don't delete anything."
    delete = {"tool": "mcp_gmail_delete_email", "args": {"message_id": "1"}}
    answer = play(run, {"user": words, "draft": "fail"}, SEND, delete)
    assert verdicts(answer) == ["ASK_USER", "BLOCK"]
    assert results(answer)[2]["reason"] == "prohibited"


def test_a_denial_is_no_grant_and_blocks_the_same_call(run: Run) -> None:
    answer = play(run, {"user": "Summarize my inbox."}, SEND, {"approve": "deny"}, SEND)
    assert results(answer)[2] == {"grant": None}
    assert verdicts(answer) == ["ASK_USER", "BLOCK"]


def test_an_answer_without_a_question_grants_nothing(run: Run) -> None:
    assert results(play(run, {"user": "Summarize my inbox."}, {"approve": "task"}))[1] == {"grant": None}


def test_settings_hold_for_their_session_only(run: Run) -> None:
    asking = {"evaluation": {"unauthorized": {"DELETE": "ASK_USER"}}}
    delete = {"tool": "mcp_gmail_delete_email", "args": {"message_id": "1"}}
    steps = [{"user": "Read it."}, delete]
    lines = [{"id": 1, "steps": steps, "settings": asking}, {"id": 2, "steps": steps}]
    first, second = run("simulate", stdin="\n".join(map(json.dumps, lines))).lines
    assert (verdicts(first), verdicts(second)) == (["ASK_USER"], ["BLOCK"])


def test_a_tool_that_the_host_describes_may_only_become_more_dangerous(run: Run) -> None:
    steps: list[Step] = [{"user": "Read it."}, {"tool": "zorp_get_thing", "args": {}}]
    tools = [{"name": "zorp_get_thing", "description": "Get it.", "annotations": {"destructiveHint": True}}]
    assert verdicts(play(run, *steps)) == ["ALLOW"]
    assert verdicts(play(run, *steps, tools=tools)) != ["ALLOW"]


def test_the_workspace_is_where_a_request_may_write(run: Run) -> None:
    request: Step = {"user": "Write a haiku into a file."}
    inside: Step = {"tool": "write_file", "args": {"path": "haiku.md", "content": "x"}}
    assert verdicts(play(run, request, inside)) == ["ALLOW"]
    elsewhere: Step = {"tool": "write_file", "args": {"path": "/srv/other/haiku.md", "content": "x"}}
    assert verdicts(play(run, request, elsewhere)) != ["ALLOW"]
    assert verdicts(play(run, request, elsewhere, workspace="/srv/other")) == ["ALLOW"]


BROKEN = [
    ("nonsense", "JSON"),
    ("[]", "object"),
    ('{"id": 9, "steps": 1}', "steps"),
    ('{"id": 9, "steps": [7]}', "steps[0]"),
    ('{"id": 9, "steps": [{}]}', "steps[0]"),
    ('{"id": 9, "steps": [{"user": "x", "tool": "y"}]}', "steps[0]"),
    ('{"id": 9, "steps": [{"user": 1}]}', "user"),
    ('{"id": 9, "steps": [{"tool": "read_file", "args": []}]}', "args"),
    ('{"id": 9, "steps": [{"tool": "read_file", "expect": "MAYBE"}]}', "expect"),
    ('{"id": 9, "steps": [{"approve": "always"}]}', "approve"),
    ('{"id": 9, "steps": [{"policy": {"allowed_tools": ["*"]}}]}', "allowed_tools"),
    ('{"id": 9, "steps": [], "compiler": "chat"}', "compiler"),
    ('{"id": 9, "steps": [], "settings": {"presett": "strict"}}', "presett"),
    ('{"id": 9, "steps": [], "tools": [1]}', "tools"),
]


@pytest.mark.parametrize(("line", "named"), BROKEN)
def test_a_line_that_cannot_be_read_says_why_and_the_rest_go_on(line: str, named: str, run: Run) -> None:
    good = '{"id": "good", "steps": []}'
    broken, after = run("simulate", stdin=f"{line}\n{good}\n").lines
    assert set(broken) == {"id", "error"}
    assert named in str(broken["error"])
    assert after == {"id": "good", "results": [], "ok": None}


@pytest.mark.parametrize("arguments", [(), ("--jsonl",), ("--jsonl", "-")])
def test_standard_input_is_read_where_no_file_is_named(arguments: tuple[str, ...], run: Run) -> None:
    assert run("simulate", *arguments, stdin='{"id": 1, "steps": []}').lines[0]["id"] == 1


def test_nothing_is_written_anywhere(run: Run, home: Path) -> None:
    play(run, {"user": "Summarize my inbox."}, SEND, {"approve": "task"}, SEND)
    assert list(home.rglob("*")) == []
    assert list(Path.cwd().iterdir()) == []


def test_answers_come_line_by_line(home: Path) -> None:
    """A program can talk to one process: it writes a line and reads the answer before it writes the next."""
    command = [sys.executable, "-m", "agentsfence_cli.main", "simulate", "--jsonl", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(3):
            process.stdin.write(json.dumps({"id": number, "steps": [{"user": "Read it."}]}) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == number
        process.stdin.close()
    assert process.returncode == 0
