"""AgentsFence for LangChain and LangGraph: no tool runs that the person's words do not allow.

fence = LangChainFence()
agent = create_agent(model, tools, middleware=[fence.middleware()], checkpointer=saver)
agent = fence.bind(agent)
fence.start_task("Read the report and email it to john@example.com", thread_id="t1")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentsfence_langchain.answers import AskRequest
    from agentsfence_langchain.errors import FenceBlocked
    from agentsfence_langchain.handler import FenceCallbackHandler
    from agentsfence_langchain.middleware import FenceMiddleware
    from agentsfence_langchain.session import LangChainFence

__version__ = "0.1.0"

__all__ = ["AskRequest", "FenceBlocked", "FenceCallbackHandler", "FenceMiddleware", "LangChainFence"]

_LATER = {
    "AskRequest": "agentsfence_langchain.answers",
    "FenceBlocked": "agentsfence_langchain.errors",
    "FenceCallbackHandler": "agentsfence_langchain.handler",
    "FenceMiddleware": "agentsfence_langchain.middleware",
    "LangChainFence": "agentsfence_langchain.session",
}


def __getattr__(name: str) -> object:
    """Return a name whose module is loaded at first use: listing the adapters must not load LangChain."""
    if name not in _LATER:
        raise AttributeError(name)
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(_LATER[name]), name)
