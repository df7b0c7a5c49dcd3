"""What the shell itself does: ``cd``, ``eval``, ``source``, ``trap`` and the like."""

from __future__ import annotations

from agentsfence_core.classification.shell.around import CONTROL
from agentsfence_core.classification.shell.call import ENVIRONMENT, Call
from agentsfence_core.classification.shell.engine import nested, shell_line, visible_targets
from agentsfence_core.classification.shell.environment import SECRET
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.rows import Program, Role, rows, table_of
from agentsfence_core.classification.shell.words import Word, holds_code
from agentsfence_core.classification.targets.paths import canonical_path

QUIET = Program("system.read")
ENVIRONMENT_WORD = Word(ENVIRONMENT)


def _cd(call: Call, _program: Program) -> None:
    """``cd`` moves relative paths; to a computed or unknown folder it loses them."""
    call.effect("system.read")
    operands = [word for word in call.words[1:] if word.text not in {"-L", "-P", "-e", "-@", "--", "-n"}]
    scan = call.scan
    if not operands:
        scan.dirs = (scan.home,)
        return
    target = operands[0]
    if not target.literal or target.text in {"-", ""} or target.text[0] == "+":
        scan.dirs = (None,)
        scan.lost = True
        return
    if target.text == ".":
        return
    known = [canonical_path(target.text, workdir=folder, home=scan.home) for folder in scan.dirs]
    scan.dirs = tuple(dict.fromkeys([folder if folder.startswith("/") else None for folder in known]))


def _popd(call: Call, _program: Program) -> None:
    call.effect("system.read")
    call.scan.dirs = (None,)
    call.scan.lost = True


def _eval(call: Call, _program: Program) -> None:
    """``eval`` runs its words as a shell text: what is visible counts, and the whole stays unverified."""
    words = call.words[1:]
    call.unseen("eval")
    shell_line(call, Word(" ".join([word.text for word in words]), all(word.sure for word in words)), here=True)


def _source(call: Call, _program: Program) -> None:
    """``source f`` runs a file in this shell: folders and variables are unknown from here on."""
    words = call.words[1:]
    for word in words[:1]:
        call.path("script.run", word)
    call.unseen("source", "script.run")
    call.scan.dirs = (*call.scan.dirs, None) if len(call.scan.dirs) < 4 else call.scan.dirs
    call.scan.variables = {}


def _hash(call: Call, _program: Program) -> None:
    """``hash -p file name`` makes a name mean a file."""
    if any(word.text.startswith("-") and "p" in word.text for word in call.words[1:]):
        call.unseen("hash -p changes what a name runs")
    else:
        call.effect("system.read")


def _trap(call: Call, _program: Program) -> None:
    """``trap 'text' SIGNAL`` runs the text later."""
    words = [word for word in call.words[1:] if word.text not in {"--", "-l", "-p", "-P"}]
    call.effect("system.read")
    if len(words) > 1 and words[0].text not in {"-", ""}:
        shell_line(call, words[0], here=True)


def _alias(call: Call, _program: Program) -> None:
    """An alias changes what later words run."""
    if any("=" in word.text for word in call.words[1:]):
        call.unseen("an alias changes what programs run")
    else:
        call.effect("system.read")


def _exec(call: Call, _program: Program) -> None:
    """``exec`` becomes the command; with redirections only it just moves them."""
    words = call.words[1:]
    while words and words[0].text.startswith("-"):
        words = words[2:] if words[0].text == "-a" else words[1:]
    if words:
        nested(call, words)
    else:
        call.effect("system.read")


def _command(call: Call, _program: Program) -> None:
    """``command X`` runs X; ``command -v X`` only looks it up."""
    words = call.words[1:]
    while words and words[0].text.startswith("-"):
        if words[0].text in {"-v", "-V", "-pv", "-pV", "-vp"}:
            call.effect("system.read")
            return
        words = words[1:]
    if words:
        nested(call, words)
    else:
        call.effect("system.read")


