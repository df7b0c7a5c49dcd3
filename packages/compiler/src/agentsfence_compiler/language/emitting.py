"""One clause to one request: its targets, counts and conditions (DESIGN 7.2, 7.4, 7.5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
from agentsfence_compiler.language.lexicon import english
from agentsfence_compiler.language.openings import Opens, phrase_at, word_at
from agentsfence_compiler.language.reading import Request
from agentsfence_compiler.language.references import Places, References, Role, Scanner, canonical_party
from agentsfence_compiler.language.tables import (
    CONNECTORS,
    FEW,
    MAKING,
    PARTY_CLASSES,
    REACHED,
    SWITCHED,
)
from agentsfence_compiler.language.targets import has_ending
from agentsfence_compiler.language.tokens import Kind, Token
from agentsfence_core.model import Prohibition, Risk, Targets

_NAMING = coverage.SEND_VERBS | frozenset(
    """
    share invite add remove grant give pay transfer refund reimburse post kick ban send promote assign wire
    revoke unshare donate tip create set schedule book plan make
    """.split()
)
"""Verbs whose object may be a person."""
JOINED = 64
"""Parties of one send that further "cc …" clauses may add to."""


@dataclass(slots=True)
class Found:
    """What reading the requests of a message yields."""

    requests: list[Request] = field(default_factory=list)
    of_segment: dict[int, int] = field(default_factory=dict)
    """Segment -> index of its request."""
    exclusions: list[Prohibition] = field(default_factory=list)
    """"Delete everything in a except b"."""


def content_of(tokens: Sequence[Token], first: int, last: int) -> tuple[int, int]:
    """Return the first and last token of a clause without the marks and conjunctions around it."""
    last -= 1
    while first < last and (
        tokens[first].kind in (Kind.PUNCT, Kind.SOFT, Kind.BREAK)
        or (tokens[first].low in CONNECTORS and tokens[first].low not in {"or", "nor"})
    ):
        first += 1
    while last > first and tokens[last].kind in (Kind.PUNCT, Kind.SOFT, Kind.BREAK):
        last -= 1
    return first, last


class Emitting(Asking):
    """Collects the requests of a message."""

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

    def _scan(self, at: int, end: int, lemma: str) -> References:
        plain = lemma in {"install", "uninstall", "upgrade"}
        return Scanner(self.tokens, self.words, self.places, sends=lemma in _NAMING, plain=plain, lemma=lemma).scan(
            at, end
        )

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
        request = replace(
            request,
            objects=tuple(dict.fromkeys((*request.objects, *self._running_thing(request, refs, at, segment.last)))),
        )
        for one in self._each(request, at, segment.last):
            self.found.requests.append(one)
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

    def _each(self, request: Request, at: int, end: int) -> list[Request]:
        """Return the payments of "10 EUR each to alice and bob": each has its own amount."""
        each = any(self.tokens[place].low in {"each", "apiece"} for place in range(at, min(end, at + 40)))
        if not each or Risk.FINANCIAL not in request.risks or not 1 < len(request.recipients) <= JOINED:
            return [request]
        ends = {
            canonical_party(token): token.end
            for token in self.tokens[at:end]
            if token.kind in (Kind.ADDRESS, Kind.PARTY)
        }
        # Each has words of its own: rows of the same words share one counter.
        spans = [(party, ends.get(party, request.end)) for party in request.recipients]
        return [
            replace(request, recipients=(party,), end=stop, quote=self.text[request.start : stop])
            for party, stop in spans
        ]

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
        roles = roles - {Role.AS}
        return tuple(
            dict.fromkeys(name for role, name in refs.names if role in roles and name.casefold() not in contacts)
        )

    def _paths(self, lemma: str, refs: References, risks: frozenset[Risk]) -> tuple[str, ...]:
        if not risks & {Risk.LOCAL_WRITE, Risk.DELETE, Risk.EXECUTION, Risk.EXTERNAL_WRITE, Risk.PERMISSION_CHANGE}:
            return self._sent(lemma, refs) if risks == {Risk.COMMUNICATION} else ()
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
            found = [
                f"{path}**{ending}" if path.endswith("/") else path for path in found for ending in refs.endings[:8]
            ]
        return tuple(dict.fromkeys(path for path in found if path))

    def _sent(self, lemma: str, refs: References) -> tuple[str, ...]:
        """Return the files that a message carries: "email a.txt to alice" sends no other file."""
        if lemma not in coverage.SEND_VERBS or any(role is Role.AS for role, _ in refs.words):
            return ()
        own = [text for role, text, known in refs.paths if role in (Role.OBJECT, Role.WITH) and not known]
        paths = [self.places.path(text) for text in own if has_ending(text)]
        return tuple(dict.fromkeys(path for path in paths if path)) if len(own) == len(refs.paths) else ()

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
        if Risk.COMMUNICATION not in last.risks or not last.recipients or len(last.recipients) > JOINED:
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
        folders = [path for path in request.paths if path.endswith("/")][:JOINED]
        # A bare name is meant in the folder that is named, whatever the current folder is.
        paths += [f"{folder}{text}" for text in spared[:JOINED] if "/" not in text for folder in folders]
        parties = tuple(party for role, party in refs.parties if role is Role.EXCEPT)
        targets = Targets(paths=tuple(path for path in paths if path), recipients=parties)
        if not targets:
            return
        for risk in sorted(request.risks):
            self.found.exclusions.append(Prohibition(what=risk.value, targets=targets, quote=request.quote))
