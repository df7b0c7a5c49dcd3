"""A trial at start-up: does a refusal of the handler stop a tool in the LangChain that is installed?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_core.tools import StructuredTool

from agentsfence_core import HostContractError
from agentsfence_langchain.errors import FenceBlocked

if TYPE_CHECKING:
    from agentsfence_langchain.session import LangChainFence


def probe(session: LangChainFence) -> None:
    """Return if a refused tool does not run. Raises `HostContractError` if its body was entered."""

    def body() -> str:
        """Stand for any tool."""
        return "entered"

    tool = StructuredTool.from_function(body, name="agentsfence_probe")
    with session.probed():
        try:
            answer = tool.run({}, callbacks=[session.handler])
        except FenceBlocked:
            return
    raise HostContractError(
        f"the installed langchain-core runs tools that a callback handler refuses ({answer})",
        hint="install langchain-core 1.2 or newer",
    )
