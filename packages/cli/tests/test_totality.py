"""Theorem "total", for the lines of the command: whatever a line holds, it has an answer, and the next line too."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentsfence_cli.calls import call_of_line
from agentsfence_cli.jsonl import _answered
from agentsfence_cli.simulation import simulate
from agentsfence_cli.wire import JsonObject, action_object
from agentsfence_cli.workbench import Workbench

NAMES = st.sampled_from(
    ["steps", "user", "policy", "tool", "args", "approve", "expect", "draft", "settings", "tools", "workspace",
     "sender", "command", "shell", "workdir", "home", "compiler", "purpose", "allowed_tools", "to", "path", "id"]
)  # fmt: skip
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(
        [
            "once",
            "deny",
            "ALLOW",
            "rules",
            "fail",
            "write_file",
            "terminal",
            "rm -rf x",
            "Email it to a@x.example",
            "/srv/w",
        ]
    )
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=12
)
LINES = st.dictionaries(NAMES, VALUES, max_size=6)
STEPS = st.lists(st.dictionaries(NAMES, VALUES, min_size=1, max_size=2), max_size=4)
BUGS = ("KeyError", "TypeError", "AttributeError", "IndexError", "ValueError", "AssertionError")
QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def workbench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return Workbench.without_settings(tmp_path_factory.mktemp("home"))


def check(line: Mapping[str, object], answer: JsonObject, fields: set[str]) -> None:
    assert answer["id"] == line.get("id") or answer["id"] != answer["id"] or "error" in answer
    assert set(answer) == fields or set(answer) == {"id", "error"}
    if "error" in answer:
        assert not str(answer["error"]).startswith(
            ("KeyError", "TypeError", "AttributeError", "IndexError", "ValueError")
        )


@QUICK
@given(line=LINES, steps=STEPS)
def test_every_session_has_an_answer(line: dict[str, object], steps: list[object], workbench: Workbench) -> None:
    session = {**line, "steps": steps}
    answer = _answered(json.dumps(session).encode(), lambda data: simulate(data, workbench))
    check(session, answer, {"id", "results", "ok"})


@QUICK
@given(line=LINES)
def test_every_call_has_an_answer(line: dict[str, object], workbench: Workbench) -> None:
    def classified(data: Mapping[str, object]) -> JsonObject:
        return action_object(workbench.classify(call_of_line(data, "/home/u")))

    fields = {"id", "tool", "capability", "risk", "source", "effects", "recipients", "domains", "paths"}
    check(line, _answered(json.dumps(line).encode(), classified), fields)


@QUICK
@given(line=st.binary(max_size=60))
def test_every_line_of_bytes_has_an_answer(line: bytes, workbench: Workbench) -> None:
    answer = _answered(line, lambda data: simulate(data, workbench))
    assert set(answer) in ({"id", "error"}, {"id", "results", "ok"})
