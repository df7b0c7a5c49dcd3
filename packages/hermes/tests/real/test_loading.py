"""The plugin loads by Hermes' own discovery, and whatever is broken in it blocks every call."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from packages.hermes.tests.real.world import World

SEND, READ = "mcp__mail__send_email", "mcp__mail__read_thing"


def test_entry_point_is_found_and_checks_calls(world: World) -> None:
    world.start().say("Email a@x.example the report")
    assert world.call(SEND, {"to": "a@x.example"}) == "{}"
    assert "recipient_not_listed" in world.call(SEND, {"to": "b@x.example"})
    assert world.bodies(SEND) == [{"to": "a@x.example"}]


def test_directory_plugin_is_the_same_adapter(world: World) -> None:
    world.enabled.clear()
    world.plugin("fence", "from agentsfence_hermes.plugin import register\n")
    world.start().say("Email a@x.example the report")
    assert world.call(SEND, {"to": "a@x.example"}) == "{}"
    assert "error" in world.call(SEND, {"to": "b@x.example"})


def test_both_ways_at_once_check_each_call_once(world: World) -> None:
    world.plugin("fence", "from agentsfence_hermes.plugin import register\n")
    world.start().say("Email a@x.example the report")
    world.call(SEND, {"to": "a@x.example"})
    assert len(world.fence.decisions("S")) == 1


def test_disabled_plugin_checks_nothing(world: World) -> None:
    """The negative control of all others."""
    world.enabled.clear()
    world.start()
    world.call(SEND, {"to": "b@x.example"})
    assert world.bodies(SEND) == [{"to": "b@x.example"}]


BROKEN = {
    "settings that are no YAML": "preset: [",
    "settings with an unknown field": "presett: strict\n",
    "a store that does not exist": "store: nowhere:/x\n",
    "a plugin that is not installed": "plugins: [not-there]\n",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_fence_that_cannot_start_blocks_reading_too(world: World, text: str) -> None:
    world.settings(text)
    world.start().say("Email a@x.example the report")
    for tool in (SEND, READ):
        answer = world.call(tool, {"to": "a@x.example"})
        assert "could not start" in answer
    assert world.ran == []


def test_mended_settings_are_read_without_a_restart(world: World) -> None:
    world.settings("presett: strict\n")
    world.start()
    assert "could not start" in world.call(READ)
    world.settings("preset: strict\n")
    assert world.call(READ) == "{}"


def test_damaged_state_blocks(world: World) -> None:
    world.settings("preset: balanced\n")
    (world.home / "agentsfence" / "state.db").write_bytes(b"this is no database" * 100)
    world.start()
    assert "error" in world.call(READ)
    assert world.ran == []


def test_missing_dependency_blocks_with_the_way_to_repair(world: World) -> None:
    for name in [name for name in sys.modules if name.startswith("agentsfence_hermes.runtime")]:
        world.patch.delitem(sys.modules, name)
    world.patch.setitem(sys.modules, "agentsfence_hermes.runtime", None)  # importing it raises ImportError
    world.start()
    answer = world.call(READ)
    assert "could not start" in answer
    assert "agentsfence hermes doctor" in answer
    assert world.ran == []


def test_older_hermes_is_refused_in_a_sentence(world: World) -> None:
    from hermes_cli import plugins

    from agentsfence_hermes import plugin

    world.start()
    world.patch.delattr(plugins, "resolve_pre_tool_block")
    assert "0.18.1 or newer" in plugin._unfit(object())


def test_state_is_private_and_below_hermes_home(world: World) -> None:
    world.start().say("Email a@x.example the report")
    world.call(SEND, {"to": "a@x.example"})
    folder = world.home / "agentsfence"
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / "state.db").stat().st_mode & 0o077 == 0


def test_two_profiles_do_not_share_policies(world: World) -> None:
    world.start().say("Email a@x.example the report")
    other = world.home.parent / "other"
    other.mkdir()
    world.patch.setenv("HERMES_HOME", str(other))
    assert "error" in world.call(SEND, {"to": "a@x.example"})
    assert (other / "agentsfence" / "state.db").exists()
    world.patch.setenv("HERMES_HOME", str(world.home))
    assert world.call(SEND, {"to": "a@x.example"}) == "{}"


def test_words_that_could_not_be_kept_block_until_they_are(world: World) -> None:
    """The message that was lost may have been a ban."""
    world.start().say("Email a@x.example the report")
    broken = world.patch.context()
    with broken as patch:
        patch.setattr(type(world.fence), "amend", lambda *_, **__: 1 / 0)
        world.say("Don't email anybody")
    assert "has not been read" in world.call(SEND, {"to": "a@x.example"})
    assert "has not been read" in world.call(READ)
    world.say("Don't email anybody")
    assert "error" in world.call(SEND, {"to": "a@x.example"})
    assert world.call(READ) == "{}"
    assert world.bodies(SEND) == []
