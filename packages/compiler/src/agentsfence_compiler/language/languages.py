"""Which languages a message shows, and the words of each (DESIGN 7.2).

English is always read; another language's data file loads only when its script or one of its marker words appears.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from agentsfence_compiler.language.lexicon import lists_of, load, words_of
from agentsfence_compiler.language.tokens import Kind, Token

LATIN = ("de", "fr", "es", "pt", "it", "nl")

RUNS = frozenset({"zh", "ja", "ko"})
"""Written without spaces between words, or with endings that carry the meaning."""

_SCRIPTS = (
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("ko", re.compile("[\uac00-\ud7a3]")),
    ("ja", re.compile("[\u3041-\u30ff]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
)

_KANJI_BAN = re.compile("禁止|厳禁|不可|無用")
"""How a Japanese notice forbids in characters that Chinese has too."""

_NOT_ASCII = re.compile("[^\x00-\x7f]")

_ACCENTED = re.compile("[\u00c0-\u017f]")

ENGLISH = frozenset(
    """
    the and to of is please it with for my you this that don't not do in on from a an all me be are was can
    could would will what how send email delete save write
    """.split()
)

ELISION = re.compile(r"(?:qu|[nldjmtsc])'")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """One language."""

    language: str
    forms: Mapping[str, str]
    """Word -> lemma."""
    actions: Mapping[str, str]
    """Noun that stands for an action ("keine Änderungen") -> lemma; only a ban speaks so."""
    runs: re.Pattern[str] | None
    """All verbs as one pattern, for scripts without spaces."""
    sets: Mapping[str, frozenset[str]]
    lists: Mapping[str, tuple[str, ...]]


_SECTIONS = (
    "negators",
    "idioms",
    "framing",
    "questions",
    "subjects",
    "conditions",
    "exceptions",
    "sources",
    "splits",
    "reporting",
    "prefixes",
    "suffixes",
    "forbidden",
    "wanting",
    "read_only",
)


@cache
def lexicon(language: str) -> Lexicon:
    """Return the data of a language, indexed; read once per process."""
    data = load(language)
    forms: dict[str, str] = {}
    for lemma, words in lists_of(data, "verbs").items():
        for word in words:
            forms.setdefault(plain(word, language), lemma)
            forms.setdefault(plain(digraphs(word), language), lemma)
    actions = {
        plain(spelling, language): lemma
        for lemma, words in lists_of(data, "actions").items()
        for word in words
        for spelling in (word, digraphs(word))
    }
    runs = re.compile("|".join(sorted(map(re.escape, forms), key=len, reverse=True))) if language in RUNS else None
    lists = {name: tuple(plain(word, language) for word in words_of(data, name)) for name in _SECTIONS}
    return Lexicon(language, forms, actions, runs, {name: frozenset(words) for name, words in lists.items()}, lists)


@cache
def markers() -> Mapping[str, frozenset[str]]:
    """Return for each word the languages that it points to."""
    found: dict[str, set[str]] = {}
    for language, words in load("markers").items():
        for word in str(words).split():
            found.setdefault(word, set()).add(language)
    return {word: frozenset(languages) for word, languages in found.items()}


def plain(word: str, language: str) -> str:
    """Return a word as it is compared: lower-case, without accents in Latin scripts."""
    word = word.lower().replace("\u2019", "'").replace("\u2018", "'")
    if language not in LATIN or word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c)).replace(
        "\u00df", "ss"
    )


def digraphs(word: str) -> str:
    """Return a German word as it is written without umlauts."""
    return word.replace("\u00e4", "ae").replace("\u00f6", "oe").replace("\u00fc", "ue")


def languages_in(text: str, tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return the languages other than English that a message shows."""
    found: list[str] = []
    if _NOT_ASCII.search(text):
        found += [language for language, script in _SCRIPTS if script.search(text)]
        if "ja" in found and "zh" in found:
            found.remove("zh")
        elif "zh" in found and _KANJI_BAN.search(text):
            found.append("ja")  # a notice without kana
    accented = _ACCENTED.search(text) is not None
    scores: dict[str, int] = {}
    table = markers()
    for token in tokens:
        if token.kind is Kind.WORD:
            word = plain(token.low, "fr")
            for language in table.get(word, ()) or table.get(ELISION.sub("", word, count=1), ()):
                scores[language] = scores.get(language, 0) + 1
    if accented or scores:
        best = max(scores.values(), default=0)
        found += [
            language for language in LATIN if scores.get(language, 0) >= max(1, best // 2) or (accented and best < 2)
        ]
    return tuple(found)


def is_foreign(tokens: Sequence[Token], first: int, last: int) -> bool:
    """Whether the words of a span point to another language rather than to English."""
    table = markers()
    span = [t for t in tokens[first : min(last, first + 60)] if t.kind is Kind.WORD]
    other = sum(1 for t in span if plain(t.low, "fr") in table or not t.low.isascii())
    return other > sum(1 for t in span if t.low in ENGLISH)
