"""Archives and compression: listing reads, packing and unpacking write, several options run programs."""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

from agentsfence_core.classification.shell.around import fills
from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.engine import by_row, shell_line
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.rows import Program, Role, rows, table_of
from agentsfence_core.classification.shell.words import Word
from agentsfence_core.model.action import TargetKind

_TAR_RUN = (
    "--to-command -I --use-compress-program --checkpoint-action --rsh-command -F --info-script --new-volume-script"
)
_TAR_TEXT = (
    "-f --file -C --directory -T --files-from -X --exclude-from --exclude -b --blocking-factor -K --starting-file -N --newer "
    "-L --tape-length -V --label -g --listed-incremental --strip-components --transform --xform -H --format --owner "
    "--group --mode --mtime --sort --suffix --checkpoint? --warning --level --after-date --owner-map --occurrence?"
)
_TAR_MODES = "--list --diff --compare --create --append --update --catenate --concatenate --extract --get --delete --test-label --to-stdout --remove-files"
_MODES = {
    "t": "list", "list": "list", "d": "list", "diff": "list", "compare": "list", "test-label": "list",
    "c": "pack", "create": "pack", "r": "pack", "append": "pack", "u": "pack", "update": "pack",
    "A": "pack", "catenate": "pack", "concatenate": "pack",
    "x": "unpack", "extract": "unpack", "get": "unpack", "delete": "delete",
}  # fmt: skip
_VALUED = frozenset("fCTXbKNLVgHIF")
_LEAVES = frozenset({"P", "absolute-names", "absolute-paths", "absolute-name"})
_RENAMES = frozenset({"transform", "xform"})
"""Options under which members arrive outside the folder, or under names that the archive does not have."""
_NOWHERE = frozenset({"-", "/dev/null", "/dev/stdout"})
"""Archives that no file keeps."""


def _tar(call: Call, program: Program) -> None:
    """``tar`` in both spellings: ``tar -xf a`` and the old ``tar xfC a dir``."""
    words = _new_style(call.words[1:])
    split = Split(words, table_of(program), posix=False, single=False)
    archive, folder = None, None
    for name, option, value in split.given:
        if name in {"f", "file"}:
            archive = value
        elif name in {"C", "directory"}:
            folder = value
        elif option.role is Role.RUN:
            call.unseen("tar runs a program")
            if value is not None:
                shell_line(call, Word(value.text.removeprefix("exec="), value.sure))
        elif option.role is Role.WRITE and value is not None:
            call.path("file.write", value)
        elif name in {"T", "files-from", "X", "exclude-from"} and value is not None:
            call.path("file.read", value)
    flags = [*[name for name, option, _ in split.given if option.role is Role.FLAG], *split.strays]
    mode = next((_MODES[name] for name in reversed(flags) if name in _MODES), "")
    if mode == "unpack" and {"O", "to-stdout"} & set(flags):
        mode = "list"
    _effects(call, mode, archive, folder, split.operands, removes="remove-files" in flags)
    if mode == "unpack" and (not _LEAVES.isdisjoint(flags) or any(name in _RENAMES for name, _, _ in split.given)):
        call.unverified("file.archive", TargetKind.PATHS)


def _new_style(words: list[Word]) -> list[Word]:
    """Return ``xfC a dir`` as ``-x -f a -C dir``."""
    if not words or not words[0].literal or words[0].text[:1] in {"-", ""}:
        return words
    letters, rest = words[0].text, list(words[1:])
    out: list[Word] = []
    for letter in letters:
        out.append(Word(f"-{letter}"))
        if letter in _VALUED and rest:
            out.append(rest.pop(0))
    return out + rest


def _effects(
    call: Call, mode: str, archive: Word | None, folder: Word | None, operands: list[Word], *, removes: bool
) -> None:
    here = folder or Word(".")
    remote = archive is not None and ":" in archive.text and "/" not in archive.text.partition(":")[0]
    if remote and archive is not None:
        call.host("file.upload", archive)
    if mode in {"list", "unpack"}:
        call.path("file.read", archive or Word("-"))
        if mode == "unpack":
            _unpacked(call, here, operands)
    elif mode in {"pack", "delete"}:
        if mode == "pack" and archive is not None and archive.text in _NOWHERE:
            call.effect("file.read")
        else:
            call.path("file.archive", archive or Word("-"))
        if mode == "delete":
            call.path("file.delete", archive or Word("-"))
        for word in operands if mode == "pack" else ():
            call.path("file.read", _under(folder, word))
            if removes:
                call.path("file.delete", _under(folder, word))
    else:
        call.unseen("tar without a mode")


def _unpacked(call: Call, folder: Word, members: list[Word]) -> None:
    """Add what arrives in a folder: the members that are named, or whatever the archive holds."""
    call.path("file.archive", folder)
    for word in members:
        call.path("file.archive", _under(folder, word))
    if not members:
        fills(call, folder)


def _under(folder: Word | None, word: Word) -> Word:
    if folder is None or word.text.startswith(("/", "~")):
        return word
    return Word(f"{folder.text}/{word.text}", folder.sure and word.sure, folder.glob or word.glob)


def _without_test(call: Call) -> list[Word]:
    """Read the test command of ``-TT`` as what it is; return the other words."""
    words: list[Word] = []
    waiting = list(reversed(call.words[1:]))
    while waiting:
        word = waiting.pop()
        if not word.text.startswith(("-TT", "--unzip-command")):
            words.append(word)
            continue
        call.unseen("zip runs a test command")
        glued = word.text[3:] if word.text.startswith("-TT") else word.text.partition("=")[2]
        if glued or waiting:
            shell_line(call, Word(glued, word.sure) if glued else waiting.pop())
    return words


