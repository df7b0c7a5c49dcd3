"""Editors and pagers: reading is a read, everything that opens a file for editing writes, and all can start programs."""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

import re

from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.engine import by_row, shell_line
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.rows import Program, Role, rows, table_of
from agentsfence_core.classification.shell.words import Word


def _less(call: Call, program: Program) -> None:
    """``less f`` reads; ``+!cmd``, ``--cmd`` and ``-o`` run or write."""
    words = []
    for word in call.words[1:]:
        if word.text.startswith("+"):
            _startup(call, word.after(1))
        else:
            words.append(word)
    by_row(call, program, words)


def _startup(call: Call, word: Word) -> None:
    """The first command of a pager: a search or a line is harmless, ``!`` and ``|`` run, ``s`` writes."""
    text = word.text.lstrip("+")
    if "!" in text or "|" in text or text[:1] in {"v", "s", "#"} or not word.sure:
        call.unseen("a pager command runs a program")
        shell_line(call, Word(text.lstrip("!"), word.sure))


def _less_command(call: Call, program: Program) -> None:
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    for name, _, value in split.given:
        if value is not None and (name == "cmd" or "cmd".startswith(name)):
            _startup(call, value)
    _less(call, program)


def _vim(call: Call, program: Program) -> None:
    """``vim f`` edits f; ``-c``, ``+cmd`` and scripts run editor commands, which can run anything."""
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    for _, option, value in split.given:
        if option.role is Role.RUN and value is not None:
            _ex(call, value)
        elif option.role is Role.UNSEEN:
            call.unseen("editor commands from a file")
    for word in split.operands:
        if word.text.startswith("+"):
            if not word.text[1:].isdigit() and word.text != "+":
                _ex(call, word.after(1))
        else:
            call.path("file.write", word)
    if not call.drafts:
        call.effect("file.write")


_SETS = re.compile(r"set (?!exrc|modeline|ml\b|ex\b)(?:no)?[a-z]{1,20}(?:=[\w,-]{0,30})?")
"""A setting that names no program."""


def _ex(call: Call, value: Word) -> None:
    text = value.text.lstrip(": ")
    if text in {"q", "q!", "qa", "qa!", "wq", "wqa", "x", "w"} or _SETS.fullmatch(text):
        call.effect("file.write")
        return
    call.unseen("an editor command")
    if text.startswith("!"):
        shell_line(call, Word(text[1:], value.sure))


def _serves(call: Call) -> None:
    """``code tunnel`` and ``code serve-web`` open this machine to others."""
    if len(call.words) > 1 and call.words[1].text in {"tunnel", "serve-web", "agent", "ext"}:
        call.unseen("the editor serves others")


_EMACS = Program(
    "file.write",
    rest=Role.TARGET,
    options={Role.UNSEEN: "--eval --execute -e -l --load -f --funcall --script -x", Role.TEXT: "-T --title -fn"},
    single=True,
)
_EDIT = Program(
    "file.write",
    rest=Role.TARGET,
    options={
        Role.UNSEEN: "--install-extension --extensions-dir --user-data-dir --eval -s --rcfile",
        Role.TEXT: "-g --goto! -r!",
    },
    instead={"system.read": "--list-extensions --status"},
    before=_serves,
)
_VIM = Program(
    "file.write",
    options={
        Role.RUN: "-c --cmd",
        Role.UNSEEN: "-S -s -u -U --remote-expr --remote-send -W",
        Role.TEXT: "-T -i -q -t -w -p? -o? -O?",
    },
    hook=_vim,
)
_PAGER = Program(
    "file.read",
    rest=Role.TARGET,
    options={
        Role.WRITE: "-o --log-file -O --LOG-FILE",
        Role.UNSEEN: "-k --lesskey-file --lesskey-src --lesskey-content",
        Role.RUN: "",
        Role.TEXT: "-p --pattern -P --prompt -b --buffers -h --max-back-scroll -j --jump-target -x --tabs -y -z --window -D --color -# --shift -t --tag -T --tag-file --cmd",
    },
    hook=_less_command,
)
_MAN = Program(
    "file.read",
    rest=Role.TEXT,
    options={
        Role.RUN: "-P --pager -H? --html? --browser -B",
        Role.UNSEEN: "-C --config-file -X? --gxditview? -T? --troff-device? -p --preprocessor",
        Role.TEXT: "-s --sections -S -k! -f! -M --manpath -L --locale -m --systems -R --recode -E -e -r --prompt",
    },
)


PROGRAMS = {
    "less": _PAGER,
    **rows("more most lv pg", Program("file.read", rest=Role.TARGET, options={Role.TEXT: "-n -p"}, hook=_less)),
    **rows("bat batcat", Program("file.read", rest=Role.TARGET, options={Role.RUN: "--pager", Role.TEXT: "-l --language -r --line-range -H --highlight-line --style --theme --color --wrap --tabs --paging --decorations --file-name --map-syntax --terminal-width -m --diff-context", Role.UNSEEN: "--config-file"}, subcommands=None)),
    **rows("delta glow mdcat hexyl fx jless visidata vd csvlens tailspin", Program("file.read", rest=Role.TARGET, options={Role.RUN: "--pager", Role.UNSEEN: "--config -c --play", Role.TEXT: "-w --width"})),
    "lnav": Program("file.read", rest=Role.TARGET, options={Role.UNSEEN: "-c -f -e -I -m! -i! --exec --execute"}),
    "man": _MAN,
    **rows("info pinfo", Program("file.read", options={Role.WRITE: "-o --output", Role.UNSEEN: "--init-file --restore"})),
    **rows("vim vi nvim view gvim vimdiff ex neovim mvim hx kak", _VIM),
    **rows("ed red", Program("file.write", rest=Role.TARGET, sure=False)),
    **rows("emacs emacsclient", _EMACS),
    **rows("nano pico micro joe jed mcedit ne", Program("file.write", rest=Role.TARGET, options={Role.UNSEEN: "-f --rcfile -s --speller -config-dir -plugin"})),
    **rows("code code-insiders cursor subl atom gedit kate mate zed idea pycharm webstorm notepad textedit", _EDIT),
    "fzf": Program("system.read", options={Role.RUN: "--preview --bind --execute --become", Role.TEXT: "-q --query -f --filter -d --delimiter -n --nth --height --layout --prompt --header -m! -e!"}),
    "dialog": Program("system.read"),
    "tig": Program("git.read"),
    "lazygit": Program("git.update", sure=False),
    "ranger": Program("file.write", sure=False),
}  # fmt: skip
