"""Files that only this account may read and write, and whose folder nobody else may write (DESIGN 8, 9).

Whoever can write the settings or the state of the fence decides what it allows, so both are refused where another
account could have.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path

from agentsfence_core.errors import StoreError

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_folder(folder: Path) -> None:
    """The folder exists; whatever had to be created is 0700."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for new in reversed(missing):
        new.mkdir(mode=0o700, exist_ok=True)


def writable_by_others(path: Path) -> str:
    """Return why another account could change the file at ``path``, or an empty text. A missing file has no reason."""
    if not hasattr(os, "getuid"):
        return ""
    me = os.getuid()
    for place in (path, path.parent):
        try:
            facts = place.stat()
        except FileNotFoundError:
            continue
        if facts.st_uid not in {me, 0}:
            return f"{place} belongs to another account"
        if _others_write(facts) and not (place != path and facts.st_mode & stat.S_ISVTX):
            return f"other accounts can write {place}"
    return ""


def _others_write(facts: os.stat_result) -> bool:
    """Whether the mode lets anybody else write; a group that only this account is in is nobody else."""
    if facts.st_mode & stat.S_IWOTH:
        return True
    return bool(facts.st_mode & stat.S_IWGRP) and not _is_private_group(facts.st_gid)


def _is_private_group(group: int) -> bool:
    """Whether a group is the account's own: many systems give each account one and make new files writable for it."""
    import grp  # noqa: PLC0415  (only for such files, and not on every system)
    import pwd  # noqa: PLC0415

    try:
        account, facts = pwd.getpwuid(os.getuid()), grp.getgrgid(group)
    except (KeyError, OSError):
        return False
    own = account.pw_gid == group and facts.gr_name == account.pw_name
    return own and set(facts.gr_mem) <= {account.pw_name}


def create_privately(path: Path, write: Callable[[Path], None]) -> bool:
    """Create the file complete and 0600, or return ``False`` where it is there already; two creators cannot mix."""
    if os.path.lexists(path):
        return False
    make_folder(path.parent)
    if reason := writable_by_others(path):
        raise StoreError(f"{path}: {reason}", hint=f"chmod go-w {path.parent}")
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        write(draft)
        os.link(draft, path)
    except FileExistsError:
        return False
    finally:
        draft.unlink(missing_ok=True)
    return True


def require_private(path: Path) -> None:
    """The file is this account's alone; what only needs its mode changed gets it, everything else is `StoreError`."""
    if not path.is_file():
        raise StoreError(f"{path}: not a file", hint="name a file, or remove the dangling link")
    if not hasattr(os, "getuid"):
        return
    if reason := writable_by_others(path):
        raise StoreError(f"{path}: {reason}", hint="check what it holds, then take the right to write from others")
    facts = path.stat()
    if facts.st_mode & _OTHERS and facts.st_uid == os.getuid():
        path.chmod(0o600)
