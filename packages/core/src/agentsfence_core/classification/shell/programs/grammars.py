"""Programs whose verb or option letters decide by position: terminals, disks, firewalls, networks, schema tools.

INVARIANT: a word that reads lowers a command only where its program takes it for a verb or an option. The same word as
a name, a label or an option's value lowers nothing; what a grammar does not know acts.
"""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

from typing import Final

from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.engine import shell_line
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.rows import Program, Role, rows, table_of
from agentsfence_core.classification.shell.words import Word


def _row(values: str, *, single: bool = False) -> Program:
    """Return a row that only says which options take a value."""
    return Program("system.read", options={Role.TEXT: values}, single=single)


def _split(call: Call, row: Program, *, posix: bool = False) -> Split:
    return Split(call.words[1:], table_of(row), posix=posix, single=row.single)


def _named(split: Split) -> set[str]:
    """Return the options that were given, by letter or full name as written."""
    return {*split.strays, *[name for name, _, _ in split.given]}


# -- terminals

_TMUX: Final = _row("-c -f -L -S -T")
_TMUX_COMMAND: Final = _row("-b -c -e -E -f -F -l -n -p -P -s -S -t -T -w -x -y")
_TMUX_READS: Final = frozenset(
    """ls list-sessions list-windows lsw list-panes lsp list-clients lsc list-keys lsk list-commands lscm list-buffers lsb
    capture-pane capturep has-session has show-options show showw show-window-options show-messages showmsgs
    show-environment showenv info server-info show-buffer showb""".split()
)
_TMUX_KILLS: Final = ("kill-", "detach", "lock", "killp", "killw")
_SCREEN: Final = _row("-c -e -h -p -r? -d? -D? -R? -s -S -t -T -x? -X!")
_SESSION_READS: Final = frozenset({"ls", "list", "list-sessions"})


def _tmux(call: Call, _program: Program) -> None:
    """``tmux`` types into terminals and starts programs in them; several commands stand between semicolons."""
    split = _split(call, _TMUX, posix=True)
    for name, _, value in split.given:
        if name in {"c", "f"} and value is not None:
            call.unseen("tmux starts a program or reads commands")
            if name == "c":
                shell_line(call, value)
    if not split.operands and not call.drafts:
        only_asks = {"V", "version"} & set(split.strays)
        call.effect("system.read") if only_asks else call.unseen("a terminal session")
    command: list[Word] = []
    for word in [*split.operands, Word(";")]:
        ends = word.text == ";" or (word.text.endswith(";") and not word.text.endswith("\\;"))
        if word.text != ";":
            command.append(word)
        if ends and command:
            _tmux_command(call, command)
            command = []


def _tmux_command(call: Call, words: list[Word]) -> None:
    verb = words[0].text.rstrip(";")
    split = Split(words[1:], table_of(_TMUX_COMMAND), posix=True, single=False)
    if verb in _TMUX_READS or (
        verb in {"display-message", "display"} and "p" in split.strays and not _substitutes(words)
    ):
        call.effect("process.read")
    elif verb.startswith(_TMUX_KILLS):
        call.effect("process.control")
    else:
        call.unseen("a terminal session")
        keys = verb in {"send-keys", "send"}
        lines = split.operands if keys else [_joined(split.operands)] if split.operands else []
        for word in lines:
            if not keys or " " in word.text:
                shell_line(call, word)


def _substitutes(words: list[Word]) -> bool:
    """Whether a format runs a shell line: ``#(cmd)``."""
    return any("#(" in word.text for word in words)


def _joined(words: list[Word]) -> Word:
    return Word(" ".join([word.text for word in words]), all(word.sure for word in words))


def _screen(call: Call, _program: Program) -> None:
    """``screen -ls`` and ``zellij ls`` look; everything else starts programs or types into them."""
    words = [word.text for word in call.words[1:]]
    first = words[0] if words else ""
    lists = first in {"-ls", "-list", "-v"} if call.words[0].text == "screen" else first in _SESSION_READS
    if lists and len(words) < 3:
        call.effect("process.read")
        return
    call.unseen("a terminal session")
    operands = _split(call, _SCREEN, posix=True).operands
    if operands:
        shell_line(call, _joined(operands))
    for word in operands:
        if " " in word.text:
            shell_line(call, word)


