"""/fence: what the person sees at the terminal and in a chat."""

from __future__ import annotations

import asyncio
import contextvars
from typing import TYPE_CHECKING, Any

import pytest
from packages.hermes.tests.real.test_questions import Prompt

if TYPE_CHECKING:
    from packages.hermes.tests.real.world import World

SEND = "mcp__mail__send_email"


def fence(world: World, words: str = "") -> str:
    """The command as Hermes dispatches it at the terminal."""
    from hermes_cli import plugins

    handler = plugins.get_plugin_command_handler("fence")
    assert handler is not None
    return str(plugins.resolve_plugin_command_result(handler(words)))


@pytest.fixture
def terminal(world: World) -> World:
    world.start()
    world.manager._cli_ref = type("Terminal", (), {"session_id": "S"})()
    world.say("Send emails to my colleague. Never delete any files.")
    return world


def test_shows_policy_questions_grants_and_decisions(terminal: World) -> None:
    Prompt(terminal)
    terminal.call(SEND, {"to": "john@example.com"})
    terminal.call("mcp__files__delete_file", {"path": "a"})
    shown = fence(terminal)
    assert "email.send" in shown
    assert "never: " in shown
    assert "Grants" in shown
    assert "BLOCK mcp__files__delete_file" in shown


def test_open_question_is_listed(terminal: World) -> None:
    terminal.call(SEND, {"to": "john@example.com"})
    assert "email.send needs your decision" in fence(terminal, "questions")


def test_grant_can_be_taken_back(terminal: World) -> None:
    prompt = Prompt(terminal)
    prompt.answer = "session"
    terminal.call(SEND, {"to": "john@example.com"})
    (grant,) = terminal.fence.grants("S")
    assert grant.id in fence(terminal, "grants")
    assert "taken back" in fence(terminal, f"revoke {grant.id}")
    prompt.answer = "deny"
    assert "error" in terminal.call(SEND, {"to": "john@example.com"})


def test_unknown_words_show_how_it_is_used(terminal: World) -> None:
    assert fence(terminal, "approve all").startswith("/fence")
    assert "no grant" in fence(terminal, "revoke x")


def test_fence_that_cannot_start_says_why(world: World) -> None:
    world.settings("presett: strict\n")
    world.start()
    assert "blocks every call" in fence(world)


def test_session_without_words_has_no_policy(world: World) -> None:
    """Hermes leaves the id of an earlier session in the environment; that one has said nothing to this fence."""
    world.start()
    for session in ("", "earlier"):
        world.patch.setattr("agentsfence_hermes.host.session_value", lambda _, found=session: found)
        shown = fence(world)
        assert "may only read" in shown or "reading only" in shown


def test_chat_sees_its_own_session(world: World) -> None:
    from gateway.config import Platform
    from gateway.platforms.base import MessageEvent
    from gateway.session import SessionSource
    from hermes_cli import plugins

    world.start()
    shown: list[str] = []

    async def dispatch(sender: str, text: str, command: bool) -> None:
        origin = SessionSource(Platform.TELEGRAM, sender, user_id=sender)
        event: Any = MessageEvent(text, source=origin)
        plugins.invoke_hook("pre_gateway_dispatch", event=event, gateway=None, session_store=None)
        if command:
            shown.append(fence(world, "policy"))
        else:
            await asyncio.to_thread(world.say, text, session=sender, task=sender, platform="telegram", sender=sender)

    for sender, text, command in (
        ("7", "Email john@example.com the report", False),
        ("8", "Email ann@example.com the report", False),
        ("7", "/fence policy", True),
        ("9", "/fence policy", True),
    ):
        contextvars.copy_context().run(asyncio.run, dispatch(sender, text, command))
    assert "john@example.com" in shown[0]
    assert "ann@example.com" not in shown[0]
    assert "may only read" in shown[1]
