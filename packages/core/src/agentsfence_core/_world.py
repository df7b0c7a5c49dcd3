"""The only look at the file system that deciding takes: symbolic links and case (DESIGN 3, `resolve`)."""

from __future__ import annotations

import os
import stat
from functools import cache

from agentsfence_core.model import PathFacts


@cache
def home_folder() -> str:
    """Return the home folder of this account."""
    return os.path.expanduser("~")  # noqa: PTH111  (a text, not a Path: it is compared, not opened)


def look_up_paths(paths: tuple[str, ...]) -> PathFacts:
    """Return what the file system says about absolute paths; one that cannot be read stays as written."""
    real: dict[str, str] = {}
    for path in paths:
        if path.startswith("/") or path[1:3] in {":\\", ":/"}:
            try:
                found = _real_path(path)
            except (OSError, ValueError):
                continue
            if found != path:
                real[path] = found
    return PathFacts(real, case_insensitive=os.name == "nt")


def _real_path(path: str) -> str:
    """Return the path with every symbolic link followed. Most have none, which one look at each folder shows."""
    if os.name != "posix" or "/." in path or "//" in path or path.endswith("/"):
        return os.path.realpath(path)
    end = 0
    while end < len(path):
        end = path.find("/", end + 1)
        end = len(path) if end < 0 else end
        try:
            if stat.S_ISLNK(os.lstat(path[:end]).st_mode):
                return os.path.realpath(path)
        except OSError:
            return path  # what is absent, or hidden from this account, has nothing to follow below it
    return path
