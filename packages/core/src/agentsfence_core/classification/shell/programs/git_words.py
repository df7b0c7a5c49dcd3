"""What the readers of git's subcommands share: the options of its viewers, settings that are harmless, operands."""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

from collections.abc import Callable
from functools import cache

from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.engine import shell_line
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.rows import Program, Role, table_of
from agentsfence_core.classification.shell.words import Word

Hook = Callable[[Call, list[Word]], None]


_SAFE_SETTINGS = frozenset(
    """color.ui color.diff color.status color.branch core.quotepath core.autocrlf core.safecrlf core.filemode
    core.ignorecase core.abbrev core.precomposeunicode core.eol core.bigfilethreshold core.longpaths core.commentchar
    user.name user.email author.name author.email committer.name committer.email advice.detachedhead
    advice.statushints diff.renames diff.renamelimit diff.algorithm diff.context diff.noprefix diff.mnemonicprefix
    diff.submodule log.date log.showsignature log.decorate log.abbrevcommit merge.conflictstyle merge.renames
    merge.ff pull.rebase pull.ff rebase.autosquash rebase.autostash rerere.enabled status.short status.branch
    status.showuntrackedfiles status.relativepaths column.ui commit.gpgsign tag.gpgsign tag.sort branch.sort
    push.default push.autosetupremote fetch.prune fetch.parallel init.defaultbranch gc.auto grep.linenumber
    grep.patterntype http.postbuffer http.lowspeedlimit http.lowspeedtime http.version safe.directory
    submodule.recurse blame.date format.pretty pack.threads index.threads protocol.version
    versionsort.suffix""".split()
)


_PAGER_OFF = frozenset({"cat", "", "less", "false", "true", ":", "less -r", "less -f"})


_OFF = {"core.fsmonitor": frozenset({"false", "0", "no", "off"}), "core.hookspath": frozenset({"/dev/null"})}


_DIFF_TEXT = (
    "-U --unified -S -G -O --pretty? --format? -n --max-count --skip --since --until --after --before --author --committer "
    "--grep --date -L --diff-filter --stat? --word-diff? --color? --abbrev? -M? -C? --find-renames? --find-copies? "
    "--inter-hunk-context --src-prefix --dst-prefix --line-prefix --encoding --decorate? --glob --branches? --tags? "
    "--remotes? --exclude --submodule? --ws-error-highlight --diff-algorithm --min-parents --max-parents --notes? -B? -l "
    "--anchored --relative? --dirstat? --ignore-submodules? --untracked-files? -u? --porcelain? --column? --show-signature!"
)


LOOK = {Role.WRITE: "--output", Role.RUN: "--ext-diff!", Role.TEXT: _DIFF_TEXT}


LOG = Program("git.read", options=LOOK)


DIFF = Program("git.read", options=LOOK | {Role.FLAG: "--textconv"})


def reads(*, run: str = "", unseen: str = "", text: str = "", write: str = "") -> Program:
    """Return a row for a subcommand that reads, with its options that do not."""
    return Program("git.read", options={Role.RUN: run, Role.UNSEEN: unseen, Role.TEXT: text, Role.WRITE: write})


def read_setting(call: Call, setting: str, value: Word) -> None:
    """``-c name=value``: refuse to trust what can name a program."""
    key = setting.lower()
    if key in _SAFE_SETTINGS or key.startswith(("color.", "advice.", "column.")):
        return
    shows = key in {"core.pager", "core.editor", "sequence.editor"} or key.startswith("pager.")
    quiet = _PAGER_OFF if shows else _OFF.get(key, frozenset())
    if value.sure and value.text.lower() in quiet:
        return
    call.unseen(f"-c {setting[:40]} can start a program")
    if key.startswith("alias.") and value.text.startswith("!"):
        shell_line(call, Word(value.text[1:], value.sure))


def has(words: list[Word], *options: str) -> bool:
    """Whether one of the options is there: short ones also in a bundle, long ones also abbreviated."""
    for word in words:
        text = word.text
        if text == "--":
            return False
        if text[:2] == "--":
            name = text[2:].partition("=")[0]
            if any(option == f"--{name}" or (len(name) > 2 and option.startswith(f"--{name}")) for option in options):
                return True
        elif text[:1] == "-" and any(len(option) == 2 and option[1] in text[1:] for option in options):
            return True
    return False


@cache
def with_values(text: str) -> Program:
    """Return a row that only says which options take a value."""
    return Program("git.read", options={Role.TEXT: text})


def operands_of(words: list[Word], text: str = "") -> list[Word]:
    """Return the words that are no options; ``text`` are the options that take a value."""
    return Split(words, table_of(with_values(text)), posix=False, single=False).operands


def behind_dashes(words: list[Word]) -> list[Word]:
    """Return what stands behind ``--``."""
    for place, word in enumerate(words):
        if word.text == "--":
            return words[place + 1 :]
    return []


def objects(call: Call, capability: str, kind: str, words: list[Word]) -> None:
    """Add an effect on objects of one kind."""
    call.effect(capability)
    for word in words:
        call.object(capability, kind, word)
