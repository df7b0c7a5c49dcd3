"""The contract, run against the adapter: ``pytest --pyargs acme_fence.contract``."""

from __future__ import annotations

from collections.abc import Mapping

from acme_fence.adapter import AcmeFence, Body, Suspended  # type: ignore[import-not-found]
from agentsfence_core.testkit.adapters import AdapterContract
from agentsfence_core.testkit.host import AdapterDriver, Attempt, Interrupted, Place


class AcmeDriver:
    """A conversation in Acme, as the contract plays it."""

    def __init__(self, place: Place) -> None:
        """Take the tools and the person."""
        self._place = place
        self._answer = ""
        self._steps = 0
        self._newest: tuple[Attempt, str] | None = None
        self._fence = AcmeFence("conversation-1", (lambda _: self._answer) if place.person_present else None)

    def say(self, text: str) -> None:
        """A person writes."""
        self._fence.on_message(text)

    def attempt(self, attempt: Attempt) -> str:
        """The agent calls a tool."""
        self._steps += 1
        self._newest = (attempt, f"step-{self._steps}")
        return self._run(*self._newest)

    def replay(self) -> str:
        """Acme plays the step back."""
        assert self._newest is not None
        return self._run(*self._newest)

    def close(self) -> None:
        """The conversation ends."""
        self._fence.close()

    def _run(self, attempt: Attempt, step: str) -> str:
        self._answer = attempt.answer
        body = _in_acme(self._place.body(attempt.tool), attempt)
        told = self._fence.run_tool(attempt.tool, body, attempt.args, call_id=attempt.call_id, step=step)
        return str(told)


def _in_acme(body: Body, attempt: Attempt) -> Body:
    """Return the tool as Acme holds it: it is suspended in Acme's way, and other hooks run before it."""

    def run(args: Mapping[str, object]) -> str:
        attempt.meanwhile()
        try:
            return str(body(args))
        except Interrupted as stopped:
            raise Suspended from stopped

    return run


class TestAcme(AdapterContract):
    """Acme keeps the contract."""

    def make(self, place: Place) -> AdapterDriver:
        """Return a conversation."""
        driver: AdapterDriver = AcmeDriver(place)
        return driver
