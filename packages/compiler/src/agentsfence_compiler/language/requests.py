"""Clauses to requests: what each asks for, of whom, where, how often (DESIGN 7.2, 7.4, 7.5).

Rules of this file:

* A request keeps its own targets. It borrows one thing only: the folder of the request before it, of the same kind.
* A target that is a source, a sender, a topic or an exception is not the request's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agentsfence_core.classification.vocabulary import vocabulary
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Prohibition, Risk, Targets

from agentsfence_compiler.language import coverage
from agentsfence_compiler.language.clauses import LITERALS, Opens, Segment, phrase_at, word_at
from agentsfence_compiler.language.foreign import is_foreign
from agentsfence_compiler.language.lexicon import English, english
from agentsfence_compiler.language.reading import Request
from agentsfence_compiler.language.references import Places, References, Role, Scanner, canonical_party
from agentsfence_compiler.language.tokens import FILE_ENDINGS, Kind, Token

_NAMING = coverage.SEND_VERBS | frozenset(
    "share invite add remove grant give pay transfer refund reimburse post kick ban send promote assign wire revoke unshare donate tip create set schedule book plan make".split()
)
"""Verbs whose object may be a person."""
_MAKING = frozenset("create set schedule book plan make put update move reschedule".split())
"""Verbs whose object is a thing; people come with "with"."""
_TRANSFERRING = frozenset(
    "export convert save copy extract translate summarize summarise transcribe download generate unzip compress zip back pack tar unpack store dump print list compile draft write put archive".split()
)
"""Verbs that write where they go to, not where they take from."""
_OUTPUTTING = frozenset("summarize summarise translate transcribe extract list convert outline compare".split())
"""Reading verbs that may ask for an explicit output: "summarize it to /a/b.md"."""
_STRICTLY_BELOW = frozenset(
    "delete remove erase wipe clean purge trash clear discard edit move rename organize modify change update".split()
)
_MESSAGE_NOUNS = frozenset(
    {
        "email",
        "mail",
        "message",
        "reply",
        "answer",
        "response",
        "sms",
        "text",
        "dm",
        "direct message",
        "channel message",
        "invitation",
        "draft",
        "note",
    }
)
_REMOTES = frozenset({"origin", "upstream", "fork"})
_BRANCHES = frozenset({"main", "master", "develop", "dev", "trunk", "staging", "production", "release", "gh-pages"})
_PROGRAMS = frozenset(
    "npm yarn pnpm npx make pytest cargo go git docker python python3 pip pip3 node bash sh ruff mypy tox nox uv poetry mvn gradle ./gradlew kubectl terraform ansible php composer bundle rake rails dotnet swift flutter deno bun just tsc eslint prettier black jest vitest ls cat grep find curl wget ssh scp rsync systemctl service brew apt apt-get".split()
)
_PACKAGE_NOISE = frozenset(
    "latest newest current version versions globally locally both all missing required necessary needed following new it them everything via and or the a package packages please now again also stable dev prod python node module modules for me".split()
)
_PARTICIPLE_FRAMES = frozenset(
    {"should", "must", "needs", "need", "has", "have", "is", "are", "ought", "shall", "can", "may", "to"}
)
_OWNERS = frozenset(
    {"her", "his", "their", "its", "recipient", "recipients", "addressee", "to", "cc", "send-to", "iban", "account"}
)
_ADDRESS_WORDS = frozenset(
    {
        "address",
        "email",
        "e-mail",
        "mail",
        "recipient",
        "recipients",
        "iban",
        "account",
        "number",
        "phone",
        "handle",
        "addresses",
        "emails",
        "contact",
    }
)
_HOSTED = frozenset(
    {
        "repo",
        "repository",
        "release",
        "gist",
        "wiki",
        "webhook",
        "pull request",
        "pr",
        "merge request",
        "mr",
        "collaborator",
        "team",
        "deploy key",
        "visibility",
        "branch protection",
        "public",
    }
)
"""Nouns of a hosted repository."""
_NO_COUNT = frozenset({Risk.LOCAL_WRITE, Risk.EXECUTION})
_VAGUE = frozenset(
    "it them this that these those everything anything all one ones both something everyone anyone now please again off on up down out in".split()
)
_THINGS_ONLY = frozenset({"organize", "share", "sort"})
"""Verbs that ask for nothing unless a file or a party is named: "share the names", "sort all users"."""
_JOINED = 64
"""Parties of one send that further "cc …" clauses may add to."""
_FEW = frozenset({"few", "couple", "bunch", "lot", "number", "series", "set", "bit"})


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


@dataclass(frozen=True, slots=True)
class _Declared:
    """A party that a remark gives for somebody: "Her address is X"."""

    owner: str
    parties: tuple[str, ...]


class _Requests:
    def __init__(
        self, text: str, tokens: Sequence[Token], segments: Sequence[Segment], places: Places, *, foreign: bool
    ) -> None:
        self.text = text
        self.foreign = foreign
        self.tokens = tokens
        self.segments = segments
        self.places = places
        self.words: English = english()
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
            elif segment.opens is Opens.REMARK:
                self._passive(index, segment)
            if len(self.found.requests) > before:
                self.found.of_segment[index] = len(self.found.requests) - 1
        self._declare()
        return self.found

    # -- one clause

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
        if segment.lemma not in _OUTPUTTING or segment.how:
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
        """ "The notes should be emailed to bob@x.example", "summary → /a/b.md": only with a literal target (DESIGN 7.5)."""
        tokens = self.tokens
        if any(
            t.low in {"not", "never", "if", "said", "says", "wrote", "no", "according"}
            for t in tokens[segment.first : segment.last]
        ):
            return
        for place in range(segment.first, segment.last - 1):
            low = tokens[place].low
            if low in {"\u2192", "->", "=>"} and tokens[place + 1].kind in LITERALS:
                refs = self._scan(place, segment.last, "write")
                self._emit_literal(index, segment, "write", refs, place)
                return
            form = self.words.forms.get(tokens[place + 1].low)
            if (
                low in {"be", "get"}
                and tokens[place - 1].low in _PARTICIPLE_FRAMES
                and form is not None
                and form.participle
            ):
                refs = self._scan(place + 2, segment.last, form.lemma)
                self._emit_literal(index, segment, form.lemma, refs, place + 2)
                return

    def _emit_literal(self, index: int, segment: Segment, lemma: str, refs: References, at: int) -> None:
        """Emit a request without a leading verb, if it is a send or a local write with a literal target."""
        refs.names = []
        capabilities = self.capabilities(lemma, refs, at, segment.last)
        kept = tuple(
            name for name in capabilities
            if (coverage.risk_of(name, lemma) is Risk.COMMUNICATION and _reached(refs, name, lemma))
            or (coverage.risk_of(name, lemma) is Risk.LOCAL_WRITE and refs.paths)
        )  # fmt: skip
        self._emit(index, segment, lemma, refs, kept, at=at)

    # -- capabilities

    def capabilities(self, lemma: str, refs: References, at: int, end: int) -> tuple[str, ...]:
        """Return the candidates of a clause, most specific first; none where it asks for nothing that is known."""
        if lemma in {"run", "execute", "start", "launch", "rerun"}:
            return self._running(lemma, refs, at, end)
        if self._moves_money(lemma, refs):
            extra = ("payment.send",) if lemma != "refund" else ("payment.refund", "payment.send")
            return tuple(dict.fromkeys((*_noun_capabilities(lemma, refs, Risk.FINANCIAL), *extra)))
        if lemma in coverage.SEND_VERBS:
            sends = self._sending(lemma, refs)
            if sends or lemma not in {"write"}:
                return sends
        if lemma == "post":
            return self._posting(refs)
        return self._acting(lemma, refs)

    def _moves_money(self, lemma: str, refs: References) -> bool:
        if lemma not in {"send", "transfer", "wire", "refund", "pay", "donate", "tip", "reimburse"}:
            return False
        if lemma in {"pay", "donate", "tip", "wire", "reimburse", "refund"}:
            return True
        return bool(refs.amounts) or any(noun in coverage.MONEY_NOUNS for noun in refs.nouns)

    def _sending(self, lemma: str, refs: References) -> tuple[str, ...]:
        reached = [party for role, party in refs.parties if role in _REACHED]
        named = [name for role, name in refs.names if role in _REACHED]
        if (
            lemma == "write"
            and not ((reached or named) and not _written(refs))
            and not (set(refs.nouns) & _MESSAGE_NOUNS and not refs.paths)
        ):
            return ()
        if lemma == "call" and not (reached or named or refs.nouns):
            return ()
        slack = "slack" in refs.places or any(party.startswith("#") for party in reached)
        chosen: list[str] = []
        if slack:
            chosen += ["chat.send", "message.send"]
        chosen += (
            [coverage.MEDIUM_OF[lemma]]
            if lemma in coverage.MEDIUM_OF
            else _noun_capabilities(lemma, refs, Risk.COMMUNICATION)
        )
        addressed = any("@" in party[1:] for party in reached)
        if addressed:
            chosen += ["email.send", "message.send"]
        elif lemma not in coverage.MEDIUM_OF:
            chosen += coverage.SENDING
        if {"invitation", "invite"} & set(refs.nouns) or "event" in refs.places:
            chosen.append("calendar.invite")
        return tuple(dict.fromkeys(chosen))

    def _posting(self, refs: References) -> tuple[str, ...]:
        chat = bool(refs.parties) or "slack" in refs.places
        if any(role is Role.TO or (role in (Role.INSIDE, Role.OBJECT) and not chat) for role, _ in refs.hosts):
            return ("web.post", "browser.interact")
        if chat:
            return ("chat.send", "message.send")
        named = _noun_capabilities("post", refs, None)
        return tuple(named) or ("chat.send", "social.publish", "web.post")

    def _acting(self, lemma: str, refs: References) -> tuple[str, ...]:
        if lemma == "make" and any(word.lower() in {"public", "private", "visible"} for _, word in refs.words):
            return ("file.share",)
        placed = [name for place in refs.places for name in coverage.BY_PLACE.get((lemma, place), ())]
        named = _noun_capabilities(lemma, refs, None)
        if lemma == "write":
            named = [name for name in named if coverage.risk_of(name, lemma) is not Risk.COMMUNICATION]
        if (
            lemma in {"delete", "remove", "clear", "clean"}
            and refs.paths
            and refs.nouns
            and refs.nouns[0] in coverage.CONTENT_NOUNS
            and _is_file(refs)
        ):
            return ("file.write",)
        chosen = _here([*placed, *named], refs)
        if refs.paths and not any(
            name.startswith(("file.", "folder.", "drive.", "media.", "database.", "git.")) for name in chosen
        ):
            chosen += self._on_paths(lemma, refs)
        if not chosen and not refs.paths:
            chosen += coverage.by_family(lemma, refs.nouns)
        if not chosen and lemma in _THINGS_ONLY and not refs.paths and not (refs.parties or refs.names):
            return ()
        if not chosen:
            chosen += coverage.ALONE.get(lemma, ())
            head = refs.nouns[0] if refs.nouns else _last_word(refs)
            chosen += coverage.inferred_for(lemma, head) if not refs.paths else ()
        met = refs.parties or any(role is Role.WITH for role, _ in refs.names)
        if met and any(
            name.startswith("calendar.") and name not in {"calendar.delete", "calendar.share"} for name in chosen
        ):
            chosen.append("calendar.invite")
        return tuple(dict.fromkeys(chosen))

    def _on_paths(self, lemma: str, refs: References) -> tuple[str, ...]:
        """Return what a verb does to named paths, whatever else its object is: "rename the variable in a.py"."""
        alone = coverage.ALONE.get(lemma, ())
        if (
            lemma in {"rename", "move"}
            and refs.nouns + refs.words
            and all(role is Role.INSIDE for role, _, _ in refs.paths)
        ):
            return ("file.write",)
        if any(name.startswith("file.") for name in alone):
            return alone
        return ("file.write",) if lemma in {"make", "apply", "write", "insert", "set"} else ()

    def _running(self, lemma: str, refs: References, at: int, end: int) -> tuple[str, ...]:
        if not refs.commands:
            command = self._command(at, end)
            if command:
                refs.commands.append(command)
        if refs.commands:
            return ("shell.exec",)
        named = [name for noun in refs.nouns[:1] for name in coverage.by_noun(lemma, noun)]
        if any(name in {"test.run", "build.run", "lint.run"} for name in named):
            return tuple(name for name in named if name in {"test.run", "build.run", "lint.run"})
        if any(role is Role.OBJECT for role, _, _ in refs.paths):
            return ("script.run",)
        return tuple(name for name in named if name not in {"shell.exec", "code.exec", "script.run"}) or tuple(
            name
            for noun in refs.nouns[1:]
            for name in coverage.by_noun(lemma, noun)
            if name not in {"shell.exec", "code.exec", "script.run"}
        )

    def _command(self, at: int, end: int) -> str:
        """Return a command that is written without quotes: "run npm test and …"."""
        if at >= end or self.tokens[at].low not in _PROGRAMS:
            return ""
        last = at + 1
        stops = {"and", "then", "in", "to", "for", "on", "with", "please", "so", "but", "until", "again", "now", "if"}
        while last < min(end, at + 12):
            token = self.tokens[last]
            if (
                token.low in stops
                or token.kind in (Kind.BREAK, Kind.SOFT)
                or (token.kind is Kind.PUNCT and not token.low.startswith("-"))
            ):
                break
            last += 1
        return (
            self.text[self.tokens[at].start : self.tokens[last - 1].end]
            if last > at + 1 or self.tokens[at].low in {"pytest", "make", "tox", "nox"}
            else ""
        )

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
            domains=_domains(refs, names),
            paths=paths,
            objects=self._objects(lemma, refs, names, at),
            commands=tuple(refs.commands) if "shell.exec" in names else (),
            max_calls=_max_calls(refs, risks, self._few(at, segment.last)),
            max_amount=_amount(refs) if Risk.FINANCIAL in risks else None,
            conditional=segment.conditional or refs.conditional or self._hangs(index),
            ask_first=self._asks_first(segment),
            instead=segment.instead or refs.instead or ((segment.only or refs.only) and bool(paths or refs.parties)),
        )  # fmt: skip
        request = self._with_folder(request, refs)
        if self._joins_previous(request, lemma):
            return
        self.found.requests.append(request)
        self.needy.append((len(self.found.requests) - 1, refs))
        self._exclude(request, refs)

    def _span(self, segment: Segment) -> tuple[int, int]:
        first = segment.first
        while first < segment.last - 1 and self.tokens[first].kind in (Kind.PUNCT, Kind.SOFT, Kind.BREAK):
            first += 1
        last = segment.last - 1
        while last > first and self.tokens[last].kind in (Kind.PUNCT, Kind.SOFT, Kind.BREAK):
            last -= 1
        return self.tokens[first].start, self.tokens[last].end

    def _recipients(self, refs: References, names: Sequence[str], lemma: str) -> tuple[str, ...]:
        parties = [party for name in names for party in _reached(refs, name, lemma)]
        for role, name in refs.names:
            if role is Role.EXCEPT or role is Role.SOURCE:
                continue
            address = self.places.contacts.get(name.casefold())
            if address:
                parties.append(address)
        return tuple(dict.fromkeys(parties))

    def _names(self, refs: References, names: Sequence[str], lemma: str) -> tuple[str, ...]:
        if not any(coverage.risk_of(name, lemma) in _PARTY_CLASSES for name in names):
            return ()
        contacts = self.places.contacts
        roles = {Role.WITH} if lemma in _MAKING else _REACHED | {Role.WITH} if lemma in {"share", "meet"} else _REACHED
        return tuple(
            dict.fromkeys(name for role, name in refs.names if role in roles and name.casefold() not in contacts)
        )

    def _paths(self, lemma: str, refs: References, risks: frozenset[Risk]) -> tuple[str, ...]:
        if not risks & {Risk.LOCAL_WRITE, Risk.DELETE, Risk.EXECUTION, Risk.EXTERNAL_WRITE, Risk.PERMISSION_CHANGE}:
            return ()
        entries = _chosen_paths(lemma, refs)
        if not risks & {Risk.EXECUTION, Risk.EXTERNAL_WRITE}:
            entries += [
                (role, text, False)
                for role, text in refs.slashed
                if role in (Role.OBJECT, Role.TO, Role.INSIDE) and self._is_folder(text)
            ]
        found = [self.places.path(text, inside=known or _below(role, text, lemma)) for role, text, known in entries]
        return tuple(dict.fromkeys(path for path in found if path))

    def _is_folder(self, text: str) -> bool:
        return not any(part.lower() in self.words.forms or part.lower() in {"and", "or"} for part in text.split("/"))

    def _objects(self, lemma: str, refs: References, names: Sequence[str], at: int) -> tuple[str, ...]:
        objects = list(refs.objects)
        if "package.install" in names or "package.remove" in names:
            objects += _packages(refs)
        if "git.push" in names:
            objects += push_targets(refs)
        if any(name.startswith(("repo.", "issue.", "pr.")) for name in names):
            objects += [f"repo:{text}" for _, text in refs.slashed if text.count("/") == 1]
        if any(name.startswith("drive.") for name in names):
            objects += [
                f"file:{text}" for role, text, known in refs.paths if role in _REACHED and not known and "/" not in text
            ]
        return tuple(dict.fromkeys(objects))

    def _few(self, at: int, end: int) -> bool:
        return any(t.low in _FEW for t in self.tokens[at : min(end, at + 6)]) or any(
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
            inside = tuple(path for path in request.paths if path.endswith("/") or not _has_ending(path))
            self.folders[kind] = tuple(path if path.endswith("/") else f"{path}/" for path in inside)
            return request
        folder = self.folders.get(kind, ())
        return replace(request, paths=folder) if folder and not refs.places else request

    def _joins_previous(self, request: Request, lemma: str) -> bool:
        """Add "cc carol@x.example" to the send before it: one mail reaches both."""
        if lemma not in {"cc", "bcc"} or not self.found.requests:
            return False
        last = self.found.requests[-1]
        if Risk.COMMUNICATION not in last.risks or not last.recipients or len(last.recipients) > _JOINED:
            return False
        joined = tuple(dict.fromkeys((*last.recipients, *request.recipients)))
        self.found.requests[-1] = replace(
            last, recipients=joined, end=request.end, quote=self.text[last.start : request.end]
        )
        return True

    def _exclude(self, request: Request, refs: References) -> None:
        """Note what the request leaves out: "delete everything in a except b"."""
        paths = tuple(self.places.path(text) for role, text, _ in refs.paths if role is Role.EXCEPT)
        parties = tuple(party for role, party in refs.parties if role is Role.EXCEPT)
        targets = Targets(paths=tuple(p for p in paths if p), recipients=parties)
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
            if request.recipients or not request.risks & _PARTY_CLASSES:
                continue
            parties = _declared_for(owners, refs)
            if parties:
                self.found.requests[place] = replace(request, recipients=parties, names=())

    def _declaration(self, segment: Segment) -> list[_Declared]:
        tokens = self.tokens
        for place in range(segment.first + 1, segment.last):
            if tokens[place].low not in {"is", "are", ":", "=", "'s"}:
                continue
            before = [t.low for t in tokens[max(segment.first, place - 6) : place]]
            if not before or before[-1] not in _ADDRESS_WORDS:
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
                    if low in _OWNERS or low in {"my", "our"} or low.endswith("'s")
                ),
                "",
            )
            if not parties and place + 1 < segment.last:
                continue
            return [_Declared(owner, tuple(parties))] if owner and parties else []
        return []


_REACHED = frozenset({Role.OBJECT, Role.TO, Role.INSIDE, Role.AS})
_PARTY_CLASSES = frozenset({Risk.COMMUNICATION, Risk.PERMISSION_CHANGE, Risk.FINANCIAL})


def _reached(refs: References, capability: str, lemma: str) -> list[str]:
    """Return the parties that a capability reaches: the object of the send, with whom a file is shared."""
    risk = coverage.risk_of(capability, lemma)
    wide = capability.startswith(
        ("calendar.", "file.share", "access.", "repo.admin", "chat.admin", "email.draft", "task.", "issue.update")
    )
    if risk not in _PARTY_CLASSES and not wide:
        return []
    roles = _REACHED | {Role.WITH, Role.FOR} if wide else _REACHED
    return [party for role, party in refs.parties if role in roles]


def _here(names: Sequence[str], refs: References) -> list[str]:
    """Return the candidates without those of another place: a named path is here, a branch without a host is here."""
    if refs.paths and "drive" not in refs.places:
        return [name for name in names if coverage.risk_of(name, "") not in (Risk.EXTERNAL_WRITE, Risk.COMMUNICATION)]
    hosted = "repo" in refs.places or bool(set(refs.nouns) & _HOSTED)
    return [name for name in names if hosted or not name.startswith("repo.")]


def _declared_for(declared: Mapping[str, tuple[str, ...]], refs: References) -> tuple[str, ...]:
    """Return the parties declared for whom a request speaks of: its name, its pronoun, its role."""
    own = [party for _, name in refs.names for party in declared.get(name.casefold(), ())]
    if own:
        return tuple(own)
    owners = ("my", "our") if refs.to_me else _OWNERS
    return tuple(dict.fromkeys(party for owner in declared if owner in owners for party in declared[owner]))


def _noun_capabilities(lemma: str, refs: References, risk: Risk | None) -> list[str]:
    """Return the capabilities of the verb and the first noun of its object that the table knows."""
    for noun in refs.nouns:
        names = [
            name for name in coverage.by_noun(lemma, noun) if risk is None or coverage.risk_of(name, lemma) is risk
        ]
        if names:
            return names
    return []


def _chosen_paths(lemma: str, refs: References) -> list[tuple[Role, str, bool]]:
    """Return the paths that a verb acts on, by role."""
    by_role: dict[Role, list[tuple[Role, str, bool]]] = {}
    for entry in refs.paths:
        by_role.setdefault(entry[0], []).append(entry)
    goals = by_role.get(Role.TO, []) + by_role.get(Role.AS, [])
    here = by_role.get(Role.OBJECT, []) + by_role.get(Role.INSIDE, [])
    if lemma in _TRANSFERRING and goals:
        return goals
    if lemma == "copy":
        return by_role.get(Role.INSIDE, [])
    if lemma in {"delete", "remove", "clean", "clear", "erase", "purge", "wipe", "trash"}:
        here = here + by_role.get(Role.SOURCE, [])
    return here + goals or by_role.get(Role.OF, [])


def _below(role: Role, text: str, lemma: str) -> bool:
    """Whether only what lies below a path is meant: "everything in /srv/tmp"."""
    return role in (Role.INSIDE, Role.SOURCE, Role.OF) and lemma in _STRICTLY_BELOW and not _has_ending(text)


def _has_ending(path: str) -> bool:
    name = path.rstrip("/").rpartition("/")[2]
    return "." in name[1:] and name.rpartition(".")[2].lower() in FILE_ENDINGS


def _is_file(refs: References) -> bool:
    return any(_has_ending(text) for _, text, _ in refs.paths)


def _written(refs: References) -> bool:
    return any(role in (Role.TO, Role.AS, Role.INSIDE) for role, _, _ in refs.paths)


def _last_word(refs: References) -> str:
    words = [word for role, word in refs.words if role is Role.OBJECT and word.isalpha() and word.lower() not in _VAGUE]
    return words[-1].lower() if words else ""


def _domains(refs: References, names: Sequence[str]) -> tuple[str, ...]:
    if not any(name.startswith(("web.", "browser.", "file.upload")) for name in names):
        return ()
    return tuple(dict.fromkeys(host for role, host in refs.hosts if role in (Role.TO, Role.INSIDE, Role.OBJECT)))


def _packages(refs: References) -> list[str]:
    words = [word for role, word in refs.words if role is Role.OBJECT and word.lower() not in _PACKAGE_NOISE]
    words += [text for role, text in refs.slashed if role is Role.OBJECT]
    words += [host for role, host in refs.hosts if role is Role.OBJECT]
    words += [command for command in refs.commands if " " not in command]
    names = []
    for word in words:
        name = word
        for mark in "=<>~!;":
            name = name.split(mark, 1)[0]
        if name and name.lower() not in _PACKAGE_NOISE:
            names.append(f"package:{name}")
    return names


def push_targets(refs: References) -> list[str]:
    """Return remote and branch of "push to origin main"."""
    found: list[str] = []
    for role, word in refs.words:
        low = word.lower()
        if low in _REMOTES:
            found.append(f"remote:{low}")
        elif low in _BRANCHES or (any(c in word for c in "-_") and word[0].isalnum()):
            found.append(f"branch:{word}")
    for _, text in refs.slashed:
        remote, _, branch = text.partition("/")
        if remote.lower() in _REMOTES:
            found += [f"remote:{remote.lower()}", f"branch:{branch}"]
        else:
            found.append(f"branch:{text}")
    return found


def _max_calls(refs: References, risks: frozenset[Risk], few: bool) -> int | None:
    """Return how often a request may be done: "an event" once; "the summary" says nothing."""
    if refs.count is None or few or refs.universal or risks <= _NO_COUNT or "draft" in refs.nouns:
        return None
    reached = len({party for _, party in refs.parties}) + len({name for _, name in refs.names})
    if refs.count == 1 and (refs.plural or reached > 1):
        return None
    return refs.count


def _amount(refs: References) -> str | None:
    amounts = [amount for amount in refs.amounts if amount]
    return max(amounts, key=float) if amounts else None


def known_capability(name: str) -> bool:
    """Whether a name is in the table of capabilities."""
    return name in vocabulary().capabilities
