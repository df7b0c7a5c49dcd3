"""The targets that a clause names, each with the role that its preposition gives it (DESIGN 7.2, 7.5).

Rules of this file:

* Only literals: an address, a path, a host, a quoted or proper name, an amount. What is described binds nothing.
* A sender, a source and an exception are never targets of the request; roots and home folders never are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentsfence_compiler.language.asides import Asides
from agentsfence_compiler.language.lexicon import English
from agentsfence_compiler.language.names import NAME_WORDS
from agentsfence_compiler.language.openings import phrase_at, word_at
from agentsfence_compiler.language.tables import (
    CODED,
    DEFINITE,
    EVERY,
    FIELDS,
    IDENTIFIED,
    MEASURES,
    NUMBERED,
    OBJECT_NOUNS,
    PACKAGE_NOUNS,
    ROLES,
)
from agentsfence_compiler.language.targets import Places, References, Role, bound_name, canonical_party, is_template
from agentsfence_compiler.language.tokens import FILE_ENDINGS, Kind, Token, amount_of
from agentsfence_core.classification.targets.hosts import canonical_host, read_url
from agentsfence_core.classification.targets.paths import canonical_path
from agentsfence_core.limits import LIMITS

_NOUNS = 40  # nouns looked at in one clause


_MOST = 1_000  # things that a count may name
_CODE = re.compile(r"[A-Za-z]{0,12}[-_]?\d[A-Za-z0-9_-]{0,60}")
"""What identifies a file or a task in a service: "file f7", "document D-12"."""
_THROUGH = frozenset("via by on through over using in as please with".split())
_ASKED = frozenset({"what", "which", "who", "where", "how", "why"})
"""Words that begin an indirect question, behind which a recipient may still come: "send what he said to bob@x"."""


class Scanner(Asides):
    """Reads the references of one clause, token by token."""

    def __init__(
        self,
        tokens: Sequence[Token],
        words: English,
        places: Places,
        *,
        sends: bool,
        plain: bool = False,
        lemma: str = "",
        bans: bool = False,
    ) -> None:
        """Prepare for a clause; ``sends`` says that its object is somebody, ``plain`` that its words are names.

        With ``bans``, what is told beside counts too: a ban is read as wide as it can be meant.
        """
        self.bans = bans
        self.tokens = tokens
        self.words = words
        self.at_home = places
        self.sends = sends
        self.plain = plain
        self.lemma = lemma
        self.spoken = False
        """Whether what follows is what somebody says, not what is asked about."""
        self.start = 0
        self.named_directly = lemma not in {
            "send",
            "forward",
            "create",
            "add",
            "post",
            "share",
            "give",
            "set",
            "schedule",
            "book",
            "plan",
            "make",
        }
        self.found = References()
        self.role = Role.OBJECT
        self.first_phrase = True
        """Whether the direct object is still being read."""

    def scan(self, at: int, end: int) -> References:
        """Return what the tokens ``[at, end)`` name."""
        start = self.start = at
        while at < end:
            at = max(at + 1, self._token(at, end, start))
        return self.found

    def _token(self, at: int, end: int, start: int) -> int:
        token = self.tokens[at]
        if at < self.over and not phrase_at(self.tokens, at, end, self.words.phrases["exceptions"], self.words):
            return at + 1
        over = self._beside(at, end)
        if over:
            self.over = over
            return at + 1
        self.over = -1
        if token.kind is Kind.WORD:
            return self._word(at, end, start)
        if token.kind is Kind.PATH:
            return self._path(at, end)
        if token.kind in (Kind.ADDRESS, Kind.PARTY):
            if not (self._is_subject(at, end) or self._possessive(at, end)):
                self._party(token)
        elif token.kind is Kind.PUNCT:
            self._mark(at, token)
        else:
            self._literal(at, end, token)
        return at + 1

    def _mark(self, at: int, token: Token) -> None:
        if token.low in ROLES:
            self.role, self.first_phrase = ROLES[token.low], False
        elif token.low == ":" and not (at > self.start and word_at(self.tokens, at - 1, self.words) in FIELDS):
            self._close()
            self.spoken = True

    def _literal(self, at: int, end: int, token: Token) -> None:
        found = self.found
        if token.kind in (Kind.URL, Kind.HOST):
            self._host(token)
        elif token.kind is Kind.SLASHED:
            found.slashed.append((self.role, token.value))
        elif token.kind is Kind.MONEY:
            found.amounts.append(token.value)
        elif token.kind is Kind.NUMBER:
            self._number(at, end)
        elif token.kind is Kind.REFERENCE:
            self._object_at(at, token.value.lstrip("#"), numbered=True)
        elif token.kind is Kind.CODE:
            self._code(at, token)
        elif token.kind is Kind.QUOTED:
            self._quoted(at, token)

    # -- words

    def _word(self, at: int, end: int, start: int) -> int:
        words, found = self.words, self.found
        low = word_at(self.tokens, at, words)
        except_words = phrase_at(self.tokens, at, end, words.phrases["exceptions"], words)
        if except_words:
            self.role, self.first_phrase = Role.EXCEPT, False
            return at + except_words
        harmless = phrase_at(self.tokens, at, end, words.phrases["harmless_conditions"], words)
        if harmless:
            return at + harmless
        if self._relates(at, end):
            self._close()
            return at + 1
        if low in ROLES:
            return self._preposition(low, at, end)
        if self._marks(low, at):
            return at + 1
        self._quantify(low, at, end)
        folder = self._folder(low, at)
        if folder:
            found.paths.append((self.role, folder, True))
            return at + 1
        unit = words.maps["units"].get(low)
        if unit and at > start and self.tokens[at - 1].kind is Kind.NUMBER:
            found.amounts.append(amount_of(self.tokens[at - 1].low))
            return at + 1
        return self._noun_or_name(low, at, end, start)

    def _quantify(self, low: str, at: int, end: int) -> None:
        """Note what a word says about how many, which, and whose."""
        words, found = self.words, self.found
        if low in words.sets["universal"]:
            found.every = low in EVERY and (found.every or not found.universal)
            found.universal = found.universal or (self.first_phrase or self.role is Role.TO)
        if low in words.sets["pronouns"] and self.first_phrase:
            found.pronoun = True
        if low in words.sets["first_person"] and (at == self.start or self.role is Role.TO):
            found.to_me = True
        if low in words.maps["counts"]:
            self._count(at, end, words.maps["counts"][low])
        if low in DEFINITE and self.first_phrase and not found.nouns:
            found.definite = True

    def _count(self, at: int, end: int, digits: str) -> None:
        """Note how many things the object is: "an event", "bob@x.example two mails"; not "4 hours"."""
        before = self.tokens[at - 1]
        opens = (
            at == self.start or before.kind in (Kind.ADDRESS, Kind.PARTY) or before.low in self.words.sets["pronouns"]
        )
        opens = opens or (bool(self.found.names) and self.found.names[-1][1].lower().endswith(before.low))
        following = word_at(self.tokens, at + 1, self.words) if at + 1 < end else ""
        if (
            opens
            and self.first_phrase
            and self.found.count is None
            and following
            and following not in MEASURES | self.words.sets["prepositions"]
            and digits.isdigit()
        ):
            self.found.count = int(digits) if 0 < int(digits) <= _MOST else None

    def _marks(self, low: str, at: int) -> bool:
        """Note the words that say how the clause is meant; whether the word was one of them."""
        found, sets = self.found, self.words.sets
        if low in {"if", "unless"}:
            found.conditional = True
            self._close()
        elif low == "instead":
            found.instead = True
        elif low in sets["only_marks"]:
            found.only = True
        elif low in sets["else_words"]:
            found.otherwise = True
        elif low in sets["content_marks"] and not (low == "that" and self._stands_alone(at)):
            self._close()
            relative = low == "that" and word_at(self.tokens, at + 1, self.words) in {"is", "are", "was", "were"}
            self.spoken = self.spoken or (low not in _ASKED and not relative)
        elif low in {"because", "since", "so", "before", "after", "until", "while"}:
            self.role, self.first_phrase = Role.TOPIC, False
        else:
            return False
        return True

    def _stands_alone(self, at: int) -> bool:
        """Whether "that" is a pronoun: "send that to bob", "with that"; else a relative clause begins."""
        before = word_at(self.tokens, at - 1, self.words)
        return at == self.start or (before in ROLES and before != "saying")

    def _preposition(self, low: str, at: int, end: int) -> int:
        words = self.words
        if self.owed and low in {"to", "with", "into", "from"}:
            self.owed, self.role, self.first_phrase = False, Role.TOPIC, False
            return at + 1
        if low == "as" and word_at(self.tokens, at + 1, words) == "well":
            return at + 3  # "alice as well as bob"
        following = words.forms.get(word_at(self.tokens, at + 1, words)) if at + 1 < end else None
        if low == "to" and following is not None and following.base and not self._noun_after(at + 1, end):
            self._close()
            return at + 2
        if low == "to" and self._reopens(at + 1, end):
            self.found.closed = False
        if low in {"about", "regarding", "concerning", "saying"} and self._has_party():
            self._close()
        if low == "to" and self.lemma == "switch":
            self.role, self.first_phrase = Role.OBJECT, True
            return at + 1
        self.role, self.first_phrase = ROLES[low], low in {"called", "named"} and self.first_phrase
        return at + 1

    def _reopens(self, at: int, end: int) -> bool:
        """Whether the recipient comes last: "send information about what they serve to Bob via direct message"."""
        if not self.found.closed or self.spoken or not self.sends or self._has_party() or at >= end:
            return False
        place = at + 1
        if self.tokens[at].kind is Kind.WORD:
            if not self.tokens[at].value[:1].isupper():
                return False
            place = at + self._name_length(at, end)
        elif self.tokens[at].kind not in (Kind.ADDRESS, Kind.PARTY):
            return False
        following = word_at(self.tokens, place, self.words) if place < end else ""
        return not following or following in _THROUGH or self.tokens[place].kind is Kind.PUNCT

    def _noun_after(self, at: int, end: int) -> bool:
        """Whether the word after "to" is a noun: "to support", "to order 7"."""
        low = word_at(self.tokens, at, self.words)
        return (
            low in self.words.sets["nouns_too"]
            and (at + 1 >= end or self.tokens[at + 1].kind is Kind.PUNCT)
            and low in self.words.nouns
        )

    def _close(self) -> None:
        self.found.closed = True
        self.role, self.first_phrase = Role.TOPIC, False

    def _has_party(self) -> bool:
        return bool(self.found.parties or self.found.names)

    def _folder(self, low: str, at: int) -> str:
        """Return a known folder: "my Downloads", "the Desktop", "Documents folder"."""
        known = self.words.maps["folders"]
        following = word_at(self.tokens, at + 1, self.words)
        path = known.get(f"{low} {following}" if following in {"folder", "directory"} else "", "")
        before = word_at(self.tokens, at - 1, self.words)
        if not path and before in {"my", "the"}:
            path = (
                known.get(f"my {low}", "")
                if before == "my" or following in {"folder", "directory"} or self.tokens[at].value[:1].isupper()
                else ""
            )
        if not path and (self.tokens[at].value[:1].isupper() or following in {"folder", "directory"}):
            path = known.get(low, "")
        return path

    def _noun_or_name(self, low: str, at: int, end: int, start: int) -> int:
        if word_at(self.tokens, at - 1, self.words) in {"named", "called"} and self._object_at(
            at, self.tokens[at].value, numbered=False
        ):
            return at + 1
        noun, size = self._noun(low, at, end)
        if noun and not (self.plain and self.role is Role.OBJECT and noun not in PACKAGE_NOUNS):
            return self._note_noun(noun, low, at, size)
        name, size = self._name(at, end, start)
        if name:
            self.found.names.append((self.role, name))
            return at + size
        self.found.words.append((self.role, self.tokens[at].value))
        return at + 1

    def _noun(self, low: str, at: int, end: int) -> tuple[str, int]:
        nouns = self.words.nouns
        if low in self.words.noun_starts:
            for size in (4, 3, 2):
                if at + size <= end:
                    noun = nouns.get(" ".join(word_at(self.tokens, at + k, self.words) for k in range(size)))
                    if noun:
                        return noun, size
        noun = nouns.get(low, "")
        return (noun, 1) if noun else ("", 0)

    def _note_noun(self, noun: str, low: str, at: int, size: int) -> int:
        found = self.found
        if len(found.nouns) + len(found.places) < _NOUNS:
            if self.first_phrase or (self.role is Role.AS and not found.nouns):
                found.nouns.insert(0, noun)
                found.plural = low != noun and low.endswith("s")
            place = self.words.maps["places"].get(noun, "")
            if place and (not self.first_phrase or place in {"slack", "drive"}):
                found.places.append(place)
        self._identifier(noun, at, size)
        return at + size

    def _identifier(self, noun: str, at: int, size: int) -> None:
        """Note "order 7", "branch feature-x": a name right behind its noun."""
        if at + size >= len(self.tokens):
            return
        token = self.tokens[at + size]
        kind = OBJECT_NOUNS.get(noun)
        if (
            (kind and noun in NUMBERED and token.kind is Kind.NUMBER)
            or (
                kind
                and noun in IDENTIFIED
                and token.kind in (Kind.WORD, Kind.SLASHED)
                and self._identifying(token, noun)
            )
            or (kind and noun in CODED and token.kind is Kind.WORD and _CODE.fullmatch(token.value))
        ):
            self._add_object(kind, token.value)
            if noun in CODED:
                self._add_object("id", token.value)

    def _identifying(self, token: Token, noun: str) -> bool:
        sets = self.words.sets
        if any(c in token.value for c in "-_./0123456789"):
            return True
        plain = (
            token.low not in sets["prepositions"]
            and token.low not in sets["determiners"]
            and token.low not in self.words.forms
        )
        return (
            plain
            and noun in {"branch", "tag", "table", "remote"}
            and token.low not in self.words.nouns
            and token.low not in {"please", "called", "named", "instead", "now"}
        )

    # -- literals

    def _party(self, token: Token) -> None:
        if self.found.closed or len(self.found.parties) >= LIMITS.targets:
            return
        self.found.parties.append((self.role, canonical_party(token)))

    def _path(self, at: int, end: int) -> int:
        """Note a path; words up to one with an ending belong to it: ``/srv/w/my notes.md``."""
        token = self.tokens[at]
        text, size = token.value, 1
        if (
            "/" not in text
            and text.startswith((".", "*"))
            and (text.startswith("*.") or self._kind_of_file(at + 1, end))
        ):
            # "all .tmp files": a kind of file, not a file
            self.found.endings += [text.lstrip("*")] if self.role is Role.OBJECT and self.first_phrase else []
            return at + 1
        if not token.quoted and "/" in text and "." not in text.rpartition("/")[2]:
            size = self._spaced(at, end)
            text = self._text(at, at + size)
        if token.quoted and is_template(text):
            return at + size
        if len(self.found.paths) < LIMITS.targets:
            self.found.paths.append((self.role, text, False))
        return at + size

    def _kind_of_file(self, at: int, end: int) -> bool:
        """Whether ".log" is a kind of file: "the .log files", "the .log and .tmp files"."""
        while at + 1 < end and self.tokens[at].low in {"and", "or", ","}:
            if self.tokens[at + 1].kind is not Kind.PATH or not self.tokens[at + 1].value.startswith((".", "*")):
                return False
            at += 2
        return at < end and word_at(self.tokens, at, self.words) in self.words.nouns

    def _spaced(self, at: int, end: int) -> int:
        stops = self.words.sets["prepositions"]
        for size in range(2, 6):
            if at + size > end:
                break
            token = self.tokens[at + size - 1]
            if (
                token.kind is Kind.PATH
                and not token.quoted
                and "/" not in token.value
                and token.value.rpartition(".")[2].lower() in FILE_ENDINGS
            ):
                return size
            if token.kind is not Kind.WORD or token.low in stops or token.low in {"please", "then"}:
                break
        return 1

    def _text(self, at: int, end: int) -> str:
        parts = [self.tokens[at].value]
        for place in range(at + 1, end):
            gap = self.tokens[place].start - self.tokens[place - 1].end
            parts.append(" " * min(gap, 3) + self.tokens[place].value)
        return "".join(parts)

    def _host(self, token: Token) -> None:
        url = read_url(token.value) if token.kind is Kind.URL else None
        host = url.host if url is not None else canonical_host(token.value.split("/", 1)[0])
        if host and len(self.found.hosts) < LIMITS.targets:
            self.found.hosts.append((self.role, host))

    def _number(self, at: int, end: int) -> None:
        following = self.tokens[at + 1] if at + 1 < end else None
        if following is not None and following.kind is Kind.WORD and following.low not in self.words.maps["units"]:
            self._count(at, end, self.tokens[at].value)
        if following is None or following.low not in self.words.maps["units"]:
            self.found.words.append((self.role, self.tokens[at].value))

    def _code(self, at: int, token: Token) -> None:
        if " " in token.value or (self.role is Role.OBJECT and self.first_phrase):
            self.found.commands.append(token.value)
        self._object_at(at, token.value, numbered=False)

    def _quoted(self, at: int, token: Token) -> None:
        """Note a quoted name: "the event 'Lunch'", "'random' channel", "called 'Plan'"; other quotes are content."""
        following = word_at(self.tokens, at + 1, self.words)
        before = word_at(self.tokens, at - 1, self.words)
        if "channel" in (following, before) or self.words.maps["places"].get(following) == "slack":
            self.found.parties.append((self.role, token.value))
            return
        if self._object_at(at, token.value, numbered=False):
            return
        if (
            self.sends
            and self.role in (Role.OBJECT, Role.TO, Role.WITH)
            and not self.found.closed
            and len(token.value.split()) <= NAME_WORDS
        ):
            self.found.names.append((self.role, token.value))

    def _object_at(self, at: int, value: str, *, numbered: bool) -> bool:
        """Note a name that stands beside the noun of its kind; whether it does."""
        before = self.words.nouns.get(word_at(self.tokens, at - 1, self.words), "")
        following = self.words.nouns.get(word_at(self.tokens, at + 1, self.words), "")
        if before == "request":
            before = "pull request"
        kind = OBJECT_NOUNS.get(before) or OBJECT_NOUNS.get(following)
        naming = word_at(self.tokens, at - 1, self.words) in {"named", "called", "titled", "entitled"}
        if kind is None and (naming or numbered):
            kind = next(
                (OBJECT_NOUNS[noun] for noun in self.found.nouns if noun in OBJECT_NOUNS),
                "issue" if numbered else "name",
            )
        if kind is None:
            return False
        if naming or self.role in (Role.OBJECT, Role.TO, Role.INSIDE, Role.OF):
            self._add_object(kind, value)
        return True

    def _add_object(self, kind: str, value: str) -> None:
        value = bound_name(value)
        if value and len(self.found.objects) < LIMITS.targets and len(value) <= LIMITS.target_length:
            self.found.objects.append(value if kind == "name" else f"{kind}:{value}")


__all__ = ["Places", "References", "Role", "Scanner", "bound_name", "canonical_party", "canonical_path"]
