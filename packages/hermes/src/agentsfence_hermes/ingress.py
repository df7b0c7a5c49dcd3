"""Whose words: which part of what a turn begins with is a person's own message (DESIGN 10).

Hermes starts turns for many reasons and hands over one text for all of them: results of background work, goals that a
model wrote for its subagent, cron prompts, rendered webhooks, and messages with quotes, other people's messages, file
contents and descriptions of pictures around them. Only words that a rule here vouches for can ask for anything.

Rules of this file:

* One rule a source, in one table; the first that speaks decides. What no rule vouches for is nobody's words.
* In a chat, the text must be that of the message which the gateway received for this very turn, written by the person
  who is said to have sent it, and it counts once.
* What was attached, quoted, described or transcribed is not what the person wrote.
* A marker that a file or a web page could contain is never searched for from its side: the person's text is cut at
  the first marker, so an attachment can take words away but not add any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

LOCAL = frozenset({"", "cli", "tui", "acp", "api_server", "local", "desktop"})
"""Platforms whose text is typed by the one person who runs Hermes, or sent by the program that they gave access."""

NOT_A_PERSON = {
    "subagent": "a model wrote this goal for its subagent",
    "cron": "a scheduled job is no message; who wrote its prompt cannot be told",
    "curator": "Hermes wrote this to itself",
    "webhook": "a webhook delivered this",
    "msgraph_webhook": "a webhook delivered this",
    "homeassistant": "a device delivered this",
    "ntfy": "a notification delivered this",
    "raft": "another agent delivered this",
    "email": "anybody can write a mail and say who sent it",
    "feishu_comment": "a comment in a document delivered this",
}
"""Platforms that never carry a person's request, and why."""

NOT_TYPED = (
    ("[IMPORTANT: Background process", "output of a background process"),
    ("[IMPORTANT: You are running as a scheduled", "the prompt of a scheduled job"),
    ("[IMPORTANT: The user has invoked the ", "a skill and what was said with it, which cannot be told apart"),
    ("[IMPORTANT:", "a notice of Hermes"),
    ("[ASYNC DELEGATION", "a subagent's result"),
    ("[SYSTEM", "a notice of Hermes"),
    ("[System note", "a notice of Hermes"),
    ("[Session was just handed off", "a notice of Hermes"),
    ("[Continuing toward your standing goal]", "a goal that Hermes continues by itself"),
    (
        "[The user attached an image",
        "a description of a picture, which cannot be told apart from what was said with it",
    ),
    ("[The user sent an image", "a description of a picture"),
    ("[Replying to", "a quoted message, which cannot be told apart from the reply"),
    ("[Observed", "messages of others"),
    ("[User sent", "a note about an attachment"),
    ("[Command interrupted", "a notice of Hermes"),
    ("[CONTEXT COMPACTION", "a summary that a model wrote"),
    ("[USER INITIATED SKILLS RELOAD", "a notice of Hermes"),
    ("[Your active task list", "a list that a model wrote"),
    ("[Delivered from", "a notice of Hermes"),
    ("Review the conversation above and", "Hermes' own review"),
    ("work kanban task ", "a card, which a model may have written"),
)
"""Texts that Hermes composes, by how they or one of their lines begin, and what they are.

In a chat the received message decides instead.
"""

_ATTACHED = ("\n\n--- Attached Context ---", "\n\n--- Context Warnings ---")
SKILL = "[IMPORTANT: The user has invoked the "
"""How Hermes begins a text that it composes for a ``/skill``."""


@dataclass(slots=True)
class Received:
    """A message as the gateway received it from a person, before anything was put around it."""

    text: str
    sender: str
    platform: str
    chat: str = ""
    """Chat and thread."""
    sender_name: str = ""
    shared: bool = False
    """Several people write into this session."""
    direct: bool = True
    """Nobody but the sender reads this chat, or could press a button in it."""
    person: bool = True
    """The platform does not say that a bot or a webhook wrote it."""
    used: bool = False
    """It has been somebody's words once; a later turn that looks like it is not this message."""

    @property
    def place(self) -> str:
        """Where a session with this sender takes place: the chat, and in chats with sessions per person the sender."""
        return ":".join((self.platform, self.chat, "" if self.shared else self.sender))


@dataclass(frozen=True, slots=True)
class Turn:
    """What Hermes says at the beginning of a turn, and what was received in this context."""

    text: str
    platform: str
    sender: str = ""
    received: Received | None = None
    in_review: bool = False
    in_chat: bool = False
    kanban: bool = False
    """This process works on a kanban card."""
    with_skill: str = ""
    """What the person wrote behind a ``/skill``, where that is certain."""


