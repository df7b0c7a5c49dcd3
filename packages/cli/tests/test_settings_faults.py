"""Settings that cannot be used stop every command that decides: nothing runs on defaults instead (DESIGN 9)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from packages.cli.tests.running import Run

DECIDING = {
    "compile": ("compile", "Read it"),
    "check": ("check", "--request", "Read it", "read_file", "{}"),
    "check a task": ("check", "--task", "t1", "read_file", "{}"),
    "classify": ("classify", "read_file"),
    "simulate": ("simulate", "--jsonl", "-"),
}


def write(home: Path, text: str, mode: int = 0o600) -> None:
    folder = home / "fence"
    folder.mkdir(mode=0o700)
    file = folder / "settings.yaml"
    file.write_text(text, encoding="utf-8")
    file.chmod(mode)


@pytest.mark.parametrize("arguments", DECIDING.values(), ids=DECIDING)
def test_a_line_that_cannot_be_read_is_named(arguments: tuple[str, ...], home: Path, run: Run) -> None:
    write(home, "preset: balanced\nevaluation:\n  unauthorised: {DELETE: ASK_USER}\n")
    done = run(*arguments)
    assert done.code == 1
    assert done.out == ""
    assert "line 3" in done.err
    assert "unauthorized" in done.err


@pytest.mark.parametrize("arguments", DECIDING.values(), ids=DECIDING)
@pytest.mark.skipif(os.name == "nt", reason="permission bits")
def test_settings_that_others_can_write_are_refused(arguments: tuple[str, ...], home: Path, run: Run) -> None:
    write(home, "preset: balanced\n", mode=0o666)
    done = run(*arguments)
    assert done.code == 1
    assert done.out == ""
    assert "settings.yaml" in done.err


def test_broken_yaml_is_an_error_with_its_line(home: Path, run: Run) -> None:
    write(home, "preset: balanced\ncontacts: {John: [\n")
    done = run("classify", "read_file")
    assert done.code == 1
    assert "line" in done.err


def test_the_demonstration_reads_no_settings(home: Path, run: Run) -> None:
    write(home, "nonsense: [", mode=0o666)
    assert run("demo").code == 0


def test_a_contact_of_the_settings_gives_a_name_its_address(home: Path, run: Run) -> None:
    write(home, "contacts: {John: john@example.com}\n")
    done = run(
        "check", "--request", "Email John the agenda", "mcp_gmail_send_email", '{"to": "john@example.com", "body": "x"}'
    )
    assert done.code == 0


def test_a_tool_of_the_settings_is_known(home: Path, run: Run) -> None:
    write(home, "tools: [{match: acme_zorp, capability: file.delete, paths: [what]}]\n")
    done = run("classify", "acme_zorp", '{"what": "/srv/a"}', "--json")
    assert done.json["risk"] == "DELETE"
    assert done.json["paths"] == ["/srv/a"]
