"""Programs that run another program: what counts is what they run."""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from agentsfence_core.classification.shell.call import ENVIRONMENT, Call
from agentsfence_core.classification.shell.engine import nested, repeated, shell_line
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.rows import Program, Role, rows, table_of
from agentsfence_core.classification.shell.words import Word
from agentsfence_core.classification.targets.paths import canonical_path
from agentsfence_core.model.action import TargetKind


def _unwrap(call: Call, program: Program) -> None:
    """Skip the wrapper's own options and leading operands, and read the rest as a command."""
    split = Split(call.words[1:], table_of(program), posix=True, single=False)
    for _, option, value in split.given:
        if option.role is Role.RUN and value is not None:
            shell_line(call, value)
        elif option.role is Role.UNSEEN:
            call.unseen("an option brings in something that the text does not show")
        elif option.role is Role.WRITE and value is not None:
            call.path("file.write", value)
    inner = split.operands[len(program.operands) :]
    if inner:
        nested(call, inner)
    elif program.bare == _SHELL:
        _shell_of(call)
    elif not call.drafts:
        call.effect(program.bare or program.does)


_SHELL = "shell.exec"


def _shell_of(call: Call) -> None:
    """Without a command some wrappers start a shell, which runs what arrives."""
    call.unseen("a shell that runs what arrives")
    if call.stdin is not None:
        shell_line(call, Word(call.stdin))


def wrapper(
    options: str = "", operands: int = 0, *, runs: str = "", writes: str = "", bare: str = "system.read"
) -> Program:
    """Return a row for a wrapper with these value options and this many words before the command."""
    return Program(
        "system.read",
        operands=(Role.TEXT,) * operands,
        options={Role.TEXT: options, Role.RUN: runs, Role.WRITE: writes},
        posix=True,
        bare=bare,
        hook=_unwrap,
    )


def _after_variables(call: Call, operands: list[Word]) -> list[Word]:
    """Take note of ``A=b`` in front of a command; return the command."""
    while operands and "=" in operands[0].text and "/" not in operands[0].text.partition("=")[0]:
        name = operands[0].text.partition("=")[0]
        value = operands[0].after(len(name) + 1)
        if call.scan.sets(name, value.text if value.sure else None):
            call.unseen(f"{name} changes what programs run")
        operands = operands[1:]
    return operands


def _env(call: Call, program: Program) -> None:
    """``env A=b cmd`` runs cmd with A; ``-S`` splits a text; alone it prints the environment."""
    split = Split(call.words[1:], table_of(program), posix=True, single=False)
    operands = split.operands
    folder: Word | None = None
    for name, _, value in split.given:
        if value is not None and (name == "S" or (len(name) > 1 and "split-string".startswith(name))):
            shell_line(call, joined([value, *operands]))  # its quoting is nearly a shell's
            return
        if value is not None and (name == "C" or (len(name) > 1 and "chdir".startswith(name))):
            folder = value
    if operands and operands[0].text == "-":
        operands = operands[1:]
    operands = _after_variables(call, operands)
    dirs = call.scan.dirs
    if folder is not None:
        known = [canonical_path(folder.text, workdir=start, home=call.scan.home) for start in dirs]
        call.scan.dirs = tuple(known) if folder.literal else (None, "/")
    if operands:
        nested(call, operands)
    elif not call.drafts:
        call.path("system.read", Word(ENVIRONMENT))
    call.scan.dirs = dirs


def _xargs(call: Call, program: Program) -> None:
    """``xargs cmd`` runs cmd with words that the text does not show."""
    split = Split(call.words[1:], table_of(program), posix=True, single=False)
    mark = ""
    for name, option, value in split.given:
        if option.role is Role.READ and value is not None:
            call.path("file.read", value)
        elif name in {"I", "i", "replace", "J"}:
            mark = value.text if value is not None else "{}"
    if not split.operands:
        call.effect("system.read")
    elif mark:
        replaced = [Word(word.text, False, True) if mark in word.text else word for word in split.operands]
        repeated(call, replaced)
    else:
        given = [Word(text) for text in call.stdin.split()[:256]] if call.stdin is not None else []
        if given and not split.given:  # a few words that the text shows are one batch
            nested(call, [*split.operands, *given], piped=False)
        else:
            repeated(call, [*split.operands, *(given or [Word("{}", False, True)])])


