"""Processes, services, accounts, disks and schedules."""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

from agentsfence_core.classification.shell.around import CONTROL, takes_away
from agentsfence_core.classification.shell.call import ENVIRONMENT, Call
from agentsfence_core.classification.shell.engine import by_row, shell_line
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.rows import Program, Role, rows, table_of
from agentsfence_core.classification.shell.words import Word

LOOK = Program("process.read", rest=Role.TEXT)
SYSTEM = Program("system.read", rest=Role.TEXT)
CONFIGURE = Program("system.configure", rest=Role.TEXT)


def _ps(call: Call, _program: Program) -> None:
    """``ps`` lists; the BSD letter ``e`` (``ps eww``) shows every process's environment."""
    call.effect("process.read")
    for word in call.words[1:]:
        text = word.text
        if text[:1] != "-" and "e" in text and text.isalpha():
            call.path("process.read", Word(ENVIRONMENT))
        if text == "-E" or "environ" in text.lower():
            call.path("process.read", Word(ENVIRONMENT))


def _signals(call: Call, program: Program) -> None:
    """``pkill x`` ends what matches x; the pattern is the object."""
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    call.effect("process.control")
    for word in split.operands:
        call.object("process.control", "process", word)
    if not split.operands and any(name in {"u", "user", "U", "euid", "uid"} for name, _, _ in split.given):
        call.effect(CONTROL)  # every process of an account


def _systemctl(call: Call, program: Program) -> None:
    """``status``, ``list-units`` and kin look; the rest controls services."""
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    verb = split.operands[0].text if split.operands else ""
    names = split.operands[1:]
    if not verb or verb in _SYSTEMCTL_READS or verb.startswith("list"):
        call.effect("process.read")
        return
    configures = {
        "enable",
        "disable",
        "mask",
        "unmask",
        "link",
        "edit",
        "set-default",
        "reenable",
        "preset",
        "daemon-reload",
        "set-property",
        "set-environment",
        "unset-environment",
        "import-environment",
        "revert",
        "daemon-reexec",
        "reboot",
        "poweroff",
        "halt",
        "suspend",
        "hibernate",
        "rescue",
        "emergency",
        "kexec",
        "soft-reboot",
        "isolate",
        "default",
    }
    capability = "system.configure" if verb in configures else "process.control"
    call.effect(capability)
    for word in names:
        call.object(capability, "service", word)


_SYSTEMCTL_READS = frozenset(
    "status show is-active is-enabled is-failed cat help get-default show-environment is-system-running".split()
)


def _service(call: Call, _program: Program) -> None:
    words = [word for word in call.words[1:] if word.text[:1] != "-"]
    verb = words[1].text if len(words) > 1 else "status"
    capability = "process.read" if verb == "status" or not words else "process.control"
    call.effect(capability)
    for word in words[:1]:
        call.object(capability, "service", word)


def _crontab(call: Call, program: Program) -> None:
    """``crontab -l`` lists, ``-r`` deletes, anything else installs."""
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    if "r" in split.strays:
        call.effect("schedule.delete")
    elif "l" in split.strays:
        call.effect("system.read")
    else:
        call.effect("schedule.create")
        if "e" in split.strays or not split.operands or split.operands[0].text == "-":
            call.unseen("jobs that the text does not show", "schedule.create")
            if call.stdin is not None:
                for line in call.stdin.splitlines()[:200]:
                    fields = line.split(None, 5)
                    if len(fields) == 6 and not line.lstrip().startswith("#"):
                        shell_line(call, Word(fields[5]))
        for word in split.operands:
            if word.text != "-":
                call.path("file.read", word)


def _at(call: Call, program: Program) -> None:
    """``at time`` runs its input later; ``-l`` lists, ``-d`` and ``-r`` delete."""
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    name = call.words[0].text
    if name == "atq" or "l" in split.strays or "c" in split.strays:
        call.effect("system.read")
    elif name == "atrm" or {"d", "r"} & set(split.strays):
        call.effect("schedule.delete")
    else:
        call.unseen("commands that run later", "schedule.create")
        if call.stdin is not None:
            shell_line(call, Word(call.stdin))


_JOURNAL_ROW = Program(
    "system.read",
    options={
        Role.READ: "--file -D --directory --root",
        Role.WRITE: "--cursor-file",
        Role.TEXT: "-u --unit -n --lines -p --priority -S --since -U --until -o --output -t -g --grep -b? --identifier",
    },
)


