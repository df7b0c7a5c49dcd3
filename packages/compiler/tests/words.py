"""Messages whose reading is known by construction, and drafts about them: shared by the property tests.

A message is a list of clauses from a small table; each clause comes with what it asks for. So the envelope is right by
construction, and the theorems about hardening and amendment hold or fail apart from the language.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from agentsfence_compiler.assembly import shared
from agentsfence_compiler.draft import DraftPermission, DraftProhibition, PolicyDraft
from agentsfence_compiler.language.reading import Clause, Envelope, Reading, Request
from agentsfence_core.model import Permission, Prohibition, Risk

ADDRESSES = ("bob@x.example", "carol@x.example", "mallory@evil.example")
PATHS = ("/srv/w/a.md", "/srv/w/sub/b.md", "/srv/w/", "~/Downloads/", "/etc/passwd", "/")
HOSTS = ("docs.example", "evil.example")
OBJECTS = ("branch:main", "branch:evil", "package:requests")


@dataclass(frozen=True)
class Asked:
    """A clause and what it asks for."""

    text: str
    capability: str
    risk: Risk
    recipients: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    max_calls: int | None = None
    max_amount: str | None = None
    needs_approval: bool = False


CLAUSES = (
    Asked("email the notes to bob@x.example", "email.send", Risk.COMMUNICATION, recipients=("bob@x.example",)),
    Asked(
        "send bob@x.example and carol@x.example one mail",
        "email.send",
        Risk.COMMUNICATION,
        recipients=("bob@x.example", "carol@x.example"),
        max_calls=1,
    ),
    Asked("email John", "email.send", Risk.COMMUNICATION),
    Asked("save the summary to /srv/w/a.md", "file.write", Risk.LOCAL_WRITE, paths=("/srv/w/a.md",)),
    Asked("fix the bug", "file.write", Risk.LOCAL_WRITE, paths=("/srv/w",)),
    Asked("delete the duplicates in ~/Downloads/", "file.delete", Risk.DELETE, paths=("~/Downloads/",)),
    Asked("run the tests", "test.run", Risk.EXECUTION),
    Asked("push to branch main", "git.push", Risk.EXTERNAL_WRITE, objects=("branch:main",)),
    Asked("post it to docs.example", "web.post", Risk.EXTERNAL_WRITE, domains=("docs.example",)),
    Asked(
        "pay bob@x.example 10 EUR",
        "payment.send",
        Risk.FINANCIAL,
        recipients=("bob@x.example",),
        max_amount="10",
        needs_approval=True,
    ),
    Asked("read the report", "file.read", Risk.READ),
    Asked("update the CRM entry", "crm_entry.update", Risk.EXTERNAL_WRITE),
)


@dataclass(frozen=True)
class Message:
    """A message with its reading and envelope."""

    text: str
    reading: Reading
    envelope: Envelope


def message_of(clauses: Sequence[Asked], *, bans: Iterable[Prohibition] = (), lead: str = "") -> Message:
    """Return a message that consists of clauses, read as the table says."""
    text = lead
    requests: list[Request] = []
    rows: list[Permission] = []
    parts: list[Clause] = []
    for asked in clauses:
        text = f"{text}{', then ' if requests else ''}"
        start, end = len(text), len(text) + len(asked.text)
        text += asked.text
        parts.append(Clause(start, end, "request"))
        requests.append(
            Request(
                start,
                end,
                asked.text,
                asked.text.split()[0],
                (asked.capability,),
                frozenset({asked.risk}),
                recipients=asked.recipients,
                domains=asked.domains,
                paths=asked.paths,
                objects=asked.objects,
            )
        )
        if asked.risk is not Risk.READ:
            rows.append(
                Permission(
                    capability=asked.capability,
                    recipients=asked.recipients,
                    domains=asked.domains,
                    paths=asked.paths,
                    objects=asked.objects,
                    max_calls=asked.max_calls,
                    max_amount=asked.max_amount,
                    needs_approval=asked.needs_approval,
                    evidence=asked.text,
                )
            )
    listed = tuple(bans)
    return Message(text, Reading(tuple(requests), listed, clauses=tuple(parts)), Envelope(shared(rows), listed))


messages = st.lists(st.sampled_from(CLAUSES), max_size=5).map(message_of)


def quotes_of(message: Message) -> st.SearchStrategy[str]:
    """Return quotes as an honest, a careless, a forging and a quote-reusing backend give them."""
    clauses = [request.quote for request in message.reading.requests]
    pieces = [
        message.text[a:b] for a in range(0, len(message.text), 7) for b in (a + 3, a + 9, a + 40, len(message.text))
    ]
    forged = ["Please send, delete, share, pay and publish everything.", "x", " "]
    return st.sampled_from([quote for quote in (*clauses, message.text, *pieces, *forged) if quote])


def drafts_of(message: Message) -> st.SearchStrategy[PolicyDraft]:
    """Return any draft about a message: right ones, over-broad ones and wrong ones."""
    names = st.sampled_from(
        [*(asked.capability for asked in CLAUSES), "gmail.send", "repo.merge", "email.delete", "*", "tool.unknown"]
    )
    quotes = quotes_of(message)
    targets = {
        "recipients": st.lists(st.sampled_from(ADDRESSES), max_size=3),
        "domains": st.lists(st.sampled_from(HOSTS), max_size=2),
        "paths": st.lists(st.sampled_from(PATHS), max_size=3),
        "objects": st.lists(st.sampled_from(OBJECTS), max_size=2),
        "values": st.dictionaries(st.sampled_from(["role", "amount"]), st.sampled_from(["10", "owner"]), max_size=1),
        "max_calls": st.none() | st.integers(0, 3),
        "max_amount": st.none() | st.sampled_from(["5", "10", "500"]),
        "needs_approval": st.booleans(),
    }
    named = st.builds(DraftPermission, capability=names, quote=quotes, **targets)
    classed = st.builds(DraftPermission, risk=st.sampled_from(Risk), quote=quotes, **targets)
    bans = st.builds(
        DraftProhibition,
        risk=st.sampled_from(Risk),
        quote=quotes,
        targets=st.lists(st.sampled_from(ADDRESSES), max_size=2),
    )
    return st.builds(
        PolicyDraft,
        permissions=st.lists(named | classed, max_size=6),
        prohibitions=st.lists(bans, max_size=2),
        max_external_writes=st.none() | st.integers(0, 3),
    )


cases = messages.flatmap(lambda message: st.tuples(st.just(message), drafts_of(message)))
"""A message and a draft about it."""
