"""``find`` and ``fd``: searches that can delete, write and run."""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

from agentsfence_core.classification.shell.around import CONTROL, around, canonical, may_find, names_own
from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.engine import repeated
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.rows import Program, Role, rows, table_of
from agentsfence_core.classification.shell.words import Word
from agentsfence_core.model.action import TargetKind
from agentsfence_core.model.risk import Risk

_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_WRITES = frozenset({"-fprint", "-fprint0", "-fls", "-fprintf"})
_READS = frozenset({"-newer", "-anewer", "-cnewer", "-samefile", "-files0-from"})
_VALUED = frozenset(
    """-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -mtime -mmin
    -atime -amin -ctime -cmin -used -user -group -uid -gid -perm -links -inum -maxdepth -mindepth -fstype -printf
    -regextype -context""".split()
)
"""Tests with a value; it is data."""
_NAMES = frozenset({"-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename"})
_LEADING = frozenset({"-H", "-L", "-P"})


def _find(call: Call, _program: Program) -> None:
    """The words before the first test are folders; ``-delete``, ``-exec`` and ``-fprint`` act."""
    words = call.words[1:]
    place = 0
    while place < len(words) and (words[place].text in _LEADING or words[place].text[:2] in {"-D", "-O"}):
        place += 2 if words[place].text == "-D" else 1
    roots: list[Word] = []
    while place < len(words) and words[place].text[:1] not in {"-", "(", "!", ","}:
        roots.append(words[place])
        place += 1
    call.effect("file.read")
    if any(word.text[:1] in "$`{" and not word.sure for word in roots[1:]):
        call.unseen("computed tests")
    for root in roots or [Word(".")]:
        call.path("file.read", root)
    _actions(call, words, place, roots)
    _own_files(call, words[place:], roots)


def _own_files(call: Call, tests: list[Word], roots: list[Word]) -> None:
    """Say so where a search that changes what it finds can find what belongs to the fence or its host."""
    if all(draft.risk is Risk.READ or not (draft.paths or draft.unverified) for draft in call.drafts.values()):
        return
    names = [tests[at + 1].text for at, word in enumerate(tests[:-1]) if word.text in _NAMES]
    if any(names_own(name) for name in names):
        call.effect(CONTROL)
    near = [canonical(call, root) for root in roots or [Word(".")]]
    if any(around(path, call.scan.home) for path in near) and any(map(may_find, names or ["*"])):
        call.effect(CONTROL)


def _actions(call: Call, words: list[Word], place: int, roots: list[Word]) -> None:
    """Read the tests and actions behind the folders."""
    found = _found(words[place:], roots)
    while place < len(words):
        text = words[place].text
        place += 1
        if text in _RUNS:
            place = _runs(call, words, place, found)
        elif text in _VALUED or text.startswith("-newer"):
            if text in _READS and place < len(words):
                call.path("file.read", words[place])
            place += 1
        elif text == "-delete":
            for root in roots or [Word(".")]:
                call.path("file.delete", root)
            call.unverified("file.delete", TargetKind.PATHS)
        elif text in _WRITES and place < len(words):
            call.path("file.write", words[place])
            place += 1
        elif text in _READS and place < len(words):
            call.path("file.read", words[place])
            place += 1
        elif text[:1] in "$`" and not words[place - 1].sure:
            call.unseen("computed tests")


def _found(words: list[Word], roots: list[Word]) -> list[Word]:
    """Return what ``{}`` can stand for: the names that are looked for below the folders, so that guards see them."""
    names = [
        words[at + 1]
        for at, word in enumerate(words[:-1])
        if word.text in _NAMES and (not at or words[at - 1].text not in {"!", "-not"})
    ][:8] or [Word("*")]
    return [
        Word(f"{root.text.rstrip('/') or '/'}/{name.text.rpartition('/')[2]}", False, True)
        for root in (roots or [Word(".")])[:8]
        for name in names
    ]


def _runs(call: Call, words: list[Word], place: int, found: list[Word]) -> int:
    """Read the command of ``-exec`` up to ``;`` or ``{} +``."""
    inner: list[Word] = []
    while place < len(words):
        word = words[place]
        place += 1
        if word.text == ";" or (word.text == "+" and words[place - 2].text == "{}"):
            break
        if word.text == "{}" and inner:
            inner += found
        else:
            inner.append(Word(word.text, False, True) if "{}" in word.text else word)
    if inner and inner[0].text == "{}":
        call.unseen("every file found is run")
    else:
        repeated(call, inner)
    return place


_FD_VALUED = frozenset("etdESocj")


def _starts(word: Word) -> int:
    """Return where the command begins in an option that starts one, as in ``--exec=rm``, ``-Hx`` and ``-xrm``; else 0."""
    text = word.text
    if text[:2] == "--":
        name = text.partition("=")[0]
        return len(name) + text.startswith(f"{name}=") if name in {"--exec", "--exec-batch"} else 0
    for place in range(1, len(text) if text[:1] == "-" else 0):
        if text[place] in "xX":
            return place + 1 + text.startswith("=", place + 1)
        if text[place] in _FD_VALUED:
            return 0
    return 0


def _fd(call: Call, program: Program) -> None:
    """``fd pattern [folders]``; ``-x`` and ``-X`` run the rest as a command."""
    words = call.words[1:]
    for place, word in enumerate(words):
        starts = _starts(word)
        if starts:
            glued = word.after(starts) if len(word.text) > starts else None
            inner = [*([glued] if glued else []), *words[place + 1 :]]
            named = Split(words[:place], table_of(program), posix=False, single=False).operands
            found = Word(f"*/{named[0].text if named else '*'}", False, True)
            inner = [found if "{" in inner_word.text else inner_word for inner_word in inner]
            if not any(inner_word is found for inner_word in inner):
                inner.append(found)
            words = words[:place]
            if inner[0] is found:
                call.unseen("every file found is run")
            else:
                repeated(call, [w for w in inner if w.text != ";"])
            break
    split = Split(words, table_of(program), posix=False, single=False)
    call.effect("file.read")
    for word in split.operands[1:] or [Word(".")]:
        call.path("file.read", word)


PROGRAMS = {
    **rows("find gfind bfs", Program("file.read", hook=_find, acting=True)),
    **rows(
        "fd fdfind",
        Program(
            "file.read",
            options={
                Role.TEXT: "-e --extension -t --type -d --max-depth --min-depth -E --exclude -S --size --changed-within "
                "--changed-before -o --owner -c --color -j --threads --base-directory --search-path --format --max-results"
            },
            hook=_fd,
        ),
    ),
}
