"""Runs foreign work with a time budget that holds whatever the work does: servers drip bytes, callables hang."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TypeVar

from agentsfence_core.errors import CompilerError


class FinalError(CompilerError):
    """A fault that asking again does not mend: no retry follows."""

    final = True


Result = TypeVar("Result")


def within(seconds: float, work: Callable[[], Result], what: str) -> Result:
    """Return what ``work`` returns; raise what it raises, or `CompilerError` once the time is over.

    The thread is a daemon: work that never ends cannot keep the process alive, and nobody waits for it again.
    """
    answers: queue.SimpleQueue[tuple[Result | None, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            answers.put((work(), None))
        except BaseException as error:  # noqa: BLE001  (handed to the caller, who waits for it)
            answers.put((None, error))

    threading.Thread(target=run, name="agentsfence-compiler", daemon=True).start()
    try:
        answer, error = answers.get(timeout=max(seconds, 0.0))
    except queue.Empty:
        raise FinalError(f"{what} took longer than {seconds:g} seconds", hint="raise compiler.timeout") from None
    if error is not None:
        raise error
    return answer  # type: ignore[return-value]  # no error: the work's own result
