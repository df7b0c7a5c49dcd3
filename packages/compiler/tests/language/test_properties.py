"""Theorems of the language engine: total, deterministic, verbatim, linear; the pre-filter never skips authority."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsfence_compiler.language import mentions_authority, read
from agentsfence_compiler.language.envelope import envelope
from agentsfence_compiler.language.languages import LATIN, lexicon, markers, plain
from agentsfence_compiler.language.lexicon import english

WORDS = st.sampled_from(
    [
        "\n",
        "\n\n- ",
        *"""
        please don't do not never send email delete save pay run the a my it bob@x.com /srv/w/a.txt to
        from in and or , . ; : ? ! if unless without anything except only instead also "quoted text"
        `make docs` files summary report 10 € $5 how what why can you I schicke nichts an lösche envoie
        rien 不要 发送 删除 送信しないで отправь не أرسل لا #general @bob 'x.docx' named channel is forbidden be
        sent want rather ask me before at most two mails (a) -> → - * > ``` sned teh dont stop cancel as
        reader access
        """.split(),
    ]
)
TEXTS = st.one_of(st.text(max_size=300), st.lists(WORDS, max_size=40).map(" ".join))


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_total_and_verbatim(text: str) -> None:
    reading = read(text, home="/home/u", workspace="/srv/w", contacts={"bob": "bob@x.com"})
    for request in reading.requests:
        assert text[request.start : request.end] == request.quote
        assert request.quote
    for ban in reading.prohibitions:
        assert ban.quote in text
    assert envelope(reading, workspace="/srv/w") == envelope(
        read(text, home="/home/u", workspace="/srv/w", contacts={"bob": "bob@x.com"}), workspace="/srv/w"
    )


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_the_prefilter_never_skips_what_could_change_authority(text: str) -> None:
    reading = read(text)
    carries = reading.requests or reading.prohibitions or reading.requires_approval or reading.only_domains
    if carries or reading.continues or reading.max_external_writes is not None:
        assert mentions_authority(text)


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_a_literal_target_of_a_request_stands_in_the_words(text: str) -> None:
    lowered = text.lower()
    for request in read(text).requests:
        for party in request.recipients:
            assert party.lower() in lowered


@pytest.mark.parametrize(
    "text", ["thanks, what did the second one say?", "ok great", "why is that?", "how long is it?"]
)
def test_small_talk_is_skipped(text: str) -> None:
    assert not mentions_authority(text)


HOSTILE = {
    "and": "and ",
    "ban": "don't send ",
    "word": "a",
    "quote": '"',
    "curly": "\u201c",
    "apostrophe": "'a ",
    "address": "a@x.com, ",
    "verbs": "delete, ",
    "items": "- delete a.txt\n",
    "chinese": "不要发送",
    "japanese": "送信しないで、",
    "german": "und schicke nichts ",
    "conditions": "if ",
    "please": "please ",
    "remarks": "a: ",
    "passive": "not be sent ",
    "declared": "her address is a@b.com. email her. ",
    "copies": "cc c@d.com, ",
    "described": "don't delete the photos. delete /a/b. ",
}


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE)
def test_linear_time(unit: str) -> None:
    """Four times the text takes at most nine times as long, measured well above the noise."""

    def seconds(size: int) -> float:
        text = "email " + unit * (size // len(unit))
        started = time.process_time()
        read(text)
        return time.process_time() - started

    seconds(2_000)
    small = min(seconds(12_000) for _ in range(3))
    limit = max(0.3, 9 * small)  # quadratic reading would take sixteen times as long
    assert any(seconds(48_000) <= limit for _ in range(4))


def test_a_megabyte_of_one_token_and_ten_thousand_addresses_are_read() -> None:
    assert read("a" * 1_000_000).requests == ()
    (mail,) = read("email " + ", ".join(f"a{n}@x.com" for n in range(10_000))).requests
    assert len(mail.recipients) == 10_000


@pytest.mark.parametrize("language", LATIN)
def test_the_markers_hold_every_verb_that_is_no_english_word(language: str) -> None:
    words = english()
    known = markers()
    spoken = set(words.forms) | set(words.nouns) | {word for entries in words.sets.values() for word in entries}
    missing = {
        form
        for form in lexicon(language).forms
        if form.isalpha()
        and len(form) > 3
        and form not in spoken
        and language not in known.get(plain(form, language), ())
    }
    assert missing <= _ALSO_ENGLISH


_ALSO_ENGLISH = frozenset({"grave", "rode", "mandate"})