def _journal(call: Call, _program: Program) -> None:
    """``journalctl`` reads; ``--vacuum`` and ``--rotate`` delete."""
    if any(word.text.startswith(("--vac", "--rot", "--flu", "--sync")) for word in call.words[1:]):
        call.effect("file.delete")
    else:
        by_row(
            call,
            _JOURNAL_ROW,
            call.words[1:],
        )


def _mount(call: Call, _program: Program) -> None:
    names = [word for word in call.words[1:] if word.text[:1] != "-"]
    call.effect(
        "system.configure" if names or any(word.text in {"-a", "--all"} for word in call.words) else "system.read"
    )
    takes_away(call, names[-1:])


def _clipboard(call: Call, _program: Program) -> None:
    call.effect("system.read")


def _timedate(call: Call, _program: Program) -> None:
    names = [word.text for word in call.words[1:] if word.text[:1] != "-"]
    looks = not names or (len(names) == 1 and names[0] in {"hostname", "icon-name", "chassis"})
    looks = looks or names[0].startswith(
        ("status", "show", "list", "info", "is-", "session-status", "user-status", "timesync")
    )
    call.effect("system.read" if looks else "system.configure")


_GPG_ROW = Program(
    "file.read",
    rest=Role.TARGET,
    options={
        Role.WRITE: "-o --output",
        Role.TEXT: "-r --recipient -u --local-user --keyserver --passphrase --batch! --recv-keys! -a! -s! -e! -d! -c!",
        Role.READ: "--passphrase-file",
        Role.UNSEEN: "--photo-viewer --exec-path --options --homedir --keyring --agent-program --pinentry-program",
    },
)


_GPG_WRITES = frozenset("e s c b encrypt sign symmetric detach-sign clearsign clear-sign store enarmor dearmor".split())


def _gpg_flags(call: Call) -> set[str]:
    split = Split(call.words[1:], table_of(_GPG_ROW), posix=False, single=False)
    return {*split.strays, *[name for name, _, _ in split.given]}


def _sops(call: Call, program: Program) -> None:
    """``sops`` edits; ``-d`` prints secrets, ``exec-env`` and ``exec-file`` run a line with them."""
    words = [word for word in call.words[1:] if word.text[:1] != "-"]
    verb = words[0].text if words else ""
    if verb in {"exec-env", "exec-file"}:
        call.effect("secret.read")
        call.unseen("a line with secrets in its environment")
        for word in words[2:3]:
            shell_line(call, word)
    elif verb == "decrypt":
        call.effect("secret.read")
    else:
        by_row(call, program, call.words[1:])


def _gpg(call: Call, _program: Program) -> None:
    """``gpg`` lists, verifies and decrypts; with ``-o`` it writes, with ``--delete`` it deletes, keys change trust."""
    words = {word.text for word in call.words[1:]}
    if any(word.startswith("--delete") for word in words):
        call.effect("file.delete")
    elif words & {
        "--import",
        "--gen-key",
        "--full-generate-key",
        "--generate-key",
        "--edit-key",
        "--sign-key",
        "--lsign-key",
        "--quick-generate-key",
        "--change-passphrase",
        "--import-ownertrust",
        "--quick-gen-key",
        "--recv-keys",
        "--receive-keys",
        "--refresh-keys",
    } or any(word.startswith("--quick-") for word in words):
        call.effect("account.security")
    elif words & {"--send-keys", "--send-key"}:
        call.effect("web.post")
    elif _gpg_flags(call) & _GPG_WRITES:
        call.effect("file.write")
    elif any(word.startswith("--export-secret") for word in words):
        call.path("file.read", Word("~/.gnupg/private-keys-v1.d"))
    row = _GPG_ROW
    by_row(call, row, call.words[1:])


