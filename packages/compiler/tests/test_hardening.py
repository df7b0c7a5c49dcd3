"""Hardening: the theorems of DESIGN 12 about it, and one case for each way in which a draft oversteps."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from packages.compiler.tests.order import narrows
from packages.compiler.tests.words import ADDRESSES, CLAUSES, Message, cases, message_of

from agentsfence_compiler.canonical_names import canonical_capability
from agentsfence_compiler.draft import DraftPermission, PolicyDraft, read_draft
from agentsfence_compiler.hardening import Hardened, harden, whole
from agentsfence_compiler.language.reading import Envelope, Reading, Request
from agentsfence_core.model import Permission, Prohibition, Risk

MAIL, MAIL_TWO, JOHN, SAVE, FIX, CLEAN, TESTS, PUSH, POST, PAY, READ, CRM = CLAUSES


def hardened(
    message: Message, *permissions: Mapping[str, object], bans: Sequence[Mapping[str, object]] = ()
) -> Hardened:
    draft = read_draft({"permissions": list(permissions), "prohibitions": [dict(ban) for ban in bans]})
    return harden(draft, message.reading, message.envelope, message.text, home="/home/u")


class TestTheorems:
    @settings(max_examples=150, deadline=None)
    @given(cases)
    def test_compiler_independence(self, case: tuple[Message, PolicyDraft]) -> None:
        """For every draft, each hardened row narrows one row of the envelope."""
        message, draft = case
        for row in harden(draft, message.reading, message.envelope, message.text, home="/home/u").permissions:
            assert any(narrows(row, outer) for outer in message.envelope.permissions), row

    @settings(max_examples=150, deadline=None)
    @given(cases)
    def test_monotone_hardening(self, case: tuple[Message, PolicyDraft]) -> None:
        """For every draft, each hardened row narrows one permission of the draft."""
        message, draft = case
        for row in harden(draft, message.reading, message.envelope, message.text, home="/home/u").permissions:
            assert any(_narrows_draft(row, entry) for entry in draft.permissions), row

    @settings(max_examples=100, deadline=None)
    @given(cases)
    def test_evidence(self, case: tuple[Message, PolicyDraft]) -> None:
        """Each hardened row rests on words that stand in the message and ask for that class."""
        message, draft = case
        quotes = {request.quote: request for request in message.reading.requests}
        for row in harden(draft, message.reading, message.envelope, message.text).permissions:
            assert row.evidence in message.text
            assert row.capability in quotes[row.evidence].capabilities

    @settings(max_examples=100, deadline=None)
    @given(cases)
    def test_one_row(self, case: tuple[Message, PolicyDraft]) -> None:
        """No hardened row joins the targets of two requests."""
        message, draft = case
        for row in harden(draft, message.reading, message.envelope, message.text).permissions:
            request = next(one for one in message.reading.requests if one.quote == row.evidence)
            assert set(row.recipients) <= set(request.recipients)

    @settings(max_examples=100, deadline=None)
    @given(cases)
    def test_a_draft_removes_no_prohibition(self, case: tuple[Message, PolicyDraft]) -> None:
        message, draft = case
        ban = Prohibition(what="email.send", quote="never mail")
        envelope = Envelope(message.envelope.permissions, (ban,), max_external_writes=1)
        found = harden(draft, message.reading, envelope, message.text)
        assert found.prohibitions[0] == ban
        assert found.max_external_writes is not None
        assert found.max_external_writes <= 1


def _narrows_draft(row: Permission, entry: DraftPermission) -> bool:
    """Whether a row lies within a drafted permission; an empty list of a draft means "as the words say"."""
    if entry.capability and canonical_capability(entry.capability) != row.capability:
        return False
    asked = Permission(
        capability=row.capability,
        recipients=tuple(entry.recipients) or row.recipients,
        domains=tuple(entry.domains),
        paths=tuple(
            path.replace("~", "/home/u") if path.startswith("~") and not row.paths[0].startswith("~") else path
            for path in entry.paths
        )
        if row.paths
        else tuple(entry.paths),
        objects=tuple(entry.objects),
        max_calls=entry.max_calls,
        max_amount=entry.max_amount,
        needs_approval=entry.needs_approval,
    )
    return narrows(row, asked)


class TestOverstepping:
    def test_the_right_quote_gives_the_words_and_no_more(self) -> None:
        message = message_of([MAIL])
        found = hardened(message, {"capability": "email.send", "quote": MAIL.text})
        assert found.permissions == message.envelope.permissions
        assert found.dropped == ()

    @pytest.mark.parametrize(
        ("entry", "why"),
        [
            ({"capability": "email.send", "quote": "Please send everything"}, "not in your words"),
            ({"capability": "file.delete", "quote": MAIL.text}, "do not ask for this"),
            ({"risk": "DELETE", "quote": MAIL.text}, "do not ask for this"),
            ({"risk": "EXTERNAL_WRITE", "quote": MAIL.text}, "do not ask for this"),
            ({"capability": "crm_entry.update", "quote": MAIL.text}, "do not ask for this"),
            ({"capability": "email.*", "quote": MAIL.text}, "wildcard"),
            ({"capability": "*", "quote": MAIL.text}, "wildcard"),
            ({"capability": "tool.unknown", "quote": MAIL.text}, "nothing is known"),
            ({"risk": "UNKNOWN", "quote": MAIL.text}, "do not ask for this"),
            ({"capability": "email.send", "quote": MAIL.text, "domains": ["evil.example"]}, "domains"),
            ({"capability": "email.send", "quote": MAIL.text, "domains": ["x.example"]}, "domains"),
            ({"capability": "email.send", "quote": "mail the notes to bob@x.example"}, "not in your words"),
        ],
    )
    def test_what_the_words_do_not_carry_falls_with_a_reason(self, entry: dict[str, object], why: str) -> None:
        found = hardened(message_of([MAIL]), entry)
        assert found.permissions == ()
        assert why in found.dropped[0].why

    def test_a_foreign_target_falls_and_the_right_one_stays(self) -> None:
        found = hardened(
            message_of([MAIL]), {"capability": "email.send", "quote": MAIL.text, "recipients": list(ADDRESSES)}
        )
        assert [row.recipients for row in found.permissions] == [("bob@x.example",)]
        assert {entry.what for entry in found.dropped} == {
            "recipients: carol@x.example",
            "recipients: mallory@evil.example",
        }

    @pytest.mark.parametrize(
        "address", ["mallory@evil.example", "ob@x.example", "not-bob@x.example", "bob@x.example.evil.example"]
    )
    def test_a_send_whose_parties_all_fall_asks_about_every_party(self, address: str) -> None:
        found = hardened(message_of([MAIL]), {"capability": "email.send", "quote": MAIL.text, "recipients": [address]})
        assert [row.recipients for row in found.permissions] == [()]
        assert found.dropped[0].what == f"recipients: {address}"

    def test_a_payment_whose_parties_all_fall_falls(self) -> None:
        entry = {"capability": "payment.send", "quote": PAY.text, "recipients": ["mallory@evil.example"]}
        assert hardened(message_of([PAY]), entry).permissions == ()

    def test_a_name_gets_no_address_from_a_draft(self) -> None:
        found = hardened(
            message_of([JOHN]), {"capability": "email.send", "quote": JOHN.text, "recipients": ["john@evil.example"]}
        )
        assert all(row.recipients == () for row in found.permissions)

    @pytest.mark.parametrize("path", ["/", "~", "/home/u", "/home/u/", "/home", "/root", "C:/"])
    def test_roots_and_homes_fall(self, path: str) -> None:
        found = hardened(message_of([FIX]), {"capability": "file.write", "quote": FIX.text, "paths": [path]})
        assert found.permissions == ()

    @pytest.mark.parametrize(
        ("asked", "left"),
        [
            (["/srv/w/a.md"], ("/srv/w/a.md",)),
            (["/srv"], ("/srv/w",)),
            (["/srv/w/"], ("/srv/w/",)),
            (["/srv/w/../../etc/passwd"], None),
            (["/srv/wide"], None),
            (["/srv/w/*"], None),
            (["/etc/passwd", "/srv/w/b"], ("/srv/w/b",)),
        ],
    )
    def test_of_two_paths_the_smaller_stays(self, asked: list[str], left: tuple[str, ...] | None) -> None:
        found = hardened(message_of([FIX]), {"capability": "file.write", "quote": FIX.text, "paths": asked})
        assert [row.paths for row in found.permissions] == ([left] if left else [])

    def test_a_quote_of_several_requests_is_no_evidence(self) -> None:
        message = message_of([MAIL, CLEAN])
        found = hardened(message, {"risk": "DELETE", "quote": message.text})
        assert found.permissions == ()
        assert "several requests" in found.dropped[0].why

    def test_a_quote_may_take_in_a_request_to_read(self) -> None:
        message = message_of([READ, MAIL])
        assert (
            hardened(message, {"capability": "email.send", "quote": message.text}).permissions
            == message.envelope.permissions
        )

    def test_a_negated_clause_is_no_evidence(self) -> None:
        message = message_of([SAVE], lead="Don't email bob@x.example. ")
        assert hardened(message, {"capability": "email.send", "quote": "email bob@x.example"}).permissions == ()

    def test_open_an_issue_cannot_carry_a_merge(self) -> None:
        quote = "open an issue in app"
        request = Request(0, len(quote), quote, "open", ("issue.create",), frozenset({Risk.EXTERNAL_WRITE}))
        envelope = Envelope((Permission(capability="issue.create", evidence=quote),))
        draft = read_draft(
            {"permissions": [{"capability": "repo.merge", "quote": quote}, {"risk": "EXTERNAL_WRITE", "quote": quote}]}
        )
        found = harden(draft, Reading((request,)), envelope, quote)
        assert [row.capability for row in found.permissions] == ["issue.create"]

    def test_a_class_is_narrowed_to_what_the_request_carries(self) -> None:
        found = hardened(message_of([TESTS]), {"risk": "EXECUTION", "quote": TESTS.text})
        assert [row.capability for row in found.permissions] == ["test.run"]

    def test_counts_amounts_and_approval_only_get_stricter(self) -> None:
        message = message_of([PAY])
        entry = {
            "capability": "payment.send",
            "quote": PAY.text,
            "max_amount": "500",
            "max_calls": 2,
            "needs_approval": False,
        }
        (row,) = hardened(message, entry).permissions
        assert (row.max_amount, row.max_calls, row.needs_approval) == ("10", 2, True)

    def test_an_absent_list_means_as_the_words_say(self) -> None:
        message = message_of([MAIL_TWO])
        assert (
            hardened(message, {"capability": "email.send", "quote": MAIL_TWO.text}).permissions
            == message.envelope.permissions
        )

    def test_a_second_request_keeps_its_own_targets(self) -> None:
        message = message_of([MAIL, PUSH, POST])
        entry = {"capability": "git.push", "quote": PUSH.text, "objects": ["branch:evil"]}
        assert hardened(message, entry).permissions == ()
        entry = {"capability": "web.post", "quote": POST.text, "domains": ["docs.example", "evil.example"]}
        assert [row.domains for row in hardened(message, entry).permissions] == [("docs.example",)]


class TestProhibitions:
    def test_a_drafted_prohibition_needs_a_quote(self) -> None:
        message = message_of([MAIL], lead="Hands off production. ")
        bans = [{"risk": "DELETE", "quote": "Hands off production"}, {"risk": "DELETE", "quote": "never delete"}]
        found = hardened(message, bans=bans)
        assert [ban.quote for ban in found.prohibitions] == ["Hands off production"]
        assert "not in your words" in found.dropped[0].why

    def test_words_that_are_read_already_keep_their_own_scope(self) -> None:
        own = Prohibition(what="email.send", quote="don't email carol@x.example")
        message = message_of([MAIL], lead="don't email carol@x.example. ", bans=[own])
        assert hardened(
            message, bans=[{"risk": "COMMUNICATION", "quote": "don't email carol@x.example"}]
        ).prohibitions == (own,)


@pytest.mark.parametrize(
    ("provider", "canonical"),
    [
        ("gmail.send", "email.send"),
        ("gmail.send_email", "email.send"),
        ("outlook.delete", "email.delete"),
        ("google_calendar.create", "calendar.create"),
        ("gdrive.read", "drive.read"),
        ("google_drive.share", "file.share"),
        ("slack.post_message", "chat.send"),
        ("github.create_issue", "issue.create"),
        ("github.merge", "repo.merge"),
        ("stripe.refund", "payment.refund"),
        ("filesystem.write", "file.write"),
        ("com.google.gmail.send", "email.send"),
        ("email.send", "email.send"),
        ("Gmail.Send", "email.send"),
        ("gmail.frobnicate", "gmail.frobnicate"),
        ("crm_entry.update", "crm_entry.update"),
        ("gmail.*", ""),
        ("*", ""),
        ("send", ""),
        ("tool.unknown", ""),
    ],
)
def test_provider_names_become_canonical_and_never_wider(provider: str, canonical: str) -> None:
    assert canonical_capability(provider) == canonical


def test_the_rules_draft_is_the_envelope() -> None:
    envelope = message_of([MAIL, SAVE]).envelope
    assert whole(envelope).permissions == envelope.permissions


def test_a_hostile_draft_over_a_long_message_is_hardened_in_linear_time() -> None:
    message = message_of([MAIL] * 500)
    entries = [
        {"risk": "COMMUNICATION", "quote": MAIL.text[: 6 + n % 20], "recipients": list(ADDRESSES)} for n in range(256)
    ]
    started = time.process_time()
    hardened(message, *entries)
    assert time.process_time() - started < 5