def _parallel(call: Call, program: Program) -> None:
    """GNU parallel joins its words into a shell line per input; without words the input itself is run."""
    split = Split(call.words[1:], table_of(program), posix=True, single=False)
    words = []
    for word in split.operands:
        if word.text.startswith(":::"):
            break
        words.append(word)
    call.unseen("parallel runs a shell line per input")
    call.scan.repeats += 1
    if words:
        shell_line(call, Word(" ".join([word.text for word in words]), all(word.sure for word in words)))
    call.scan.repeats -= 1


def _watch(call: Call, program: Program) -> None:
    """``watch`` joins its words into a shell line, ``-x`` runs them as they are."""
    split = Split(call.words[1:], table_of(program), posix=True, single=False)
    if "x" in split.strays or "exec" in split.strays:
        repeated(call, split.operands)
    elif split.operands:
        call.scan.repeats += 1
        shell_line(call, joined(split.operands))
        call.scan.repeats -= 1
    else:
        call.effect("system.read")


def joined(words: list[Word]) -> Word:
    """Return several words as the one text that a shell will read."""
    return Word(
        " ".join([word.text for word in words]), all(word.sure for word in words), False, any(w.runs for w in words)
    )


def _flock(call: Call, program: Program) -> None:
    """``flock FILE cmd`` or ``flock FILE -c 'text'``."""
    split = Split(call.words[1:], table_of(program), posix=True, single=False)
    rest = split.operands[1:]
    if split.operands and not split.operands[0].text.isdigit():
        call.path("file.write", split.operands[0])
    if len(rest) > 1 and rest[0].text in {"-c", "--command"}:
        shell_line(call, rest[1])
    elif rest:
        nested(call, rest)


def _script(call: Call, program: Program) -> None:
    """``script -c 'text' file`` records a session; without ``-c`` it starts a shell."""
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    lines = [value for _, option, value in split.given if option.role is Role.RUN and value is not None]
    for word in split.operands[:1]:
        call.path("file.write", word)
    if not split.operands:
        call.path("file.write", Word("typescript"))
    if len(split.operands) > 1:
        nested(call, split.operands[1:])
    elif not lines:
        call.unseen("an interactive shell")
    for line in lines:
        shell_line(call, line)


def _su(call: Call, program: Program) -> None:
    """``su -c 'text' user`` runs the text; without it an interactive shell."""
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    lines = [value for _, option, value in split.given if option.role is Role.RUN and value is not None]
    for line in lines:
        shell_line(call, line)
    if call.words[0].text == "runuser" and any(name in {"u", "user"} for name, _, _ in split.given) and split.operands:
        nested(call, split.operands)
    elif not lines:
        call.unseen("an interactive shell")


def _raised(hook: Callable[[Call, Program], None]) -> Callable[[Call, Program], None]:
    """Return a hook that reads what runs as what another user runs."""

    def raised(call: Call, program: Program) -> None:
        before, call.scan.raised = call.scan.raised, True
        hook(call, program)
        call.scan.raised = before

    return raised


def _sudo(call: Call, program: Program) -> None:
    """``sudo`` is what its command is; ``-e`` edits, ``-i`` and ``-s`` start a shell, ``-l`` and ``-v`` only ask."""
    split = Split(call.words[1:], table_of(program), posix=True, single=False)
    flags = set(split.strays)
    operands = split.operands
    operands = _after_variables(call, operands)
    if flags & {"e", "edit"}:
        for word in operands:
            call.path("file.write", word)
    elif flags & {"s", "i", "shell", "login"} and operands:
        call.unseen("a login shell")
        shell_line(call, joined(operands))
    elif flags & {"s", "i", "shell", "login"}:
        call.unseen("an interactive shell")
    elif operands:
        nested(call, operands)
    else:
        call.effect("system.read")


