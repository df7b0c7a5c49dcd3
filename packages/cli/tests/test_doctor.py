"""`agentsfence doctor`: what is wrong is named, with what to do; what is well is no alarm."""

from __future__ import annotations

import json
import os
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packages.cli.tests.running import rows

from agentsfence_cli.commands import adapters
from agentsfence_core.ports import AdapterInfo

if TYPE_CHECKING:
    from packages.cli.tests.running import Done, Run


def settle(home: Path, settings: object) -> None:
    folder = home / "fence"
    folder.mkdir(mode=0o700, exist_ok=True)
    text = settings if isinstance(settings, str) else json.dumps(settings)
    (folder / "settings.yaml").write_text(text, encoding="utf-8")


def said(done: Done, state: str) -> dict[str, str]:
    """What was found in this state: part -> sentences."""
    found: dict[str, str] = {}
    for row in rows(done, "findings"):
        if row["state"] == state:
            found[str(row["part"])] = f"{found.get(str(row['part']), '')} {row['message']} {row['hint']}"
    return found


def test_a_fresh_fence_is_well(run: Run, home: Path) -> None:
    done = run("doctor", "--json")
    assert done.code == 0
    assert done.json["schema"] == "agentsfence.doctor/1"
    assert done.json["ok"] is True
    assert {"versions", "settings", "store", "fence", "adapters"} <= said(done, "good").keys()
    assert "settings.yaml" in said(done, "good")["settings"]
    assert "Nothing is wrong" in run("doctor").out


def test_settings_that_cannot_be_read_are_named(run: Run, home: Path) -> None:
    settle(home, "presett: strict\n")
    done = run("doctor", "--json")
    assert done.code == 1
    assert "presett" in said(done, "wrong")["settings"]
    assert "BLOCK" in said(done, "wrong")["settings"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX rights")
def test_settings_that_others_can_write_are_wrong(run: Run, home: Path) -> None:
    settle(home, {})
    (home / "fence" / "settings.yaml").chmod(0o666)
    done = run("doctor", "--json")
    assert done.code == 1
    assert "chmod" in said(done, "wrong")["settings"]


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"unsafe_shadow": True}, "unsafe_shadow"),
        ({"evaluation": {"unauthorized": {"DELETE": "ASK_USER"}}}, "DELETE"),
        ({"unsafe_unauthorized": True, "evaluation": {"unauthorized": {"EXECUTION": "ALLOW"}}}, "EXECUTION"),
        ({"audit": {"enabled": False}}, "nothing is recorded"),
        ({"store": "memory:"}, "forgotten"),
    ],
)
def test_what_weakens_is_said_and_is_no_fault(settings: object, named: str, run: Run, home: Path) -> None:
    settle(home, settings)
    done = run("doctor", "--json")
    assert done.code == 0
    assert named in said(done, "weak")["weakening"]


def test_a_damaged_state_is_wrong_and_the_rest_is_still_looked_at(run: Run, home: Path) -> None:
    settle(home, {})
    (home / "fence" / "state.db").write_text("my shopping list", encoding="utf-8")
    (home / "fence" / "state.db").chmod(0o600)
    done = run("doctor", "--json")
    assert done.code == 1
    assert "state.db" in said(done, "wrong")["store"]
    assert "fence" in said(done, "good")
    assert (home / "fence" / "state.db").read_text(encoding="utf-8") == "my shopping list"


def test_a_log_that_was_changed_is_wrong(run: Run, home: Path) -> None:
    run("begin", "--task", "t1", "Read my inbox")
    log = home / "fence" / "audit" / "audit.jsonl"
    log.write_text(log.read_text(encoding="utf-8").replace("t1", "t2"), encoding="utf-8")
    done = run("doctor", "--json")
    assert done.code == 1
    assert "changed" in said(done, "wrong")["audit"]


def test_a_compiler_that_does_not_exist_is_wrong(run: Run, home: Path) -> None:
    settle(home, {"compiler": {"name": "zorp"}})
    assert "zorp" in said(run("doctor", "--json"), "wrong")["compiler"]


def test_the_compiler_is_asked_only_with_probe(run: Run, home: Path) -> None:
    settle(home, {"compiler": {"name": "chat", "base_url": "http://127.0.0.1:9/v1", "timeout": 1}})
    assert run("doctor").code == 0
    done = run("doctor", "--probe", "--json")
    assert done.code == 1
    assert "chat failed" in said(done, "wrong")["compiler"]


def ran() -> bool:
    return True


def held() -> bool:
    return False


def crashes() -> bool:
    raise SystemExit(0)


@pytest.mark.parametrize(
    ("canary", "state", "named"),
    [("held", "good", "did not run"), ("ran", "wrong", "call ran"), ("crashes", "wrong", "canary failed"),
     ("missing", "wrong", "canary failed"), ("", "note", "no canary")],
)  # fmt: skip
def test_each_adapter_makes_a_call_that_must_be_blocked(
    canary: str, state: str, named: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = AdapterInfo("zorp", "zorp-fence", "Zorp", canary=f"{__name__}:{canary}" if canary else "")
    monkeypatch.setattr(f"{__name__}.INFO", info, raising=False)
    entry = EntryPoint("zorp", f"{__name__}:INFO", adapters.GROUP)
    monkeypatch.setattr(adapters, "entry_points", lambda group: [entry])
    done = run("doctor", "--json")
    assert named in said(done, state)["adapters"]
    assert done.code == (1 if state == "wrong" else 0)


def test_our_own_adapter_has_a_canary(run: Run) -> None:
    assert "cli" in said(run("doctor", "--json"), "good")["adapters"]


def test_looking_leaves_no_task_and_no_line(run: Run, home: Path) -> None:
    run("doctor")
    assert run("audit", "--json").out == ""
    assert run("questions", "--json").json["questions"] == []