def _zip(call: Call, program: Program) -> None:
    """``zip a.zip files`` packs; ``-m`` removes what it packed, ``-TT`` runs a test command."""
    words = _without_test(call)
    split = Split(words, table_of(program), posix=False, single=False)
    lists = {"sf", "show-files"} & {name.partition("=")[0] for name in split.strays}
    if any(word.text in {"-sf", "-h", "-L", "-v"} for word in words) and (lists or len(split.operands) < 2):
        call.effect("file.read")
    operands = split.operands
    if operands and not any(word.text == "-sf" for word in words):
        if operands[0].text in _NOWHERE:
            call.effect("file.read")
        else:
            call.path("file.archive", operands[0])
        for word in operands[1:]:
            call.path("file.read", word)
        if "m" in split.strays or "move" in split.strays:
            for word in operands[1:]:
                call.path("file.delete", word)
        if "d" in split.strays or "delete" in split.strays:
            call.path("file.delete", operands[0])
    elif not call.drafts:
        call.effect("file.archive")


def _unzip(call: Call, program: Program) -> None:
    """``unzip`` unpacks into a folder; ``-l``, ``-t``, ``-p``, ``-v`` and ``-Z`` only read."""
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    reads = set(split.strays) & {"l", "t", "p", "v", "Z", "z", "c"}
    folder = next((value for name, _, value in split.given if name == "d" and value is not None), Word("."))
    for word in split.operands[:1]:
        call.path("file.read", word)
    if not reads or "d" in [name for name, _, _ in split.given]:
        call.path("file.archive", folder)
        fills(call, folder)
        if ":" in split.strays:  # members may climb out of the folder
            call.unverified("file.archive", TargetKind.PATHS)


def _compress(call: Call, program: Program) -> None:
    """``gzip f`` replaces f; ``-c``, ``-l`` and ``-t`` only read."""
    by_row(call, program, call.words[1:])
    if not any(word.text[:1] != "-" for word in call.words[1:]):
        call.drafts.pop("file.archive", None)
        if not call.drafts:
            call.effect("system.read")


def _ar(call: Call, _program: Program) -> None:
    """``ar t`` and ``ar p`` read, ``ar d`` deletes members, the rest packs or unpacks."""
    words = call.words[1:]
    verb = words[0].text.lstrip("-")[:1] if words else ""
    if verb in {"t", "p"}:
        for word in words[1:2]:
            call.path("file.read", word)
        call.effect("file.read")
        return
    call.effect("file.archive")
    for word in words[1:2]:
        call.path("file.read" if verb == "x" else "file.archive", word)
        if verb == "d":
            call.path("file.delete", word)
    for word in words[2:] if verb in {"r", "q"} else ():
        call.path("file.read", word)
    if verb == "x":
        call.path("file.archive", Word("."))


_GZIP = Program(
    "file.archive",
    rest=Role.TARGET,
    options={
        Role.TEXT: "-S --suffix -b -T --threads -F --format -C --check -M --memory -B --blocksize -D",
        Role.WRITE: "-o",
    },
    instead={"file.read": "-c --stdout --to-stdout -l --list -t --test"},
    hook=_compress,
)
_SEVEN = Program(
    "file.archive",
    subcommands={
        **rows("l t i h", Program("file.read", operands=(Role.TARGET,))),
        **rows(
            "a u",
            Program(
                "file.archive", operands=(Role.TARGET,), rest=Role.READ, also={"file.delete": "-sdel"}, single=True
            ),
        ),
        "d": Program("file.delete", operands=(Role.TARGET,)),
        **rows("x e", Program("file.archive", operands=(Role.READ,), rest=Role.TEXT)),
        **rows("rn b", Program("file.archive", operands=(Role.TARGET,))),
    },
)

PROGRAMS = {
    **rows("tar gtar bsdtar", Program("file.archive", options={Role.RUN: _TAR_RUN, Role.TEXT: _TAR_TEXT, Role.WRITE: "--index-file", Role.FLAG: _TAR_MODES}, hook=_tar)),
    "zip": Program("file.archive", options={Role.TEXT: "-b -n -t -tt -x -i -P -s -O -Z"}, hook=_zip),
    "unzip": Program("file.archive", options={Role.TEXT: "-d -P -x -I -O"}, hook=_unzip),
    "zipinfo": Program("file.read", operands=(Role.TARGET,)),
    **rows("gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd lz4 unlz4 pigz lzop brotli compress uncompress pbzip2 pixz", _GZIP),
    **rows("7z 7za 7zr 7zz p7zip", _SEVEN),
    **rows("rar unrar", Program("file.archive", subcommands={
        **rows("l lt lb v vt vb t p", Program("file.read", operands=(Role.TARGET,))),
        **rows("x e", Program("file.archive", operands=(Role.READ,), rest=Role.TARGET)),
        **rows("a u f", Program("file.archive", operands=(Role.TARGET,), rest=Role.READ)),
        **rows("d m mf", Program("file.delete", operands=(Role.TARGET,), rest=Role.TARGET)),
    })),
    "ar": Program("file.archive", hook=_ar),
    "cpio": Program("file.archive", options={Role.RUN: "--rsh-command", Role.READ: "-I -E --pattern-file", Role.WRITE: "-O", Role.TEXT: "-D --directory -F -H"}, instead={"file.read": "-t --list"}),
    "unar": Program("file.archive", operands=(Role.READ,), options={Role.TARGET: "-o -output-directory"}, single=True),
    "lsar": Program("file.read", rest=Role.TARGET),
    "unsquashfs": Program("file.archive", operands=(Role.READ,), options={Role.TARGET: "-d -dest"}, instead={"file.read": "-l -ls -s"}, single=True),
}  # fmt: skip
