"""Provider-specific capability names and their canonical ones: ``gmail.send`` is ``email.send`` (DESIGN 7.7).

INVARIANT: a name maps to the one capability that its own action names, never to a class, a glob or a wider name; a
name that maps to nothing stays itself and so meets no row but its own.
"""

from __future__ import annotations

import re

from agentsfence_core.classification.vocabulary import vocabulary
from agentsfence_core.model import Risk

_NAME = re.compile(r"[a-z0-9_-]{1,80}(?:\.[a-z0-9_-]{1,80}){1,3}")

SUBJECTS = {
    "gmail": "email",
    "outlook": "email",
    "mail": "email",
    "imap": "email",
    "smtp": "email",
    "protonmail": "email",
    "fastmail": "email",
    "exchange": "email",
    "sendgrid": "email",
    "mailgun": "email",
    "slack": "chat",
    "discord": "chat",
    "teams": "chat",
    "mattermost": "chat",
    "matrix": "chat",
    "telegram": "message",
    "whatsapp": "message",
    "signal": "message",
    "sms": "message",
    "twilio": "message",
    "imessage": "message",
    "gcal": "calendar",
    "google_calendar": "calendar",
    "googlecalendar": "calendar",
    "caldav": "calendar",
    "outlook_calendar": "calendar",
    "gdrive": "drive",
    "google_drive": "drive",
    "googledrive": "drive",
    "dropbox": "drive",
    "onedrive": "drive",
    "box": "drive",
    "sharepoint": "drive",
    "fs": "file",
    "filesystem": "file",
    "local_file": "file",
    "terminal": "shell",
    "bash": "shell",
    "python": "code",
    "github": "repo",
    "gitlab": "repo",
    "bitbucket": "repo",
    "stripe": "payment",
    "paypal": "payment",
    "bank": "payment",
    "notion": "note",
    "evernote": "note",
    "obsidian": "note",
    "jira": "issue",
    "linear": "issue",
    "trello": "task",
    "asana": "task",
    "todoist": "task",
    "postgres": "database",
    "mysql": "database",
    "sqlite": "database",
    "sql": "database",
    "kubernetes": "container",
    "docker": "container",
    "aws": "cloud",
    "gcp": "cloud",
    "azure": "cloud",
    "twitter": "social",
    "x": "social",
    "linkedin": "social",
    "mastodon": "social",
    "spotify": "media",
    "browser": "browser",
    "web": "web",
    "http": "web",
}
"""Provider -> subject of the canonical names."""

ACTIONS = {
    ("email", "send_email"): "email.send",
    ("email", "send_message"): "email.send",
    ("email", "reply"): "email.send",
    ("email", "forward"): "email.send",
    ("email", "compose"): "email.send",
    ("email", "trash"): "email.delete",
    ("email", "create_draft"): "email.draft",
    ("email", "archive"): "email.update",
    ("email", "label"): "email.update",
    ("chat", "post"): "chat.send",
    ("chat", "post_message"): "chat.send",
    ("chat", "send_message"): "chat.send",
    ("message", "send_message"): "message.send",
    ("calendar", "create_event"): "calendar.create",
    ("calendar", "insert"): "calendar.create",
    ("calendar", "update_event"): "calendar.update",
    ("calendar", "delete_event"): "calendar.delete",
    ("calendar", "cancel"): "calendar.delete",
    ("drive", "share"): "file.share",
    ("drive", "upload"): "drive.write",
    ("drive", "create"): "drive.write",
    ("drive", "update"): "drive.write",
    ("file", "create"): "file.write",
    ("file", "edit"): "file.write",
    ("file", "remove"): "file.delete",
    ("file", "rename"): "file.move",
    ("shell", "run"): "shell.exec",
    ("shell", "execute"): "shell.exec",
    ("code", "run"): "code.exec",
    ("code", "execute"): "code.exec",
    ("repo", "create_issue"): "issue.create",
    ("repo", "close_issue"): "issue.update",
    ("repo", "create_pull_request"): "pr.create",
    ("repo", "create_pr"): "pr.create",
    ("repo", "merge_pull_request"): "repo.merge",
    ("repo", "comment"): "comment.create",
    ("payment", "pay"): "payment.send",
    ("payment", "transfer"): "payment.send",
    ("payment", "create_refund"): "payment.refund",
    ("note", "create"): "note.write",
    ("note", "update"): "note.write",
    ("issue", "close"): "issue.update",
    ("issue", "assign"): "issue.update",
    ("task", "create"): "task.write",
    ("task", "update"): "task.write",
    ("social", "post"): "social.publish",
    ("social", "tweet"): "social.publish",
    ("web", "put"): "web.post",
}
"""(Subject, action of a provider) -> capability, where the two do not simply make the name."""


def canonical_capability(name: str) -> str:
    """Return the canonical name of a capability, the name itself where there is none, or nothing for a wildcard."""
    folded = name.strip().lower()
    if not _NAME.fullmatch(folded):
        return ""
    known = vocabulary()
    if folded in known.capabilities:
        return "" if known.risk_of(folded) is Risk.UNKNOWN else folded
    provider, _, action = folded.rpartition(".")
    action = action.replace("-", "_")
    subject = SUBJECTS.get(provider.rpartition(".")[2].replace("-", "_"), "")
    provided = ACTIONS.get((subject, action), f"{subject}.{action}")
    return provided if provided in known.capabilities else folded
