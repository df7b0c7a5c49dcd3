"""Parties that a call reaches, read from any value as the most lenient mail client would read it.

Rules of this file:

* A display name in quotes is no party, the address behind it is; an address that stands bare is a party, wherever.
* A party is one canonical text: an address, a handle, a channel, a phone number, an IBAN, a webhook, or a name.
* What is cut by a limit, or of a type that cannot be read, makes the reading incomplete; it is never dropped silently.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from agentsfence_core.classification.targets.addresses import (
    SIMPLE_ADDRESS,
    addresses_in,
    canonical_address,
    find_addresses,
    lowered,
)
from agentsfence_core.classification.targets.hosts import read_url
from agentsfence_core.limits import LIMITS

__all__ = [
    "RecipientReading",
    "addresses_in",
    "canonical_recipient",
    "find_addresses",
    "read_recipients",
    "recipients_in_mime",
]

_LINES = re.compile("[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")
_ENCODED_NEWLINE = re.compile(r"%0[ad]", re.IGNORECASE)
_HEADER = re.compile(r"\s*([A-Za-z][A-Za-z-]{0,40})[ \t]*:")
_RECIPIENT_HEADERS = frozenset(
    {"to", "cc", "bcc", "resent-to", "resent-cc", "resent-bcc", "apparently-to", "envelope-to", "delivered-to"}
)
_OTHER_HEADERS = frozenset(
    {
        "subject", "from", "sender", "date", "message-id", "in-reply-to", "references", "mime-version", "reply-to",
        "content-type", "content-transfer-encoding", "content-disposition", "return-path", "received", "importance",
    }
)  # fmt: skip
_PART = re.compile(r'"[^"]*"|<[^<>]*>|\([^()]*\)|[,;]|[^",;<(]+|.', re.DOTALL)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,40}://")
_ENCODED_WORD = re.compile(r"=\?([\w.*-]{1,60})\?([bBqQ])\?([^?\s]{0,2000})\?=")
_HANDLE = re.compile(r"(?<!\S)(?:[#@][\w.-]{1,120}|\+[0-9][0-9().-]{5,20})(?!\S)")
_PHONE = re.compile(r"\+?[0-9(][0-9()\s./-]{5,30}")
_IBAN = re.compile(r"[A-Za-z]{2}[0-9]{2}[ -]?(?:[A-Za-z0-9]{4}[ -]?){2,7}[A-Za-z0-9]{1,4}")
_PREFIX = re.compile(r"(?:(?:mailto|smtp|email|tel|sms):\s*)+", re.IGNORECASE)
_MARKED_ID = re.compile(r"[@#!]([A-Z][A-Z0-9]{2,})(?:\|.*)?", re.DOTALL)
_WRAPPING = " \t\"'`<>\u2018\u2019\u201c\u201d"
_HELD = re.compile(r"[\s,;:<>()\[\]]")
"""What would end a token; in a quoted local part (``"bob smith"@x.example``) it belongs to the address."""
_NUMBERED_ID = re.compile(r"[0-9]{1,20}:\S+")
"""A chat id such as ``19:abc@thread.v2``: no address, although it looks like one."""
_QUOTE, _BACKSLASH = "\ue000", "\ue001"
_ESCAPES = {'\\"': _QUOTE, "\\\\": _BACKSLASH}
"""Escaped characters stand aside while a text is cut at quotes."""
_ESCAPE = re.compile(r'\\["\\]')
_LABELS = frozenset(
    {
        "name", "displayname", "fullname", "firstname", "lastname", "givenname", "familyname", "nickname", "label",
        "title", "type", "kind", "role", "status", "responsestatus", "comment", "locale", "timezone", "permission",
        "department", "company", "photo", "avatar",
    }
)  # fmt: skip
"""Keys beside a party that say something about it; they are parties only where nothing else is written."""
_NUMBER_KEYS = ("id", "phone", "number", "chat", "user", "channel", "to", "recipient")
_MIME_HEAD = 200_000
"""Characters of a raw message that are searched for its headers."""


@dataclass(frozen=True, slots=True)
class RecipientReading:
    """Canonical parties, each once, in order."""

    parties: tuple[str, ...]
    complete: bool
    """Whether everything could be read."""


@dataclass(slots=True)
class _Reader:
    """What is found so far, and how much may still be read."""

    parties: dict[str, None] = field(default_factory=dict)
    nodes: int = LIMITS.argument_nodes
    characters: int = LIMITS.argument_text
    complete: bool = True

    def add(self, party: str) -> None:
        """Keep a party, unless there are too many or it is empty."""
        if len(self.parties) >= LIMITS.targets:
            self.complete = False
        elif party:
            self.parties[party.replace(_QUOTE, '"').replace(_BACKSLASH, "\\")] = None


def read_recipients(value: object) -> RecipientReading:
    """Return every party named in a value of any type and depth."""
    if isinstance(value, str) and SIMPLE_ADDRESS.fullmatch(value):
        return RecipientReading((value.lower(),), complete=True)
    reader = _Reader()
    waiting: list[tuple[object, int]] = [(value, 0)]
    while waiting:
        item, depth = waiting.pop()
        reader.nodes -= 1
        if reader.nodes < 0 or depth > LIMITS.argument_depth:
            reader.complete = False
            if reader.nodes < 0:
                break
            continue
        waiting.extend((inner, depth + 1) for inner in reversed(_read_item(item, reader)))
    return RecipientReading(tuple(reader.parties), reader.complete)


def canonical_recipient(text: str) -> str:
    """Return the one spelling of a single party. Idempotent; names that only look alike stay different."""
    if SIMPLE_ADDRESS.fullmatch(text):
        return text.lower()
    for _ in range(8):
        form = _canonical_once(text)
        if form == text:
            return form
        text = form
    # A text wrapped so deeply that it never settles is no party that anybody meant.
    return "unreadable:" + re.sub(r"[\W_]+", "", text)


def recipients_in_mime(raw: str) -> RecipientReading:
    """Return the parties in the head of an RFC 822 message, as such or as base64 (the ``raw`` of mail services)."""
    if len(raw) > LIMITS.argument_text:
        return RecipientReading((), complete=False)
    message = raw if _HEADER.match(raw) else _decoded(raw)
    if message is None:
        return RecipientReading((), complete=False)
    head = re.split(r"\r\n\r\n|\n\n|\r\r", message.lstrip("\r\n")[:_MIME_HEAD], maxsplit=1)[0]
    lines = re.split(r"\r\n|\n|\r", head)
    unfolded: list[str] = []
    for line in lines:
        if line[:1] in {" ", "\t"} and unfolded:
            unfolded[-1] += line
        else:
            unfolded.append(line)
    reader = _Reader()
    reader.complete = len(head) < _MIME_HEAD
    for line in unfolded:
        header = _HEADER.match(line)
        if header and header[1].lower() in _RECIPIENT_HEADERS:
            _read_line(line[header.end() :], reader)
    return RecipientReading(tuple(reader.parties), reader.complete)


def _decoded(raw: str) -> str | None:
    """Return the text of base64 or base64url, padding or not; ``None`` where it is neither."""
    compact = "".join(raw.split()).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(compact + "=" * (-len(compact) % 4), validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return None


def _read_item(item: object, reader: _Reader) -> list[object]:
    """Read one value; return the values inside it that are still to be read."""
    if isinstance(item, str):
        return _read_text(item, reader)
    if item is None or isinstance(item, bool):
        return []
    if isinstance(item, Mapping):
        return _read_mapping(item, reader)
    if isinstance(item, list | tuple | set | frozenset):
        return list(item)[: max(reader.nodes, 0) + 1]
    if isinstance(item, bytes | bytearray):
        return _read_text(bytes(item).decode("utf-8", "replace"), reader)
    if isinstance(item, int):
        reader.add(str(item) if item.bit_length() < 256 else "")
    elif isinstance(item, float) and item.is_integer() and abs(item) < 1e18:
        reader.add(str(int(item)))
    else:
        reader.complete = False
    return []


def _read_mapping(item: Mapping[object, object], reader: _Reader) -> list[object]:
    """Read the keys that are parties; return the values that may be, without those that only describe one."""
    parties: list[object] = []
    labels: list[object] = []
    for key, value in item.items():
        if len(parties) + len(labels) > reader.nodes:
            reader.complete = False
            break
        name = key if isinstance(key, str) else str(key) if isinstance(key, int) else ""
        if "@" in name or name.startswith(("#", "+")):
            parties.append(name)
        if value is None or value == "" or isinstance(value, bool):
            continue
        short = name.lower().replace("_", "").replace("-", "").replace(" ", "")
        if isinstance(value, int | float) and not short.endswith(_NUMBER_KEYS):
            continue
        (labels if short in _LABELS else parties).append(value)
    return parties or labels


def _read_text(text: str, reader: _Reader) -> list[object]:
    """Read a text: a JSON value inside it is returned, anything else is read as lines of parties."""
    if len(text) > reader.characters:
        text = text[: max(reader.characters, 0)]
        reader.complete = False
    reader.characters -= len(text)
    text = text.strip()
    if (text[:1] in {"[", "{"} or text[:2] in {'"[', '"{'}) and text[-1:] in {"]", "}", '"'} and _is_short(text):
        try:
            return [json.loads(text)]
        except (ValueError, RecursionError):
            pass
    if "%0" in text:
        text = _ENCODED_NEWLINE.sub("\n", text)
    for line in _LINES.split(text):
        header = _HEADER.match(line)
        name = header[1].lower() if header else ""
        if header and name in _RECIPIENT_HEADERS:
            _read_line(line[header.end() :], reader)
        elif name not in _OTHER_HEADERS:
            _read_line(line, reader)
    return []


def _is_short(text: str) -> bool:
    """Whether a text may be parsed as JSON."""
    return len(text) <= LIMITS.json_text


def _read_line(line: str, reader: _Reader) -> None:
    """Read a list of parties on one line."""
    if line[:16].lstrip().lower().startswith("mailto:"):
        _read_mailto(line.strip()[7:], reader)
    else:
        _read_list(line, reader)


def _read_mailto(rest: str, reader: _Reader) -> None:
    """Read what follows ``mailto:``; ``cc`` and ``bcc`` of its query are parties like the rest."""
    addresses, _, query = rest.partition("?")
    _read_list(unquote(addresses), reader)
    for pair in query.replace("&amp;", "&").split("&"):
        name, _, value = pair.partition("=")
        if unquote(name).strip().lower() in _RECIPIENT_HEADERS:
            _read_list(unquote(value), reader)


def _read_list(text: str, reader: _Reader) -> None:
    """Read parties between ``,`` and ``;`` that stand outside quotes, angles and comments."""
    if "\\" in text:
        text = _ESCAPE.sub(lambda found: _ESCAPES[found[0]], text)
    entry: list[str] = []
    parts = _PART.findall(text)
    for place, part in enumerate(parts):
        following = parts[place + 1] if place + 1 < len(parts) else ""
        if part in {",", ";"} and not _inside_url(entry, following):
            _read_entry(entry, reader)
            entry = []
        else:
            entry.append(part)
    _read_entry(entry, reader)


def _inside_url(entry: list[str], following: str) -> bool:
    """Whether a comma belongs to a URL: no space behind it, and no other party either."""
    if not entry or not _URL.match(entry[0].lstrip()) or not following or following[0].isspace():
        return False
    return "@" not in following and "://" not in following and following[0] not in "#,;"


def _read_entry(parts: list[str], reader: _Reader) -> None:
    """Read one entry of a list: usually one party, more where the text hides some."""
    raw = "".join(parts).strip()
    if not raw or raw.lower().startswith("undisclosed-recipients"):
        return
    if _URL.match(raw):
        for word in raw.split():
            reader.add(canonical_recipient(word))
        return
    if _NUMBERED_ID.fullmatch(raw):
        reader.add(lowered(raw))
        return
    angles, bare, quoted = _sort_parts(parts)
    found = [party for angle in angles for party in _in_angle(angle)]
    found += _in_bare(bare) if angles or "@" in bare or "=?" in bare else []
    if not found and not _PHONE.fullmatch(raw):
        found = [address for text in quoted for address in addresses_in(text)]
    for party in found or [canonical_recipient(raw)]:
        reader.add(party)


def _sort_parts(parts: list[str]) -> tuple[list[str], str, list[str]]:
    """Return the contents of angles, the bare text, and the contents of quotes and comments."""
    angles: list[str] = []
    bare: list[str] = []
    quoted: list[str] = []
    for place, part in enumerate(parts):
        if part[0] == "<" and len(part) > 1:
            angles.append(part[1:-1])
            bare.append(" ")
        elif part[0] in '"(' and len(part) > 1:
            glued = place + 1 < len(parts) and parts[place + 1].startswith("@")
            (bare if glued else quoted).append(_HELD.sub("\ue002", part[1:-1]) if glued else part[1:-1])
            bare.append("" if glued else " ")
        else:
            bare.append(part)
    return angles, "".join(bare), quoted


def _in_angle(text: str) -> list[str]:
    """Return the parties in angle brackets; a source route (``@a,@b:c@d``) leads to its last address."""
    if text.lstrip().startswith("@") and ":" in text:
        text = text.rpartition(":")[2]
    return [canonical_recipient(f"<{word}>") for word in re.split(r"[\s,;]+", text) if word]


def _in_bare(text: str) -> list[str]:
    """Return the parties in text outside quotes and angles, encoded words decoded as lenient clients do."""
    if "=?" in text:
        text = f"{text} {_decode_words(text)}"
    marked = [canonical_recipient(handle) for handle in _HANDLE.findall(text)] if "#" in text or "@" in text else []
    return [*addresses_in(text), *marked]


def _decode_words(text: str) -> str:
    """Return the decoded encoded-words of a text, apart from each other."""
    words: list[str] = []
    for charset, encoding, payload in _ENCODED_WORD.findall(text):
        try:
            if encoding in "bB":
                plain = binascii.a2b_base64(payload + "=" * (-len(payload) % 4))
            else:
                plain = binascii.a2b_qp(payload, header=True)
            words.append(plain.decode(charset.partition("*")[0], "replace"))
        except (binascii.Error, ValueError, LookupError):
            words.append(payload)
    return " ".join(words)


def _canonical_once(text: str) -> str:
    """Return one step towards the canonical form of a party."""
    text = text.strip()
    if text.endswith(">") and "<" in text:
        text = text[text.rindex("<") + 1 : -1].strip()
        marked = _MARKED_ID.fullmatch(text)
        text = marked[1] if marked else text
    text = text.strip(_WRAPPING)
    prefix = _PREFIX.match(text)
    if prefix:
        text = text[prefix.end() :].partition("?")[0]
    if _URL.match(text):
        return _canonical_webhook(text)
    if _PHONE.fullmatch(text) and sum(character.isdigit() for character in text) >= 7:
        return _canonical_phone(text)
    if _IBAN.fullmatch(text) and any(character.isdigit() for character in text[4:]):
        return text.replace(" ", "").replace("-", "").lower()
    text = " ".join(text.split())
    return lowered(text) if "@" not in text[1:] or _NUMBERED_ID.fullmatch(text) else canonical_address(text)


def _canonical_webhook(text: str) -> str:
    """Return a URL with its host in canonical form and everything else in lower case."""
    reading = read_url(text)
    if reading is None or not reading.host:
        return lowered(text)
    port = f":{reading.port}" if reading.port is not None else ""
    query = f"?{reading.query}" if reading.query else ""
    return lowered(f"{reading.scheme}://{reading.host}{port}{reading.path}{query}")


def _canonical_phone(text: str) -> str:
    """Return a phone number as digits, with its ``+``; a trunk zero in brackets is not dialled from abroad."""
    if text.startswith("+"):
        text = text.replace("(0)", "")
    elif "." in text:
        return text
    digits = "".join(character for character in text if character.isdigit())
    return f"+{digits}" if text.startswith("+") else digits
