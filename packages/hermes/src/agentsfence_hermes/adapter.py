"""What this adapter says about itself (DESIGN 10)."""

from agentsfence_core.ports import AdapterInfo

INFO = AdapterInfo(
    name="hermes",
    distribution="agentsfence-hermes",
    what="Hermes Agent 0.18.1 and newer: a plugin that checks every tool call of its agents",
    blind_spots=(
        "With codex_app_server and copilot-acp, tools run in another program that asks nobody here.",
        "A script in execute_code or the terminal is judged by its text; its sockets and files are not seen.",
        "A plugin that calls ctx.dispatch_tool, or runs code of its own, is not asked about: plugins are trusted code.",
        "With --safe-mode, Hermes loads no plugins at all.",
        "The agent's final answer is no tool call; a MEDIA: line or a file path in it makes a chat upload that file.",
        "External memory providers are sent every turn, and scheduled scripts with no_agent run without an agent.",
        "Text pasted into the terminal counts as typed, for Hermes does not say which part was pasted.",
        "Tools that run at the provider, such as a model's own web search, are not seen.",
    ),
    command="agentsfence_hermes.cli:app",
)