# -- disks

_DISK: Final = _row("-a? --label -b -o --output -t --type -U -C -S -H")
_DISK_READS: Final = {
    "fdisk": frozenset({"l", "list", "x", "bytes", "list-details"}),
    "sfdisk": frozenset("l list d dump J json F list-free V verify s show-size g show-geometry T list-types q".split()),
    "gdisk": frozenset({"l"}),
    "sgdisk": frozenset("p print v verify i info L list-types F first-aligned-in-largest E end-of-largest D".split()),
    "hdparm": frozenset("i I t T g C H v".split()),
    "wipefs": frozenset("n no-act p parsable J json i noheadings O".split()),
    "badblocks": frozenset("s v b c".split()),
    **dict.fromkeys(("mke2fs", "mkfs.ext2", "mkfs.ext3", "mkfs.ext4"), frozenset({"n", "v", "q"})),
    "mkfs.xfs": frozenset({"N"}),
}
"""Options of each program that only look; anything else beside them acts."""
_BARE_LOOKS: Final = frozenset({"badblocks", "wipefs"})
_PARTED: Final = _row("-a --align -m! -s!")
_PARTED_READS: Final = {"print": 1, "p": 1, "unit": 2, "u": 2, "align-check": 3, "help": 1, "version": 1, "quit": 1}
"""Commands of parted that look, with the words that each takes; ``print`` may have one more."""
_DISKUTIL: Final = frozenset("list info activity listfilesystems verifydisk verifyvolume".split())


def _disk(call: Call, _program: Program) -> None:
    """Programs that format or partition a device: what was on it is gone, unless they were only asked to look."""
    name = call.words[0].text.rpartition("/")[2]
    if _looks_at_disk(call, name):
        call.effect("system.read")
        return
    call.effect("file.delete")
    for word in call.words[1:]:
        if word.text.startswith("/dev/"):
            call.path("file.delete", word)


def _looks_at_disk(call: Call, name: str) -> bool:
    if name == "parted":
        return _parted_looks(call)
    if name == "diskutil":
        operands = _split(call, _DISK).operands
        verbs = [word.text.lower() for word in operands[:2]]
        return bool(verbs) and (verbs[0] in _DISKUTIL or verbs == ["apfs", "list"])
    given = _named(_split(call, _DISK))
    return given <= _DISK_READS.get(name, frozenset()) and bool(given or name in _BARE_LOOKS)


def _parted_looks(call: Call) -> bool:
    """Whether every command behind the device only looks."""
    split = _split(call, _PARTED)
    if {"l", "list"} & set(split.strays):
        return not split.operands
    words = [word.text for word in split.operands[1:]]
    place = 0
    while place < len(words):
        takes = _PARTED_READS.get(words[place])
        if takes is None:
            return False
        place += takes
        place += words[place - takes] in {"print", "p"} and words[place : place + 1] in (["free"], ["all"], ["devices"])
    return bool(words)


# -- firewalls and networks

_IPTABLES: Final = _row("-t --table -w? --wait?")
_IPTABLES_READS: Final = frozenset("L list S list-rules C check V version".split())
_IPTABLES_SHOWS: Final = frozenset("n numeric v verbose line-numbers x exact t table w wait 4 6 ipv4 ipv6".split())
_FIRST_VERB: Final = {
    "nft": frozenset({"list", "describe", "monitor"}),
    "ufw": frozenset({"status", "version", "show", "app"}),
}
_ZONES: Final = ("list-", "get-", "query-", "info-", "state", "zone", "permanent", "version", "check-config")


def _firewall(call: Call, _program: Program) -> None:
    """Firewalls: what only lists, reads; every other command changes what passes."""
    name = call.words[0].text
    split = _split(call, _IPTABLES)
    given = _named(split)
    operands = [word.text for word in split.operands]
    if name in _FIRST_VERB:
        looks = operands[:1] and operands[0] in _FIRST_VERB[name] and not given & {"f", "file", "i", "interactive"}
        looks = looks and operands[:2] not in (["app", "update"], ["app", "default"])
    elif name == "firewall-cmd":
        looks = bool(given) and all(option.startswith(_ZONES) for option in given) and not operands
    elif name == "pfctl":
        looks = bool(call.words[1:]) and call.words[1].text.startswith(("-s", "-vs")) and len(call.words) < 4
    else:
        looks = bool(given & _IPTABLES_READS) and given <= _IPTABLES_READS | _IPTABLES_SHOWS
    call.effect("system.read" if looks else "system.configure")


