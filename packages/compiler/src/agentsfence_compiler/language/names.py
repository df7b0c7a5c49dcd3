"""Whom a clause names: proper names, and whether a party is who did something (DESIGN 7.5)."""

from __future__ import annotations

from collections.abc import Sequence

from agentsfence_compiler.language.lexicon import English
from agentsfence_compiler.language.openings import word_at
from agentsfence_compiler.language.tables import CALENDAR, DID, ROLES
from agentsfence_compiler.language.targets import References, Role
from agentsfence_compiler.language.tokens import Kind, Token

NAME_WORDS = 3
"""Words of a proper name."""


class Names:
    """Reads names at a place of a clause; what it looks at is the scanner's."""

    tokens: Sequence[Token]
    words: English
    found: References
    role: Role
    sends: bool
    start: int
    first_phrase: bool
    named_directly: bool

    def _name(self, at: int, end: int, start: int) -> tuple[str, int]:
        """Return a proper name and its length: "Sarah Baker"; in small letters only as the direct object of a send."""
        token = self.tokens[at]
        low = token.low
        if not self.sends or self.found.closed or self._no_name(low):
            return "", 0
        before = word_at(self.tokens, at - 1, self.words)
        joined = before in {"and", ",", "or"} and bool(self.found.names) and self.first_phrase
        if self.role is Role.WITH and not joined and before != "with":
            return "", 0
        direct = joined or at == start or (self.role is Role.TO and before == "to")
        small = direct and low.isalpha() and low not in self.words.forms
        small = small and (self.named_directly or self._before_object(at, end))
        capital = token.value[:1].isupper() and not (token.value.isupper() and len(token.value) > 1)
        if not capital and not small:
            return "", 0
        size = self._name_length(at, end)
        return " ".join(t.value for t in self.tokens[at : at + size]).removesuffix("'s"), size

    def _no_name(self, low: str) -> bool:
        """Whether a word is never a name here: "monday", "the", "Carol's" before what is hers."""
        if low in CALENDAR or (low.endswith("'s") and not self.named_directly):
            return True
        sets = self.words.sets
        closed = ("prepositions", "determiners", "pronouns", "adverbs", "universal", "statement_subjects")
        return any(low in sets[name] for name in closed)

    def _name_length(self, at: int, end: int) -> int:
        """Return how many words in capitals a name has."""
        size = 1
        while size < NAME_WORDS and at + size < end and self.tokens[at].value[:1].isupper():
            following = self.tokens[at + size]
            capital = following.value[:1].isupper() and not following.value.isupper()
            if following.kind is not Kind.WORD or not capital or following.low in CALENDAR:
                break
            size += 1
        return size

    def _is_subject(self, at: int, end: int) -> bool:
        """Whether a party is who did something: "the mail carol@x.example wrote" names a sender."""
        if at == self.start or at + 1 >= end or self.role not in (Role.OBJECT, Role.TO):
            return False
        before = self.tokens[at - 1]
        following = word_at(self.tokens, at + 1, self.words)
        if following in DID:
            return True
        if before.kind is not Kind.WORD or before.low in ROLES or before.low in {"and", "or", "cc", "bcc"}:
            return False
        form = self.words.forms.get(following)
        return form is not None and not form.base

    def _before_object(self, at: int, end: int) -> bool:
        """Whether an object follows: "send bob the notes", not "send information about …"."""
        return self.role is Role.TO or (
            at + 1 < end and word_at(self.tokens, at + 1, self.words) in self.words.sets["determiners"]
        )
