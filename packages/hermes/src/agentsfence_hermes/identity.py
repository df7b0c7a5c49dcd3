"""Which task of the fence a call or a turn belongs to.

A session is a task. What Hermes calls a task id is only a way to find it: a turn's nested calls carry nothing else.

* A turn that is known decides, because a session may get another id in mid-turn (compression).
* A session that Hermes recorded as the compression of another one is the same task.
* A subagent's session is a subtask of its parent's: never wider, live.
* `/branch` begins a new task that keeps the bans of the one it was copied from.
* No id, or only one that nobody has seen in a turn: no task, and the fence blocks.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from agentsfence_hermes.authorizations import CallIds
from agentsfence_hermes.host import Origin

_KEPT = 8_192  # ids of each kind that are remembered
_ROTATIONS = 64  # compressions of one session that are followed
NO_TASK = ""

V = TypeVar("V")


class Recent(Generic[V]):
    """A mapping that forgets what was not used for long. Thread-safe."""

    def __init__(self, size: int = _KEPT) -> None:
        """Begin empty."""
        self._size = size
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, V] = OrderedDict()

    def get(self, name: str) -> V | None:
        """Return what is kept under a name."""
        with self._lock:
            if name not in self._kept:
                return None
            self._kept.move_to_end(name)
            return self._kept[name]

    def put(self, name: str, value: V) -> None:
        """Keep a value under a name; an empty name keeps nothing."""
        if not name:
            return
        with self._lock:
            self._kept[name] = value
            self._kept.move_to_end(name)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)


class Identity:
    """The tasks behind the ids of one profile."""

    def __init__(
        self,
        origin: Callable[[str], Origin | None],
        begin_child: Callable[[str, str], str],
        branched: Callable[[str, str], None],
    ) -> None:
        """Take how to look up a session's origin, and what a subagent's and a branch's session mean for the fence."""
        self._origin = origin
        self._begin_child = begin_child
        self._branched = branched
        self._sessions: Recent[str] = Recent()
        self._turns: Recent[str] = Recent()
        self._tasks: Recent[str] = Recent()

    def of_turn(self, ids: CallIds) -> str:
        """Return the task of a turn that begins, and remember the turn's ids for its calls."""
        task = self.of_session(ids.session) if ids.session else self._tasks.get(ids.task) or ids.task
        self._turns.put(ids.turn, task)
        self._tasks.put(ids.task, task)
        return task

    def of_call(self, ids: CallIds) -> str:
        """Return the task of a call, or `NO_TASK`."""
        known = self._turns.get(ids.turn) if ids.turn else None
        if known is not None:
            if ids.session and self._sessions.get(ids.session) is None:
                self._sessions.put(ids.session, known)  # the session was rotated in mid-turn
            return known
        if ids.session:
            return self.of_session(ids.session)
        return self._tasks.get(ids.task) or NO_TASK

    def of_session(self, session: str) -> str:
        """Return the task of a session, whether or not this process has seen it before."""
        known = self._sessions.get(session)
        if known is None:
            known = self._found(session, _ROTATIONS)
            self._sessions.put(session, known)
        return known

    def delegated(self, parent: CallIds, child_session: str, child_task: str) -> None:
        """A subagent's session and its nested calls belong to a subtask of its parent's."""
        if not child_session:
            return
        task = self._begin_child(self.of_call(parent), child_session)
        self._sessions.put(child_session, task)
        self._tasks.put(child_task, task)

    def _found(self, session: str, left: int) -> str:
        origin = self._origin(session)
        if origin is None:
            return session
        if origin.source == "subagent":
            return self._begin_child(self.of_session(origin.parent), session)
        if origin.branched:
            self._branched(self.of_session(origin.parent), session)
            return session
        if origin.ended == "compression" and left:
            known = self._sessions.get(origin.parent)
            return known if known is not None else self._found(origin.parent, left - 1)
        return session
