"""`agentsfence capabilities` and `agentsfence adapters`."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING

import pytest
import typer

from agentsfence_cli.commands import adapters
from agentsfence_core.classification.vocabulary import vocabulary
from agentsfence_core.ports import AdapterInfo

if TYPE_CHECKING:
    from packages.cli.tests.running import Run


def test_every_capability_is_listed_with_its_class(run: Run) -> None:
    found = run("capabilities", "--json").json
    assert found["schema"] == "agentsfence.capabilities/1"
    rows = found["capabilities"]
    assert isinstance(rows, list)
    assert {row["name"]: row["risk"] for row in rows} == {
        name: row.risk.value for name, row in vocabulary().capabilities.items()
    }


def test_a_search_finds_names_words_and_classes(run: Run) -> None:
    assert "email.send" in run("capabilities", "forward").out
    assert "file.delete" in run("capabilities", "delete").out
    assert "No capability" in run("capabilities", "zorp").out


def test_nothing_is_cut_at_sixty_columns(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = run("capabilities").out.splitlines()
    assert max(map(len, lines)) <= 60
    assert "…" not in "".join(lines)


def test_the_command_line_lists_itself_with_what_it_cannot_see(run: Run) -> None:
    found = run("adapters", "--json").json
    assert found["schema"] == "agentsfence.adapters/1"
    listed = found["adapters"]
    assert isinstance(listed, list)
    (own,) = [adapter for adapter in listed if adapter["name"] == "cli"]
    assert own["blind_spots"]
    assert "cannot see" in run("adapters").out


@pytest.mark.parametrize("value", ["no_such_module:INFO", "agentsfence_cli.adapter:NONE", "json:dumps"])
def test_an_adapter_that_cannot_be_loaded_is_named(value: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint("broken", value, adapters.GROUP)
    whole = EntryPoint("whole", "agentsfence_cli.adapter:INFO", adapters.GROUP)
    monkeypatch.setattr(adapters, "entry_points", lambda group: [broken, whole])
    for command in ("adapters", "doctor"):
        done = run(command)
        assert done.code == 1
        assert "'broken'" in done.err + done.out
        assert "agentsfence-cli" in done.out


COMMANDS_OF_ONE = typer.Typer()


@COMMANDS_OF_ONE.command()
def hello() -> None:
    typer.echo("hello from the adapter")


WITH_COMMANDS = AdapterInfo("zorp", "zorp-fence", "Zorp", command=f"{__name__}:COMMANDS_OF_ONE")
WITH_NONSENSE = AdapterInfo("zorp", "zorp-fence", "Zorp", command="json:dumps")


def install(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        adapters, "entry_points", lambda group, name: [EntryPoint("zorp", f"{__name__}:{value}", group)]
    )


def test_the_commands_of_an_adapter_stand_under_its_name(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    install("WITH_COMMANDS", monkeypatch)
    done = run("zorp")
    assert (done.code, done.out) == (0, "hello from the adapter\n")


def test_commands_that_cannot_be_mounted_are_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    install("WITH_NONSENSE", monkeypatch)
    done = run("zorp")
    assert done.code == 1
    assert "'zorp'" in done.err
