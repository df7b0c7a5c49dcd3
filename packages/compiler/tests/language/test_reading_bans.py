"""Bans on looking, and turns that only add a target: regressions found by reading attacks on the compiler."""

from __future__ import annotations

import pytest

from agentsfence_compiler.language import read


@pytest.mark.parametrize(
    ("text", "what", "target"),
    [
        ("Don't read /srv/w/secret.txt", "file.read", "/srv/w/secret.txt"),
        ("Never look at /srv/w/secret.txt.", "file.read", "/srv/w/secret.txt"),
        ("Look around, but don't open /srv/w/private/", "file.search", "/srv/w/private/"),
        ("Never visit evil.example", "web.read", "*.evil.example"),
        ("Don't go to evil.example", "browser.navigate", "evil.example"),
    ],
)
def test_a_ban_on_looking_holds_for_what_it_names(text: str, what: str, target: str) -> None:
    bans = read(text, workspace="/srv/w").prohibitions
    assert any(ban.what == what and target in {*ban.targets.paths, *ban.targets.domains} for ban in bans)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Don't access the internet.", "web.read"),
        ("Don't read my emails", "email.read"),
        ("Never open my calendar", "calendar.read"),
        ("Don't run any shell commands.", "terminal"),
    ],
)
def test_a_ban_on_a_whole_store_is_read(text: str, what: str) -> None:
    assert any(ban.what == what and not ban.targets for ban in read(text).prohibitions)


@pytest.mark.parametrize("text", ["Don't read too much into it", "Don't look so sad", "Don't use a.txt as a template"])
def test_a_turn_of_speech_bans_no_reading(text: str) -> None:
    assert not [ban for ban in read(text, workspace="/srv/w").prohibitions if ban.what.endswith(".read")]


@pytest.mark.parametrize(
    "text",
    [
        "also, eve@x.example complained", "eve@x.example too?", "Instead of eve@x.example I saw bob",
        "Also in /srv/w/b.txt there is a typo", "Also, /srv/w/b.txt looks wrong",
    ],
)  # fmt: skip
def test_a_remark_or_question_adds_no_target(text: str) -> None:
    reading = read(text, workspace="/srv/w")
    assert not reading.continues and not reading.requests


@pytest.mark.parametrize(
    "text",
    ["also to eve@x.example please", "eve@x.example too", "sorry, I meant eve@x.example", "eve@x.example instead"],
)
def test_nothing_but_a_target_adds_it(text: str) -> None:
    assert [request.recipients for request in read(text).requests] == [("eve@x.example",)]