def _ssh(call: Call, program: Program) -> None:
    """``ssh host cmd`` runs cmd on another machine; options can run programs on this one."""
    split = Split(call.words[1:], table_of(program), posix=True, single=False)
    given, operands = split.given, split.operands
    if len(operands) > 1:  # options may stand between the host and the command
        again = Split(operands[1:], table_of(program), posix=True, single=False)
        given, operands = [*given, *again.given], [operands[0], *again.operands]
    call.unseen("a command on another machine" if len(operands) > 1 else "a session on another machine")
    for word in operands[:1] if call.piped else ():
        call.host("file.upload", Word(word.text.removeprefix("ssh://"), word.sure))
    for word in operands[:1]:
        call.host("shell.exec", Word(word.text.removeprefix("ssh://"), word.sure))
    for name, _, value in given:
        if value is not None:
            _ssh_option(call, name, value)
    if len(operands) > 1:
        _remote(call, joined(operands[1:]))
    elif call.stdin is not None:
        _remote(call, Word(call.stdin))


def _ssh_option(call: Call, option: str, value: Word) -> None:
    """``-o ProxyCommand=…`` starts a program here; ``-i``, ``-F`` read files; ``-J`` goes through a host."""
    if option in {"i", "F"}:
        call.path("file.read", value)
    elif option == "J":
        call.host("shell.exec", value)
    if option != "o":
        return
    name, _, line = value.text.partition("=")
    if not line:
        name, _, line = value.text.partition(" ")
    if name.strip().lower() in {"proxycommand", "localcommand", "knownhostscommand", "remotecommand", "match"}:
        call.unseen("an option starts a program")
        shell_line(call, Word(line.strip(), value.sure))


def _remote(call: Call, line: Word) -> None:
    """Add what a line does on another machine: its paths are not of this one."""
    scan = call.scan
    dirs = scan.dirs
    scan.dirs = (None,)
    before = len(scan.effects)
    shell_line(call, line)
    scan.dirs = dirs
    for place in range(before, len(scan.effects)):
        effect = scan.effects[place]
        if effect.paths:
            scan.effects[place] = replace(effect, unverified=effect.unverified | {TargetKind.PATHS})


_SSH = Program(
    "shell.exec",
    options={Role.TEXT: "-b -c -D -e -E -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B"},
    hook=_ssh,
    posix=True,
)
_SUDO = Program(
    "system.read",
    options={
        Role.TEXT: "-C -D -g -h -p -R -r -T -t -u -U --user --group --host --prompt --chdir --chroot --role --type --close-from --other-user"
    },
    posix=True,
    hook=_raised(_sudo),
)

