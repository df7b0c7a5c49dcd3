"""Which capabilities a clause asks for: its verb, its nouns, its place, its targets (DESIGN 7.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentsfence_compiler.language import coverage
from agentsfence_compiler.language.aims import points, push_targets
from agentsfence_compiler.language.lexicon import English
from agentsfence_compiler.language.references import References, Role
from agentsfence_compiler.language.tables import (
    CLOUDY,
    FILING,
    HOSTED,
    LEFT_OVER,
    MEDIA,
    MESSAGE_NOUNS,
    PROGRAMS,
    REACHED,
    SAYING,
    THINGS_ONLY,
    VAGUE,
)
from agentsfence_compiler.language.targets import has_ending
from agentsfence_compiler.language.tokens import Kind, Token
from agentsfence_core.model import Risk

_ACCOUNT = re.compile(r"[a-z]{2}\d{2}[a-z0-9]{8,30}", re.IGNORECASE)
"""An account number: what is sent to it is money."""


_VERSION = re.compile(r"v\d{1,6}(?:\.\d{1,6}){0,3}[\w.+-]{0,20}|\d{1,4}\.\d{1,6}\.\d{1,6}[\w.+-]{0,20}", re.IGNORECASE)
"""A version, as a tag names it."""


class Asking:
    """Reads capabilities from a verb and the references of its clause."""

    def __init__(self, text: str, tokens: Sequence[Token], words: English) -> None:
        self.text = text
        self.tokens = tokens
        self.words = words

    def capabilities(self, lemma: str, refs: References, at: int, end: int) -> tuple[str, ...]:
        """Return the candidates of a clause, most specific first; none where it asks for nothing that is known."""
        if lemma in {"run", "execute", "start", "launch", "rerun"}:
            return self._running(lemma, refs, at, end)
        if self._moves_money(lemma, refs):
            extra = ("payment.send",) if lemma != "refund" else ("payment.refund", "payment.send")
            return tuple(dict.fromkeys((*_noun_capabilities(lemma, refs, Risk.FINANCIAL), *extra)))
        if lemma in coverage.SEND_VERBS:
            sends = self._sending(lemma, refs)
            if sends or lemma != "write":
                return sends
        if lemma == "post" or (lemma in {"announce", "publish"} and _in_chat(refs)):
            return self._posting(refs)
        if lemma == "share" and (medium := self._medium(at, end)):
            return medium
        if lemma in {"switch", "checkout"} and not refs.paths:
            return _branching(refs)
        if lemma == "tag":
            return _tagging(refs)
        return self._acting(lemma, refs)

    def _medium(self, at: int, end: int) -> tuple[str, ...]:
        """Return what "share it with bob@x.example by email" is: a send, when the words say through what."""
        for place in range(at + 1, end):
            if self.tokens[place - 1].low in {"by", "via", "over", "through"}:
                found = MEDIA.get(self.words.nouns.get(self.tokens[place].low, self.tokens[place].low))
                if found:
                    return found
        return ()

    def _moves_money(self, lemma: str, refs: References) -> bool:
        if lemma not in {"send", "transfer", "wire", "refund", "pay", "donate", "tip", "reimburse", "give", "return"}:
            return False
        if lemma in {"give", "return"}:
            left = {word.lower() for role, word in refs.words if role is Role.OBJECT} | set(refs.nouns)
            back = LEFT_OVER if lemma == "return" or "back" in left else frozenset()
            return bool(refs.amounts or left & (coverage.MONEY_NOUNS | back)) and "access" not in left
        if lemma in {"pay", "donate", "tip", "wire", "reimburse", "refund"}:
            return True
        account = any(_ACCOUNT.fullmatch(party) for _, party in refs.parties)
        if account and not refs.amounts:
            refs.amounts += [word for role, word in refs.words if role is Role.OBJECT and word.isdigit()][:1]
        return account or bool(refs.amounts) or any(noun in coverage.MONEY_NOUNS for noun in refs.nouns)

    def _sending(self, lemma: str, refs: References) -> tuple[str, ...]:
        reached = [party for role, party in refs.parties if role in REACHED]
        named = [name for role, name in refs.names if role in REACHED]
        if (
            lemma == "write"
            and not ((reached or named) and not _written(refs))
            and not (set(refs.nouns) & MESSAGE_NOUNS and not refs.paths)
        ):
            return ()
        if lemma in {"reply", "answer", "respond"} and any(name.startswith(("issue:", "pr:")) for name in refs.objects):
            return ("comment.create",)
        if lemma in {"reply", "answer", "respond"} and not (reached or named or refs.nouns or refs.pronoun):
            addressed = refs.universal or any(role is Role.TO for role, _ in refs.words)
            return coverage.SENDING if addressed else ()
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
        if addressed and coverage.MEDIUM_OF.get(lemma) != "email.send":
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
        return tuple(named) or ("chat.send", "social.publish")

    def _acting(self, lemma: str, refs: References) -> tuple[str, ...]:
        if lemma == "make" and any(word.lower() in {"public", "private", "visible"} for _, word in refs.words):
            return ("file.share",)
        filed = lemma in FILED and any(role in (Role.TO, Role.INSIDE) for role, _ in refs.words)
        said = lemma not in {"remember", "memorize"} and not filed and _only_words(refs)
        if said or (lemma == "forget" and refs.pronoun):
            return ()
        if _edits_content(lemma, refs):
            return ("file.write",)
        chosen = self._named(lemma, refs) or self._unnamed(lemma, refs)
        if "file.write" in chosen and lemma in FILING and _bare_file(refs):
            chosen.append("drive.write")  # a file without a folder may be one in the drive, and is bound by its name
        met = refs.parties or any(role is Role.WITH for role, _ in refs.names)
        events = {name for name in chosen if name.startswith("calendar.")} - {"calendar.delete", "calendar.share"}
        if met and events:
            chosen.append("calendar.invite")
        return tuple(dict.fromkeys(chosen))

    def _named(self, lemma: str, refs: References) -> list[str]:
        """Return what the place, the noun and the paths of a clause name with its verb."""
        placed = [name for place in refs.places for name in coverage.BY_PLACE.get((lemma, place), ())]
        named = _noun_capabilities(lemma, refs, None)
        if lemma == "write":
            named = [name for name in named if coverage.risk_of(name, lemma) is not Risk.COMMUNICATION]
        chosen = _here([*placed, *named], refs)
        filed = any(name.startswith(("file.", "folder.", "drive.", "media.", "database.", "git.")) for name in chosen)
        if refs.paths and not filed:
            chosen += self._on_paths(lemma, refs)
        return chosen

    def _unnamed(self, lemma: str, refs: References) -> list[str]:
        """Return what a verb asks for whose object the table does not know."""
        if not refs.paths:
            family = coverage.by_family(lemma, refs.nouns)
            if family:
                return list(family)
            if lemma in THINGS_ONLY and not (refs.parties or refs.names):
                return []
        chosen = list(coverage.ALONE.get(lemma, ()))
        head = refs.nouns[0] if refs.nouns else _last_word(refs)
        return chosen if refs.paths else [*chosen, *coverage.inferred_for(lemma, head)]

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
        if lemma == "format":
            return ("lint.run", "file.write")
        return ("file.write",) if lemma in {"make", "apply", "write", "insert", "set"} else ()

    def _running(self, lemma: str, refs: References, at: int, end: int) -> tuple[str, ...]:
        if not refs.commands:
            command = self._command(at, end)
            if command:
                refs.commands.append(command)
        if refs.commands:
            return ("shell.exec",)
        named = _here([name for noun in refs.nouns[:1] for name in coverage.by_noun(lemma, noun)], refs)
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
        if at >= end or self.tokens[at].low not in PROGRAMS:
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


def _here(names: Sequence[str], refs: References) -> list[str]:
    """Return the candidates without those of another place: a named path is here, a branch without a host is here."""
    if refs.paths and "drive" not in refs.places:
        here = (name for name in names if not name.startswith("drive."))
        return [name for name in here if coverage.risk_of(name, "") not in (Risk.EXTERNAL_WRITE, Risk.COMMUNICATION)]
    if any(not name.startswith("cloud.") for name in names) and not set(refs.nouns) & CLOUDY:
        names = [name for name in names if not name.startswith("cloud.")]
    hosted = "repo" in refs.places or bool(set(refs.nouns) & HOSTED)
    return [name for name in names if hosted or not name.startswith("repo.")]


def _bare_file(refs: References) -> bool:
    """Whether every file that is named is a bare name: "a new file named 'plan.docx'"."""
    return bool(refs.paths) and all(
        role in REACHED and not known and "/" not in text and has_ending(text) for role, text, known in refs.paths
    )


def _in_chat(refs: References) -> bool:
    return "slack" in refs.places or any(party.startswith("#") for _, party in refs.parties)


def _branching(refs: References) -> tuple[str, ...]:
    """Return what "switch to develop", "switch to the branch feature/x" asks for; nothing where no branch is named."""
    if not refs.objects:
        refs.objects += [found for found in push_targets(refs) if found.startswith("branch:")]
    return ("git.branch",) if any(name.startswith("branch:") for name in refs.objects) or "branch" in refs.nouns else ()


def _tagging(refs: References) -> tuple[str, ...]:
    """Return what "tag this commit v1.2.0" asks for; nothing where no version is named: "tag the photo"."""
    commits = bool(
        {"commit", "release", "version", "branch", "repo"} & {*refs.nouns, *(word.lower() for _, word in refs.words)}
    )
    refs.objects += [
        f"tag:{word}" for _, word in refs.words if _VERSION.fullmatch(word) or (commits and word[-1:].isdigit())
    ][:1]
    return ("git.branch",) if any(name.startswith("tag:") for name in refs.objects) else ()


def _noun_capabilities(lemma: str, refs: References, risk: Risk | None) -> list[str]:
    """Return the capabilities of the verb and the first noun of its object that the table knows."""
    for noun in refs.nouns:
        names = [
            name for name in coverage.by_noun(lemma, noun) if risk is None or coverage.risk_of(name, lemma) is risk
        ]
        if names:
            return names
    return []


def _is_file(refs: References) -> bool:
    return any(has_ending(text) for _, text, _ in refs.paths)


def _edits_content(lemma: str, refs: References) -> bool:
    """Whether a part of a named file goes, not the file: "remove the typo from a.md"."""
    part = bool(refs.nouns) and refs.nouns[0] in coverage.CONTENT_NOUNS
    part = part or points(refs)
    return lemma in {"delete", "remove", "clear", "clean"} and part and _is_file(refs)


FILED = frozenset({"write", "save", "put", "store", "export"})
"""Verbs that with a destination ask for a file, whatever is written: "write a haiku into a file"."""


def _only_words(refs: References) -> bool:
    """Whether the clause is about the answer itself: "change the tone of your answer"."""
    if refs.paths or refs.parties or refs.objects or refs.places:
        return False
    spoken = {word.lower() for role, word in refs.words if role in (Role.OBJECT, Role.OF, Role.SOURCE)} | set(
        refs.nouns
    )
    return "your" in spoken or bool(spoken & SAYING)


def _written(refs: References) -> bool:
    return any(role in (Role.TO, Role.AS, Role.INSIDE) for role, _, _ in refs.paths)


def _last_word(refs: References) -> str:
    words = [word for role, word in refs.words if role is Role.OBJECT and word.isalpha() and word.lower() not in VAGUE]
    return words[-1].lower() if words else ""
