"""The audit log for people: which events are meant, how one reads, and waiting for the next."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from agentsfence_cli.screen import SCREEN
from agentsfence_core.audit.log import CURRENT
from agentsfence_core.model import Verdict

_PAUSE: Final = 0.2  # seconds between two looks at the log
_TARGETS: Final = ("recipients", "domains", "paths", "objects", "values")
Event = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which events are meant; empty fields mean all."""

    task: str = ""
    tool: str = ""
    kind: str = ""
    verdict: str = ""
    since: float = 0.0
    """Seconds since the epoch."""

    def has(self, event: Event) -> bool:
        """Whether an event is meant."""
        at = event.get("at")
        return (
            all(
                not wanted or event.get(name) == wanted
                for name, wanted in (("task", self.task), ("tool", self.tool), ("kind", self.kind))
            )
            and (not self.verdict or event.get("verdict") == self.verdict)
            and (not self.since or (isinstance(at, int | float) and at >= self.since))
        )


def followed(folder: Path) -> Iterator[Event]:
    """Yield each event that is written from now on, also after the log was rotated. Never ends."""
    path = folder / CURRENT
    place = path.stat().st_size if path.exists() else 0
    inode = path.stat().st_ino if path.exists() else 0
    rest = b""
    while True:
        try:
            facts = path.stat()
            if facts.st_ino != inode:  # the log was rotated, or there was none
                inode, place, rest = facts.st_ino, 0, b""
            with path.open("rb") as file:
                file.seek(place)
                found = file.read()
        except FileNotFoundError:
            found = b""
        place += len(found)
        *lines, rest = (rest + found).split(b"\n")
        for line in lines:
            if (event := _event(line)) is not None:
                yield event
        if not lines:
            time.sleep(_PAUSE)


def _event(line: bytes) -> Event | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def show_event(event: Event) -> None:
    """Show an event on as few lines as it needs."""
    when, task = _when(event.get("at")), event.get("task", "")
    if event.get("kind") != "decision":
        SCREEN.line(f"{when}  {event.get('kind')}  task {task}  {_details(event)}".rstrip())
        return
    verdict = Verdict(str(event["verdict"])) if event.get("verdict") in set(Verdict) else Verdict.BLOCK
    SCREEN.verdict(verdict, f"{event.get('tool')}  {event.get('capability')}  {_targets(event)}".rstrip())
    SCREEN.line(f"{when}  task {task}  {event.get('rule')}: {event.get('reason')}", indent=11)


def _when(at: object) -> str:
    if not isinstance(at, int | float):
        return "?"
    try:
        return datetime.fromtimestamp(at, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, OSError, ValueError):
        return "?"


def _targets(event: Event) -> str:
    found = []
    for name in _TARGETS:
        listed = event.get(name)
        found += [str(item) for item in listed] if isinstance(listed, list) else []
    return ", ".join(found)


def _details(event: Event) -> str:
    return "  ".join(f"{name} {event[name]}" for name in ("status", "scope", "question", "grant") if event.get(name))