def _set(call: Call, _program: Program) -> None:
    """``set -e`` makes a failed ``cd`` end the command; ``set`` alone lists every variable."""
    words = [word.text for word in call.words[1:]]
    call.effect("system.read")
    if not words:
        call.path("system.read", ENVIRONMENT_WORD)
    if (
        words
        and words[0].startswith("-")
        and "e" in words[0]
        and not words[0].startswith("--")
        and call.scan.depth <= 2
    ):
        call.scan.errexit = True
    if words and words[0].startswith("+") and "e" in words[0]:
        call.scan.errexit = False


def _printenv(call: Call, _program: Program) -> None:
    """One harmless variable is a read; all of them, or a secret one, is the environment."""
    names = [word.text for word in call.words[1:] if not word.text.startswith("-")]
    call.effect("system.read")
    if not names or any(SECRET.search(name) for name in names):
        call.path("system.read", ENVIRONMENT_WORD)


def _export(call: Call, program: Program) -> None:
    """``export A=b`` reached through ``command`` or ``builtin``."""
    call.scan.evaluate()
    _names(call, program)
    for word in call.words[1:]:
        name, equals, _ = word.text.partition("=")
        if equals and call.scan.sets(name, word.after(len(name) + 1).text if word.sure else None):
            call.unseen(f"{name} changes what programs run")


def _names(call: Call, _program: Program) -> None:
    """A name may have a subscript, and bash runs what a substitution in it says: ``test -v 'a[$(x)]'``."""
    call.effect("system.read")
    if any(holds_code(word.text) for word in call.words[1:]):
        call.unseen("a subscript runs what it holds")


_COMPARES = frozenset("-v -R -eq -ne -lt -le -gt -ge".split())


def _test(call: Call, program: Program) -> None:
    """``test`` only looks, but for the operators that take names or numbers."""
    if any(word.text in _COMPARES for word in call.words[1:]):
        _names(call, program)
    else:
        call.effect("system.read")


def _let(call: Call, program: Program) -> None:
    """``let`` reads its words as arithmetic."""
    call.scan.evaluate()
    _names(call, program)


def _read(call: Call, program: Program) -> None:
    """``read x`` sets variables to what arrives."""
    _names(call, program)
    for word in call.words[1:]:
        if not word.text.startswith("-"):
            call.scan.assigned.add(word.text)
            call.scan.listed.add(word.text)
            call.scan.variables.pop(word.text, None)
            if call.scan.sets(word.text, None):
                call.unseen(f"{word.text} changes what programs run")


_MAPFILE = Program("system.read", options={Role.TEXT: "-d -n -O -s -u -C -c"})


def _mapfile(call: Call, program: Program) -> None:
    """``mapfile -C`` runs a text for every line."""
    _read(call, program)
    for name, _, value in Split(call.words[1:], table_of(_MAPFILE), posix=True, single=False).given:
        if name == "C" and value is not None:
            call.unseen("mapfile -C")
            shell_line(call, value, here=True)


def _enable(call: Call, _program: Program) -> None:
    """``enable -f`` loads foreign code into the shell."""
    if any(word.text.startswith("-") and "f" in word.text for word in call.words[1:]):
        call.unseen("enable -f loads foreign code")
        visible_targets(call, call.words[1:])
    else:
        call.effect("system.read")


def _printf(call: Call, _program: Program) -> None:
    """``printf`` prints; ``-v x`` and ``-vx`` set a variable."""
    call.effect("system.read")
    words = call.words[1:]
    if not words or words[0].text[:2] != "-v":
        return
    name = words[0].after(2) if len(words[0].text) > 2 else words[1] if len(words) > 1 else Word("")
    call.scan.assigned.add(name.text)
    call.scan.variables.pop(name.text, None)
    if holds_code(name.text):
        call.unseen("a subscript runs what it holds")
    if call.scan.sets(name.text, None) or not name.literal:
        call.unseen("printf -v sets a variable that changes what programs run")


