"""Tells plugins of events without ever waiting for them (DESIGN 4, ``agentsfence_on_event``)."""

from __future__ import annotations

import logging
import os
import queue
import threading
from collections.abc import Mapping

from agentsfence_core._deciders import Hook

_LOG = logging.getLogger("agentsfence.plugins")
_WAITING = 1_000  # events that may wait; more are dropped, since the audit log has them anyway
Event = Mapping[str, object]


class Notifier:
    """Hands events to hooks on one background thread; faults are logged and the next event goes on."""

    def __init__(self, hooks: tuple[Hook, ...]) -> None:
        self._hooks = hooks
        self._events: queue.Queue[Event | threading.Event] = queue.Queue(_WAITING)
        self._process = 0
        self._lock = threading.Lock()

    @property
    def listens(self) -> bool:
        """Whether anybody wants to be told."""
        return bool(self._hooks)

    def emit(self, event: Event) -> None:
        """Return at once; the hooks are told later."""
        if not self._hooks:
            return
        self._start()
        try:
            self._events.put_nowait(dict(event))
        except queue.Full:
            _LOG.warning("an event was not passed on: plugins are too slow")

    def flush(self, seconds: float) -> bool:
        """Wait until the hooks have been told of everything so far, or until the time is up."""
        if not self._hooks:
            return True
        self._start()
        done = threading.Event()
        self._events.put(done)
        return done.wait(seconds)

    def _start(self) -> None:
        """The background thread runs in this process: a fork does not take it along."""
        if self._process == os.getpid():
            return
        with self._lock:
            if self._process != os.getpid():
                self._events = queue.Queue(_WAITING)
                threading.Thread(target=self._run, args=(self._events,), name="agentsfence events", daemon=True).start()
                self._process = os.getpid()

    def _run(self, events: queue.Queue[Event | threading.Event]) -> None:
        while True:
            event = events.get()
            if isinstance(event, threading.Event):
                event.set()
                continue
            for hook in self._hooks:
                try:
                    hook.function(**({"event": dict(event)} if hook.argnames else {}))
                except BaseException as error:  # noqa: BLE001  (a plugin is never in the way)
                    _LOG.warning("the plugin %s failed on an event: %s", hook.plugin_name, type(error).__name__)
