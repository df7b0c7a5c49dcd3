"""One message to one reading: the public entrance of the language engine (DESIGN 7.2)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from agentsfence_core.limits import LIMITS

from agentsfence_compiler.language.clauses import Opens, Segment, clauses
from agentsfence_compiler.language.prohibitions import read_prohibitions
from agentsfence_compiler.language.reading import Clause, Reading
from agentsfence_compiler.language.references import Places
from agentsfence_compiler.language.requests import Found, read_requests
from agentsfence_compiler.language.tokens import Token, tokenize

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
    text = instruction[: LIMITS.message]
    places = Places(home, workspace, workdir, {name.casefold(): address for name, address in contacts.items()})
    tokens = tokenize(text)
    segments = clauses(tokens)
    found = read_requests(text, tokens, segments, places)
    bans = read_prohibitions(text, tokens, segments, places, found)
    return Reading(
        requests=tuple(found.requests),
        prohibitions=tuple(bans.prohibitions),
        requires_approval=tuple(bans.requires_approval),
        clauses=tuple(_clause(text, tokens, segment, index, found, bans.segments) for index, segment in enumerate(segments)),
    )


_KINDS = {
    Opens.REQUEST: "remark", Opens.READING: "request", Opens.NEGATION: "remark", Opens.QUESTION: "question",
    Opens.CONDITION: "remark", Opens.REMARK: "remark", Opens.CONTENT: "remark",
}  # fmt: skip


def _clause(text: str, tokens: list[Token], segment: Segment, index: int, found: Found, banned: set[int]) -> Clause:
    start = tokens[segment.first].start
    end = tokens[segment.last - 1].end
    if index in banned:
        return Clause(start, end, "prohibition")
    if index in found.of_segment:
        return Clause(start, end, "request", ", ".join(found.requests[found.of_segment[index]].capabilities))
    kind = "explanation" if segment.how else _KINDS[segment.opens]
    return Clause(start, end, kind, segment.lemma)
