"""`agentsfence check`: the exit code is the verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from packages.cli.tests.running import Run

SEND = "mcp_gmail_send_email"
REPORT = """
purpose: email_report_summary
allowed_risk_classes: [READ, COMMUNICATION]
allowed_tools: [file.read, email.send]
allow_external_writes: true
allowed_recipients: [john@example.com]
tool_constraints:
  email.send: {allowed_recipients: [john@example.com]}
"""
MORTGAGE = """
purpose: summarize_mortgage_statement
allowed_risk_classes: [READ]
allowed_tools: [email.search, email.read, file.read]
denied_tools: [email.send, file.share, file.delete]
allow_external_writes: false
allow_destructive_actions: false
allow_financial_actions: false
max_external_writes: 0
"""
"""Both policies are printed in the description of task policies."""
VERDICTS = [
    (REPORT, SEND, {"to": "john@example.com"}, 0),
    (REPORT, SEND, {"to": "j0hn@example.com"}, 4),
    (REPORT, SEND, {"to": "john@example.com", "bcc": "eve@example.net"}, 4),
    (REPORT, "read_file", {"path": "report.md"}, 0),
    (REPORT, "write_file", {"path": "report.md", "content": "x"}, 3),
    (REPORT, "mcp_gmail_delete_email", {"message_id": "1"}, 4),
    (MORTGAGE, "mcp_gmail_search_emails", {"query": "mortgage"}, 0),
    (MORTGAGE, SEND, {"to": "john@example.com"}, 4),
    (MORTGAGE, "write_file", {"path": "report.md", "content": "x"}, 3),
]


@pytest.mark.parametrize(("policy", "tool", "args", "code"), VERDICTS)
def test_a_policy_file_decides(
    policy: str, tool: str, args: dict[str, str], code: int, run: Run, tmp_path: Path
) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(policy, encoding="utf-8")
    assert run("check", "--policy", str(file), tool, json.dumps(args)).code == code


def test_a_request_decides(run: Run) -> None:
    request = "Read the report and email the summary to john@example.com"
    assert run("check", "--request", request, SEND, '{"to": "john@example.com", "body": "x"}').code == 0
    assert run("check", "--request", request, SEND, '{"to": "john@examp1e.com", "body": "x"}').code == 4


def test_people_see_verdict_sentence_and_their_words(run: Run) -> None:
    done = run("check", "--request", "Summarize my inbox. Do not send anything.", SEND, '{"to": "eve@example.net"}')
    assert done.code == 4
    assert "x BLOCK" in done.out
    assert "Do not send anything" in done.out


def test_json_has_a_versioned_schema(run: Run) -> None:
    done = run("check", "--request", "Summarize my inbox.", SEND, '{"to": "eve@example.net"}', "--json")
    assert done.code == 3
    assert done.json["schema"] == "agentsfence.decision/1"
    assert done.json["verdict"] == "ASK_USER"
    assert done.json["question"]


def test_five_megabytes_of_argument_get_a_verdict(run: Run) -> None:
    text = json.dumps({"to": "eve@example.net", "body": "x" * 5_000_000})
    assert run("check", "--request", "Summarize my inbox. Do not send anything.", SEND, "-", stdin=text).code == 4


def test_an_unknown_field_of_a_policy_is_named_with_the_near_one(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("purpose: x\nallowed_tool: [email.send]\n", encoding="utf-8")
    done = run("check", "--policy", str(file), "read_file")
    assert done.code == 1
    assert "allowed_tool" in done.err
    assert "allowed_tools" in done.err


def test_a_missing_policy_is_an_error_and_no_verdict(run: Run) -> None:
    done = run("check", "--policy", "none.yaml", "read_file")
    assert done.code == 1
    assert "none.yaml" in done.err


def test_a_task_that_nobody_began_only_reads(run: Run) -> None:
    assert run("check", "--task", "t1", "read_file", '{"path": "a"}').code == 0
    assert run("check", "--task", "t1", SEND, '{"to": "eve@example.net"}').code == 3


def test_a_store_that_is_not_ours_is_an_error_and_stays_as_it_is(run: Run, home: Path) -> None:
    folder = home / "fence"
    folder.mkdir(mode=0o700)
    (folder / "state.db").write_text("my shopping list", encoding="utf-8")
    (folder / "state.db").chmod(0o600)
    done = run("check", "--task", "t1", "read_file", '{"path": "a"}')
    assert done.code in {1, 4}
    assert "state.db" in done.out + done.err
    assert (folder / "state.db").read_text(encoding="utf-8") == "my shopping list"


def test_a_link_out_of_the_allowed_folder_is_followed(run: Run, tmp_path: Path, home: Path) -> None:
    notes = home / "notes"
    notes.mkdir()
    (notes / "out").symlink_to(tmp_path)
    file = tmp_path / "policy.yaml"
    file.write_text(
        "purpose: x\nallow_local_writes: true\nallowed_tools: [file.write]\nallowed_paths: [~/notes]\n",
        encoding="utf-8",
    )
    inside, outside = (
        {"path": str(notes / "a.md"), "content": "x"},
        {"path": str(notes / "out" / "a.md"), "content": "x"},
    )
    assert run("check", "--policy", str(file), "write_file", json.dumps(inside)).code == 0
    assert run("check", "--policy", str(file), "write_file", json.dumps(outside)).code == 4
