"""What a message takes back: "never mind", "don't do that", "this is a dry run", "only alice after all" (DESIGN 7.8).

Rules of this file:

* Taking back only takes away: requests said before go, what is called off is forbidden; nothing is added.
* What the same message asks for afterwards stays: "Stop! Email carol@x.example instead."
* A clause takes back only if nothing else stands in it: "stop the server" is a request.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from agentsfence_compiler.language import coverage
from agentsfence_compiler.language.clauses import Segment
from agentsfence_compiler.language.emitting import Found, content_of
from agentsfence_compiler.language.lexicon import English, english
from agentsfence_compiler.language.openings import Opens, word_at
from agentsfence_compiler.language.reading import Request
from agentsfence_compiler.language.references import Places, Scanner
from agentsfence_compiler.language.tables import (
    CALLING_OFF,
    DRY_RUN,
    EXPLAINED,
    STOPPING,
    TAKEN_BACK,
    TAKING_BACK,
    UNDONE,
)
from agentsfence_compiler.language.tokens import Kind, Token
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Prohibition, Targets

_SHORT = 16  # tokens of a clause that takes back
_SPARED = 64  # targets of later requests that a calling-off leaves alone


@dataclass(slots=True)
class Revoked:
    """What a message takes back."""

    prohibitions: list[Prohibition] = field(default_factory=list)
    segments: set[int] = field(default_factory=set)


def revoke(text: str, tokens: Sequence[Token], segments: Sequence[Segment], places: Places, found: Found) -> Revoked:
    """Return the bans of what a message takes back, and take the requests out of ``found`` that it takes back."""
    return _Revoker(text, tokens, segments, places, found).read()


class _Revoker:
    def __init__(
        self, text: str, tokens: Sequence[Token], segments: Sequence[Segment], places: Places, found: Found
    ) -> None:
        self.text = text
        self.tokens = tokens
        self.segments = segments
        self.places = places
        self.found = found
        self.words: English = english()
        self.out = Revoked()
        self.calling_off: Segment | None = None
        self.dry = False

    def read(self) -> Revoked:
        for index, segment in enumerate(self.segments):
            if segment.opens is Opens.CONTENT or segment.conditional or segment.last - segment.first > _SHORT:
                continue
            lows = [low for low in self._lows(segment) if low]
            if not lows:
                continue
            if self._calls_off(segment, set(lows)):
                self.calling_off = segment
            elif not (self._takes_out(segment) or self._confines(segment, lows)):
                continue
            self.out.segments.add(index)
            self._unask(segment)
        if self.calling_off is not None:
            self._call_off(self.calling_off)
        return self.out

    def _unask(self, segment: Segment) -> None:
        """Take out what the clause that takes back was read to ask for itself: "forget the mail"."""
        start, end = self.tokens[segment.first].start, self.tokens[segment.last - 1].end
        self._keep(None if start <= request.start < end else request for request in self.found.requests)

    def _lows(self, segment: Segment) -> Iterable[str]:
        for place in range(segment.first, segment.last):
            token = self.tokens[place]
            if token.kind not in (Kind.PUNCT, Kind.SOFT, Kind.BREAK):
                yield word_at(self.tokens, place, self.words) if token.kind is Kind.WORD else "\0"

    # -- everything

    def _calls_off(self, segment: Segment, lows: set[str]) -> bool:
        """Whether a clause says nothing but that all is called off."""
        asked = self.tokens[segment.last - 1].low == "?"
        if lows <= DRY_RUN and ({"dry", "run"} <= lows or lows & {"dry-run", "drill", "simulation"}):
            self.dry = not asked
            return not asked
        if lows <= STOPPING and lows & CALLING_OFF and ("mind" not in lows or lows & {"never", "nevermind"}):
            return not asked
        if segment.opens is Opens.NEGATION:
            return lows <= UNDONE and bool(lows & {"it", "that", "this", "so", "any", "these", "them"} and "do" in lows)
        explained = lows <= EXPLAINED and bool(lows & {"just", "only", "simply", "merely"})
        return explained and bool(lows & {"how", "plan", "would", "you'd"})

    def _call_off(self, segment: Segment) -> None:
        """Forbid everything but reading, except what the message asks for afterwards."""
        start = self.tokens[segment.first].start
        self._keep(request if request.start > start and not self.dry else None for request in self.found.requests)
        later = list(self.found.requests)
        for what in coverage.READ_ONLY:
            own = [request for request in later if what in request.risks]
            targets = [
                Targets(recipients=r.recipients, domains=r.domains, paths=r.paths, objects=r.objects) for r in own
            ]
            if not all(targets):
                continue  # what has no literal target is bounded by its own rows
            self._forbid(segment, what, exceptions=_union(targets))

    # -- something

    def _takes_out(self, segment: Segment) -> bool:
        """Read "never mind the email", "forget about bob@x.example", "skip b.txt"; nothing else may stand there."""
        at = self._tail(segment)
        if not at or at >= segment.last:
            return False
        verbs: list[str] = []
        literal = False
        for place in range(at, segment.last):
            token, low = self.tokens[place], word_at(self.tokens, place, self.words)
            if token.kind in (Kind.PUNCT, Kind.SOFT, Kind.BREAK) or low in TAKEN_BACK:
                continue
            action = self.words.maps["action_nouns"].get(low)
            if action:
                verbs.append(action)
            elif token.kind in (Kind.ADDRESS, Kind.PARTY, Kind.PATH, Kind.HOST, Kind.URL):
                literal = True
            else:
                return False
        targets = self._targets(at, segment.last) if literal else Targets()
        if not verbs and not targets:
            return False
        names = [name for verb in verbs for name in _class_of(verb)] or list(coverage.READ_ONLY)
        self._withdraw(segment, frozenset(names), targets)
        for name in dict.fromkeys(names):
            self._forbid(segment, name, targets=targets)
        return True

    def _tail(self, segment: Segment) -> int:
        """Return where the object of "never mind …" begins, 0 where a clause takes nothing back."""
        for place in range(segment.first, min(segment.last, segment.first + 6)):
            size = max(
                (
                    len(phrase)
                    for phrase in TAKING_BACK
                    if all(word_at(self.tokens, place + k, self.words) == word for k, word in enumerate(phrase))
                ),
                default=0,
            )
            if size:
                return place + size
            low = word_at(self.tokens, place, self.words)
            if self.tokens[place].kind is Kind.WORD and low not in STOPPING | {"so", "oh", "but", "and", "actually"}:
                return 0
        return 0

    def _targets(self, at: int, end: int) -> Targets:
        refs = Scanner(self.tokens, self.words, self.places, sends=True).scan(at, end)
        paths = [self.places.path(text, inside=known) for _, text, known in refs.paths]
        return Targets(
            recipients=tuple(dict.fromkeys(party for _, party in refs.parties)),
            domains=tuple(dict.fromkeys(host for _, host in refs.hosts)),
            paths=tuple(dict.fromkeys(path for path in paths if path)),
        )

    def _withdraw(self, segment: Segment, names: frozenset[str], targets: Targets) -> None:
        """Take what is called off out of the requests before it."""
        start = self.tokens[segment.first].start
        self._keep(
            request
            if request.start > start or not names & {*request.capabilities, *request.risks}
            else _without(request, targets)
            for request in self.found.requests
        )

    def _confines(self, segment: Segment, lows: Sequence[str]) -> bool:
        """Read "Actually, only alice@x.example": of the request before it, only that is left."""
        if segment.opens is not Opens.REMARK or "only" not in lows or not self.found.requests:
            return False
        allowed = STOPPING | {"actually", "only", "just", "to", "and", "then", "on", "second", "thought", "\0"}
        if not set(lows) <= allowed or "\0" not in lows:
            return False
        start = self.tokens[segment.first].start
        own = [k for k, request in enumerate(self.found.requests) if request.start < start]
        targets = self._targets(segment.first, segment.last)
        if not own or not targets:
            return False
        quote = self.found.requests[own[-1]].quote
        self._keep(
            _only(request, targets) if request.start < start and request.quote == quote else request
            for request in self.found.requests
        )
        return True

    def _keep(self, kept: Iterable[Request | None]) -> None:
        """Replace the requests; the clause of one that is gone asks for nothing any more."""
        pairs = list(enumerate(kept))
        moved = {old: new for new, old in enumerate(place for place, request in pairs if request is not None)}
        self.found.requests[:] = [request for _, request in pairs if request is not None]
        of_segment = {index: moved[place] for index, place in self.found.of_segment.items() if place in moved}
        self.found.of_segment.clear()
        self.found.of_segment.update(of_segment)

    def _forbid(
        self, segment: Segment, what: str, *, targets: Targets | None = None, exceptions: Targets | None = None
    ) -> None:
        first, last = content_of(self.tokens, segment.first, segment.last)
        quote = self.text[self.tokens[first].start : self.tokens[last].end][: LIMITS.quote]
        self.out.prohibitions.append(
            Prohibition(what=what, targets=targets or Targets(), exceptions=exceptions or Targets(), quote=quote)
        )


def _class_of(verb: str) -> tuple[str, ...]:
    """Return what an action that is taken back was: its class alone, where it has one."""
    names = coverage.covered(verb)
    return names[:1] if names[:1] and names[0].isupper() else names


def _union(targets: Sequence[Targets]) -> Targets:
    return Targets(
        recipients=tuple(dict.fromkeys(x for one in targets for x in one.recipients))[:_SPARED],
        domains=tuple(dict.fromkeys(x for one in targets for x in one.domains))[:_SPARED],
        paths=tuple(dict.fromkeys(x for one in targets for x in one.paths))[:_SPARED],
        objects=tuple(dict.fromkeys(x for one in targets for x in one.objects))[:_SPARED],
    )


def _without(request: Request, targets: Targets) -> Request | None:
    """Return the request without some targets, nothing where none is left."""
    if not targets:
        return None
    left = replace(
        request,
        recipients=tuple(x for x in request.recipients if x not in targets.recipients),
        domains=tuple(x for x in request.domains if x not in targets.domains),
        paths=tuple(x for x in request.paths if x not in targets.paths),
    )
    had = bool(request.recipients or request.domains or request.paths)
    return left if left.recipients or left.domains or left.paths or not had else None


def _only(request: Request, targets: Targets) -> Request:
    """Return the request with only those of its targets; a kind of which none is left is asked about."""
    recipients = _left(request.recipients, targets.recipients)
    domains = _left(request.domains, targets.domains)
    paths = _left(request.paths, targets.paths)
    lost = (recipients, domains, paths) != (request.recipients, request.domains, request.paths) and not (
        recipients or domains or paths
    )
    return replace(request, recipients=recipients, domains=domains, paths=paths, ask_first=request.ask_first or lost)


def _left(own: tuple[str, ...], named: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(x for x in own if x in named) if named else own
