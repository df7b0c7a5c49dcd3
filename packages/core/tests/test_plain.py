"""Values as JSON types and back: nothing is lost, nothing wrong becomes a value."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsfence_core.model import ExecutionState, Grant, Scope, TaskPolicy
from agentsfence_core.plain import PlainError, from_plain, to_plain
from agentsfence_core.ports import ToolMapping


def test_default_values_are_left_out() -> None:
    assert to_plain(TaskPolicy()) == {}
    assert from_plain(TaskPolicy, {}) == TaskPolicy()


def test_sets_have_one_text() -> None:
    state = ExecutionState(denied=frozenset({"b", "a", "c"}))
    assert to_plain(state) == {"denied": ["a", "b", "c"]}


GRANT = {"id": "g", "tool": "t", "deltas": [], "arguments_digest": "d"}
WRONG: list[tuple[object, object, tuple[object, ...], str]] = [
    (TaskPolicy, [], (), "must be a mapping"),
    (TaskPolicy, {"purpose": 3}, ("purpose",), "must be a text"),
    (TaskPolicy, {"allow_execution": 1}, ("allow_execution",), "must be true or false"),
    (TaskPolicy, {"allow_execution": None}, ("allow_execution",), "must be true or false"),
    (TaskPolicy, {"max_external_writes": True}, ("max_external_writes",), "must be a whole number"),
    (TaskPolicy, {"max_external_writes": 1.0}, ("max_external_writes",), "must be a whole number"),
    (TaskPolicy, {"allowed_tools": ["a", 1]}, ("allowed_tools", 1), "must be a text"),
    (TaskPolicy, {"allowed_tools": "ab"}, ("allowed_tools",), "must be a list"),
    (TaskPolicy, {"allowed_risk_classes": ["REED"]}, ("allowed_risk_classes", 0), "'REED' is not known here"),
    (TaskPolicy, {"tool_constraints": {"a": {"max_call": 1}}}, ("tool_constraints", "a", "max_call"), "unknown field"),
    (TaskPolicy, {"tool_constraints": {1: {}}}, ("tool_constraints",), "must be a text"),
    (TaskPolicy, {"expires_at": "soon"}, ("expires_at",), "no time"),
    (TaskPolicy, {"permissions": [{}]}, ("permissions", 0, "capability"), "missing"),
    (Grant, {**GRANT, "scope": "ever"}, ("scope",), "'ever' is not known here"),
    (
        Grant,
        {**GRANT, "deltas": [{"capability": "a", "risk": "b", "values": [["a"]]}]},
        ("deltas", 0, "values", 0),
        "wrong length",
    ),
    (ToolMapping, {"match": "x", "capability": "y"}, ("risk",), "missing"),
]


@pytest.mark.parametrize(("kind", "data", "path", "message"), WRONG)
def test_wrong_data_is_refused_with_its_place(kind: type, data: object, path: tuple[object, ...], message: str) -> None:
    with pytest.raises(PlainError) as caught:
        from_plain(kind, data)
    assert caught.value.path == path
    assert message in str(caught.value)


def test_a_suggestion_is_near_whatever_its_case() -> None:
    with pytest.raises(PlainError) as caught:
        from_plain(TaskPolicy, {"allowed_risk_classes": ["delete"]})
    assert caught.value.hint == "did you mean DELETE?"


TEXT = st.text(max_size=6)
GRANTS = st.builds(
    Grant,
    id=TEXT,
    tool=TEXT,
    deltas=st.just(()),
    arguments_digest=TEXT,
    answers=st.frozensets(TEXT, max_size=3),
    scope=st.sampled_from(Scope),
    max_calls=st.none() | st.integers(0, 99),
    expires_at=st.none() | st.floats(0, 1e10),
    granted_by=st.none() | TEXT,
)


@settings(max_examples=80, deadline=None)
@given(
    st.builds(
        ExecutionState,
        counters=st.dictionaries(TEXT, st.integers(0, 99), max_size=3),
        grant_uses=st.dictionaries(TEXT, st.integers(0, 99), max_size=3),
        grants=st.lists(GRANTS, max_size=2).map(tuple),
        denied=st.frozensets(TEXT, max_size=3),
    )
)
def test_a_state_comes_back_from_json_as_it_was(state: ExecutionState) -> None:
    assert from_plain(ExecutionState, json.loads(json.dumps(to_plain(state)))) == state


DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(TEXT | st.sampled_from(["grants", "id", "counters"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(DATA)
def test_any_data_is_a_value_or_a_plain_error(data: object) -> None:
    try:
        assert isinstance(from_plain(ExecutionState, data), ExecutionState)
    except PlainError as error:
        assert str(error)
