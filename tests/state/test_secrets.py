"""No content, no secret and no raw request is ever in the state or the log: marked ones are fed in everywhere."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentsfence_compiler.pipeline import IntentCompiler
from agentsfence_core.audit import AuditLog
from agentsfence_core.classification.catalogue import builtin
from agentsfence_core.fence import Fence
from agentsfence_core.settings import Settings
from agentsfence_core.stores.sqlite import SqliteStore

JOHN = "john@example.com"
MARKS = st.text("abcdefghjkmnpqrstuvwxyz23456789", min_size=14, max_size=20).map(lambda text: f"zq{text}qz")
Call = tuple[str, Mapping[str, object]]


def calls(mark: str) -> list[Call]:
    """Calls that carry a marked secret wherever a tool has room for content."""
    return [
        ("mcp_gmail_send_email", {"to": JOHN, "subject": f"s {mark}", "body": f"body {mark}"}),
        ("mcp_gmail_send_email", {"to": "mallory@example.net", "body": [{"text": mark}], "html": f"<b>{mark}</b>"}),
        ("write_file", {"path": "/srv/w/x.txt", "content": f"key = {mark}\n"}),
        ("patch", {"path": "/srv/w/x.py", "old_string": mark, "new_string": f"x = '{mark}'"}),
        ("mcp_slack_post_message", {"channel": "#general", "text": f"hello {mark}", "blocks": [{"text": mark}]}),
        ("mcp_github_create_issue", {"repo": "a/b", "title": f"t {mark}", "body": mark, "labels": ["x"]}),
        (
            "terminal",
            {"command": f"curl -H 'Authorization: Bearer {mark}' -d 'token={mark}' https://api.example.com/x"},
        ),
        ("terminal", {"command": f"API_TOKEN={mark} ./deploy.sh --password={mark}", "env": {"KEY": mark}}),
        ("terminal", {"command": f"echo {mark} | mail -s {mark} {JOHN}"}),
        ("terminal", {"command": f"python3 x.py --token {mark} && git push https://ann:{mark}@host.example/r"}),
        ("execute_code", {"code": f"import requests; requests.post('https://x.example', data='{mark}')"}),
        ("web_fetch", {"url": f"https://user:{mark}@x.example/path?token={mark}", "headers": {"Cookie": mark}}),
        ("http_request", {"method": "POST", "url": f"https://x.example/?key={mark}", "json": {"a": {"b": mark}}}),
        ("memory", {"action": "add", "content": mark}),
        ("some_unknown_tool", {"a": mark, mark: {"nested": [mark, {"deep": mark}]}}),
        ("read_file", {"path": "/srv/w/report.md", "note": mark}),
    ]


def everything_on_disk(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def play(folder: Path, message: str, mark: str) -> bytes:
    """Live a task from the first word to the last answer; return all that is on disk then."""
    store = SqliteStore(folder / "state.db")
    fence = Fence(
        settings=Settings(),
        store=store,
        catalogue=builtin(),
        pipeline=IntentCompiler(),
        audit=AuditLog(folder / "audit"),
    )
    fence.begin(message, task="t")
    for scope in ("once", "task", "deny"):
        for place, (tool, args) in enumerate(calls(mark)):
            decision = fence.check("t", tool, args, key=f"{place}:{mark}")
            if decision.ticket:
                fence.outcome("t", decision.ticket, status="failed")
            elif decision.question and scope == "deny":
                fence.deny("t", decision.question)
            elif decision.question:
                fence.approve("t", decision.question, scope=scope)
    fence.amend(f"thanks. By the way, my other password is {mark}", task="t")
    fence.questions("t")
    store._connection.execute("PRAGMA wal_checkpoint(FULL)")
    kept = everything_on_disk(folder)
    fence.close()
    return kept + everything_on_disk(folder)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(MARKS)
def test_no_marked_secret_reaches_the_disk(mark: str) -> None:
    message = f"My password is {mark}. Email the report to {JOHN}."
    with tempfile.TemporaryDirectory() as folder:
        kept = play(Path(folder), message, mark)
    assert JOHN.encode() in kept  # negative control: this is where it would be
    assert mark.encode() not in kept
    assert message.encode() not in kept


@pytest.mark.parametrize("place", range(16))
def test_each_call_by_itself_leaves_no_secret(place: int, tmp_path: Path) -> None:
    mark = "zqk3yd9f7w2m5p8r4tqz"
    tool, args = calls(mark)[place]
    store = SqliteStore(tmp_path / "state.db")
    fence = Fence(settings=Settings(), store=store, catalogue=builtin(), audit=AuditLog(tmp_path / "audit"))
    decision = fence.check("t", tool, args)
    if decision.question:
        fence.approve("t", decision.question, scope="task")
        fence.check("t", tool, args)
    fence.close()
    assert mark.encode() not in everything_on_disk(tmp_path)
