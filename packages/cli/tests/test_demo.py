"""`agentsfence demo`: what it shows is what happened."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agentsfence_cli.demo.world import ATTACKER, Tools, World
from agentsfence_core._checker import Checker
from agentsfence_core.model import Verdict

if TYPE_CHECKING:
    from packages.cli.tests.running import Done, Run


def calls(done: Done) -> list[dict[str, object]]:
    scenes = done.json["scenes"]
    assert isinstance(scenes, list)
    return [call for scene in scenes for call in scene["calls"]]


def verdict(call: dict[str, object]) -> object:
    decision = call["decision"]
    assert isinstance(decision, dict)
    return decision["verdict"]


def to(call: dict[str, object]) -> object:
    args = call["args"]
    assert isinstance(args, dict)
    return args.get("to")


def test_it_holds(run: Run) -> None:
    done = run("demo", "--json")
    assert done.code == 0
    assert done.json["schema"] == "agentsfence.demo/1"
    assert done.json["ok"] is True


def test_everything_that_the_mail_orders_is_tried_and_blocked(run: Run) -> None:
    tried = {str(call["tool"]): call for call in calls(run("demo", "--json"))[:8]}
    for tool in ("mcp_gmail_send_email", "terminal", "mcp_gmail_delete_email"):
        assert verdict(tried[tool]) == "BLOCK"
        assert tried[tool]["ran"] == 0
    assert to(tried["mcp_gmail_send_email"]) == ATTACKER


def test_only_the_address_that_was_written_gets_the_mail(run: Run) -> None:
    sends = [call for call in calls(run("demo", "--json")) if to(call) not in {None, ATTACKER}]
    assert [(to(call), verdict(call), call["ran"]) for call in sends] == [
        ("j0hn@example.com", "BLOCK", 0),
        ("john@examp1e.com", "BLOCK", 0),
        ("john@example.com", "ALLOW", 1),
    ]


def test_an_approval_lets_one_file_be_written_and_no_other(run: Run) -> None:
    writes = [call for call in calls(run("demo", "--json")) if call["tool"] == "write_file"]
    assert [verdict(call) for call in writes] == ["ASK_USER", "ASK_USER"]
    assert [call["ran"] for call in writes] == [1, 0]


def test_the_words_that_a_verdict_rests_on_are_shown(run: Run) -> None:
    done = run("demo")
    assert done.code == 0
    assert "Do not send anything" in done.out
    assert "no stopped call ran" in done.out


def test_it_reads_at_sixty_columns_without_colour(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    out = run("demo").out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 60


def test_it_leaves_nothing_behind(run: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    run("demo")
    assert list(folder.iterdir()) == []
    assert list(home.rglob("*")) == []
    assert list(Path.cwd().iterdir()) == []


def test_a_tool_that_runs_behind_the_fence_fails_the_demonstration(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: the recorder notices a body that ran although nobody admitted the call."""
    body = Tools.run

    def twice(self: Tools, call: int, tool: str, args: Mapping[str, str]) -> str:
        body(self, call, tool, args)
        return body(self, call, tool, args)

    monkeypatch.setattr(Tools, "run", twice)
    done = run("demo")
    assert done.code == 1
    assert "did not hold" in done.out


def test_without_a_fence_the_demonstration_fails(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: a fence that enforces nothing lets the mail's orders run, and the exit code says so."""
    monkeypatch.setattr(Checker, "check", _allow_everything(Checker.check))
    done = run("demo")
    assert done.code == 1


def _allow_everything(check: object) -> object:
    def allowing(self: object, *arguments: object) -> object:
        assert callable(check)
        return replace(check(self, *arguments), verdict=Verdict.ALLOW, enforced=Verdict.ALLOW)

    return allowing


def test_the_recorder_is_written_by_the_tools(tmp_path: Path) -> None:
    world = World.build(tmp_path)
    Tools(world).run(7, "read_file", {"path": str(world.report)})
    assert world.ran() == [7]


def test_no_tool_leaves_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "world"
    folder.mkdir()
    with pytest.raises(ValueError, match="not in the subpath"):
        Tools(World.build(folder)).run(1, "write_file", {"path": str(tmp_path / "x"), "content": "x"})
