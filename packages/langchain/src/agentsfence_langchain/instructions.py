"""A person's words out of the root graph's own input: opt-in, for an agent whose input comes from the person alone.

Rules of this file:

* Only the run that nothing runs: a nested agent's input is written by a model.
* Only the input itself. Graph state is not read: any tool can put a message there.
* Only what follows the last answer of model or tool, without a name and not written by a summariser.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AnyMessage, HumanMessage, convert_to_messages

from agentsfence_core.ports import PersonMessage
from agentsfence_langchain.places import ENCLOSING

if TYPE_CHECKING:
    from agentsfence_langchain.session import LangChainFence


class InputHandler(BaseCallbackHandler):
    """Begins or amends the thread's task with the messages that a run was started with."""

    raise_error = True
    run_inline = True

    def __init__(self, session: LangChainFence) -> None:
        """Take the session whose fence compiles."""
        self._session = session

    def on_chain_start(
        self,
        serialized: dict[str, Any],
        inputs: dict[str, Any],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Compile the person's new messages, if this is the root run and there are any."""
        del serialized, run_id, kwargs
        if parent_run_id is not None or ENCLOSING.get() or not isinstance(inputs, Mapping):
            return
        text = new_words(inputs.get("messages"))
        if text:
            thread = (metadata or {}).get("thread_id")
            self._session.amend(PersonMessage(text, source="langchain-input"), thread_id=thread)


def new_words(given: object) -> str:
    """Return the text of the person's messages at the end of an input; empty where there are none."""
    if not isinstance(given, list) or not given:
        return ""
    found: list[str] = []
    for message in reversed(_messages(given)):
        if not isinstance(message, HumanMessage):
            break
        if message.name is None and "lc_source" not in message.additional_kwargs:
            found.append(str(message.text))
    return "\n\n".join(reversed(found))


def _messages(given: list[Any]) -> list[AnyMessage]:
    return convert_to_messages(given)  # type: ignore[return-value]
