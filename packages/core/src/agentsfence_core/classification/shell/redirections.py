"""What a redirection does to its target, and what ``echo`` and its kin put on the next program's input."""

from __future__ import annotations

import re

from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.words import Word

_SOCKET = re.compile(r"/dev/(?:tcp|udp)/([^/]*)(?:/.*)?")
_MEMORY = ("/dev/shm/", "/dev/pts/")  # noqa: S108  (a device that is no disk)


def reach(call: Call, operator: str, word: Word, *, empties: bool) -> None:
    """Add what a redirection to or from a name does."""
    text = word.text
    socket = _SOCKET.fullmatch(text) if text.startswith("/dev/") else None
    if socket:
        call.host("web.post", Word(socket[1], "$" not in socket[1]))
    elif operator[0] == "<" and operator != "<>":
        call.path("file.read", word)
    else:
        call.path("file.write", word)
        if empties and operator in {">", ">|"}:
            call.path("file.delete", word)
        if text.startswith("/dev/") and not text.startswith(_MEMORY):
            call.path("file.delete", word)


def either(first: tuple[str | None, ...], second: tuple[str | None, ...]) -> tuple[str | None, ...]:
    """Return the folders of either of two ways to get here; too many are an unknown one."""
    both = tuple(dict.fromkeys((*first, *second)))
    return both if len(both) <= 4 else (*both[:3], None)


def written(name: str, rest: list[str], stdin: str | None) -> str | None:
    """Return what ``echo``, ``printf`` or ``cat`` write, where their words say it."""
    if name == "echo":
        while rest and rest[0] in {"-n", "-e", "-E", "-ne", "-en"}:
            rest = rest[1:]
        return " ".join(rest)
    if name == "printf" and rest:
        if len(rest) == 1 and "%" not in rest[0]:
            return rest[0].replace("\\n", "\n")
        return "\n".join(rest[1:]) if rest[0] in {"%s", "%s\\n"} else None
    return stdin if name in {"cat", "tee"} and not [word for word in rest if word != "-"] else None
