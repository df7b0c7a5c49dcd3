"""What each subcommand of git does that talks to another repository."""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.engine import by_row, shell_line
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.programs.curl import URL_HINTS
from agentsfence_core.classification.shell.programs.git_words import Hook, has, objects, operands_of, read_setting
from agentsfence_core.classification.shell.rows import Program, Role, table_of
from agentsfence_core.classification.shell.words import Word
from agentsfence_core.model.action import TargetKind


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
        objects(call, "git.delete", "remote", names[1:])
    elif verb == "update":
        call.effect("git.update")
    else:
        objects(call, "git.config", "remote", names[1:2])
        for word in names[2:]:
            location(call, "git.config", word)


def location(call: Call, capability: str, word: Word) -> None:
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
    """``git push``: remote and branch are objects, what it deletes is a deletion.

    What is pushed is unverified where no word names it (``--all``, wildcards), where it replaces what is there, and
    where the repository is another one than that of the current folder.
    """
    row = _ROWS_PUSH
    split = Split(words, table_of(row), posix=False, single=False)
    call.effect("git.push")
    names = split.operands
    for name, option, value in split.given:
        if name == "repo" and value is not None:
            call.object("git.push", "remote", value)
            location(call, "git.push", value)
        elif option.role is Role.RUN:
            call.unseen("a program on the other side or here")
            if value is not None:
                shell_line(call, value)
    if has(words, *_FORCES) or any(word.text.startswith("+") for word in names[1:]):
        call.value("git.push", "force", "true")
        call.effect("git.overwrite")  # what stood there is lost: leave to push is no leave for that
    if call.scan.elsewhere() or has(words, *_EVERYTHING):
        call.unverified("git.push", TargetKind.OBJECTS)
    if has(words, "--mirror", "--prune"):
        call.effect("git.delete")
    if names:
        call.object("git.push", "remote", names[0])
        location(call, "git.push", names[0])
    deletes = has(words, "-d", "--delete")
    for word in names[1:]:
        _refspec(call, word, deletes=deletes)


_FORCES = ("-f", "--force", "--force-with-lease", "--force-if-includes")
_EVERYTHING = ("--all", "--branches", "--mirror", "--tags", "--follow-tags", "--prune")
"""Options that push what no word names."""


def _refspec(call: Call, word: Word, *, deletes: bool) -> None:
    """Add the branch that ``source:target`` changes; ``heads/main`` is ``main``."""
    source, colon, target = word.text.lstrip("+").partition(":")
    name = target if colon else source
    branch = Word(name.removeprefix("refs/").removeprefix("heads/"), word.sure, word.glob)
    if name.startswith("refs/") and not name.startswith("refs/heads/"):
        branch = Word(name, word.sure, word.glob)
    if not name or "*" in name:  # a lone colon pushes every branch that both sides have
        call.unverified("git.push", TargetKind.OBJECTS)
        return
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
            location(call, capability, word)
        if capability == "git.update" and has(words, "-x", "--exec"):
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
        location(call, "git.update", operands[0])
    if len(operands) > 1:
        call.path("git.update", operands[1])
    elif operands:
        name = operands[0].text.rstrip("/").rpartition("/")[2].rpartition(":")[2].removesuffix(".git")
        call.path("git.update", Word(name or ".", operands[0].sure))


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
            location(call, "git.update", word)


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


_ARCHIVE_ROW = Program(
    "git.read",
    options={Role.WRITE: "-o --output", Role.RUN: "--exec", Role.TEXT: "--format --prefix --add-file --remote"},
)


def archive(call: Call, words: list[Word]) -> None:
    """``git archive`` prints or writes; ``--exec`` and remotes start programs."""
    row = _ARCHIVE_ROW
    split = Split(words, table_of(row), posix=False, single=False)
    by_row(call, row, words)
    for word in split.operands[1:]:
        call.path("git.read", word)
    for name, _, value in split.given:
        if name.startswith("rem") and value is not None:
            location(call, "git.read", value)


_LS_REMOTE_ROW = Program(
    "git.read", options={Role.RUN: "--upload-pack --exec -u", Role.TEXT: "-o --server-option --sort"}
)


def ls_remote(call: Call, words: list[Word]) -> None:
    """``git ls-remote`` asks a remote; ``--upload-pack`` starts a program."""
    row = _LS_REMOTE_ROW
    split = Split(words, table_of(row), posix=False, single=False)
    by_row(call, row, words)
    for word in split.operands[:1]:
        location(call, "git.read", word)


def lfs(call: Call, words: list[Word]) -> None:
    """``git lfs`` by its verb."""
    verb = words[0].text if words else "status"
    if verb in {"ls-files", "status", "env", "version", "locks"}:
        call.effect("git.read")
    elif verb in {"lock", "unlock"}:
        call.effect("repo.write")
    elif verb == "push":
        call.effect("git.push")
    elif verb == "prune":
        call.effect("git.delete")
    else:
        call.effect("git.update")


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


def subtree(call: Call, words: list[Word]) -> None:
    """``git subtree push`` pushes a folder; its other verbs change this repository."""
    names = operands_of(words, "-P --prefix -b --branch -m --message --annotate --onto")
    if names and names[0].text == "push":
        push(call, names[1:])
        return
    call.effect("git.update")
    for word in names[1:2]:
        location(call, "git.update", word)
