"""What a clause only tells beside is no target of its request: regressions found by reading attacks on the compiler."""

from __future__ import annotations

import pytest

from agentsfence_compiler.language import read

BOB, EVE, ALICE = "bob@x.example", "eve@x.example", "alice@x.example"


@pytest.mark.parametrize(
    ("text", "reached"),
    [
        ("Send {bob} the invoice you sent to {eve}", (BOB,)),
        ("Send the invoice you sent to {eve} to {alice}", (ALICE,)),
        ("Send the invoice you sent to {eve}", ()),
        ("Send the report you wrote to {bob}", (BOB,)),
        ("Email {bob} like you did to {eve}", (BOB,)),
        ("Send the mails addressed to {eve} to {alice}", (ALICE,)),
        ("Send an email addressed to {bob}", (BOB,)),
        ("Send {alice}'s report to {bob}", (BOB,)),
        ("Send the report to {bob}'s inbox", (BOB,)),
        ("Share /srv/w/a.txt with {bob} like I shared it with {eve}", (BOB,)),
        ("Share /srv/w/a.txt with {alice} as {eve}", (ALICE,)),
        ("Email {alice} as well as {bob}", (ALICE, BOB)),
        ("Email {alice}, {bob} that the build is green", (ALICE, BOB)),
        ("Pay {bob} 10 EUR, the 500 EUR to {eve} are already paid", (BOB,)),
        ("Email {bob} and {eve} is on holiday", (BOB,)),
    ],
)
def test_only_the_object_of_the_request_is_reached(text: str, reached: tuple[str, ...]) -> None:
    reading = read(text.format(bob=BOB, eve=EVE, alice=ALICE), workspace="/srv/w")
    assert {request.recipients for request in reading.requests} == {reached}


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("Delete the old version, /srv/w/a.txt is the new one", ()),
        ("Delete /srv/w/a.txt after comparing it to /srv/w/b.txt", ("/srv/w/a.txt",)),
        ("Remove the import of /srv/w/b.py from /srv/w/a.py", ("/srv/w/a.py",)),
        ("Delete the reference to /srv/w/a.txt", ()),
        ("Add a link to /srv/w/a.txt in /srv/w/b.md", ("/srv/w/b.md",)),
        ("Delete /srv/w/a.txt and /srv/w/b.txt", ("/srv/w/a.txt", "/srv/w/b.txt")),
    ],
)
def test_only_the_object_of_the_request_is_changed(text: str, paths: tuple[str, ...]) -> None:
    assert {request.paths for request in read(text, workspace="/srv/w").requests} == {paths}


def test_a_part_of_a_file_is_edited_and_the_file_not_deleted() -> None:
    for text in ("Remove the import of /srv/w/b.py from /srv/w/a.py", "Delete the reference to /srv/w/a.txt"):
        assert [request.capabilities for request in read(text).requests] == [("file.write",)]


def test_an_amount_told_beside_does_not_raise_what_may_be_paid() -> None:
    reading = read(f"Pay {BOB} 10 EUR, the 500 EUR to {EVE} are already paid")
    assert [request.max_amount for request in reading.requests] == ["10"]


def test_a_ban_counts_what_is_told_beside() -> None:
    bans = read("Tidy up the files. Leave the rest, /srv/w/b.txt is off limits", workspace="/srv/w").prohibitions
    assert any("/srv/w/b.txt" in ban.targets.paths for ban in bans)


@pytest.mark.parametrize(
    "text", ["Email the report that is in /srv/w/a.pdf to {bob}", "Send the file you created to {bob}"]
)
def test_the_recipient_behind_a_relative_clause_is_reached(text: str) -> None:
    assert [request.recipients for request in read(text.format(bob=BOB), workspace="/srv/w").requests] == [(BOB,)]
