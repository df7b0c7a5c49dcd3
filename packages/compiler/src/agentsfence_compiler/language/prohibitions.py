"""What a message forbids, over all of it and regardless of any backend (DESIGN 7.2; paper, 4, item 5).

Rules of this file:

* A ban needs a negation *and* an action: "I don't have time", "don't forget to", "no problem" forbid nothing.
* A named target narrows a ban to it; "anything", or no object, widens it to the verb's whole class.
* A ban on something described ("the photos") spares the literal targets that the same message asks for.
* A ban that waits for the person ("unless I confirm") or for a condition is a question, not a ban.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentsfence_compiler.language import coverage
from agentsfence_compiler.language.clauses import Segment, clauses
from agentsfence_compiler.language.lexicon import Form
from agentsfence_compiler.language.openings import Openings, Opens, phrase_at, word_at
from agentsfence_compiler.language.references import Places, Role
from agentsfence_compiler.language.requests import Found
from agentsfence_compiler.language.scope import Bans, Scope
from agentsfence_compiler.language.tables import (
    ALLOWING,
    BEFORE_NOUNS,
    DENIALS,
    LEAVING,
    MODES,
    NEEDS_YOU,
    ORDERING,
    PLAIN_VERBS,
    PAST,
    STOPPING,
    TIGHT,
)
from agentsfence_compiler.language.tokens import Kind, Token
from agentsfence_core.model import Prohibition, Risk, Targets


_ALTERNATIVES = 40  # verbs of one ban


def read_prohibitions(
    text: str, tokens: Sequence[Token], segments: Sequence[Segment], places: Places, found: Found
) -> Bans:
    """Return the bans of a message. Linear."""
    return _Bans(text, tokens, segments, places, found).read()


class _Bans(Scope):
    def read(self) -> Bans:
        if self.segments and self._called_off(self.segments[0]):
            self.out.segments.add(0)
            return self.out
        for index, segment in enumerate(self.segments):
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
        at, lemmas = self._verbs(segment)
        if segment.header and not set(lemmas) - {"do", "perform", "try", "take"}:
            return  # what is forbidden stands in the clauses that follow
        if not lemmas:
            if not (self._passive(index, segment) or self._departs(index, segment)):
                self._bare_contrast(index, segment)
            return
        if self._limit(segment, at, lemmas):
            return
        end = segment.last
        for start, body, lemma in reversed(self._alternatives(segment, at)):
            self._forbid(index, segment, [lemma], self._refs(body, end, lemma), body)
            end = start
        refs = self._refs(at, end, lemmas[0])
        self._forbid(index, segment, lemmas, refs, at)

    def _alternatives(self, segment: Segment, at: int) -> list[tuple[int, int, str]]:
        """Return the further verbs of a ban with where each begins: "don't delete files, send mails or run commands"."""
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

    def _lets(self, at: int, end: int) -> bool:
        """Whether "allow it to send mails" stands there, not "allow access"."""
        return any(
            self.tokens[k].low == "to" and (form := self.words.forms.get(word_at(self.tokens, k + 1, self.words))) and form.base
            for k in range(at + 1, min(at + 5, end - 1))
        )

    def _withheld(self, index: int, segment: Segment) -> bool:
        """Read "I won't allow you to modify the config", "I can't let you send this"."""
        tokens, words = self.tokens, self.words
        for at in range(segment.first + 1, segment.last - 1):
            if tokens[at].low not in ALLOWING:
                continue
            before = [word_at(tokens, k, words) for k in range(max(segment.first, at - 3), at)]
            agent = word_at(tokens, at + 1, words) in {"you", "it", "anyone", "anybody", "anything", "this", "your", "any", "the"}
            if not agent or not any(low in DENIALS or low.endswith("n't") or low == "cannot" for low in before):
                continue
            if tokens[at].low not in {"let", "letting"} and not self._lets(at, segment.last):
                continue
            place, lemmas = self._let(at, segment.last)
            if lemmas:
                self._forbid(index, segment, lemmas, self._refs(place, segment.last, lemmas[0]), place)
                return True
        return False

    def _departs(self, index: int, segment: Segment) -> bool:
        """Read "Not a single email may go out", "no data must leave this machine", "no deployment may happen"."""
        tokens, words = self.tokens, self.words
        for at in range(segment.first + 2, segment.last):
            if word_at(tokens, at - 1, words) not in {"may", "should", "must", "shall", "will", "to"}:
                continue
            low, following = word_at(tokens, at, words), word_at(tokens, at + 1, words)
            leaves = low == "leave" or (low in {"go", "get"} and following in {"out", "anywhere", "outside"})
            if not leaves and low not in {"happen", "occur"} and (low, following) != ("take", "place"):
                continue
            lows = [word_at(tokens, k, words) for k in range(max(segment.first, at - 9), at)]
            if not any(low in DENIALS for low in lows) or any(low in PAST - {"can"} for low in lows):
                continue
            action = next((words.maps["action_nouns"][low] for low in lows if low in words.maps["action_nouns"]), "")
            if action or (leaves and any(low in LEAVING for low in lows)):
                refs = self._refs(segment.first, at - 1, action or "send")
                refs.nouns, refs.universal = [], True
                self._forbid(index, segment, [action or "send"], refs, at)
                return True
        return False

    def _let(self, at: int, end: int) -> tuple[int, list[str]]:
        """Return the verb of "don't let it send mails", "don't let anything be deleted"."""
        for place in range(at + 1, min(at + 7, end)):
            form = self.words.forms.get(word_at(self.tokens, place, self.words))
            if (
                form is not None
                and (form.base or form.gerund or form.participle)
                and form.lemma not in self.words.reading
            ):
                return place + 1, [form.lemma]
        return at + 1, []

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

    def _noun_action(self, segment: Segment, at: int) -> tuple[list[str], int]:
        """Return the action that a noun stands for: "no (further) replies", "without any changes"."""
        if word_at(self.tokens, at - 1, self.words) not in BEFORE_NOUNS:
            return [], at
        for place in range(at, min(at + 4, segment.last)):
            low = word_at(self.tokens, place, self.words)
            if low == "new" and word_at(self.tokens, place + 1, self.words) in self.words.nouns:
                return ["create"], place + 1
            lemma = self.words.maps["action_nouns"].get(low)
            if lemma:
                return [lemma], place + 1
            if self.tokens[place].kind is not Kind.WORD:
                break
        return [], at

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

    def _called_off(self, segment: Segment) -> bool:
        """Read "stop", "never mind", "cancel that": a turn of nothing else forbids everything but reading."""
        lows = {t.low for t in self.tokens if t.kind is Kind.WORD} if len(self.tokens) < 8 else set()
        if (
            not lows
            or not lows <= STOPPING
            or not lows & {"stop", "cancel", "abort", "halt", "forget", "mind", "nevermind"}
        ):
            return False
        for what in coverage.READ_ONLY:
            self._add(Prohibition(what=what, quote=self._quote(segment)))
        return True

    def _confined(self, _: int, segment: Segment) -> bool:
        """Read "work only in /srv/app", "limit yourself to /srv/docs": what writes or deletes stays there."""
        lows = {t.low for t in self.tokens[segment.first : min(segment.last, segment.first + 40)]}
        only = segment.only or "only" in lows or lows & {"limit", "restrict", "confine"}
        if (
            segment.opens is Opens.QUESTION
            or not only
            or not lows & {"work", "stay", "limit", "restrict", "confine", "operate"}
        ):
            return False
        refs = self._refs(segment.first, segment.last, "edit")
        paths = tuple(path for _, text, known in refs.paths if (path := self.places.path(text, inside=known)))
        for what in ("LOCAL_WRITE", "DELETE") if paths else ():
            self._add(Prohibition(what=what, exceptions=Targets(paths=paths), quote=self._quote(segment)))
        return bool(paths)

    def _no_changes(self, index: int, segment: Segment) -> bool:
        """Read "Make no changes to a.py", "send no emails"."""
        if segment.opens not in (Opens.REQUEST, Opens.READING) or segment.body >= segment.last:
            return False
        low = word_at(self.tokens, segment.body, self.words)
        following = word_at(self.tokens, segment.body + 1, self.words)
        if low not in {"no", "nothing", "nobody", "none"} or following in {"more", "less"}:
            return False
        if following == "but" and segment.lemma != "do":
            return False
        if low in {"nothing", "none"}:
            refs = self._refs(segment.body, segment.last, segment.lemma)
            refs.universal = True
            self._forbid(index, segment, [segment.lemma], refs, segment.body)
            return True
        lemmas, at = self._noun_action(segment, segment.body + 1)
        if not lemmas and segment.lemma not in self.words.reading:
            lemmas, at = [segment.lemma], segment.body + 1
        if not lemmas:
            return False
        self._forbid(index, segment, lemmas, self._refs(at, segment.last, lemmas[0]), at)
        return True

    def _unwanted(self, index: int, segment: Segment) -> bool:
        """Read "I don't want you to reply", "I don't want anything deleted", "I'd rather you didn't send it"."""
        tokens, words = self.tokens, self.words
        for at in range(segment.first + 1, segment.last - 1):
            low = word_at(tokens, at, words)
            if low not in {"want", "like", "rather", "prefer", "expect"}:
                continue
            negated = any(
                word_at(tokens, k, words) in {"don't", "not", "never", "wouldn't", "didn't"}
                for k in range(max(segment.first, at - 3), at)
            )
            if not negated and low in {"want", "like", "expect"}:
                continue
            return self._unwanted_action(index, segment, at + 1, late_negation=not negated)
        return False

    def _unwanted_action(self, index: int, segment: Segment, at: int, *, late_negation: bool) -> bool:
        tokens, words = self.tokens, self.words
        if word_at(tokens, at, words) == "to":
            return False
        denied = not late_negation
        for place in range(at, min(at + 10, segment.last)):
            low = word_at(tokens, place, words)
            denied = denied or low in {"not", "don't", "didn't", "never"}
            form = words.forms.get(low)
            if (
                form is None
                or low in words.sets["idioms"]
                or (
                    low in words.nouns
                    and not form.participle
                    and word_at(tokens, place - 1, words) not in {"to", "you", "didn't", "not"}
                )
            ):
                continue
            if denied and (form.participle or form.gerund or form.base):
                refs = self._refs(place + 1, segment.last, form.lemma)
                before = self._refs(at, place, form.lemma)
                refs.nouns += before.nouns
                refs.universal = refs.universal or before.universal
                self._forbid(index, segment, [form.lemma], refs, place + 1)
                return True
        return False

    def _passive(self, index: int, segment: Segment) -> bool:
        """Read "Emails must not be sent", "nothing may be deleted", "nobody should be emailed"."""
        tokens, words = self.tokens, self.words
        for at in range(segment.first + 2, segment.last):
            form = words.forms.get(tokens[at].low)
            if (
                form is None
                or not form.participle
                or word_at(tokens, at - 1, words) not in {"be", "get", "gets", "being", "is", "are"}
            ):
                continue
            lows = [word_at(tokens, k, words) for k in range(max(segment.first, at - 9), at)]
            plain = lows[-1] in {"is", "are"} and not any(low in {"nothing", "nobody", "no", "none"} for low in lows)
            if plain or not any(low in DENIALS for low in lows) or any(low in PAST for low in lows) or self._relates(lows):
                continue
            subject = self._refs(segment.first, at - 1, form.lemma)
            refs = self._refs(at + 1, segment.last, form.lemma)
            refs.nouns += subject.nouns
            refs.paths += [(Role.OBJECT, text, known) for _, text, known in subject.paths]
            refs.universal = refs.universal or subject.universal
            self._forbid(index, segment, [form.lemma], refs, at + 1)
            return True
        return False

    def _relates(self, lows: Sequence[str]) -> bool:
        """Whether "that" begins a relative clause, not what is ordered: "make sure that no mail is sent"."""
        return any(
            low == "that" and (not place or lows[place - 1] not in ORDERING) for place, low in enumerate(lows)
        )

    def _forbidden(self, index: int, segment: Segment) -> bool:
        """Read "Sending is forbidden", "it is forbidden to send", "production is off limits"."""
        tokens, words = self.tokens, self.words
        table = words.phrases["forbidden"]
        for at in range(segment.first + 1, segment.last):
            count = phrase_at(tokens, at, segment.last, table, words) if tokens[at].low in table else 0
            if not count or word_at(tokens, at - 1, words) not in {
                "is",
                "are",
                "be",
                "strictly",
                "absolutely",
                "it's",
                "remains",
                "stays",
                "was",
                "currently",
                "considered",
            }:
                continue
            if word_at(tokens, at + count, words) in {"to", "from"} and (
                form := words.forms.get(word_at(tokens, at + count + 1, words))
            ):
                self._forbid(index, segment, [form.lemma], self._refs(at + count + 2, segment.last, form.lemma), at)
                return True
            lemmas = [
                f.lemma
                for k in range(segment.first, min(at, segment.first + 12))
                if (f := words.forms.get(tokens[k].low)) and f.gerund
            ]
            lemmas = lemmas or [
                a
                for k in range(segment.first, min(at, segment.first + 12))
                if (a := words.maps["action_nouns"].get(tokens[k].low))
            ]
            refs = self._refs(segment.first, at - 1, "touch")
            self._forbid(index, segment, lemmas or ["touch"], refs, at)
            return True
        return False

    def _left_alone(self, index: int, segment: Segment) -> bool:
        """Read "Leave everything untouched", "leave carol@example.com out", "hands off production"."""
        lows = [
            word_at(self.tokens, k, self.words) for k in range(segment.first, min(segment.last, segment.first + 40))
        ]
        hands = next((k for k in range(len(lows) - 1) if lows[k] == "hands" and lows[k + 1] == "off"), None)
        if hands is not None:
            self._forbid(
                index,
                segment,
                ["touch"],
                self._refs(segment.first + hands + 2, segment.last, "touch"),
                segment.first + hands + 2,
            )
            return True
        if segment.lemma not in {"leave", "keep"}:
            return False
        refs = self._refs(segment.body, segment.last, "send")
        kept = [path for _, text, known in refs.paths if (path := self.places.path(text, inside=known))]
        if kept and segment.lemma == "keep" and any(Risk.DELETE in r.risks for r in self.found.requests):
            self._add(Prohibition(what="DELETE", targets=Targets(paths=tuple(kept)), quote=self._quote(segment)))
            return True
        if "out" in lows or "off" in lows:
            targets = self._targets(refs, frozenset({"COMMUNICATION"}))
            if targets:
                self._add(Prohibition(what="COMMUNICATION", targets=targets, quote=self._quote(segment)))
            return bool(targets)
        if TIGHT & set(lows) and ("as" not in lows or "is" in lows or "are" in lows or TIGHT & set(lows) - {"as"}):
            self._forbid(index, segment, ["touch"], self._refs(segment.body, segment.last, "touch"), segment.body)
            return True
        return False

    def _read_only(self, _: int, segment: Segment) -> bool:
        """Read "Read-only please", "only read": nothing but reading, except what the message asks for itself."""
        tokens = self.tokens
        asked = self.asked
        if segment.opens is Opens.QUESTION:
            return False
        hit = segment.lemma in {"read", "look", "view"} and segment.only and not self.found.requests
        for at in range(segment.first, segment.last):
            low = tokens[at].low
            if low in {"read-only", "readonly", "look-only", "view-only"} or (
                low == "read" and word_at(tokens, at + 1, self.words) == "only"
            ):
                before = [t.low for t in tokens[max(segment.first, at - 8) : at]]
                if self._describes(segment, at):
                    continue
                hit = (
                    hit
                    or not any(
                        word in {"make", "mark", "set", "mount", "chmod", "as", "why", "what"} for word in before
                    )
                    or "mode" in [t.low for t in tokens[at : at + 4]]
                )
        if not hit:
            return False
        for what in coverage.READ_ONLY:
            if what not in asked:
                self._add(Prohibition(what=what, quote=self._quote(segment)))
        return True

    def _describes(self, segment: Segment, at: int) -> bool:
        """Whether "read-only" is a word of what is asked about: "explain the readonly keyword", "find read-only files"."""
        following = word_at(self.tokens, at + 1 + (self.tokens[at].low == "read"), self.words)
        noun = following.isalpha() and following not in MODES and following not in self.words.sets["prepositions"]
        return noun and segment.opens in (Opens.READING, Opens.REQUEST) and segment.body <= at

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
            for place in range(at + count, min(at + count + 6, segment.last)):
                form = words.forms.get(word_at(self.tokens, place, words))
                if form is not None and (form.base or form.gerund) and form.lemma not in words.reading:
                    refs = self._refs(place + 1, segment.last, form.lemma)
                    names = self._what(form.lemma, refs, place + 1, segment.last)
                    self.out.requires_approval += [name for name in names if name not in self.out.requires_approval]
                    break
            return