PROGRAMS = {
    "ps": Program("process.read", hook=_ps),
    **rows("top htop btop atop glances pgrep pidof pstree jobs pmap pwdx ipcs nvtop ctop procs lslocks", LOOK),
    "fuser": Program("process.read", also={"process.control": "-k --kill"}),
    **rows("pkill killall killall5 skill xkill", Program("process.control", options={Role.TEXT: "-s --signal -u --user -U -g -G -t -P"}, hook=_signals)),
    **rows("renice", Program("process.control")),
    "systemctl": Program("process.control", options={Role.TEXT: "-n --lines -o --output -t --type -p --property --state -s --signal -H --host -M --machine --root --job-mode"}, hook=_systemctl),
    **rows("service rc-service sv s6-svc initctl supervisorctl", Program("process.control", hook=_service)),
    **rows("launchctl", Program("system.configure", subcommands={**rows("list print blame", LOOK), **rows("load unload bootstrap bootout enable disable submit", CONFIGURE), **rows("start stop kickstart kill", Program("process.control"))})),
    **rows("pm2 forever", Program("process.control", subcommands={**rows("list ls status logs monit show describe info", LOOK), **rows("start", Program("script.run", operands=(Role.TARGET,), sure=False)), **rows("stop restart reload delete kill save resurrect startup", Program("process.control"))})),
    **rows("shutdown reboot poweroff halt init telinit runlevel", CONFIGURE),
    "crontab": Program("schedule.create", options={Role.TEXT: "-u"}, hook=_crontab),
    **rows("at batch atq atrm", Program("schedule.create", options={Role.READ: "-f", Role.TEXT: "-q -t"}, hook=_at)),
    "journalctl": Program("system.read", hook=_journal),
    **rows("loginctl hostnamectl timedatectl localectl bootctl coredumpctl", Program("system.read", hook=_timedate)),
    "systemd-analyze": SYSTEM,
    "mount": Program("system.configure", hook=_mount),
    **rows("umount losetup swapon swapoff cryptsetup mdadm lvm lvcreate lvextend vgcreate pvcreate zpool zfs btrfs modprobe insmod rmmod depmod update-grub grub-install mkinitcpio dracut setenforce aa-enforce apparmor_parser chsh chfn hwclock rfkill setterm loadkeys xrandr gsettings dconf defaults scutil networksetup pmset csrutil spctl nvram systemsetup update-alternatives update-ca-certificates ldconfig locale-gen dpkg-reconfigure debconf-set-selections sysrc setsebool semanage", CONFIGURE),
    **rows("lvremove vgremove pvremove", Program("file.delete")),
    **rows("fsck e2fsck xfs_repair tune2fs resize2fs", CONFIGURE),
    **rows("useradd adduser usermod groupadd groupmod gpasswd passwd chpasswd newgrp visudo vipw pwck chage dscl", Program("access.grant", rest=Role.OBJECT, kind="user", options={Role.TEXT: "-G -g -s -d -c -u -e -p"})),
    **rows("userdel deluser groupdel delgroup", Program("account.delete", rest=Role.OBJECT, kind="user")),
    **rows("xclip xsel pbpaste pbcopy wl-copy wl-paste clip", Program("system.read", hook=_clipboard)),
    **rows("notify-send say espeak beep mesg", Program("system.read")),
    **rows("wall write", Program("message.send", rest=Role.TEXT)),
    **rows("xdotool ydotool wmctrl cliclick wtype", Program("desktop.control")),
    **rows("scrot screencapture maim grim flameshot gnome-screenshot import", Program("media.generate", rest=Role.TARGET)),
    **rows("gpg gpg2", Program("file.read", hook=_gpg)),
    **rows("age", Program("file.read", rest=Role.TARGET, options={Role.WRITE: "-o --output", Role.READ: "-i --identity -R", Role.TEXT: "-r --recipient"})),
    "age-keygen": Program("file.write", options={Role.WRITE: "-o"}),
    "sops": Program("file.write", rest=Role.TARGET, instead={"secret.read": "-d --decrypt"}, also={"file.write": "-i --in-place"}, hook=_sops),
    **rows("logger", Program("file.write")),
    "logrotate": Program("file.delete", sure=False),
    "tmpreaper": Program("file.delete", rest=Role.TARGET),
    **rows("restic borg duplicity rdiff-backup timeshift", Program("file.upload", subcommands={**rows("list ls snapshots info stats check diff find cat", Program("file.read")), **rows("backup create init", Program("file.upload")), **rows("restore extract mount", Program("file.write")), **rows("forget prune delete", Program("file.delete"))})),
    **rows("inotifywait fswatch", Program("file.read", rest=Role.TARGET)),
    **rows("rsyslogd nginx apache2 httpd caddy apachectl haproxy gunicorn uvicorn flask django-admin rails puma unicorn celery rq php-fpm streamlit jupyter-lab jupyter gradio http-server serve live-server", Program("process.control", sure=False)),
    **rows("dbus-send gdbus busctl qdbus", Program("system.configure", sure=False)),
    **rows("gdb lldb rr valgrind radare2 r2", Program("code.exec", sure=False)),
    "osascript": Program("code.exec", sure=False),
    **rows("stty reset clear tset setxkbmap", SYSTEM),
    "faillock": Program("access.grant"),
}  # fmt: skip
