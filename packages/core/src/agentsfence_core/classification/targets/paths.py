"""Paths, read as text: one spelling per file, and whether one lies within another. The file system is never asked.

Rules of this file:

* `canonical_path` is idempotent and linear. What cannot be folded safely (``..`` above an unknown folder, ``~user``)
  stays as written, and `is_within` refuses it.
* A POSIX name may hold a backslash or a colon; only a text that *is* a Windows path is read as one.
* Symbolic links and case are the file system's: ``resolve`` adds them later.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

_FILE_URL = re.compile(r"file:(?=[/\\])", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_HOME_VARIABLES = ("$HOME", "${HOME}")
_NOT_LITERAL = re.compile(r"`|\$[A-Za-z_{(0-9?!#@*'\"-]|[<>]\(|%[A-Za-z_][A-Za-z0-9_]{0,60}%|[\0\n\r]")
_GLOB = re.compile(r"[*?\[]|\{[^{}]{0,400}(?:,|\.\.)")
_ALIASES = frozenset({"root", "cwd"})
_PLAIN_RELATIVE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*+(?:/[A-Za-z0-9_-][A-Za-z0-9_.-]*+)*+")
"""A relative path that is canonical below its folder; the common case, decided without splitting."""
_SEGMENT = re.compile(r"[\w.@+~-]+")
_EXTENSION = re.compile(r"[^\s/\\]{1,200}\.[A-Za-z][A-Za-z0-9]{0,6}")
_ENDINGS = """
txt md rst csv tsv json jsonl yaml yml toml ini cfg conf env xml html htm css js mjs cjs ts tsx jsx py pyi ipynb rb rs
go java kt c cc cpp h hpp cs php pl sh bash zsh fish ps1 bat cmd sql db sqlite log lock pdf doc docx xls xlsx ppt pptx
odt ods png jpg jpeg gif webp svg mp3 mp4 wav mov zip tar gz tgz bz2 xz 7z pem key crt cer p12 pub ics eml patch diff
bak tmp
"""
_FILE_ENDINGS = frozenset(_ENDINGS.split())
_MEDIA_TYPES = frozenset({"text", "application", "image", "audio", "video", "multipart", "font", "message", "model"})


def canonical_path(text: str, *, workdir: str | None, home: str | None) -> str:
    """Return the one spelling of a path: absolute where its folder is known, else folded as far as it is certain."""
    text = text.strip()
    if _plain_absolute(text):
        return text
    if workdir and workdir not in {"/", "/proc"} and _plain_absolute(workdir) and _PLAIN_RELATIVE.fullmatch(text):
        return f"{workdir}/{text}"
    path = _fold(text, _base(workdir, home), _base(home, None))
    # A name that ends in a space keeps a slash behind it, so that reading the result again does not strip the name.
    return f"{path}/" if path[-1:].isspace() else path


def canonical_bound(text: str, *, workdir: str | None, home: str | None) -> str:
    """Return a policy's path in canonical form, with the trailing ``/`` that means "only what is below it" kept."""
    path = canonical_path(text, workdir=workdir, home=home)
    return f"{path}/" if text.rstrip().endswith(("/", "\\")) and not path.endswith("/") else path


def is_within(path: str, folder: str) -> bool:
    """Whether a canonical path is the folder or lies below it; only below it when ``folder`` ends in ``/``."""
    if not path or not folder or _climbs(path):
        return False
    if folder.endswith("/"):
        return len(path) > len(folder) and path.startswith(folder)
    return path == folder or path.startswith(f"{folder}/")


def is_literal(text: str, *, globs: bool = True) -> bool:
    """Whether a text names one file: no glob, variable, substitution or other person's ``~``.

    ``globs=False`` is for tools that take names as they are, where ``app/[slug]/page.tsx`` is one file.
    """
    if _NOT_LITERAL.search(text) or (globs and _GLOB.search(text)):
        return False
    return not text.startswith("~") or text == "~" or text[1] in "/\\"


def looks_like_path(text: str) -> bool:
    """Whether a text found anywhere is most likely a path; addresses, hosts, media types, dates and prose are not."""
    if not text or len(text) > 4_096 or "\n" in text:
        return False
    if text.startswith(("/", "~/", "./", "../", ".\\", "..\\", "\\\\")) or text in {"~", ".", ".."}:
        return not text.startswith(("//", "/*")) and not (" " in text and "/" not in text.split(" ", 1)[0][1:])
    if _FILE_URL.match(text) or _DRIVE.match(text):
        return True
    if "://" in text or any(character.isspace() for character in text):
        return False
    return _relative_path(text)


def _relative_path(text: str) -> bool:
    """Whether ``src/a.py``, ``.ssh/id_rsa``, ``a/b/c`` or ``report.pdf`` is written; ``text/html`` is none."""
    segments = text.split("/")
    if len(segments) == 1:
        name, dot, ending = text.rpartition(".")
        return bool(dot) and (ending.lower() in _FILE_ENDINGS) and "@" not in name
    if not all(_SEGMENT.fullmatch(segment) for segment in segments if segment):
        return False
    if text.startswith(".") or text.endswith("/"):
        return True
    if segments[0].lower() in _MEDIA_TYPES and len(segments) == 2:
        return _EXTENSION.fullmatch(segments[1]) is not None
    if all(segment.isdigit() for segment in segments):
        return False
    return len(segments) > 2 or _EXTENSION.fullmatch(segments[-1]) is not None


