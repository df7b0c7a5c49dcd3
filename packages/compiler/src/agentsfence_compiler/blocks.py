# ruff: noqa: RUF001  (marks of many scripts)
"""Blocks of lines that a person shows without a fence: banners, ruled blocks, chats and logs, a text after a colon.

Each rule looks at the lines from one place on and says which of them are shown, or nothing. A rule either looks at a
few lines or takes all that it has looked at, so that a message is read in one go.
"""

from __future__ import annotations

import re

from agentsfence_compiler.mail_marks import DOES_TASKS, FORWARDS, POINTS, READS_TEXT

PLACE = "⟦quoted⟧"
"""Stands where quoted material stood: a sign that is no word, name or tag in any language."""

Found = tuple[str, int, int]
"""Kind, first line that is shown, first line after it."""

_LINE = 2_000  # characters of a line that are looked at
_BANNER = re.compile(r"\s{0,8}[-=*#<\[_]{2,40}\s{0,4}(?:BEGIN|START)(?![a-z])", re.IGNORECASE)
_BANNER_END = re.compile(r"\s{0,8}[-=*#<\[_]{2,40}\s{0,4}(?:END|STOP)(?![a-z])", re.IGNORECASE)
_RULE = re.compile(r"\s{0,8}([-=*_#])\1{2,200}\s{0,8}")
_SPOKEN = re.compile(
    r"\s{0,8}(?:[\[(][^\])\n]{0,24}\d:\d\d[^\])\n]{0,12}[\])]\s{0,4}[^:\n]{1,40}:\s|\d{4}-\d\d-\d\d[T ]\d\d:\d\d)"
)
_ITEM = re.compile(r"\s{0,8}(?:[-*+•]|\d{1,3}[.)])\s")


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
    """Find two or more lines of a chat or a log: each begins with a time, and who spoke or a date."""
    stop = place
    while stop < len(lines) and _SPOKEN.match(lines[stop]):
        stop += 1
    return ("log", place, stop) if stop - place > 1 else None


def shown_text(lines: list[str], place: int) -> Found | None:
    """Find the paragraph after "Translate this:". A list of items is the person's own, and so is a list of tasks."""
    line, before = lines[place], _before(lines, place)
    if not before.endswith((":", "：")) or not line.strip() or line.startswith(PLACE) or _ITEM.match(line):
        return None
    lowered = before.lower()
    words = set(re.findall(r"[^\W\d_]+", lowered))
    reads = any(word in words or (not word.isascii() and word in lowered) for word in READS_TEXT)
    found = paragraph(lines, place) if reads and words.isdisjoint(DOES_TASKS) else None
    return ("shown", place, found[2]) if found else None


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
