"""Files and folders: the programs of coreutils and their kin."""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

from agentsfence_core.classification.patch import read_patch
from agentsfence_core.classification.shell.around import fills, takes_away
from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.engine import by_row, nested
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.rows import Program, Role, rows, table_of
from agentsfence_core.classification.shell.words import Word
from agentsfence_core.classification.targets.paths import canonical_path
from agentsfence_core.model.action import TargetKind

READER = Program("file.read", rest=Role.TARGET)
QUIET = Program("system.read")


def _set_date(call: Call, program: Program) -> None:
    """``date`` prints, unless ``-s`` or a bare operand (``010100002020``) sets the clock."""
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    sets = any(name in {"s", "set"} or (len(name) > 1 and "set".startswith(name)) for name, _, _ in split.given)
    if sets or any(not word.text.startswith("+") for word in split.operands):
        call.effect("system.configure")
        return
    by_row(call, program, call.words[1:])


_DATE = Program(
    "system.read",
    options={Role.TEXT: "-d --date -I? --iso-8601? --rfc-3339 -s --set -v -j! -f", Role.READ: "--file -r --reference"},
    hook=_set_date,
)


def _copy(call: Call, program: Program) -> None:
    """``cp a b``: all but the last are sources; ``-t`` names the target first. ``/dev/null`` as source empties it."""
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    operands = split.operands
    target = next((value for name, _, value in split.given if value and name[0] == "t"), None)
    if target is None and operands:
        target, operands = operands[-1], operands[:-1]
    moves = program.does == "file.move"
    if moves:
        takes_away(call, operands)
    call.effect(program.does)
    for word in operands:
        call.path("file.move" if moves else "file.read", word)
    if target is not None:
        _onto(call, program, operands, target)
    if any(name in {"remove-source-files", "remove-source"} for name in split.strays):
        for word in operands:
            call.path("file.delete", word)


_NO_DISKS = ("/dev/shm/", "/dev/stdout", "/dev/fd/")  # noqa: S108  (devices that are no disks)


def arrives(call: Call, capability: str, operands: list[Word], target: Word) -> None:
    """Add a target and, as it may be a folder, the names that the sources get in it."""
    call.path(capability, target)
    ending = target.text.rpartition("/")[2].rpartition(".")
    for word in operands[:256]:
        name = word.text.rstrip("/").rpartition("/")[2]
        if not word.literal or word.text.endswith("/") or name in {"", ".", ".."}:
            fills(call, target)  # names that the text does not show
        if (
            not word.literal
            or word.text == "/dev/null"
            or name in {"", ".", ".."}
            or (ending[0] and name.endswith(f".{ending[2]}"))
        ):
            continue  # ``cp a.txt b.txt``: a file's new name
        inside = f"{target.text.rstrip('/')}/{name}"
        call.path(capability, target._replace(text=inside))


def _onto(call: Call, program: Program, operands: list[Word], target: Word) -> None:
    arrives(call, program.does, operands, target)
    if any(word.text == "/dev/null" for word in operands):
        call.path("file.delete", target)
    if target.text.startswith("/dev/") and not target.text.startswith(_NO_DISKS):
        for word in operands if program.does == "file.move" else [target]:
            call.path("file.delete", word)


_COPY_OPTIONS = {
    Role.TEXT: "-t --target-directory -S --suffix --backup? --preserve? --no-preserve --sparse --reflink? -m --mode -o --owner -g --group -Z? --context?"
}


def _link(call: Call, program: Program) -> None:
    """``ln a b`` makes b; where b is a folder, a name in it."""
    split = by_row(call, program, call.words[1:])
    target = next((value for name, _, value in split.given if value is not None and name[0] == "t"), None)
    if target is not None or len(split.operands) > 1:
        sources = split.operands if target is not None else split.operands[:-1]
        arrives(call, "file.write", sources, target or split.operands[-1])


def _locks(call: Call, program: Program) -> None:
    """Rights of a whole tree may be those of the fence's files."""
    split = by_row(call, program, call.words[1:])
    words = split.operands[1:] if program.operands else split.operands
    if {"R", "recursive"} & set(split.strays):
        takes_away(call, words)
    for word in words[:64]:
        fills(call, word)


