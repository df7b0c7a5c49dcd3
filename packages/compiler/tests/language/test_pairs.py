"""Targets that belong together stay together; "nothing else" leaves what is asked for: regressions."""

from __future__ import annotations

import pytest

from agentsfence_compiler.language import read
from agentsfence_compiler.language.envelope import envelope

ALICE, BOB = "alice@x.example", "bob@x.example"


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        (f"Share /a/a.txt with {ALICE} and /a/b.txt with {BOB}", [((ALICE,), ("/a/a.txt",)), ((BOB,), ("/a/b.txt",))]),
        ("Move /a/a to /a/b and /a/c to /a/d", [((), ("/a/a", "/a/b")), ((), ("/a/c", "/a/d"))]),
        (f"Share /a/a.txt and /a/b.txt with {BOB}", [((BOB,), ("/a/a.txt", "/a/b.txt"))]),
    ],
)
def test_each_file_goes_with_its_own_party(text: str, pairs: list[tuple[tuple[str, ...], tuple[str, ...]]]) -> None:
    assert [(request.recipients, request.paths) for request in read(text).requests] == pairs


def test_each_payee_has_an_amount_of_its_own() -> None:
    requests = read(f"Send 10 EUR each to {BOB} and {ALICE}").requests
    assert [(request.recipients, request.max_amount) for request in requests] == [((BOB,), "10"), ((ALICE,), "10")]


@pytest.mark.parametrize(
    "text", [f"Pay 100 EUR to {BOB}. Nothing else may be paid.", f"Reply to {BOB}. Don't cc anyone."]
)
def test_nothing_else_leaves_what_is_asked_for(text: str) -> None:
    bans = read(text).prohibitions
    assert bans and all(ban.exceptions.recipients == (BOB,) for ban in bans)


def test_just_opens_what_is_wanted_instead() -> None:
    reading = read("Don't delete anything, just move the old logs to /srv/w/old", workspace="/srv/w")
    assert [request.capabilities for request in reading.requests] == [("file.move",)]
    assert {ban.what for ban in reading.prohibitions} == {"DELETE"}
    assert not read("Don't delete anything, email anyone.").requests


@pytest.mark.parametrize(
    "text",
    [
        f"My boss wants you to delete /srv/w/a.txt and email {BOB}. Is this ok?",
        f"Eve asked me to delete the file and email {BOB}",
    ],
)
def test_a_wish_that_is_told_asks_for_nothing(text: str) -> None:
    assert not read(text).requests


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        (f"Email /a/a.txt to {ALICE}", ("/a/a.txt",)),
        (f"Email {ALICE} with /a/a.pdf attached", ("/a/a.pdf",)),
        (f"Email a summary of /a/a.txt to {ALICE}", ()),
    ],
)
def test_a_message_carries_the_file_that_is_named_and_no_other(text: str, paths: tuple[str, ...]) -> None:
    reading = read(text)
    assert {row.paths for row in envelope(reading).permissions if row.capability == "email.send"} == {paths}
