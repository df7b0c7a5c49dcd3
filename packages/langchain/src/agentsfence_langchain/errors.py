"""What the fence raises at LangChain's borders."""

from __future__ import annotations

from collections.abc import Mapping

from langchain_core.tools import ToolException


class FenceBlocked(ToolException):
    """A call did not run because the person's words don't allow it; the text is for the model.

    INVARIANT: never a `NotImplementedError`. LangChain logs those and runs the tool.
    """

    def __init__(self, message: str, details: Mapping[str, object] | None = None, entry: object = None) -> None:
        """Keep the text, what the host can show, and the pass at whose entry the call was refused."""
        super().__init__(message)
        self.details: Mapping[str, object] = details or {}
        self.entry = entry
