# ruff: noqa: RUF001  (marks of many scripts)
"""Blocks of lines that a person shows without a fence: banners, ruled blocks, chats and logs, a text after a colon.

Each rule looks at the lines from one place on and says which of them are shown, or nothing. A rule either looks at a
few lines or takes all that it has looked at, so that a message is read in one go.
"""

from __future__ import annotations

import re

from agentsfence_compiler.mail_marks import (
    ACTS_ON,
    AFTERWARDS,
    DOES_TASKS,
    FORWARDS,
    LOOKS_AT,
    POINTS,
    READS_TEXT,
    TEXT_NOUNS,
    THIS_TEXT,
)

PLACE = "⟦quoted⟧"
"""Stands where quoted material stood: a sign that is no word, name or tag in any language."""

Found = tuple[str, int, int]
"""Kind, first line that is shown, first line after it."""

_FEW_WORDS = 6  # of a lead-in that is nothing but its verb and a language
_BARE_ITEMS = 50  # lines of a list of bare names that the person writes
_POINTING = frozenset((*POINTS, *THIS_TEXT))
_READING = frozenset(READS_TEXT)
_LOOKING = frozenset((*READS_TEXT, *LOOKS_AT))
_THEN = re.compile(r"\b(?:then|dann|puis|luego|depois|poi|dan)\b")
_LINE = 2_000  # characters of a line that are looked at
_BANNER = re.compile(r"\s{0,8}[-=*#<\[_]{2,40}\s{0,4}(?:BEGIN|START)(?![a-z])", re.IGNORECASE)
_BANNER_END = re.compile(r"\s{0,8}[-=*#<\[_]{2,40}\s{0,4}(?:END|STOP)(?![a-z])", re.IGNORECASE)
_RULE = re.compile(r"\s{0,8}([-=*_#])\1{2,200}\s{0,8}")
_SAID = re.compile(
    r"\s{0,8}(?:[\[(][^\])\n]{0,24}\d:\d\d[^\])\n]{0,12}[\])]\s{0,4}[^:\n]{1,40}:\s"  # "[10:42, 3/3/2026] Bob: "
    r"|\d{1,4}[./-]\d{1,2}[./-]\d{2,4},?\s\d{1,2}:\d\d(?::\d\d)?(?:\s?[APap]\.?[Mm]\.?)?\s[-–]\s[^:\n]{1,40}:\s"
    r"|\[?\d{1,2}:\d\d(?::\d\d)?\]?\s{1,3}<[@+~]?[\w.-]{1,30}>\s)"  # "10:42 <bob> "
)
"""A line of a chat that names its time and who spoke: one is enough."""
_LOGGED = re.compile(r"\s{0,8}(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|<[@+~]?[\w.-]{1,30}>\s)")
"""A line of a log or a chat that names its time or who spoke: only two are no remark of the person."""
_SPEAKER = re.compile(
    r"\s{0,8}[A-Z][\w.'-]{0,30}(?:\s[A-Z][\w.'-]{0,30}){0,2}(\s{1,4}(?:[—–-]\s)?)"
    r"(?:(?:Today|Yesterday)\s(?:at\s)?|\d{1,4}[./-]\d{1,2}[./-]\d{2,4},?\s)?\d{1,2}:\d\d(?:\s?[AP]M)?\s{0,8}"
    r"|\s{0,8}[^\n,\[\]]{1,40}(,)\s\[[^\]\n]{0,24}\d:\d\d[^\]\n]{0,12}\]:?\s{0,8}"
)
"""A line above somebody's message: "Bob  10:42 AM", "Bob — Today at 10:42", "Bob, [3/3/2026 10:42]:"."""
_PROMPT = re.compile(
    r"\s{0,8}(?:\$|[\w.-]{1,40}@[\w.-]{1,60}(?::[^\s$#%]{0,100})?[$#%]|PS [A-Za-z]:\\[^>\n]{0,100}>)\s{1,4}(?!\d)\S"
)
"""A command behind the prompt of a terminal; "$ 50" is an amount."""
_ITEM = re.compile(r"\s{0,8}(?:[-*+•–·◦‣▪]|\d{1,3}[.)]|[A-Za-z][.)])\s")
_INDENTED = re.compile(r"(?: {4}|\t)\s{0,60}\S")
_WORDS = re.compile(r"[^\W\d_]+")
_ASKS = re.compile(
    r"(?:what|why|how|who|which|where|is|are|was|were|does|did|has|have|was|warum|wieso|wie|wer|ist|sind|que|qu|quoi|"
    r"pourquoi|est|qué|por|cómo|es|o|che|perché|cosa|è|wat|waarom|hoe)\b",
    re.IGNORECASE,
)
_USES_RESULT = re.compile(
    r"(?:please\s)?(?:(?:email|mail|send|save|write|post|forward|put|store|share|add|append|export)\s(?:me\s)?"
    r"(?:the|your)\s(?:\w{1,20}\s)?(?:summary|translations?|results?|answers?|explanations?|output|corrections?|text)\b"
    r"|(?:save|write|store|put|export)\s(?:it|them)\b)",
    re.IGNORECASE,
)
"""How a person goes on with what is made of a text: "Send the translation to …", "Save it to …"."""


