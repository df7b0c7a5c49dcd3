"""deepagents: the fence in every agent, because its subagents do not take the main agent's middleware."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agentsfence_core import HostContractError

if TYPE_CHECKING:
    from agentsfence_langchain.session import LangChainFence

_GENERAL = "general-purpose"


def deep_agent_kwargs(session: LangChainFence, subagents: Sequence[Any], middleware: Sequence[Any]) -> dict[str, Any]:
    """Return the arguments for ``create_deep_agent`` with the fence last in every list that they hold.

    Raises:
        HostContractError: a subagent is compiled already or runs elsewhere, so that the fence cannot be put into it.
    """
    from deepagents.middleware.subagents import GENERAL_PURPOSE_SUBAGENT  # noqa: PLC0415  (optional)

    found = [_fenced(session, spec) for spec in subagents]
    if not any(spec.get("name") == _GENERAL for spec in found):
        found.insert(0, _fenced(session, dict(GENERAL_PURPOSE_SUBAGENT)))
    return {"middleware": [*middleware, session.middleware()], "subagents": found}


def _fenced(session: LangChainFence, spec: Any) -> dict[str, Any]:
    if not isinstance(spec, Mapping) or "system_prompt" not in spec:
        name = spec.get("name") if isinstance(spec, Mapping) else getattr(spec, "name", spec)
        raise HostContractError(
            f"the fence cannot be put into the subagent {name!r}",
            hint="build it with fence.middleware() and pass it to create_deep_agent yourself",
        )
    return {**spec, "middleware": [*spec.get("middleware", ()), session.middleware()]}
