"""Which task a call belongs to, with Hermes' own ids and records."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packages.hermes.tests.real.world import World

SEND, READ = "mcp__mail__send_email", "mcp__mail__read_thing"
JOHN, MALLORY = {"to": "john@example.com"}, {"to": "mallory@evil.example"}


def test_no_ids_at_all_is_blocked_reading_included(world: World) -> None:
    world.start().say("Email john@example.com the report")
    for tool in (SEND, READ):
        assert "belongs to no task" in world.call(tool, JOHN, session_id="", task_id="", tool_call_id="")
    assert world.ran == []


def test_task_id_that_no_turn_has_shown_is_blocked(world: World) -> None:
    world.start().say("Email john@example.com the report")
    assert "belongs to no task" in world.call(READ, session_id="", task_id="elsewhere")


def test_task_id_of_a_turn_is_that_turns_task(world: World) -> None:
    world.start().say("Email john@example.com the report")
    assert world.call(SEND, JOHN, session_id="", tool_call_id="") == "{}"
    assert "error" in world.call(SEND, MALLORY, session_id="", tool_call_id="")


def test_unknown_session_may_only_read(world: World) -> None:
    world.start().say("Email john@example.com the report")
    assert "error" in world.call(SEND, JOHN, session_id="another", task_id="another")
    assert world.call(READ, session_id="another", task_id="another") == "{}"


def test_session_rotated_in_mid_turn_keeps_its_policy(world: World) -> None:
    world.start()
    world.say("Send one email to john@example.com", session="S1", task="T1")
    turn = next(iter(world.adapter.profile.identity._turns._kept))
    assert world.call(SEND, JOHN, session_id="S2", task_id="T1", turn_id=turn) == "{}"
    assert "max_calls_used" in world.call(SEND, JOHN, session_id="S2", task_id="T1")


def test_session_rotated_before_its_turn_keeps_its_policy(world: World) -> None:
    """Compression between two turns: only Hermes' record tells."""
    from hermes_state import SessionDB

    world.start()
    database = SessionDB(world.home / "state.db")
    for session, parent in (("S1", None), ("S2", "S1"), ("S3", "S2")):
        database.create_session(session, source="cli", parent_session_id=parent)
    database.end_session("S1", "compression")
    database.end_session("S2", "compression")
    database.close()
    world.say("Don't email mallory@evil.example. Send one email to john@example.com", session="S1", task="S1")
    world.say("Go on", session="S3", task="S3")
    assert world.call(SEND, JOHN, session_id="S3", task_id="S3") == "{}"
    assert "prohibited" in world.call(SEND, MALLORY, session_id="S3", task_id="S3")


def test_new_session_begins_without_the_old_ones_permissions(world: World) -> None:
    world.start()
    world.say("Email john@example.com the report", session="S1", task="S1")
    world.say("Hello", session="S2", task="S2")
    assert "error" in world.call(SEND, JOHN, session_id="S2", task_id="S2")


def test_branch_keeps_the_bans_and_no_permissions(world: World) -> None:
    from hermes_state import SessionDB

    world.start()
    database = SessionDB(world.home / "state.db")
    database.create_session("S1", source="cli")
    database.create_session("S2", source="cli", parent_session_id="S1", model_config={"_branched_from": "S1"})
    database.end_session("S1", "branched")
    database.close()
    world.say("Email john@example.com the report, but never delete any files", session="S1", task="S1")
    world.say("Email ann@example.com the report", session="S2", task="S2")
    assert "error" in world.call(SEND, JOHN, session_id="S2", task_id="S2")
    assert world.call(SEND, {"to": "ann@example.com"}, session_id="S2", task_id="S2") == "{}"
    assert [ban.quote for ban in world.fence.policy("S2").user_prohibitions] == [
        ban.quote for ban in world.fence.policy("S1").user_prohibitions
    ]


def test_resumed_session_has_its_policy_in_another_process(world: World) -> None:
    world.start().say("Send one email to john@example.com")
    world.call(SEND, JOHN)
    world.close()
    world.start().say("Go on")
    assert "max_calls_used" in world.call(SEND, JOHN)


def test_nested_calls_without_ids_are_each_a_new_call(world: World) -> None:
    world.start().say("Send one email to john@example.com")
    first = world.call(SEND, JOHN, session_id="", tool_call_id="")
    second = world.call(SEND, JOHN, session_id="", tool_call_id="")
    assert first == "{}"
    assert "max_calls_used" in second
