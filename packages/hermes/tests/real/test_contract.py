"""The contract that every adapter fulfils, with the real Hermes as the host."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from agentsfence_core.testkit.adapters import AdapterContract, home_in
from agentsfence_core.testkit.host import AdapterDriver, Attempt, Place, settled

if TYPE_CHECKING:
    from packages.hermes.tests.real.world import World

_ANSWERS = {"once": "once", "task": "session", "no": "deny"}
_SILENCE = 1.0  # seconds after which Hermes takes silence for a no, as the tests' config.yaml says
_NUMBERS = itertools.count(1)


class InHermes:
    """Messages and calls go the way that they go in Hermes, with a person at its prompt or nobody."""

    def __init__(self, world: World, place: Place) -> None:
        from tools import terminal_tool

        self._world = world
        self._now: Attempt | None = None
        for tool in place.tools:
            self._offer(tool.name, tool.description, tool.parameters, tool.body)
        world.start()
        # A plugin of somebody else runs after us, and may do what it likes with the arguments.
        world.manager._hooks["pre_tool_call"].append(self._meanwhile)
        if place.person_present:
            world.patch.setenv("HERMES_INTERACTIVE", "1")
            terminal_tool.set_approval_callback(self._answer)

    @staticmethod
    def _offer(name: str, description: str, parameters: Any, body: Any) -> None:
        from tools.registry import registry

        schema = {"name": name, "description": description, "parameters": parameters}
        registry.register(name=name, toolset="mock", schema=schema, handler=lambda args, **_: body(args))

    def _meanwhile(self, **_: object) -> None:
        if self._now is not None:
            self._now.meanwhile()

    def _answer(self, *_: object, **__: object) -> str:
        answer = self._now.answer if self._now is not None else ""
        if answer not in _ANSWERS:
            time.sleep(_SILENCE)
            return "deny"
        return _ANSWERS[answer]

    def say(self, text: str) -> None:
        self._world.say(text)

    def attempt(self, attempt: Attempt) -> str:
        import model_tools

        self._now = attempt
        ids = {"session_id": "S", "task_id": "T", "tool_call_id": attempt.call_id or f"c{next(_NUMBERS)}"}
        return str(model_tools.handle_function_call(attempt.tool, attempt.args, **ids))

    def replay(self) -> str:
        raise NotImplementedError("Hermes never plays a call back")

    def close(self) -> None:
        self._world.close()


class TestHermes(AdapterContract):
    replays: ClassVar[bool] = False

    @pytest.fixture
    def home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        home_in(tmp_path, monkeypatch)
        folder = tmp_path / "home" / "agentsfence"
        folder.parent.mkdir(exist_ok=True)
        settled(folder, {})
        monkeypatch.setenv("AGENTSFENCE_HOME", str(folder))
        return folder

    @pytest.fixture(autouse=True)
    def hermes(self, world: World) -> Iterator[None]:
        self.world = world
        yield

    def make(self, place: Place) -> AdapterDriver:
        return InHermes(self.world, place)