_NMCLI: Final = _row("-f --fields -m --mode -c --colors -g --get-values -w --wait -e --escape")
_NMCLI_READS: Final = ("show", "status", "list", "permissions", "monitor", "hostname")
_RESOLVE_READS: Final = frozenset(
    "status query statistics service openpgp tlsa show-cache show-server-state monitor".split()
)
_RESOLVE_SETS: Final = frozenset("dns domain default-route llmnr mdns dnsovertls dnssec nta log-level".split())
"""Verbs of ``resolvectl`` that show with a link's name and set with more."""


def _network(call: Call, _program: Program) -> None:
    """``nmcli``, ``resolvectl`` and ``networkctl``: the verb behind the object decides, also abbreviated."""
    name = call.words[0].text
    split = _split(call, _NMCLI, posix=True)
    words = [word.text for word in split.operands]
    if name == "nmcli":
        capability = _nmcli(words, {*split.strays})
    elif name == "resolvectl":
        looks = not words or words[0] in _RESOLVE_READS or (words[0] in _RESOLVE_SETS and len(words) < 3)
        capability = "system.read" if looks else "system.configure"
    else:
        capability = (
            "system.read" if not words or words[0] in {"list", "status", "lldp", "label", "cat"} else "system.configure"
        )
    call.effect(capability)


def _nmcli(words: list[str], flags: set[str]) -> str:
    verb = words[1] if len(words) > 1 else ""
    rest = words[2:]
    if flags & {"s", "show-secrets"} or {"-s", "--show-secrets"} & set(rest) or verb == "show-password":
        return "secret.read"
    wifi = bool(verb) and "wifi".startswith(verb) and words[0][:1] == "d"
    if wifi:
        if rest[:1] and "show-password".startswith(rest[0]) and len(rest[0]) > 1:
            return "secret.read"
        return "system.read" if not rest or "list".startswith(rest[0]) else "system.configure"
    if words[:1] and words[0][:1] in {"r", "n"}:  # radio and networking show what they are not told to set
        return (
            "system.read"
            if len(words) < 2 or (words[0][:1] == "r" and len(words) < 3 and verb in {"wifi", "wwan", "all"})
            else "system.configure"
        )
    return "system.read" if not verb or any(known.startswith(verb) for known in _NMCLI_READS) else "system.configure"


_IP: Final = Program(
    "system.read",
    options={
        Role.TEXT: "-f -family -n -netns -rc -rcvbuf -l -loops",
        Role.READ: "-b -batch",
        Role.FLAG: "-br -brief",
    },
    single=True,
)
_IP_LOOKS: Final = ("show", "list", "lst", "get", "help", "monitor")


def _ip_verb_looks(kind: str, verb: str) -> bool:
    """Whether a verb, as far as it is written, looks: ``ip link s`` is ``set``, ``ip addr s`` is ``show``."""
    if verb == "s":
        return kind[:1] in {"a", "r", "n"} and kind not in {"netns", "netconf"}
    return any(known.startswith(verb) for known in _IP_LOOKS)


def _ip(call: Call, _program: Program) -> None:
    """``ip addr`` and ``ip route show`` read; ``add``, ``del``, ``set`` configure; ``netns exec`` runs."""
    split = _split(call, _IP, posix=True)
    words = [word.text for word in split.operands if word.text[:1] != "-"]
    if words[1:2] and len(words[1]) > 1 and "exec".startswith(words[1]):
        call.unseen("ip netns exec")
    batch = [value for name, _, value in split.given if name in {"b", "batch", "force"} and value is not None]
    looks = not batch and (len(words) < 2 or _ip_verb_looks(words[0], words[1]))
    call.effect("system.read" if looks else "system.configure")
    for value in batch:
        call.path("file.read", value)


