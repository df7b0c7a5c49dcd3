"""Every language but English, by one engine and a data file each: bans, and requests with literal targets (DESIGN 7.2).

Rules of this file:

* No code per language: what differs is data (``lexicon/xx.yaml``). Spaced scripts look words up, the others look for
  them inside a run of characters.
* A clause that holds an action and a negation forbids; an idiom ("vergiss nicht") turns the negation off.
* A clause that asks how, tells what somebody does, or reports, asks for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from agentsfence_compiler.language import coverage
from agentsfence_compiler.language.languages import ELISION, ENGLISH, LATIN, RUNS, Lexicon, lexicon, plain
from agentsfence_compiler.language.reading import Request
from agentsfence_compiler.language.references import Places, canonical_party
from agentsfence_compiler.language.tokens import FILE_ENDINGS, PARAGRAPH, Kind, Token
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Prohibition, Risk, Targets

_STOPS = frozenset({".", "!", "?", ";", "\u3002", "\uff01", "\uff1f", "\uff1b", "\u0964", "\u061f", "\u061b", "\u2026"})
_PAUSES = frozenset({",", ":", "\uff0c", "\u3001", "\uff1a", "\u060c", "(", ")", "\u2014", "\u2013", "-"})
_WITHOUT = frozenset({"ohne", "sans", "sin", "sem", "senza", "zonder", "без", "بدون", "دون", "बिना"})
_CLITICS = {
    "es": ("melo", "selo", "telo", "los", "las", "les", "nos", "lo", "la", "le", "me"),
    "it": ("glielo", "glieli", "melo", "telo", "gli", "lo", "la", "li", "le", "ne", "mi"),
}
"""Pronouns written onto the verb."""
_TEST_WORDS = ("test", "prueba", "тест", "测试", "測試", "テスト", "테스트", "اختبار", "परीक्षण")
_SENDS = frozenset({"send", "email", "forward", "reply", "contact", "write", "call"})
_OR = frozenset("oder ou o of или أو या ni noch nem ні".split())
"""Behind a ban: the next verb is forbidden too."""
_NOBODY = frozenset("niemand niemandem niemanden keinem personne nadie nessuno ninguem никому никого".split())
"""Behind a negated "write": somebody is not to be written to."""
_GOAL_LAST = frozenset({"save", "write", "copy", "create", "download"})
_REACH = 9  # tokens, or characters of a run, between a negation and its verb


@dataclass(slots=True)
class Foreign:
    """What the other languages of a message ask for and forbid."""

    requests: list[Request] = field(default_factory=list)
    prohibitions: list[Prohibition] = field(default_factory=list)
    banned: list[tuple[int, int]] = field(default_factory=list)
    """Spans of the clauses that forbid."""
    asked: set[int] = field(default_factory=set)
    """Where the clauses start that ask something."""
    requires_approval: list[str] = field(default_factory=list)
    """What a conditional ban ("wenn …, lösche nichts") wants to be asked about."""


@dataclass(frozen=True, slots=True)
class _Clause:
    first: int
    last: int
    asks: bool
    reported: bool
    opens_sentence: bool


def read_foreign(text: str, tokens: Sequence[Token], places: Places, languages: Sequence[str]) -> Foreign:
    """Return what the clauses in other languages ask for and forbid. Linear in the text, for each language."""
    out = Foreign()
    for language in languages:
        words = lexicon(language)
        _Reader(text, tokens, places, words, out).read()
        _read_only(text, words, out)
    starts = {start for start, _ in out.banned} | out.asked
    # INVARIANT: what one language reads as a ban or a question, a related one (es, pt) must not read as a request.
    out.requests = [request for request in out.requests if request.start not in starts]
    return out


def _read_only(text: str, words: Lexicon, out: Foreign) -> None:
    """Add the bans of "nur lesen", "lecture seule", where the language asks for nothing else."""
    if any(request.language == words.language for request in out.requests):
        return
    lowered = plain(text, words.language)
    phrase = next((phrase for phrase in words.lists["read_only"] if phrase in lowered), "")
    start = lowered.find(phrase) if phrase and len(lowered) == len(text) else -1
    quote = text[start : start + len(phrase)] if start >= 0 else text[: LIMITS.evidence_words]
    if phrase:
        out.prohibitions += [Prohibition(what=what, quote=quote) for what in coverage.READ_ONLY]


class _Reader:
    def __init__(self, text: str, tokens: Sequence[Token], places: Places, words: Lexicon, out: Foreign) -> None:
        self.text = text
        self.tokens = tokens
        self.places = places
        self.words = words
        self.out = out
        self.masked: tuple[int, str] = (-1, "")  # the clause that was masked last, by its first token

    def read(self) -> None:
        conditional = denied = listed = False
        for clause in self._clauses():
            listed = listed and not self._ends_list(clause)
            if clause.opens_sentence:
                conditional, denied = False, listed
            if not self._speaks(clause):
                continue
            lows = self._lows(clause)
            verbs = self._verbs(clause)
            if denied and verbs:  # "Es ist verboten, Mails zu senden"
                self._forbid(clause, [lemma for _, lemma in verbs], conditional=conditional)
                continue
            if not verbs and self._heads(clause, lows):
                denied = listed = True
                continue
            banned = len(self.out.banned)
            denied = not verbs and any(low in self.words.sets["forbidden"] for low in lows)
            if self._conditional(lows, clause):
                conditional = True
                continue
            self._clause(clause, lows, conditional=conditional)
            # "sende keine Mails oder lösche Dateien": an "or" behind a ban goes on with it
            denied = denied or (len(self.out.banned) > banned and self._word(clause.last) in _OR)

    def _heads(self, clause: _Clause, lows: Sequence[str]) -> bool:
        """Whether a clause is the head of a list of bans: "Bitte nicht:"."""
        negated = any(low in self.words.sets["negators"] or low in self.words.sets["forbidden"] for low in lows)
        return negated and clause.last < len(self.tokens) and self.tokens[clause.last].low in {":", "\uff1a"}

    def _ends_list(self, clause: _Clause) -> bool:
        """Whether a paragraph ended right before a clause, or it is a head of its own."""
        before = self.tokens[clause.first - 1] if clause.first else None
        head = clause.last < len(self.tokens) and self.tokens[clause.last].low in {":", "\uff1a"}
        return head or (before is not None and before.kind is Kind.BREAK and before.value == PARAGRAPH)

    # -- clauses

    def _clauses(self) -> Iterator[_Clause]:
        first = 0
        opens, reported = True, False
        ends = self._sentence_ends()
        inset = -1
        for place, token in enumerate(self.tokens):
            inset = max(inset, self._inset(place))
            if place <= inset:
                continue  # "Envía, por favor, el informe": the courtesy belongs to its clause
            stop = token.low in _STOPS or token.kind is Kind.BREAK
            pause = token.kind is Kind.PUNCT and token.low in _PAUSES
            if not (stop or pause or self._splits(place)):
                continue
            if place > first:
                yield _Clause(first, place, ends[place], reported, opens)
                opens = False
            if stop:
                opens, reported = True, False
            elif token.low in {":", "\uff1a"}:
                reported = not opens or self._reports(first, place)
            first = place + (1 if stop or pause else 0)
        if first < len(self.tokens):
            yield _Clause(first, len(self.tokens), False, reported, opens)

    def _inset(self, place: int) -> int:
        """Return where a courtesy between two commas ends that begins at a place, -1 where none does."""
        if self.tokens[place].low != ",":
            return -1
        framing = self.words.sets["framing"]
        for end in range(place + 1, min(place + 5, len(self.tokens))):
            if self.tokens[end].low == ",":
                return end if end > place + 1 else -1
            word = self._word(end)
            if word not in framing and ELISION.sub("", word, count=1) not in framing:
                return -1
        return -1

    def _sentence_ends(self) -> list[bool]:
        """Return for every token whether its sentence ends in a question mark."""
        asks = [False] * (len(self.tokens) + 1)
        current = False
        for place in range(len(self.tokens) - 1, -1, -1):
            low = self.tokens[place].low
            if low in _STOPS:
                current = low in {"?", "\uff1f", "\u061f"}
            asks[place] = current
        return asks

    def _reports(self, first: int, last: int) -> bool:
        return any(self._word(k) in self.words.sets["reporting"] for k in range(max(first, last - 20), last))

    def _splits(self, place: int) -> bool:
        """Whether a conjunction begins a clause: an action follows it."""
        if self._word(place) not in self.words.sets["splits"]:
            return False
        return any(self._lemma(k) for k in range(place + 1, min(place + 4, len(self.tokens))))

    def _speaks(self, clause: _Clause) -> bool:
        """Whether a clause may be in this language: not plainly English, and in the script of the run."""
        if self.words.language in RUNS:
            return any(t.kind is Kind.CJK for t in self.tokens[clause.first : clause.last])
        if self.words.language not in LATIN:
            return True
        span = self.tokens[clause.first : min(clause.last, clause.first + 60)]
        english = sum(1 for t in span if t.low in ENGLISH)
        return english * 2 <= sum(1 for t in span if t.kind is Kind.WORD) or english <= 1

    def _lows(self, clause: _Clause) -> list[str]:
        """Return the words of a clause; in Arabic without an "and" that is written onto "not"."""
        lows = [self._word(k) for k in range(clause.first, min(clause.last, clause.first + 400))]
        if self.words.language != "ar":
            return lows
        negators = self.words.sets["negators"]
        return [low[1:] if low[:1] in {"و", "ف"} and low[1:] in negators else low for low in lows]

    def _word(self, place: int) -> str:
        if place >= len(self.tokens) or self.tokens[place].kind is not Kind.WORD:
            return ""
        return plain(self.tokens[place].low, self.words.language)

    def _lemma(self, place: int) -> str:
        """Return the lemma of the verb at a place, elisions, hyphens and clitics taken off; empty for no verb."""
        word = self._word(place)
        if not word:
            return ""
        forms = self.words.forms
        for candidate in self._spellings(word):
            if candidate in forms:
                return forms[candidate]
        if (
            self.words.language == "de"
            and len(word) > 4
            and (place == 0 or self.tokens[place].value[:1].islower() or self.tokens[place - 1].kind is not Kind.WORD)
        ):
            return forms.get(f"{word}e", "")  # "verschick": the order without its ending; a noun has a capital
        return ""

    def _spellings(self, word: str) -> Iterator[str]:
        yield word
        language = self.words.language
        if language in {"fr", "it"} and "'" in word:
            word = ELISION.sub("", word, count=1)
            yield word
        if "-" in word:
            yield word.split("-", 1)[0]
        for clitic in _CLITICS.get(language, ()):
            if len(word) > len(clitic) + 3 and word.endswith(clitic):
                yield word[: -len(clitic)]
                yield f"{word[: -len(clitic)]}e"
        if language == "ar" and word[:1] in {"و", "ف"}:
            yield word[1:]

    # -- one clause

    def _conditional(self, lows: Sequence[str], clause: _Clause) -> bool:
        conditions = self.words.sets["conditions"]
        if self.words.runs is not None:
            run = self._span(clause)
            return any(word in run for word in conditions) and not self.words.runs.search(run)
        return any(low in conditions for low in lows[:2])

    def _span(self, clause: _Clause) -> str:
        return self.text[self.tokens[clause.first].start : self.tokens[clause.last - 1].end]

    def _clause(self, clause: _Clause, lows: Sequence[str], *, conditional: bool) -> None:
        verbs = self._verbs(clause)
        actions = [(place, self.words.actions[low]) for place, low in enumerate(lows) if low in self.words.actions]
        idiom = self._has_idiom(lows, clause)
        forbidden = [] if idiom else [lemma for place, lemma in verbs + actions if self._negated(place, lows, clause)]
        states = self._states(lows, clause)
        if forbidden:
            if not states and not (clause.asks and self._questions(lows, clause, len(lows))):
                self._forbid(clause, forbidden, conditional=conditional)
        elif not clause.reported and not states:
            for place, lemma in verbs[:3]:
                if self._questions(lows, clause, place):
                    self.out.asked.add(self._quote(clause)[0])
                elif self._request(clause, lemma, conditional=conditional):
                    return

    def _verbs(self, clause: _Clause) -> list[tuple[int, str]]:
        """Return the verbs of a clause with their places: token offsets, or character offsets in a run."""
        if self.words.runs is None:
            found = (
                (k - clause.first, self._lemma(k)) for k in range(clause.first, min(clause.last, clause.first + 400))
            )
            return [(place, lemma) for place, lemma in found if lemma]
        run = self._masked(clause)
        return [(match.start(), self.words.forms[match.group()]) for match in self.words.runs.finditer(run)]

    def _masked(self, clause: _Clause) -> str:
        """Return the text of a clause with its literals blanked, character for character; once per clause."""
        if self.masked[0] == clause.first:
            return self.masked[1]
        place = self.tokens[clause.first].start
        parts = []
        for token in self.tokens[clause.first : clause.last]:
            parts.append(" " * (token.start - place))
            parts.append(
                self.text[token.start : token.end] if token.kind is Kind.CJK else " " * (token.end - token.start)
            )
            place = token.end
        self.masked = (clause.first, "".join(parts))
        return self.masked[1]

    def _has_idiom(self, lows: Sequence[str], clause: _Clause) -> bool:
        idioms = self.words.sets["idioms"]
        if self.words.runs is not None:
            run = self._span(clause)
            return any(word in run for word in idioms)
        return any(low in idioms or ELISION.sub("", low, count=1) in idioms for low in lows)

    def _negated(self, place: int, lows: Sequence[str], clause: _Clause) -> bool:
        if self.words.runs is not None:
            run = self._masked(clause)
            before = run[max(0, place - _REACH) : place + 2]
            after = run[place : place + _REACH + 6]
            lists = self.words.lists
            return any(word in before for word in lists["prefixes"]) or any(word in after for word in lists["suffixes"])
        negators = self.words.sets["negators"]
        for k in range(max(0, place - _REACH), min(len(lows), place + _REACH)):
            low = lows[k]
            hit = low in negators or (low.startswith("n'") and "n'" in negators)
            if hit and not (low in _WITHOUT and k > place):
                return True
        return False

    def _states(self, lows: Sequence[str], clause: _Clause) -> bool:
        """Whether the clause tells what somebody does: "ich kann nichts senden"."""
        subjects = self.words.sets["subjects"]
        if self.words.runs is not None:
            run = self._span(clause)
            wanted = any(word in run for word in self.words.sets["wanting"])
            return not wanted and any(word in run for word in subjects)
        if any(low in self.words.sets["forbidden"] or low in self.words.sets["wanting"] for low in lows):
            return False
        return any(low in subjects or (low[1:2] == "'" and low[:2] in subjects) for low in lows[:3])

    def _questions(self, lows: Sequence[str], clause: _Clause, place: int) -> bool:
        """Whether a question word stands before the verb: the clause asks, it does not order."""
        questions = self.words.sets["questions"]
        if self.words.runs is not None:
            run = self._span(clause)
            return any(word in run for word in questions)
        before = lows[:place]
        pairs = (f"{first} {second}" for first, second in pairwise(lows[: place + 1]))
        return any(low in questions for low in before) or any(pair in questions for pair in pairs)

    # -- targets

    def _literals(self, clause: _Clause) -> tuple[list[str], list[str], list[str], list[str]]:
        """Return parties, paths, hosts and excepted targets of a clause; sources are none of them."""
        parties: list[str] = []
        paths: list[str] = []
        hosts: list[str] = []
        excepted: list[str] = []
        spared = False
        for place in range(clause.first, clause.last):
            token = self.tokens[place]
            spared = spared or self._excepts(place)
            if token.kind in (Kind.ADDRESS, Kind.PARTY):
                target = [canonical_party(token)]
            elif token.kind is Kind.PATH:
                path = self.places.path(token.value)
                target = [path] if path else []
            elif token.kind is Kind.HOST:
                target = [token.low.split("/", 1)[0]]
            else:
                continue
            if self._from(place, clause):
                continue
            bucket = (
                excepted
                if spared
                else parties
                if token.kind in (Kind.ADDRESS, Kind.PARTY)
                else paths
                if token.kind is Kind.PATH
                else hosts
            )
            bucket += target
        return parties, paths, hosts, excepted

    def _excepts(self, place: int) -> bool:
        token = self.tokens[place]
        exceptions = self.words.sets["exceptions"]
        if token.kind is Kind.CJK:
            return any(word in token.value for word in exceptions)
        return self._word(place) in exceptions

    def _from(self, place: int, clause: _Clause) -> bool:
        """Whether a target is a sender or a source."""
        sources = self.words.sets["sources"]
        if self.words.runs is not None or self.words.language == "hi":
            token = self.tokens[place]
            after = self.text[token.end : token.end + 8].lstrip()
            before = self.text[max(0, token.start - 6) : token.start].rstrip()
            behind = self.words.language != "zh"
            return any(after.startswith(word) if behind else before.endswith(word) for word in sources)
        return place > clause.first and (
            self._word(place - 1) in sources or self._word(place - 1).removesuffix("'") in sources
        )

    # -- results

    def _quote(self, clause: _Clause) -> tuple[int, int]:
        first, last = clause.first, clause.last - 1
        while first < last and self.tokens[first].kind in (Kind.SOFT, Kind.BREAK, Kind.PUNCT):
            first += 1
        while last > first and self.tokens[last].kind in (Kind.SOFT, Kind.BREAK, Kind.PUNCT):
            last -= 1
        return self.tokens[first].start, self.tokens[last].end

    def _forbid(self, clause: _Clause, lemmas: Sequence[str], *, conditional: bool) -> None:
        parties, paths, hosts, excepted = self._literals(clause)
        start, end = self._quote(clause)
        self.out.banned.append((start, end))
        exceptions = Targets(
            recipients=tuple(e for e in excepted if "/" not in e), paths=tuple(e for e in excepted if "/" in e)
        )
        targets = Targets(recipients=tuple(parties), paths=tuple(paths), domains=tuple(hosts))
        persons = any(self._word(k) in _NOBODY for k in range(clause.first, min(clause.last, clause.first + 60)))
        for lemma in dict.fromkeys("write-to" if one == "write" and (persons or parties) else one for one in lemmas):
            if conditional:
                self.out.requires_approval += coverage.covered(lemma)
                continue
            quote = self.text[start:end][: LIMITS.quote]
            for what in coverage.covered(lemma):
                self.out.prohibitions.append(
                    Prohibition(what=what, targets=targets, exceptions=exceptions, quote=quote)
                )
            for what in ("calendar.create", "calendar.update") if lemma == "invite" else ():
                anybody = targets or Targets(recipients=("*",))
                self.out.prohibitions.append(
                    Prohibition(what=what, targets=anybody, exceptions=exceptions, quote=quote)
                )

    def _request(self, clause: _Clause, lemma: str, *, conditional: bool) -> bool:
        parties, paths, _, excepted = self._literals(clause)
        capabilities = self._capabilities(clause, lemma, parties, paths)
        if not capabilities:
            return False
        start, end = self._quote(clause)
        risks = frozenset(coverage.risk_of(name, lemma) for name in capabilities)
        if lemma in _GOAL_LAST and len(paths) > 1:
            paths = paths[-1:]
        amounts = [t.value for t in self.tokens[clause.first : clause.last] if t.kind is Kind.MONEY and t.value]
        self.out.requests.append(
            Request(
                start,
                end,
                self.text[start:end],
                lemma,
                capabilities,
                risks,
                recipients=tuple(dict.fromkeys(parties)) if risks & _PARTY_CLASSES else (),
                paths=tuple(dict.fromkeys(paths)),
                max_amount=amounts[0] if amounts and Risk.FINANCIAL in risks else None,
                conditional=conditional,
                language=self.words.language,
            )
        )
        if excepted and risks:
            paths_out = tuple(e for e in excepted if "/" in e)
            others = tuple(e for e in excepted if "/" not in e)
            for risk in sorted(risks):
                self.out.prohibitions.append(
                    Prohibition(
                        what=risk.value,
                        targets=Targets(paths=paths_out, recipients=others),
                        quote=self.text[start:end][: LIMITS.quote],
                    )
                )
        return True

    def _capabilities(
        self, clause: _Clause, lemma: str, parties: Sequence[str], paths: Sequence[str]
    ) -> tuple[str, ...]:
        """Return what a clause asks for; without a literal target only what will be asked about anyway."""
        if lemma in _SENDS and parties:
            return ("email.send", "message.send", *(("chat.send",) if any(p.startswith("#") for p in parties) else ()))
        if lemma == "run" and any(word in self._span(clause).lower() for word in _TEST_WORDS):
            return ("test.run",)
        if lemma == "run":
            return ("script.run",) if paths else ()
        alone = coverage.ALONE.get(lemma, ())
        if paths:
            named = tuple(name for name in alone if name.startswith("file."))
            folder = lemma == "create" and not any(p.rpartition(".")[2].lower() in FILE_ENDINGS for p in paths)
            return ("folder.create", *named) if folder else named
        asked = {Risk.DELETE, Risk.FINANCIAL, Risk.PERMISSION_CHANGE}
        if lemma in _SENDS:
            return ("email.send", "message.send") if lemma != "write" else ()
        if lemma == "cancel":
            return ("calendar.delete", "booking.cancel")
        if lemma in {"commit", "push"}:
            return alone
        if lemma == "delete":
            return ("file.delete", "email.delete", "calendar.delete")
        return tuple(name for name in alone if coverage.risk_of(name, lemma) in asked)


_PARTY_CLASSES = frozenset({Risk.COMMUNICATION, Risk.PERMISSION_CHANGE, Risk.FINANCIAL})
