"""Bans that open with no negation: "nothing may be deleted", "hands off production", "read-only" (DESIGN 7.2)."""

from __future__ import annotations

from collections.abc import Sequence

from agentsfence_compiler.language import coverage
from agentsfence_compiler.language.clauses import Segment
from agentsfence_compiler.language.openings import Opens, phrase_at, word_at
from agentsfence_compiler.language.references import Role
from agentsfence_compiler.language.scope import Scope
from agentsfence_compiler.language.tables import (
    ALLOWING,
    BEFORE_NOUNS,
    DENIALS,
    KEPT,
    LEAVING,
    MODES,
    ORDERING,
    PAST,
    TIGHT,
)
from agentsfence_compiler.language.tokens import Kind
from agentsfence_core.model import Prohibition, Risk, Targets

_PARTICIPLES = 20  # verbs of one passive ban


class StatedBans(Scope):
    """Reads one form each; every method returns whether it found its form."""

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
            if (
                plain
                or not any(low in DENIALS for low in lows)
                or any(low in PAST for low in lows)
                or self._relates(lows)
            ):
                continue
            begin = next((k + 1 for k in range(at - 1, segment.first, -1) if tokens[k].low == "that"), segment.first)
            subject = self._refs(begin, at - 1, form.lemma)
            refs = self._refs(at + 1, segment.last, form.lemma)
            refs.nouns += subject.nouns
            refs.paths += [(Role.OBJECT, text, known) for _, text, known in subject.paths]
            refs.universal = refs.universal or subject.universal
            refs.otherwise = refs.otherwise or subject.otherwise
            self._forbid(index, segment, [form.lemma, *self._further(at + 1, segment.last)], refs, at + 1)
            return True
        return False

    def _further(self, at: int, end: int) -> list[str]:
        """Return the participles that go on with one: "deleted, moved or sent"."""
        lemmas: list[str] = []
        while at + 1 < end and len(lemmas) < _PARTICIPLES:
            low = word_at(self.tokens, at, self.words)
            form = self.words.forms.get(low)
            if form is not None and form.participle:
                lemmas.append(form.lemma)
            elif low not in {",", "or", "nor", "and", "be"}:
                break
            at += 1
        form = self.words.forms.get(word_at(self.tokens, at, self.words)) if at < end else None
        return [*lemmas, form.lemma] if form is not None and form.participle else lemmas

    def _relates(self, lows: Sequence[str]) -> bool:
        """Whether "that" begins a relative clause, not what is ordered: "make sure that no mail is sent"."""
        return any(low == "that" and (not place or lows[place - 1] not in ORDERING) for place, low in enumerate(lows))

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

    def _lets(self, at: int, end: int) -> bool:
        """Whether "allow it to send mails" stands there, not "allow access"."""
        return any(
            self.tokens[k].low == "to"
            and (form := self.words.forms.get(word_at(self.tokens, k + 1, self.words)))
            and form.base
            for k in range(at + 1, min(at + 5, end - 1))
        )

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

    def _withheld(self, index: int, segment: Segment) -> bool:
        """Read "I won't allow you to modify the config", "I can't let you send this"."""
        tokens, words = self.tokens, self.words
        for at in range(segment.first + 1, segment.last - 1):
            if tokens[at].low not in ALLOWING:
                continue
            before = [word_at(tokens, k, words) for k in range(max(segment.first, at - 3), at)]
            agent = word_at(tokens, at + 1, words) in {
                "you",
                "it",
                "anyone",
                "anybody",
                "anything",
                "this",
                "your",
                "any",
                "the",
            }
            if not agent or not any(low in DENIALS or low.endswith("n't") or low == "cannot" for low in before):
                continue
            if tokens[at].low not in {"let", "letting"} and not self._lets(at, segment.last):
                continue
            place, lemmas = self._let(at, segment.last)
            if lemmas:
                self._forbid(index, segment, lemmas, self._refs(place, segment.last, lemmas[0]), place)
                return True
        return False

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
            lemmas, behind = self._subject_actions(segment, at)
            refs = self._refs(behind, at - 1, "touch")
            self._forbid(index, segment, lemmas or ["touch"], refs, at)
            return True
        return False

    def _subject_actions(self, segment: Segment, at: int) -> tuple[list[str], int]:
        """Return the actions that a sentence speaks of, and where what they are done to begins."""
        for kind in ("gerund", "noun"):
            lemmas, behind = [], segment.first
            for place in range(segment.first, min(at, segment.first + 12)):
                low = word_at(self.tokens, place, self.words)
                form = self.words.forms.get(low)
                gerund = form.lemma if form is not None and form.gerund else ""
                action = gerund if kind == "gerund" else self.words.maps["action_nouns"].get(low, "")
                if action:
                    lemmas.append(action)
                    behind = place + 1
            if lemmas:
                return lemmas, behind
        return [], segment.first

    def _stays(self, index: int, segment: Segment) -> bool:
        """Read "b.txt must stay", "the logs have to be kept", "spare b.txt"."""
        tokens, words = self.tokens, self.words
        for at in range(segment.first, min(segment.last, segment.first + 40)):
            low = word_at(tokens, at, words)
            if low == "spare" and word_at(tokens, at + 1, words) not in {"me", "us"} and self._opens(segment, at):
                refs = self._refs(at + 1, segment.last, "touch")
                if refs.paths or refs.objects or refs.parties or refs.nouns:
                    self._forbid(index, segment, ["touch", "delete"], refs, at + 1)
                    return True
            kept = low in KEPT or (low == "be" and word_at(tokens, at + 1, words) in {"kept", "preserved", "spared"})
            before = word_at(tokens, at - 1, words)
            if not kept or not (before in {"must", "should", "shall", "to"} and at > segment.first + 1):
                continue
            begin = self._subject(segment, at)
            refs = self._refs(begin, at - 1, "delete")
            if refs.paths or refs.objects or refs.parties or (refs.nouns and segment.opens is Opens.REMARK):
                self._forbid(index, segment, ["delete"], refs, begin)
                return True
        return False

    def _opens(self, segment: Segment, at: int) -> bool:
        """Whether nothing but courtesy and marks stands before a place of a clause."""
        return all(
            self.tokens[k].kind is not Kind.WORD
            or self.tokens[k].low in {"please", "but", "and", "just", "also", "only"}
            for k in range(segment.first, at)
        )

    def _subject(self, segment: Segment, at: int) -> int:
        """Return where the subject of a statement begins: behind the last comma of its clause."""
        commas = (k for k in range(at - 1, segment.first, -1) if self.tokens[k].low in {",", "but", ":"})
        return next(commas, segment.first - 1) + 1

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
        everything = False
        hit = segment.lemma in {"read", "look", "view"} and segment.only and not self.found.requests
        for at in range(segment.first, segment.last):
            low = tokens[at].low
            if low in {"read-only", "readonly", "look-only", "view-only"} or (
                low == "read" and word_at(tokens, at + 1, self.words) == "only"
            ):
                before = [t.low for t in tokens[max(segment.first, at - 8) : at]]
                if self._describes(segment, at):
                    continue
                treated = {"treat", "consider"} & set(before)
                everything = everything or bool(treated and {"everything", "all"} & set(before))
                hit = (
                    hit
                    or bool(treated)
                    or not any(
                        word in {"make", "mark", "set", "mount", "chmod", "as", "why", "what"} for word in before
                    )
                    or "mode" in [t.low for t in tokens[at : at + 4]]
                )
        if not hit:
            return False
        for what in coverage.READ_ONLY:
            if what not in asked or everything:
                self._add(Prohibition(what=what, quote=self._quote(segment)))
        return True

    def _describes(self, segment: Segment, at: int) -> bool:
        """Whether "read-only" is a word of what is asked about: "explain the readonly keyword"."""
        following = word_at(self.tokens, at + 1 + (self.tokens[at].low == "read"), self.words)
        noun = following.isalpha() and following not in MODES and following not in self.words.sets["prepositions"]
        return noun and segment.opens in (Opens.READING, Opens.REQUEST) and segment.body <= at
