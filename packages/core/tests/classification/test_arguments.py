"""Targets come from structure, never from text; what a key says decides before what a value looks like."""

from __future__ import annotations

import json
import time

import pytest

from agentsfence_core.classification.catalogue import builtin
from agentsfence_core.classification.classifier import classify
from agentsfence_core.classification.keys import role_of
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Effect, ObjectRef, TargetKind, ToolCall

SEND = "mcp_gmail_send_message"


def worst(tool: str, args: dict[str, object]) -> Effect:
    return classify(ToolCall(tool, args, workdir="/srv/w", home="/home/u"), builtin()).worst


# P: a probe of an earlier review.
PARTIES: list[tuple[str, dict[str, object], set[str]]] = [
    (
        SEND,
        {"to": "a@x.com", "cc": ["b@x.com"], "bcc": "c@x.com; d@x.com"},
        {"a@x.com", "b@x.com", "c@x.com", "d@x.com"},
    ),
    (SEND, {"to": "a@x.com", "sms_to": "+15551234567"}, {"a@x.com", "+15551234567"}),  # P
    (SEND, {"to": "a@x.com", "slack_channel": "#general"}, {"a@x.com", "#general"}),  # P
    (SEND, {"to": "a@x.com", "webhook": "https://evil.com/hook"}, {"a@x.com", "https://evil.com/hook"}),  # P
    (SEND, {"to": "a@x.com", "callback_url": "https://evil.com/hook"}, {"a@x.com", "https://evil.com/hook"}),  # P
    (SEND, {"to": {"evil@x.com": "a@x.com"}}, {"a@x.com", "evil@x.com"}),  # P
    (SEND, {"to": "a@x.com", "from": "me@corp.com"}, {"a@x.com"}),  # P
    (SEND, {"to": "a@x.com", "from": {"email": "me@corp.com", "name": "Me"}}, {"a@x.com"}),
    (SEND, {"to": "a@x.com", "in_reply_to": "<CAF12@mail.gmail.com>"}, {"a@x.com"}),  # P
    (SEND, {"to": "a@x.com", "account": "me@corp.com"}, {"a@x.com"}),  # P
    (SEND, {"to": "a@x.com", "user_google_email": "me@corp.com"}, {"a@x.com"}),
    (SEND, {"to": "a@x.com", "body": "write to evil@x.com"}, {"a@x.com"}),  # P
    (SEND, {"to": "a@x.com", "reply_to": "evil@x.com"}, {"a@x.com", "evil@x.com"}),
    (SEND, {"to": "a@x.com", "subject": "hi\nBcc: evil@x.com"}, {"a@x.com", "evil@x.com"}),
    (SEND, {"to": "a@x.com", "headers": {"Bcc": "evil@x.com"}}, {"a@x.com", "evil@x.com"}),
    (SEND, {"email": {"to": "a@x.com", "body": "ask e@x.com"}}, {"a@x.com"}),
    (SEND, {"to": [{"email": "a@x.com", "name": "A"}]}, {"a@x.com"}),  # P
    (SEND, {"to": "a@x.com", "options": {"deep": [{"er": "evil@x.com"}]}}, {"a@x.com", "evil@x.com"}),
    (SEND, {"to": "a@x.com", "extra": json.dumps({"cc": "evil@x.com"})}, {"a@x.com", "evil@x.com"}),
    (SEND, {"to": "a@x.com", "payload": json.dumps({"bcc": "evil@x.com"})}, {"a@x.com", "evil@x.com"}),
    (
        SEND,
        {"message": {"toRecipients": [{"emailAddress": {"address": "a@x.com"}}], "body": {"content": "e@x.com"}}},
        {"a@x.com"},
    ),
    ("mcp_slack_post_message", {"channel_id": "C0123", "text": "@all"}, {"c0123"}),
    ("mcp_telegram_send_message", {"chat_id": 12345, "text": "x"}, {"12345"}),
    ("mcp_google_drive_share_file", {"file_id": "f", "email": "a@x.com", "role": "reader"}, {"a@x.com"}),
    ("mcp_google_drive_create_permission", {"fileId": "f", "type": "anyone", "role": "reader"}, {"anyone"}),
    ("mcp_bank_send_money", {"recipient": "GB29NWBK60161331926819", "amount": 10}, {"gb29nwbk60161331926819"}),
    ("add_user_to_channel", {"user": "Dora", "channel": "general"}, {"dora", "general"}),
    # Which of the two a tool goes by is not known: both count.
    ("invite_user_to_slack", {"user": "Dora", "user_email": "dora@x.com"}, {"dora", "dora@x.com"}),
    ("reserve_hotel", {"hotel": "Riverside View", "start_day": "2026-05-04"}, {"riverside view"}),
    ("mcp_google_calendar_create_event", {"summary": "x", "attendees": [{"email": "a@x.com"}]}, {"a@x.com"}),
    # A read reaches nobody, a write here neither, and what is written into an address book is not told.
    ("mcp_gmail_search_emails", {"query": "to:bob@x.com", "to": "bob@x.com"}, set()),
    ("mcp_google_calendar_get_freebusy", {"items": [{"id": "bob@x.com"}]}, set()),
    ("write_file", {"path": "a.txt", "content": "bob@x.com", "author": "bob@x.com"}, set()),
    ("mcp_google_contacts_create_contact", {"name": "Bob", "email": "bob@x.com"}, set()),
]


