"""What a message forbids, over all of it and regardless of any backend (DESIGN 7.2; paper, 4, item 5).

Rules of this file:

* A ban needs a negation *and* an action: "I don't have time", "don't forget to", "no problem" forbid nothing.
* A named target narrows a ban to it; "anything", or no object, widens it to the verb's whole class.
* A ban on something described ("the photos") spares the literal targets that the same message asks for.
* A ban that waits for the person ("unless I confirm") or for a condition is a question, not a ban.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from agentsfence_compiler.language import coverage
from agentsfence_compiler.language.clauses import Segment, clauses
from agentsfence_compiler.language.emitting import Found
from agentsfence_compiler.language.lexicon import Form
from agentsfence_compiler.language.openings import Openings, Opens, phrase_at, word_at
from agentsfence_compiler.language.reading_bans import ReadingBans
from agentsfence_compiler.language.references import Places
from agentsfence_compiler.language.scope import Bans
from agentsfence_compiler.language.stated_bans import StatedBans
from agentsfence_compiler.language.tables import (
    ALLOWING,
    NEEDS_YOU,
    PHRASE_VERBS,
    PLAIN_VERBS,
    WHATEVER,
)
from agentsfence_compiler.language.tokens import Kind, Token
from agentsfence_core.model import Prohibition

_ALTERNATIVES = 40  # verbs of one ban


def read_prohibitions(
    text: str,
    tokens: Sequence[Token],
    segments: Sequence[Segment],
    places: Places,
    found: Found,
    *,
    skip: Collection[int] = (),
) -> Bans:
    """Return the bans of a message, without the clauses that are read already. Linear."""
    return _Bans(text, tokens, segments, places, found).read(skip)


class _Bans(StatedBans, ReadingBans):
    def read(self, skip: Collection[int] = ()) -> Bans:
        for index, segment in enumerate(self.segments):
            if index in skip:
                continue
            before = len(self.out.prohibitions)
            if segment.opens is Opens.NEGATION:
                self._negated(index, segment)
            elif segment.opens is Opens.CONTENT:
                self._content(index, segment)
            elif segment.opens is not Opens.CONDITION:
                self._inner(index, segment)
            self._ask_first(segment)
            if len(self.out.prohibitions) > before:
                self.out.segments.add(index)
        for prohibition in self.found.exclusions:
            self._add(prohibition)
        return self.out

    # -- "don't …", "never …", "without …ing", "no …"

    def _negated(self, index: int, segment: Segment) -> None:
        if self._idiom(segment) or self._only_about_me(segment) or self._asked(segment) or self._only_asks(segment):
            return
        self._no_reading(index, segment)
        at, lemmas = self._verbs(segment)
        if segment.header and not set(lemmas) - {"do", "perform", "try", "take"}:
            return  # what is forbidden stands in the clauses that follow
        if not lemmas and self._or_else(index, segment, at):
            return  # "don't skip the tests or delete them"
        if not lemmas:
            if not (self._passive(index, segment) or self._departs(index, segment)):
                self._bare_contrast(index, segment)
            return
        if self._limit(segment, at, lemmas):
            return
        end = self._repeated(index, segment, at)
        for start, body, lemma in reversed([one for one in self._alternatives(segment, at) if one[1] <= end]):
            self._forbid(index, segment, [lemma], self._refs(body, end, lemma), body)
            end = start
        refs = self._refs(at, end, lemmas[0])
        self._forbid(index, segment, lemmas, refs, at)

    def _repeated(self, index: int, segment: Segment, at: int) -> int:
        """Forbid what further negations name in the same breath: "no deletes no emails"; return where they begin."""
        end = segment.last
        for place in range(segment.last - 2, at - 1, -1):
            if self.tokens[place].low not in {"no", "never"}:
                continue
            lemmas, body = self._noun_action(segment, place + 1)
            form = self.words.forms.get(word_at(self.tokens, place + 1, self.words))
            if not lemmas and form is not None and (form.base or form.gerund):
                lemmas, body = [form.lemma], place + 2
            if lemmas:
                self._forbid(index, segment, lemmas, self._refs(body, end, lemmas[0]), body)
                end = place
        return end

    def _or_else(self, index: int, segment: Segment, at: int) -> bool:
        """Forbid what stands behind an "or" after a verb that forbids nothing; whether anything does."""
        end = segment.last
        further = [one for one in self._alternatives(segment, at) if self.tokens[one[0]].low in {"or", "nor"}]
        for start, body, lemma in reversed(further):
            self._forbid(index, segment, [lemma], self._refs(body, end, lemma), body)
            end = start
        return bool(further)

    def _alternatives(self, segment: Segment, at: int) -> list[tuple[int, int, str]]:
        """Return the further verbs of a ban with where each begins: "don't delete files or run commands"."""
        found: list[tuple[int, int, str]] = []
        if not any(self.tokens[k].low in {"or", "nor", ",", "and"} for k in range(at, segment.last)):
            return found
        reader = Openings(self.tokens, self.words)
        for place in range(at + 1, segment.last - 1):
            low = self.tokens[place].low
            if low not in {"or", "nor", ",", "and"} or self.tokens[place - 1].low in {",", "or", "nor", "and"}:
                continue
            opening = reader.opening(place, segment.last, start=False, asks=False)
            form = self.words.forms.get(word_at(self.tokens, opening.verb, self.words))
            if opening.opens is Opens.REQUEST and not opening.framed and "and" not in {low, self.tokens[place + 1].low}:
                found.append((place, opening.body, opening.lemma))
            elif form is not None and (
                (form.gerund and form.lemma not in self.words.reading)
                or (form.base and low in {"or", "nor"} and self.tokens[opening.verb].low in PLAIN_VERBS)
            ):
                found.append((place, opening.verb + 1, form.lemma))
            if len(found) >= _ALTERNATIVES:
                break
        return found

    def _idiom(self, segment: Segment) -> bool:
        words = self.words
        table = words.phrases["idiom_phrases"]
        return any(
            phrase_at(self.tokens, at, segment.last, table, words)
            for at in range(segment.first, min(segment.body + 3, segment.last))
        )

    def _only_asks(self, segment: Segment) -> bool:
        """Whether "without asking me" only says how the clause before is meant."""
        table = self.words.phrases["ask_first"]
        last = min(segment.body + 1, segment.last)
        return any(
            phrase_at(self.tokens, at, segment.last, table, self.words)
            for at in range(segment.first, last)
            if self.tokens[at].low in {"without", "unless", "until", "before"}
        )

    def _only_about_me(self, segment: Segment) -> bool:
        """Whether the negation is a statement without its subject: "can't send mails from my phone"."""
        place = segment.first
        while place < segment.last and self.tokens[place].kind in (Kind.PUNCT, Kind.SOFT):
            place += 1
        lows = [word_at(self.tokens, k, self.words) for k in range(place, segment.body)]
        addressed = "you" in lows or "u" in lows
        return (
            not addressed
            and any(low in NEEDS_YOU for low in lows[-3:])
            and not any(low in {"circumstances", "account", "case"} for low in lows)
        )

    def _asked(self, segment: Segment) -> bool:
        """Whether it is a question: "don't you think …?"."""
        return self.tokens[segment.last - 1].low in {"?", "\u061f"} and word_at(
            self.tokens, segment.body, self.words
        ) in {"you", "we", "i"}

    def _verbs(self, segment: Segment) -> tuple[int, list[str]]:
        """Return the forbidden verbs and where their object begins: "download, install, or run"."""
        lemmas: list[str] = []
        at = segment.body
        while at < segment.last:
            token = self.tokens[at]
            low = word_at(self.tokens, at, self.words)
            if not lemmas and (low == "let" or (low in ALLOWING and self._lets(at, segment.last))):
                return self._let(at, segment.last)
            two_words = PHRASE_VERBS.get((low, word_at(self.tokens, at + 1, self.words)))
            if two_words is not None and not (lemmas and not self._listed(at)):
                lemmas.append(two_words)
                at += 2
                continue
            form = self._form(low, first=not lemmas)
            if form is not None and token.kind is Kind.WORD and not (lemmas and not self._listed(at)):
                if low in self.words.sets["idioms"] and not lemmas:
                    return at, []
                lemmas.append(form.lemma)
                at += 1
            elif (
                token.kind is Kind.SOFT
                or low in {",", "or", "and", "nor", "and/or", "/"}
                or (low in self.words.sets["adverbs"] and not lemmas)
            ):
                if token.kind is Kind.PUNCT and low not in {",", "/"}:
                    break
                at += 1
            else:
                break
            if len(lemmas) > 20:
                break
        if lemmas:
            at = self._back(at)
        else:
            lemmas, at = self._noun_action(segment, at)
        return at, lemmas

    def _back(self, at: int) -> int:
        while self.tokens[at - 1].low in {",", "or", "and", "nor", "/"}:
            at -= 1
        return at

    def _listed(self, at: int) -> bool:
        return self.tokens[at - 1].low in {",", "or", "and", "nor", "/"} or self.tokens[at - 1].kind is Kind.SOFT

    def _form(self, low: str, *, first: bool) -> Form | None:
        form = self.words.forms.get(low)
        if form is None and first and len(low) > 3:
            form = self.words.forms.get(self.words.fuzzy.get(low, ""))
        return form if form is not None and (form.base or form.gerund) else None

    def _bare_contrast(self, index: int, segment: Segment) -> None:
        """Read "…, not to bob@example.org": a target is taken out of the request before."""
        place = next(
            (self.found.of_segment[k] for k in range(index - 1, max(-1, index - 40), -1) if k in self.found.of_segment),
            None,
        )
        if place is None:
            return
        refs = self._refs(segment.body, segment.last, "send")
        targets = self._targets(refs, frozenset())
        if targets:
            for risk in sorted(self.found.requests[place].risks):
                self._add(Prohibition(what=risk.value, targets=targets, quote=self._quote(segment)))

    def _limit(self, segment: Segment, at: int, lemmas: list[str]) -> bool:
        """Note "don't spend more than $100", "no more than 3 mails": a limit, not a ban."""
        window = self.tokens[at : min(at + 12, segment.last)]
        lows = [t.low for t in window]
        if not any(a in {"more", "over", "above", "exceed"} for a in lows):
            return False
        amounts = [t.value for t in window if t.kind is Kind.MONEY]
        numbers = [t.value for t in window if t.kind is Kind.NUMBER] + [
            n for t in window if (n := self.words.maps["counts"].get(t.low))
        ]
        what = coverage.covered(lemmas[0])
        if "FINANCIAL" in what and (amounts or numbers):
            self.out.max_amount = (amounts or numbers)[0]
            return True
        if "COMMUNICATION" in what and numbers and numbers[0].isdigit():
            self.out.max_sends = int(numbers[0])
            return True
        return False

    # -- other forms

    def _inner(self, index: int, segment: Segment) -> None:
        """Read the bans that do not open with a negation."""
        if segment.opens is Opens.REQUEST and segment.lemma in coverage.SEND_VERBS and index in self.found.of_segment:
            self._read_only(index, segment)
            return
        if self._stays(index, segment):
            return
        for reader in (
            self._confined,
            self._read_only,
            self._no_changes,
            self._unwanted,
            self._passive,
            self._departs,
            self._withheld,
            self._forbidden,
            self._left_alone,
        ):
            if reader(index, segment):
                return

    def _content(self, index: int, segment: Segment) -> None:
        """Bans count over the whole message, in what stands behind a reporting colon too; not in a dictated message."""
        if index and self.segments[index - 1].opens is Opens.REQUEST:
            return
        part = list(self.tokens[segment.first : segment.last])
        inner = [s for s in clauses(part) if s.opens is Opens.NEGATION]
        if not inner:
            return
        reader = _Bans(self.text, part, inner, self.places, Found())
        for place, clause in enumerate(inner):
            reader._negated(place, clause)
        for prohibition in reader.out.prohibitions:
            self._add(prohibition)

    # -- what a ban covers

    def _ask_first(self, segment: Segment) -> None:
        """Note "ask me before deleting"."""
        words = self.words
        table = words.phrases["ask_first"]
        if segment.opens is Opens.NEGATION:
            return
        for at in range(segment.first, segment.last):
            count = phrase_at(self.tokens, at, segment.last, table, words) if self.tokens[at].low in table else 0
            if not count:
                continue
            if self._anything(segment, at, at + count):
                what = coverage.READ_ONLY
                self.out.requires_approval += [name for name in what if name not in self.out.requires_approval]
                return
            for place in range(at + count, min(at + count + 6, segment.last)):
                form = words.forms.get(word_at(self.tokens, place, words))
                if form is not None and (form.base or form.gerund) and form.lemma not in words.reading:
                    refs = self._refs(place + 1, segment.last, form.lemma)
                    names = self._what(form.lemma, refs, place + 1, segment.last)
                    self.out.requires_approval += [name for name in names if name not in self.out.requires_approval]
                    break
            return

    def _anything(self, segment: Segment, at: int, behind: int) -> bool:
        """Whether "ask me before …" goes on with whatever is done, or with nothing: "wait for my go"."""
        following = [
            word_at(self.tokens, place, self.words)
            for place in range(behind, min(segment.last, behind + 9))
            if self.tokens[place].kind not in (Kind.PUNCT, Kind.SOFT, Kind.BREAK)
        ]
        plain = [low for low in following if low not in WHATEVER]
        heads = {"ask", "check", "confirm", "wait", "get", "consult", "run", "let", "always"}
        return not plain and self.tokens[at].low in heads and self._opens(segment, at) and not segment.conditional