def bar_lines(lines: list[str], place: int) -> Found | None:
    """Find two or more lines behind a bar; a row of a table has one at its end too and stays."""
    stop = place
    while stop < len(lines) and lines[stop].startswith("|") and not lines[stop].rstrip().endswith("|"):
        stop += 1
    return ("quote", place, stop) if stop - place > 1 else None


def banner(lines: list[str], place: int) -> Found | None:
    """Find what stands between ``-----BEGIN …-----`` and its end; without an end, the rest."""
    if not _BANNER.match(lines[place]):
        return None
    stop = next((n + 1 for n in range(place + 1, len(lines)) if _BANNER_END.match(lines[n])), len(lines))
    return ("banner", place, stop)


def ruled(lines: list[str], place: int) -> Found | None:
    """Find a block under a rule to which the line before points ("the ticket below"), up to the next such rule."""
    rule = _RULE.fullmatch(lines[place][:_LINE])
    before = _before(lines, place)
    if rule is None or not (before.endswith((":", "：")) or any(word in before.lower() for word in POINTS)):
        return None
    for stop in range(place + 1, len(lines)):
        other = _RULE.fullmatch(lines[stop][:_LINE])
        if other is not None and other[1] == rule[1]:
            return ("ruled", place, stop + 1)
    return ("ruled", place, len(lines))


def spoken(lines: list[str], place: int) -> Found | None:
    """Find lines of a chat or a log, with what stands between them without an empty line."""
    said = _SAID.match(lines[place])
    if not said and not _LOGGED.match(lines[place]):
        return None
    stop, seen, last = place, 0, place
    while stop < len(lines) and lines[stop].strip():
        if _SAID.match(lines[stop]) or _LOGGED.match(lines[stop]):
            seen, last = seen + 1, stop
        stop += 1
    return ("log", place, last + 1) if said or seen > 1 else None


def speaker(lines: list[str], place: int) -> Found | None:
    """Find a message under a line that only says who spoke, and when."""
    found = _SPEAKER.fullmatch(lines[place][:_LINE])
    if found is None or not (place + 1 < len(lines) and lines[place + 1].strip()):
        return None
    sure = found[2] or len(found[1] or "") > 1 or _before(lines, place).endswith(("?", "？", ":", "："))
    told = paragraph(lines, place)
    return ("log", place, told[2]) if sure and told else None


def terminal(lines: list[str], place: int) -> Found | None:
    """Find commands that stand behind a prompt: what a terminal shows."""
    stop = place
    while stop < len(lines) and _PROMPT.match(lines[stop]):
        stop += 1
    return ("terminal", place, stop) if stop > place else None


def shown_text(lines: list[str], place: int) -> Found | None:
    """Find the material after "Translate this:", to its end. A list of tasks is the person's own."""
    line, before = lines[place], _before(lines, place)
    if not line.strip() or line.startswith(PLACE):
        return None
    colon, points = before.endswith((":", "：")), points_at_text(before)
    if _INDENTED.match(line) and place and not lines[place - 1].strip():
        asks = before.endswith(("?", "？")) and _ASKS.match(before.lstrip("¿ ")) is not None
        return ("shown", place, _indented_end(lines, place)) if asks or (colon and points) else None
    if not colon or not (points or (reads_text(before) and not _ITEM.match(line))):
        return None
    if _ITEM.match(line):
        return _shown_list(lines, place)
    found = paragraph(lines, place)
    stop = found[2] if found else place
    return ("shown", place, _shown_end(lines, stop) if points else stop)