def _plain_absolute(text: str) -> bool:
    """Whether a text is already canonical; the common case, decided without splitting."""
    return (
        text.startswith("/")
        and "/." not in text
        and "//" not in text
        and (not text.endswith("/") or text == "/")
        and not text.startswith("/proc/")
    )


def _climbs(path: str) -> bool:
    """Whether a ``..`` is left in a path: where it leads is not known."""
    return ".." in path and ".." in path.split("/")


def _base(folder: str | None, home: str | None) -> str:
    """Return a folder in canonical form, or nothing where it is unknown or itself relative to something unknown."""
    if not folder:
        return ""
    if _plain_absolute(folder):
        return folder
    folded = _fold(folder.strip(), "", home or "")
    return folded if folded.startswith("/") or _is_windows(folded) else ""


def _is_windows(text: str) -> bool:
    return _DRIVE.match(text) is not None or text.startswith("\\\\")


def _fold(text: str, workdir: str, home: str) -> str:
    """Fold one stripped text; ``workdir`` and ``home`` are canonical or empty."""
    if _FILE_URL.match(text):
        text = _from_file_url(text)
    text = _expand_home(text, home)
    if _is_windows(text) or (_is_windows(workdir) and not text.startswith(("/", "~"))):
        return _fold_windows(text, workdir)
    if text.startswith("/"):
        return "/" + "/".join(_segments(text, [], workdir=workdir))
    if text.startswith("~"):
        user, *rest = text.split("/")
        return "/".join(_segments("/".join(rest), [user], floor=1, keep=True))
    if workdir:
        return "/" + "/".join(_segments(text, _parts(workdir), workdir=workdir))
    return _keep_relative("/".join(_segments(text, [], keep=True)))


def _expand_home(text: str, home: str) -> str:
    """Return the text with ``~``, ``$HOME`` or ``${HOME}`` in front replaced, where home is known."""
    for variable in _HOME_VARIABLES:
        if text.startswith(variable) and (len(text) == len(variable) or text[len(variable)] == "/"):
            text = f"~{text[len(variable) :]}"
    if home and (text == "~" or text.startswith(("~/", "~\\"))):
        return f"{home}{text[1:]}" if text[1:2] != "\\" or _is_windows(home) else text
    return text


def _segments(
    text: str, start: list[str], *, floor: int = 0, keep: bool = False, workdir: str | None = None
) -> list[str]:
    """Return the segments after folding ``.``, ``..`` and empty ones onto ``start``.

    ``..`` never removes the first ``floor`` segments; where it has nothing to remove it stays (``keep``) or
    vanishes, as above ``/``. With a ``workdir`` the path is a POSIX one from the root, and the kernel's own aliases
    are folded too.
    """
    done = list(start)
    for segment in text.split("/"):
        if not segment or segment == ".":
            continue
        if segment != "..":
            done.append(segment)
            if workdir is not None and len(done) == 3 and segment in _ALIASES and done[0] == "proc":
                done = _past_alias(done, workdir)
        elif len(done) > floor and done[-1] != "..":
            done.pop()
        elif keep:
            done.append("..")
    return done


def _past_alias(done: list[str], workdir: str) -> list[str]:
    """Return where ``/proc/self/root`` (the root) or ``/proc/self/cwd`` (the current folder) leads."""
    if not _is_process(done[1]):
        return done
    if done[2] == "root":
        return []
    return _parts(workdir) if workdir.startswith("/") else done


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _is_process(name: str) -> bool:
    return name in {"self", "thread-self"} or name.isdigit()


def _keep_relative(path: str) -> str:
    """Return a relative path such that reading it again gives itself: ``./~`` is a file named ``~``."""
    if not path:
        return "."
    if path.startswith(("~", *_HOME_VARIABLES)) or _FILE_URL.match(path) or _is_windows(path) or path != path.lstrip():
        return f"./{path}"
    end = len(path)
    while end and (path[end - 1].isspace() or path[end - 1] == "/"):  # one layer at a time would not be idempotent
        end -= 1
    return path[:end] or f"./{path}"


def _from_file_url(text: str) -> str:
    """Return the path of a ``file:`` URL; a host other than this machine becomes a relative folder of that name."""
    rest = unquote(text[5:].split("#", 1)[0].split("?", 1)[0], errors="replace").replace("\\", "/")
    if rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        rest = f"/{path}" if host.lower() in {"", "localhost", "127.0.0.1"} else f"{host}{slash}{path}"
    if len(rest) > 2 and _DRIVE.match(rest, 1):
        rest = rest[1:]
    return rest.strip()


def _fold_windows(text: str, workdir: str) -> str:
    r"""Fold a Windows path to forward slashes and an upper-case drive; ``\\server`` keeps its two backslashes."""
    text = text.replace("\\", "/")
    if text.startswith(("//?/", "//./")) and _DRIVE.match(text, 4):
        text = text[4:]
    if not _DRIVE.match(text) and not text.startswith("//"):
        text = f"{workdir}/{text}".replace("\\", "/")
    if text.startswith("//"):
        server, *rest = text.lstrip("/").split("/")
        return "\\\\" + "/".join(_segments("/".join(rest), [server], floor=1))
    path = "/".join(_segments(text[2:], [f"{text[0].upper()}:"], floor=1))
    return path if len(path) > 2 else f"{path}/"
