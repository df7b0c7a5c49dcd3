"""What was authorized and not yet executed: the second look compares an execution with it.

Hermes hands arguments to its callbacks by reference and runs a call whose check raised. So a call that reaches its
execution proves nothing: it runs only if it was authorized under the same ids, with the same arguments, and only once.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass

_KEPT = 4_096  # authorizations that wait for their execution


@dataclass(frozen=True, slots=True)
class CallIds:
    """The ids that Hermes gives a call; any of them may be empty."""

    session: str = ""
    task: str = ""
    call: str = ""
    turn: str = ""

    @classmethod
    def of(cls, event: Mapping[str, object]) -> CallIds:
        """Return the ids among what Hermes tells a callback."""
        names = ("session_id", "task_id", "tool_call_id", "turn_id")
        session, task, call, turn = (str(event.get(name) or "") for name in names)
        return cls(session, task, call, turn)


@dataclass(frozen=True, slots=True)
class CallKey:
    """One call as Hermes can show it again: its ids, its tool, and a digest of its arguments."""

    session: str
    task: str
    call: str
    tool: str
    arguments: str

    @classmethod
    def of(cls, ids: CallIds, tool: str, args: Mapping[str, object]) -> CallKey:
        """Return the key of a call with these arguments, every byte of them."""
        return cls(ids.session, ids.task, ids.call, tool, fingerprint(args))


@dataclass(slots=True)
class Authorization:
    """An admitted call, or a question that Hermes has put to somebody."""

    task: str
    """The fence's task."""
    ticket: str = ""
    """Of an admitted call; empty for a question, and for reads that leave no trace."""
    question: str = ""
    rule_key: str = ""
    silent: bool = False
    """Hermes was going to answer by itself."""
    told: bool = False
    """Hermes tells the answer: without it, nobody has said yes."""
    answer: str = ""
    """``once``, ``session``, ``always``, ``deny`` or ``timeout``, as far as Hermes told."""
    at: float = 0.0
    """When the question was put, on the monotonic clock."""


class Authorizations:
    """All that wait for their execution, in the order of their checks. Thread-safe."""

    def __init__(self) -> None:
        """Begin with none."""
        self._lock = threading.Lock()
        self._waiting: OrderedDict[CallKey, deque[Authorization]] = OrderedDict()
        self._asked: OrderedDict[str, Authorization] = OrderedDict()

    def add(self, key: CallKey, authorization: Authorization) -> None:
        """The call may be executed once more. The oldest authorizations are forgotten: their calls are refused."""
        with self._lock:
            self._waiting.setdefault(key, deque()).append(authorization)
            self._waiting.move_to_end(key)
            while len(self._waiting) > _KEPT:
                self._waiting.popitem(last=False)
            if authorization.rule_key:
                self._asked[authorization.rule_key] = authorization
                while len(self._asked) > _KEPT:
                    self._asked.popitem(last=False)

    def take(self, key: CallKey) -> Authorization | None:
        """Return the oldest authorization of this call, which is used with that."""
        with self._lock:
            waiting = self._waiting.get(key)
            if not waiting:
                return None
            found = waiting.popleft()
            if not waiting:
                del self._waiting[key]
            return found

    def asked(self, rule_key: str) -> Authorization | None:
        """Return the question that was handed to Hermes under this key."""
        with self._lock:
            return self._asked.get(rule_key)


def fingerprint(args: Mapping[str, object]) -> str:
    """Return a digest that is equal only for equal arguments. Text, types and nesting count; the order of keys not."""
    try:
        form = json.dumps(args, sort_keys=True, ensure_ascii=True)
    except (TypeError, ValueError, RecursionError):
        form = repr(args)
    return hashlib.sha256(form.encode("utf-8", "surrogatepass")).hexdigest()