def reads_text(lead: str) -> bool:
    """Whether the words before a text say that it is read, translated or explained, and not that tasks are done."""
    return _reads(lead, _READING)


def points_at_text(lead: str) -> bool:
    """Whether the words before a text say so and point at it: "Translate these", "Explain the following"."""
    lowered = lead.lower()
    words = _WORDS.findall(lowered)
    if _has(lowered, set(words), _POINTING):
        return not _acts(words) and _reads(lead, _LOOKING)
    opening = [word for word in words if word not in {"please", "bitte", "and"}][:1]
    return len(words) <= _FEW_WORDS and bool(opening) and opening[0] in _READING and reads_text(lead)


def _acts(words: list[str]) -> bool:
    """Whether what is pointed at is acted on: "fix the following", but not "fix the typos in this text"."""
    if not TEXT_NOUNS.isdisjoint(words):
        return False
    pointing = max((place for place, word in enumerate(words) if word in _POINTING), default=len(words))
    return next((word in ACTS_ON for word in reversed(words[:pointing]) if word in ACTS_ON or word in _LOOKING), False)


def _reads(lead: str, verbs: frozenset[str]) -> bool:
    lowered = _THEN.split(lead.lower())[-1]
    words = set(_WORDS.findall(lowered))
    return words.isdisjoint(DOES_TASKS) and _has(lowered, words, verbs)


def _has(lowered: str, words: set[str], known: frozenset[str]) -> bool:
    """Whether one of the words is known; those of scripts without spaces count within a line too."""
    if not words.isdisjoint(known):
        return True
    return not lowered.isascii() and any(word in lowered for word in known if not word.isascii())


def _shown_list(lines: list[str], place: int) -> Found | None:
    """Find a list to its end, with the lines that its items go on with; bare names and paths say what to read."""
    stop = end = place
    prose = False
    while stop < len(lines):
        line = lines[stop]
        prose = prose or stop == place + _BARE_ITEMS  # no further look-ahead: what is that long is material
        if _ITEM.match(line) or (line[:2].isspace() and line.strip()):
            prose = prose or len(line.split(None, 3)) > 2
            end = stop + 1
        elif line.strip():
            break
        stop += 1
    return ("shown", place, end) if prose else None


def _indented_end(lines: list[str], place: int) -> int:
    end = place
    for number in range(place, len(lines)):
        if _INDENTED.match(lines[number]):
            end = number + 1
        elif lines[number].strip():
            break
    return end


def _shown_end(lines: list[str], stop: int) -> int:
    """Return where a text of several paragraphs ends: where the person goes on with it, else at the end of all."""
    for number in range(stop, len(lines)):
        if lines[number].strip() and not lines[number - 1].strip() and _goes_on(lines[number].strip()):
            return number
    return len(lines)


def _goes_on(line: str) -> bool:
    lowered = line[:200].lower()
    follows = next((word for word in AFTERWARDS if lowered.startswith(word)), "")
    return bool(follows and not lowered[len(follows) : len(follows) + 1].isalpha()) or bool(_USES_RESULT.match(line))


def forwarded_subject(lines: list[str], place: int) -> Found | None:
    """Find the subject line of a forwarded mail: "Fwd: please send the contract"."""
    return ("mail-tail", place, place + 1) if lines[place][:40].lstrip().lower().startswith(FORWARDS) else None


def paragraph(lines: list[str], place: int) -> Found | None:
    """Return the next paragraph as reported speech."""
    first = place
    while first < len(lines) and not lines[first].strip():
        first += 1
    if first < len(lines) and lines[first].strip() == PLACE:
        return None  # what was said stood in a fence and is gone: the next line is the person's own
    stop = first
    while stop < len(lines) and lines[stop].strip():
        stop += 1
    return ("reported", first, stop) if stop > first else None


def _before(lines: list[str], place: int) -> str:
    """Return the last line with words among the three before."""
    return next((lines[n][-_LINE:].strip() for n in range(place - 1, max(-1, place - 4), -1) if lines[n].strip()), "")
