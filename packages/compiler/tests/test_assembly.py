"""The derived view: it says what the rows say, and binds nothing that a row leaves open."""

from __future__ import annotations

import math

import pytest
from packages.compiler.tests.words import CLAUSES, message_of

from agentsfence_compiler.assembly import assemble, inferred_risks
from agentsfence_compiler.fallback import fallback
from agentsfence_compiler.language.reading import Envelope
from agentsfence_core.model import Permission, PolicySource, Prohibition, Risk, Targets, TaskPolicy, ToolConstraint

MAIL, MAIL_TWO, JOHN, SAVE, FIX, CLEAN, TESTS, PUSH, POST, PAY, READ, CRM = CLAUSES


def policy(*clauses: object) -> TaskPolicy:
    message = message_of(clauses)  # type: ignore[arg-type]
    return assemble(message.envelope, now=0.0, inferred=inferred_risks(message.reading.requests))


def test_reading_alone_turns_nothing_on() -> None:
    found = policy(READ)
    assert found.allowed_risk_classes == (Risk.READ,)
    assert not (found.allow_external_writes or found.allow_local_writes or found.allow_execution)
    assert found.max_external_writes == 0
    assert found.permissions == ()


def test_each_class_turns_its_own_ceiling_on() -> None:
    found = policy(SAVE, CLEAN)
    assert found.allow_local_writes
    assert found.allow_destructive_actions
    assert not found.allow_external_writes
    assert found.allowed_tools == ("file.write", "file.delete")


def test_a_class_is_listed_whole_only_where_that_adds_nothing() -> None:
    """After "run the tests", EXECUTION in ``allowed_risk_classes`` would list ``python -c …`` too."""
    assert policy(MAIL).allowed_risk_classes == (Risk.READ, Risk.COMMUNICATION)
    assert policy(TESTS, SAVE, PAY, CLEAN, PUSH).allowed_risk_classes == (Risk.READ,)


def test_an_inferred_capability_has_the_class_of_its_request() -> None:
    found = policy(CRM)
    assert found.allow_external_writes
    assert found.allowed_tools == ("crm_entry.update",)


def test_a_capability_without_a_class_is_no_row() -> None:
    found = assemble(Envelope((Permission(capability="thing.frob", evidence="x"),)), now=0.0)
    assert found.permissions == ()


def test_constraints_are_the_union_where_every_row_binds() -> None:
    assert policy(MAIL, MAIL_TWO).tool_constraints == {
        "email.send": ToolConstraint(allowed_recipients=("bob@x.example", "carol@x.example"))
    }
    assert policy(MAIL, JOHN).tool_constraints == {}


def test_recipients_bind_the_task_only_where_every_reaching_row_names_some() -> None:
    assert policy(MAIL, SAVE).allowed_recipients == ("bob@x.example",)
    assert policy(MAIL, PUSH).allowed_recipients == ()
    assert policy(MAIL, JOHN).allowed_recipients == ()


def test_denied_tools_hold_only_what_is_forbidden_whole() -> None:
    bans = (Prohibition(what="DELETE"), Prohibition(what="email.send", targets=Targets(recipients=("bob@x.example",))))
    found = assemble(Envelope(prohibitions=bans), now=0.0)
    assert found.denied_tools == ("DELETE",)
    assert found.user_prohibitions == bans


@pytest.mark.parametrize("now", [math.nan, math.inf, -math.inf, -1.0, 1e300, 0.0])
def test_any_clock_gives_a_date(now: float) -> None:
    found = assemble(Envelope(), now=now)
    assert found.created_at is not None
    assert found.expires_at is not None
    assert found.expires_at > found.created_at


def test_the_fallback_reads_and_keeps_every_ban() -> None:
    ban = Prohibition(what="READ", targets=Targets(paths=("/srv/x",)))
    found = fallback((ban,), 0.0, only_domains=("docs.example",))
    assert found.source is PolicySource.FALLBACK
    assert found.user_prohibitions == (ban,)
    assert found.allowed_risk_classes == (Risk.READ,)
    assert found.allowed_external_domains == ("docs.example",)
    assert found.permissions == ()
