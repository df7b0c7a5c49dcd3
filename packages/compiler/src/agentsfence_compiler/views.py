"""What people are shown of a compilation: the clauses as they were read, a short name and a short description."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agentsfence_compiler.language.reading import Reading, Request
from agentsfence_core.classification.vocabulary import vocabulary
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Permission, Risk
from agentsfence_core.ports import RequestView

_VIEWS = 500  # clauses that are shown
_PURPOSE = 60  # characters
_WORD = re.compile(r"[a-z]{2,24}")


def request_views(reading: Reading, instruction: str) -> tuple[RequestView, ...]:
    """Return every clause in reading order, a request with what it became."""
    asked = {request.start: request for request in reading.requests}
    views = [
        RequestView(
            instruction[clause.start : clause.end][: LIMITS.evidence_words],
            clause.kind,
            *_became(asked.pop(clause.start, None)),
            clause.note,
        )
        for clause in reading.clauses[:_VIEWS]
    ]
    views += [
        RequestView(request.quote[: LIMITS.evidence_words], "request", *_became(request))
        for request in list(asked.values())[:_VIEWS]
    ]
    return tuple(views)


def _became(request: Request | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if request is None:
        return (), ()
    targets = (*request.recipients, *request.domains, *request.paths, *request.objects, *request.commands)
    return request.capabilities, (*targets, *(f"{name}: {value}" for name, value in request.values.items()))


def purpose_of(requests: Iterable[Request], *, said: str = "") -> str:
    """Return a task's short name in snake case: verbs and nouns of the table alone, never a name or an address."""
    if said:
        words = _WORD.findall(said.lower().replace("@", " @ "))
        return "_".join(words)[:_PURPOSE].strip("_")
    nouns = {noun for entry in vocabulary().capabilities.values() for noun in entry.nouns if noun != "-"}
    parts: list[str] = []
    ranked = sorted(requests, key=lambda request: request.risks == {Risk.READ})[:2]
    for request in ranked:
        named = [word for word in _WORD.findall(request.quote[:400].lower()) if word in nouns and word != request.verb]
        parts += [*_WORD.findall(request.verb.lower()), *named[:2]]
    return "_".join(dict.fromkeys(parts))[:_PURPOSE].strip("_") or "read_only"


def summary_of(rows: Iterable[Permission]) -> str:
    """Return what a task may do in one line: what its capabilities do, and to whom or what."""
    table = vocabulary().capabilities
    parts: dict[str, None] = {}
    for row in rows:
        entry = table.get(row.capability)
        targets = ", ".join((*row.recipients, *row.paths, *row.objects)[:3])
        does = entry.does if entry else row.capability
        parts[f"{does}: {targets}" if targets else does] = None
        if len(parts) == 4:
            break
    return "; ".join(parts)[: LIMITS.evidence_words] or "Reading only."
