"""A look into a Hermes that is started for it: is the plugin loaded, first, and does it block? Prints one JSON object.

Run by ``agentsfence hermes doctor`` in a process of its own, so that what Hermes does at its start (and a plugin that
hangs in it) stays away from the command.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from agentsfence_hermes import config_file

TOOL = "agentsfence_canary_send_email"
_ARGS = {"to": "canary@agentsfence.invalid", "body": "This call must be blocked."}


def look() -> dict[str, object]:
    """Return what a Hermes that starts now does with our plugin and with a call that nobody asked for."""
    import model_tools  # noqa: PLC0415  (loads all of Hermes)
    from hermes_cli import plugins  # noqa: PLC0415
    from tools.registry import registry  # noqa: PLC0415

    from agentsfence_hermes import ordering, plugin  # noqa: PLC0415

    ran: list[object] = []

    def body(args: dict[str, Any], **_: object) -> str:
        ran.append(args)
        return "{}"

    schema = {"name": TOOL, "description": "Sends nothing.", "parameters": {"type": "object", "properties": {}}}
    registry.register(name=TOOL, toolset="agentsfence", schema=schema, handler=body)
    answer = str(model_tools.handle_function_call(TOOL, dict(_ARGS), session_id="", task_id=""))
    manager = plugins.get_plugin_manager()
    loaded = manager._plugins.get(config_file.NAME)
    ours = loaded is not None and getattr(loaded.module, "__name__", "") == "agentsfence_hermes.plugin"
    return {
        "loaded": bool(loaded is not None and loaded.enabled and ours),
        "other_plugin_of_this_name": loaded is not None and not ours,
        "error": str(getattr(loaded, "error", "") or ""),
        "why": plugin.STATE.why,
        "first": ordering.holds(manager),
        "blocked": not ran and "belongs to no task" in answer,
        "ran": bool(ran),
        "answer": answer[:500],
        "warnings": _warnings(),
    }


def _warnings() -> list[str]:
    """Return what this Hermes is configured to do that the fence cannot cover, or that answers for the person."""
    from hermes_cli.config import load_config  # noqa: PLC0415

    config = load_config()
    found = [sentence for names, bad, sentence in _UNCOVERED if _at(config, *names) in bad]
    provider = _at(config, "memory", "provider")
    if provider not in {"", "none"}:
        found.append(f"memory.provider: {provider} is sent every turn without a tool call")
    return found


_ELSEWHERE = "tools run in another program there, and nothing in it is checked"
_UNCOVERED = (
    (("model", "openai_runtime"), {"codex_app_server"}, f"model.openai_runtime: codex_app_server: {_ELSEWHERE}"),
    (("model", "api_mode"), {"codex_app_server"}, f"model.api_mode: codex_app_server: {_ELSEWHERE}"),
    (("model", "provider"), {"copilot-acp"}, f"model.provider: copilot-acp: {_ELSEWHERE}"),
    (
        ("approvals", "cron_mode"),
        {"approve", "allow", "yes", "off"},
        "approvals.cron_mode answers questions by itself, after the first scheduled job in every chat of the gateway",
    ),
    (
        ("delegation", "subagent_auto_approve"),
        {"true"},
        "delegation.subagent_auto_approve answers the questions of subagents by itself",
    ),
)


def _at(config: Any, *names: str) -> str:
    for name in names:
        config = config.get(name) if isinstance(config, dict) else None
    return str(config).strip().lower() if config is not None else ""


if __name__ == "__main__":
    sys.stdout.write("\n" + json.dumps(look()) + "\n")
