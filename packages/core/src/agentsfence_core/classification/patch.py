"""Patches as effects: which files a V4A, unified or context diff writes, moves and deletes.

Rules of this file:

* Readers of patches are lenient, so this one is more so: any spacing, any case, with or without the Begin marker, and
  headers of every format in one text. A line that some reader takes for a header counts as one.
* Lines of content (``+``, ``-``, and context inside an update) are no headers of V4A; in diffs only a pair is one.
* A text that names no file is a write to files that nobody can tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from agentsfence_core.classification.targets.paths import canonical_path
from agentsfence_core.limits import LIMITS
from agentsfence_core.model.action import Effect, TargetKind
from agentsfence_core.model.risk import Risk

_VERBS: Final = "add|create|new|update|modify|edit|change|replace|delete|remove|move|rename|copy"
_V4A: Final = re.compile(rf"[ \t]*\*{{3}}[ \t]*({_VERBS})[ \t]+(file|to)\b[ \t]*:?(.*)", re.IGNORECASE)
_ARROW: Final = re.compile(r"\s(?:->|=>|\u2192)\s|\s{2,}to\s{2,}")
_GIT: Final = re.compile(r"(rename|copy) (from|to) (.+)|(deleted file|new file|new|old) mode (\d+)")
_ESCAPE: Final = re.compile(r"\\([0-7]{1,3}|.)")
_NOTHING: Final = "/dev/null"
_LINK_MODE: Final = "120000"
_WRITTEN: Final = frozenset({"add", "create", "new", "update", "modify", "edit", "change", "replace"})
_DELETED: Final = frozenset({"delete", "remove"})


@dataclass(slots=True)
class _Files:
    """Files as they are written in a patch, by what happens to them."""

    written: dict[str, None] = field(default_factory=dict)
    moved: dict[str, None] = field(default_factory=dict)
    deleted: dict[str, None] = field(default_factory=dict)
    current: str = ""
    """The file of the section that is being read."""
    complete: bool = True

    def __bool__(self) -> bool:
        """Whether any file is named."""
        return bool(self.written or self.moved or self.deleted)


def read_patch(text: str, *, workdir: str | None, home: str | None) -> tuple[Effect, ...]:
    """Return one effect for the files that a patch writes, one for those it moves and one for those it deletes."""
    files = _Files()
    if len(text) > LIMITS.argument_text:
        text = text[: LIMITS.argument_text]
        files.complete = False
    lines = text.splitlines()
    _read_v4a(lines, files)
    _read_diff(lines, files)
    unverified = frozenset[TargetKind]() if files.complete else frozenset({TargetKind.PATHS})
    if not files:
        return (Effect("file.write", Risk.LOCAL_WRITE, unverified=frozenset({TargetKind.PATHS}), because="patch"),)
    groups = (
        ("file.delete", Risk.DELETE, files.deleted),
        ("file.move", Risk.LOCAL_WRITE, files.moved),
        ("file.write", Risk.LOCAL_WRITE, files.written),
    )
    return tuple(
        Effect(capability, risk, paths=_canonical(names, workdir, home), unverified=unverified, because="patch")
        for capability, risk, names in groups
        if names or (unverified and capability == "file.write")
    )


def _canonical(names: Iterable[str], workdir: str | None, home: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(canonical_path(name, workdir=workdir, home=home) for name in names))[: LIMITS.targets]


def _read_v4a(lines: Iterable[str], files: _Files) -> None:
    """Add the files that the headers of a V4A patch name."""
    in_update = False
    for line in lines:
        header = _V4A.match(line) if "***" in line else None
        # Inside an update a line that begins with a space is context, however much it looks like a header.
        if header is None or (in_update and line[0] in " \t"):
            continue
        verb, path = header[1].lower(), _clean(header[3])
        if header[2].lower() == "to":
            _move_to(path, files)
            continue
        in_update = verb in {"update", "modify", "edit", "change"}
        _add_file(verb, path, files)


def _add_file(verb: str, path: str, files: _Files) -> None:
    """Add the file of one header; ``a -> b`` behind any verb names two."""
    source, *targets = [_clean(part) for part in _ARROW.split(path)]
    files.current = source
    if not source:
        files.complete = False
    elif targets and verb != "copy":
        files.moved.update(dict.fromkeys([source, *filter(None, targets)]))
    elif targets:
        files.written.update(dict.fromkeys(filter(None, targets)))
    elif verb in _DELETED:
        files.deleted[source] = None
    elif verb in _WRITTEN:
        files.written[source] = None
    else:  # a move or copy whose target stands elsewhere, or nowhere
        files.moved[source] = None


def _move_to(path: str, files: _Files) -> None:
    """Add the target of ``*** Move to: b`` inside the section of a file."""
    if path:
        files.moved.update(dict.fromkeys(filter(None, (files.current, path))))
    else:
        files.complete = False


def _clean(path: str) -> str:
    """Return a path as a reader takes it: without blanks and quotes around it."""
    path = path.strip().strip("\u200b\ufeff")
    return path[1:-1] if len(path) > 1 and path[0] == path[-1] and path[0] in "\"'`" else path


def _read_diff(lines: list[str], files: _Files) -> None:
    """Add the files of unified and context diffs, and of git's own headers."""
    for place, line in enumerate(lines):
        following = lines[place + 1] if place + 1 < len(lines) else ""
        if (line.startswith("--- ") and following.startswith("+++ ")) or (
            line.startswith("*** ") and following.startswith("--- ") and not _V4A.match(line)
        ):
            _add_pair(_name(line[4:]), _name(following[4:]), files)
        elif line.startswith("diff --git "):
            _add_git(line[11:], lines, place, files)
        elif line.startswith("Index: ") and line[7:].strip():
            files.written[line[7:].strip()] = None


