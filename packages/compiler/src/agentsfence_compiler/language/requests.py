"""Clauses to requests: what each asks for, of whom, where, how often (DESIGN 7.2, 7.4, 7.5).

Rules of this file:

* A request keeps its own targets. It borrows one thing only: the folder of the request before it, of the same kind.
* A target that is a source, a sender, a topic or an exception is not the request's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agentsfence_compiler.language import coverage
from agentsfence_compiler.language.aims import (
    reached,
)
from agentsfence_compiler.language.clauses import Segment
from agentsfence_compiler.language.emitting import JOINED, Emitting, Found
from agentsfence_compiler.language.languages import is_foreign
from agentsfence_compiler.language.openings import LITERALS, Opens, recurrence, word_at
from agentsfence_compiler.language.reading import Request
from agentsfence_compiler.language.references import Places, References, Role, bound_name, canonical_party
from agentsfence_compiler.language.tables import (
    ADDRESS_WORDS,
    AUXILIARIES,
    HAVING_BEEN,
    LONG_AGO,
    OUTPUTTING,
    OWNERS,
    PARTICIPLE_FRAMES,
    PARTY_CLASSES,
    WISHES,
)
from agentsfence_compiler.language.tokens import Kind, Token
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Risk

_NEAR = 40  # tokens around a participle that say whether it is told or wanted
_SCHEDULED = 200  # tokens of a clause in which a schedule is looked for


def read_requests(
    text: str, tokens: Sequence[Token], segments: Sequence[Segment], places: Places, *, foreign: bool = False
) -> Found:
    """Return the requests of a message in order; with ``foreign``, not those of clauses in another language. Linear."""
    return _Requests(text, tokens, segments, places, foreign=foreign).read()


@dataclass(frozen=True, slots=True)
class _Declared:
    """A party that a remark gives for somebody: "Her address is X"."""

    owner: str
    parties: tuple[str, ...]


class _Requests(Emitting):
    def read(self) -> Found:
        for index, segment in enumerate(self.segments):
            before = len(self.found.requests)
            if self.foreign and is_foreign(self.tokens, segment.first, segment.last):
                continue
            if segment.opens is Opens.REQUEST:
                self._request(index, segment)
            elif segment.opens is Opens.READING:
                self._output(index, segment)
            elif not self._titled(segment) and self._tells(segment):
                self._passive(index, segment)
            if segment.opens in (Opens.REQUEST, Opens.READING):
                self._recurring(segment, before)
            if len(self.found.requests) > before:
                self.found.of_segment[index] = len(self.found.requests) - 1
        self._declare()
        return self.found

    # -- one clause

    def _tells(self, segment: Segment) -> bool:
        """Whether a clause only says something, "What I need: …" included."""
        return segment.opens is Opens.REMARK or (segment.opens is Opens.QUESTION and not segment.question)

    def _recurring(self, segment: Segment, before: int) -> None:
        """Add the schedule of "Every Monday, send …": to be set up with the person's approval."""
        own = self.found.requests[before:]
        if any(name.startswith(("calendar.", "payment.", "schedule.")) for one in own for name in one.capabilities):
            return
        places = range(segment.first, min(segment.last, segment.first + _SCHEDULED))
        if not any(recurrence(self.tokens, place, segment.last, self.words) for place in places):
            return
        start, end = self._span(segment)
        self.found.requests.append(
            Request(
                start,
                end,
                self.text[start:end],
                "schedule",
                ("schedule.create",),
                frozenset({Risk.EXECUTION}),
                ask_first=True,
            )
        )
        self.needy.append((len(self.found.requests) - 1, References()))

    def _request(self, index: int, segment: Segment) -> None:
        lemma = segment.lemma
        if self._cites(segment):
            return
        for at, end in self._parts(segment):
            refs = self._scan(at, end, lemma)
            refs.parties += self._headers(index, lemma)
            refs.paths += self._fronted(index, refs)
            capabilities = self.capabilities(lemma, refs, at, end)
            self._emit(index, segment, lemma, refs, capabilities, at=at)

    def _titled(self, segment: Segment) -> bool:
        """Give the newest event the name that a sentence after it says: "The title should be 'Dinner at {place}'"."""
        place = next(
            (k for k in range(segment.first, segment.last) if self.tokens[k].low in {"title", "name", "titled"}),
            segment.last,
        )
        quoted = next(
            (k for k in range(place + 1, min(segment.last, place + 5)) if self.tokens[k].kind is Kind.QUOTED), 0
        )
        if not quoted or not {"be", "is", ":"} & {t.low for t in self.tokens[place + 1 : quoted]}:
            return False
        request = self.found.requests[-1] if self.found.requests else None
        title = bound_name(self.tokens[quoted].value)
        if request is None or "calendar.create" not in request.capabilities or request.objects or not title:
            return False
        self.found.requests[-1] = replace(request, objects=(f"event:{title}",))
        return True

    def _fronted(self, index: int, refs: References) -> list[tuple[Role, str, bool]]:
        """Return the paths of "In /srv/w/app.py, replace …": the place said before the verb."""
        if refs.paths or not index or self.segments[index - 1].opens is not Opens.CONDITION:
            return []
        before = self.segments[index - 1]
        if (
            before.conditional
            or self.tokens[before.last - 1].kind is Kind.BREAK
            or word_at(self.tokens, before.first, self.words) not in {"in", "inside", "under", "within"}
        ):
            return []
        return [
            (Role.INSIDE, text, known)
            for role, text, known in self._scan(before.first, before.last, "edit").paths
            if role is Role.INSIDE
        ]

    def _headers(self, index: int, lemma: str) -> list[tuple[Role, str]]:
        """Return the parties on the ``To:`` lines of a message that the person dictates behind a colon."""
        if lemma not in coverage.SEND_VERBS | {"create", "draft", "compose"} or index + 1 >= len(self.segments):
            return []
        content = self.segments[index + 1]
        if content.opens is not Opens.CONTENT:
            return []
        parties = []
        header = False
        for place in range(content.first, min(content.last, content.first + 200)):
            token = self.tokens[place]
            if token.kind in (Kind.SOFT, Kind.BREAK):
                header = False
            elif (
                token.low == ":"
                and place > content.first
                and self.tokens[place - 1].low
                in {"to", "cc", "bcc", "an", "a", "para", "\u00e0", "recipients", "recipient"}
            ):
                header = True
            elif header and token.kind in (Kind.ADDRESS, Kind.PARTY):
                parties.append((Role.TO, canonical_party(token)))
        return parties

    def _cites(self, segment: Segment) -> bool:
        """Whether the verb only introduces words or "no changes": "make no changes", "use utils.py as reference"."""
        following = word_at(self.tokens, segment.body, self.words)
        if segment.lemma == "order" and any(t.low == "by" for t in self.tokens[segment.body : segment.body + 12]):
            return True
        if following in {"no", "nothing"} and word_at(self.tokens, segment.body + 1, self.words) in {
            "more",
            "less",
            "but",
            "later",
        }:
            return False
        return following in {"no", "none", "nothing", "nobody", "neither"}

    def _parts(self, segment: Segment) -> list[tuple[int, int]]:
        """Return the token ranges of a clause: one, or one per pair ("10 € to A and 500 € to B")."""
        at, end = segment.body, segment.last
        cuts = [at]
        for place in range(at + 1, end - 1):
            if self.tokens[place].low not in {"and", ","}:
                continue
            if (self._amount_at(place + 1) and self._amount_before(cuts[-1], place)) or self._paired(
                cuts[-1], place, end
            ):
                cuts.append(place + 1)
        return list(zip(cuts, [*cuts[1:], end], strict=True))

    def _paired(self, at: int, place: int, end: int) -> bool:
        """Whether each file goes to its own party or place: "share a.txt with alice and b.txt with bob"."""
        goals = {"to", "with", "into", "as"}
        if place + 3 >= end or self.tokens[place + 1].kind is not Kind.PATH or self.tokens[place + 2].low not in goals:
            return False
        window = range(max(at, place - 30), place)
        return any(self.tokens[k].kind is Kind.PATH and self.tokens[k + 1].low in goals for k in window)

    def _amount_at(self, at: int) -> bool:
        token = self.tokens[at]
        return token.kind is Kind.MONEY or (
            token.kind is Kind.NUMBER and word_at(self.tokens, at + 1, self.words) in self.words.maps["units"]
        )

    def _amount_before(self, at: int, end: int) -> bool:
        window = range(max(at, end - 30), end)
        return any(self._amount_at(k) for k in window) and any(self.tokens[k].low == "to" for k in window)

    def _output(self, index: int, segment: Segment) -> None:
        """A reading clause may ask for an explicit output path or address (paper, 4, item 3)."""
        if segment.lemma not in OUTPUTTING or segment.how:
            return
        refs = self._scan(segment.body, segment.last, segment.lemma)
        if refs.closed and not refs.paths:
            return
        refs.paths = [entry for entry in refs.paths if entry[0] in (Role.TO, Role.AS)]
        refs.parties = [entry for entry in refs.parties if entry[0] is Role.TO and "@" in entry[1]]
        if segment.lemma == "compare":
            return
        capabilities = (("file.write",) if refs.paths else ()) + (
            ("email.send", "message.send") if refs.parties else ()
        )
        self._emit(index, segment, segment.lemma, refs, capabilities, at=segment.body)

    def _passive(self, index: int, segment: Segment) -> None:
        """Read "The notes should be emailed to x@y.example", "summary → /a/b.md": literal targets only (DESIGN 7.5)."""
        tokens = self.tokens
        if any(
            t.low in {"not", "never", "if", "said", "says", "wrote", "no", "according"}
            for t in tokens[segment.first : segment.last]
        ):
            return
        wished = self._wishes(segment)
        for place in range(segment.first, segment.last - 1):
            low = tokens[place].low
            if wished and place > segment.first + 2 and self._wished(index, segment, place):
                return
            if tokens[place].kind is Kind.ADDRESS and self._receives(place, segment.last):
                refs = self._scan(place, place + 1, "send")
                self._emit_literal(index, segment, "send", refs, place)
                return
            if low in {"\u2192", "->", "=>"} and tokens[place + 1].kind in LITERALS:
                refs = self._scan(place, segment.last, "write")
                self._emit_literal(index, segment, "write", refs, place)
                return
            form = self.words.forms.get(tokens[place + 1].low)
            if (
                low in {"be", "get"}
                and tokens[place - 1].low in PARTICIPLE_FRAMES
                and form is not None
                and form.participle
            ):
                refs = self._scan(place + 2, segment.last, form.lemma)
                self._emit_literal(index, segment, form.lemma, refs, place + 2)
                return

    def _wishes(self, segment: Segment) -> bool:
        """Whether a clause says what the person wants to have: "What I need now: …"; not "I need to know"."""
        lows = [word_at(self.tokens, k, self.words) for k in range(segment.first, min(segment.last, segment.first + 7))]
        return any(
            tuple(lows[k : k + 2]) in WISHES and not {"to", "you"} & set(lows[k + 2 : k + 3])
            for k in range(min(5, len(lows)))
        )

    def _wished(self, index: int, segment: Segment, place: int) -> bool:
        """Read the participle of "a summary, saved to /a/b.md": what is wanted is done to it, with a literal target."""
        form = self.words.forms.get(self.tokens[place].low)
        before = word_at(self.tokens, place - 1, self.words)
        goal = word_at(self.tokens, place + 1, self.words) in {"to", "into", "as", "under"}
        if form is None or not form.participle or not goal or before in AUXILIARIES | HAVING_BEEN:
            return False
        lows = {t.low for t in self.tokens[max(segment.first, place - _NEAR) : place]}
        told = before in self.words.sets["statement_subjects"] or lows & {"that", "which", "who", "was", "were"}
        if told or {t.low for t in self.tokens[place : min(segment.last, place + _NEAR)]} & LONG_AGO:
            return False
        if place + 2 >= segment.last or self.tokens[place + 2].kind not in LITERALS:
            return False
        self._emit_literal(index, segment, form.lemma, self._scan(place + 1, segment.last, form.lemma), place + 1)
        return True

    def _receives(self, place: int, end: int) -> bool:
        """Whether "x@y.example gets the report", "I'd like x@y.example to receive it" stands there."""
        following = [word_at(self.tokens, k, self.words) for k in range(place + 1, min(end, place + 3))]
        return following[:1] in (["gets"], ["receives"]) or following in (
            ["to", "receive"],
            ["to", "get"],
            ["should", "get"],
            ["should", "receive"],
        )

    def _emit_literal(self, index: int, segment: Segment, lemma: str, refs: References, at: int) -> None:
        """Emit a request without a leading verb, if it is a send or a local write with a literal target."""
        refs.names = []
        capabilities = self.capabilities(lemma, refs, at, segment.last)
        kept = tuple(
            name for name in capabilities
            if (coverage.risk_of(name, lemma) is Risk.COMMUNICATION and reached(refs, name, lemma))
            or (coverage.risk_of(name, lemma) is Risk.LOCAL_WRITE and refs.paths)
        )  # fmt: skip
        self._emit(index, segment, lemma, refs, kept, at=at)

    # -- capabilities

    # -- the request

    # -- declared parties

    def _declare(self) -> None:
        """Give requests the parties that remarks declare for them."""
        declared = [
            d
            for s in self.segments
            if s.opens in (Opens.REMARK, Opens.CONDITION, Opens.CONTENT)
            for d in self._declaration(s)
        ]
        if not declared:
            return
        owners: dict[str, tuple[str, ...]] = {}
        for one in declared[: LIMITS.targets]:
            owners[one.owner] = tuple(dict.fromkeys((*owners.get(one.owner, ())[:JOINED], *one.parties)))
        for place, refs in self.needy:
            request = self.found.requests[place]
            if request.recipients or not request.risks & PARTY_CLASSES:
                continue
            parties = _declared_for(owners, refs)
            if parties:
                self.found.requests[place] = replace(request, recipients=parties)

    def _declaration(self, segment: Segment) -> list[_Declared]:
        tokens = self.tokens
        for place in range(segment.first + 1, segment.last):
            if tokens[place].low not in {"is", "are", ":", "=", "'s"}:
                continue
            before = [t.low for t in tokens[max(segment.first, place - 6) : place]]
            if not before or before[-1] not in ADDRESS_WORDS:
                continue
            parties = []
            for token in tokens[place + 1 : segment.last]:
                if token.kind in (Kind.ADDRESS, Kind.PARTY):
                    parties.append(canonical_party(token))
                elif token.kind is Kind.WORD and token.low not in {"and", "or"}:
                    break
            owner = next(
                (
                    low.removesuffix("'s")
                    for low in before
                    if low in OWNERS or low in {"my", "our"} or low.endswith("'s")
                ),
                "",
            )
            if not parties and place + 1 < segment.last:
                continue
            return [_Declared(owner, tuple(parties))] if owner and parties else []
        return []


def _declared_for(declared: Mapping[str, tuple[str, ...]], refs: References) -> tuple[str, ...]:
    """Return the parties declared for whom a request speaks of: its name, its pronoun, its role."""
    own = [party for _, name in refs.names for party in declared.get(name.casefold(), ())]
    if own:
        return tuple(own)
    owners = ("my", "our") if refs.to_me else OWNERS
    return tuple(dict.fromkeys(party for owner in declared if owner in owners for party in declared[owner]))