def _history(call: Call, _program: Program) -> None:
    options = [word.text for word in call.words[1:] if word.text.startswith("-")]
    if any(mark in option for option in options for mark in "cd"):
        call.path("file.delete", Word("~/.bash_history"))
    elif any(mark in option for option in options for mark in "wa"):
        call.path("file.write", Word("~/.bash_history"))
    else:
        call.path("file.read", Word("~/.bash_history"))


_COMPLETE = Program("system.read", options={Role.TEXT: "-o -A -G -W -F -C -X -P -S"})


def _completion(call: Call, _program: Program) -> None:
    """``compgen -C`` and ``complete -F`` run what they are given."""
    given = Split(call.words[1:], table_of(_COMPLETE), posix=True, single=False).given
    if any(name in {"C", "F", "W"} for name, _, _ in given):
        call.unseen("completion runs a text")
    else:
        call.effect("system.read")


def _bind(call: Call, _program: Program) -> None:
    if any(word.text.startswith(("-x", "-f")) or ":" in word.text for word in call.words[1:]):
        call.unseen("bind runs a text")
    else:
        call.effect("system.read")


def _kill(call: Call, _program: Program) -> None:
    """``kill`` ends processes; ``-l`` lists signals and ``-0`` only looks."""
    words = call.words[1:]
    if words and words[0].text in {"-l", "-L", "--list", "--table", "-0"}:
        call.effect("process.read")
        return
    call.effect("process.control")
    parent = any("$PPID" in word.text or "${PPID}" in word.text for word in words)
    if parent or any(word.text == "-1" for word in words[1:]):
        call.effect(CONTROL)  # every process, or the one that started this shell
    skip = False
    for word in words:
        if skip or word.text.startswith("-"):
            skip = word.text in {"-s", "-n", "--signal", "-q"} and not skip
            continue
        call.object("process.control", "process", word)


def _fc(call: Call, _program: Program) -> None:
    if any(word.text.startswith("-") and "l" in word.text for word in call.words[1:]):
        call.path("file.read", Word("~/.bash_history"))
    else:
        call.unseen("fc runs earlier commands")


PROGRAMS = {
    **rows(
        ": type jobs shift return exit break continue ulimit dirs caller times suspend logout disown shopt help local "
        "true false pwd echo",
        QUIET,
    ),
    **rows("wait getopts unset", Program("system.read", hook=_names)),
    **rows("test [", Program("system.read", hook=_test)),
    "fg": Program("process.control"),
    "bg": Program("process.control"),
    "let": Program("system.read", hook=_let),
    "cd": Program("system.read", hook=_cd),
    "pushd": Program("system.read", hook=_cd),
    "popd": Program("system.read", hook=_popd),
    "eval": Program("shell.exec", hook=_eval),
    "source": Program("script.run", hook=_source),
    ".": Program("script.run", hook=_source),
    "hash": Program("system.read", hook=_hash),
    "trap": Program("system.read", hook=_trap),
    "alias": Program("system.read", hook=_alias),
    "unalias": QUIET,
    "exec": Program("shell.exec", hook=_exec),
    "command": Program("shell.exec", hook=_command),
    "builtin": Program("shell.exec", hook=_command),
    "set": Program("system.read", hook=_set),
    "printenv": Program("system.read", hook=_printenv),
    **rows("export declare typeset readonly", Program("system.read", hook=_export)),
    "read": Program("system.read", hook=_read),
    **rows("mapfile readarray", Program("system.read", hook=_mapfile)),
    "enable": Program("system.read", hook=_enable),
    "printf": Program("system.read", hook=_printf),
    "history": Program("file.read", hook=_history),
    **rows("complete compgen compopt", Program("system.read", hook=_completion)),
    "bind": Program("system.read", hook=_bind),
    "kill": Program("process.control", hook=_kill),
    "fc": Program("shell.exec", hook=_fc),
}
