"""`agentsfence audit`: the log for people, whether it is whole, and what another policy would have said."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import pytest
from packages.cli.tests.running import rows

if TYPE_CHECKING:
    from packages.cli.tests.running import Run

TO_JOHN, TO_EVE = '{"to": "john@example.com", "body": "secret words"}', '{"to": "eve@example.net", "body": "x"}'


@pytest.fixture
def log(run: Run, home: Path) -> Path:
    """A log with a message, a send that was allowed and one that was blocked."""
    run("begin", "--task", "t1", "Email the report to john@example.com")
    run("check", "--task", "t1", "send_email", TO_JOHN)
    run("check", "--task", "t1", "send_email", TO_EVE)
    run("check", "--task", "t2", "read_file", '{"path": "a"}')
    return home / "fence" / "audit" / "audit.jsonl"


def test_the_log_is_shown_newest_last_and_without_content(run: Run, log: Path) -> None:
    done = run("audit")
    assert done.code == 0
    assert done.out.index("john@example.com") < done.out.index("eve@example.net")
    assert "secret words" not in done.out


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (("--task", "t2"), 1),
        (("--verdict", "BLOCK"), 1),
        (("--kind", "begin"), 1),
        (("--tool", "send_email"), 2),
        (("--last", "1"), 1),
        (("--task", "t1", "--verdict", "ALLOW"), 1),
        (("--minutes", "5"), 4),
        (("--task", "none"), 0),
    ],
)
def test_events_are_filtered(filters: tuple[str, ...], count: int, run: Run, log: Path) -> None:
    assert len(run("audit", "--json", *filters).lines) == count


def test_a_whole_log_holds_and_a_changed_one_does_not(run: Run, log: Path) -> None:
    assert run("audit", "verify").code == 0
    assert run("audit", "verify", "--json").json["holds"] is True
    log.write_text(log.read_text(encoding="utf-8").replace("eve@", "bob@"), encoding="utf-8")
    done = run("audit", "verify")
    assert done.code == 1
    assert "changed" in done.out


def test_a_tail_that_was_cut_off_shows(run: Run, log: Path) -> None:
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:1]))
    assert run("audit", "verify").code == 1


def test_another_log_can_be_named(run: Run, log: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(log.read_bytes())
    assert len(run("audit", "--json", "--log", str(copy)).lines) == 4
    assert run("audit", "verify", "--log", str(copy)).code == 0
    gone = run("audit", "--log", str(tmp_path / "gone"))
    assert gone.code == 1
    assert "gone" in gone.err


def test_another_policy_is_tried_on_what_was_recorded(run: Run, log: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("purpose: x\nuser_prohibitions: [COMMUNICATION]\n", encoding="utf-8")
    done = run("audit", "replay", "--policy", str(policy), "--json")
    assert done.json["differ"] == 1
    (differing,) = rows(done, "results")
    assert (differing["recorded"], differing["replayed"], differing["tool"]) == ("ALLOW", "BLOCK", "send_email")
    assert "1 would differ" in run("audit", "replay", "--policy", str(policy)).out
    assert len(rows(run("audit", "replay", "--policy", str(policy), "--all", "--json"), "results")) == 3


def test_nothing_recorded_yet_is_no_error(run: Run, home: Path) -> None:
    assert run("audit").code == 0
    (home / "fence").mkdir(mode=0o700, exist_ok=True)
    (home / "fence" / "settings.yaml").write_text("audit: {enabled: false}\n", encoding="utf-8")
    done = run("audit")
    assert done.code == 1
    assert "audit.enabled" in done.err


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_following_shows_what_comes_and_ends_quietly(run: Run, log: Path) -> None:
    follow = subprocess.Popen(
        [sys.executable, "-m", "agentsfence_cli.main", "audit", "--json", "--follow", "--last", "1"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ,
    )  # fmt: skip
    out = cast("IO[bytes]", follow.stdout)
    out.readline()
    rotated = log.with_name("audit-000001.jsonl")
    run("check", "--task", "t3", "read_file", '{"path": "b"}')
    assert json.loads(out.readline())["task"] == "t3"
    log.rename(rotated)
    run("check", "--task", "t4", "read_file", '{"path": "b"}')
    assert json.loads(out.readline())["task"] == "t4"
    follow.send_signal(signal.SIGINT)
    assert follow.wait(30) == 0
    assert b"Traceback" not in cast("IO[bytes]", follow.stderr).read()
    out.close()
    cast("IO[bytes]", follow.stderr).close()
