"""What each subcommand of git does to this repository, read from its own options and operands."""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

import re

from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.engine import by_row, nested
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.programs.git_words import (
    LOG,
    LOOK,
    Hook,
    behind_dashes,
    has,
    objects,
    operands_of,
    read_setting,
    with_values,
)
from agentsfence_core.classification.shell.rows import Program, Role, table_of
from agentsfence_core.classification.shell.words import Word


def branch(call: Call, words: list[Word]) -> None:
    """``git branch`` lists, makes, renames or deletes."""
    names = operands_of(
        words, "-u --set-upstream-to --contains --no-contains --merged --no-merged --points-at --sort --format --color?"
    )
    if has(words, "-d", "-D", "--delete"):
        objects(call, "git.delete", "branch", names)
    elif has(words, "-m", "-M", "-c", "-C", "--move", "--copy"):
        objects(call, "git.branch", "branch", names)
    elif has(
        words, "--edit-description", "-u", "--set-upstream-to", "--unset-upstream", "-t", "--track", "-f", "--force"
    ):
        objects(call, "git.branch", "branch", names)
        if has(words, "--edit-description"):
            call.unseen("git opens an editor")
    elif names and not has(
        words,
        "-l",
        "--list",
        "-a",
        "--all",
        "-r",
        "--remotes",
        "--contains",
        "--merged",
        "--no-merged",
        "--points-at",
        "--no-contains",
        "--show-current",
    ):
        objects(call, "git.branch", "branch", names[:1])
    else:
        call.effect("git.read")


def tag(call: Call, words: list[Word]) -> None:
    """``git tag`` lists, makes or deletes."""
    names = operands_of(
        words,
        "-m --message -F --file -u --local-user --contains --no-contains --points-at --sort --format --merged --no-merged --cleanup -n?",
    )
    if has(words, "-d", "--delete"):
        objects(call, "git.delete", "tag", names)
    elif not names or has(
        words, "-l", "--list", "-n", "--contains", "--points-at", "--merged", "--no-merged", "-v", "--verify", "--sort"
    ):
        call.effect("git.read")
    else:
        objects(call, "git.branch", "tag", names[:1])


_CONFIG = with_values("-f --file --blob --type -t --default --comment")
_HOLDS_SECRET = re.compile(r"extraheader|password|token|secret", re.IGNORECASE)


def _settings_file(call: Call, words: list[Word]) -> None:
    """``git config -f f`` reads f, whatever it is."""
    for name, _, value in Split(words, table_of(_CONFIG), posix=False, single=False).given:
        if name in {"f", "file"} and value is not None:
            call.path("git.read", value)


def config(call: Call, words: list[Word]) -> None:
    """``git config`` reads with one name, writes with two words; a value can name a program."""
    names = operands_of(words, "-f --file --blob --type -t --default --comment --fixed-value!")
    verb = names[0].text if names else ""
    reads = has(
        words,
        "-l",
        "--list",
        "--get",
        "--get-all",
        "--get-regexp",
        "--get-urlmatch",
        "--show-origin",
        "--show-scope",
        "--get-color",
        "--get-colorbool",
        "--name-only",
    )
    _settings_file(call, words)
    if reads or verb in {"list", "get", "get-all", "get-regexp"} or not words:
        secret = any(_HOLDS_SECRET.search(word.text) for word in names)
        call.effect("secret.read" if secret else "git.read")
        return
    if verb == "edit" or has(words, "-e", "--edit"):
        call.effect("git.config")
        call.unseen("git opens an editor")
        return
    if verb in {"set", "unset", "rename-section", "remove-section"} and len(names) > 1:
        names = names[1:]
    elif len(names) == 1 and not has(
        words, "--unset", "--unset-all", "--add", "--replace-all", "--remove-section", "--rename-section"
    ):
        call.effect("git.read")
        return
    call.effect("git.config")
    if has(words, "--global"):
        call.path("git.config", Word("~/.gitconfig"))
    elif has(words, "--system"):
        call.path("git.config", Word("/etc/gitconfig"))
    else:
        call.path("git.config", Word(".git/config"))
    if names:
        call.value("git.config", "setting", names[0].text[:80])
        if len(names) > 1:
            read_setting(call, names[0].text, names[1])


def stash(call: Call, words: list[Word]) -> None:
    """``git stash`` puts changes away; ``drop`` and ``clear`` lose them."""
    verb = next((word.text for word in words if word.text[:1] != "-"), "push")
    if verb in {"drop", "clear"}:
        call.effect("git.delete")
    elif verb in {"list", "show"}:
        by_row(call, LOG, words[1:])
    else:
        call.effect("git.update")
    if verb == "pop":
        call.effect("git.update")


