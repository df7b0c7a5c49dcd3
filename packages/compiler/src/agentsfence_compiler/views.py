"""What people are shown of a compilation: the clauses as they were read, a short name and a short description."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from agentsfence_compiler.language.reading import Reading, Request
from agentsfence_core.classification.vocabulary import vocabulary
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Permission, Risk
from agentsfence_core.ports import RequestView

READ_ONLY = "read_only"
"""Purpose of a task that asks for nothing but reading."""

_VIEWS = 500  # clauses that are shown
_PURPOSE = 60  # characters
_WORD = re.compile(r"[a-z]{2,24}")


_SAY = {
    Risk.LOCAL_WRITE: "name the file or folder",
    Risk.DELETE: "name exactly what is to be deleted",
    Risk.FINANCIAL: "say to whom and how much",
    Risk.PERMISSION_CHANGE: "say whom and what it is about",
}
"""What to write so that nothing is asked, per class."""


def request_views(reading: Reading, instruction: str, rows: Iterable[Permission] = ()) -> tuple[RequestView, ...]:
    """Return the clauses in order; a request with what it became and how to word it so that nothing is asked."""
    asked = {request.start: request for request in reading.requests}
    by_quote: dict[str, list[Permission]] = {}
    for row in rows:
        by_quote.setdefault(row.evidence, []).append(row)
    views: list[RequestView] = []
    for clause in reading.clauses[:_VIEWS]:
        request = asked.pop(clause.start, None)
        quote = instruction[clause.start : clause.end][: LIMITS.evidence_words]
        views.append(_view(quote, "request", request, by_quote) if request else RequestView(quote, clause.kind))
    views += [_view(request.quote, "request", request, by_quote) for request in list(asked.values())[:_VIEWS]]
    return tuple(views)


def _view(quote: str, kind: str, request: Request, rows: Mapping[str, list[Permission]]) -> RequestView:
    note = asks_about(rows.get(request.quote, ()))
    return RequestView(quote[: LIMITS.evidence_words], kind, *_became(request), note)


def asks_about(rows: Iterable[Permission]) -> str:
    """Return what the person will be asked about under the rows of a request, and how to say it; nothing if nothing."""
    table = vocabulary()
    found: dict[str, None] = {}
    for row in rows:
        risk = table.risk_of(row.capability)
        if row.needs_approval:
            found[f"you will be asked before {row.capability}: {_SAY.get(risk, 'name the target')}" if risk else ""] = (
                None
            )
        elif risk is Risk.COMMUNICATION and not row.recipients:
            found[f"you will be asked whom {row.capability} reaches: write the address"] = None
    return "; ".join(note for note in found if note)[: LIMITS.evidence_words]


def _became(request: Request) -> tuple[tuple[str, ...], tuple[str, ...]]:
    targets = (
        *request.recipients,
        *request.names,
        *request.domains,
        *request.paths,
        *request.objects,
        *request.commands,
    )
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
    return "_".join(dict.fromkeys(parts))[:_PURPOSE].strip("_") or READ_ONLY


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
