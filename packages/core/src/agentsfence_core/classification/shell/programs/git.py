"""git in full: what each subcommand does, and every option that makes git start another program.

Rules of this file:

* A repository elsewhere (``-C``, ``--git-dir``) brings its own configuration, which can name programs
  (``core.fsmonitor``, pagers, filters): reading it is unverified execution.
* ``-c name=value`` is harmless only for settings that cannot name a program.
* Remote and branch of a push are objects; what a push deletes is a deletion.
"""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.engine import by_row, helps
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.programs.git_commands import (
    apply,
    bisect,
    branch,
    bundle,
    checkout,
    clean,
    commit,
    config,
    difftool,
    format_patch,
    gc,
    grep,
    history,
    look,
    notes,
    rebase,
    reflog,
    reset,
    restore,
    rm,
    stash,
    switch,
    symbolic_ref,
    tag,
    update_ref,
    worktree,
)
from agentsfence_core.classification.shell.programs.git_remotes import (
    archive,
    clone,
    fetch,
    lfs,
    ls_remote,
    push,
    remote,
    send_email,
    submodule,
    subtree,
)
from agentsfence_core.classification.shell.programs.git_words import DIFF, LOG, Hook, has, read_setting, reads
from agentsfence_core.classification.shell.rows import Program, Role, rows, table_of
from agentsfence_core.classification.shell.words import Word
from agentsfence_core.classification.targets.paths import canonical_path
from agentsfence_core.model.risk import Risk

_GLOBAL = Program(
    "git.read",
    options={
        Role.TEXT: "-C --git-dir --work-tree --namespace --super-prefix -c --config-env --exec-path? --list-cmds --attr-source",
        Role.FLAG: "-p --paginate -P --no-pager --bare --no-replace-objects --literal-pathspecs --glob-pathspecs "
        "--noglob-pathspecs --icase-pathspecs --no-optional-locks --html-path --man-path --info-path --no-lazy-fetch",
    },
    posix=True,
)


def _git(call: Call, _program: Program) -> None:
    """Read git's own options, then the subcommand."""
    split = Split(call.words[1:], table_of(_GLOBAL), posix=True, single=False)
    dirs = call.scan.dirs
    for name, _, value in split.given:
        _global_option(call, name, value)
    _subcommand(call, split)
    call.scan.dirs = dirs


def _subcommand(call: Call, split: Split) -> None:
    """Read what stands behind git's own options, in the folder that they name."""
    if split.strays and any(name in {"version", "help"} for name in split.strays) and not split.operands:
        call.effect("system.read")
        return
    operands = split.operands
    if not operands:
        call.effect("git.read")
    elif not operands[0].literal:
        call.unseen("the subcommand is computed")
    else:
        _command(call, operands)


def _global_option(call: Call, name: str, value: Word | None) -> None:
    if value is None:
        return
    if name == "C":
        call.path("file.read", value)
        if value.text not in {".", "./"}:
            call.unseen("another repository's configuration can start programs")
            _moves(call, value)
    elif name == "c":
        setting, _, text = value.text.partition("=")
        read_setting(call, setting, Word(text, value.sure))
    elif name in {"git-dir", "work-tree", "exec-path", "config-env"} or (
        len(name) > 3 and ("git-dir".startswith(name) or "exec-path".startswith(name))
    ):
        call.unseen(f"--{name} brings in another configuration")
        call.path("file.read", value)
        if name == "work-tree":
            _moves(call, value)


def _moves(call: Call, folder: Word) -> None:
    """Let the paths that follow start in another folder."""
    scan = call.scan
    known = [canonical_path(folder.text, workdir=start, home=scan.home) for start in scan.dirs]
    scan.dirs = tuple(dict.fromkeys(known)) if folder.literal else (None,)


def _command(call: Call, operands: list[Word]) -> None:
    name = operands[0].text
    words = operands[1:]
    if helps(words):
        call.effect("system.read")
        return
    hook = _HOOKS.get(name)
    row = _ROWS.get(name)
    dry = name in _DRY and has(words, *_DRY[name])
    if hook is not None:
        hook(call, words)
    elif row is not None:
        by_row(call, row, words)
    else:
        call.unseen(f"git {name[:40]} is an alias or another program")
    if dry:
        _only_looks(call)


_BOTH = ("-n", "--dry-run")
_DRY = {
    **dict.fromkeys(("add", "stage", "mv", "prune", "prune-packed", "push"), _BOTH),
    **dict.fromkeys(("commit", "fetch", "pull"), ("--dry-run",)),
}
"""Subcommands that only show what they would do, with the options that ask for it."""


def _only_looks(call: Call) -> None:
    """Turn what a dry run would do into a read of the same targets; what runs, runs."""
    for capability in [name for name in call.drafts if name.startswith(("git.", "file.")) and name != "git.read"]:
        draft = call.drafts.pop(capability)
        if draft.risk is not Risk.READ:
            draft.risk = Risk.READ
        call.drafts.setdefault("git.read", draft)


