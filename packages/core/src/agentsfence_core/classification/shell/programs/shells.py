"""Shells: ``-c`` text is read as the command it is; scripts and standard input are not."""

from __future__ import annotations

from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.engine import script, shell_line
from agentsfence_core.classification.shell.rows import Program, rows
from agentsfence_core.classification.shell.words import Word

_WITH_VALUE = frozenset({"-o", "+o", "-O", "+O", "--rcfile", "--init-file"})


def _shell(call: Call, _program: Program) -> None:
    """``sh -c text`` is its text, ``sh file`` a script, ``... | sh`` whatever arrives."""
    letters, place = _options(call)
    rest = call.words[place:]
    if "c" in letters:
        _text(call, rest)
    elif rest and "s" not in letters and rest[0].text != "-":
        script(call, rest[0], rest[1:])
    elif call.stdin is not None:
        shell_line(call, Word(call.stdin))
    else:
        call.unseen("a shell that runs what arrives")


def _options(call: Call) -> tuple[str, int]:
    """Return the letters of a shell's own options, and where the words behind them begin."""
    words = call.words
    letters = ""
    place = 1
    while place < len(words):
        option = words[place].text
        if not words[place].sure or option[:1] not in {"-", "+"} or len(option) < 2:
            break
        place += 1
        if option == "--":
            break
        if option.startswith("--"):
            if option.partition("=")[0] in {"--rcfile", "--init-file"}:
                call.unseen("a start-up file")
        else:
            letters += option[1:]
        if option in _WITH_VALUE or (option[-1] in "oO" and not option.startswith("--")):
            place += 1
    return letters, place


def _text(call: Call, rest: list[Word]) -> None:
    if not rest:
        call.unseen("a shell without a text")
        return
    # What the text calls $0, $1 … are the words behind it: unknown to the reader of the text, so never verified there.
    shell_line(call, rest[0])


PROGRAMS = {
    **rows("sh bash dash zsh ksh ash mksh fish rbash", Program("shell.exec", hook=_shell)),
    **rows("csh tcsh nu elvish xonsh", Program("shell.exec", sure=False)),
}