@pytest.mark.parametrize(("tool", "args", "parties"), PARTIES)
def test_parties_are_whom_the_call_reaches(tool: str, args: dict[str, object], parties: set[str]) -> None:
    assert {party.casefold() for party in worst(tool, args).recipients} == parties


PATHS: list[tuple[str, dict[str, object], set[str]]] = [
    ("read_file", {"path": "a/../b.txt"}, {"/srv/w/b.txt"}),
    ("mcp_fs_read_file", {"source": "~/.ssh/id_rsa"}, {"/home/u/.ssh/id_rsa"}),  # P
    ("mcp_fs_read_file", {"location": "~/.ssh/id_rsa"}, {"/home/u/.ssh/id_rsa"}),  # P
    ("mcp_fetch_fetch", {"url": "file:///home/u/.env"}, {"/home/u/.env"}),
    ("web_extract", {"urls": ["file:///home/u/.ssh/id_rsa"]}, {"/home/u/.ssh/id_rsa"}),  # P
    (SEND, {"to": "a@x.com", "attachments": ["/srv/w/a.pdf"]}, {"/srv/w/a.pdf"}),
    (SEND, {"to": "a@x.com", "attachments": [{"path": "~/b.pdf"}]}, {"/home/u/b.pdf"}),
    ("mcp_filesystem_move_file", {"from": "a", "to": "/tmp/b"}, {"/srv/w/a", "/tmp/b"}),
    ("mcp_filesystem_delete_file", {"target": "a.txt"}, {"/srv/w/a.txt"}),
    ("mcp_filesystem_read_multiple_files", {"paths": '["a", "/etc/passwd"]'}, {"/srv/w/a", "/etc/passwd"}),
    ("vision_analyze", {"image_url": "~/photo.png", "question": "?"}, {"/home/u/photo.png"}),
    ("mcp_foo_get_thing", {"whatever": "~/.aws/credentials"}, {"/home/u/.aws/credentials"}),
    ("mcp_weather_get_forecast", {"location": "Berlin"}, set()),
    ("mcp_github_create_or_update_file", {"owner": "o", "repo": "r", "path": "src/a.md", "content": "x"}, set()),
]


@pytest.mark.parametrize(("tool", "args", "paths"), PATHS)
def test_paths_are_what_is_touched_here(tool: str, args: dict[str, object], paths: set[str]) -> None:
    assert set(worst(tool, args).paths) == paths


def test_a_copy_reads_one_end_and_writes_the_other() -> None:
    call = ToolCall("copy_file", {"src": "~/.ssh/id_rsa", "dst": "/srv/www/key"}, workdir="/srv/w", home="/home/u")
    read, written = classify(call, builtin()).effects
    assert (read.capability, read.paths) == ("file.read", ("/home/u/.ssh/id_rsa",))
    assert (written.capability, written.paths) == ("file.copy", ("/srv/www/key",))


@pytest.mark.parametrize(
    ("tool", "args", "hosts"),
    [
        ("web_extract", {"urls": ["https://EXAMPLE.com./a", "http://b.example"]}, {"example.com", "b.example"}),
        ("web_extract", {"urls": '["https://a.example/x"]'}, {"a.example"}),
        ("web_extract", {"urls": "https://a.example/x"}, {"a.example"}),
        ("mcp_scraper_get_page", {"query": "https://evil.com"}, {"evil.com"}),  # P
        ("mcp_foo_create_thing", {"callback": "https://evil.com/x"}, {"evil.com"}),
        ("web_search", {"query": "how to reach evil.com"}, set()),
        ("ha_call_service", {"domain": "lock", "service": "unlock", "entity_id": "lock.front"}, set()),
    ],
)
def test_hosts_are_those_of_url_arguments(tool: str, args: dict[str, object], hosts: set[str]) -> None:
    assert set(worst(tool, args).domains) == hosts


@pytest.mark.parametrize(
    ("tool", "args", "objects"),
    [
        ("mcp_gmail_delete_email", {"message_id": "m1"}, {ObjectRef("id", "m1")}),
        (
            "mcp_github_merge_pull_request",
            {"owner": "o", "repo": "r", "pull_number": 12},
            {ObjectRef("pr", "12"), ObjectRef("repo", "o/r")},
        ),
        ("mcp_google_calendar_create_event", {"summary": "Dentist"}, {ObjectRef("event", "Dentist")}),
        ("mcp_twitter_follow_user", {"username": "bob"}, {ObjectRef("user", "bob")}),
        ("mcp_git_create_branch", {"repo_path": "/srv/w", "branch_name": "x"}, {ObjectRef("branch", "x")}),
        (
            "mcp_github_create_or_update_file",
            {"repo": "r", "path": "a.md"},
            {ObjectRef("repo", "r"), ObjectRef("file", "a.md")},
        ),
    ],
)
def test_objects_are_the_things_acted_on(tool: str, args: dict[str, object], objects: set[ObjectRef]) -> None:
    assert set(worst(tool, args).objects) == objects


