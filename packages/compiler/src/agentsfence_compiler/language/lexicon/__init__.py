"""The words of each language: one data file per language, read once and only when the language appears.

A further language is one more ``xx.yaml``, no code: ``verbs`` (lemma of ``capabilities.yaml`` -> its forms),
``actions`` (lemma -> nouns that only a ban uses), ``negators`` (or ``prefixes`` and ``suffixes`` where words are not
spaced), ``idioms``, ``questions``, ``subjects``, ``wanting``, ``conditions``, ``exceptions``, ``sources``, ``splits``,
``reporting``, ``forbidden``; its script in `languages`, or its words in ``markers.yaml``.

English also has a table of inflected verb forms, made from the lemmas of ``capabilities.yaml`` and ``en.yaml``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from agentsfence_core.classification.vocabulary import vocabulary

Phrases = Mapping[str, tuple[tuple[str, ...], ...]]
"""First word -> phrases, longest first."""

_IRREGULAR = {
    "send": ("sent",),
    "write": ("wrote", "written"),
    "forget": ("forgot", "forgotten"),
    "pay": ("paid",),
    "buy": ("bought",),
    "get": ("got", "gotten"),
    "give": ("gave", "given"),
    "make": ("made",),
    "run": ("ran",),
    "put": (),
    "set": (),
    "tell": ("told",),
    "leave": ("left",),
    "let": (),
    "read": (),
    "find": ("found",),
    "show": ("shown",),
    "take": ("took", "taken"),
    "sell": ("sold",),
    "build": ("built",),
    "keep": ("kept",),
    "hide": ("hid", "hidden"),
    "do": ("did", "done"),
    "see": ("saw", "seen"),
    "spend": ("spent",),
    "overwrite": ("overwrote", "overwritten"),
    "rewrite": ("rewrote", "rewritten"),
    "draw": ("drew", "drawn"),
    "say": ("said",),
    "speak": ("spoke", "spoken"),
    "withdraw": ("withdrew", "withdrawn"),
    "bid": (),
    "go": ("went", "gone"),
    "shoot": ("shot",),
}
_DOUBLING = frozenset(
    """
    set put get run plan ban pin tip swap grep stop drop unzip zip log star submit commit dm chat tag skip trim
    ship let bid cut
    """.split()
)
_VOWELS = frozenset("aeiou")
_NO_VERBS = frozenset("look check count calculate say translate attach".split())
"""Verbs of the table that, said to an agent, only ask for an answer."""


@dataclass(frozen=True, slots=True)
class Form:
    """One inflected form of a verb."""

    lemma: str
    """As in ``capabilities.yaml``."""
    base: bool
    gerund: bool
    participle: bool


@dataclass(frozen=True, slots=True)
class English:
    """The English words, indexed for look-up."""

    forms: Mapping[str, Form]
    reading: frozenset[str]
    """Lemmas that ask for nothing that changes anything."""
    sets: Mapping[str, frozenset[str]]
    phrases: Mapping[str, Phrases]
    """Section -> first word -> phrases, longest first."""
    maps: Mapping[str, Mapping[str, str]]
    nouns: Mapping[str, str]
    """Noun (one or more words, singular or plural) -> noun of ``capabilities.yaml``."""
    noun_starts: frozenset[str]
    """First words of nouns that have several."""
    fuzzy: Mapping[str, str]
    """Verb with one letter left out -> verb, for typing errors."""


_PHRASE_SECTIONS = (
    "framing",
    "framing_gerund",
    "negators",
    "refrain",
    "never_phrases",
    "forbidden",
    "idiom_phrases",
    "ask_first",
    "exceptions",
    "conditions",
    "times",
    "harmless_conditions",
    "asides",
    "lead_ins",
)
_SET_SECTIONS = (
    "nouns_too",
    "question_words",
    "question_verbs",
    "reporting",
    "content_marks",
    "about_marks",
    "statement_subjects",
    "adverbs",
    "idioms",
    "universal",
    "pronouns",
    "determiners",
    "prepositions",
    "first_person",
    "only_marks",
    "else_words",
)


def load(language: str) -> Mapping[str, object]:
    """Return the data file of a language as plain strings: ``no`` is a word here, not a boolean."""
    import yaml  # noqa: PLC0415  (lazy: start-up budget, DESIGN 13)

    text = resources.files("agentsfence_compiler.language.lexicon").joinpath(f"{language}.yaml").read_text("utf-8")
    data = yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))  # noqa: S506  (makes strings only)
    return data if isinstance(data, dict) else {}


def words_of(data: Mapping[str, object], section: str) -> tuple[str, ...]:
    """Return a list section as strings."""
    entries = data.get(section)
    return tuple(str(entry) for entry in entries) if isinstance(entries, list) else ()


def mapping_of(data: Mapping[str, object], section: str) -> Mapping[str, str]:
    """Return a mapping section as strings."""
    entries = data.get(section)
    return {str(key): str(value) for key, value in entries.items()} if isinstance(entries, dict) else {}


def lists_of(data: Mapping[str, object], section: str) -> Mapping[str, tuple[str, ...]]:
    """Return a section that maps a lemma to a list of words."""
    entries = data.get(section)
    if not isinstance(entries, dict):
        return {}
    return {str(key): tuple(str(v) for v in value) if isinstance(value, list) else () for key, value in entries.items()}


def by_first_word(phrases: Iterable[str]) -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """Return phrases by their first word, longest first."""
    table: dict[str, list[tuple[str, ...]]] = {}
    for phrase in phrases:
        words = tuple(phrase.split())
        if words:
            table.setdefault(words[0], []).append(words)
    return {first: tuple(sorted(set(rows), key=len, reverse=True)) for first, rows in table.items()}


@cache
def english() -> English:
    """Return the English words; read once per process."""
    data = load("en")
    synonyms = lists_of(data, "synonyms")
    reading = frozenset(words_of(data, "reading"))
    lemmas: dict[str, str] = dict.fromkeys(reading, "")
    lemmas.update(dict.fromkeys(vocabulary().by_verb, ""))
    for lemma, others in synonyms.items():
        lemmas[lemma] = ""
        lemmas.update(dict.fromkeys(others, lemma))
    forms = _forms({word: lemma or word for word, lemma in lemmas.items()})
    nouns = _nouns(mapping_of(data, "noun_synonyms"))
    maps = {name: mapping_of(data, name) for name in ("typos", "counts", "units", "places", "folders")}
    maps["typos"] = {**_misplaced(), **maps["typos"]}
    maps["action_nouns"] = {word: lemma for lemma, words in lists_of(data, "action_nouns").items() for word in words}
    acting = frozenset(vocabulary().by_verb) | frozenset(synonyms)
    return English(
        forms=forms,
        reading=frozenset(word for word in reading if word not in acting) | _reading_only(),
        sets={name: frozenset(words_of(data, name)) for name in _SET_SECTIONS},
        phrases={name: by_first_word(words_of(data, name)) for name in _PHRASE_SECTIONS},
        maps=maps,
        nouns=nouns,
        noun_starts=frozenset(noun.split()[0] for noun in nouns if " " in noun),
        fuzzy=_deletions(word for word, form in forms.items() if form.base and len(word) > 3 and word in acting),
    )


def _misplaced() -> dict[str, str]:
    """Return "do'nt", "dont'", "should'nt" … -> "don't": the apostrophe slips more often than any letter."""
    stems = (
        "do",
        "does",
        "did",
        "ca",
        "wo",
        "should",
        "must",
        "could",
        "would",
        "is",
        "are",
        "have",
        "has",
        "need",
        "sha",
    )
    return {
        spelling: f"{stem}n't"
        for stem in stems
        for spelling in (f"{stem}'nt", f"{stem}nt'", f"{stem}'n't", f"{stem}n''t")
    }


def _reading_only() -> frozenset[str]:
    """Return the lemmas that name only READ capabilities."""
    table = vocabulary()
    return (
        frozenset(
            verb
            for verb, names in table.by_verb.items()
            if all(table.capabilities[name].risk.value == "READ" for name in names)
        )
        | _NO_VERBS
    )


def _forms(lemmas: Mapping[str, str]) -> Mapping[str, Form]:
    forms: dict[str, Form] = {}
    for word, lemma in lemmas.items():
        for form in _past(word):
            forms.setdefault(form, Form(lemma, base=False, gerund=False, participle=True))
        for form in _gerunds(word):
            forms.setdefault(form, Form(lemma, base=False, gerund=True, participle=False))
        forms.setdefault(_plural(word), Form(lemma, base=False, gerund=False, participle=False))
    for word, lemma in lemmas.items():
        old = forms.get(word)
        forms[word] = Form(lemma, base=True, gerund=False, participle=old is not None and old.participle)
    return forms


def _stem(word: str) -> str:
    if word in _DOUBLING:
        return word + word[-1]
    return word[:-1] if word.endswith("e") and not word.endswith(("ee", "ye", "oe")) else word


def _past(word: str) -> tuple[str, ...]:
    if word in _IRREGULAR:
        return _IRREGULAR[word] or (word,)
    if word.endswith("y") and word[-2:-1] not in _VOWELS:
        return (f"{word[:-1]}ied",)
    return (f"{_stem(word)}ed", f"{word}led") if word.endswith("el") else (f"{_stem(word)}ed",)


def _gerunds(word: str) -> tuple[str, ...]:
    return (f"{_stem(word)}ing", f"{word}ling") if word.endswith("el") else (f"{_stem(word)}ing",)


def _plural(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in _VOWELS:
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "z", "ch", "sh")) else f"{word}s"


def _nouns(synonyms: Mapping[str, str]) -> Mapping[str, str]:
    nouns: dict[str, str] = {}
    for capability in vocabulary().capabilities.values():
        for noun in capability.nouns:
            if noun != "-":
                nouns[_plural(noun)] = noun
                nouns.setdefault(noun, noun)
    return nouns | dict(synonyms)


def _deletions(words: Iterable[str]) -> Mapping[str, str]:
    table: dict[str, str] = {}
    for word in sorted(words):
        for place in range(1, len(word)):
            table.setdefault(word[:place] + word[place + 1 :], word)
    return table
