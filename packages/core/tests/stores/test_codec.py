"""Records as bytes: equal after a round trip, and never half believed when a byte differs."""

from __future__ import annotations

from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsfence_core.stores import codec
from agentsfence_core.testkit.stores import a_record

RECORD = a_record(n=3)
PARTS = {
    "policy": (codec.encode_policy(RECORD.policy), codec.decode_policy),
    "grant": (codec.encode_grant(RECORD.state.grants[0]), codec.decode_grant),
    "number": (codec.encode_number(3), codec.decode_number),
    "facts": (codec.encode_facts(RECORD, born=7, policy_at=8, gone_at=9, grants_at=5, items=4), codec.decode_facts),
    "item": (codec.encode_item(RECORD.questions["q1"]), codec.decode_item),
}


def test_every_part_comes_back_as_it_was() -> None:
    assert codec.decode_policy(PARTS["policy"][0]) == RECORD.policy
    assert codec.decode_grant(PARTS["grant"][0]) == RECORD.state.grants[0]
    assert codec.decode_number(PARTS["number"][0]) == 3
    assert codec.decode_item(PARTS["item"][0]) == RECORD.questions["q1"]
    facts = codec.decode_facts(PARTS["facts"][0])
    assert facts.counters == RECORD.state.counters
    assert (facts.born, facts.policy_at, facts.gone_at, facts.grants_at, facts.items) == (7, 8, 9, 5, 4)
    assert (facts.starter, facts.parent, facts.instruction_digest, facts.last_seen) == ("ann", "root", "abc", 12.5)


def test_grants_are_no_part_of_what_every_check_rewrites() -> None:
    assert b"g1" in PARTS["grant"][0]
    assert b"g1" not in PARTS["facts"][0]


@pytest.mark.parametrize("part", PARTS)
def test_a_changed_or_cut_byte_is_damage_wherever_it_is(part: str) -> None:
    data, decode = PARTS[part]
    for place in range(len(data)):
        with pytest.raises(codec.DamagedError):
            decode(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(codec.DamagedError):
            decode(data[:place])


NO_MAPPINGS = [b"", b"null", b"[]", b"3.5", b"[" * 100_000, b"\xff"]
SHAPES = [(part, body) for part in PARTS for body in NO_MAPPINGS]
SHAPES += [(part, b'{"x": 1}') for part in PARTS if part != "item"]


@pytest.mark.parametrize(("part", "body"), SHAPES)
def test_a_whole_part_of_the_wrong_shape_is_damage_too(part: str, body: bytes) -> None:
    with pytest.raises(codec.DamagedError):
        PARTS[part][1](b"%08x" % crc32(body) + body)


@given(st.text(st.characters(codec=None), max_size=20))
def test_an_id_comes_back_character_for_character(text: str) -> None:
    assert codec.text(codec.key(text)) == text


@settings(max_examples=50)
@given(st.text(st.characters(codec=None), max_size=5), st.text(st.characters(codec=None), max_size=5))
def test_two_ids_share_a_key_only_if_they_are_one(first: str, second: str) -> None:
    assert (codec.key(first) == codec.key(second)) is (first == second)
