"""What is taken back is gone, and nothing else: regressions found by reading attacks on the compiler."""

from __future__ import annotations

import pytest

from agentsfence_compiler.language import read
from agentsfence_compiler.language.prefilter import mentions_authority
from agentsfence_core.limits import LIMITS

BOTH = "Delete /srv/w/a.txt and email bob@x.example. "


def _banned(text: str) -> set[str]:
    """Classes and capabilities that a text forbids as a whole."""
    return {ban.what for ban in read(text, workspace="/srv/w").prohibitions if not ban.targets and not ban.exceptions}


@pytest.mark.parametrize(
    "text",
    [
        "nevermind", "never mind", "Abort!", "Stop!", "cancel that", "Actually no, forget it",
        "Forget the whole thing.", "Scratch that.", "Stop! Don't do that.", "Don't do it yet",
        "This is a dry run.", "Dry run only", "Don't actually do it, just tell me how.",
        "Just tell me what you would do",
    ],
)  # fmt: skip
def test_calling_off_forbids_everything_but_reading(text: str) -> None:
    for message in (text, BOTH + text):
        reading = read(message, workspace="/srv/w")
        assert not reading.requests
        assert {"DELETE", "COMMUNICATION", "LOCAL_WRITE", "FINANCIAL", "EXECUTION"} <= _banned(message)
    assert mentions_authority(text)


@pytest.mark.parametrize(
    "text",
    [
        "Stop the server", "Cancel the meeting with Bob", "Never mind the typos, email bob@x.example",
        "Run npm publish --dry-run", "Email bob@x.example and tell me how it went", "Forget me not is a flower",
        "Just tell me how many files there are", "Don't do it with sed", "Explain what a dry run is",
    ],
)  # fmt: skip
def test_a_clause_with_something_else_in_it_calls_nothing_off(text: str) -> None:
    assert "LOCAL_WRITE" not in _banned(text)


def test_what_is_asked_for_after_the_calling_off_stays() -> None:
    reading = read("Email bob@x.example. Stop! Email carol@x.example instead.")
    assert [request.recipients for request in reading.requests] == [("carol@x.example",)]
    ban = next(ban for ban in reading.prohibitions if ban.what == "COMMUNICATION")
    assert ban.exceptions.recipients == ("carol@x.example",)


@pytest.mark.parametrize("text", ["never mind the email", "forget about the email", "Actually no, forget the mail."])
def test_what_is_named_is_called_off_alone(text: str) -> None:
    assert _banned(text) == {"COMMUNICATION"}
    reading = read(BOTH + text, workspace="/srv/w")
    assert [request.capabilities for request in reading.requests] == [("file.delete",)]


@pytest.mark.parametrize(
    "text", ["On second thought, leave out bob@x.example", "Actually, only alice@x.example", "Skip bob@x.example."]
)
def test_somebody_taken_out_is_no_recipient(text: str) -> None:
    reading = read("Email alice@x.example and bob@x.example. " + text)
    assert [request.recipients for request in reading.requests] == [("alice@x.example",)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Do neither delete nor send anything.", {"DELETE", "COMMUNICATION"}),
        ("It's important that nothing is deleted or sent.", {"DELETE", "COMMUNICATION"}),
        ("You don't have my permission to delete or email.", {"DELETE", "email.send"}),
        ("NO DELETE NO EMAIL", {"DELETE", "COMMUNICATION"}),
        ("Deletion is prohibited; sending is prohibited.", {"DELETE", "COMMUNICATION"}),
        ("Deleting or emailing is off limits.", {"DELETE", "email.send"}),
        ("Treat everything as read-only.", {"DELETE", "COMMUNICATION"}),
        ("Don't execute anything yet, just plan.", {"DELETE", "COMMUNICATION"}),
    ],
)
def test_bans_of_several_actions_hold_beside_a_request(text: str, names: set[str]) -> None:
    assert names <= _banned(BOTH + text)


@pytest.mark.parametrize(
    "text", ["Ask me before you do anything.", "Wait for my go before doing anything.", "Check with me first."]
)
def test_asking_before_anything_asks_about_every_class(text: str) -> None:
    assert {"DELETE", "COMMUNICATION", "EXECUTION"} <= set(read(BOTH + text).requires_approval)


@pytest.mark.parametrize("text", ["/srv/w/b.txt must stay", "Please spare /srv/w/b.txt", "/srv/w/b.txt has to be kept"])
def test_what_must_stay_is_not_deleted(text: str) -> None:
    bans = read(f"Delete the files in /srv/w/. {text}", workspace="/srv/w").prohibitions
    assert any(ban.what == "DELETE" and ban.targets.paths == ("/srv/w/b.txt",) for ban in bans)


@pytest.mark.parametrize("mark", ["\u200b", "\u2060", "\ufeff", "\u00ad", "\u200e"])
def test_hidden_characters_hide_no_ban(mark: str) -> None:
    for ban in (f"Ne{mark}ver delete anything.", f"Never{mark} delete anything.", f"Never{mark}delete anything."):
        assert "DELETE" in _banned("Look around. " + ban)


def test_spans_count_hidden_characters() -> None:
    text = "De\u200blete /srv/w/a\u2060.txt, th\u200ben email b\u200bob@x.example"
    reading = read(text)
    assert [request.quote for request in reading.requests] == [
        "De\u200blete /srv/w/a\u2060.txt", "email b\u200bob@x.example",
    ]  # fmt: skip
    assert all(request.quote == text[request.start : request.end] for request in reading.requests)


def test_a_ban_beyond_the_limit_of_a_message_counts() -> None:
    head = "Look around." + " " * (LIMITS.message - 8)
    assert "DELETE" in _banned(head + " Never delete anything.")
    far = head + " " * (5 * LIMITS.message) + " Never delete anything."
    assert {"DELETE", "COMMUNICATION"} <= _banned(far)
