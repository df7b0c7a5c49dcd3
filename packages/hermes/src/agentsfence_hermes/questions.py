"""A question of the fence as Hermes can put it: a message that shows all of it, and a key that answers nothing else.

Hermes shows a plugin's message and no arguments, redacts what looks like a number or a key in it, and some chats cut it
short. It remembers "session" and "always" by the key alone, so a key must not outlive its question: each gets its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from agentsfence_core.canonical import digest
from agentsfence_core.model import Decision, Delta
from agentsfence_core.tasks import Question

CHAT_LIMIT = 480  # characters; the narrowest chat cuts at 500
PROMPT_LIMIT = 4_000  # characters that a terminal shows without hiding their beginning
_GROUP = 3  # characters between the spaces of a spelled target


def rule_key_of(task: str, decision: Decision) -> str:
    """Return the key of this question: of its task, its delta, and this one asking."""
    return f"agentsfence:{digest(task, decision.action_digest, decision.question)[:24]}"


def message_of(decision: Decision, question: Question | None, limit: int) -> str:
    """Return what the person must see before answering, or an empty text where the limit would hide a part of it."""
    wanted = "; ".join(dict.fromkeys(_shown(delta) for delta in question.deltas)) if question else ""
    shown = f"{wanted or decision.capability}."
    if not wanted or len(shown) > limit:
        return ""
    reason = decision.sentence
    # A reason that Hermes would redact repeats a target, which stands legible in front of it.
    return f"{shown} {reason}" if len(shown) + len(reason) < limit and _redacted(reason) == reason else shown


def _shown(delta: Delta) -> str:
    parts = [delta.capability]
    if delta.recipients:
        parts.append(f"to {_listed(delta.recipients, spelled)}")
    for word, targets in (("at", delta.domains), ("on", delta.paths)):
        if targets:
            parts.append(f"{word} {_listed(targets)}")
    if delta.objects:
        parts.append(_listed(delta.objects, spelled))
    if delta.values:
        parts.append(_listed((f"{name} {value}" for name, value in delta.values), spelled))
    return " ".join(parts)


def _listed(targets: Iterable[str], show: object = None) -> str:
    return ", ".join(spelled(_visible(target)) if show is spelled else _visible(target) for target in targets)


def _visible(target: str) -> str:
    """Return the target on one line with nothing in it that a screen would not show."""
    return "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in target)


def spelled(target: str) -> str:
    """Return the target so that Hermes' redaction leaves it legible: in small groups where it would hide it."""
    if _redacted(target) == target:
        return target
    groups = " ".join(target[place : place + _GROUP] for place in range(0, len(target), _GROUP))
    return groups if _redacted(groups) == groups else " ".join(target)


def _redacted(text: str) -> str:
    try:
        from agent.redact import redact_sensitive_text  # noqa: PLC0415
    except ImportError:
        return text
    return str(redact_sensitive_text(text))
