"""install, doctor, uninstall: what a newcomer does, on a Hermes that is really started."""

from __future__ import annotations

import json

import pytest
from packages.hermes.tests.real.world import CONFIG, World
from typer.testing import CliRunner, Result

from agentsfence_core import SettingsError
from agentsfence_hermes.cli import app

runner = CliRunner()


def run(world: World, *words: str) -> Result:
    return runner.invoke(app, [*words, "--home", str(world.home), "--json"])


def findings(world: World) -> dict[str, bool]:
    answer = json.loads(run(world, "doctor").stdout)
    return {one["what"]: one["good"] for one in answer["findings"]}


def test_doctor_is_content_after_install_and_not_after_uninstall(world: World) -> None:
    config = world.home / "config.yaml"
    before = f"# mine\n{CONFIG}"
    config.write_text(before)
    assert run(world, "doctor").exit_code == 1
    assert run(world, "install").exit_code == 0
    assert all(findings(world).values())
    assert run(world, "uninstall").exit_code == 0
    assert config.read_text() == before
    seen = findings(world)
    assert not seen["a call that nobody asked for was blocked"]
    assert not seen["a Hermes that is started now loads the plugin"]


def test_doctor_says_why_the_fence_cannot_start(world: World) -> None:
    (world.home / "config.yaml").write_text(f"{CONFIG}plugins:\n  enabled: [agentsfence]\n")
    world.settings("presett: strict\n")
    answer = json.loads(run(world, "doctor").stdout)
    wrong = [one for one in answer["findings"] if not one["good"]]
    assert any("presett" in one["detail"] for one in wrong)


def test_doctor_warns_of_what_the_fence_cannot_cover(world: World) -> None:
    (world.home / "config.yaml").write_text(
        f"{CONFIG}plugins:\n  enabled: [agentsfence]\nmodel: {{openai_runtime: codex_app_server, default: x}}\n"
        "delegation: {subagent_auto_approve: true}\n"
    )
    answer = json.loads(run(world, "doctor").stdout)
    details = " ".join(one["detail"] for one in answer["findings"])
    assert "codex_app_server" in details
    assert "subagent_auto_approve" in details
    assert answer["blind_spots"]


def test_doctor_sees_another_plugin_under_our_name(world: World) -> None:
    """A directory plugin in the place of ours, in a Hermes without our entry point, is not us."""
    from agentsfence_hermes import doctor

    world.patch.setattr(doctor, "strangers", lambda: ["agentsfence"])
    (world.home / "config.yaml").write_text(CONFIG)
    assert not findings(world)["no other package takes this plugin's name"]
    result = run(world, "install")
    assert isinstance(result.exception, SettingsError)
    assert (world.home / "config.yaml").read_text() == CONFIG


def test_safe_mode_is_said_to_switch_the_fence_off(world: World) -> None:
    (world.home / "config.yaml").write_text(f"{CONFIG}plugins:\n  enabled: [agentsfence]\n")
    world.patch.setenv("HERMES_SAFE_MODE", "1")
    assert not findings(world)["plugins are not switched off"]


@pytest.mark.parametrize("command", ["install", "status", "uninstall"])
def test_commands_speak_to_people_too(world: World, command: str) -> None:
    (world.home / "config.yaml").write_text(CONFIG)
    result = runner.invoke(app, [command, "--home", str(world.home)])
    assert result.exit_code == 0
    assert str(world.home) in result.stdout
