"""A layered mapping is a plain one that is cheap to derive from: same items, same order, exact changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentsfence_core.layered import Layered, changes

NAMES = st.sampled_from([f"n{number}" for number in range(90)])
STEPS = st.lists(st.tuples(st.booleans(), NAMES), max_size=200)


@given(STEPS, st.data())
def test_it_is_what_a_dictionary_would_be_and_knows_what_changed(
    steps: list[tuple[bool, str]], data: st.DataObject
) -> None:
    plain: dict[str, object] = {}
    mapping: Layered[object] = Layered()
    history = [(dict(plain), mapping)]
    for add, name in steps:
        if add:
            plain[name] = value = object()
            mapping = mapping.having(name, value)
        else:
            plain.pop(name, None)
            mapping = mapping.lacking([name])
        history.append((dict(plain), mapping))
    for kept, then in history:
        assert list(then.items()) == list(kept.items())
        assert len(then) == len(kept)
    first = data.draw(st.integers(0, len(history) - 1))
    second = data.draw(st.integers(0, len(history) - 1))
    before, after = history[first], history[second]
    changed = changes(before[1], after[1])
    rebuilt = {**before[0], **changed}
    assert {name: value for name, value in rebuilt.items() if value is not None} == after[0]
    for name, item in changed.items():
        assert before[0].get(name) is not item


def test_a_plain_dictionary_may_stand_on_either_side() -> None:
    one = {"a": 1, "b": 2}
    assert changes(one, one) == {}
    assert changes(one, {"b": 3, "c": 4}) == {"a": None, "b": 3, "c": 4}
    assert changes({}, Layered({"a": 1}).having("b", 2)) == {"a": 1, "b": 2}
    assert Layered({"a": 1}) == {"a": 1}
