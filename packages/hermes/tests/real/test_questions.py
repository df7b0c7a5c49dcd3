"""Questions: put to a person legibly, answered by a person, and never answered by Hermes for a block."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from packages.hermes.tests.real.world import World

SEND, DELETE = "mcp__mail__send_email", "mcp__files__delete_file"
JOHN = {"to": "john@example.com", "body": "hello"}


class Prompt:
    """A person at a prompt, or whatever answers there."""

    def __init__(self, world: World) -> None:
        from tools import terminal_tool

        self.asked: list[str] = []
        self.answer = "once"
        world.patch.setenv("HERMES_INTERACTIVE", "1")
        terminal_tool.set_approval_callback(self._answer)

    def _answer(self, command: str, description: str, **_: object) -> str:
        self.asked.append(description)
        return self.answer


class Chat:
    """A person in a chat who answers by a button."""

    def __init__(self, world: World, key: str = "agent:main:telegram:dm:1") -> None:
        from gateway.session_context import set_session_vars
        from tools import approval

        self.asked: list[dict[str, Any]] = []
        self.answer: str | None = "once"
        self.key = key
        self.token = approval.set_current_session_key(key)
        self.vars = set_session_vars(platform="telegram", session_key=key, chat_id="1", user_id="7")
        approval.register_gateway_notify(key, self._ask)

    def _ask(self, data: dict[str, Any]) -> None:
        from tools import approval

        self.asked.append(data)
        if self.answer is not None:
            threading.Timer(0.05, approval.resolve_gateway_approval, (self.key, self.answer)).start()

    def close(self) -> None:
        from gateway.session_context import clear_session_vars
        from tools import approval

        approval.unregister_gateway_notify(self.key)
        clear_session_vars(self.vars)
        approval.reset_current_session_key(self.token)


@pytest.fixture
def prompt(world: World) -> Prompt:
    world.start().say("Send emails to my colleague")
    return Prompt(world)


@pytest.fixture
def chat(world: World) -> Iterator[Chat]:
    world.start().say("Send emails to my colleague")
    made = Chat(world)
    yield made
    made.close()


def test_yes_at_the_prompt_runs_the_call_once_and_is_a_grant(world: World, prompt: Prompt) -> None:
    assert world.call(SEND, JOHN) == "{}"
    assert "email.send to john@example.com" in prompt.asked[0]
    assert [grant.max_calls for grant in world.fence.grants("S")] == [1]
    world.call(SEND, JOHN)
    assert len(prompt.asked) == 2


def test_no_at_the_prompt_runs_nothing_and_is_remembered(world: World, prompt: Prompt) -> None:
    prompt.answer = "deny"
    assert "error" in world.call(SEND, JOHN)
    prompt.answer = "once"
    assert "said no" in world.call(SEND, JOHN)
    assert len(prompt.asked) == 1
    assert world.ran == []


@pytest.mark.parametrize("answer", ["session", "always"])
def test_lasting_yes_is_a_capped_grant_of_the_fence(world: World, prompt: Prompt, answer: str) -> None:
    prompt.answer = answer
    for _ in range(3):
        assert world.call(SEND, JOHN) == "{}"
    assert len(prompt.asked) == 1
    (grant,) = world.fence.grants("S")
    assert grant.scope.value == "task"
    world.fence.revoke("S", grant.id)
    prompt.answer = "deny"
    assert "error" in world.call(SEND, JOHN)  # what Hermes remembers answers no later question
    assert len(world.ran) == 3


def test_yes_covers_the_call_shown_and_no_other(world: World, prompt: Prompt) -> None:
    prompt.answer = "session"
    world.call(SEND, JOHN)
    prompt.answer = "deny"
    assert "error" in world.call(SEND, {"to": "mallory@evil.example"})
    assert world.bodies(SEND) == [JOHN]


def test_ban_is_blocked_without_asking(world: World, prompt: Prompt) -> None:
    world.say("Never email mallory@evil.example")
    assert "prohibited" in world.call(SEND, {"to": "mallory@evil.example"})
    assert prompt.asked == []


@pytest.mark.parametrize("answer", ["once", "session"])
def test_yes_in_a_chat_is_learned_from_hermes(world: World, chat: Chat, answer: str) -> None:
    chat.answer = answer
    assert world.call(SEND, JOHN) == "{}"
    (grant,) = world.fence.grants("S")
    assert grant.scope.value == ("task" if answer == "session" else "once")


@pytest.mark.parametrize("answer", ["deny", None], ids=["deny", "silence"])
def test_no_and_silence_in_a_chat_run_nothing(world: World, chat: Chat, answer: str | None) -> None:
    chat.answer = answer
    assert "error" in world.call(SEND, JOHN)
    assert world.ran == []
    assert world.fence.grants("S") == ()


def test_silence_is_no_denial(world: World, chat: Chat) -> None:
    chat.answer = None
    world.call(SEND, JOHN)
    chat.answer = "once"
    assert world.call(SEND, JOHN) == "{}"


def test_group_is_not_asked_although_each_has_a_session_there(world: World, chat: Chat) -> None:
    """Every member of the group whom Hermes serves can press the button of another one's question."""
    session = world.adapter.profile.session("S")
    session.public, session.starter = True, "Ann"
    assert "Ask Ann to write it as a request" in world.call(SEND, JOHN)
    assert chat.asked == []


