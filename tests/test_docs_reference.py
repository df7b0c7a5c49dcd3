"""The reference pages say what the code says."""

from __future__ import annotations

import dataclasses
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from agentsfence_cli.main import COMMANDS
from agentsfence_core.evaluation import CHECKS
from agentsfence_core.model import ReasonCode
from agentsfence_core.model.policy import Permission, TaskPolicy, ToolConstraint
from agentsfence_core.ports import ToolMapping
from agentsfence_core.settings import Audit, Compiler, Evaluation, SettingsFile

DOCS = Path(__file__).parents[1] / "docs"


def generator(name: str = "generate_checks") -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names(kind: type) -> list[str]:
    assert dataclasses.is_dataclass(kind)
    return [field.name for field in dataclasses.fields(kind)]


def test_the_tables_of_checks_and_reasons_are_those_of_the_code() -> None:
    """Run `python docs/generate_checks.py` after a change to the checks."""
    assert generator().pages_text() == (DOCS / "checks.md").read_text(encoding="utf-8")


def test_commands_and_options_are_those_of_the_application() -> None:
    """Run `python docs/generate_reference.py` after a change to the command line."""
    page = (DOCS / "command-line.md").read_text(encoding="utf-8")
    assert generator("generate_reference").command_line() == page


def test_the_fields_of_a_policy_are_those_of_its_schema() -> None:
    """Run `python docs/generate_reference.py` after a change to the policy."""
    assert generator("generate_reference").policy_page() == (DOCS / "policy-schema.md").read_text(encoding="utf-8")


def test_each_adapter_says_on_its_page_what_it_cannot_see() -> None:
    """Run `python docs/generate_reference.py` after a change to an adapter's blind spots."""
    assert generator("generate_reference").adapters_page() == (DOCS / "adapters.md").read_text(encoding="utf-8")


def test_every_reason_has_a_meaning() -> None:
    assert set(generator().MEANING) == set(ReasonCode)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_every_check_is_in_the_table(check: object) -> None:
    name = getattr(check, "name", "")
    assert f"| `{name}` |" in (DOCS / "checks.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_its_section(command: str) -> None:
    assert f"\n## {command}\n" in (DOCS / "command-line.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", [TaskPolicy, Permission, ToolConstraint], ids=lambda kind: kind.__name__)
def test_every_field_of_a_policy_is_described(kind: type) -> None:
    page = (DOCS / "task-policies.md").read_text(encoding="utf-8")
    known = {"source", "created_at"} | {name for name in names(kind) if name.startswith("allow_")}
    missing = [name for name in names(kind) if f"`{name}`" not in page and name not in known]
    assert not missing


@pytest.mark.parametrize(
    "kind", [SettingsFile, Evaluation, Compiler, Audit, ToolMapping], ids=lambda kind: kind.__name__
)
def test_every_setting_is_described(kind: type) -> None:
    page = (DOCS / "settings.md").read_text(encoding="utf-8")
    assert not [name for name in names(kind) if name not in page]