@dataclass(frozen=True, slots=True)
class Words:
    """A person's own words, or why there are none."""

    text: str = ""
    sender: str | None = None
    source: str = ""
    why_not: str = ""

    @property
    def vouched(self) -> bool:
        """Whether a rule vouches for the text."""
        return not self.why_not


def words_of(turn: Turn) -> Words:
    """Return the person's own words of a turn. Total: what is unclear is nobody's."""
    for rule in RULES:
        said = rule(turn)
        if said is not None:
            return said
    return Words(why_not="no rule vouches for this text")


def text_of(message: object) -> str:
    """Return the text of a message as Hermes hands it over: a text, or parts of which the first text was typed."""
    if isinstance(message, str):
        return message
    if isinstance(message, list):
        for part in message:
            if isinstance(part, Mapping) and part.get("type") == "text" and isinstance(part.get("text"), str):
                return str(part["text"])
    return ""


def _review(turn: Turn) -> Words | None:
    return Words(why_not="Hermes' own review") if turn.in_review else None


def _kanban(turn: Turn) -> Words | None:
    return Words(why_not="a card, which a model may have written") if turn.kanban else None


def _not_a_person(turn: Turn) -> Words | None:
    why = NOT_A_PERSON.get(turn.platform)
    return Words(why_not=why) if why else None


def _empty(turn: Turn) -> Words | None:
    return None if turn.text.strip() else Words(why_not="there is no text")


def _chat(turn: Turn) -> Words | None:
    """Return the received message if this turn is about it; every platform that is not local is a chat."""
    if turn.platform in LOCAL and not turn.in_chat:
        return None
    received = turn.received
    if received is None:
        return Words(why_not="the gateway did not show the message that this turn is about")
    if not received.person:
        return Words(why_not="a bot or a webhook wrote this")
    if received.used:
        return Words(why_not="the message of this chat was heard already, and this is not it")
    if received.platform != turn.platform:
        return Words(why_not="the message came from another platform")
    if turn.sender and turn.sender != received.sender:
        return Words(why_not="somebody else wrote the message of this turn")
    said = _said(received.text, turn.text)
    if not said:
        return Words(why_not="the text of this turn is not the message that was received")
    received.used = True
    return Words(said, received.sender or None, f"chat:{received.platform}")


def _said(raw: str, composed: str) -> str:
    """Return the person's text if the composed one ends with it, as a message, after a command, or with a skill."""
    raw = raw.strip()
    forms = [raw]
    if raw.startswith("/"):
        forms.append(raw.partition(" ")[2].strip())
    if composed.startswith(SKILL):
        return next((form for form in forms[1:] if form and form in composed), "")
    head = _before_attachments(composed).strip()
    bare_head = _without_references(head)
    for form in forms:
        bare = _without_references(form)
        if bare and (head.endswith(form) or bare_head.endswith(bare)):
            return form
    return ""


def _without_references(text: str) -> str:
    """Return the words of a text without its ``@file:`` references, which Hermes takes out."""
    return " ".join(word for word in text.split() if not word.startswith("@"))


def _before_attachments(text: str) -> str:
    places = [place for place in (text.find(marker) for marker in _ATTACHED) if place >= 0]
    return text[: min(places)] if places else text


def _with_skill(turn: Turn) -> Words | None:
    if turn.platform not in LOCAL or not turn.with_skill or not turn.text.startswith(SKILL):
        return None
    return Words(turn.with_skill, turn.sender or None, f"{turn.platform or 'program'}:skill")


def _not_typed(turn: Turn) -> Words | None:
    # Texts that wait while the agent is busy are joined by line breaks, a notice with what a person typed after it.
    lines = f"\n{turn.text.lstrip()}"
    return next((Words(why_not=what) for start, what in NOT_TYPED if f"\n{start}" in lines), None)


def _typed(turn: Turn) -> Words | None:
    if turn.platform not in LOCAL:
        return None
    text = _before_attachments(turn.text).strip()
    source = turn.platform or "program"
    return Words(text, turn.sender or None, source) if text else Words(why_not="only attachments")


RULES: tuple[Callable[[Turn], Words | None], ...] = (
    _review,
    _kanban,
    _not_a_person,
    _empty,
    _chat,
    _with_skill,
    _not_typed,
    _typed,
)
"""In order; the first that speaks decides."""