def test_shared_chat_sends_others_to_the_person_who_started(world: World, chat: Chat) -> None:
    """Hermes cannot say who pressed the button."""
    session = world.adapter.profile.session("S")
    session.shared, session.starter = True, "Ann"
    answer = world.call(SEND, JOHN)
    assert "Ask Ann to write it as a request (email.send)" in answer
    assert chat.asked == []
    assert world.ran == []


def test_phone_number_stays_legible(world: World, chat: Chat) -> None:
    """Hermes hides what looks like a phone number in every question."""
    world.tool("mcp__phone__send_sms")
    world.call("mcp__phone__send_sms", {"to": "+15551234567", "body": "hello"})
    assert "*" not in chat.asked[0]["description"]
    assert "+15551234567" in chat.asked[0]["description"].replace(" ", "")


def test_question_that_a_chat_would_cut_is_not_put(world: World, chat: Chat) -> None:
    world.tool("mcp__mail__send_mails", {"to": {"type": "array", "items": {"type": "string"}}})
    many = [f"somebody-{number}@a-rather-long-domain.example" for number in range(40)]
    answer = world.call("mcp__mail__send_mails", {"to": many})
    assert "too many targets" in answer
    assert chat.asked == []


def test_nobody_there_says_what_to_write(world: World) -> None:
    world.start().say("Send emails to my colleague")
    answer = world.call(SEND, JOHN)
    assert "Nobody is here to answer: to authorize it, write it as a request (email.send)" in answer
    assert world.ran == []


# --------------------------------------------------------------------------------------------- Hermes answers by itself


def _yolo(world: World) -> None:
    from tools import approval

    world.patch.setattr(approval, "_YOLO_MODE_FROZEN", True)


def _session_yolo(world: World) -> None:
    from tools import approval

    key = approval.get_current_session_key(default="") or "Y"
    world.patch.setattr(approval, "get_current_session_key", lambda default="default": key)
    world.patch.setattr(approval, "_session_yolo", {key})


def _cron(world: World) -> None:
    from tools import approval

    world.patch.setenv("HERMES_CRON_SESSION", "1")
    world.patch.setattr(approval, "_get_cron_approval_mode", lambda: "approve")


def _poisoned_chat(world: World) -> None:
    """After the first scheduled job, Hermes takes every chat of the process for a scheduled job."""
    _cron(world)
    world.patch.setenv("HERMES_SESSION_PLATFORM", "telegram")


def _auto_approving_subagents(world: World) -> None:
    from tools import delegate_tool, terminal_tool

    world.patch.setenv("HERMES_INTERACTIVE", "1")
    terminal_tool.set_approval_callback(delegate_tool._subagent_auto_approve)


SILENT = [_yolo, _session_yolo, _cron, _poisoned_chat, _auto_approving_subagents]


@pytest.mark.parametrize("makes", SILENT)
def test_silent_yes_is_honoured_for_a_question_of_a_policy(world: World, makes: Any) -> None:
    world.start().say("Send emails to my colleague")
    makes(world)
    assert world.call(SEND, JOHN) == "{}"


@pytest.mark.parametrize("makes", SILENT)
def test_silent_yes_is_not_taken_for_a_block(world: World, makes: Any) -> None:
    world.start().say("Email ann@example.com the report. Never email john@example.com.")
    makes(world)
    assert "error" in world.call(SEND, JOHN)
    assert world.ran == []


@pytest.mark.parametrize("makes", SILENT)
def test_silent_yes_is_a_block_under_the_fallback(world: World, makes: Any) -> None:
    world.start()  # nobody has said anything
    makes(world)
    assert "error" in world.call(SEND, JOHN)
    assert world.ran == []


@pytest.mark.parametrize("makes", SILENT)
def test_silent_yes_is_a_block_where_the_settings_say_so(world: World, makes: Any) -> None:
    world.settings("evaluation: {strict_auto_approve: true}\n")
    world.start().say("Send emails to my colleague")
    makes(world)
    assert "error" in world.call(SEND, JOHN)
    assert world.ran == []


def test_auto_denying_subagent_is_nobody(world: World) -> None:
    from tools import delegate_tool, terminal_tool

    world.start().say("Send emails to my colleague")
    world.patch.setenv("HERMES_INTERACTIVE", "1")
    terminal_tool.set_approval_callback(delegate_tool._subagent_auto_deny)
    assert "Nobody is here to answer" in world.call(SEND, JOHN)


def test_cron_that_denies_is_nobody(world: World) -> None:
    world.start().say("Send emails to my colleague")
    world.patch.setenv("HERMES_CRON_SESSION", "1")
    assert "Nobody is here to answer" in world.call(SEND, JOHN)


def test_approval_of_another_plugin_is_no_answer_to_ours(world: World, prompt: Prompt) -> None:
    """The person says no to us; another plugin's later approve changes nothing."""
    world.manager._hooks["pre_tool_call"].append(lambda **_: {"action": "approve", "message": "fine"})
    prompt.answer = "deny"
    assert "error" in world.call(SEND, JOHN)
    assert world.ran == []
