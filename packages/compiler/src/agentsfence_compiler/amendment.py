"""A later message of the same person, and a message of somebody else (DESIGN 7.8).

The theorem: a turn without a request never widens. `restrict` and the first half of `amend` only take away; all that
is added comes from rows of the new message's own requests. What "instead" and "only" replace follows from the words
alone (``asked``): a draft that leaves out the new rows does not save the old ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from fnmatch import fnmatchcase

from agentsfence_compiler.assembly import (
    PARTY_CLASSES,
    RiskMap,
    assemble,
    bounds_of,
    denied_by,
    moment,
    risks_of,
    shared,
)
from agentsfence_compiler.language.reading import Envelope, Reading, Request
from agentsfence_compiler.narrowing import aimed, covers, lifted, same, without
from agentsfence_compiler.views import READ_ONLY, purpose_of, summary_of
from agentsfence_core.classification.vocabulary import vocabulary
from agentsfence_core.model import (
    CEILING_OF,
    OUTBOUND,
    Permission,
    PolicySource,
    Prohibition,
    Risk,
    Targets,
    TaskPolicy,
)
from agentsfence_core.model.policy import POLICY_LIFETIME_HOURS

_ROWS = 5_000  # rows of one policy; the newest stay


def amend(
    current: TaskPolicy,
    new: Envelope,
    reading: Reading,
    *,
    now: float,
    inferred: RiskMap | None = None,
    asked: tuple[Permission, ...] | None = None,
) -> TaskPolicy:
    """Return the policy after a later message of the same person: what is newest and explicit wins.

    ``new`` is what a draft has left of the message, ``asked`` all rows that its words carry (default: the same).
    """
    known = {**inferred_classes(current), **(inferred or {})}
    further = continued(current, reading, known)
    added = (*new.permissions, *further)
    spoken = (*(new.permissions if asked is None else asked), *further)
    held = _replaced(without(_held(current), new.prohibitions, known), spoken, reading, known)
    rows = tuple(row for row in held if row.evidence or current.source is PolicySource.MANUAL)
    kept = {(row.capability, row.evidence) for row in added}
    named = [(row, _named(row, reading)) for row in spoken if (row.capability, row.evidence) in kept]
    looks = [(row, row) for row in _looks(reading)]
    bans = (*lifted(current.user_prohibitions, (*named, *looks), known), *new.prohibitions)
    if current.source is PolicySource.MANUAL:
        return _amended_by_hand(current, rows, added, bans, new, now)
    merged = Envelope(
        _unique((*rows, *added))[-_ROWS:],
        _unique_bans(bans),
        new.only_domains or current.allowed_external_domains,
        _budget(current, new, added, known),
        tuple(dict.fromkeys((*current.requires_approval, *new.requires_approval))),
    )
    source = PolicySource.COMPILED if added else current.source
    reads = [name for name in current.allowed_tools if vocabulary().risk_of(name) is Risk.READ]
    policy = assemble(merged, source=source, now=now, inferred=known, reads=reads, bounds=(*held, *spoken))
    return replace(
        policy,
        purpose=purpose_of(reading.requests) if added and current.purpose in {"", READ_ONLY} else current.purpose,
        summary=summary_of(policy.permissions) if source is PolicySource.COMPILED else current.summary,
        grants=current.grants,
        created_at=current.created_at or policy.created_at,
        examples=current.examples,
    )


def _held(current: TaskPolicy) -> tuple[Permission, ...]:
    """Return the rows of a policy, and before them what a compiled one bounds without listing it, without a quote."""
    if current.source is PolicySource.MANUAL:
        return current.permissions
    return (*bounds_of(current), *current.permissions)


def _named(row: Permission, reading: Reading) -> Permission:
    """Return a row with what its request names: the workspace that "fix the bug" is bound to is named by nobody."""
    said = any(request.quote == row.evidence and (request.paths or request.commands) for request in reading.requests)
    return row if said or not row.paths else aimed(row, {"paths": ()})


def restrict(current: TaskPolicy, new: Envelope) -> TaskPolicy:
    """Return the policy after somebody else's message: their bans and limits count, their requests add nothing."""
    known = inferred_classes(current)
    bans = _unique_bans((*current.user_prohibitions, *new.prohibitions, *_unwelcome(current, new)))
    limits = [limit for limit in (current.max_external_writes, new.max_external_writes) if limit is not None]
    narrowed = replace(
        current,
        permissions=without(current.permissions, new.prohibitions, known),
        user_prohibitions=bans,
        denied_tools=tuple(dict.fromkeys((*current.denied_tools, *denied_by(new)))),
        allowed_external_domains=current.allowed_external_domains or new.only_domains,
        max_external_writes=min(limits, default=None),
        requires_approval=tuple(dict.fromkeys((*current.requires_approval, *new.requires_approval))),
    )
    return _unlisted(narrowed, new.prohibitions)


