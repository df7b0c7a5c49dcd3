# ruff: noqa: RUF001  (marks of many scripts)
"""Takes out of a message what the person shows the agent, so that only what the person asks is left (DESIGN 7.1).

Rules of this file:

* Total and linear: each line is looked at once, each quotation mark once; no search starts again where one failed.
* Fail closed: where a quotation has no end, all that follows is quoted. Bans in text whose end or owner is not sure
  (after an unclosed fence, tag or quotation mark, under "Translate this:", in a chat) still count, so that text is
  handed on as ``data``; a quoted mail's own "do not reply" counts for nothing.
* What was taken out leaves `PLACE` behind, so that the sentence around it can still be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from agentsfence_compiler.blocks import (
    PLACE,
    Found,
    banner,
    bar_lines,
    forwarded_subject,
    paragraph,
    points_at_text,
    reads_text,
    ruled,
    shown_text,
    speaker,
    spoken,
    terminal,
)
from agentsfence_compiler.mail_marks import (
    ADDRESSED,
    ATTRIBUTION_ENDS,
    DICTATES,
    FORMATTING_TAGS,
    FROM,
    HOST_BLOCKS,
    LAYOUT,
    SENT,
    SEPARATORS,
    TAG_NAMES,
    USER_TAGS,
)
from agentsfence_compiler.quotation import without_long_quotes
from agentsfence_core.limits import LIMITS
from agentsfence_core.ports import Instruction, Removed

_PREVIEW = 60
_LEAD = 300  # characters before a tag in which words that show it are looked for
_TAIL = 20  # characters at the end of a quoted line that tell whether its sentence goes on
_UNFINISHED = re.compile(r"(?:,|\b(?:please|and|or|to|the|a|an|you|und|oder|bitte|et|ou|y|o|e))\s{0,4}$", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?。！？]\s|\n\s{0,8}\n")
_COUNTED = frozenset({"shown", "log", "terminal"})
"""Kinds of shown lines whose bans still count."""
_MARKS = re.compile(r"[>＞`~\"“”„«»「」『』]")
_LINE = 2_000  # characters of a line in which marks are looked for
_FENCE = re.compile(r"`{3,}|~{3,}|\"{3}|'{3}")
_QUOTE = re.compile(r"[ \t]{0,8}(?:[-*+][ \t]{1,4}|\d{1,3}[.)][ \t]{1,4})?(?:>|＞|&gt;)")
_TAG = re.compile(
    r"<(/?)([A-Za-z][A-Za-z0-9_:.-]{0,60})([^<>\n]{0,300})>|\[(/?)(quote|code|paste|pasted|attachment|file|context)(=[^\[\]\n]{0,200})?\]"
)
_HEADER = re.compile(r"[ \t>*_]{0,8}([^\s:：*_][^:：\n*_]{0,24}?)[ \t*_]{0,4}[:：][ \t*_]{0,4}(.{0,300})")
_RULE = re.compile(r"[-_=*—–\s>#|]{0,60}")
_EDGES = ' \t-_=*—–>#|:：[]«»"“”„'
_HOST_NOTE = re.compile(
    r"\[(?:Replying to|IMPORTANT|System note|ASYNC DELEGATION|The user (?:sent|attached)|Image attach|Runtime note)",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"\W{0,4}(?:(?:on|am|le|el|il|em|op|den|dnia|w dniu|в|на|在|于)\s|\d{1,4}[-./年])"  # "On Tue, …", "2026-03-03 …"
    r"|.{0,300}[<(][^\s<>()@]{1,100}@[^\s<>()@]{1,200}[>)]\W{0,3}\w",  # "Eve <eve@x.example> wrote"
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Isolated:
    """A message, divided."""

    instruction: Instruction
    """The person's own words, with `PLACE` where something was taken out."""
    data: str = ""
    """Text that is shown, but not surely somebody else's, or a message that is only quoted: its bans still count."""
    removed: tuple[Removed, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether no words of the person are left."""
        return not self.instruction.replace(PLACE, "").strip()


@dataclass(slots=True)
class _Sheet:
    """What has been kept and taken out so far."""

    kept: list[str] = field(default_factory=list)
    removed: list[Removed] = field(default_factory=list)
    data: list[str] = field(default_factory=list)

    def take(self, kind: str, text: str) -> None:
        """Report a piece as taken out and leave one `PLACE` behind."""
        if not text.strip():
            self.kept.append(text)
            return
        self.removed.append(Removed(kind, len(text), text.strip()[:_PREVIEW]))
        if not self.kept or self.kept[-1] != f"{PLACE}\n":
            self.kept.append(f"{PLACE}\n" if text.endswith("\n") else PLACE)


def isolate(message: str) -> Isolated:
    """Return the person's own words apart from what they show. Never raises; linear in the message."""
    text = (
        message[: LIMITS.message]
        .replace("\r\n", "\n")
        .replace("\r", "\n")
        .replace("\u2028", "\n")
        .replace("\u2029", "\n")
    )
    sheet = _Sheet()
    if len(message) > LIMITS.message:
        sheet.data.append(message[LIMITS.message :])  # read for bans only
    for cut in (_cut_tags, _strip_user_tags, _cut_fences, _cut_lines):
        text = cut(text, sheet)
    text, long_quotes, unclosed = without_long_quotes(text, PLACE)
    if unclosed:
        sheet.data.append(unclosed)
    removed = [*sheet.removed, *(Removed("long-quote", len(quote), quote.strip()[:_PREVIEW]) for quote in long_quotes)]
    if removed and not text.replace(PLACE, "").strip():
        sheet.data = [
            _MARKS.sub(" ", message[: LIMITS.message])
        ]  # nothing but quoted material: only what it forbids counts
    return Isolated(Instruction(text.strip()), "\n".join(sheet.data), tuple(removed))


# ------------------------------------------------------------------------------------------------------------------
# Tags


def _tag_name(match: re.Match[str]) -> str:
    return (match[2] or match[5] or "").lower().replace("_", "-")


def _shows(match: re.Match[str]) -> bool:
    """Whether a tag stands around shown material: not formatting, not an address or placeholder in angle brackets."""
    name = _tag_name(match)
    return bool(match[5]) or (name not in FORMATTING_TAGS and "://" not in match[0] and "@" not in match[0])


def _cut_tags(text: str, sheet: _Sheet) -> str:
    """Take out what stands between a tag and its end; a known tag without an end makes the rest data.

    Tags of a page's layout stand around shown material only behind words that show it, and behind one another.
    """
    kept: list[str] = []
    done = 0
    layout = False
    for match, end in _regions([match for match in _TAG.finditer(text) if _shows(match) or _tag_name(match) in LAYOUT]):
        if match.start() < done or (end is None and not _opens_data(text, match)):
            continue
        if not _shows(match):
            layout = (layout and not text[done : match.start()].strip()) or _led_in(text[: match.start()][-_LEAD:])
            if not layout or end is None:
                continue
        stop = len(text) if end is None else end
        if end is None or not _shows(match):
            sheet.data.append(text[match.end() : stop])
        _report(sheet, "tag", text[match.start() : stop])
        kept += (text[done : match.start()], PLACE)
        done = stop
    kept.append(text[done:])
    return "".join(kept)


def _led_in(before: str) -> bool:
    """Whether the words right before a tag show what stands in it: "Explain this <p>", "Summarize: <div>"."""
    lead = _SENTENCE_END.split(f"{_TAG.sub(' ', before).rstrip()} ")[-1]
    return points_at_text(lead) or (lead.rstrip().endswith((":", "：")) and reads_text(lead))


def _strip_user_tags(text: str, _: _Sheet) -> str:
    """Return the text without the tags by which a host marks the person's own words; the words stay."""
    return _TAG.sub(lambda match: "" if _tag_name(match) in USER_TAGS else match[0], text) if "<" in text else text


def _regions(tags: list[re.Match[str]]) -> list[tuple[re.Match[str], int | None]]:
    """Return each opening tag with where its material ends, if it does.

    Nested tags of one name are counted, and an end that is written once too often still belongs to the material:
    a shown text that writes the closing tag itself does not get its next words read.
    """
    ends: dict[int, int] = {}
    opened: dict[str, list[int]] = {}
    closed: dict[str, int] = {}
    for place, match in enumerate(tags):
        name = _tag_name(match)
        stack = opened.setdefault(name, [])
        if not (match[1] or match[4]):
            if not match[0].endswith(("/>", "/]")):
                stack.append(place)
            closed.pop(name, None)
        elif stack:
            closed[name] = stack.pop()
            ends[closed[name]] = match.end()
        elif name in closed:
            ends[closed[name]] = match.end()
    return [
        (match, ends.get(place))
        for place, match in enumerate(tags)
        if not (match[1] or match[4] or match[0].endswith(("/>", "/]")))
    ]


def _opens_data(text: str, match: re.Match[str]) -> bool:
    """Whether a tag without an end is one that hosts use, alone on its line."""
    known = bool(match[5]) or _tag_name(match) in TAG_NAMES
    return known and _starts_line(text, match.start()) and text[match.end() : match.end() + 1] in {"", "\n"}


def _report(sheet: _Sheet, kind: str, text: str) -> None:
    if text.strip():
        sheet.removed.append(Removed(kind, len(text), text.strip()[:_PREVIEW]))


# ------------------------------------------------------------------------------------------------------------------
# Fences


def _cut_fences(text: str, sheet: _Sheet) -> str:
    """Take out fenced blocks, on lines of their own or inside a line; after an unclosed fence the rest is data."""
    kept: list[str] = []
    marks = list(_FENCE.finditer(text))
    done = index = 0
    while index < len(marks):
        opening = marks[index]
        if opening[0][0] != "`" and not _starts_line(text, opening.start()):
            index += 1
            continue
        closing = _closing(text, marks, index)
        stop = len(text) if closing is None else marks[closing].end()
        inside = text[opening.end() : len(text) if closing is None else marks[closing].start()]
        kept.append(text[done : opening.start()])
        if closing is not None and _bare(inside):
            kept.append(text[opening.start() : stop])
        else:
            _report(sheet, "fence", text[opening.start() : stop])
            kept.append(PLACE)
            if closing is None:
                sheet.data.append(inside)
        done = stop
        index = len(marks) if closing is None else closing + 1
    kept.append(text[done:])
    return "".join(kept)


def _bare(inside: str) -> bool:
    """Whether a fence holds nothing but one address, path or file name."""
    return (
        bool(inside.strip()) and len(inside.split()) == 1 and "\n" not in inside and len(inside) <= LIMITS.target_length
    )


def _starts_line(text: str, position: int) -> bool:
    """Whether only white space, at most eight characters of it, stands before a mark on its line."""
    before = text[max(0, position - 9) : position]
    return not before.rpartition("\n")[2].strip() and ("\n" in before or position < 9)


def _closing(text: str, marks: list[re.Match[str]], index: int) -> int | None:
    """Return the mark that ends the fence opened by ``marks[index]``: same sign, as long, and nothing after it."""
    opening = marks[index]
    line_end = text.find("\n", opening.end())
    line_end = len(text) if line_end < 0 else line_end
    block = _starts_line(text, opening.start()) and not (index + 1 < len(marks) and marks[index + 1].start() < line_end)
    for place in range(index + 1, len(marks)):
        mark = marks[place]
        if mark[0][0] != opening[0][0] or len(mark[0]) < len(opening[0]):
            continue
        if not block or text[mark.end() : mark.end() + 1] in {"", "\n", " ", "\t"}:
            return place
    return None


# ------------------------------------------------------------------------------------------------------------------
# Lines: quotes, mails, hosts' blocks


def _cut_lines(text: str, sheet: _Sheet) -> str:
    """Take out ``>`` lines, forwarded and answered mails, header blocks and what hosts append."""
    lines = text.split("\n")
    sheet.kept = []
    place = 0
    while place < len(lines):
        for rule in _LINE_RULES:
            found = rule(lines, place)
            if found is not None:
                kind, first, stop = found
                if kind in _COUNTED:
                    sheet.data.append("\n".join(lines[first:stop]))
                sheet.kept.extend(f"{line}\n" for line in lines[place:first])
                sheet.take(kind, "".join(f"{line}\n" for line in lines[first:stop]))
                place = stop
                break
        else:
            sheet.kept.append(f"{lines[place]}\n")
            place += 1
    return "".join(sheet.kept)


def _quoted_lines(lines: list[str], place: int) -> Found | None:
    stop = place
    while stop < len(lines) and _QUOTE.match(lines[stop]):
        stop += 1
    if stop > place and _UNFINISHED.search(lines[stop - 1][-_TAIL:]):
        while stop < len(lines) and lines[stop].strip():  # a wrapped line that has lost its mark
            stop += 1
    return ("quote", place, stop) if stop > place else None


def _host_block(lines: list[str], place: int) -> Found | None:
    line = lines[place].strip()
    if line.lower() in HOST_BLOCKS:
        return ("attached", place, len(lines))
    if not _HOST_NOTE.match(line):
        return None
    # A note ends with the bracket that closes its last line; the text in it is not escaped, so the last one counts.
    stop = next((n for n in range(len(lines), place, -1) if lines[n - 1].rstrip().endswith("]")), len(lines))
    return ("host-note", place, stop)


def _separator(lines: list[str], place: int) -> Found | None:
    line = lines[place][:_LINE]
    words = line.strip(_EDGES).lower()
    marked = words != line.strip().lower()
    for mark in SEPARATORS:
        if words == mark or (marked and words.startswith(mark) and line.lstrip()[:1] in "-_=*—–[#"):
            return ("mail-tail", place, len(lines))
    return None


def _attribution(lines: list[str], place: int) -> Found | None:
    """Find "On … wrote:" at the end of a line (or of the next two, as clients wrap it).

    Where it is a client's line, all that follows is the mail; else the next paragraph is what somebody said.
    "On Monday Bob wrote: the report." goes on after the colon and is the person's remark.
    """
    line = lines[place][:_LINE].strip()
    if not line:
        return None
    dated = _DATED.match(line) is not None
    joined = ""
    for stop in range(place, min(place + (3 if dated else 1), len(lines))):
        if stop > place and not lines[stop].strip():
            break
        joined = f"{joined} {lines[stop][-_LINE:]}".strip()
        if joined.endswith((":", "：")) and (_attributes(joined, dated=dated) or _signed(joined)):
            return (
                ("mail-tail", place, len(lines))
                if dated or _signed(joined) or _DATED.match(joined)
                else paragraph(lines, stop + 1)
            )
    return None


def _signed(line: str) -> bool:
    """Whether a line is a date and an address in angles, with nothing after it: "3 Mar 2026, Eve <eve@x.example>:"."""
    return line[-80:].rstrip(":： ").endswith(">") and "@" in line and any(digit in line for digit in "0123456789")


def _attributes(line: str, *, dated: bool) -> bool:
    """Whether a line that ends in a colon says that somebody wrote what follows.

    Some languages put the name last ("Am 3.3.2026 schrieb Eve:"); there the verb counts anywhere after a date.
    """
    lowered = line[-300:].rstrip(":： \t\u00a0").lower()
    if lowered.endswith(ATTRIBUTION_ENDS):
        return True
    return (
        dated
        and any(digit in lowered for digit in "0123456789")
        and any(f" {verb} " in lowered for verb in ATTRIBUTION_ENDS)
    )


def _headers(lines: list[str], place: int) -> Iterator[tuple[int, str]]:
    """Yield the header lines that stand together from ``place`` on, by line and kind of header."""
    for number in range(place, min(place + 8, len(lines))):
        match = _HEADER.match(lines[number][:_LINE])
        name = match[1].strip().lower().replace(" ", "") if match else ""
        kind = "from" if name in FROM else "sent" if name in SENT else "to" if name in ADDRESSED else ""
        if not kind:
            return
        yield number, f"{kind} {name}"


def _header_block(lines: list[str], place: int) -> Found | None:
    """Find a block of mail headers. Somebody's mail is taken out whole, of a dictated mail only the body."""
    names = list(_headers(lines, place))
    kinds = {name for _, name in names}
    sent_by_somebody = any(name.startswith("from") for name in kinds)
    enough = 2 if sent_by_somebody or all(name.startswith("to") for name in kinds) else 3
    if len(kinds) < enough or not any(name.startswith("to") for name in kinds):
        return None
    before = next((lines[n] for n in range(place - 1, max(-1, place - 4), -1) if lines[n].strip()), "")
    dictated = not any(name.startswith(("from", "sent")) for name in kinds) and (not before or _dictates(before))
    if not dictated:
        return ("mail-tail", place, len(lines))
    after = names[-1][0] + 1
    return ("dictated-body", after, len(lines)) if any(line.strip() for line in lines[after:]) else None


def _dictates(line: str) -> bool:
    lowered = line[-_LINE:].lower()
    words = set(re.findall(r"[\w-]+", lowered))
    return not words.isdisjoint(DICTATES) or any(word in lowered for word in DICTATES if not word.isascii())


_LINE_RULES: tuple[Callable[[list[str], int], Found | None], ...] = (
    _quoted_lines,
    _host_block,
    _separator,
    banner,
    ruled,
    bar_lines,
    spoken,
    speaker,
    terminal,
    forwarded_subject,
    _header_block,
    _attribution,
    shown_text,
)