def _add_pair(old: str, new: str, files: _Files) -> None:
    """Add the file of an old and a new name, without the ``a/`` and ``b/`` that tools put in front."""
    if new == _NOTHING and old != _NOTHING:
        files.deleted[_without_prefix(old, "a/")] = None
        return
    if old == _NOTHING:
        files.written[_without_prefix(new, "b/")] = None
        return
    if old.startswith("a/") and new.startswith("b/"):
        old, new = old[2:], new[2:]
    # Which of two different names a reader patches depends on which exists: both may be written.
    files.written.update(dict.fromkeys((old, new)))


def _add_git(names: str, lines: list[str], place: int, files: _Files) -> None:
    """Add what git's header says in the lines behind it: a rename, a deletion, a mode, a binary file."""
    same = _same_name(names)
    moved: list[str] = []
    deleted = changed = copied = False
    for line in _git_headers(lines, place):
        header = _GIT.fullmatch(line)
        if header is None:
            changed = changed or line.startswith(("GIT binary patch", "Binary files"))
        elif header[1]:
            copied = copied or header[1] == "copy"
            moved.append(_unquoted(header[3]))
        else:
            deleted = deleted or header[4] == "deleted file"
            changed = changed or header[4] in {"new file", "new"}
            # A link in a patch makes later paths lead elsewhere.
            files.complete = files.complete and header[5] != _LINK_MODE
    if deleted and same:
        files.deleted[same] = None
    elif copied:
        files.written.update(dict.fromkeys(moved[1:]))
    elif moved:
        files.moved.update(dict.fromkeys(moved))
    elif changed and same:
        files.written[same] = None


def _git_headers(lines: list[str], place: int) -> Iterator[str]:
    """Yield the lines of one ``diff --git`` header."""
    for line in lines[place + 1 : place + 12]:
        if line.startswith(("--- ", "diff --git ", "@@")):
            return
        yield line.rstrip()


def _same_name(names: str) -> str:
    """Return the name in ``a/name b/name``, where both are the same."""
    names = names.strip()
    if names.startswith('"'):
        return _without_prefix(_unquoted(names.split('" ')[0] + '"'), "a/")
    half = (len(names) - 1) // 2
    first, second = names[:half], names[half + 1 :]
    return first[2:] if first[2:] == second[2:] and first[:2] == "a/" and second[:2] == "b/" else ""


def _name(text: str) -> str:
    """Return a file name of a diff header without its time stamp."""
    return _unquoted(text.split("\t", 1)[0].strip())


def _unquoted(text: str) -> str:
    r"""Return a name without C quoting: ``"caf\303\251"``."""
    text = text.strip()
    if not (len(text) > 1 and text[0] == text[-1] == '"'):
        return text
    plain = _ESCAPE.sub(
        lambda found: chr(int(found[1], 8) & 255) if found[1][0] in "01234567" else found[1], text[1:-1]
    )
    try:
        return plain.encode("latin-1").decode("utf-8", "replace")
    except UnicodeEncodeError:
        return plain


def _without_prefix(name: str, prefix: str) -> str:
    return name.removeprefix(prefix)