def _dd(call: Call, _program: Program) -> None:
    """``dd`` reads ``if=`` and overwrites ``of=``."""
    call.effect("file.read")
    for word in call.words[1:]:
        name, equals, _ = word.text.partition("=")
        if not equals:
            continue
        value = word.after(len(name) + 1)
        if name == "if":
            call.path("file.read", value)
        elif name == "of" and value.text != "/dev/null":
            call.path("file.write", value)
            if value.text.startswith("/dev/"):
                call.path("file.delete", value)
        elif not word.sure and "$" in name:
            call.unseen("a computed operand")


def _pieces(call: Call, prefix: Word) -> None:
    """Add the files that begin with a prefix; how they go on is not seen."""
    call.path("file.write", Word(f"{prefix.text}*", prefix.sure, True))


def _split(call: Call, program: Program) -> None:
    """``split f p`` writes ``paa``, ``pab`` and so on."""
    split = by_row(call, program, call.words[1:])
    _pieces(call, split.operands[1] if len(split.operands) > 1 else Word("x"))


def _csplit(call: Call, program: Program) -> None:
    """``csplit -f p f 1`` writes ``p00``, ``p01`` and so on."""
    split = by_row(call, program, call.words[1:])
    prefixes = [value for name, _, value in split.given if name in {"f", "prefix"} and value is not None]
    _pieces(call, prefixes[-1] if prefixes else Word("xx"))


def _patch(call: Call, program: Program) -> None:
    """``patch`` changes the files that the patch names, from ``-d`` on; a patch in the text shows them."""
    scan = call.scan
    dirs = scan.dirs
    given = Split(call.words[1:], table_of(program), posix=False, single=False)
    for name, _, value in given.given:
        if name in {"d", "directory"} and value is not None:
            call.path("file.write", value)
            moved = [canonical_path(value.text, workdir=start, home=scan.home) for start in dirs]
            scan.dirs = tuple(dict.fromkeys(moved)) if value.literal else (None,)
    by_row(call, program, call.words[1:])
    written = call.drafts.get("file.write")
    if any(option.instead for _, option, _ in given.given):
        call.drafts.pop("file.write", None)
    elif written is not None and not given.operands:
        strip = [value.text for name, _, value in given.given if name in {"p", "strip"} and value is not None]
        if call.stdin is not None and strip == ["1"]:
            call.foreign(read_patch(call.stdin, workdir=None, home=scan.home))
        else:
            written.unverified.add(TargetKind.PATHS)
    scan.dirs = dirs


def _mknod(call: Call, program: Program) -> None:
    by_row(call, program, call.words[1:2])


def _truncates(call: Call) -> None:
    """A file made shorter loses its content."""
    for word in call.words[1:]:
        if word.text.startswith(("+", "-")) or word.text[:1].isdigit():
            continue
        call.path("file.delete", word)


def _cow(call: Call, program: Program) -> None:
    """A cow from a file is a program."""
    split = by_row(call, program, call.words[1:])
    if any(name == "f" and value is not None and "/" in value.text for name, _, value in split.given):
        call.unseen("a cow from a file is a program")


def _arch(call: Call, _program: Program) -> None:
    """``arch`` prints; on a Mac ``arch -arm64 cmd`` runs cmd."""
    words = call.words[1:]
    while words and words[0].text[:1] == "-":
        words = words[2:] if words[0].text in {"-arch", "-e", "-d"} else words[1:]
    nested(call, words) if words else call.effect("system.read")


def _hostname(call: Call) -> None:
    """``hostname NAME`` sets it; options only print."""
    sets = any(not word.text.startswith("-") for word in call.words[1:]) or any(
        w.text in {"-b", "-F", "--file", "--boot"} for w in call.words[1:]
    )
    call.effect("system.configure" if sets else "system.read")


