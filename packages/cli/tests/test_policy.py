"""`agentsfence policy`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agentsfence_core.policy_file import load_policy, policy_schema

if TYPE_CHECKING:
    from packages.cli.tests.running import Run

EXAMPLES = sorted((Path(__file__).parents[3] / "docs" / "examples").glob("*.yaml"))
VALID = [path for path in EXAMPLES if path.stem not in {"misspelt", "sessions"}]


@pytest.mark.parametrize("file", VALID, ids=lambda path: path.stem)
def test_the_documented_policies_are_valid(file: Path, run: Run) -> None:
    done = run("policy", "validate", str(file))
    assert done.code == 0
    assert "valid" in done.out
    assert "Without a question" in done.out


def test_json_gives_the_policy_back_as_it_can_be_loaded(run: Run) -> None:
    (file,) = [path for path in VALID if path.stem == "report-summary"]
    done = run("policy", "validate", str(file), "--json")
    policy = done.json["policy"]
    assert isinstance(policy, dict)
    assert load_policy(policy) == load_policy(file)
    assert policy["allow_financial_actions"] is False


def test_an_example_with_another_verdict_is_named(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("purpose: x\nexamples: [{tool: mcp_gmail_send_email, args: {to: a@x.example}}]\n", encoding="utf-8")
    done = run("policy", "validate", str(file))
    assert done.code == 1
    assert "examples[0]" in done.err


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("purpose: x\nallowed_tol: []\n", "allowed_tol"),
        ("purpose: x\nallow_execution: 'yes'\n", "allow_execution"),
        ("purpose: x\nallowed_tools: ['*']\n", "allowed_tools"),
        ("purpose: x\nallowed_paths: [/]\n", "allowed_paths"),
        ("purpose: x\ntool_constraints: {email.send: {allowed_recipients: ['*']}}\n", "tool_constraints.email.send"),
        ("purpose: x\npermissions: [{recipients: []}]\n", "permissions[0]"),
    ],
)
def test_a_fault_is_named_by_its_field(text: str, field: str, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(text, encoding="utf-8")
    done = run("policy", "validate", str(file))
    assert done.code == 1
    assert field in done.err
    assert "line 2" in done.err
    told = run("policy", "validate", str(file), "--json")
    assert told.code == 1
    assert told.json["valid"] is False
    assert str(told.json["field"]).startswith(field)


@pytest.mark.parametrize("text", ["", "- a\n", "purpose: [\n", "purpose: x\npurpose: y\n", "\x00"])
def test_a_file_that_is_no_policy_is_an_error_with_its_name(text: str, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(text, encoding="utf-8")
    done = run("policy", "validate", str(file))
    assert done.code == 1
    assert "policy.yaml" in done.err


def test_the_schema_is_the_one_of_core(run: Run) -> None:
    assert run("policy", "schema").json == json.loads(json.dumps(policy_schema()))
