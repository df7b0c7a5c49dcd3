"""The table of programs: one module per family, each with a ``PROGRAMS`` dict of rows by name."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentsfence_core.classification.shell.call import Call
    from agentsfence_core.classification.shell.rows import Program

FAMILIES = (
    "builtins",
    "coreutils",
    "text",
    "sed",
    "awk",
    "find",
    "archive",
    "wrappers",
    "shells",
    "interpreters",
    "git",
    "network",
    "curl",
    "packages",
    "build",
    "containers",
    "cloud",
    "forges",
    "databases",
    "editors",
    "system",
    "grammars",
    "media",
    "agents",
)
REACHING = frozenset({"process.control", "package.remove", "package.install", "system.configure", "account.delete"})
"""Capabilities that can stop or replace the fence when it is what they name."""
_GNU = frozenset(
    """
    sed grep egrep awk find xargs ls cat cp mv rm mkdir rmdir ln touch chmod chown head tail sort uniq cut tr wc
    tee date du df stat readlink realpath truncate shred split base64 tac
    """.split()
)
"""GNU tools that some systems name with a ``g`` in front."""
_VERSIONED = re.compile(r"([a-z][a-z+_-]*?)-?\d[\d.]*(?:\.exe)?|([\w.-]+)\.(?:exe|cmd)")


@cache
def all_programs() -> dict[str, Program]:
    """Return every row by program name; put together once per process."""
    merged: dict[str, Program] = {}
    for family in FAMILIES:
        module = import_module(f"agentsfence_core.classification.shell.programs.{family}")
        merged.update(module.PROGRAMS)
    return merged


def program_named(name: str) -> Program | None:
    """Return the row of a program, also for ``python3.12``, ``gcc-13`` and ``node.exe``."""
    programs = all_programs()
    row = programs.get(name)
    if row is None and name[:1] == "g" and name[1:] in _GNU:
        return programs[name[1:]]
    if row is None and len(name) < 40 and (versioned := _VERSIONED.fullmatch(name)):
        row = programs.get(versioned[1] or versioned[2])
    return row


def protect(call: Call) -> None:
    """Add what a command does to the fence or its host under their name."""
    from agentsfence_core.classification.shell.programs import agents  # noqa: PLC0415  (rows import the engine)

    agents.protect(call)