_ROWS: dict[str, Program] = {
    "range-diff": DIFF,
    **rows(
        "status ls-files ls-tree rev-parse rev-list merge-base name-rev describe cat-file for-each-ref show-ref count-objects "
        "check-ignore check-attr check-mailmap cherry var version verify-commit verify-tag verify-pack help "
        "show-branch merge-tree patch-id get-tar-commit-id column check-ref-format "
        "fmt-merge-msg stripspace",
        LOG,
    ),
    "fsck": Program("git.read", also={"git.update": "--lost-found"}),
    **rows(
        "diagnose bugreport",
        Program(
            "file.write", options={Role.TARGET: "-o --output-directory", Role.TEXT: "-s --suffix --mode --diagnose?"}
        ),
    ),
    "multi-pack-index verify": LOG,
    **rows("commit-graph multi-pack-index pack-objects index-pack unpack-objects fast-import", Program("git.update")),
    "fast-export": reads(write="--export-marks", text="--import-marks --refspec"),
    **rows("mailinfo mailsplit", Program("file.write", rest=Role.TARGET, options={Role.TARGET: "-o?"})),
    **rows("send-pack http-push", Program("git.push", sure=False)),
    "hash-object": Program("git.read", rest=Role.READ, also={"git.commit": "-w"}),
    "add": Program("git.commit", rest=Role.TARGET, options={Role.TEXT: "--chmod", Role.READ: "--pathspec-from-file"}),
    "stage": Program("git.commit", rest=Role.TARGET),
    "mv": Program("file.move", rest=Role.TARGET),
    "merge": Program(
        "git.update",
        rest=Role.OBJECT,
        kind="branch",
        options={Role.TEXT: "-m -F -s --strategy -X --strategy-option -S? --log? --into-name --cleanup"},
    ),
    "cherry-pick": Program(
        "git.update", rest=Role.OBJECT, kind="commit", options={Role.TEXT: "-m --mainline -s! --strategy -X -S?"}
    ),
    "revert": Program(
        "git.update", rest=Role.OBJECT, kind="commit", options={Role.TEXT: "-m --mainline --strategy -X -S?"}
    ),
    "am": Program("git.update", rest=Role.READ, options={Role.TEXT: "-p -C --directory"}),
    "init": Program(
        "git.update",
        rest=Role.TARGET,
        options={
            Role.TEXT: "-b --initial-branch --object-format --ref-format --shared?",
            Role.UNSEEN: "--template",
            Role.TARGET: "--separate-git-dir",
        },
    ),
    "interpret-trailers": Program("git.read", rest=Role.READ, also={"file.write": "--in-place"}),
    "maintenance": Program("git.update"),
    "repack": Program("git.update"),
    "prune": Program("git.delete"),
    "prune-packed": Program("git.delete"),
    "update-index": Program("git.commit"),
    "read-tree": Program("git.update"),
    "write-tree": Program("git.commit"),
    "commit-tree": Program("git.commit"),
    "sparse-checkout": Program("git.update"),
    "replace": Program("git.update"),
    "rerere": Program("git.update"),
    "pack-refs": Program("git.update"),
    "svn": Program("git.update", sure=False),
    "daemon": Program("process.control"),
    "instaweb": Program("process.control", sure=False),
    "credential": Program("secret.read"),
    "request-pull": Program("git.read"),
    "imap-send": Program("email.send"),
    "flow": Program("git.update", sure=False),
    "checkout-index": Program("git.update"),
}


_HOOKS: dict[str, Hook] = {
    "branch": branch, "tag": tag, "remote": remote, "push": push, "fetch": fetch("git.update"),
    "pull": fetch("git.update"), "clone": clone, "config": config, "stash": stash, "checkout": checkout,
    "switch": switch, "restore": restore, "reset": reset, "clean": clean, "reflog": reflog,
    "worktree": worktree, "submodule": submodule, "bisect": bisect, "rebase": rebase, "notes": notes,
    "send-email": send_email, "grep": grep, "archive": archive, "ls-remote": ls_remote, "commit": commit,
    "lfs": lfs, "update-ref": update_ref, "symbolic-ref": symbolic_ref, "filter-branch": history,
    "filter-repo": history, "gc": gc, "apply": apply, "rm": rm, "difftool": difftool, "mergetool": difftool,
    "bundle": bundle, "subtree": subtree, "format-patch": format_patch,
    **dict.fromkeys(("log", "shortlog", "whatchanged", "show"), look(LOG)),
    **dict.fromkeys(("diff", "diff-tree", "diff-index", "diff-files"), look(DIFF)),
    "cat-file": look(reads(run="--textconv! --filters!")),
    **dict.fromkeys(("blame", "annotate"), look(reads(text="-L -S --since --date --contents --ignore-rev --abbrev -C? -M?"), files=True)),
}  # fmt: skip


PROGRAMS = {"git": Program("git.read", hook=_git, acting=True)}
