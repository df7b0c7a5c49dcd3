"""A Hermes of its own for a test: its own HERMES_HOME, plugin manager and tools whose bodies only take notes."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

CONFIG = """\
security: {allow_lazy_installs: false, tirith_enabled: false}
memory: {memory_enabled: false, user_profile_enabled: false}
approvals: {timeout: 1, gateway_timeout: 1}
"""
_NUMBERS = itertools.count(1)


class World:
    """One Hermes with the fence in it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = folder / "home"
        self.work = folder / "work"
        for place in (self.home, self.work):
            place.mkdir(exist_ok=True)
        self.patch = monkeypatch
        self.ran: list[tuple[str, dict[str, Any]]] = []
        self.enabled = ["agentsfence"]
        self.extra = ""
        monkeypatch.setenv("HERMES_HOME", str(self.home))
        monkeypatch.chdir(self.work)

    # --- before it starts

    def plugin(self, name: str, body: str) -> None:
        """A directory plugin of somebody else is installed and enabled."""
        folder = self.home / "plugins" / name
        folder.mkdir(parents=True)
        (folder / "plugin.yaml").write_text(f"name: {name}\nversion: 0.1\n")
        (folder / "__init__.py").write_text(body)
        self.enabled.append(name)

    def settings(self, text: str) -> None:
        """The fence's settings are written."""
        folder = self.home / "agentsfence"
        folder.mkdir(mode=0o700, exist_ok=True)
        file = folder / "settings.yaml"
        file.write_text(text)
        file.chmod(0o600)

    def start(self) -> World:
        """Hermes discovers its plugins anew, as at the start of a process."""
        (self.home / "config.yaml").write_text(f"{CONFIG}{self.extra}plugins:\n  enabled: {json.dumps(self.enabled)}\n")
        import model_tools  # noqa: F401
        from hermes_cli import plugins

        from agentsfence_hermes import plugin

        plugin.STATE.adapter = None
        plugin.STATE.why = "not started"
        self.patch.setattr(plugins, "_plugin_manager", None)
        plugins.discover_plugins()
        return self

    def close(self) -> None:
        """The fences of this Hermes are closed."""
        if self.adapter is not None:
            self.adapter.fences.close()

    # --- looking

    @property
    def manager(self) -> Any:
        from hermes_cli import plugins

        return plugins.get_plugin_manager()

    @property
    def adapter(self) -> Any:
        from agentsfence_hermes import plugin

        return plugin.STATE.adapter

    @property
    def fence(self) -> Any:
        return self.adapter.fences.current()

    def bodies(self, tool: str = "") -> list[dict[str, Any]]:
        """The arguments with which bodies ran."""
        return [args for name, args in self.ran if name == tool or not tool]

    # --- acting

    def tool(self, name: str, parameters: dict[str, Any] | None = None, result: str = "{}") -> None:
        """A tool whose body only takes notes is offered."""
        from tools.registry import registry

        properties = parameters or {"to": {"type": "string"}, "body": {"type": "string"}}
        schema = {"name": name, "description": name, "parameters": {"type": "object", "properties": properties}}

        def body(args: dict[str, Any], **_: object) -> str:
            self.ran.append((name, dict(args)))
            return result

        registry.register(name=name, toolset="mock", schema=schema, handler=body)

    def say(
        self, text: object, *, session: str = "S", task: str = "T", platform: str = "cli", sender: str = ""
    ) -> list[Any]:
        """A turn begins with this text."""
        from hermes_cli import plugins

        answers: list[Any] = plugins.invoke_hook(
            "pre_llm_call",
            session_id=session,
            task_id=task,
            turn_id=f"{session}:{task}:{next(_NUMBERS)}",
            user_message=text,
            conversation_history=[],
            is_first_turn=True,
            model="m",
            platform=platform,
            sender_id=sender,
        )
        return answers

    def call(self, tool: str, args: dict[str, Any] | None = None, **ids: str) -> str:
        """A tool call goes through Hermes' own dispatch; return what the model would read."""
        import model_tools

        named = {"session_id": "S", "task_id": "T", "tool_call_id": f"call-{next(_NUMBERS)}", **ids}
        return str(model_tools.handle_function_call(tool, dict(args or {}), **named))

    def agent(self, url: str, **options: Any) -> Any:
        """An agent of Hermes over a model at this address."""
        from run_agent import AIAgent

        usual = {
            "api_key": "sk-loopback",
            "provider": "custom",
            "model": "loopback",
            "quiet_mode": True,
            "max_iterations": 8,
            "skip_context_files": True,
            "skip_memory": True,
            "platform": "cli",
            "enabled_toolsets": ["mock"],
        }
        return AIAgent(base_url=url, **{**usual, **options})