PROGRAMS = {
    "env": Program(
        "system.read", options={Role.TEXT: "-u --unset -C --chdir -S --split-string -a --argv0"}, posix=True, hook=_env
    ),
    "sudo": _SUDO,
    "doas": _SUDO,
    "pkexec": replace(wrapper("--user"), hook=_raised(_unwrap)),
    "run0": replace(wrapper("-u --user -g --group -D --chdir", bare=_SHELL), hook=_raised(_unwrap)),
    "su": Program(
        "shell.exec",
        options={Role.RUN: "-c --command --session-command", Role.TEXT: "-s --shell -g -G -w"},
        hook=_raised(_su),
    ),
    "runuser": Program(
        "shell.exec",
        options={Role.RUN: "-c --command", Role.TEXT: "-u --user -s --shell -g --group -G"},
        hook=_raised(_su),
    ),
    "timeout": wrapper("-s --signal -k --kill-after", 1),
    "faketime": wrapper("-p", 1),
    "gtimeout": wrapper("-s --signal -k --kill-after", 1),
    "nice": wrapper("-n --adjustment"),
    "ionice": wrapper("-c --class -n --classdata -p --pid"),
    "chrt": wrapper("-T -P -D", 1),
    "taskset": wrapper("-p", 1),
    "nohup": wrapper(),
    "time": wrapper("-f --format", writes="-o --output", bare="shell.exec"),
    "gtime": wrapper("-f --format", writes="-o --output"),
    "setsid": wrapper(),
    "stdbuf": wrapper("-i -o -e --input --output --error"),
    "unbuffer": wrapper(),
    "chronic": wrapper(),
    "caffeinate": wrapper("-t -w"),
    "coproc": Program("shell.exec", operands=(Role.ARGV,), posix=True, sure=False),
    "chroot": wrapper("--userspec --groups", 1, bare=_SHELL),
    "unshare": wrapper("-S -G --setuid --setgid -R --root -w --wd", bare=_SHELL),
    "nsenter": wrapper("-t --target -S -G", bare=_SHELL),
    "setarch": wrapper("", 1, bare=_SHELL),
    "linux64": wrapper(bare=_SHELL),
    "prlimit": wrapper("-p --pid"),
    "cpulimit": wrapper("-l --limit -p --pid -e --exe"),
    "systemd-run": wrapper(
        "-u --unit -p --property -E --setenv --description --slice --on-calendar --on-active -M -H --uid --gid --working-directory -d!",
        bare=_SHELL,
    ),
    "systemd-inhibit": wrapper("--what --who --why --mode"),
    "dbus-run-session": wrapper("--config-file --dbus-daemon"),
    "xvfb-run": wrapper("-n -s -e -f -p -w --server-num --server-args"),
    "busybox": wrapper(),
    "toybox": wrapper(),
    "firejail": wrapper(bare=_SHELL),
    "bwrap": wrapper("--bind --ro-bind --dev --proc --tmpfs --chdir --setenv"),
    "proot": wrapper("-r -b -w", bare=_SHELL),
    "fakeroot": wrapper("-s -i -l -f -u", bare=_SHELL),
    "catchsegv": wrapper(),
    "strace": wrapper("-e -p -s -u -E -a -I -O -P -S -X -b", writes="-o"),
    "ltrace": wrapper("-e -p -s -u -l -n", writes="-o"),
    "perf": Program("process.read", sure=False),
    "hyperfine": Program(
        "shell.exec",
        rest=Role.RUN,
        options={
            Role.TEXT: "-w --warmup -r --runs -m -M -L -P -n -i!",
            Role.RUN: "-p --prepare -c --cleanup -s --setup -S --shell",
            Role.WRITE: "--export-json --export-csv --export-markdown",
        },
    ),
    "entr": wrapper(),
    "dotenv": wrapper("-f -e"),
    "direnv": Program("shell.exec", sure=False),
    "mise": Program("shell.exec", sure=False),
    "nodemon": Program("script.run", rest=Role.TARGET, options={Role.RUN: "-x --exec"}, sure=False),
    "xargs": Program(
        "system.read",
        options={
            Role.TEXT: "-d --delimiter -E -e? -I -i? -J -L -l? -n --max-args -P --max-procs -s --max-chars -R -S --replace? --max-lines?",
            Role.READ: "-a --arg-file",
        },
        posix=True,
        hook=_xargs,
    ),
    **rows(
        "parallel sem",
        Program(
            "shell.exec",
            options={
                Role.TEXT: "-j --jobs -a --arg-file -I -d --delimiter -n -N -L -S --sshlogin --joblog --results --tmpdir --timeout --delay --colsep -C"
            },
            posix=True,
            hook=_parallel,
        ),
    ),
    "watch": Program(
        "system.read", options={Role.TEXT: "-n --interval -q --equexit -s --shotsdir"}, posix=True, hook=_watch
    ),
    "flock": Program(
        "file.write",
        options={Role.TEXT: "-w --timeout --wait -E --conflict-exit-code", Role.RUN: "-c --command"},
        posix=True,
        hook=_flock,
    ),
    "script": Program(
        "file.write", options={Role.RUN: "-c --command", Role.TEXT: "-E -m -T? -B -I -O -o"}, hook=_script
    ),
    "ssh": _SSH,
    "autossh": _SSH,
    "mosh": Program(
        "shell.exec", options={Role.TEXT: "-p", Role.RUN: "--ssh --client --server"}, hook=_ssh, posix=True
    ),
    "sshpass": wrapper("-p -f -d"),
    "torsocks": wrapper(bare=_SHELL),
    "proxychains": wrapper("-f"),
    "proxychains4": wrapper("-f"),
}
