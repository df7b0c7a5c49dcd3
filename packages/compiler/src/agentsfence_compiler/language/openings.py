"""What opens at a place: a verb, a ban, a question, a condition, once connectors and framing are off (DESIGN 7.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from agentsfence_compiler.language.lexicon import English, Phrases
from agentsfence_compiler.language.tables import (
    AUXILIARIES,
    BARE_VERBS,
    BRANCHES,
    COMPOUNDS,
    CONNECTORS,
    COURTESY,
    DAYTIMES,
    DOCUMENTS,
    ENDS,
    HAPPENING,
    INSERTED,
    NUMBERED,
    PERIODS,
    PHRASE_VERBS,
    POLITE,
    PROGRAMS,
    REMOTES,
    SPOKEN_PROGRAMS,
    SUBCOMMANDS,
    TARGETS_OF_MAKE,
)
from agentsfence_compiler.language.tokens import Kind, Token

_STEPS = 14  # framing phrases that are taken off one clause


class Opens(StrEnum):
    """How a clause opens."""

    REQUEST = "request"
    READING = "reading"
    """A verb that asks for nothing that changes anything."""
    NEGATION = "negation"
    QUESTION = "question"
    CONDITION = "condition"
    REMARK = "remark"
    CONTENT = "content"
    """Quoted speech, or what a message is to say."""


@dataclass(slots=True)
class Opening:
    """What opens at a place: its kind, its verb and where its object begins."""

    opens: Opens
    verb: int
    body: int
    lemma: str = ""
    instead: bool = False
    only: bool = False
    polite: bool = False
    framed: bool = False
    conditional: bool = False


def phrase_at(tokens: Sequence[Token], at: int, end: int, table: Phrases, words: English) -> int:
    """Return how many tokens the longest phrase of a section takes at a place, 0 for none."""
    if at >= end:
        return 0
    for phrase in table.get(words.maps["typos"].get(tokens[at].low, tokens[at].low), ()):
        count = len(phrase)
        if at + count > end:
            continue
        if all(word_at(tokens, at + k, words) == phrase[k] for k in range(1, count)):
            return count
    return 0


def word_at(tokens: Sequence[Token], at: int, words: English) -> str:
    """Return the lower-case word at a place, typing errors corrected; empty beyond the end."""
    if not 0 <= at < len(tokens):
        return ""
    low = tokens[at].low
    return words.maps["typos"].get(low, low)


def recurrence(tokens: Sequence[Token], at: int, end: int, words: English) -> int:
    """Return the length of "every Monday at 9", "each morning", "every 2 hours" at a place, 0 for none."""
    if word_at(tokens, at, words) not in {"every", "each"}:
        return 0
    place = at + 1
    place += word_at(tokens, place, words) in {"other", "single", "second", "first", "last"}
    place += place < end and tokens[place].kind is Kind.NUMBER
    if word_at(tokens, place, words).removesuffix("s") not in PERIODS:
        return 0
    place += 1
    while place < min(end, at + 10):
        low = word_at(tokens, place, words)
        if low in {"at", "by", "around", "before", "after"} and place + 1 < end and tokens[place + 1].low[:1].isdigit():
            place += 2
        elif low in {"am", "pm", "o'clock"} or low in DAYTIMES:
            place += 1
        elif low == "and" and word_at(tokens, place + 1, words).removesuffix("s") in PERIODS:
            place += 2
        else:
            break
    return place - at


LITERALS = frozenset({Kind.ADDRESS, Kind.PARTY, Kind.URL, Kind.HOST, Kind.PATH, Kind.REFERENCE})


class Openings:
    """Reads what opens at any place of a token list; every look ahead is bounded."""

    def __init__(self, tokens: Sequence[Token], words: English) -> None:
        self.tokens = tokens
        self.words = words

    def opening(self, at: int, end: int, *, start: bool, asks: bool) -> Opening:
        """Return what opens at a place, connectors and framing taken off."""
        at = self._past_connectors(at, end)
        found = Opening(Opens.REMARK, at, at)
        first = at
        for _ in range(_STEPS):
            step = self._frame(at, end, found)
            if not step:
                break
            at += step
            found.framed = True
            at = self._past_connectors(at, end)
        found.verb = found.body = at
        if at >= end:
            return found
        self._decide(found, first, at, end, start=start, asks=asks)
        return found

    def _past_connectors(self, at: int, end: int) -> int:
        for _ in range(5):
            if at >= end:
                break
            token = self.tokens[at]
            if (
                token.kind is Kind.SOFT
                or (token.kind is Kind.PUNCT and token.low not in ENDS)
                or token.low in CONNECTORS
            ):
                at += 1
                continue
            break
        return at

    def _frame(self, at: int, end: int, found: Opening) -> int:
        """Return how many tokens of framing stand at a place, noting what they say."""
        words = self.words
        count = phrase_at(self.tokens, at, end, words.phrases["framing_gerund"], words)
        form = words.forms.get(word_at(self.tokens, at + count, words)) if count else None
        if form is not None and form.gerund:
            return 0
        count = phrase_at(self.tokens, at, end, words.phrases["harmless_conditions"], words)
        count = count or phrase_at(self.tokens, at, end, words.phrases["framing"], words) or self._ordered(at, end)
        count = count or recurrence(self.tokens, at, end, self.words)
        lead = 0 if count else phrase_at(self.tokens, at, end, words.phrases["lead_ins"], words)
        if lead and (self._ordered(at + lead, end) or self._negation(Opening(Opens.REMARK, at, at), at + lead, end)):
            return lead  # "note that you first have to …" is an order, "note that prices rise" is none
        if not count:
            return 0
        low = word_at(self.tokens, at, words)
        following = words.forms.get(word_at(self.tokens, at + count, words))
        if (
            low in {"right", "like", "just", "go", "time", "second", "first", "step", "even", "now", "maybe", "still"}
            and count == 1
            and low in {"like", "go", "second", "first"}
            and (following is None or not following.base)
        ):
            return 0
        found.instead = found.instead or low == "instead"
        found.conditional = found.conditional or low in {"otherwise", "else"}
        found.only = found.only or "only" in {t.low for t in self.tokens[at : at + count]}
        found.polite = found.polite or low in POLITE
        return count

    def _ordered(self, at: int, end: int) -> int:
        """Return the length of "you have to", "you first need to", "you must also": an order to the agent."""
        words = self.words
        if word_at(self.tokens, at, words) not in {"you", "u"}:
            return 0
        place = at + 1
        while place < min(end, at + 3) and word_at(self.tokens, place, words) in INSERTED:
            place += 1
        low = word_at(self.tokens, place, words)
        if low in {"have", "need", "ought", "are"} and word_at(self.tokens, place + 1, words) == "to":
            place += 2
        elif low in {"must", "should", "shall"}:
            place += 1
        else:
            return 0
        place += word_at(self.tokens, place, words) in INSERTED
        return place - at if word_at(self.tokens, place, words) not in {"not", "never"} else 0

    def _decide(self, found: Opening, first: int, at: int, end: int, *, start: bool, asks: bool) -> None:
        words = self.words
        if self._negation(found, at, end):
            return
        self._gerund(found, at, end)
        if found.opens is not Opens.REMARK:
            return
        count = phrase_at(self.tokens, at, end, words.phrases["conditions"], words)
        low = word_at(self.tokens, at, words)
        following = word_at(self.tokens, at + 1, words)
        if count and not (low == "should" and (asks or following not in {"you", "the", "it", "there", "any"})):
            found.opens, found.conditional, found.body = Opens.CONDITION, True, at + count
            return
        if start and not asks and self._types_command(at, end):
            found.opens, found.lemma, found.body = Opens.REQUEST, "run", at
            return
        if self._question(low, following, asks=asks, start=start, framed=found.framed):
            found.opens = Opens.QUESTION
            found.body = at + 1
            return
        count = phrase_at(self.tokens, at, end, words.phrases["times"], words) if start else 0
        if count:
            found.opens, found.body = Opens.CONDITION, at + count
            return
        self._verb(found, at, end, start=start or found.framed or self.tokens[first].low == "then")

    def _negation(self, found: Opening, at: int, end: int) -> bool:
        """Note a ban: "don't", "you must not", "never", "without", "refrain from"."""
        words, tokens = self.words, self.tokens
        skip = 0
        if word_at(tokens, at, words) in {"you", "u"} and at + 1 < end:
            skip = 2 if word_at(tokens, at + 1, words) in {"are", "were", "have"} else 1
        elif word_at(tokens, at, words) in {"you're", "youre"}:
            skip = 1
        here = at + skip
        for section in ("never_phrases", "refrain", "negators"):
            count = phrase_at(tokens, here, end, words.phrases[section], words)
            if not count:
                continue
            low = word_at(tokens, here, words)
            if low in {"no", "stop", "pause", "quit", "skip", "halt", "resist"} and not self._bans_noun(
                here + count, end, low
            ):
                return False
            found.opens, found.body = Opens.NEGATION, here + count
            return True
        return False

    def _bans_noun(self, at: int, end: int, low: str) -> bool:
        """Whether "no" or "stop" stands before an action: "no replies", "stop sending"."""
        words = self.words
        for place in range(at, min(end, at + 4)):
            word = word_at(self.tokens, place, words)
            form = words.forms.get(word)
            if form is not None and form.gerund:
                return True
            if low in {"no", "skip"} and word in words.maps["action_nouns"]:
                return True
            if low == "no" and word == "new" and word_at(self.tokens, place + 1, words) in words.nouns:
                return True
            if word in words.sets["idioms"] or self.tokens[place].kind is not Kind.WORD:
                return False
        return False

    def _question(self, low: str, following: str, *, asks: bool, start: bool, framed: bool) -> bool:
        """Whether the clause opens as a question."""
        sets = self.words.sets
        if low in sets["question_words"]:
            return True
        if low == "when":
            return following in AUXILIARIES or (asks and framed)
        if low not in sets["question_verbs"] or not start:
            return False
        if low == "do" and (following in sets["determiners"] or following in sets["pronouns"]) and not asks:
            return False
        return asks or following in sets["statement_subjects"] or (following in {"you", "the", "my"} and low != "have")

    def _verb(self, found: Opening, at: int, end: int, *, start: bool) -> None:
        """Note the verb at a place, if the word there is used as one."""
        words = self.words
        low = word_at(self.tokens, at, words)
        after = word_at(self.tokens, at + 1, words)
        aside = phrase_at(self.tokens, at, end, words.phrases["asides"], words)
        if aside:
            found.lemma, found.body, found.opens = "show", at + aside, Opens.READING
            return
        phrase = PHRASE_VERBS.get((low, after))
        body = at + 1
        if phrase is not None:
            found.lemma, body = phrase, at + 2
            body += phrase == "delete" and word_at(self.tokens, body, words) == "of"
        elif low in {"start", "begin", "open"} and self._begins_document(at, end):
            found.lemma = "create"
        elif low == "let" and self._lets_know(at, end):
            found.lemma = "tell"
        elif low in {"drop", "give"} and self._gives_word(at, end):
            found.lemma = "message"
        else:
            form = words.forms.get(low)
            if form is None and start and self.tokens[at].kind is Kind.WORD:
                form = words.forms.get(words.fuzzy.get(low, "")) if len(low) > 3 else None
            if form is None or not form.base or self.tokens[at].kind is not Kind.WORD:
                return
            if not self._used_as_verb(at, end, low, start=start):
                return
            found.lemma = form.lemma
        found.body = body
        found.opens = Opens.READING if found.lemma in words.reading else Opens.REQUEST

    def _types_command(self, at: int, end: int) -> bool:
        """Whether the message is a command as one types it: "npm install lodash please"."""
        tokens = self.tokens
        if at > _STEPS or any(
            t.kind is not Kind.SOFT and word_at(tokens, k, self.words) not in COURTESY
            for k, t in enumerate(tokens[:at])
        ):
            return False
        first = tokens[at]
        if first.kind is Kind.CODE:
            rest = range(at + 1, min(len(tokens), at + 6))
            alone = len(tokens) <= at + 6 and all(
                tokens[k].kind is not Kind.WORD or tokens[k].low in COURTESY for k in rest
            )
            return alone and first.low.split(" ", 1)[0] in PROGRAMS
        if first.low not in PROGRAMS or first.kind is not Kind.WORD or at + 1 >= end:
            return first.low == "pytest" and at + 1 >= len(tokens)
        following = tokens[at + 1]
        if not (following.low.startswith("-") or following.kind in LITERALS) and following.low not in (
            TARGETS_OF_MAKE if first.low in SPOKEN_PROGRAMS else SUBCOMMANDS
        ):
            return False
        span = tokens[at + 1 : min(end, at + 14)]
        sets = self.words.sets
        return not any(
            t.low in AUXILIARIES or t.low in COMPOUNDS or t.low in sets["determiners"]
            or t.low in sets["statement_subjects"] or t.low in sets["question_words"]
            or t.low.endswith("n't") or self._third_person(t.low)
            for t in span
            if t.kind is Kind.WORD
        )  # fmt: skip

    def _third_person(self, low: str) -> bool:
        """Whether a word says what something does: "docker build keeps failing"."""
        return low in HAPPENING

    def _gerund(self, found: Opening, at: int, end: int) -> None:
        """Note "would you mind sending": the gerund phrases of a polite request."""
        words = self.words
        count = phrase_at(self.tokens, at, end, words.phrases["framing_gerund"], words)
        form = words.forms.get(word_at(self.tokens, at + count, words)) if count else None
        if form is None or not form.gerund:
            return
        found.lemma, found.body, found.polite = form.lemma, at + count + 1, True
        found.opens = Opens.READING if form.lemma in words.reading else Opens.REQUEST

    def _gives_word(self, at: int, end: int) -> bool:
        """Whether "drop bob@x.example a line", "give her a heads-up" stands there."""
        return any(
            self.tokens[k].low in {"line", "heads", "heads-up", "shout", "ping", "note", "ring"}
            for k in range(at + 1, min(end, at + 6))
        )

    def _begins_document(self, at: int, end: int) -> bool:
        """Whether "start a new file", "begin a fresh document" stands there: that makes one, and runs nothing."""
        seen = [word_at(self.tokens, k, self.words) for k in range(at + 1, min(end, at + 5))]
        noun = next((k for k, low in enumerate(seen) if low in DOCUMENTS), 0)
        if word_at(self.tokens, at, self.words) == "open" and not {"new", "fresh", "blank"} & set(seen):
            return False
        return bool(noun) and all(
            low in {"a", "an", "new", "fresh", "blank", "empty", "another", "the"} for low in seen[:noun]
        )

    def _lets_know(self, at: int, end: int) -> bool:
        return any(self.tokens[place].low == "know" for place in range(at + 1, min(end, at + 12)))

    def _used_as_verb(self, at: int, end: int, low: str, *, start: bool) -> bool:
        """Whether a word that may be a noun is used as a verb here: "email bob", not "the name and email"."""
        if low not in self.words.sets["nouns_too"]:
            return True
        if at + 1 >= end or (
            self.tokens[at + 1].kind in (Kind.PUNCT, Kind.BREAK, Kind.SOFT)
            and self.tokens[at + 1].low not in {"(", "\n"}
        ):
            return low in BARE_VERBS or (start and at + 2 >= end)
        token = self.tokens[at + 1]
        if token.kind in LITERALS or token.kind in (Kind.QUOTED, Kind.CODE, Kind.MONEY):
            return True
        if token.kind is Kind.NUMBER:
            third = word_at(self.tokens, at + 2, self.words)
            return bool(third) and third[0].isalpha() and third not in AUXILIARIES
        return self._before_word(at, end, low, start=start)

    def _names_a_thing(self, at: int, end: int, after: str) -> bool:
        """Whether the word only begins a name: "push notifications do not work", "commit history of main"."""
        if after not in COMPOUNDS:
            return False
        return not any(t.kind in LITERALS for t in self.tokens[at + 1 : min(end, at + 8)])

    def _before_word(self, at: int, end: int, low: str, *, start: bool) -> bool:
        """Whether the word that follows makes this one a verb: "email the", "reply to", not "email from"."""
        after = word_at(self.tokens, at + 1, self.words)
        sets = self.words.sets
        if self._names_a_thing(at, end, after):
            return False
        if after in AUXILIARIES or (after in self.words.forms and not self.words.forms[after].base and start is False):
            return False
        if after in sets["determiners"] or after in sets["universal"]:
            return True
        if after in {"to", "back", "everything", "up"}:
            return True
        if after in CONNECTORS:
            return start or low in BARE_VERBS
        if after in sets["prepositions"] and low in BARE_VERBS and after in {"with", "in", "on", "now", "if"}:
            return start
        if after in sets["prepositions"]:
            return start and after not in {"from", "of", "by", "about"} and self._aims(at + 2, end)
        return start or self.tokens[at + 1].value[:1].isupper() or self._acts_on(at)

    def _aims(self, at: int, end: int) -> bool:
        """Whether a literal or a numbered thing follows a preposition: "comment on issue 7"."""
        near = range(at, min(end, at + 4))
        return any(self.tokens[k].kind in LITERALS for k in near[:3]) or any(
            self.words.nouns.get(word_at(self.tokens, k, self.words)) in NUMBERED for k in near
        )

    def _acts_on(self, at: int) -> bool:
        """Whether a name follows in mid-sentence ("… and push main"), or a literal ended the clause before."""
        tokens = self.tokens
        following = tokens[at + 1]
        if following.low in BRANCHES | REMOTES or (
            any(c.isdigit() for c in following.value) and following.value[0].isalpha()
        ):
            return True
        before = at - 1
        while before > 0 and (tokens[before].low in CONNECTORS or tokens[before].kind is Kind.PUNCT):
            before -= 1
        joined = 0 <= before < at - 1 and (tokens[before].kind in LITERALS or tokens[before].kind is Kind.SLASHED)
        return joined and following.kind is Kind.WORD and following.low not in self.words.nouns
