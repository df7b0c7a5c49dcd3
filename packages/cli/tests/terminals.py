"""A person at a terminal of their own, for tests: the command runs with a pseudo-terminal as its controlling one."""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
import time
from dataclasses import dataclass

SECONDS = 30.0
PROMPT = b"no] "


@dataclass(frozen=True)
class Sat:
    """What a command run at a terminal left: its exit code and all that the terminal showed."""

    code: int
    shown: str


def at_terminal(*arguments: str, types: str = "", early: str = "") -> Sat:
    """Run ``agentsfence ARGUMENTS`` at a terminal; type a line at each prompt, and ``early`` before there is one."""
    lines = types.splitlines(keepends=True)
    prompts = 0
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-m", "agentsfence_cli.main", *arguments])
    shown = b""
    if early:
        os.write(terminal, early.encode())
    ends = time.monotonic() + SECONDS
    while time.monotonic() < ends:
        readable, _, _ = select.select([terminal], [], [], 0.2)
        if readable:
            try:
                part = os.read(terminal, 4096)
            except OSError:  # how a terminal says that its last writer has gone
                break
            if not part:
                break
            shown += part
            if lines and shown.count(PROMPT) > prompts:
                prompts = shown.count(PROMPT)
                os.write(terminal, lines.pop(0).encode())
    else:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    return Sat(os.waitstatus_to_exitcode(status), shown.decode(errors="replace"))
