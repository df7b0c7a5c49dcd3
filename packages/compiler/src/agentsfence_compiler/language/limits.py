"""What a message bounds over the whole task, and turns that only add to the newest request (DESIGN 7.2, 7.8)."""

from __future__ import annotations

from collections.abc import Sequence

from agentsfence_compiler.language.clauses import Segment
from agentsfence_compiler.language.lexicon import english
from agentsfence_compiler.language.openings import LITERALS, Opens, word_at
from agentsfence_compiler.language.reading import Request
from agentsfence_compiler.language.references import Places, Role, Scanner
from agentsfence_compiler.language.tokens import Kind, Token

_SENT = frozenset({"email", "mail", "message", "post", "reply", "sms", "text", "call"})
_USING = frozenset(
    {
        "use",
        "visit",
        "browse",
        "search",
        "consult",
        "check",
        "read",
        "open",
        "stick",
        "look",
        "query",
        "access",
        "fetch",
        "trust",
        "stay",
        "restrict",
        "limit",
    }
)
_OPENERS = frozenset(
    "also too and plus additionally instead sorry oops correction no wait i only just ok please actually".split()
)
_MARKS = frozenset("also too and plus additionally instead meant mean only correction sorry oops".split())
_CLOSERS = frozenset({"instead", "too", "well", "rather"})
_REPLACING = frozenset({"instead", "meant", "mean", "correction", "sorry", "oops", "only"})
_BESIDE = (
    _OPENERS
    | _CLOSERS
    | _MARKS
    | frozenset("to with cc bcc the file folder in for thanks thx of but as or at on please".split())
)
"""Words around the targets of a turn that only adds."""
_SHORT = 16  # tokens of a turn that only adds to the one before


def only_domains(tokens: Sequence[Token], segments: Sequence[Segment]) -> tuple[str, ...]:
    """Return the hosts of "only use docs.example.com": the words that bound where the task may go."""
    words = english()
    hosts: list[str] = []
    for segment in segments:
        if segment.opens in (Opens.NEGATION, Opens.CONTENT, Opens.QUESTION):
            continue
        span = tokens[segment.first : segment.last]
        if not any(t.kind in (Kind.HOST, Kind.URL) for t in span):
            continue
        only = segment.only or any(
            t.low in words.sets["only_marks"] or t.low in {"stick", "restrict", "limit", "stay"} for t in span
        )
        using = segment.lemma in _USING or any(t.low in {"stick", "restrict", "limit", "stay"} for t in span)
        if only and using:
            refs = Scanner(tokens, words, Places(), sends=False).scan(segment.first, segment.last)
            hosts += [host for role, host in refs.hosts if role is not Role.EXCEPT]
    return tuple(dict.fromkeys(hosts))


def most_sends(tokens: Sequence[Token]) -> int | None:
    """Return the bound of "at most three mails", "no more than 2 messages"."""
    words = english()
    for place in range(len(tokens) - 2):
        low = tokens[place].low
        two = word_at(tokens, place + 1, words)
        if (low == "at" and two == "most") or (low == "up" and two == "to"):
            at = place + 2
        elif low == "no" and two == "more" and word_at(tokens, place + 2, words) == "than":
            at = place + 3
        elif low in {"maximum", "max"}:
            at = place + 1 + (two == "of")
        else:
            continue
        if at + 1 >= len(tokens):
            continue
        number = tokens[at].value if tokens[at].kind is Kind.NUMBER else words.maps["counts"].get(tokens[at].low, "")
        if number.isdigit() and words.nouns.get(tokens[at + 1].low, "") in _SENT:
            return int(number)
    return None


def continuation(text: str, tokens: Sequence[Token], segments: Sequence[Segment], places: Places) -> Request | None:
    """Return what a verbless turn adds to the newest request: "also to carol@x.example", "b.md instead"."""
    if (
        not tokens
        or len(tokens) > _SHORT
        or any(s.opens in (Opens.QUESTION, Opens.NEGATION, Opens.READING) for s in segments)
        or any(s.opens is Opens.CONTENT for s in segments[1:] if not _only_opens(tokens, s.first))
    ):
        return None
    lows = {t.low for t in tokens}
    if not any(t.kind in LITERALS for t in tokens) or not _adds(tokens) or not _nothing_else(tokens):
        return None
    first = next(
        (k for k, token in enumerate(tokens) if token.low not in _OPENERS and token.low not in {":", ",", "-"}), 0
    )
    refs = Scanner(tokens, english(), places, sends=True).scan(first, len(tokens))
    left_out = (Role.SOURCE, Role.EXCEPT, Role.OF)
    recipients = tuple(dict.fromkeys(p for role, p in refs.parties if role not in left_out))
    paths = [path for role, path_text, _ in refs.paths if role not in left_out and (path := places.path(path_text))]
    if not recipients and not paths:
        return None
    start, end = tokens[0].start, tokens[-1].end
    recipients = tuple(dict.fromkeys(p for role, p in refs.parties if role not in (Role.SOURCE, Role.EXCEPT)))
    paths = [path for role, path_text, _ in refs.paths if role is not Role.EXCEPT and (path := places.path(path_text))]
    if not recipients and not paths:
        return None
    return Request(
        start,
        end,
        text[start:end],
        "",
        (),
        frozenset(),
        recipients=recipients,
        paths=tuple(paths),
        instead=bool(lows & _REPLACING),
    )


def _nothing_else(tokens: Sequence[Token]) -> bool:
    """Whether nothing stands beside the targets but words that add: "eve@x.example too?" asks, and adds nobody."""
    return all(
        token.kind in LITERALS
        or token.kind in (Kind.SOFT, Kind.BREAK)
        or (token.kind is Kind.PUNCT and token.low not in {"?", "\u061f"})
        or (token.kind is Kind.WORD and token.low in _BESIDE)
        for token in tokens
    )


def _only_opens(tokens: Sequence[Token], end: int) -> bool:
    """Whether nothing stands before a colon but what opens an addition: "too: #ops"."""
    return all(token.low in _OPENERS or token.kind is Kind.PUNCT for token in tokens[:end])


def _adds(tokens: Sequence[Token]) -> bool:
    """Whether a turn opens or ends like an addition: "also …", "sorry, I meant …", "… instead"."""
    words = [t.low for t in tokens if t.kind is not Kind.PUNCT]
    closes = [low for low in words if low not in {"please", "thanks"}][-1:]
    return bool(set(closes) & _CLOSERS) or (words[0] in _OPENERS and bool(_MARKS & set(words)))
