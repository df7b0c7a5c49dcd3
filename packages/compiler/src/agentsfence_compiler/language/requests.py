"""Clauses to requests: what each asks for, of whom, where, how often (DESIGN 7.2, 7.4, 7.5).

Rules of this file:

* A request keeps its own targets. It borrows one thing only: the folder of the request before it, of the same kind.
* A target that is a source, a sender, a topic or an exception is not the request's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agentsfence_compiler.language import coverage
from agentsfence_compiler.language.aims import (
    amount,
    below,
    chosen_paths,
    domains,
    max_calls,
    packages,
    push_targets,
    reached,
    role_of,
)
from agentsfence_compiler.language.asking import Asking
from agentsfence_compiler.language.clauses import Segment
from agentsfence_compiler.language.languages import is_foreign
from agentsfence_compiler.language.lexicon import english
from agentsfence_compiler.language.openings import LITERALS, Opens, phrase_at, recurrence, word_at
from agentsfence_compiler.language.reading import Request
from agentsfence_compiler.language.references import Places, References, Role, Scanner, bound_name, canonical_party
from agentsfence_compiler.language.tables import (
    ADDRESS_WORDS,
    CONNECTORS,
    FEW,
    MAKING,
    OUTPUTTING,
    OWNERS,
    PARTICIPLE_FRAMES,
    PARTY_CLASSES,
    REACHED,
    SWITCHED,
    WISHES,
)
from agentsfence_compiler.language.targets import has_ending
from agentsfence_compiler.language.tokens import Kind, Token
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Prohibition, Risk, Targets

_NAMING = coverage.SEND_VERBS | frozenset(
    """
    share invite add remove grant give pay transfer refund reimburse post kick ban send promote assign wire
    revoke unshare donate tip create set schedule book plan make
    """.split()
)
"""Verbs whose object may be a person."""
_SCHEDULED = 200  # tokens of a clause in which a schedule is looked for
_JOINED = 64
"""Parties of one send that further "cc …" clauses may add to."""


@dataclass(slots=True)
class Found:
    """What reading the requests of a message yields."""

    requests: list[Request] = field(default_factory=list)
    of_segment: dict[int, int] = field(default_factory=dict)
    """Segment -> index of its request."""
    exclusions: list[Prohibition] = field(default_factory=list)
    """"Delete everything in a except b"."""


def read_requests(
    text: str, tokens: Sequence[Token], segments: Sequence[Segment], places: Places, *, foreign: bool = False
) -> Found:
    """Return the requests of a message in order; with ``foreign``, not those of clauses in another language. Linear."""
    return _Requests(text, tokens, segments, places, foreign=foreign).read()


def content_of(tokens: Sequence[Token], first: int, last: int) -> tuple[int, int]:
    """Return the first and last token of a clause without the marks and conjunctions around it: ", and then delete …"."""
    last -= 1
    while first < last and (
        tokens[first].kind in (Kind.PUNCT, Kind.SOFT, Kind.BREAK) or (tokens[first].low in CONNECTORS and tokens[first].low not in {"or", "nor"})
    ):
        first += 1
    while last > first and tokens[last].kind in (Kind.PUNCT, Kind.SOFT, Kind.BREAK):
        last -= 1
    return first, last


@dataclass(frozen=True, slots=True)
class _Declared:
    """A party that a remark gives for somebody: "Her address is X"."""

    owner: str
    parties: tuple[str, ...]


class _Requests(Asking):
    def __init__(
        self, text: str, tokens: Sequence[Token], segments: Sequence[Segment], places: Places, *, foreign: bool
    ) -> None:
        super().__init__(text, tokens, english())
        self.foreign = foreign
        self.segments = segments
        self.places = places
        self.found = Found()
        self.folders: dict[str, tuple[str, ...]] = {}
        self.needy: list[tuple[int, References]] = []
        """Requests that name somebody without an address, for a declaration elsewhere in the message."""

    def read(self) -> Found:
        for index, segment in enumerate(self.segments):
            before = len(self.found.requests)
            if self.foreign and is_foreign(self.tokens, segment.first, segment.last):
                continue
            if segment.opens is Opens.REQUEST:
                self._request(index, segment)
            elif segment.opens is Opens.READING:
                self._output(index, segment)
            elif segment.opens is Opens.REMARK or (segment.opens is Opens.QUESTION and not segment.question):
                if not self._titled(segment):
                    self._passive(index, segment)
            if segment.opens in (Opens.REQUEST, Opens.READING):
                self._recurring(segment, before)
            if len(self.found.requests) > before:
                self.found.of_segment[index] = len(self.found.requests) - 1
        self._declare()
        return self.found

    # -- one clause

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
            Request(start, end, self.text[start:end], "schedule", ("schedule.create",), frozenset({Risk.EXECUTION}), ask_first=True)
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
        """Give the newest event the name that a sentence after it says: "The event title should be 'Dinner at {place}'"."""
        place = next(
            (k for k in range(segment.first, segment.last) if self.tokens[k].low in {"title", "name", "titled"}), segment.last
        )
        quoted = next((k for k in range(place + 1, min(segment.last, place + 5)) if self.tokens[k].kind is Kind.QUOTED), 0)
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
        """Return the token ranges of a clause: one, or one per payment ("10 € to A and 500 € to B")."""
        at, end = segment.body, segment.last
        cuts = [at]
        for place in range(at + 1, end - 1):
            if (
                self.tokens[place].low in {"and", ","}
                and self._amount_at(place + 1)
                and self._amount_before(cuts[-1], place)
            ):
                cuts.append(place + 1)
        return list(zip(cuts, [*cuts[1:], end], strict=True))

    def _amount_at(self, at: int) -> bool:
        token = self.tokens[at]
        return token.kind is Kind.MONEY or (
            token.kind is Kind.NUMBER and word_at(self.tokens, at + 1, self.words) in self.words.maps["units"]
        )

    def _amount_before(self, at: int, end: int) -> bool:
        window = range(max(at, end - 30), end)
        return any(self._amount_at(k) for k in window) and any(self.tokens[k].low == "to" for k in window)

    def _scan(self, at: int, end: int, lemma: str) -> References:
        plain = lemma in {"install", "uninstall", "upgrade"}
        return Scanner(self.tokens, self.words, self.places, sends=lemma in _NAMING, plain=plain, lemma=lemma).scan(
            at, end
        )

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
        """Whether a clause says what the person wants to have: "What I need now: …", "I'd like …"."""
        lows = [word_at(self.tokens, k, self.words) for k in range(segment.first, min(segment.last, segment.first + 6))]
        return any(
            (first, second) in WISHES and "you" not in lows for first, second in zip(lows, [*lows[1:], ""], strict=True)
        )

    def _wished(self, index: int, segment: Segment, place: int) -> bool:
        """Read the participle of "a summary, saved to /a/b.md": what is wanted is done to it, with a literal target."""
        form = self.words.forms.get(self.tokens[place].low)
        before = word_at(self.tokens, place - 1, self.words)
        goal = word_at(self.tokens, place + 1, self.words) in {"to", "in", "into", "as", "under"}
        if form is None or not form.participle or not goal or before in self.words.sets["statement_subjects"]:
            return False
        if any(t.low in {"that", "which", "who"} for t in self.tokens[segment.first : place]):
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

    def _emit(
        self, index: int, segment: Segment, lemma: str, refs: References, capabilities: Iterable[str], *, at: int
    ) -> None:
        """Append the request of a clause, unless it asks for nothing."""
        names = tuple(name for name in capabilities if coverage.risk_of(name, lemma) is not Risk.READ)
        if not names:
            return
        start, end = self._span(segment)
        risks = frozenset(coverage.risk_of(name, lemma) for name in names)
        paths = self._paths(lemma, refs, risks)
        request = Request(
            start, end, self.text[start:end], lemma, names, risks,
            recipients=self._recipients(refs, names, lemma),
            names=self._names(refs, names, lemma),
            domains=domains(refs, names),
            paths=paths,
            objects=self._objects(refs, names),
            values=role_of(self.tokens, at, segment.last) if risks & {Risk.PERMISSION_CHANGE} else {},
            commands=tuple(refs.commands) if "shell.exec" in names else (),
            max_calls=max_calls(refs, risks, self._few(at, segment.last)),
            max_amount=amount(refs) if Risk.FINANCIAL in risks else None,
            conditional=segment.conditional or refs.conditional or self._hangs(index),
            ask_first=self._asks_first(segment),
            instead=segment.instead or refs.instead or ((segment.only or refs.only) and bool(paths or refs.parties)),
        )  # fmt: skip
        request = self._with_folder(request, refs)
        if self._joins_previous(request, lemma):
            return
        loose = request
        request = replace(request, objects=tuple(dict.fromkeys((*request.objects, *self._running_thing(request, refs, at, segment.last)))))
        self.found.requests.append(request)
        self.needy.append((len(self.found.requests) - 1, refs))
        if refs.endings and "**" in "".join(request.paths):
            # "find a -name '*.tmp' -delete" names the folder: a question.
            whole = tuple(dict.fromkeys(path.partition("**")[0].rstrip("/") or path for path in request.paths))
            self.found.requests.append(replace(request, paths=whole, ask_first=True))
            self.needy.append((len(self.found.requests) - 1, refs))
        if request.objects != loose.objects:
            # What runs can be named in many ways: another name is a question, not a ban.
            self.found.requests.append(replace(loose, ask_first=True))
            self.needy.append((len(self.found.requests) - 1, refs))
        self._exclude(request, refs)

    def _running_thing(self, request: Request, refs: References, at: int, end: int) -> tuple[str, ...]:
        """Return what "restart nginx", "turn off the lights" is about, in the words of services: nginx, turn_off."""
        if request.objects or request.capabilities[:1] not in {("process.control",), ("home.control",)}:
            return ()
        if request.capabilities[0] == "home.control":
            lows = [word_at(self.tokens, place, self.words) for place in range(max(0, at - 2), min(end, at + 16))]
            done = next((low for low in lows if low in SWITCHED), "")
            return tuple(f"service:{name}" for name in SWITCHED.get(done, ()))
        token = self.tokens[at] if at < end else None
        named = token is not None and token.kind is Kind.WORD and refs.words[:1] == [(Role.OBJECT, token.value)]
        return (refs.words[0][1],) if named and not refs.definite and not refs.pronoun else ()

    def _span(self, segment: Segment) -> tuple[int, int]:
        first, last = content_of(self.tokens, segment.first, segment.last)
        return self.tokens[first].start, self.tokens[last].end

    def _recipients(self, refs: References, names: Sequence[str], lemma: str) -> tuple[str, ...]:
        parties = [party for name in names for party in reached(refs, name, lemma)]
        for role, name in refs.names:
            if role is Role.EXCEPT or role is Role.SOURCE:
                continue
            address = self.places.contacts.get(name.casefold())
            if address:
                parties.append(address)
        return tuple(dict.fromkeys(parties))

    def _names(self, refs: References, names: Sequence[str], lemma: str) -> tuple[str, ...]:
        if not any(coverage.risk_of(name, lemma) in PARTY_CLASSES for name in names):
            return ()
        contacts = self.places.contacts
        roles = {Role.WITH} if lemma in MAKING else REACHED | {Role.WITH} if lemma in {"share", "meet"} else REACHED
        return tuple(
            dict.fromkeys(name for role, name in refs.names if role in roles and name.casefold() not in contacts)
        )

    def _paths(self, lemma: str, refs: References, risks: frozenset[Risk]) -> tuple[str, ...]:
        if not risks & {Risk.LOCAL_WRITE, Risk.DELETE, Risk.EXECUTION, Risk.EXTERNAL_WRITE, Risk.PERMISSION_CHANGE}:
            return ()
        entries = chosen_paths(lemma, refs)
        if not risks & {Risk.EXECUTION, Risk.EXTERNAL_WRITE}:
            entries += [
                (role, text, False)
                for role, text in refs.slashed
                if role in (Role.OBJECT, Role.TO, Role.INSIDE) and self._is_folder(text)
            ]
        found = [self.places.path(text, inside=known or below(role, text, lemma)) for role, text, known in entries]
        if refs.endings and Risk.DELETE in risks:
            # "the .tmp files in a" is no order for the other files in a
            found = [f"{path}**{ending}" if path.endswith("/") else path for path in found for ending in refs.endings[:8]]
        return tuple(dict.fromkeys(path for path in found if path))

    def _is_folder(self, text: str) -> bool:
        return not any(part.lower() in self.words.forms or part.lower() in {"and", "or"} for part in text.split("/"))

    def _objects(self, refs: References, names: Sequence[str]) -> tuple[str, ...]:
        objects = list(refs.objects)
        if "package.install" in names or "package.remove" in names:
            objects += packages(refs)
        if "git.push" in names:
            objects += push_targets(refs)
        if any(name.startswith(("repo.", "issue.", "pr.", "comment.")) for name in names):
            objects += [f"repo:{text}" for _, text in refs.slashed if text.count("/") == 1]
        if "comment.create" in names:  # a pull request is commented on as the issue of its number
            objects += [f"issue:{name[3:]}" for name in objects if name.startswith("pr:")]
        if any(name.startswith("drive.") for name in names):
            objects += [
                f"file:{text}" for role, text, known in refs.paths if role in REACHED and not known and "/" not in text
            ]
        return tuple(dict.fromkeys(objects))

    def _few(self, at: int, end: int) -> bool:
        return any(t.low in FEW for t in self.tokens[at : min(end, at + 6)]) or any(
            t.low in {"each", "every", "everyone", "all"} for t in self.tokens[at : min(end, at + 30)]
        )

    def _hangs(self, index: int) -> bool:
        """Whether a condition follows in the same sentence: "email her if it is green"."""
        if index + 1 >= len(self.segments):
            return False
        following = self.segments[index + 1]
        previous = self.tokens[self.segments[index].last - 1]
        ended = previous.kind is Kind.BREAK or (previous.kind is Kind.PUNCT and previous.low in ".!?;")
        return following.opens is Opens.CONDITION and following.conditional and not ended

    def _asks_first(self, segment: Segment) -> bool:
        words = self.words
        table = words.phrases["ask_first"]
        end = min(len(self.tokens), segment.last + 8)
        sentence_over = False
        for at in range(segment.first, end):
            if at >= segment.last and sentence_over:
                return False
            if (
                self.tokens[at].low in table
                and self.tokens[at].low != "without"
                and phrase_at(self.tokens, at, end, table, words)
            ):
                return True
            sentence_over = self.tokens[at].low in {".", "!", "?"} or self.tokens[at].kind is Kind.BREAK
        return False

    def _with_folder(self, request: Request, refs: References) -> Request:
        """Return the request with the folder of the one before, if it is of the same kind and names no place."""
        kinds = [name for name in request.capabilities if name.startswith(("file.", "folder."))]
        if not kinds:
            return request
        kind = kinds[0]
        if request.paths:
            inside = tuple(path for path in request.paths if path.endswith("/") or not has_ending(path))
            self.folders[kind] = tuple(path if path.endswith("/") else f"{path}/" for path in inside)
            return request
        folder = self.folders.get(kind, ())
        return replace(request, paths=folder) if folder and not refs.places else request

    def _joins_previous(self, request: Request, lemma: str) -> bool:
        """Add "cc carol@x.example" to the send before it: one mail reaches both."""
        if not self.found.requests:
            return False
        last = self.found.requests[-1]
        if request.values and not request.recipients and Risk.PERMISSION_CHANGE in last.risks and not last.values:
            # "Share it with dana@x.example, and give her reader access only."
            self.found.requests[-1] = replace(
                last, values=request.values, end=request.end, quote=self.text[last.start : request.end]
            )
            return True
        if lemma not in {"cc", "bcc"}:
            return False
        if Risk.COMMUNICATION not in last.risks or not last.recipients or len(last.recipients) > _JOINED:
            return False
        joined = tuple(dict.fromkeys((*last.recipients, *request.recipients)))
        self.found.requests[-1] = replace(
            last, recipients=joined, end=request.end, quote=self.text[last.start : request.end]
        )
        return True

    def _exclude(self, request: Request, refs: References) -> None:
        """Note what the request leaves out: "delete everything in a except b"."""
        spared = [text for role, text, _ in refs.paths if role is Role.EXCEPT]
        paths = [self.places.path(text) for text in spared]
        folders = [path for path in request.paths if path.endswith("/")][:_JOINED]
        # A bare name is meant in the folder that is named, whatever the current folder is.
        paths += [f"{folder}{text}" for text in spared[:_JOINED] if "/" not in text for folder in folders]
        parties = tuple(party for role, party in refs.parties if role is Role.EXCEPT)
        targets = Targets(paths=tuple(path for path in paths if path), recipients=parties)
        if not targets:
            return
        for risk in sorted(request.risks):
            self.found.exclusions.append(Prohibition(what=risk.value, targets=targets, quote=request.quote))

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
            owners[one.owner] = tuple(dict.fromkeys((*owners.get(one.owner, ())[:_JOINED], *one.parties)))
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
