"""The border: a draft is read strictly, and its faults are told so that they can be mended."""

from __future__ import annotations

import pytest

from agentsfence_compiler.draft import draft_schema, read_draft
from agentsfence_core.errors import CompilerError
from agentsfence_core.limits import LIMITS

ROW = {"capability": "email.send", "quote": "email bob"}


def test_a_small_draft_is_read() -> None:
    draft = read_draft({"purpose": "p", "permissions": [ROW], "prohibitions": [{"risk": "DELETE", "quote": "never"}]})
    assert draft.permissions[0].capability == "email.send"
    assert draft.prohibitions[0].risk == "DELETE"


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("text", "JSON object, not str"),
        (None, "JSON object, not NoneType"),
        ([], "JSON object, not list"),
        ({"grants": []}, "grants"),
        ({"permissions": [{**ROW, "tool": "x"}]}, "permissions.0.tool"),
        ({"permissions": [{"capability": "email.send"}]}, "permissions.0.quote"),
        ({"permissions": [{**ROW, "quote": ""}]}, "permissions.0.quote"),
        ({"permissions": [{**ROW, "quote": "x" * (LIMITS.quote + 1)}]}, "permissions.0.quote"),
        ({"permissions": [{"quote": "x"}]}, "either a capability or a risk"),
        ({"permissions": [{**ROW, "risk": "READ"}]}, "either a capability or a risk"),
        ({"permissions": [{"risk": "EVERYTHING", "quote": "x"}]}, "permissions.0.risk"),
        ({"permissions": [{**ROW, "recipients": "bob"}]}, "permissions.0.recipients"),
        ({"permissions": [{**ROW, "recipients": [1]}]}, "permissions.0.recipients.0"),
        ({"permissions": [{**ROW, "max_calls": "2"}]}, "permissions.0.max_calls"),
        ({"permissions": [{**ROW, "max_calls": True}]}, "permissions.0.max_calls"),
        ({"permissions": [{**ROW, "max_calls": -1}]}, "permissions.0.max_calls"),
        ({"permissions": [{**ROW, "max_amount": "ten"}]}, "permissions.0.max_amount"),
        ({"permissions": [{**ROW, "max_amount": "1e9"}]}, "permissions.0.max_amount"),
        ({"permissions": [{**ROW, "needs_approval": "no"}]}, "permissions.0.needs_approval"),
        ({"permissions": [ROW] * (LIMITS.draft_permissions + 1)}, "permissions"),
        ({"max_external_writes": 1.5}, "max_external_writes"),
    ],
)
def test_a_wrong_draft_is_refused_with_the_field(answer: object, fault: str) -> None:
    with pytest.raises(CompilerError, match=fault):
        read_draft(answer)


def test_the_schema_is_closed() -> None:
    assert draft_schema()["additionalProperties"] is False
