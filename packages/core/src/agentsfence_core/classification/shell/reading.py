"""The classifier's door to shell commands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agentsfence_core.classification.shell.call import Call, Scan
from agentsfence_core.classification.shell.engine import run
from agentsfence_core.classification.shell.words import Word
from agentsfence_core.limits import LIMITS
from agentsfence_core.model.action import Effect, TargetKind
from agentsfence_core.model.risk import Risk

_PLAIN = re.compile(r"[A-Za-z0-9_./-][A-Za-z0-9_./,:@%+-]*(?: +[A-Za-z0-9_./,:@%+=-]+)*")
_RESERVED = frozenset(
    """if then else elif fi case esac for select while until do done in function time coproc declare typeset local
    export readonly unset let""".split()
)
_UNSEEN = frozenset({TargetKind.PROGRAM})


@dataclass(frozen=True, slots=True)
class Reading:
    """What a command does. INVARIANT: ``effects`` is never empty."""

    effects: tuple[Effect, ...]
    note: str = ""
    """Why the command could not be read in full; empty where it could."""


def read_command(text: str, *, workdir: str | None, home: str | None, grammar: str = "posix") -> Reading:
    """Return every effect of a command line; total and linear on any text."""
    if grammar != "posix":
        return _windows(text, workdir, home, grammar)
    scan = Scan(workdir, home, text)
    if len(text) < 256 and _PLAIN.fullmatch(text):
        words = text.split(" ")
        if words[0] not in _RESERVED:
            scan.invocation = 1
            call = Call(scan, [Word(word) for word in words if word])
            run(call)
            call.finish()
            return _reading(scan)
    from agentsfence_core.classification.shell.tree import read_text  # noqa: PLC0415  (lazy: the parser)

    try:
        read_text(scan, text, run)
    except RecursionError:
        # The walk is bounded far below this; if the caller's own stack is nearly full, nothing read so far is trusted.
        scan.unreadable("nested too deep", text)
    return _reading(scan)


def read_argv(argv: Sequence[str], *, workdir: str | None, home: str | None) -> Reading:
    """Return every effect of a command given as a list of words: no shell reads it, so every word is literal."""
    scan = Scan(workdir, home)
    if not argv:
        return _reading(scan)
    scan.invocation = 1
    call = Call(scan, [Word(word) for word in argv[: LIMITS.targets]])
    try:
        run(call)
    except RecursionError:
        scan.unreadable("nested too deep")
    call.finish()
    return _reading(scan)


def _reading(scan: Scan) -> Reading:
    if scan.overflow:
        scan.effects.append(_too_many(scan))
    if not scan.effects:
        return Reading(
            (Effect("system.read", Risk.READ, invocation=max(1, scan.invocation), because="nothing runs"),), scan.note
        )
    return Reading(tuple(scan.effects), scan.note)


def _too_many(scan: Scan) -> Effect:
    return Effect(
        "shell.exec", Risk.EXECUTION, unverified=_UNSEEN, invocation=scan.invocation, because="too many effects"
    )


def _windows(text: str, workdir: str | None, home: str | None, grammar: str) -> Reading:
    from agentsfence_core.classification.shell.windows import read_windows  # noqa: PLC0415  (lazy: rarely needed)

    scan = Scan(workdir, home, text)
    read_windows(scan, text, grammar)
    return _reading(scan)