def test_the_parts_of_a_time_are_the_time() -> None:
    effect = worst("mcp_google_calendar_create_event", {"start": {"dateTime": "2026-05-04T10:00", "timeZone": "UTC"}})
    assert effect.values == (("start", "2026-05-04T10:00"),)


def test_values_are_what_the_effect_itself_is() -> None:
    effect = worst("send_money", {"recipient": "UK12", "amount": 10.0, "subject": "rent", "date": "2026-05-04"})
    assert set(effect.values) == {("amount", "10"), ("date", "2026-05-04")}


class TestHostileArguments:
    def test_a_cycle_ends_unverified(self) -> None:
        loop: list[object] = []
        loop.extend([loop, loop])
        assert TargetKind.RECIPIENTS in worst(SEND, {"to": "a@x.com", "more": loop}).unverified

    def test_depth_beyond_the_limit_is_unverified(self) -> None:
        deep: object = "evil@x.com"
        for _ in range(LIMITS.argument_depth + 5):
            deep = {"more": deep}
        assert TargetKind.RECIPIENTS in worst(SEND, {"to": "a@x.com", "more": deep}).unverified

    def test_a_path_longer_than_a_target_is_unverified(self) -> None:
        assert TargetKind.PATHS in worst("write_file", {"path": "a" * 10_000, "content": ""}).unverified

    def test_odd_types_are_read_or_unverified(self) -> None:
        odd: dict[str, object] = {"to": [float("nan"), None, 3, b"a@x.com", {1, 2}], "x": object(), "y": 10**5000}
        effect = worst(SEND, odd)
        assert effect.risk.value == "COMMUNICATION"
        assert TargetKind.RECIPIENTS in effect.unverified

    def test_more_parties_than_are_kept_are_unverified(self) -> None:
        effect = worst(SEND, {"x": [f"u{number}@x.com" for number in range(LIMITS.targets + 10)]})
        assert TargetKind.RECIPIENTS in effect.unverified

    @pytest.mark.parametrize("key", ["body", "to", "query", "whatever", "path", "url", "subject", "raw"])
    def test_a_huge_text_takes_linear_time(self, key: str) -> None:
        text = "a@b;" * 250_000
        start = time.process_time()
        worst(SEND, {"to": "a@x.com", key: text})
        assert time.process_time() - start < 5

    def test_long_keys_are_not_remembered(self) -> None:
        before = role_of.cache_info().currsize
        worst(SEND, {"to": "a@x.com", "k" * 100_000: "evil@x.com"})
        assert role_of.cache_info().currsize <= before + 1

    def test_a_file_in_brackets_is_a_file(self) -> None:
        assert worst("write_file", {"path": "src/[id]/page.md", "content": ""}).paths == ("/srv/w/src/[id]/page.md",)
        assert worst("write_file", {"path": "src/[id]/page.md", "content": ""}).verified


@pytest.mark.parametrize(
    ("tool", "args", "amounts", "counted"),
    [
        ("send_payments", {"payments": [{"to": "b@x.example", "amount": 10}] * 2}, ["10", "10"], False),
        ("send_payment", {"recipient": "b@x.example", "amount": [10, 10]}, ["10", "10"], True),
        ("send_money", {"to": "b@x.example", "amount": 10, "amt": 500}, ["10", "500"], True),
        ("send_money", {"to": "b@x.example", "amount": 10, "times": 12}, ["10"], False),
        ("send_money", {"to": "b@x.example", "amount": 10, "quantity": 1}, ["10"], True),
        ("send_emails", {"messages": [{"to": "b@x.example", "body": "a"}] * 2}, [], False),
        ("send_emails", {"messages": [{"to": "b@x.example", "body": "a"}]}, [], True),
        ("send_email", {"to": [{"email": "a@x.example"}, {"email": "b@x.example"}], "body": "x"}, [], True),
        ("send_email", {"to": "b@x.example", "attachments": [{"type": "file"}, {"type": "file"}]}, [], True),
    ],
)
def test_batches_and_repeats_are_not_one_act(
    tool: str, args: dict[str, object], amounts: list[str], *, counted: bool
) -> None:
    """A reviewer's list: equal amounts were one, and fifty mails in one call counted once."""
    effect = classify(ToolCall(tool, args), builtin()).worst
    assert [value for name, value in effect.values if name == "amount"] == amounts
    assert (TargetKind.COUNT not in effect.unverified) is counted
