"""Whether a later message could change authority at all: the cheap look before the full reading (DESIGN 7.8)."""

from __future__ import annotations

import re
from functools import cache

from agentsfence_compiler.language.languages import markers
from agentsfence_compiler.language.lexicon import english
from agentsfence_compiler.language.tables import PROGRAMS
from agentsfence_core.limits import LIMITS

_WORDS = re.compile(r"[a-z][a-z'-]{0,30}")
_LITERAL = re.compile(r"@|[/\\~#]|\w\.\w")
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'"})


def mentions_authority(text: str) -> bool:
    """Whether a message may ask for, forbid or limit something; false only where it certainly does not.

    INVARIANT: whenever `read` finds a request, a ban or a limit, this is true.
    """
    if len(text) > LIMITS.message:
        return True
    text = text.translate(_APOSTROPHES).lower()
    if not text.isascii() or _LITERAL.search(text):
        return True
    words = _WORDS.findall(text)
    triggers = _triggers()
    if not triggers.isdisjoint(words):
        return True
    return any("'" in word and not triggers.isdisjoint(word.split("'")) for word in words)


@cache
def _triggers() -> frozenset[str]:
    """Return every word that can make a clause more than a remark."""
    words = english()
    acting = {word for word, form in words.forms.items() if form.lemma not in words.reading}
    negations = {
        part for table in ("negators", "refrain", "never_phrases", "forbidden") for part in words.phrases[table]
    }
    vague = words.sets["prepositions"] | words.sets["determiners"] | _AUXILIARIES
    return (
        frozenset(acting)
        | frozenset(markers())
        | (negations - vague)
        | _MARKS
        | words.sets["only_marks"]
        | PROGRAMS
        | frozenset(words.fuzzy)
        | frozenset(words.maps["typos"])
    ) - _HARMLESS


_AUXILIARIES = frozenset(
    """
    can could may might do does are is be have need should shall must will would in under by on at out you
    yourself i'd
    """.split()
)
_MARKS = frozenset(
    """
    not no never nor instead also too nothing nobody none leave keep hands read-only readonly rather meant untouched
    without limit most max ask confirm
    limits off-limits approve approval permission consult unless seek confirmation before until drop stick
    restrict circumstances nevermind abort stop cancel halt scrap scratch forget mind skip omit dry dry-run drill
    simulation stay remain spare survive wait consent just simply merely refrain every each
    """.split()
)
"""Words that limit, replace or make ask, beside the verbs and the negations."""
_HARMLESS = frozenset({"thanks", "teh", "u", "ur", "im", "n", "thats", "whats"})
"""Forms and typing errors that change nothing by themselves."""
