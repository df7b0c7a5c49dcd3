# ruff: noqa: RUF001  (marks of many scripts)
"""Quotation marks inside a message: which strings are shown material, which are names, paths or commands (DESIGN 7.1).

Total and linear: marks are listed once, and each is an opening or a closing one by what stands beside it.
"""

from __future__ import annotations

import re

from agentsfence_compiler.mail_marks import ATTRIBUTION_ENDS, SPEECH_VERBS
from agentsfence_core.classification.targets.paths import looks_like_path
from agentsfence_core.limits import LIMITS

_PAIRS = {
    '"': '"',
    "'": "'",
    "`": "`",
    "“": "”",
    "„": "“”",
    "«": "»",
    "»": "«",
    "‘": "’",
    "‚": "‘’",
    "「": "」",
    "『": "』",
    "《": "》",
    "‹": "›",
}
_CLOSERS = frozenset("".join(_PAIRS.values()))
_MARK = re.compile("[" + "".join(sorted(set(_PAIRS) | _CLOSERS)) + "]")
_OPENERS = frozenset('"“„«»「『《‹')
_SPEECH = (*ATTRIBUTION_ENDS, *SPEECH_VERBS)
_TIGHT = frozenset("\"'`‘’")  # marks that also stand inside words or for inches: what stands beside them decides
_LONG = 60  # characters
_MANY_WORDS = 7
_NAME_SPACES = 12  # spaces in a file name
_COMMAND = 200  # characters of a command in backticks
_ENDS = frozenset(".!?。！？…\n")
_TARGET = re.compile(r"[^\s@]{1,200}@[^\s@]{1,200}\.[^\s@]{2,60}|[a-z][a-z0-9+.-]{1,15}://\S{1,2000}", re.IGNORECASE)
_ROOTED = re.compile(r"(?:/|~/|\.{1,2}/|[A-Za-z]:\\)")


def without_long_quotes(text: str, place: str) -> tuple[str, list[str], str]:
    """Return the text with shown strings replaced by ``place``, those strings, and what an unclosed mark quotes.

    After "He wrote" a mark that nothing closes quotes all that follows; any other such mark is a slip.
    """
    marks = [match.start() for match in _MARK.finditer(text)]
    if not marks:
        return text, [], ""
    closing = _next_closers(text, marks)
    kept: list[str] = []
    taken: list[str] = []
    done = 0
    for opening in marks:
        end = closing.get(opening)
        if opening >= done and end is None and _quotes_the_rest(text, opening):
            kept += (text[done:opening], place)
            return "".join(kept), [*taken, text[opening + 1 :]], text[opening + 1 :]
        if opening < done or end is None:
            continue
        content = text[opening + 1 : end]
        kept.append(text[done:opening])
        if _shown(text, opening, end):
            taken.append(content)
            kept.append(place)
        else:
            kept.append(text[opening : end + 1])
        done = end + 1
    kept.append(text[done:])
    return "".join(kept), taken, ""


def _quotes_the_rest(text: str, opening: int) -> bool:
    """Whether an unclosed mark stands after a verb of speech: ``He wrote "Delete …``."""
    if text[opening] not in _OPENERS or not _opens(text, opening):
        return False
    before = text[max(0, opening - 60) : opening].rstrip(" \t,:：").lower()
    for verb in _SPEECH:
        if before.endswith(verb):
            left = before[: -len(verb)][-1:]
            return not (left.isalnum() and left.isascii())
    return False


def _next_closers(text: str, marks: list[int]) -> dict[int, int]:
    """Return the closing mark of every opening one, found by walking backwards once."""
    found: dict[int, int] = {}
    nearest: dict[str, int] = {}
    for position in reversed(marks):
        mark = text[position]
        ends = [nearest[end] for end in _PAIRS.get(mark, "") if end in nearest]
        if ends and _opens(text, position):
            found[position] = min(ends)
        if mark in _CLOSERS and _closes(text, position):
            nearest[mark] = position
    return found


def _opens(text: str, position: int) -> bool:
    """Whether a mark can open: something follows it, and inside a word it is an apostrophe or a sign for inches."""
    after = text[position + 1 : position + 2]
    if not after or (after.isspace() and text[position] in _TIGHT):
        return False
    before = text[position - 1 : position] if position else ""
    return text[position] not in _TIGHT or not (before.isalnum() or before in {")", "]"}) or not before.isascii()


def _closes(text: str, position: int) -> bool:
    """Whether a mark can close: something stands before it, and no word goes on after it."""
    before = text[position - 1 : position] if position else ""
    if not before or (before.isspace() and text[position] in _TIGHT):
        return False
    after = text[position + 1 : position + 2]
    return text[position] not in _TIGHT or not after.isalnum() or not after.isascii()


def _shown(text: str, opening: int, end: int) -> bool:
    """Whether a quoted string is material that the person shows, rather than a name, a target or a command."""
    content = text[opening + 1 : end].strip()
    words = content.split(None, _MANY_WORDS)
    if len(words) < 2 or all(_TARGET.fullmatch(word.strip(",;<>()")) for word in words):
        return len(content) > LIMITS.target_length or (len(words) < 2 and _unspaced(content))
    if _names_file(content, words):
        return False
    if text[opening] == "`":
        return len(content) > _COMMAND or "\n" in content or _alone(text, opening, end, colon=False)
    if len(content) > _LONG or len(words) >= _MANY_WORDS or "\n" in content or _TARGET.search(content):
        return True
    return _alone(text, opening, end, colon=_sentence(content))


def _names_file(content: str, words: list[str]) -> bool:
    """Whether a string with spaces is one path or file name all the same: ``my notes.md``."""
    if len(content) > _COMMAND or "\n" in content or _TARGET.search(content):
        return False
    last = content.rsplit(maxsplit=1)[-1]
    if len(words) < _MANY_WORDS and _ROOTED.match(content) and not last.startswith("/"):
        return True
    return content.count(" ") <= _NAME_SPACES and looks_like_path(last)


def _unspaced(content: str) -> bool:
    """Whether a text without spaces is prose all the same, as Chinese and Japanese are written."""
    return len(content) > 20 and sum(character > "\u2e80" for character in content) > len(content) // 2


def _sentence(content: str) -> bool:
    """Whether a string is written as a sentence: it ends like one, and not like a file name."""
    return content[-1:] in _ENDS and len(content.split(None, 3)) > 2


def _alone(text: str, opening: int, end: int, *, colon: bool) -> bool:
    """Whether the string is a sentence of its own: nothing of a sentence stands before it, none goes on after it."""
    before = text[max(0, opening - 80) : opening].rstrip(" \t(")
    after = text[end + 1 : end + 80].lstrip(" \t)")
    starts = not before or before[-1] in _ENDS or (colon and before[-1] in ":：")
    return starts and (not after or after[0] in _ENDS or text[end - 1] in _ENDS)
