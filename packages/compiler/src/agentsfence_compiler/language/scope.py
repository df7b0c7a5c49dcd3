"""What a ban covers: its verbs' capabilities, its targets, what it spares (DESIGN 7.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from agentsfence_compiler.language import coverage
from agentsfence_compiler.language.clauses import Segment
from agentsfence_compiler.language.emitting import Found, content_of
from agentsfence_compiler.language.lexicon import English, english
from agentsfence_compiler.language.openings import phrase_at
from agentsfence_compiler.language.reading import Request
from agentsfence_compiler.language.references import Places, References, Role, Scanner
from agentsfence_compiler.language.tables import (
    DESCRIBED_PATHS,
    INFRASTRUCTURE,
    PRODUCTION,
    RISKY,
    STORES,
    WRITING_BANS,
)
from agentsfence_compiler.language.tokens import Kind, Token
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Prohibition, Targets

_SPARED = 64


@dataclass(slots=True)
class Bans:
    """What a message forbids and wants to be asked about."""

    prohibitions: list[Prohibition] = field(default_factory=list)
    requires_approval: list[str] = field(default_factory=list)
    segments: set[int] = field(default_factory=set)
    """Clauses that forbid."""
    max_amount: str | None = None
    max_sends: int | None = None


def _by_name(requests: Iterable[Request]) -> dict[str, list[Request]]:
    table: dict[str, list[Request]] = {}
    for request in requests:
        for name in (*request.capabilities, *(risk.value for risk in request.risks)):
            table.setdefault(name, []).append(request)
    return table


def _literals_of(requests: Sequence[Request]) -> tuple[Targets, bool]:
    """Return the literal targets of requests (at most `_SPARED` of a kind), and whether every one of them has some."""
    if not all(r.recipients or r.paths or r.objects or r.domains for r in requests):
        return Targets(), False
    return Targets(
        recipients=_joined((), (x for r in requests for x in r.recipients))[:_SPARED],
        paths=_joined((), (x for r in requests for x in r.paths))[:_SPARED],
        objects=_joined((), (x for r in requests for x in r.objects))[:_SPARED],
        domains=_joined((), (x for r in requests for x in r.domains))[:_SPARED],
    ), True


def _joined(first: Iterable[str], more: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *more)))[: LIMITS.targets]


class Scope:
    """Turns forbidden verbs and what they name into bans."""

    def __init__(
        self, text: str, tokens: Sequence[Token], segments: Sequence[Segment], places: Places, found: Found
    ) -> None:
        self.text = text
        self.tokens = tokens
        self.segments = segments
        self.places = places
        self.found = found
        self.words: English = english()
        self.out = Bans()
        self.seen: set[tuple[str, Targets, Targets]] = set()
        self.asked = _by_name(found.requests)
        """Capability or class -> the requests that ask for it."""
        self.spared: dict[str, tuple[Targets, bool]] = {}

    def _refs(self, at: int, end: int, lemma: str) -> References:
        contacting = lemma in coverage.SEND_VERBS or lemma in {
            "share",
            "invite",
            "pay",
            "transfer",
            "grant",
            "give",
            "add",
        }
        return Scanner(self.tokens, self.words, self.places, sends=contacting, bans=True).scan(at, end)

    def _forbid(self, index: int, segment: Segment, lemmas: Sequence[str], refs: References, at: int) -> None:
        """Add the bans of a clause on its verbs."""
        acting = [
            lemma for lemma in lemmas if lemma not in self.words.reading or lemma in coverage.BANS or lemma == "do"
        ]
        for lemma in acting:
            what = self._what(lemma, refs, at, segment.last)
            if self._waits(index, segment) or segment.conditional:
                self.out.requires_approval += [name for name in what if name not in self.out.requires_approval]
                self.out.segments.add(index)
                continue
            self._emit(segment, lemma, what, refs)

    def _what(self, lemma: str, refs: References, at: int, end: int) -> tuple[str, ...]:
        lows = {t.low for t in self.tokens[at : min(end, at + 20)]}
        carried = {t.low for t in self.tokens[max(0, at - 3) : at]} & {"execute", "executing", "perform", "carry"}
        if carried and at < end and self.tokens[at].low in {"anything", "everything", "nothing"}:
            return coverage.READ_ONLY
        if lemma in {"make", "do"}:
            return self._made(lemma, refs, lows, at, end)
        if lemma == "write" and (refs.names or refs.parties or self._addresses(at, end)):
            return coverage.covered("write-to")
        if lemma in {"send", "give"} and lows & {"money", "payment", "payments", "funds"}:
            return ("FINANCIAL",)
        if lemma == "send" and refs.nouns[:1] == ["attachment"]:
            return coverage.covered("attach")
        if lemma in WRITING_BANS and not refs.universal:
            if lows & PRODUCTION:
                return INFRASTRUCTURE
            family = coverage.family_of(refs.nouns)
            if family and not refs.paths:
                return family
        return coverage.covered(lemma, tuple(refs.nouns) if not refs.universal or refs.nouns else ())

    def _addresses(self, at: int, end: int) -> bool:
        """Whether somebody is written to: "write to anybody", "write to any hotel", not "write to disk"."""
        place = next((k for k in range(at, min(end, at + 12)) if self.tokens[k].low == "to"), end)
        quantified = False
        for k in range(place + 1, min(end, place + 5)):
            low = self.tokens[k].low
            if low in {"anybody", "anyone", "him", "her", "them", "nobody", "someone", "everyone", "everybody"}:
                return True
            if self.tokens[k].kind is not Kind.WORD or self.words.nouns.get(low, low) in STORES or low in PRODUCTION:
                return False
            if quantified:
                return (
                    low.isalpha()
                    and low not in DESCRIBED_PATHS
                    and self.words.nouns.get(low, "") not in DESCRIBED_PATHS
                )
            quantified = low in {"any", "the", "those", "these", "all", "our", "my", "his", "her", "their", "other"}
        return False

    def _made(self, lemma: str, refs: References, lows: set[str], at: int, end: int) -> tuple[str, ...]:
        """Return what "make" and "do" stand for: "make no changes", "don't make it public", "do nothing"."""
        nouns = self.words.maps["action_nouns"]
        action = next((nouns[t.low] for t in self.tokens[at : min(end, at + 5)] if t.low in nouns), "")
        if action:
            return coverage.covered(action)
        if lows & {"public", "visible", "accessible"}:
            return coverage.covered("make-public")
        if lows & RISKY:
            return ("DELETE", "FINANCIAL", "PERMISSION_CHANGE")
        if refs.universal:
            return coverage.READ_ONLY
        return coverage.covered("make") if lemma == "make" else ()

    def _waits(self, index: int, segment: Segment) -> bool:
        """Whether the ban holds only until the person says so: "unless I confirm", "without asking me"."""
        words = self.words
        end = segment.last
        if (
            index + 1 < len(self.segments)
            and self.tokens[end - 1].low not in {".", "!", "?", ";"}
            and self.tokens[end - 1].kind is not Kind.BREAK
        ):
            end = min(self.segments[index + 1].last, end + 8)
        table = words.phrases["ask_first"]
        return any(
            self.tokens[at].low in table and phrase_at(self.tokens, at, end, table, words)
            for at in range(segment.body, end)
        )

    def _emit(self, segment: Segment, lemma: str, what: Sequence[str], refs: References) -> None:
        targets = self._targets(refs, frozenset(what))
        exceptions = self._exceptions(refs)
        quote = self._quote(segment)
        if lemma in {"cc", "bcc"}:
            refs.otherwise = True  # nobody but whom the message asks to write to
        if not targets and refs.endings:  # "don't touch *.py"
            targets = Targets(paths=tuple(f"{root}**{ending}" for ending in refs.endings[:8] for root in ("/", "")))
        if not targets and not refs.universal:
            described = tuple(path for noun in refs.nouns for path in DESCRIBED_PATHS.get(noun, ()))
            if described and lemma in WRITING_BANS | {"delete", "remove", "move", "rename", "fix", "add", "create"}:
                targets = Targets(paths=described)
        invites = () if lemma != "invite" else ("calendar.create", "calendar.update")
        for name in (*what, *invites):
            spared = exceptions
            if not targets and (refs.otherwise or not self._sweeping(refs)):
                spared, keeps = self._spare(name, exceptions)
                if not keeps:
                    continue
                if not refs.otherwise and any(path.endswith("/") for path in spared.paths):
                    # "Clean up my Downloads, but never touch photos": what is one cannot be seen from its name.
                    self.out.requires_approval += [name] if name not in self.out.requires_approval else []
            # An event that carries somebody invites them.
            anybody = targets or Targets(recipients=("*",)) if name in invites else targets
            self._add(Prohibition(what=name, targets=anybody, exceptions=spared, quote=quote))

    def _sweeping(self, refs: References) -> bool:
        """Whether the ban is on everything: "anything", or no object at all."""
        return (refs.universal and not refs.every) or not (refs.nouns or refs.pronoun or refs.definite or refs.words)

    def _spare(self, name: str, exceptions: Targets) -> tuple[Targets, bool]:
        """Return the exceptions with the literal targets of requests that the ban would hit, and whether it can stand.

        It cannot where a request of that class has no literal target: then the request's own rows are the bound, and
        what is deleted, paid or granted is asked about anyway.
        """
        if name not in self.spared:
            self.spared[name] = _literals_of(self.asked.get(name, []))
        own, stands = self.spared[name]
        if not own:
            return exceptions, stands
        return Targets(
            recipients=_joined(exceptions.recipients, own.recipients),
            paths=_joined(exceptions.paths, own.paths),
            objects=_joined(exceptions.objects, own.objects),
            domains=_joined(exceptions.domains, own.domains),
        ), stands

    def _targets(self, refs: References, what: frozenset[str]) -> Targets:
        own = {Role.OBJECT, Role.TO, Role.WITH, Role.INSIDE, Role.FOR, Role.SOURCE, Role.OF, Role.AS}
        names = [self.places.contacts.get(name.casefold(), name) for role, name in refs.names if role in own]
        parties = [party for role, party in refs.parties if role in own and role is not Role.SOURCE]
        paths = [self.places.path(text, inside=known) for role, text, known in refs.paths if role in own]
        paths += [self.places.path(text) for role, text in refs.slashed if role in own and "git.push" not in what]
        objects = list(refs.objects)
        if "git.push" in what and len(what) <= 2:
            from agentsfence_compiler.language.aims import push_targets  # noqa: PLC0415

            objects += [o for o in push_targets(refs) if o.startswith("branch:")]
        return Targets(
            recipients=_joined((), (*parties, *names)),
            domains=_joined((), (host for role, host in refs.hosts if role in own)),
            paths=_joined((), (path for path in paths if path)),
            objects=_joined((), objects),
        )

    def _exceptions(self, refs: References) -> Targets:
        names = [self.places.contacts.get(name.casefold(), name) for role, name in refs.names if role is Role.EXCEPT]
        return Targets(
            recipients=_joined((), (*(party for role, party in refs.parties if role is Role.EXCEPT), *names)),
            paths=_joined(
                (), (p for role, text, _ in refs.paths if role is Role.EXCEPT and (p := self.places.path(text)))
            ),
            domains=_joined((), (host for role, host in refs.hosts if role is Role.EXCEPT)),
        )

    def _quote(self, segment: Segment) -> str:
        first, last = content_of(self.tokens, segment.first, segment.last)
        return self.text[self.tokens[first].start : self.tokens[last].end][: LIMITS.quote]

    def _add(self, prohibition: Prohibition) -> None:
        key = (prohibition.what, prohibition.targets, prohibition.exceptions)
        if key not in self.seen:
            self.seen.add(key)
            self.out.prohibitions.append(prohibition)