PROGRAMS = {
    **rows(
        "cat tac head tail wc nl od hexdump cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum md5 shasum "
        "base32 cmp stat file readlink realpath basename dirname du df strings column fold fmt pr expand unexpand "
        "comm join paste rev tsort sum look zcat bzcat xzcat zstdcat lzcat lz4cat zmore xxhsum crc32 namei exa eza lsd "
        "tokei cloc sloccount lsattr getfattr getfacl mediainfo pdfinfo pdffonts colordiff",
        READER,
    ),
    "ls": Program(
        "file.read",
        rest=Role.TARGET,
        options={Role.TEXT: "-I --ignore --hide --time-style --sort --color? --block-size -w --width -T"},
    ),
    "dir": READER,
    "vdir": READER,
    "head": Program("file.read", rest=Role.TARGET, options={Role.TEXT: "-n --lines -c --bytes"}),
    "tail": Program(
        "file.read", rest=Role.TARGET, options={Role.TEXT: "-n --lines -c --bytes -s --sleep-interval --pid"}
    ),
    "cut": Program(
        "file.read",
        rest=Role.TARGET,
        options={Role.TEXT: "-d --delimiter -f --fields -c --characters -b --bytes --output-delimiter"},
    ),
    "stat": Program("file.read", rest=Role.TARGET, options={Role.TEXT: "-c --format --printf -f? -t?"}),
    "file": Program(
        "file.read",
        rest=Role.TARGET,
        options={Role.TEXT: "-F --separator -P --parameter -e --exclude", Role.READ: "-f --files-from -m --magic-file"},
        also={"file.write": "-C --compile"},
    ),
    "du": Program(
        "file.read",
        rest=Role.TARGET,
        options={
            Role.TEXT: "-d --max-depth -B --block-size --exclude -t --threshold --time? --time-style",
            Role.READ: "-X --exclude-from --files0-from",
        },
    ),
    "wc": Program("file.read", rest=Role.TARGET, options={Role.READ: "--files0-from", Role.TEXT: "--total"}),
    "od": Program("file.read", rest=Role.TARGET, options={Role.TEXT: "-A -j -N -t -w? -S"}),
    "hexdump": Program("file.read", rest=Role.TARGET, options={Role.TEXT: "-n -s -e", Role.READ: "-f"}),
    "strings": Program("file.read", rest=Role.TARGET, options={Role.TEXT: "-n --bytes -t --radix -e --encoding -s"}),
    "column": Program("file.read", rest=Role.TARGET, options={Role.TEXT: "-s -t! -o -c -N -R -H -W"}),
    "fold": Program("file.read", rest=Role.TARGET, options={Role.TEXT: "-w --width"}),
    "fmt": Program("file.read", rest=Role.TARGET, options={Role.TEXT: "-w --width -p -g"}),
    "paste": Program("file.read", rest=Role.TARGET, options={Role.TEXT: "-d --delimiters"}),
    "join": Program("file.read", rest=Role.TARGET, options={Role.TEXT: "-1 -2 -j -t -o -e -a -v"}),
    "comm": Program("file.read", rest=Role.TARGET, options={Role.TEXT: "--output-delimiter"}),
    "nl": Program("file.read", rest=Role.TARGET, options={Role.TEXT: "-b -d -f -h -i -l -n -s -v -w"}),
    "base64": Program("file.read", rest=Role.TARGET, options={Role.TEXT: "-w --wrap -b", Role.WRITE: "-o --output"}),
    "shuf": Program(
        "file.read",
        dash_is_file=True,
        rest=Role.TARGET,
        options={
            Role.WRITE: "-o --output",
            Role.TEXT: "-i --input-range -n --head-count",
            Role.READ: "--random-source",
        },
    ),
    "split": Program(
        "file.write",
        operands=(Role.READ,),
        options={
            Role.RUN: "--filter",
            Role.TEXT: "-a -b -C -l -n -t -d? --bytes --lines --number --additional-suffix --suffix-length",
        },
        hook=_split,
    ),
    "csplit": Program(
        "file.read",
        operands=(Role.READ,),
        options={Role.TEXT: "-f --prefix -b --suffix-format -n --digits"},
        hook=_csplit,
    ),
    "diff": Program(
        "file.read",
        rest=Role.TARGET,
        options={
            Role.TEXT: "-U --unified? -C --context? -I -x --exclude -L --label -W --width --color? -F --tabsize --ifdef -D --from-file --to-file",
            Role.READ: "-X --exclude-from",
            Role.WRITE: "--output",
        },
    ),
    "diff3": READER,
    "sdiff": Program(
        "file.read",
        dash_is_file=True,
        rest=Role.TARGET,
        options={Role.WRITE: "-o --output", Role.RUN: "--diff-program", Role.TEXT: "-w -I"},
    ),
    "patch": Program(
        "file.write",
        operands=(Role.TARGET, Role.READ),
        options={
            Role.READ: "-i --input",
            Role.WRITE: "-o --output -r --reject-file",
            Role.TEXT: "-p --strip -F --fuzz -d --directory -D -V -z -B -Y",
        },
        instead={"file.read": "--dry-run --check -C"},
        hook=_patch,
    ),
    "tee": Program("file.write", rest=Role.TARGET, bare="system.read"),
    "sponge": Program("file.write", rest=Role.TARGET),
    "touch": Program("file.write", rest=Role.TARGET, options={Role.TEXT: "-d --date -t", Role.READ: "-r --reference"}),
    "mkdir": Program("folder.create", rest=Role.TARGET, options={Role.TEXT: "-m --mode -Z?"}),
    "mktemp": Program("file.write", options={Role.TEXT: "-p --tmpdir? --suffix -t"}),
    "mkfifo": Program("file.write", rest=Role.TARGET, options={Role.TEXT: "-m --mode"}),
    "mknod": Program("file.write", rest=Role.TARGET, options={Role.TEXT: "-m --mode"}, hook=_mknod),
    "cp": Program("file.copy", options=_COPY_OPTIONS, hook=_copy),
    "mv": Program("file.move", options=_COPY_OPTIONS, hook=_copy),
    "install": Program(
        "file.copy", options=_COPY_OPTIONS | {Role.RUN: "--strip-program"}, hook=_copy, also={"folder.create": "-d"}
    ),
    "ln": Program(
        "file.write",
        rest=Role.TARGET,
        options={Role.TEXT: "-S --suffix", Role.TARGET: "-t --target-directory"},
        hook=_link,
    ),
    "link": Program("file.write", rest=Role.TARGET),
    "rename": Program("file.move", operands=(Role.TEXT,), rest=Role.TARGET, sure=False),
    "rm": Program("file.delete", rest=Role.TARGET),
    "rmdir": Program("file.delete", rest=Role.TARGET),
    "unlink": Program("file.delete", rest=Role.TARGET),
    "shred": Program(
        "file.delete", rest=Role.TARGET, options={Role.TEXT: "-n --iterations -s --size", Role.READ: "--random-source"}
    ),
    "srm": Program("file.delete", rest=Role.TARGET),
    "wipe": Program("file.delete", rest=Role.TARGET),
    "trash": Program("file.delete", rest=Role.TARGET),
    "trash-put": Program("file.delete", rest=Role.TARGET),
    "trash-empty": Program("file.delete"),
    "rimraf": Program("file.delete", rest=Role.TARGET),
    "truncate": Program(
        "file.write",
        rest=Role.TARGET,
        options={Role.TEXT: "-s --size", Role.READ: "-r --reference"},
        also={"file.delete": ""},
        before=_truncates,
    ),
    "fallocate": Program("file.write", rest=Role.TARGET, options={Role.TEXT: "-l --length -o --offset"}),
    "dd": Program("file.read", hook=_dd),
    "chmod": Program(
        "file.permissions", operands=(Role.TEXT,), rest=Role.TARGET, options={Role.READ: "--reference"}, hook=_locks
    ),
    "chown": Program(
        "file.permissions",
        operands=(Role.TEXT,),
        rest=Role.TARGET,
        options={Role.READ: "--reference", Role.TEXT: "--from"},
        hook=_locks,
    ),
    "chgrp": Program(
        "file.permissions", operands=(Role.TEXT,), rest=Role.TARGET, options={Role.READ: "--reference"}, hook=_locks
    ),
    "chattr": Program("file.permissions", operands=(Role.TEXT,), rest=Role.TARGET, hook=_locks),
    "setfacl": Program(
        "file.permissions", rest=Role.TARGET, options={Role.TEXT: "-m -x -M -X --modify --remove --set"}, hook=_locks
    ),
    "setfattr": Program("file.permissions", rest=Role.TARGET, options={Role.TEXT: "-n -v -x"}),
    "chcon": Program(
        "file.permissions",
        operands=(Role.TEXT,),
        rest=Role.TARGET,
        options={Role.TEXT: "-t -u -r -l", Role.READ: "--reference"},
    ),
    "setcap": Program("file.permissions", operands=(Role.TEXT,), rest=Role.TARGET),
    "umask": QUIET,
    "date": _DATE,
    **rows(
        "pwd whoami id groups uname hostname nproc uptime free lscpu lsblk lsusb lspci lsmod lsof tty logname users who w "
        "last lastlog seq sleep true false yes factor numfmt expr cal ncal tput getconf locale sw_vers vmstat iostat mpstat "
        "dmesg lsb_release hostid banner figlet fortune "
        "vm_stat system_profiler getent findmnt blkid pathchk sync cksfv tldr cheat whatis apropos whereis which locate mlocate acpi sensors upower",
        QUIET,
    ),
    **rows(
        "scc diffstat",
        Program(
            "file.read",
            rest=Role.TARGET,
            options={Role.WRITE: "-o --output", Role.TEXT: "-f --format -i --include-ext -w"},
        ),
    ),
    **rows(
        "neofetch fastfetch screenfetch",
        Program("system.read", options={Role.UNSEEN: "--config -c", Role.TEXT: "-l --logo"}),
    ),
    **rows("cowsay cowthink", Program("system.read", options={Role.TEXT: "-e -T -W -f"}, hook=_cow)),
    "sar": Program(
        "system.read", rest=Role.TEXT, options={Role.WRITE: "-o", Role.READ: "-f", Role.TEXT: "-s -e -i -P -n"}
    ),
    "arch": Program("system.read", hook=_arch),
    "hostname": Program("system.read", rest=Role.TEXT, hook=lambda call, _program: _hostname(call)),
    "tree": Program(
        "file.read",
        dash_is_file=True,
        rest=Role.TARGET,
        options={
            Role.WRITE: "-o",
            Role.TEXT: "-L -P -I -H -T --charset --filelimit --timefmt --sort",
            Role.READ: "--fromfile? --gitfile --infofile",
        },
        also={"file.write": "-R"},
    ),
    "xxd": Program(
        "file.read",
        operands=(Role.TARGET, Role.WRITE),
        options={Role.TEXT: "-c -cols -g -groupsize -l -len -n -name -o -s -seek -R"},
        also={},
        single=True,
    ),
    "uniq": Program(
        "file.read",
        operands=(Role.TARGET, Role.WRITE),
        options={Role.TEXT: "-f --skip-fields -s --skip-chars -w --check-chars --group? --all-repeated? -D!"},
    ),
    "sort": Program(
        "file.read",
        dash_is_file=True,
        rest=Role.TARGET,
        options={
            Role.WRITE: "-o --output",
            Role.RUN: "--compress-program",
            Role.TEXT: "-k --key -t --field-separator -S --buffer-size -T --temporary-directory --parallel --batch-size --sort --check? -C!",
            Role.READ: "--files0-from --random-source",
        },
    ),
    "iconv": Program(
        "file.read", rest=Role.TARGET, options={Role.WRITE: "-o --output", Role.TEXT: "-f --from-code -t --to-code"}
    ),
    "dos2unix": Program("file.write", rest=Role.TARGET, options={Role.TEXT: "-c --convmode"}),
    "unix2dos": Program("file.write", rest=Role.TARGET),
    "lsof": Program("process.read", options={Role.TEXT: "-i? -p -u -c -d"}, rest=Role.READ),
    "dmesg": Program("system.read", also={"system.configure": "-c -C --clear --read-clear -D -E -n"}),
    "sync": Program("system.read"),
    "locate": Program("file.search"),
    "updatedb": Program("file.write"),
}
