"""One message to one reading: the public entrance of the language engine (DESIGN 7.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from agentsfence_compiler.language.clauses import Segment, clauses
from agentsfence_compiler.language.coverage import READ_ONLY
from agentsfence_compiler.language.emitting import Found, content_of
from agentsfence_compiler.language.foreign import read_foreign
from agentsfence_compiler.language.hidden import Visible
from agentsfence_compiler.language.languages import languages_in
from agentsfence_compiler.language.limits import continuation, most_sends, only_domains
from agentsfence_compiler.language.openings import Opens
from agentsfence_compiler.language.prohibitions import read_prohibitions
from agentsfence_compiler.language.reading import Clause, Reading, Request
from agentsfence_compiler.language.references import Places
from agentsfence_compiler.language.requests import read_requests
from agentsfence_compiler.language.revocation import revoke
from agentsfence_compiler.language.tokens import Token, tokenize
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Prohibition, Risk

_NOBODY: Mapping[str, str] = MappingProxyType({})


def read(
    instruction: str,
    *,
    home: str | None = None,
    workspace: str | None = None,
    workdir: str | None = None,
    contacts: Mapping[str, str] = _NOBODY,
) -> Reading:
    """Return what a person's words ask for, forbid and limit. Total, linear, the same for the same words."""
    places = Places(home, workspace, workdir, {name.casefold(): address for name, address in contacts.items()})
    seen = Visible(instruction[: LIMITS.message])
    reading = seen.mapped(_read(seen.text, places))
    further = [_read(seen.spaced, places)] if seen.spaced else []
    further += [_read(Visible(part).text, places) for part in _rest(instruction)]
    if not further and len(instruction) <= LIMITS.message:
        return reading
    bans = [ban for one in (reading, *further) for ban in one.prohibitions]
    if len(instruction) > LIMITS.message + _PARTS * _STEP:
        # INVARIANT: a limit is where reading stops, never where protection stops: a ban may stand beyond it.
        quote = instruction[-LIMITS.evidence_words :]
        bans += [Prohibition(what=what, quote=quote) for what in READ_ONLY]
    asks = dict.fromkeys(name for one in (reading, *further) for name in one.requires_approval)
    return replace(reading, prohibitions=_distinct(bans), requires_approval=tuple(asks))


_PARTS = 4
"""How many parts behind the limit of a message are read for what they forbid."""
_OVERLAP = 2_000
_STEP = LIMITS.message - _OVERLAP


def _rest(instruction: str) -> list[str]:
    """Return what stands beyond the limit of a message, in parts that overlap, so that no clause is cut in two."""
    starts = range(LIMITS.message - _OVERLAP, len(instruction), _STEP) if len(instruction) > LIMITS.message else ()
    return [instruction[start : start + LIMITS.message] for start in starts[:_PARTS]]


def _read(text: str, places: Places) -> Reading:
    tokens = tokenize(text)
    segments = clauses(tokens)
    languages = languages_in(text, tokens)
    found = read_requests(text, tokens, segments, places, foreign=bool(languages))
    revoked = revoke(text, tokens, segments, places, found)
    bans = read_prohibitions(text, tokens, segments, places, found, skip=revoked.segments)
    bans.segments |= revoked.segments
    foreign = read_foreign(text, tokens, places, languages)
    requests = _bounded(found.requests, bans.max_amount) + _once(foreign.requests)
    prohibitions = _distinct((*revoked.prohibitions, *bans.prohibitions, *foreign.prohibitions))
    added = None
    if not requests and not prohibitions:
        added = continuation(text, tokens, segments, places)
    return Reading(
        requests=(added,) if added else requests,
        prohibitions=prohibitions,
        only_domains=only_domains(tokens, segments),
        max_external_writes=bans.max_sends if bans.max_sends is not None else most_sends(tokens),
        requires_approval=tuple(dict.fromkeys((*bans.requires_approval, *foreign.requires_approval))),
        clauses=tuple(_clause(tokens, segment, index, found, bans.segments) for index, segment in enumerate(segments)),
        continues=added is not None,
    )


def _distinct(prohibitions: Iterable[Prohibition]) -> tuple[Prohibition, ...]:
    """Return the bans, each once."""
    seen: dict[Prohibition, Prohibition] = {}
    for prohibition in prohibitions:
        seen.setdefault(replace(prohibition, quote=""), prohibition)
    return tuple(seen.values())


def _once(requests: Iterable[Request]) -> tuple[Request, ...]:
    """Return the requests without those that a related language read in the same way."""
    seen: dict[tuple[object, ...], Request] = {}
    for request in requests:
        seen.setdefault((request.start, request.capabilities, request.recipients, request.paths), request)
    return tuple(seen.values())


def _bounded(requests: list[Request], max_amount: str | None) -> tuple[Request, ...]:
    """Return the requests with "don't spend more than $100" on those that pay."""
    if max_amount is None:
        return tuple(requests)
    return tuple(
        replace(request, max_amount=max_amount)
        if Risk.FINANCIAL in request.risks and request.max_amount is None
        else request
        for request in requests
    )


_KINDS = {
    Opens.REQUEST: "remark", Opens.READING: "request", Opens.NEGATION: "remark", Opens.QUESTION: "question",
    Opens.CONDITION: "remark", Opens.REMARK: "remark", Opens.CONTENT: "remark",
}  # fmt: skip


def _clause(tokens: list[Token], segment: Segment, index: int, found: Found, banned: set[int]) -> Clause:
    first, last = content_of(tokens, segment.first, segment.last)
    start, end = tokens[first].start, tokens[last].end
    if index in banned:
        return Clause(start, end, "prohibition")
    if index in found.of_segment:
        return Clause(start, end, "request", ", ".join(found.requests[found.of_segment[index]].capabilities))
    kind = "explanation" if segment.how else _KINDS[segment.opens]
    return Clause(start, end, kind, segment.lemma)
