"""Sentences to clauses: where a new request, ban, question or remark begins (DESIGN 7.2).

Rules of this file:

* A clause begins at a sentence, or at a comma, conjunction or line break after which something opens: a verb, a
  negation, a question, a condition. Everything in between belongs to the clause before.
* What opens with no verb is a remark. What follows a reporting colon is somebody else's, what follows a request's
  colon is its content.
* Every look ahead is bounded, so that the whole is linear.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from agentsfence_compiler.language.coverage import SEND_VERBS
from agentsfence_compiler.language.lexicon import English, english
from agentsfence_compiler.language.openings import LITERALS, Opening, Openings, Opens, word_at
from agentsfence_compiler.language.tables import (
    AUXILIARIES,
    COMMAS,
    CONNECTORS,
    DENYING,
    ENDS,
    FIELDS,
    HEADERS,
    LEAD_INS,
    LOOSE,
    MUSING,
    QUANTITIES,
    REPORTED_WISH,
    SPLIT_WORDS,
)
from agentsfence_compiler.language.tokens import PARAGRAPH, Kind, Token

_LOOK = 40  # tokens of a bounded look ahead


@dataclass(slots=True)
class Segment:
    """A clause as tokens ``[first, last)``."""

    first: int
    last: int
    opens: Opens
    lemma: str = ""
    body: int = 0
    """The token after the verb (after the negation, for a ban)."""
    conditional: bool = False
    instead: bool = False
    only: bool = False
    polite: bool = False
    question: bool = False
    how: bool = False
    """Explains how or why: what follows in it is a topic."""
    colon: bool = False
    """Ended by a colon."""
    header: bool = False
    """Only says that what follows is forbidden: "Never do any of these:"."""


def clauses(tokens: Sequence[Token]) -> list[Segment]:
    """Return the clauses of a token list, in order and without gaps. Linear."""
    return _Reader(tokens, english()).read()


class _Reader(Openings):
    """Walks the tokens once."""

    def __init__(self, tokens: Sequence[Token], words: English) -> None:
        super().__init__(tokens, words)
        self.out: list[Segment] = []

    def read(self) -> list[Segment]:
        at = 0
        content_until_break = False
        dictated = denied = False
        while at < len(self.tokens):
            end, asks, hard = self._sentence(at)
            if content_until_break:
                self.out.append(Segment(at, end, Opens.CONTENT, body=at))
            else:
                self._clauses_of(at, end, asks, denied=denied)
            denied = self._list_denied(at, end, denied=denied)
            dictated = dictated or self._dictates()
            content = content_until_break or self.out[-1].opens is Opens.CONTENT
            content_until_break = dictated or (not hard and content)
            at = end
        return self.out

    def _list_denied(self, at: int, end: int, *, denied: bool) -> bool:
        """Whether the items that follow a sentence are forbidden: they stand below "Don't:" in one list."""
        last = end - 1
        paragraph = self.tokens[last].kind is Kind.BREAK and self.tokens[last].value == PARAGRAPH
        while last > at and self.tokens[last].kind in (Kind.BREAK, Kind.SOFT):
            last -= 1
        if last < at or self.tokens[last].low != ":":
            return denied and (not paragraph or last < at)
        segment = self.out[-1]
        if self._denies(segment, last):
            segment.header = True
            return True
        return False

    def _denies(self, segment: Segment, colon: int) -> bool:
        """Whether a clause says of what follows its colon that it is forbidden: "You must not:", "Forbidden:"."""
        lows = [word_at(self.tokens, k, self.words) for k in range(segment.first, min(colon, segment.first + _LOOK))]
        if segment.opens is not Opens.NEGATION:
            flat = " ".join(lows)
            return segment.opens is Opens.REMARK and any(mark in flat for mark in DENYING)
        verb = self.words.forms.get(word_at(self.tokens, segment.body, self.words))
        pointing = {"following", "these", "this", "things"} & set(lows)
        return segment.body >= colon or bool(
            pointing and (verb is None or verb.lemma in {"do", "perform", "try", "take"})
        )

    def _dictates(self) -> bool:
        """Whether the last clause is the head of a message that the person dictates: the rest is its text."""
        if len(self.out) < 2 or self.out[-1].opens is not Opens.CONTENT or self.out[-2].opens is not Opens.REQUEST:
            return False
        head = self.tokens[self.out[-1].first : min(self.out[-1].last, self.out[-1].first + 4)]
        return any(a.low in HEADERS and b.low == ":" for a, b in pairwise(head))

    def _sentence(self, at: int) -> tuple[int, bool, bool]:
        """Return where the sentence ends, whether it asks, and whether a paragraph or list item ends with it."""
        place = at
        while place < len(self.tokens):
            token = self.tokens[place]
            if token.kind is Kind.BREAK:
                return place + 1, False, True
            if token.kind is Kind.PUNCT and token.low in ENDS:
                hard = place + 1 < len(self.tokens) and self.tokens[place + 1].kind is Kind.BREAK
                return place + 1 + hard, token.low in {"?", "\u061f", "\uff1f"}, hard
            place += 1
        return place, False, True

    def _clauses_of(self, at: int, end: int, asks: bool, *, denied: bool = False) -> None:
        """Append the clauses of one sentence; ``denied`` says that they stand in a list of what is forbidden."""
        conditional = False
        opening = self.opening(at, end, start=True, asks=asks)
        while True:
            if denied and opening.opens in (Opens.REQUEST, Opens.READING, Opens.REMARK):
                opening.opens, opening.body = Opens.NEGATION, opening.verb
            segment = self._segment(at, opening, asks, conditional)
            self.out.append(segment)
            conditional = segment.conditional
            found = self._next(segment, end, asks)
            if found is None:
                segment.last = end
                return
            segment.last, content, opening = found
            if self.tokens[segment.last].low == ":" and self._denies(segment, segment.last):
                segment.header = denied = True
            if content:
                segment.colon = True
                self.out.append(Segment(segment.last, end, Opens.CONTENT, body=segment.last))
                return
            at = segment.last

    def _segment(self, at: int, opening: Opening, asks: bool, conditional: bool) -> Segment:
        return Segment(
            at, at, opening.opens, opening.lemma, opening.body, conditional or opening.conditional, opening.instead,
            opening.only, opening.polite, asks and opening.opens is Opens.QUESTION,
        )  # fmt: skip

    def _next(self, segment: Segment, end: int, asks: bool) -> tuple[int, bool, Opening] | None:
        """Return where the clause ends in its sentence: the place, whether content follows, and what opens there."""
        place = max(segment.body, segment.first + 1)
        tokens = self.tokens
        while place < end:
            token = tokens[place]
            low = token.low
            if segment.opens in (Opens.READING, Opens.QUESTION) and low in {"how", "why"}:
                segment.how = segment.how or word_at(tokens, place + 1, self.words) not in QUANTITIES
            if low == ":" and self._labels(segment, place):
                place += 2
                continue
            candidate = token.kind is Kind.SOFT or (token.kind is Kind.PUNCT and low in COMMAS)
            candidate = candidate or (
                word_at(tokens, place, self.words) in SPLIT_WORDS and not self._within_verb(place)
            )
            candidate = candidate or (low in LOOSE and self._loose_negation(place, end))
            if not candidate:
                place += 1
                continue
            if low == ":" and self._content_follows(segment, place, end):
                return place + 1, True, Opening(Opens.CONTENT, place, place)
            opening = self.opening(place, end, start=False, asks=asks)
            if opening.opens is not Opens.REMARK and self._splits(segment, place, end, opening):
                return place, False, opening
            place += 1
        return None

    def _within_verb(self, place: int) -> bool:
        """Whether an adverb only stands inside a statement: "we should also publish it", "they then delete it"."""
        if self.tokens[place].low not in {"also", "then", "just", "only", "next", "finally", "instead"}:
            return False
        return word_at(self.tokens, place - 1, self.words) in AUXILIARIES and word_at(
            self.tokens, place - 2, self.words
        ) not in {"you", "u", "i", "please", ""}

    def _loose_negation(self, place: int, end: int) -> bool:
        """Whether a ban begins without any mark before it: "summarize my inbox dont send anything"."""
        before = word_at(self.tokens, place - 1, self.words)
        if before in self.words.sets["statement_subjects"] or before in {"you", "and", "who", "that", "which"}:
            return False
        following = word_at(self.tokens, place + 1 + (self.tokens[place].low == "do"), self.words)
        form = self.words.forms.get(following)
        if form is None or not form.base or following in self.words.sets["idioms"]:
            return False
        sweeping = any(
            word_at(self.tokens, k, self.words) in self.words.sets["universal"]
            for k in range(place + 2, min(end, place + 5))
        )
        return sweeping or not before.endswith("s")

    def _labels(self, segment: Segment, colon: int) -> bool:
        """Whether a colon only stands between a field and its value: "with the new address: 1 Elm Street and …"."""
        return (
            segment.opens is Opens.REQUEST
            and segment.lemma not in SEND_VERBS | {"create", "draft", "compose", "post"}
            and word_at(self.tokens, colon - 1, self.words) in FIELDS
        )

    def _content_follows(self, segment: Segment, colon: int, end: int) -> bool:
        """Whether what stands behind a colon is somebody's speech or a request's content."""
        if colon + 1 >= end or self.tokens[colon + 1].kind is Kind.BREAK:
            return False
        reporting = self.words.sets["reporting"]
        if segment.opens is Opens.REMARK or segment.opens is Opens.QUESTION:
            span = self.tokens[max(segment.first, colon - _LOOK) : colon]
            said = any(t.low in reporting and t.kind is Kind.WORD for t in span)
            return said and len(span) > 1
        if segment.opens is Opens.NEGATION or segment.lemma in LEAD_INS | {"leave", "keep"}:
            return False
        if segment.opens is Opens.REQUEST:
            return True
        return segment.lemma not in {"show", "answer", "tell"} or self.tokens[colon + 1].kind is Kind.QUOTED

    def _splits(self, segment: Segment, place: int, end: int, opening: Opening) -> bool:
        """Whether what opens at a candidate is a clause of its own, given the clause that it would end."""
        low = self.tokens[place].low
        if self.tokens[place].kind is Kind.SOFT and self._dangling(place - 1):
            return False
        if segment.opens is Opens.NEGATION and opening.opens is Opens.REQUEST:
            return self._leaves_negation(segment, place, end, opening)
        if opening.opens is Opens.CONDITION:
            return segment.opens is not Opens.NEGATION or low in COMMAS
        if opening.opens is Opens.QUESTION:
            return low in COMMAS
        if opening.opens is Opens.NEGATION or (low == ":" and self._denies(segment, place)):
            return True
        if segment.opens is Opens.QUESTION:
            return self._after_question(place, end, opening)
        if (
            segment.opens is Opens.REMARK
            and low in {"and", "or"}
            and self._muses(segment, place)
            and not opening.polite
        ):
            return False
        if segment.how and low not in {",", "then", ";"} and not opening.framed:
            return False
        return not self._premodifier(segment, place)

    def _muses(self, segment: Segment, end: int) -> bool:
        """Whether a clause says what somebody should do one day: a verb behind "and" goes on with it."""
        words = [word_at(self.tokens, k, self.words) for k in range(segment.first, min(end, segment.first + _LOOK))]
        wanting = next((k for k, word in enumerate(words) if word in REPORTED_WISH), 0)
        if wanting and words[0] != "i" and "to" in words[wanting + 1 : wanting + 4]:
            return True  # "my boss wants you to delete it and mail it": the whole of it is told
        return any(
            modal in {"should", "could", "might", "would"} and subject in MUSING for subject, modal in pairwise(words)
        )

    def _premodifier(self, segment: Segment, place: int) -> bool:
        """Whether "save and delete" is only the name of something: "list save and delete commands"."""
        if segment.opens is not Opens.READING or not segment.body < place <= segment.body + 3:
            return False
        *leading, last = [word_at(self.tokens, k, self.words) for k in range(segment.body, place)]
        before = self.words.forms.get(last)
        if before is None or not before.base or (leading and last in self.words.nouns):
            return False
        return all(low in self.words.sets["determiners"] for low in leading)

    def _after_question(self, place: int, end: int, opening: Opening) -> bool:
        """Whether a request follows a question in one sentence: "what is in it, and please mail it to x@y.example?"."""
        if opening.opens is not Opens.REQUEST:
            return False
        literal = any(t.kind in LITERALS for t in self.tokens[opening.body : min(end, opening.body + _LOOK)])
        return opening.polite or (literal and self.tokens[place].low == "," and not self._asks_how())

    def _asks_how(self) -> bool:
        segment = self.out[-1]
        first = {t.low for t in self.tokens[segment.first : segment.first + 4]}
        return bool(first & {"how", "why", "if", "should", "would"}) or segment.how

    def _leaves_negation(self, segment: Segment, place: int, end: int, opening: Opening) -> bool:
        """Whether a verb behind a ban is a request of its own: "don't email bob, email carol instead"."""
        tokens = self.tokens
        low = tokens[place].low
        if low == ":" and self._denies(segment, place):
            return True
        if not self._has_object(segment, place):
            # "don't delete anything, just move the logs": what is wanted instead is said so
            after = low if low != "," else word_at(tokens, place + 1, self.words)
            swept = any(t.low in {"anything", "anyone", "everything"} for t in tokens[segment.body : place])
            return swept and after in {"just", "instead", "simply", "rather", "but"}
        if low in {"or", "nor"} or (low == "," and word_at(tokens, place + 1, self.words) in {"or", "nor"}):
            return False
        if opening.polite or opening.instead or low in {"just", "please", "instead", "only", "but", "then", "so"}:
            return True
        if low == "," and word_at(tokens, place + 1, self.words) != "and":
            return not self._alternatives_follow(opening.body, end)
        if low not in {"and", ","}:
            return True
        return any(t.kind in LITERALS for t in tokens[opening.body : min(end, opening.body + 12)])

    def _has_object(self, segment: Segment, place: int) -> bool:
        forms, adverbs = self.words.forms, self.words.sets["adverbs"]
        for token in self.tokens[segment.body : place]:
            if token.kind in (Kind.SOFT, Kind.PUNCT) or token.low in CONNECTORS or token.low in adverbs:
                continue
            form = forms.get(token.low)
            if token.kind is not Kind.WORD or form is None or not (form.base or form.gerund):
                return True
        return False

    def _alternatives_follow(self, at: int, end: int) -> bool:
        """Whether the list of verbs goes on to an "or": "don't delete files, send mails or run commands"."""
        for place in range(at, min(end, at + _LOOK)):
            low = self.tokens[place].low
            if low in {"and", "then", "but", ":"}:
                return False
            if low in {"or", "nor"}:
                form = self.words.forms.get(word_at(self.tokens, place + 1, self.words))
                return form is not None and (form.base or form.gerund)
        return False

    def _dangling(self, at: int) -> bool:
        """Whether the words before a line break cannot end a clause: "Do not / send anything"."""
        low = word_at(self.tokens, at, self.words)
        sets = self.words.sets
        return low in sets["prepositions"] or low in {
            "not",
            "don't",
            "never",
            "please",
            "you",
            "must",
            "the",
            "a",
            "an",
            "can",
            "should",
            "any",
        }

    # -- what opens at a place