_SS: Final = _row("-f -A -F -N -D --family --query --socket --filter --net --diag")
_ARP: Final = _row("-i --device -H --hw-type -A -p")
_SYSCTL: Final = _row("-r --pattern")
_SYSCTL_READS: Final = frozenset(
    "a A X all n values N names e ignore q quiet b binary d h r pattern x deprecated o".split()
)


def _sockets(call: Call, _program: Program) -> None:
    """``ss -K`` ends connections; without it sockets are only shown."""
    given = _named(_split(call, _SS))
    call.effect(
        "process.control" if any(o == "K" or (len(o) > 1 and "kill".startswith(o)) for o in given) else "system.read"
    )


def _arp(call: Call, _program: Program) -> None:
    """``arp`` shows; ``-d``, ``-s`` and ``-f`` change the table."""
    given = _named(_split(call, _ARP))
    acts = {"d", "s", "f", "S"} & given or any(
        len(o) > 1 and ("delete".startswith(o) or "set".startswith(o) or "file".startswith(o)) for o in given
    )
    call.effect("system.configure" if acts else "system.read")


def _sysctl(call: Call, _program: Program) -> None:
    """``sysctl`` shows names; ``name=value`` and every option that does not only show set or load."""
    split = _split(call, _SYSCTL)
    looks = _named(split) <= _SYSCTL_READS and not any("=" in word.text for word in split.operands)
    call.effect("system.read" if looks else "system.configure")


# -- schema tools

_MIGRATE: Final = _row(
    "-c --config -n --name -x -d -dir --dir -e --env -u --url -url -path --path -database --schema -s -table --table "
    "--knexfile --dataSource -m --migrations-dir -user -password --changelog-file -locations --sql-dialect",
    single=True,
)
_GROUPS: Final = frozenset("migrate db migration migrations schema".split())
_DRIVERS: Final = frozenset(
    "postgres pgx mysql sqlite sqlite3 mssql redshift tidb clickhouse vertica ydb duckdb".split()
)
_DROPS: Final = frozenset(
    "reset drop clean downgrade down rollback undo wipe dropAll revert drop-all down-to redo purge".split()
)
_LOOKS: Final = frozenset(
    "status history current heads branches info validate format show check version diff list ls inspect lint hash".split()
)
_MAKES: Final = frozenset("generate revision init create new introspect pull merge dump".split())


def _migrations(call: Call, _program: Program) -> None:
    """Status reads, generating writes files, the rest changes a database; resets drop it."""
    split = _split(call, _MIGRATE)
    words = [word.text for word in split.operands]
    if words[:1] and words[0] in _DRIVERS:  # goose: driver, address, verb
        words = words[2:]
    verb = words[0] if words else ""
    if verb in _GROUPS and len(words) > 1:
        verb = words[1]
    parts = verb.split(":")
    if any(part in _DROPS for part in parts) or {"force", "force-reset", "accept-data-loss"} & _named(split):
        call.effect("database.delete")
    elif parts[-1] in _LOOKS:
        call.effect("database.read")
    elif parts[-1] in _MAKES:
        call.effect("build.run")
    elif verb == "studio":
        call.effect("process.control")
    else:
        call.effect("database.write")


PROGRAMS = {
    "tmux": Program("shell.exec", hook=_tmux),
    **rows("screen zellij byobu dtach", Program("shell.exec", hook=_screen)),
    **rows(
        "mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.vfat mkfs.fat mkfs.btrfs mkfs.ntfs mkfs.exfat mkfs.f2fs mke2fs mkswap "
        "fdisk sfdisk cfdisk gdisk sgdisk parted wipefs blkdiscard hdparm diskutil badblocks",
        Program("file.delete", hook=_disk),
    ),
    **rows("iptables ip6tables nft ufw firewall-cmd pfctl", Program("system.configure", hook=_firewall)),
    **rows("nmcli resolvectl networkctl", Program("system.configure", hook=_network)),
    "ip": Program("system.read", hook=_ip),
    "ss": Program("system.read", hook=_sockets),
    "arp": Program("system.read", hook=_arp),
    "sysctl": Program("system.configure", hook=_sysctl),
    **rows(
        "alembic drizzle-kit prisma flyway liquibase dbmate goose knex typeorm sequelize sequelize-cli atlas migrate",
        Program("database.write", hook=_migrations),
    ),
}
