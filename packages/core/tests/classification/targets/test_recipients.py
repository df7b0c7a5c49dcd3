"""Recipients: every party that a lenient client would reach, and no display name."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsfence_core.classification.targets.recipients import (
    addresses_in,
    canonical_recipient,
    find_addresses,
    read_recipients,
    recipients_in_mime,
)

READ: list[tuple[object, list[str]]] = [
    ("alice@x.example", ["alice@x.example"]),
    ("ALICE@X.EXAMPLE.", ["alice@x.example"]),
    ("Alice Smith <alice@x.example>", ["alice@x.example"]),
    ('"alice@x.example" <mallory@y.example>', ["mallory@y.example"]),
    ('"alice@x" <mallory@y>', ["mallory@y"]),
    ("'alice@x.example' <alice@x.example>", ["alice@x.example"]),
    ('"Smith, Alice" <alice@x.example>; bob@x.example', ["alice@x.example", "bob@x.example"]),
    ('"a \\" <b@x.example>, " <c@x.example>', ["c@x.example"]),
    ("a@x.example, b@x.example;c@x.example", ["a@x.example", "b@x.example", "c@x.example"]),
    ("a@x.example b@x.example", ["a@x.example", "b@x.example"]),
    ("a@x.example\nb@x.example", ["a@x.example", "b@x.example"]),
    # Two parties where one is shown
    ("<john@x.example> <evil@y.example>", ["john@x.example", "evil@y.example"]),
    ("<john@x.example> evil@y.example", ["john@x.example", "evil@y.example"]),
    ("evil@y.example <john@x.example>", ["john@x.example", "evil@y.example"]),
    ('john@x.example"evil@y.example', ["john@x.example", "evil@y.example"]),
    ('"unclosed <john@x.example>, evil@y.example', ["john@x.example", "evil@y.example"]),
    ("<a@x.example, b@x.example>", ["a@x.example", "b@x.example"]),
    ("<@relay.example,@other.example:c@x.example>", ["c@x.example"]),
    ("john@x.example #general @bob", ["john@x.example", "#general", "@bob"]),
    ("john@x.example +15550100123", ["john@x.example", "+15550100123"]),
    ("john@x.example@evil.example", ["john@x.example@evil.example"]),
    ("Team: a@x.example, b@x.example;", ["a@x.example", "b@x.example"]),
    ("undisclosed-recipients:;", []),
    ("john@x.example (evil@y.example)", ["john@x.example"]),
    # Header injection
    ("a@x.example\nBcc: b@y.example", ["a@x.example", "b@y.example"]),
    ("a@x.example\r\nBCC : b@y.example, c@y.example", ["a@x.example", "b@y.example", "c@y.example"]),
    ("a@x.example\rcc:b@y.example", ["a@x.example", "b@y.example"]),
    ("a@x.example%0d%0aBcc:b@y.example", ["a@x.example", "b@y.example"]),
    ("a@x.example\u2028Bcc: b@y.example", ["a@x.example", "b@y.example"]),
    ("a@x.example\nSubject: ask b@y.example", ["a@x.example"]),
    # mailto
    (
        "mailto:a@x.example?cc=b@x.example&bcc=c%40x.example&subject=d@x.example",
        ["a@x.example", "b@x.example", "c@x.example"],
    ),
    ("MAILTO:a%40x.example,b@x.example", ["a@x.example", "b@x.example"]),
    ("mailto:?to=a@x.example", ["a@x.example"]),
    # Encoded words
    ("=?utf-8?q?evil=40y.example?= <john@x.example>", ["john@x.example", "evil@y.example"]),
    ("=?utf-8?B?" + base64.b64encode(b"evil@y.example").decode() + "?=", ["evil@y.example"]),
    ("=?utf-8?q?J=C3=B6rg?= <john@x.example>", ["john@x.example"]),
    # Structures
    ({"evil@y.example": "john@x.example"}, ["evil@y.example", "john@x.example"]),
    ([{"email": "john@x.example", "name": "John", "type": "to"}], ["john@x.example"]),
    ({"emailAddress": {"address": "john@x.example", "name": "evil@y.example"}}, ["john@x.example"]),
    ({"name": "Bob"}, ["bob"]),
    ('["a@x.example", {"email": "b@x.example"}]', ["a@x.example", "b@x.example"]),
    ('{"to": "a@x.example"}', ["a@x.example"]),
    ("['a@x.example', 'b@x.example']", ["a@x.example", "b@x.example"]),
    (json.dumps(json.dumps(["a@x.example"])), ["a@x.example"]),
    ({"chat_id": 12345, "silent": True, "priority": 3}, ["12345"]),
    ([[[["a@x.example"]]], None, "", True], ["a@x.example"]),
    (b"a@x.example", ["a@x.example"]),
    (12345, ["12345"]),
    (-100123.0, ["-100123"]),
    (None, []),
    # Other parties
    ("@bob", ["@bob"]),
    ("#General", ["#general"]),
    ("C0123", ["c0123"]),
    ("<@U123ABC>", ["u123abc"]),
    ("<#C123|general>", ["c123"]),
    ("+1 (555) 010-0123", ["+15550100123"]),
    ("+44 (0)20 7946 0000", ["+442079460000"]),
    ("0171 234 5678", ["01712345678"]),
    ("tel:+15550100123", ["+15550100123"]),
    ("whatsapp:+15550100123", ["whatsapp:+15550100123"]),
    ("telegram:12345", ["telegram:12345"]),
    ("19:abc@thread.v2", ["19:abc@thread.v2"]),
    ("@bob:server.example", ["@bob:server.example"]),
    ("DE89 3704 0044 0532 0130 00", ["de89370400440532013000"]),
    ("GB29NWBK60161331926819", ["gb29nwbk60161331926819"]),
    ("https://Hooks.Example/T1/B2?x=1,2", ["https://hooks.example/t1/b2?x=1,2"]),
    ("https://a.example/x, https://b.example/y", ["https://a.example/x", "https://b.example/y"]),
    ("https://a.example/x,evil@y.example", ["https://a.example/x", "evil@y.example"]),
    ("Bob  Smith", ["bob smith"]),
    # Look-alikes
    ("\u0430lice@x.example", ["\u0430lice@x.example"]),
    ("john@ex\u0430mple.com", ["john@xn--exmple-4nf.com"]),
    ("\u212aim@x.example", ["\u212aim@x.example"]),
    ("bob@b\u00fccher.example", ["bob@xn--bcher-kva.example"]),
]


@pytest.mark.parametrize(("value", "parties"), READ)
def test_every_party_is_read_and_nothing_else(value: object, parties: list[str]) -> None:
    reading = read_recipients(value)
    assert list(reading.parties) == parties
    assert reading.complete


def test_a_quoted_local_part_is_one_address() -> None:
    assert read_recipients('"john"@x.example').parties == ("john@x.example",)
    (party,) = read_recipients('"a, john@x.example"@y.example').parties
    assert party != "john@x.example"


def test_what_cannot_be_read_is_said() -> None:
    cycle: list[object] = []
    cycle.append(cycle)
    deep: object = "a@x.example"
    for _ in range(100):
        deep = [deep]
    for value in (cycle, deep, object(), float("nan"), ["a"] * 100_000, "a@x.example," * 200_000):
        assert not read_recipients(value).complete


def test_raw_messages_give_their_recipients() -> None:
    to = "To: Bob <bob@x.example>,\r\n carol@x.example"
    head = f"From: me@x.example\r\n{to}\r\nBCC: evil@y.example\r\n\r\nTo: no@x.example"
    expected = ("bob@x.example", "carol@x.example", "evil@y.example")
    assert recipients_in_mime(head).parties == expected
    assert recipients_in_mime(base64.urlsafe_b64encode(head.encode()).decode().rstrip("=")).parties == expected
    assert recipients_in_mime("VG86IGV2aWxAeC5jb20KClNlY3JldA==").parties == ("evil@x.com",)
    assert not recipients_in_mime("no base64 at all!").complete


PROSE = [
    ("Email bob@x.example.", ["bob@x.example"]),
    ("send it to not-alice@x.example", ["not-alice@x.example"]),
    ("(bob@x.example), <c@x.example>; 'd@x.example'", ["bob@x.example", "c@x.example", "d@x.example"]),
    ("**bob@x.example** and _carol@x.example_ and `d@x.example`", ["bob@x.example", "carol@x.example", "d@x.example"]),
    ("to bob@x.example's inbox", ["bob@x.example"]),
    ("a@x.example/b@x.example", ["a@x.example", "b@x.example"]),
    ("mailto:z@x.example", ["z@x.example"]),
    ("\u628a\u6458\u8981\u53d1\u7ed9bob@x.example\u8c22\u8c22", ["bob@x.example"]),
    ("bob@x.example\uc5d0\uac8c \ubcf4\ub0b4", ["bob@x.example"]),
    ("\u05dc-bob@x.example", ["bob@x.example"]),
    ("\u0430lice@x.example", ["\u0430lice@x.example"]),
    ("root@localhost and root@10.0.0.5", ["root@localhost", "root@10.0.0.5"]),
    ("open https://user@host.example/x", []),
    ("git clone git@github.com:org/repo.git", []),
    ("npm install react@latest lodash@4.17.1 left-pad@^1.0", []),
    ("john@x.example@evil.example", []),
    ("bob@x.example%evil", []),
    ("ping @bob at noon", []),
]


@pytest.mark.parametrize(("text", "addresses"), PROSE)
def test_a_person_s_addresses_are_whole_tokens_with_a_place(text: str, addresses: list[str]) -> None:
    found = find_addresses(text)
    assert [address for _, _, address in found] == addresses
    for start, end, address in found:
        assert canonical_recipient(text[start:end]) == address


def test_a_call_s_tokens_are_never_cut() -> None:
    assert "alice@x.example" not in addresses_in("not-alice@x.example")
    assert "bob@x.example" not in addresses_in("\u6076bob@x.example")
    assert addresses_in("bob@x.example\u8c22") != ("bob@x.example",)


_PARTIES = st.text(alphabet="ab@.<>,;:\"'()\\ \n#+-=?%0139DEhtps/\u0430\u212a\u00e9|`mailto", max_size=40)


@given(st.one_of(_PARTIES, st.text(max_size=40)))
@settings(max_examples=500, deadline=None)
def test_canonicalisation_idempotent(text: str) -> None:
    once = canonical_recipient(text)
    assert canonical_recipient(once) == once


_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.binary(max_size=20), _PARTIES),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_PARTIES, inner, max_size=3)),
    max_leaves=8,
)


@given(_VALUES)
@settings(max_examples=300, deadline=None)
def test_reading_recipients_never_raises(value: object) -> None:
    read_recipients(value)


@given(st.text(max_size=80))
@settings(max_examples=200, deadline=None)
def test_reading_texts_never_raises(text: str) -> None:
    addresses_in(text)
    recipients_in_mime(text)
    for start, end, _ in find_addresses(text):
        assert 0 <= start < end <= len(text)


@given(_PARTIES)
@settings(max_examples=200, deadline=None)
def test_a_party_beside_an_allowed_one_is_always_seen(text: str) -> None:
    """INVARIANT: whatever is written before it, an address in angle brackets behind a comma is read."""
    if text.count('"') % 2 or "\\" in text or "(" in text or "<" in text or text.lstrip()[:1] in {"{", "["}:
        return
    assert "evil@y.example" in read_recipients(f"{text}\n<evil@y.example>").parties