def inferred_classes(policy: TaskPolicy) -> dict[str, frozenset[Risk]]:
    """Return the classes of a policy's rows whose names the table does not have: those of their verb."""
    known = vocabulary()
    listed = frozenset(risk for risk in CEILING_OF if policy.permits_class(risk))
    found: dict[str, frozenset[Risk]] = {}
    for row in policy.permissions:
        if known.risk_of(row.capability) is None:
            verb = row.capability.rpartition(".")[2]
            classes = frozenset(known.capabilities[name].risk for name in known.by_verb.get(verb, ()))
            found[row.capability] = (classes & listed) or listed
    return found


def continued(current: TaskPolicy, reading: Reading, known: RiskMap) -> tuple[Permission, ...]:
    """Return the rows of a verbless turn ("also to carol@example.com"): the newest rows, aimed anew."""
    if not reading.continues or not current.permissions:
        return ()
    newest = current.permissions[-1].evidence
    base = [row for row in current.permissions if row.evidence == newest]
    # A draft may have left out the request that the turn goes on with: "also to carol" after a payment is no mail.
    classes = {risk for row in base for risk in risks_of(row.capability, known)}
    if current.source is not PolicySource.MANUAL and any(
        risks_of(row.capability, known) - classes for row in bounds_of(current)
    ):
        return ()
    return shared(
        row for request in reading.requests if not request.capabilities for row in _carried(request, base, known)
    )


def _looks(reading: Reading) -> tuple[Permission, ...]:
    """Return what the message asks to read: it needs no permission, but it lifts an older ban on reading that."""
    return tuple(
        Permission(
            capability=name,
            recipients=request.recipients,
            domains=request.domains,
            paths=request.paths,
            objects=request.objects,
        )
        for request in reading.requests
        if request.risks == {Risk.READ}
        for name in request.capabilities
    )


def _carried(request: Request, base: list[Permission], known: RiskMap) -> Iterable[Permission]:
    """Yield the newest rows aimed at what a verbless turn names: parties, and kinds that they bind already.

    A kind that a row leaves open is not bound here, so that a narrower row never carries more than a wider one.
    """
    people = tuple(dict.fromkeys((*request.recipients, *request.names)))
    kinds = {"recipients": people, "domains": request.domains, "paths": request.paths, "objects": request.objects}
    for row in (replace(row, shares="") for row in base):
        reaches = bool(risks_of(row.capability, known) & PARTY_CLASSES)
        named = {
            kind: targets
            for kind, targets in kinds.items()
            if targets and (getattr(row, kind) or (kind == "recipients" and reaches))
        }
        if not named:
            continue
        approval = row.needs_approval or request.ask_first
        yield replace(aimed(row, named), evidence=request.quote, needs_approval=approval)
        if request.names and not request.recipients and "recipients" in named:
            # A name is no address: any address is asked about, as for the first request.
            yield replace(aimed(row, {**named, "recipients": ()}), evidence=request.quote, needs_approval=approval)


