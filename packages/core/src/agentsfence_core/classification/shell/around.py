"""Folders that hold the fence's or its host's files, and what takes them away whole.

Guards know the files themselves. Moving, locking, covering or filling a folder around them names none of them, so the
commands that do it say ``fence.control`` of their own.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from agentsfence_core.classification.targets.paths import canonical_path

if TYPE_CHECKING:
    from agentsfence_core.classification.shell.call import Call
    from agentsfence_core.classification.shell.words import Word

CONTROL: Final = "fence.control"
_OWN: Final = (".hermes", ".agentsfence", "agentsfence")
_PARENTS: Final = (".config", ".local", "share", "state")
_SHARED: Final = frozenset({".config", ".local", ".local/share", ".local/state"})
_FILES: Final = (
    "config.yaml",
    "agentsfence.yaml",
    "agentsfence",
    "agentsfence_core",
    "agentsfence_hermes",
    ".hermes",
    ".agentsfence",
    "plugins",
    "hooks",
)
"""Names by which a search would find what belongs to the fence or its host."""
_NAMES: Final = ("hermes", "hermes-agent", "hermes-gateway", "hermes_cli", "agentsfence")
"""Names of their processes and commands."""
_LONG: Final = 100  # characters of a pattern that is compared
_WILD: Final = frozenset("*?[")


def own_folder(path: str) -> bool:
    """Whether a path is, or with its wildcards can be, the folder of the fence or its host."""
    segments = path.rstrip("/").split("/")
    last = segments[-1]
    if last in {".hermes", ".agentsfence"} or path.endswith(
        (".config/agentsfence", "/share/agentsfence", "/state/agentsfence")
    ):
        return True
    if len(segments) > 2 and segments[-3] == ".hermes" and segments[-2] == "profiles":
        return True
    return _can_name(last, _OWN[:2])


def _can_name(pattern: str, names: tuple[str, ...]) -> bool:
    """Whether a hidden name with wildcards can be one of ``names``; one that is too long to be compared can."""
    if pattern[:1] != "." or _WILD.isdisjoint(pattern):
        return False
    return len(pattern) > _LONG or any(fnmatchcase(name, pattern) for name in names)


def around(path: str, home: str | None) -> bool:
    """Whether a folder is the fence's or its host's, or one that holds it."""
    if own_folder(path) or path in {"/", "/home", "/root", "/Users", "~", home}:
        return True
    segments = path.rstrip("/").split("/")
    if segments[-1] in _PARENTS and ("/".join(segments[-2:]) in _SHARED or segments[-1] in _SHARED):
        return True
    return _can_name(segments[-1], (".config", ".local"))


def canonical(call: Call, word: Word) -> str:
    """Return the path that a word names from the first of the current folders."""
    scan = call.scan
    return canonical_path(word.text, workdir=scan.dirs[0], home=scan.home) if word.text else ""


def takes_away(call: Call, words: list[Word]) -> None:
    """Say that folders are moved, locked or covered whole, where one of them is around the fence."""
    if any(around(canonical(call, word), call.scan.home) for word in words[:64]):
        call.effect(CONTROL)


def fills(call: Call, folder: Word) -> None:
    """Say that unknown names are put into a folder, where it is the fence's or its host's own."""
    if own_folder(canonical(call, folder)):
        call.effect(CONTROL)


def may_find(pattern: str) -> bool:
    """Whether a name pattern of a search can mean what belongs to the fence or its host."""
    if len(pattern) > _LONG:
        return True
    return any(fnmatchcase(name, pattern.casefold()) for name in _FILES) or names_own(pattern)


def names_own(text: str) -> bool:
    """Whether a text names the fence or its host in part of it: ``agentsfence*``."""
    lowered = text.casefold()
    return any(name in lowered for name in ("hermes", "agentsfence", "agents-fence", "agents_fence"))


def pattern_means_own(pattern: str) -> bool:
    """Whether a regular expression, as ``pkill`` takes one, can match a process of the fence or its host."""
    if len(pattern) > 200 or "(" in pattern or "|" in pattern:
        parts = pattern[:400].replace("(", "|").replace(")", "|").split("|")
        return len(pattern) > 200 or any(len(part) > 3 and pattern_means_own(part) for part in parts)
    glob = _as_glob(pattern.casefold())
    return any(fnmatchcase(name, f"*{glob}*") for name in _NAMES) and bool(glob)


def _as_glob(pattern: str) -> str:
    """Return a glob that matches at least what a simple regular expression does."""
    out: list[str] = []
    place = 0
    while place < len(pattern):
        char = pattern[place]
        place += 1
        if char == "[":
            end = pattern.find("]", place + 1)
            out.append("?")
            place = end + 1 if end >= 0 else len(pattern)
        elif char in "*+?{":
            if out and out[-1] != "*":
                out[-1] = "*"
            if char == "{":
                end = pattern.find("}", place)
                place = end + 1 if end >= 0 else len(pattern)
        elif char == "\\":
            out.append("?")
            place += 1
        elif char not in "^$":
            out.append("?" if char == "." else char)
    return "".join(out)