def checkout(call: Call, words: list[Word]) -> None:
    """``git checkout`` switches branches, or throws away changes when it is given paths."""
    text = "-b -B --orphan --conflict -t! --track? --pathspec-from-file"
    row = with_values(text)
    split = Split(words, table_of(row), posix=False, single=False)
    new = [value for name, _, value in split.given if name in {"b", "B", "orphan"} and value is not None]
    behind = behind_dashes(words)
    lost = behind or [word for word in split.operands if _is_path(word.text)] or split.operands[1:]
    if new:
        objects(call, "git.branch", "branch", new)
    elif lost:
        for word in lost:
            call.path("git.delete", word)
    else:
        objects(call, "git.branch", "branch", split.operands[:1])
    if has(words, "-f", "--force"):
        call.effect("git.delete")


_RANGE = re.compile(r"[^/.]\.\.")
"""Two commits: ``main..dev``."""


def _is_path(text: str) -> bool:
    """Whether a word of ``git checkout`` is a path rather than a branch: ``.``, ``./x``, ``a/b.py``."""
    if text in {".", "*"} or text.startswith(("./", "../", ":/", ":(")) or text.endswith("/") or "*" in text:
        return True
    ending = text.rpartition("/")[2].rpartition(".")[2]
    return "." in text and ending.isalpha() and len(ending) <= 5 and not text.startswith(("v", "release"))


_SWITCH_ROW = Program(
    "git.branch", options={Role.OBJECT: "-c -C --create --force-create --orphan"}, rest=Role.OBJECT, kind="branch"
)


def switch(call: Call, words: list[Word]) -> None:
    """``git switch`` changes branch; ``--discard-changes`` loses work."""
    row = _SWITCH_ROW
    by_row(call, row, words)
    if has(words, "-f", "--force", "--discard-changes", "-C"):
        call.effect("git.delete")


def restore(call: Call, words: list[Word]) -> None:
    """``git restore`` throws away changes; ``--staged`` alone only unstages."""
    staged = has(words, "-S", "--staged")
    capability = "git.commit" if staged and not has(words, "-W", "--worktree") else "git.delete"
    call.effect(capability)
    for word in operands_of(words, "-s --source --conflict --pathspec-from-file"):
        call.path(capability, word)


def reset(call: Call, words: list[Word]) -> None:
    """``git reset --hard`` (also ``--har``) throws away changes; otherwise it only moves the index."""
    hard = any(
        len(word.text) > 3 and ("--hard".startswith(word.text) or "--merge".startswith(word.text)) for word in words
    )
    if hard:
        call.path("git.delete", Word("."))
    else:
        call.effect("git.commit")


def clean(call: Call, words: list[Word]) -> None:
    """``git clean`` deletes untracked files, unless ``-n``."""
    if has(words, "-n", "--dry-run"):
        call.effect("git.read")
        return
    for word in operands_of(words, "-e --exclude") or [Word(".")]:
        call.path("git.delete", word)


def reflog(call: Call, words: list[Word]) -> None:
    """``git reflog`` shows; ``expire`` and ``delete`` lose what it remembers."""
    verb = next((word.text for word in words if word.text[:1] != "-"), "show")
    if verb in {"expire", "delete", "drop"}:
        call.effect("git.delete")
    else:
        by_row(call, LOG, words)


def worktree(call: Call, words: list[Word]) -> None:
    """``git worktree`` adds, lists or removes working trees."""
    names = [word for word in words if word.text[:1] != "-"]
    verb = names[0].text if names else "list"
    if verb in {"remove", "prune"}:
        call.effect("git.delete")
        for word in names[1:]:
            call.path("git.delete", word)
    elif verb == "list":
        call.effect("git.read")
    else:
        call.effect("git.update")
        for word in operands_of(words, "-b -B --reason")[1:2]:
            call.path("git.update", word)


def bisect(call: Call, words: list[Word]) -> None:
    """``git bisect``; ``run`` starts a program for every step."""
    verb = words[0].text if words else ""
    if verb == "run":
        call.unseen("git bisect runs a program for every step")
        nested(call, words[1:])
    elif verb in {"log", "view", "visualize", ""}:
        call.effect("git.read")
    else:
        call.effect("git.update")


_REBASE_ROW = Program(
    "git.update", options={Role.RUN: "-x --exec", Role.TEXT: "--onto -s --strategy -X --strategy-option -C"}
)


def rebase(call: Call, words: list[Word]) -> None:
    """``git rebase``; ``-x`` runs a shell line, ``-i`` opens an editor."""
    row = _REBASE_ROW
    by_row(call, row, words)
    if has(words, "-i", "--interactive", "--edit-todo"):
        call.unseen("git opens an editor")


def notes(call: Call, words: list[Word]) -> None:
    """``git notes`` shows, adds or removes."""
    names = operands_of(words, "--ref -m -F -c -C")
    verb = names[0].text if names else "list"
    call.effect(
        "git.delete"
        if verb in {"remove", "prune"}
        else "git.read"
        if verb in {"list", "show", "get-ref"}
        else "git.commit"
    )


