"""Later messages: the newest explicit statement wins, and a turn without a request never widens."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packages.compiler.tests.order import narrows
from packages.compiler.tests.words import CLAUSES, Asked, Message, message_of, messages

from agentsfence_compiler.amendment import amend, restrict
from agentsfence_compiler.assembly import assemble, inferred_risks
from agentsfence_compiler.language.reading import Envelope, Reading, Request
from agentsfence_core.model import PolicySource, Prohibition, Risk, Targets, TaskPolicy

MAIL, MAIL_TWO, JOHN, SAVE, FIX, CLEAN, TESTS, PUSH, POST, PAY, READ, CRM = CLAUSES
CAROL = Asked("email the notes to carol@x.example", "email.send", Risk.COMMUNICATION, recipients=("carol@x.example",))
NOON = 1_700_000_000.0
NO_SENDING = Prohibition(what="COMMUNICATION", quote="don't send anything")

bans = st.lists(
    st.builds(
        Prohibition,
        what=st.sampled_from(["COMMUNICATION", "DELETE", "email.send", "file.*", "*", "LOCAL_WRITE"]),
        targets=st.builds(Targets, recipients=st.lists(st.sampled_from(["bob@x.example"]), max_size=1).map(tuple))
        | st.builds(Targets, paths=st.just(("/srv/w/a.md",))),
        exceptions=st.builds(Targets, recipients=st.lists(st.sampled_from(["carol@x.example"]), max_size=1).map(tuple)),
        quote=st.just("don't"),
    ),
    max_size=3,
)


def policy_of(message: Message, **changes: object) -> TaskPolicy:
    policy = assemble(message.envelope, now=NOON, inferred=inferred_risks(message.reading.requests))
    return replace(policy, **changes)  # type: ignore[arg-type]


def amended(current: TaskPolicy, message: Message) -> TaskPolicy:
    return amend(
        current, message.envelope, message.reading, now=NOON + 60, inferred=inferred_risks(message.reading.requests)
    )


def recipients(policy: TaskPolicy) -> list[tuple[str, ...]]:
    return [row.recipients for row in policy.permissions]


class TestTheorems:
    @settings(max_examples=100, deadline=None)
    @given(messages, bans)
    def test_a_turn_without_a_request_never_widens(self, first: Message, forbidden: list[Prohibition]) -> None:
        current = policy_of(first, user_prohibitions=(NO_SENDING,))
        turn = message_of([], bans=forbidden)
        for after in (amended(current, turn), restrict(current, turn.envelope)):
            assert all(any(narrows(row, old) for old in current.permissions) for row in after.permissions)
            assert set(current.user_prohibitions) <= set(after.user_prohibitions)
            assert set(after.allowed_risk_classes) <= set(current.allowed_risk_classes)
            assert set(after.allowed_tools) <= set(current.allowed_tools)

    @settings(max_examples=100, deadline=None)
    @given(messages, messages, bans)
    def test_somebody_elses_message_never_widens(
        self, first: Message, second: Message, forbidden: list[Prohibition]
    ) -> None:
        current = policy_of(first, user_prohibitions=(NO_SENDING,), allowed_external_domains=("docs.example",))
        said = replace(second.envelope, prohibitions=tuple(forbidden), only_domains=("evil.example",))
        after = restrict(current, said)
        assert all(any(narrows(row, old) for old in current.permissions) for row in after.permissions)
        assert set(current.user_prohibitions) <= set(after.user_prohibitions)
        assert after.allowed_external_domains == ("docs.example",)

    @settings(max_examples=100, deadline=None)
    @given(messages, messages)
    def test_what_is_not_mentioned_stays_and_what_is_added_was_asked(self, first: Message, second: Message) -> None:
        after = amended(policy_of(first), second)
        asked = [*first.envelope.permissions, *second.envelope.permissions]
        assert all(any(narrows(row, old) for old in asked) for row in after.permissions)
        assert {row.evidence for row in after.permissions} == {row.evidence for row in asked}


class TestRequests:
    def test_a_later_request_adds_its_row_and_renews_the_time(self) -> None:
        after = amended(policy_of(message_of([MAIL])), message_of([SAVE]))
        assert [row.capability for row in after.permissions] == ["email.send", "file.write"]
        assert after.allow_local_writes
        assert after.expires_at is not None
        assert after.expires_at.timestamp() == NOON + 60 + 12 * 3600
        assert after.created_at == datetime.fromtimestamp(NOON, tz=UTC)

    def test_instead_replaces_rows_of_that_kind_and_no_others(self) -> None:
        message = message_of([CAROL])
        (request,) = message.reading.requests
        message = replace(message, reading=replace(message.reading, requests=(replace(request, instead=True),)))
        after = amended(policy_of(message_of([MAIL, SAVE])), message)
        assert recipients(after) == [(), ("carol@x.example",)]
        assert after.allowed_recipients == ("carol@x.example",)

    def test_a_budget_of_zero_only_meant_that_nothing_was_outbound(self) -> None:
        assert policy_of(message_of([SAVE])).max_external_writes == 0
        assert amended(policy_of(message_of([SAVE])), message_of([MAIL])).max_external_writes is None
        assert (
            amended(policy_of(message_of([MAIL]), max_external_writes=2), message_of([CAROL])).max_external_writes == 2
        )


class TestContinuation:
    def turn(self, *, instead: bool = False, paths: tuple[str, ...] = ()) -> Reading:
        quote = "also to carol@x.example"
        people = () if paths else ("carol@x.example",)
        return Reading(
            (Request(0, len(quote), quote, "", (), frozenset(), people, paths=paths, instead=instead),), continues=True
        )

    def test_a_verbless_turn_takes_the_capability_of_the_newest_row(self) -> None:
        after = amend(policy_of(message_of([SAVE, MAIL])), Envelope(), self.turn(), now=NOON)
        assert recipients(after) == [(), ("bob@x.example",), ("carol@x.example",)]
        assert after.permissions[-1].capability == "email.send"

    def test_a_verbless_instead_replaces(self) -> None:
        after = amend(policy_of(message_of([SAVE, MAIL])), Envelope(), self.turn(instead=True), now=NOON)
        assert recipients(after) == [(), ("carol@x.example",)]

    def test_a_kind_that_the_newest_request_never_named_is_not_added(self) -> None:
        current = policy_of(message_of([MAIL]))
        assert (
            amend(current, Envelope(), self.turn(paths=("/etc/passwd",)), now=NOON).permissions == current.permissions
        )

    def test_a_row_that_a_draft_narrowed_carries_no_more_than_the_words(self) -> None:
        """A draft that binds a path to a mail must not make "also …/out.md" a turn that aims the mail anew."""
        current = policy_of(message_of([MAIL]))
        narrowed = replace(current, permissions=(replace(current.permissions[0], paths=("/srv/w/a.md",)),))
        for row in amend(narrowed, Envelope(), self.turn(paths=("/srv/w/b.md",)), now=NOON).permissions:
            assert any(narrows(row, old) for old in current.permissions)

    def test_a_party_is_carried_only_by_what_reaches_parties(self) -> None:
        current = policy_of(message_of([SAVE]))
        assert amend(current, Envelope(), self.turn(), now=NOON).permissions == current.permissions

    def test_without_an_earlier_request_it_means_nothing(self) -> None:
        assert amend(policy_of(message_of([])), Envelope(), self.turn(), now=NOON).permissions == ()


class TestBans:
    def test_a_new_ban_removes_older_allowances(self) -> None:
        after = amended(policy_of(message_of([MAIL, SAVE])), message_of([], bans=[NO_SENDING]))
        assert [row.capability for row in after.permissions] == ["file.write"]
        assert not after.allow_external_writes
        assert after.user_prohibitions == (NO_SENDING,)
        assert after.denied_tools == ("COMMUNICATION",)

    def test_a_ban_of_one_person_removes_only_that_person(self) -> None:
        ban = Prohibition(
            what="COMMUNICATION", targets=Targets(recipients=("Carol@X.example",)), quote="leave carol out"
        )
        after = amended(policy_of(message_of([MAIL_TWO])), message_of([], bans=[ban]))
        assert recipients(after) == [("bob@x.example",)]

    def test_a_ban_with_an_exception_keeps_the_exception(self) -> None:
        ban = Prohibition(
            what="COMMUNICATION", exceptions=Targets(recipients=("bob@x.example",)), quote="to nobody except bob"
        )
        assert recipients(amended(policy_of(message_of([MAIL_TWO, CAROL])), message_of([], bans=[ban]))) == [
            ("bob@x.example",)
        ]

    def test_a_later_request_lifts_a_ban_for_what_it_asks_only(self) -> None:
        after = amended(policy_of(message_of([]), user_prohibitions=(NO_SENDING,)), message_of([MAIL]))
        (ban,) = after.user_prohibitions
        assert ban.what == "COMMUNICATION"
        assert ban.exceptions == Targets(recipients=("bob@x.example",))

    def test_a_later_request_without_a_target_lifts_only_its_own_capability(self) -> None:
        after = amended(policy_of(message_of([]), user_prohibitions=(NO_SENDING,)), message_of([JOHN]))
        left = {ban.what for ban in after.user_prohibitions}
        assert "email.send" not in left
        assert {"chat.send", "message.send", "social.publish"} <= left

    def test_a_targeted_ban_is_lifted_by_its_target(self) -> None:
        ban = Prohibition(
            what="email.send", targets=Targets(recipients=("bob@x.example", "carol@x.example")), quote="neither"
        )
        (left,) = amended(policy_of(message_of([]), user_prohibitions=(ban,)), message_of([MAIL])).user_prohibitions
        assert left.targets.recipients == ("carol@x.example",)

    @pytest.mark.parametrize("asked", [SAVE, TESTS, READ, PUSH])
    def test_a_request_of_another_kind_lifts_nothing(self, asked: Asked) -> None:
        after = amended(policy_of(message_of([]), user_prohibitions=(NO_SENDING,)), message_of([asked]))
        assert after.user_prohibitions == (NO_SENDING,)

    def test_a_targeted_ban_outlives_a_request_that_names_nothing(self) -> None:
        ban = Prohibition(what="test.run", targets=Targets(objects=("slow",)), quote="not the slow ones")
        assert amended(policy_of(message_of([]), user_prohibitions=(ban,)), message_of([TESTS])).user_prohibitions == (
            ban,
        )

    def test_a_request_below_a_banned_folder_is_excepted(self) -> None:
        ban = Prohibition(what="LOCAL_WRITE", targets=Targets(paths=("/srv/w",)), quote="leave /srv/w alone")
        (left,) = amended(policy_of(message_of([]), user_prohibitions=(ban,)), message_of([SAVE])).user_prohibitions
        assert left.targets == ban.targets
        assert left.exceptions.paths == ("/srv/w/a.md",)


class TestHandWritten:
    POLICY = TaskPolicy(
        source=PolicySource.MANUAL,
        allowed_tools=("email.send", "mcp_crm_wipe", "file.delete"),
        allow_external_writes=True,
        allowed_recipients=("bob@x.example",),
        max_external_writes=1,
    )

    def test_words_never_raise_a_ceiling_of_a_hand_written_policy(self) -> None:
        after = amended(self.POLICY, message_of([CLEAN]))
        assert not after.allow_destructive_actions
        assert after.permissions == ()

    def test_words_never_narrow_what_it_lists_nor_widen_its_bounds(self) -> None:
        after = amended(self.POLICY, message_of([CAROL]))
        assert after.permissions == ()
        assert after.allowed_recipients == ("bob@x.example",)
        assert after.max_external_writes == 1

    def test_words_add_what_its_ceilings_leave_room_for(self) -> None:
        after = amended(self.POLICY, message_of([PUSH]))
        assert [row.capability for row in after.permissions] == ["git.push"]
        assert Risk.EXTERNAL_WRITE not in after.allowed_risk_classes
        assert after.source is PolicySource.MANUAL

    def test_a_ban_takes_the_name_out_of_its_lists(self) -> None:
        after = amended(self.POLICY, message_of([], bans=[NO_SENDING]))
        assert after.allowed_tools == ("mcp_crm_wipe", "file.delete")
        assert NO_SENDING in after.user_prohibitions


def test_a_message_of_somebody_else_adds_bans_and_no_rows() -> None:
    current = policy_of(message_of([MAIL, SAVE]))
    after = restrict(current, replace(message_of([PUSH]).envelope, prohibitions=(NO_SENDING,)))
    assert [row.capability for row in after.permissions] == ["file.write"]
    assert after.user_prohibitions == (NO_SENDING,)
