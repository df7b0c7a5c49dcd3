"""What each subcommand of git does, read from its own options and operands."""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

from collections.abc import Callable
from functools import cache

from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.engine import by_row, nested, shell_line
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.programs.curl import URL_HINTS
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


READ = Program("git.read")


TREE = Program("git.update")


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


def _has(words: list[Word], *options: str) -> bool:
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
def _with_values(text: str) -> Program:
    """Return a row that only says which options take a value."""
    return Program("git.read", options={Role.TEXT: text})


def _operands(words: list[Word], text: str = "") -> list[Word]:
    """Return the words that are no options; ``text`` are the options that take a value."""
    return Split(words, table_of(_with_values(text)), posix=False, single=False).operands


def _paths(words: list[Word]) -> list[Word]:
    """Return what stands behind ``--``."""
    for place, word in enumerate(words):
        if word.text == "--":
            return words[place + 1 :]
    return []


def _objects(call: Call, capability: str, kind: str, words: list[Word]) -> None:
    call.effect(capability)
    for word in words:
        call.object(capability, kind, word)


def branch(call: Call, words: list[Word]) -> None:
    """``git branch`` lists, makes, renames or deletes."""
    names = _operands(
        words, "-u --set-upstream-to --contains --no-contains --merged --no-merged --points-at --sort --format --color?"
    )
    if _has(words, "-d", "-D", "--delete"):
        _objects(call, "git.delete", "branch", names)
    elif _has(words, "-m", "-M", "-c", "-C", "--move", "--copy"):
        _objects(call, "git.branch", "branch", names)
    elif _has(
        words, "--edit-description", "-u", "--set-upstream-to", "--unset-upstream", "-t", "--track", "-f", "--force"
    ):
        _objects(call, "git.branch", "branch", names)
        if _has(words, "--edit-description"):
            call.unseen("git opens an editor")
    elif names and not _has(
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
        _objects(call, "git.branch", "branch", names[:1])
    else:
        call.effect("git.read")


def tag(call: Call, words: list[Word]) -> None:
    """``git tag`` lists, makes or deletes."""
    names = _operands(
        words,
        "-m --message -F --file -u --local-user --contains --no-contains --points-at --sort --format --merged --no-merged --cleanup -n?",
    )
    if _has(words, "-d", "--delete"):
        _objects(call, "git.delete", "tag", names)
    elif not names or _has(
        words, "-l", "--list", "-n", "--contains", "--points-at", "--merged", "--no-merged", "-v", "--verify", "--sort"
    ):
        call.effect("git.read")
    else:
        _objects(call, "git.branch", "tag", names[:1])


def remote(call: Call, words: list[Word]) -> None:
    """``git remote`` lists; ``show`` and ``update`` talk to the remote, which its configuration names."""
    names = [word for word in words if word.text[:1] != "-"]
    verb = names[0].text if names else ""
    if not names or verb == "get-url":
        call.effect("git.read")
    elif verb == "show":
        call.effect("git.read")
        for word in names[1:]:
            call.object("git.read", "remote", word)
    elif verb in {"remove", "rm", "prune"}:
        _objects(call, "git.delete", "remote", names[1:])
    elif verb == "update":
        call.effect("git.update")
    else:
        _objects(call, "git.config", "remote", names[1:2])
        for word in names[2:]:
            _location(call, "git.config", word)


def _location(call: Call, capability: str, word: Word) -> None:
    """Add a remote given by address; ``ext::`` and ``fd::`` run programs."""
    text = word.text
    if text.startswith(("ext::", "fd::")) or ("::" in text and "://" not in text.partition("::")[0]):
        call.unseen("a remote helper program")
        shell_line(call, Word(text.partition("::")[2], word.sure))
    elif any(mark in text for mark in URL_HINTS):
        if not text.startswith("file://"):
            call.url(capability, word)
    elif ":" in text and "/" not in text.partition(":")[0]:
        call.host(capability, Word(text.partition(":")[0], word.sure))
    elif not word.sure:
        call.host(capability, word)


def push(call: Call, words: list[Word]) -> None:
    """``git push``: remote and branch are objects, what it deletes is a deletion."""
    row = _ROWS_PUSH
    split = Split(words, table_of(row), posix=False, single=False)
    call.effect("git.push")
    names = split.operands
    for _, option, value in split.given:
        if option.role is Role.RUN:
            call.unseen("a program on the other side or here")
            if value is not None:
                shell_line(call, value)
    deletes = _has(words, "-d", "--delete")
    if _has(words, "-f", "--force", "--force-with-lease", "--force-if-includes") or any(
        w.text.startswith("+") for w in names[1:]
    ):
        call.value("git.push", "force", "true")
    if _has(words, "--mirror", "--prune"):
        call.effect("git.delete")
    if names:
        call.object("git.push", "remote", names[0])
        _location(call, "git.push", names[0])
    for word in names[1:]:
        source, colon, target = word.text.lstrip("+").partition(":")
        branch = Word((target if colon else source).removeprefix("refs/heads/"), word.sure, word.glob)
        call.object("git.push", "branch", branch)
        if deletes or (colon and not source):
            call.object("git.delete", "branch", branch)


def fetch(capability: str) -> Hook:
    """Return a hook for what talks to a remote and changes this repository."""

    def hook(call: Call, words: list[Word]) -> None:
        split = Split(words, table_of(_ROWS_PUSH), posix=False, single=False)
        call.effect(capability)
        for _, option, value in split.given:
            if option.role is Role.RUN:
                call.unseen("a program on the other side or here")
                if value is not None:
                    shell_line(call, value)
        for word in split.operands[:1]:
            call.object(capability, "remote", word)
            _location(call, capability, word)
        if capability == "git.update" and _has(words, "-x", "--exec"):
            call.unseen("git runs a line")

    return hook


def clone(call: Call, words: list[Word]) -> None:
    """``git clone`` writes a folder and runs the filters and hooks that the options or templates name."""
    split = Split(words, table_of(_CLONE), posix=False, single=False)
    call.effect("git.update")
    for name, option, value in split.given:
        if option.role is Role.RUN:
            call.unseen("a program on the other side or here")
            if value is not None:
                shell_line(call, value)
        elif name in {"c", "config"} and value is not None:
            setting, _, text = value.text.partition("=")
            read_setting(call, setting, Word(text, value.sure))
        elif name == "template":
            call.unseen("a template brings hooks")
    operands = split.operands
    if operands:
        _location(call, "git.update", operands[0])
    if len(operands) > 1:
        call.path("git.update", operands[1])
    elif operands:
        name = operands[0].text.rstrip("/").rpartition("/")[2].rpartition(":")[2].removesuffix(".git")
        call.path("git.update", Word(name or ".", operands[0].sure))


def config(call: Call, words: list[Word]) -> None:
    """``git config`` reads with one name, writes with two words; a value can name a program."""
    names = _operands(words, "-f --file --blob --type -t --default --comment --fixed-value!")
    verb = names[0].text if names else ""
    reads = _has(
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
    if reads or verb in {"list", "get", "get-all", "get-regexp"} or not words:
        call.effect("git.read")
        return
    if verb == "edit" or _has(words, "-e", "--edit"):
        call.effect("git.config")
        call.unseen("git opens an editor")
        return
    if verb in {"set", "unset", "rename-section", "remove-section"} and len(names) > 1:
        names = names[1:]
    elif len(names) == 1 and not _has(
        words, "--unset", "--unset-all", "--add", "--replace-all", "--remove-section", "--rename-section"
    ):
        call.effect("git.read")
        return
    call.effect("git.config")
    if _has(words, "--global"):
        call.path("git.config", Word("~/.gitconfig"))
    elif _has(words, "--system"):
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
    row = _with_values(text)
    split = Split(words, table_of(row), posix=False, single=False)
    new = [value for name, _, value in split.given if name in {"b", "B", "orphan"} and value is not None]
    behind = _paths(words)
    lost = behind or [word for word in split.operands if _is_path(word.text)]
    if new:
        _objects(call, "git.branch", "branch", new)
    elif lost:
        for word in lost:
            call.path("git.delete", word)
    else:
        _objects(call, "git.branch", "branch", split.operands[:1])
    if _has(words, "-f", "--force"):
        call.effect("git.delete")


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
    if _has(words, "-f", "--force", "--discard-changes", "-C"):
        call.effect("git.delete")


def restore(call: Call, words: list[Word]) -> None:
    """``git restore`` throws away changes; ``--staged`` alone only unstages."""
    staged = _has(words, "-S", "--staged")
    capability = "git.commit" if staged and not _has(words, "-W", "--worktree") else "git.delete"
    call.effect(capability)
    for word in _operands(words, "-s --source --conflict --pathspec-from-file"):
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
    if _has(words, "-n", "--dry-run"):
        call.effect("git.read")
        return
    for word in _operands(words, "-e --exclude") or [Word(".")]:
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
        for word in _operands(words, "-b -B --reason")[1:2]:
            call.path("git.update", word)


def submodule(call: Call, words: list[Word]) -> None:
    """``git submodule``; ``foreach`` runs a shell line in each."""
    names = [word for word in words if word.text[:1] != "-"]
    verb = names[0].text if names else "status"
    if verb == "foreach":
        call.unseen("git submodule foreach runs a shell line")
        for word in names[1:2]:
            shell_line(call, Word(" ".join([w.text for w in names[1:]]), all(w.sure for w in names[1:])))
            del word
    elif verb in {"status", "summary"}:
        call.effect("git.read")
    elif verb == "deinit":
        call.effect("git.delete")
    else:
        call.effect("git.update")
        for word in names[1:2]:
            _location(call, "git.update", word)


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
    if _has(words, "-i", "--interactive", "--edit-todo"):
        call.unseen("git opens an editor")


def notes(call: Call, words: list[Word]) -> None:
    """``git notes`` shows, adds or removes."""
    names = _operands(words, "--ref -m -F -c -C")
    verb = names[0].text if names else "list"
    call.effect(
        "git.delete"
        if verb in {"remove", "prune"}
        else "git.read"
        if verb in {"list", "show", "get-ref"}
        else "git.commit"
    )


_SEND_EMAIL_ROW = Program(
    "email.send",
    rest=Role.READ,
    options={
        Role.RECIPIENT: "--to --cc --bcc",
        Role.TEXT: "--from --subject --in-reply-to --smtp-server-port --smtp-user --smtp-pass --suppress-cc --confirm --envelope-sender --reply-to",
        Role.HOST: "--smtp-server",
        Role.RUN: "--to-cmd --cc-cmd --header-cmd --sendmail-cmd --smtp-server-option",
    },
)


def send_email(call: Call, words: list[Word]) -> None:
    """``git send-email`` sends mail; several options start programs."""
    row = _SEND_EMAIL_ROW
    by_row(call, row, words)


_GREP_ROW = Program(
    "git.read",
    options={
        Role.RUN: "-O? --open-files-in-pager?",
        Role.TEXT: "-e -f -A -B -C -m --max-count --max-depth --threads --color? --and! --or! --not!",
    },
)


def grep(call: Call, words: list[Word]) -> None:
    """``git grep`` searches; ``-O`` opens a pager program."""
    row = _GREP_ROW
    by_row(call, row, words)


_ARCHIVE_ROW = Program(
    "git.read",
    options={Role.WRITE: "-o --output", Role.RUN: "--exec", Role.TEXT: "--format --prefix --add-file --remote"},
)


def archive(call: Call, words: list[Word]) -> None:
    """``git archive`` prints or writes; ``--exec`` and remotes start programs."""
    row = _ARCHIVE_ROW
    split = Split(words, table_of(row), posix=False, single=False)
    by_row(call, row, words)
    for name, _, value in split.given:
        if name.startswith("rem") and value is not None:
            _location(call, "git.read", value)


_LS_REMOTE_ROW = Program(
    "git.read", options={Role.RUN: "--upload-pack --exec -u", Role.TEXT: "-o --server-option --sort"}
)


def ls_remote(call: Call, words: list[Word]) -> None:
    """``git ls-remote`` asks a remote; ``--upload-pack`` starts a program."""
    row = _LS_REMOTE_ROW
    split = Split(words, table_of(row), posix=False, single=False)
    by_row(call, row, words)
    for word in split.operands[:1]:
        _location(call, "git.read", word)


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
    if _has(words, "--amend"):
        call.value("git.commit", "amend", "true")


def lfs(call: Call, words: list[Word]) -> None:
    """``git lfs`` by its verb."""
    verb = words[0].text if words else "status"
    if verb in {"ls-files", "status", "env", "version"}:
        call.effect("git.read")
    elif verb == "push":
        call.effect("git.push")
    elif verb == "prune":
        call.effect("git.delete")
    else:
        call.effect("git.update")


def update_ref(call: Call, words: list[Word]) -> None:
    """``git update-ref`` moves or deletes a reference."""
    call.effect("git.delete" if _has(words, "-d") else "git.branch")


def symbolic_ref(call: Call, words: list[Word]) -> None:
    """``git symbolic-ref`` reads with one name, writes with two."""
    names = _operands(words, "-m")
    call.effect("git.delete" if _has(words, "-d", "--delete") else "git.branch" if len(names) > 1 else "git.read")


def history(call: Call, _words: list[Word]) -> None:
    """``git filter-branch`` and kin rewrite history by running texts."""
    call.effect("git.delete")
    call.unseen("history is rewritten by programs")


def gc(call: Call, words: list[Word]) -> None:
    """``git gc`` packs; ``--prune`` deletes."""
    call.effect("git.delete" if _has(words, "--prune") else "git.update")


def apply(call: Call, words: list[Word]) -> None:
    """``git apply`` changes files; ``--stat`` and ``--check`` only look."""
    reads = _has(words, "--stat", "--numstat", "--summary", "--check") and not _has(words, "--apply")
    call.effect("git.read" if reads else "git.update")
    for word in _operands(words, "-p -C --directory --exclude --include --whitespace"):
        call.path("file.read", word)


def rm(call: Call, words: list[Word]) -> None:
    """``git rm`` deletes files; ``--cached`` only unstages."""
    if _has(words, "-n", "--dry-run"):
        call.effect("git.read")
        return
    capability = "git.commit" if _has(words, "--cached") else "file.delete"
    call.effect(capability)
    for word in _operands(words, "--pathspec-from-file"):
        call.path(capability, word)


def difftool(call: Call, _words: list[Word]) -> None:
    """``git difftool`` and ``mergetool`` start other programs."""
    call.effect("git.read")
    call.unseen("git starts a diff or merge program")


_ROWS_PUSH = Program(
    "git.push",
    options={
        Role.RUN: "--receive-pack --upload-pack --exec",
        Role.TEXT: "-o --push-option --repo --force-with-lease? --recurse-submodules? --depth --deepen --shallow-since "
        "--shallow-exclude -j --jobs --refmap --filter --negotiation-tip --server-option -s --strategy -X --signed? "
        "--strategy-option --log? -S? --gpg-sign? --cleanup --rebase?",
    },
)


_CLONE = Program(
    "git.update",
    options={
        Role.RUN: "-u --upload-pack",
        Role.TEXT: "-b --branch -o --origin --depth -j --jobs -c --config --template --reference --separate-git-dir "
        "--filter --shallow-since --shallow-exclude --server-option --bundle-uri --recurse-submodules? --ref-format",
    },
)
