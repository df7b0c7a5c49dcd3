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
from enum import StrEnum

from agentsfence_compiler.language.lexicon import English, english
from agentsfence_compiler.language.tokens import Kind, Token

_LOOK = 40  # tokens of a bounded look ahead
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


@dataclass(slots=True)
class _Opening:
    opens: Opens
    verb: int
    body: int
    lemma: str = ""
    instead: bool = False
    only: bool = False
    polite: bool = False
    framed: bool = False
    conditional: bool = False


_CONNECTORS = frozenset({"and", "then", "but", "or", "so", "plus", "nor", "&", "also", "yet", "while"})
_COMMAS = frozenset({",", ":", "-", "--", "\u2013", "\u2014", "(", ")", "\u2192", "/", "|", ">", "=>", "->", "\u060c"})
_ENDS = frozenset({".", "!", "?", ";", "\u2026", "\u061b", "\u061f", "\u3002", "\uff01", "\uff1f", "\uff1b", "\u0964"})
_SPLIT_WORDS = _CONNECTORS | frozenset(
    {"just", "please", "instead", "only", "pls", "without", "afterwards", "finally", "next"}
)
_HEADERS = frozenset({"to", "cc", "bcc", "subject", "from", "an", "betreff", "para", "asunto", "objet"})
_LOOSE = frozenset({"don't", "dont", "do", "never", "donot"})
_POLITE = frozenset({"please", "pls", "plz", "kindly", "can", "could", "would", "will"})
_AUXILIARIES = frozenset(
    "is are was were am be been has have had do does did can could will would shall should may might must isn't aren't wasn't".split()
)
_BARE_VERBS = frozenset(
    "reply respond commit push deploy merge publish submit install upload download upgrade restart rebuild save send delete lint compile pay".split()
)
_EXPLAINING = frozenset("explain describe define clarify tell show teach learn understand discuss know help".split())
_LEAD_INS = frozenset("do perform follow complete execute run finish process handle take try start begin work".split())
_PHRASE_VERBS = {
    ("set", "up"): "create", ("clean", "up"): "clean", ("tidy", "up"): "clean", ("back", "up"): "copy", ("look", "up"): "look",
    ("look", "for"): "look", ("look", "at"): "look", ("look", "into"): "look", ("look", "through"): "look", ("get", "rid"): "delete",
    ("put", "together"): "create", ("write", "down"): "write", ("note", "down"): "write", ("write", "up"): "write",
    ("write", "back"): "reply", ("get", "back"): "reply", ("sign", "up"): "subscribe", ("follow", "up"): "reply", ("reach", "out"): "message",
    ("drop", "off"): "move", ("check", "out"): "check", ("check", "in"): "commit", ("fill", "in"): "fill", ("fill", "out"): "fill",
    ("log", "in"): "log", ("sign", "in"): "sign", ("turn", "off"): "turn", ("turn", "on"): "turn", ("shut", "down"): "stop",
    ("spin", "up"): "start", ("kick", "off"): "start", ("take", "down"): "delete", ("take", "a"): "look", ("have", "a"): "look",
    ("take", "out"): "remove", ("send", "out"): "send", ("mail", "out"): "send", ("fire", "off"): "send", ("pass", "on"): "send",
    ("pass", "along"): "send", ("loop", "in"): "cc", ("hit", "up"): "message", ("throw", "away"): "delete", ("throw", "out"): "delete",
    ("free", "up"): "clean", ("roll", "back"): "revert", ("roll", "out"): "deploy", ("top", "up"): "pay", ("call", "off"): "cancel",
    ("make", "sure"): "verify", ("find", "out"): "find", ("give", "me"): "show", ("tell", "me"): "show", ("show", "me"): "show",
    ("let", "me"): "show", ("send", "me"): "show", ("send", "us"): "show", ("tell", "us"): "show", ("get", "me"): "show",
    ("give", "us"): "show", ("remind", "me"): "show", ("ask", "me"): "show", ("write", "me"): "show", ("read", "me"): "show",
    ("make", "me"): "show", ("draft", "me"): "show", ("post", "here"): "show", ("hand", "over"): "send", ("set", "a"): "set",
    ("get", "word"): "message", ("drop", "a"): "message", ("jot", "down"): "write", ("type", "up"): "write", ("print", "out"): "print", ("move", "on"): "continue",
}  # fmt: skip


def clauses(tokens: Sequence[Token]) -> list[Segment]:
    """Return the clauses of a token list, in order and without gaps. Linear."""
    return _Reader(tokens, english()).read()