_GREP_ROW = Program(
    "git.read",
    options={
        Role.RUN: "-O? --open-files-in-pager?",
        Role.TEXT: "-e -f -A -B -C -m --max-count --max-depth --threads --color? --and! --or! --not!",
    },
)


def grep(call: Call, words: list[Word]) -> None:
    """``git grep`` searches; ``-O`` opens a pager program."""
    split = by_row(call, _GREP_ROW, words)
    pattern = any(name == "e" for name, _, _ in split.given)
    behind = behind_dashes(words)
    for word in behind or split.operands[0 if pattern else 1 :]:
        call.path("git.read", word)


_COMMIT_ROW = Program(
    "git.commit",
    options={
        Role.TEXT: "-m --message -C -c --author --date --fixup --squash --cleanup -S? --gpg-sign? -u? --trailer "
        "--reuse-message --reedit-message --untracked-files?",
        Role.READ: "-F --file -t --template --pathspec-from-file",
    },
    rest=Role.TARGET,
)


def commit(call: Call, words: list[Word]) -> None:
    """``git commit`` records changes."""
    row = _COMMIT_ROW
    by_row(call, row, words)
    if has(words, "--amend"):
        call.value("git.commit", "amend", "true")


def update_ref(call: Call, words: list[Word]) -> None:
    """``git update-ref`` moves or deletes a reference."""
    call.effect("git.delete" if has(words, "-d") else "git.branch")


def symbolic_ref(call: Call, words: list[Word]) -> None:
    """``git symbolic-ref`` reads with one name, writes with two."""
    names = operands_of(words, "-m")
    call.effect("git.delete" if has(words, "-d", "--delete") else "git.branch" if len(names) > 1 else "git.read")


def history(call: Call, _words: list[Word]) -> None:
    """``git filter-branch`` and kin rewrite history by running texts."""
    call.effect("git.delete")
    call.unseen("history is rewritten by programs")


def gc(call: Call, words: list[Word]) -> None:
    """``git gc`` packs; ``--prune`` deletes."""
    call.effect("git.delete" if has(words, "--prune") else "git.update")


def apply(call: Call, words: list[Word]) -> None:
    """``git apply`` changes files; ``--stat`` and ``--check`` only look."""
    reads = has(words, "--stat", "--numstat", "--summary", "--check") and not has(words, "--apply")
    call.effect("git.read" if reads else "git.update")
    for word in operands_of(words, "-p -C --directory --exclude --include --whitespace"):
        call.path("file.read", word)


def rm(call: Call, words: list[Word]) -> None:
    """``git rm`` deletes files; ``--cached`` only unstages."""
    if has(words, "-n", "--dry-run"):
        call.effect("git.read")
        return
    capability = "git.commit" if has(words, "--cached") else "file.delete"
    call.effect(capability)
    for word in operands_of(words, "--pathspec-from-file"):
        call.path(capability, word)


def difftool(call: Call, _words: list[Word]) -> None:
    """``git difftool`` and ``mergetool`` start other programs."""
    call.effect("git.read")
    call.unseen("git starts a diff or merge program")


def look(row: Program, *, files: bool = False) -> Hook:
    """Return a reader for what shows commits and files: ``HEAD:.env``, ``-- .env`` and ``--no-index a b`` are files."""

    def hook(call: Call, words: list[Word]) -> None:
        split = by_row(call, row, words)
        if not split.operands:
            return
        outside = has(words, "--no-index")
        behind = behind_dashes(words)
        colons = [word for word in split.operands if ":" in word.text[:-1]]
        shown = [word.after(word.text.index(":") + 1) for word in colons]
        named = [
            word
            for word in split.operands
            if word not in behind and word not in colons and _is_path(word.text) and not _RANGE.search(word.text)
        ]
        for word in [*behind, *shown, *named]:
            if word.text[:1] != "/" or outside:
                call.path("git.read", word)
        if outside or files:
            for word in [word for word in split.operands if word not in behind and ":" not in word.text]:
                call.path("git.read", word)

    return hook


_FORMAT_PATCH = Program("file.write", options=LOOK | {Role.TARGET: "-o --output-directory"})


def format_patch(call: Call, words: list[Word]) -> None:
    """``git format-patch`` writes a file for each commit; ``--stdout`` prints them."""
    by_row(call, LOG if has(words, "--stdout") else _FORMAT_PATCH, words)


def bundle(call: Call, words: list[Word]) -> None:
    """``git bundle create`` writes a file, ``unbundle`` changes the repository, the rest looks into one."""
    names = operands_of(words, "--version")
    verb = names[0].text if names else ""
    capability = {"verify": "git.read", "list-heads": "git.read", "unbundle": "git.update"}.get(verb, "file.write")
    call.effect(capability)
    for word in names[1:2]:
        call.path("file.read" if verb == "unbundle" else capability, word)
