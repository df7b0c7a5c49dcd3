"""The audit log: JSON lines in files that only this account may read, written before the host gets its answer.

Rules of this file:

* A line that cannot be written is `AuditError`, which the fence turns into BLOCK: nothing happens unrecorded.
* Any number of processes append to one file, each with a chain of its own; one line is one write.
* Lines go to ``audit.jsonl``; a full file becomes ``audit-000001.jsonl`` and so on, and nothing is ever overwritten.
* Without structlog processors the lines are rendered directly; with them, by structlog.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agentsfence_core.audit import chain, events
from agentsfence_core.errors import AuditError
from agentsfence_core.json_text import encoder, object_text
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Decision, TaskPolicy
from agentsfence_core.stores.private_files import make_folder, writable_by_others

if TYPE_CHECKING:
    from structlog.typing import Processor

CURRENT = "audit.jsonl"
_encode = encoder(default=str)
_FLAGS = os.O_APPEND | os.O_CREAT | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class AuditLog:
    """Appends events to the log in one folder. Thread-safe; one per process."""

    def __init__(
        self,
        folder: Path,
        *,
        notify: Callable[[Mapping[str, object]], None] | None = None,
        processors: Sequence[Processor] = (),
    ) -> None:
        """Take the folder; files are opened with the first line. ``notify`` is told of every event that was written."""
        self._folder = folder
        self._path = folder / CURRENT
        self._notify = notify
        self._processors = tuple(processors)
        self._lock = threading.Lock()
        self._file = -1
        self._inode = 0
        self._process = 0
        self._chain = ""
        self._number = 0
        self._previous = ""
        self._torn = False
        self._closed = False
        self.newest: tuple[str, int, str] | None = None
        """Chain, number and hash of the newest line; replaced as one, so that any thread may read it."""

    @property
    def head(self) -> chain.Head | None:
        """The newest line of this process's chain; ``None`` before the first."""
        return chain.Head(*self.newest) if self.newest is not None else None

    def decision(self, *, task: str, tool: str, call_id: str, decision: Decision, at: float) -> None:
        """Record one check. Raises `AuditError`."""
        self.write(events.decision_event(task=task, tool=tool, call_id=call_id, decision=decision, at=at))

    def event(
        self, kind: str, *, task: str, policy: TaskPolicy | None, details: Mapping[str, object], at: float
    ) -> None:
        """Record a message, an approval, an outcome or another change. Raises `AuditError`."""
        self.write(events.event(kind, task=task, policy=policy, details=details, at=at))

    def write(self, event: Mapping[str, object]) -> None:
        """Append an event that is already redacted. Raises `AuditError` where the line is not whole in the file."""
        text = "" if self._processors else object_text(event, _encode)  # rendered before anybody has to wait
        with self._lock:
            try:
                self._append(event, text)
            except (OSError, ValueError, TypeError, RecursionError) as error:
                raise AuditError(f"{self._path}: {error}", hint="check disk space and rights") from error
        if self._notify is not None:
            self._notify(event)

    def close(self) -> None:
        """Close the file; later lines are `AuditError`."""
        with self._lock:
            self._closed = True
            self._release()

    # ------------------------------------------------------------------------------------------------------- inside

    def _append(self, event: Mapping[str, object], text: str) -> None:
        if self._closed:
            raise AuditError(f"{self._path}: the log is closed", hint="open the fence again")
        self._ready()
        line, digest = self._line(event, text)
        if self._torn:
            line = b"\n" + line
        written = os.write(self._file, line)
        if written != len(line):
            self._torn = True
            raise OSError(f"only {written} of {len(line)} bytes were written")
        self._torn = False
        self._number += 1
        self._previous = digest
        self.newest = (self._chain, self._number, digest)

    def _line(self, event: Mapping[str, object], text: str) -> tuple[bytes, str]:
        """Return the next line of the chain; one that would be too long loses its lists and says so."""
        body = self._rendered(event, text)
        if len(body) > LIMITS.audit_line_bytes:
            short = {name: value for name, value in event.items() if not isinstance(value, list | dict)}
            short["shortened"] = True
            body = self._rendered(short, object_text(short, _encode))
        if len(body) > LIMITS.audit_line_bytes:
            raise AuditError(f"{self._path}: a line of {len(body)} bytes", hint="shorten the event")
        return chain.sealed(body)

    def _rendered(self, event: Mapping[str, object], text: str) -> bytes:
        """Return an event with its place in the chain. INVARIANT: a processor cannot move a line to another place."""
        if self._processors:
            return self._processed(dict(event))
        place = f'"chain":"{self._chain}","n":{self._number + 1},"prev":"{self._previous}"}}'
        return f"{text[:-1]}{',' if event else ''}{place}".encode("ascii")

    def _processed(self, event: dict[str, object]) -> bytes:
        from structlog.processors import JSONRenderer  # noqa: PLC0415  (lazy: only where it is configured)

        for process in self._processors:
            event = dict(process(None, "info", event))  # type: ignore[arg-type]
        event.update(chain=self._chain, n=self._number + 1, prev=self._previous)
        rendered = JSONRenderer(separators=(",", ":"), default=str)(None, "info", event)
        return rendered.encode("ascii") if isinstance(rendered, str) else rendered

    def _ready(self) -> None:
        """The file of this process is open, is the current one and is not full."""
        if self._process != os.getpid():
            self._file, self._torn = -1, False  # a fork's child has a chain of its own
            self._process, self._number = os.getpid(), 0
            self._chain = secrets.token_hex(8)
            self._open()
            self._previous = _newest_hash(self._path)
            return
        try:
            facts = self._path.stat()
        except FileNotFoundError:
            self._open()
            return
        if facts.st_ino != self._inode:
            self._open()
        elif facts.st_size >= LIMITS.audit_file_bytes:
            self._rotate()
            self._open()

    def _open(self) -> None:
        self._release()
        make_folder(self._folder)
        if reason := writable_by_others(self._path):
            raise AuditError(f"{self._path}: {reason}", hint=f"chmod go-w {self._folder}")
        self._file = os.open(self._path, _FLAGS, 0o600)
        self._inode = os.fstat(self._file).st_ino

    def _release(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _rotate(self) -> None:
        """The full file has a number of its own; where another process was faster, it is left alone."""
        number = 1 + max((numbered(path) for path in self._folder.glob("audit-*.jsonl")), default=0)
        target = self._folder / f"audit-{number:06}.jsonl"
        try:
            os.link(self._path, target)  # fails where the number is taken: nothing is overwritten
        except FileExistsError:
            return
        if target.stat().st_ino != self._inode:
            target.unlink()  # it was rotated in between: this is the new file under the old name
            return
        self._path.unlink()


def numbered(path: Path) -> int:
    """Return the number of a rotated file, 0 where it is none."""
    digits = path.stem.removeprefix("audit-")
    return int(digits) if digits.isdecimal() and len(digits) < 12 else 0


def _newest_hash(path: Path) -> str:
    """Return the hash of the last whole line, so that the new chain says after which line it began."""
    files = sorted(path.parent.glob("audit-*.jsonl"), key=numbered)
    for file in (path, *reversed(files)):
        try:
            with file.open("rb") as log:
                log.seek(max(0, os.fstat(log.fileno()).st_size - 2 * LIMITS.audit_line_bytes))
                lines = log.read().splitlines()
        except FileNotFoundError:
            continue
        for line in reversed(lines):
            if (found := chain.link(line)) is not None:
                return found.hash
    return ""
