"""`agentsfence classify`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from packages.cli.tests.running import Run

FIELDS = {"id", "tool", "capability", "risk", "source", "effects", "recipients", "domains", "paths"}
EFFECT = {
    "capability", "risk", "recipients", "domains", "paths", "objects", "values", "verified", "unverified"
}  # fmt: skip


def test_one_call_is_shown_for_people(run: Run) -> None:
    done = run("classify", "mcp_gmail_send_email", '{"to": "john@example.com", "body": "x"}')
    assert done.code == 0
    assert "email.send (COMMUNICATION)" in done.out
    assert "john@example.com" in done.out


def test_json_has_a_versioned_schema(run: Run) -> None:
    done = run("classify", "read_file", '{"path": "a.txt"}', "--workdir", "/srv/w", "--json")
    assert done.json["schema"] == "agentsfence.classification/1"
    assert done.json["risk"] == "READ"
    assert done.json["paths"] == ["/srv/w/a.txt"]


def test_a_command_is_all_of_its_effects(run: Run) -> None:
    done = run("classify", "--command", "cat a && rm b", "--json")
    assert done.json["risk"] == "DELETE"
    effects = done.json["effects"]
    assert isinstance(effects, list)
    assert [effect["risk"] for effect in effects] == ["READ", "DELETE"]


def test_a_line_out_has_exactly_the_documented_fields(run: Run) -> None:
    line = {"id": "a", "tool": "mcp_gmail_send_email", "args": {"to": ["a@x.example", "b@x.example"]}}
    (answer,) = run("classify", "--jsonl", "-", stdin=json.dumps(line)).lines
    assert set(answer) == FIELDS
    assert answer["recipients"] == ["a@x.example", "b@x.example"]
    assert isinstance(answer["effects"], list)
    assert all(set(effect) == EFFECT for effect in answer["effects"])


def test_lines_are_answered_in_order_and_a_broken_one_stops_nothing(run: Run) -> None:
    lines = [
        '{"id": 1, "command": "ls", "shell": "posix"}',
        '{"id": 2, "command": "ls"',
        "",
        '{"id": 3, "tool": 7}',
        '{"id": 4, "command": "ls", "shell": "fish"}',
        "[1, 2]",
        '{"id": 5, "tool": "read_file", "args": {"path": "a"}, "workdir": "/srv/x", "home": "/home/u"}',
    ]
    answers = run("classify", "--jsonl", "-", stdin="\n".join(lines)).lines
    assert [answer["id"] for answer in answers] == [1, None, 3, 4, None, 5]
    assert [("error" in answer) for answer in answers] == [False, True, True, True, True, False]
    assert answers[-1]["paths"] == ["/srv/x/a"]


def test_bytes_that_are_no_text_are_an_error_of_their_line(run: Run) -> None:
    answers = run("classify", "--jsonl", "-", stdin=b'\xff\xfe\n{"id": 1, "tool": "read_file"}\n').lines
    assert "error" in answers[0]
    assert answers[1]["risk"] == "READ"


def test_a_file_of_lines_is_read(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    file.write_text('{"id": 1, "tool": "read_file"}\n', encoding="utf-8")
    assert run("classify", "--jsonl", str(file)).lines[0]["risk"] == "READ"


def test_a_missing_file_is_named(run: Run) -> None:
    done = run("classify", "--jsonl", "none.jsonl")
    assert done.code == 1
    assert "none.jsonl" in done.err


@pytest.mark.parametrize("text", ["{", "[1]", '"a"', "@none.json"])
def test_arguments_that_are_no_object_are_an_error(text: str, run: Run) -> None:
    done = run("classify", "read_file", text)
    assert done.code == 1
    assert done.err.startswith("agentsfence: ")


def test_arguments_come_from_a_file_or_standard_input(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "args.json"
    file.write_text('{"path": "/srv/a"}', encoding="utf-8")
    assert run("classify", "read_file", f"@{file}", "--json").json["paths"] == ["/srv/a"]
    assert run("classify", "read_file", "-", "--json", stdin='{"path": "/srv/b"}').json["paths"] == ["/srv/b"]


def test_five_megabytes_of_argument_are_read(run: Run) -> None:
    text = json.dumps({"to": "a@x.example", "body": "x " * 2_500_000})
    assert run("classify", "mcp_gmail_send_email", "-", "--json", stdin=text).json["recipients"] == ["a@x.example"]


def test_nesting_without_end_is_an_answer(run: Run) -> None:
    deep = '{"id": 1, "tool": "read_file", "args": {"a": ' + "[" * 100_000 + "]" * 100_000 + "}}"
    (answer,) = run("classify", "--jsonl", "-", stdin=deep).lines
    assert "error" in answer or "risk" in answer


def test_control_characters_of_a_call_reach_no_terminal(run: Run) -> None:
    done = run("classify", "mcp_\x1b[2J_send", '{"to": "a\\u001b[31m@x.example\\u202e"}')
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out