def _replaced(
    rows: tuple[Permission, ...], added: tuple[Permission, ...], reading: Reading, known: RiskMap
) -> tuple[Permission, ...]:
    """Return the older rows without those that "… instead" and "only …" replace: of the same capability, else class."""
    quotes = {request.quote for request in reading.requests if request.instead}
    for row in added:
        if row.evidence not in quotes:
            continue
        rest = tuple(old for old in rows if old.capability != row.capability)
        if len(rest) == len(rows):
            classes = risks_of(row.capability, known)
            rest = tuple(old for old in rows if not risks_of(old.capability, known) & classes)
        rows = rest
    return rows


def _budget(current: TaskPolicy, new: Envelope, added: tuple[Permission, ...], known: RiskMap) -> int | None:
    """Return the outbound budget: what the newest words limit; a zero that only meant "nothing outbound" goes."""
    if new.max_external_writes is not None:
        return new.max_external_writes
    outbound = any(risks_of(row.capability, known) & OUTBOUND for row in added)
    return None if current.max_external_writes == 0 and outbound else current.max_external_writes


def _amended_by_hand(
    current: TaskPolicy,
    rows: tuple[Permission, ...],
    added: tuple[Permission, ...],
    bans: tuple[Prohibition, ...],
    new: Envelope,
    now: float,
) -> TaskPolicy:
    """Return a hand-written policy with the rows that its ceilings leave room for and its lists do not have yet.

    Its ceilings, constraints and lists are never widened by words: a stray entry that a ceiling holds back would wake.
    """
    fitting = [row for row in added if _room(current, row)]
    merged = replace(
        current,
        permissions=_unique((*rows, *fitting))[-_ROWS:],
        user_prohibitions=_unique_bans(bans),
        allowed_external_domains=current.allowed_external_domains or new.only_domains,
        requires_approval=tuple(dict.fromkeys((*current.requires_approval, *new.requires_approval))),
        max_external_writes=_less(current.max_external_writes, new.max_external_writes),
        expires_at=moment(now) + timedelta(hours=POLICY_LIFETIME_HOURS),
    )
    return _unlisted(merged, new.prohibitions)


def _room(policy: TaskPolicy, row: Permission) -> bool:
    risks = risks_of(row.capability, {})
    if not risks or not all(risk in CEILING_OF and policy.permits_class(risk) for risk in risks):
        return False
    listed = any(entry == row.capability or fnmatchcase(row.capability, entry) for entry in policy.allowed_tools)
    return not listed and not risks & set(policy.allowed_risk_classes)


def _unlisted(policy: TaskPolicy, bans: Iterable[Prohibition]) -> TaskPolicy:
    """Return the policy without the listed names and classes that a ban of everything of that kind forbids."""
    whole = [ban for ban in bans if not ban.targets and not ban.exceptions]
    if not whole:
        return policy
    table = vocabulary()
    tools = tuple(
        entry
        for entry in policy.allowed_tools
        if not any(ban.what == entry or (entry in table.capabilities and covers(ban, entry, {})) for ban in whole)
    )
    banned = {ban.what for ban in whole}
    return replace(
        policy,
        allowed_tools=tools,
        allowed_risk_classes=tuple(risk for risk in policy.allowed_risk_classes if risk.value not in banned),
    )


def _unwelcome(current: TaskPolicy, new: Envelope) -> list[Prohibition]:
    """Return bans on the hosts that the task names and somebody else's "only use …" does not."""
    if not (current.allowed_external_domains and new.only_domains):
        return []
    outside = tuple(
        host
        for host in current.allowed_external_domains
        if not any(same("domains", host, own) for own in new.only_domains)
    )
    return [Prohibition(what="*", targets=Targets(domains=outside))] if outside else []


def _less(first: int | None, second: int | None) -> int | None:
    return min((limit for limit in (first, second) if limit is not None), default=None)


def _unique(rows: Iterable[Permission]) -> tuple[Permission, ...]:
    """Return rows once each, a repeated one at its newest place."""
    found: dict[str, Permission] = {}
    for row in rows:
        key = repr(row)
        found.pop(key, None)
        found[key] = row
    return tuple(found.values())


def _unique_bans(bans: Iterable[Prohibition]) -> tuple[Prohibition, ...]:
    return tuple({repr(ban): ban for ban in bans}.values())
