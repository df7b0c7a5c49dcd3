"""``find`` and ``fd``: searches that can delete, write and run."""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.engine import nested
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.rows import Program, Role, rows, table_of
from agentsfence_core.classification.shell.words import Word
from agentsfence_core.model.action import TargetKind

_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_WRITES = frozenset({"-fprint", "-fprint0", "-fls", "-fprintf"})
_READS = frozenset({"-newer", "-anewer", "-cnewer", "-samefile", "-files0-from"})
_FOUND = Word("{}", False, True)
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
    for root in roots or [Word(".")]:
        call.path("file.read", root)
    _actions(call, words, place, roots)


def _actions(call: Call, words: list[Word], place: int, roots: list[Word]) -> None:
    """Read the tests and actions behind the folders."""
    while place < len(words):
        text = words[place].text
        place += 1
        if text in _RUNS:
            place = _runs(call, words, place)
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
        elif text[:1] == "$" and not words[place - 1].sure and words[place - 1].runs:
            call.unseen("computed tests")


def _runs(call: Call, words: list[Word], place: int) -> int:
    """Read the command of ``-exec`` up to ``;`` or ``{} +``."""
    inner: list[Word] = []
    while place < len(words):
        word = words[place]
        place += 1
        if word.text == ";" or (word.text == "+" and inner and inner[-1].text == "{}"):
            break
        inner.append(_FOUND if word.text == "{}" else (Word(word.text, False, True) if "{}" in word.text else word))
    if inner and inner[0] is _FOUND:
        call.unseen("every file found is run")
    else:
        nested(call, inner, piped=False)
    return place


def _fd(call: Call, program: Program) -> None:
    """``fd pattern [folders]``; ``-x`` and ``-X`` run the rest as a command."""
    words = call.words[1:]
    for place, word in enumerate(words):
        if word.text in {"-x", "-X", "--exec", "--exec-batch"} or word.text.startswith(("--exec=", "--exec-batch=")):
            glued = word.after(word.text.index("=") + 1) if "=" in word.text else None
            inner = [*([glued] if glued else []), *words[place + 1 :]]
            inner = [_FOUND if "{" in inner_word.text else inner_word for inner_word in inner]
            if not any(inner_word is _FOUND for inner_word in inner):
                inner.append(_FOUND)
            words = words[:place]
            if inner[0] is _FOUND:
                call.unseen("every file found is run")
            else:
                nested(call, [w for w in inner if w.text != ";"], piped=False)
            break
    split = Split(words, table_of(program), posix=False, single=False)
    call.effect("file.read")
    for word in split.operands[1:] or [Word(".")]:
        call.path("file.read", word)


PROGRAMS = {
    **rows("find gfind bfs", Program("file.read", hook=_find)),
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
