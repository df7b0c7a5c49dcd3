"""Parts of a clause that tell something beside what it asks for: their targets are nobody's (DESIGN 7.5).

"Send bob the invoice you sent to eve", "…, the 500 EUR to eve are already paid", "… after comparing it to b.txt".
"""

from __future__ import annotations

from agentsfence_compiler.language import coverage
from agentsfence_compiler.language.names import Names
from agentsfence_compiler.language.openings import word_at
from agentsfence_compiler.language.tables import (
    ADDRESSED,
    FINITE,
    HAVING,
    MESSAGE_NOUNS,
    RELATING,
    SUBJECTS,
    SUBORDINATE,
)
from agentsfence_compiler.language.targets import Role
from agentsfence_compiler.language.tokens import Kind

_LOOK = 24  # tokens of a look ahead
_GIVING = coverage.SEND_VERBS - {"write"} | frozenset(
    "share give pay transfer refund grant show move copy post assign lend sell invite add compare attach".split()
)
"""Verbs that a goal or party follows: in a relative clause it is theirs."""
_OWN = frozenset("inbox mailbox address email calendar account attention".split())
"""What stands for somebody: "to alice@x.example's inbox"."""


class Asides(Names):
    """Finds where a clause leaves what it is about, and for how long."""

    lemma: str
    bans: bool
    over = -1
    """Up to here what stands in the clause is told beside."""
    owed = False
    """Whether the next goal or party belongs to a relative clause."""

    def _beside(self, at: int, end: int) -> int:
        """Return where an aside that begins at a place ends, 0 where none does."""
        if self.bans:
            return 0
        token = self.tokens[at]
        low = word_at(self.tokens, at, self.words)
        following = word_at(self.tokens, at + 1, self.words) if at + 1 < end else ""
        if token.kind is Kind.PUNCT or low in {"and", "but"}:
            return self._stated(at + 1, end) if token.low in {",", "(", "-", "\u2013", "\u2014", "and", "but"} else 0
        if at == self.start:
            return 0
        if low in {"like", "as"} and (following in SUBJECTS or following in {"last", "usual", "before"}):
            return end
        if low in SUBORDINATE:
            form = self.words.forms.get(following)
            tells = following in SUBJECTS or (form is not None and form.gerund)
            return end if tells or low == "because" else 0
        return 0

    def _stated(self, at: int, end: int) -> int:
        """Return where a statement ends that is only put in: ", a.txt is the new one"; 0 where none is."""
        stop = 0
        for place in range(at, min(end, at + _LOOK)):
            token = self.tokens[place]
            low = word_at(self.tokens, place, self.words)
            if low in RELATING or (token.kind is Kind.PUNCT and low in {",", ";", ":", ")"}):
                break
            if low in FINITE and place > at and token.kind is Kind.WORD:
                stop = place
                break
        if not stop or self.tokens[at].low in self.words.sets["prepositions"]:
            return 0
        for place in range(stop, min(end, stop + _LOOK)):
            if self.tokens[place].low in {",", ";", ")"}:
                return place
        return min(end, stop + _LOOK) if end > stop + _LOOK else end

    def _relates(self, at: int, end: int) -> bool:
        """Whether "you sent", "addressed to" stands at a place: what follows is told of the object."""
        if self.bans or at <= self.start or at + 1 >= end:
            return False
        low = word_at(self.tokens, at, self.words)
        if low in {"you", "i", "we", "he", "she", "they", "who", "that", "which"}:
            place = at + 1
            while place < min(end, at + 4) and word_at(self.tokens, place, self.words) in HAVING:
                place += 1
            form = self.words.forms.get(word_at(self.tokens, place, self.words))
            if form is None or form.gerund:
                return False
            self.owed = form.lemma in _GIVING or (form.lemma == "write" and bool(set(self.found.nouns) & MESSAGE_NOUNS))
            return low not in {"who", "that", "which"} and self.tokens[at - 1].kind in (
                Kind.WORD,
                Kind.PATH,
                Kind.QUOTED,
            )
        form = self.words.forms.get(low)
        told = low in ADDRESSED or (form is not None and form.participle and form.lemma in _GIVING)
        found = self.found
        if told and word_at(self.tokens, at + 1, self.words) in {"to", "with"} and found.nouns:
            self.owed = found.definite or found.universal or found.plural
        return False

    def _possessive(self, at: int, end: int) -> bool:
        """Whether a party only owns what is named: "alice@x.example's report"."""
        token = self.tokens[at]
        if self.bans or token.quoted or token.end - token.start != len(token.value) + 2:
            return False
        return self.role is not Role.TO or at + 1 >= end or word_at(self.tokens, at + 1, self.words) not in _OWN