def phrase_at(tokens: Sequence[Token], at: int, end: int, table: object, words: English) -> int:
    """Return how many tokens the longest phrase of a section takes at a place, 0 for none."""
    if at >= end or not isinstance(table, dict):
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


class _Reader:
    """Walks the tokens once."""

    def __init__(self, tokens: Sequence[Token], words: English) -> None:
        self.tokens = tokens
        self.words = words
        self.out: list[Segment] = []

    def read(self) -> list[Segment]:
        at = 0
        content_until_break = False
        dictated = False
        while at < len(self.tokens):
            end, asks, hard = self._sentence(at)
            if content_until_break:
                self.out.append(Segment(at, end, Opens.CONTENT, body=at))
            else:
                self._clauses_of(at, end, asks)
            dictated = dictated or self._dictates()
            content = content_until_break or self.out[-1].opens is Opens.CONTENT
            content_until_break = dictated or (not hard and content)
            at = end
        return self.out

    def _dictates(self) -> bool:
        """Whether the last clause is the head of a message that the person dictates: the rest is its text."""
        if len(self.out) < 2 or self.out[-1].opens is not Opens.CONTENT or self.out[-2].opens is not Opens.REQUEST:
            return False
        head = self.tokens[self.out[-1].first : min(self.out[-1].last, self.out[-1].first + 4)]
        return any(a.low in _HEADERS and b.low == ":" for a, b in zip(head, head[1:], strict=False))

    def _sentence(self, at: int) -> tuple[int, bool, bool]:
        """Return where the sentence ends, whether it asks, and whether a paragraph or list item ends with it."""
        place = at
        while place < len(self.tokens):
            token = self.tokens[place]
            if token.kind is Kind.BREAK:
                return place + 1, False, True
            if token.kind is Kind.PUNCT and token.low in _ENDS:
                hard = place + 1 < len(self.tokens) and self.tokens[place + 1].kind is Kind.BREAK
                return place + 1 + hard, token.low in {"?", "\u061f", "\uff1f"}, hard
            place += 1
        return place, False, True

    def _clauses_of(self, at: int, end: int, asks: bool) -> None:
        """Append the clauses of one sentence."""
        conditional = False
        opening = self.opening(at, end, start=True, asks=asks)
        while True:
            segment = self._segment(at, opening, asks, conditional)
            self.out.append(segment)
            conditional = segment.conditional
            found = self._next(segment, end, asks)
            if found is None:
                segment.last = end
                return
            segment.last, content, opening = found
            if content:
                segment.colon = True
                self.out.append(Segment(segment.last, end, Opens.CONTENT, body=segment.last))
                return
            at = segment.last

    def _segment(self, at: int, opening: _Opening, asks: bool, conditional: bool) -> Segment:
        return Segment(
            at, at, opening.opens, opening.lemma, opening.body, conditional or opening.conditional, opening.instead,
            opening.only, opening.polite, asks and opening.opens is Opens.QUESTION,
        )  # fmt: skip

    def _next(self, segment: Segment, end: int, asks: bool) -> tuple[int, bool, _Opening] | None:
        """Return where the clause ends inside its sentence: the place, whether content follows, and what opens there."""
        place = max(segment.body, segment.first + 1)
        tokens = self.tokens
        while place < end:
            token = tokens[place]
            low = token.low
            if segment.opens in (Opens.READING, Opens.QUESTION) and low in {"how", "why"}:
                segment.how = True
            candidate = token.kind is Kind.SOFT or (token.kind is Kind.PUNCT and low in _COMMAS) or low in _SPLIT_WORDS
            candidate = candidate or (low in _LOOSE and self._loose_negation(place, end))
            if not candidate:
                place += 1
                continue
            if low == ":" and self._content_follows(segment, place, end):
                return place + 1, True, _Opening(Opens.CONTENT, place, place)
            opening = self.opening(place, end, start=False, asks=asks)
            if opening.opens is not Opens.REMARK and self._splits(segment, place, end, opening):
                return place, False, opening
            place += 1
        return None

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

    def _content_follows(self, segment: Segment, colon: int, end: int) -> bool:
        """Whether what stands behind a colon is somebody's speech or a request's content."""
        if colon + 1 >= end or self.tokens[colon + 1].kind is Kind.BREAK:
            return False
        reporting = self.words.sets["reporting"]
        if segment.opens is Opens.REMARK or segment.opens is Opens.QUESTION:
            span = self.tokens[max(segment.first, colon - _LOOK) : colon]
            said = any(t.low in reporting and t.kind is Kind.WORD for t in span)
            return said and len(span) > 1
        if segment.opens is Opens.NEGATION or segment.lemma in _LEAD_INS:
            return False
        if segment.opens is Opens.REQUEST:
            return True
        return segment.lemma not in {"show", "answer", "tell"} or self.tokens[colon + 1].kind is Kind.QUOTED

    def _splits(self, segment: Segment, place: int, end: int, opening: _Opening) -> bool:
        """Whether what opens at a candidate is a clause of its own, given the clause that it would end."""
        low = self.tokens[place].low
        if self.tokens[place].kind is Kind.SOFT and self._dangling(place - 1):
            return False
        if segment.opens is Opens.NEGATION and opening.opens is Opens.REQUEST:
            return self._leaves_negation(segment, place, end, opening)
        if opening.opens is Opens.CONDITION:
            return segment.opens is not Opens.NEGATION or low in _COMMAS
        if opening.opens is Opens.QUESTION:
            return low in _COMMAS
        if opening.opens is Opens.NEGATION:
            return True
        if segment.opens is Opens.QUESTION:
            return self._after_question(place, end, opening)
        if segment.how and low not in {",", "then", ";"} and not opening.framed:
            return False
        return not self._premodifier(segment, place)

    def _premodifier(self, segment: Segment, place: int) -> bool:
        """Whether "save and delete" is only the name of something: "list save and delete commands"."""
        if segment.opens is not Opens.READING or not segment.body < place <= segment.body + 3:
            return False
        *leading, last = [word_at(self.tokens, k, self.words) for k in range(segment.body, place)]
        before = self.words.forms.get(last)
        if before is None or not before.base or (leading and last in self.words.nouns):
            return False
        return all(low in self.words.sets["determiners"] for low in leading)

    def _after_question(self, place: int, end: int, opening: _Opening) -> bool:
        """Whether a request follows a question in one sentence: "what is in it, and please mail it to x@y.example?"."""
        if opening.opens is not Opens.REQUEST:
            return False
        literal = any(t.kind in _LITERALS for t in self.tokens[opening.body : min(end, opening.body + _LOOK)])
        return opening.polite or (literal and self.tokens[place].low == "," and not self._asks_how())

    def _asks_how(self) -> bool:
        segment = self.out[-1]
        first = {t.low for t in self.tokens[segment.first : segment.first + 4]}
        return bool(first & {"how", "why", "if", "should", "would"}) or segment.how

    def _leaves_negation(self, segment: Segment, place: int, end: int, opening: _Opening) -> bool:
        """Whether a verb behind a ban is a request of its own: "don't email bob, email carol instead"."""
        tokens = self.tokens
        low = tokens[place].low
        if not self._has_object(segment, place):
            return False
        if low in {"or", "nor"} or (low == "," and word_at(tokens, place + 1, self.words) in {"or", "nor"}):
            return False
        if opening.polite or opening.instead or low in {"just", "please", "instead", "only", "but", "then", "so"}:
            return True
        if low == "," and word_at(tokens, place + 1, self.words) not in {"and"}:
            return not self._alternatives_follow(opening.body, end)
        if low not in {"and", ","}:
            return True
        return any(t.kind in _LITERALS for t in tokens[opening.body : min(end, opening.body + 12)])

    def _has_object(self, segment: Segment, place: int) -> bool:
        forms, adverbs = self.words.forms, self.words.sets["adverbs"]
        for token in self.tokens[segment.body : place]:
            if token.kind in (Kind.SOFT, Kind.PUNCT) or token.low in _CONNECTORS or token.low in adverbs:
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

    def opening(self, at: int, end: int, *, start: bool, asks: bool) -> _Opening:
        """Return what opens at a place, connectors and framing taken off."""
        at = self._past_connectors(at, end)
        found = _Opening(Opens.REMARK, at, at)
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
                or (token.kind is Kind.PUNCT and token.low not in _ENDS)
                or token.low in _CONNECTORS
            ):
                at += 1
                continue
            break
        return at

    def _frame(self, at: int, end: int, found: _Opening) -> int:
        """Return how many tokens of framing stand at a place, noting what they say."""
        words = self.words
        count = phrase_at(self.tokens, at, end, words.phrases["framing_gerund"], words)
        form = words.forms.get(word_at(self.tokens, at + count, words)) if count else None
        if form is not None and form.gerund:
            return 0
        count = phrase_at(self.tokens, at, end, words.phrases["harmless_conditions"], words)
        count = count or phrase_at(self.tokens, at, end, words.phrases["framing"], words)
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
        found.only = found.only or low == "only"
        found.polite = found.polite or low in _POLITE
        return count

    def _decide(self, found: _Opening, first: int, at: int, end: int, *, start: bool, asks: bool) -> None:
        words = self.words
        if self._negation(found, at, end):
            return
        count = phrase_at(self.tokens, at, end, words.phrases["conditions"], words)
        low = word_at(self.tokens, at, words)
        following = word_at(self.tokens, at + 1, words)
        if count and not (low == "should" and (asks or following not in {"you", "the", "it", "there", "any"})):
            found.opens, found.conditional, found.body = Opens.CONDITION, True, at + count
            return
        if self._question(at, low, following, asks=asks, start=start, framed=found.framed):
            found.opens = Opens.QUESTION
            found.body = at + 1
            return
        count = phrase_at(self.tokens, at, end, words.phrases["times"], words) if start else 0
        if count:
            found.opens, found.body = Opens.CONDITION, at + count
            return
        self._verb(found, at, end, start=start or found.framed or self.tokens[first].low in {"then"})

    def _negation(self, found: _Opening, at: int, end: int) -> bool:
        """Note a ban: "don't", "you must not", "never", "without", "refrain from" …"""
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

    def _question(self, at: int, low: str, following: str, *, asks: bool, start: bool, framed: bool) -> bool:
        sets = self.words.sets
        if low in sets["question_words"]:
            return True
        if low == "when":
            return following in _AUXILIARIES or (asks and framed)
        if low not in sets["question_verbs"] or not start:
            return False
        if low == "do" and following in sets["determiners"] and following not in sets["pronouns"]:
            return False
        return asks or following in sets["statement_subjects"] or following in {"you", "the", "my"} and low != "have"

    def _verb(self, found: _Opening, at: int, end: int, *, start: bool) -> None:
        """Note the verb at a place, if the word there is used as one."""
        words = self.words
        low = word_at(self.tokens, at, words)
        after = word_at(self.tokens, at + 1, words)
        phrase = _PHRASE_VERBS.get((low, after))
        body = at + 1
        if phrase is not None:
            found.lemma, body = phrase, at + 2
        elif low == "let" and self._lets_know(at, end):
            found.lemma = "tell"
        elif low in {"drop", "give"} and self._gives_word(at, end):
            found.lemma = "message"
        else:
            form = words.forms.get(low)
            if form is None and start and self.tokens[at].kind is Kind.WORD:
                form = words.forms.get(words.fuzzy.get(low, "")) if len(low) > 3 else None
            if form is None or not form.base or self.tokens[at].kind is not Kind.WORD:
                self._gerund(found, at, end)
                return
            if not self._used_as_verb(at, end, low, start=start):
                return
            found.lemma = form.lemma
        found.body = body
        found.opens = Opens.READING if found.lemma in words.reading else Opens.REQUEST

    def _gerund(self, found: _Opening, at: int, end: int) -> None:
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
            return low in _BARE_VERBS or (start and at + 2 >= end)
        token = self.tokens[at + 1]
        after = word_at(self.tokens, at + 1, self.words)
        sets = self.words.sets
        if token.kind in _LITERALS or token.kind in (Kind.QUOTED, Kind.CODE, Kind.MONEY):
            return True
        if token.kind is Kind.NUMBER:
            third = word_at(self.tokens, at + 2, self.words)
            return bool(third) and third[0].isalpha() and third not in _AUXILIARIES
        if after in _AUXILIARIES or after in self.words.forms and not self.words.forms[after].base and start is False:
            return False
        if after in sets["determiners"] or after in sets["universal"]:
            return True
        if after in {"to", "back", "everything", "up"}:
            return True
        if after in sets["prepositions"] and low in _BARE_VERBS and after in {"with", "in", "on", "now", "if"}:
            return start
        if after in sets["prepositions"]:
            return (
                start
                and any(t.kind in _LITERALS for t in self.tokens[at + 2 : min(end, at + 5)])
                and after not in {"from", "of", "by", "about"}
            )
        if after in _CONNECTORS:
            return start or low in _BARE_VERBS
        return start or self.tokens[at + 1].value[:1].isupper()


_LITERALS = frozenset({Kind.ADDRESS, Kind.PARTY, Kind.URL, Kind.HOST, Kind.PATH, Kind.REFERENCE})
LITERALS = _LITERALS
"""Tokens that name a target by themselves."""
