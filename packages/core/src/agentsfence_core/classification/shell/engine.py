"""Reads one simple command by its row in the table of programs.

Rules of this file:

* A program without a row, a name that the text does not show, and code from a file are unverified execution.
* A row says what its program does; options and operands say to what.
* Nothing here knows a program by name: what is special about one stands in its row or in the row's hook.
"""

from __future__ import annotations

import re
from typing import Final

from agentsfence_core.classification.shell.addresses import add_addresses
from agentsfence_core.classification.shell.call import CONSEQUENTIAL, Call
from agentsfence_core.classification.shell.capabilities import RISK_OF
from agentsfence_core.classification.shell.loose import loose_options
from agentsfence_core.classification.shell.options import Given, Split
from agentsfence_core.classification.shell.programs import REACHING, program_named, protect
from agentsfence_core.classification.shell.project import RUNS, bind
from agentsfence_core.classification.shell.rows import Option, OptionTable, Program, Role, table_of
from agentsfence_core.classification.shell.words import Word
from agentsfence_core.classification.targets.paths import looks_like_path
from agentsfence_core.limits import LIMITS
from agentsfence_core.model.action import TargetKind
from agentsfence_core.model.risk import Risk

_SYSTEM: Final = re.compile(r"(?:/usr)?(?:/local)?/s?bin/([\w.+\[-]+)|/opt/homebrew/bin/([\w.+-]+)")
_OWN_TOOLS: Final = re.compile(
    r"(?:\./)?(?:(?:\.?v?env|\.tox/\w+|\.nox/\w+)/bin|node_modules/\.bin|vendor/bin)/([\w.-]+)|\./(gradlew|mvnw)"
)
"""Where a project keeps its own tools: under the current folder, by their usual names."""
_PROJECT: Final = frozenset({"test.run", "lint.run", "build.run", "package.install", "code.exec"})
"""What such a tool may be taken for: never something that only reads."""
_SUBSTITUTED: Final = re.compile(r"\$\([^()]*(?:\([^()]*\)[^()]*)*\)|`[^`]*`")
_PATHS: Final = frozenset({Role.TARGET, Role.READ, Role.WRITE, Role.DELETE, Role.EMPTY})
_FILE_ROLES: Final = {
    Role.READ: ("file.read",),
    Role.WRITE: ("file.write",),
    Role.DELETE: ("file.delete",),
    Role.EMPTY: ("file.write", "file.delete"),
}
_FILE_WRITES: Final = frozenset({"file.write", "file.archive"})
_PARTY_ROLES: Final = frozenset({Role.OBJECT, Role.URL, Role.HOST, Role.RECIPIENT})
_NO_FILES: Final = frozenset({"/dev/null", "-", "/dev/stdout", "/dev/stderr", "/dev/tty"})
_NO_OPTIONS: Final = OptionTable({}, {}, dangerous=False)
_ASKS_HELP: Final = frozenset({"--help", "--version"})
_ASKS_VERSION: Final = frozenset({"-V", "-vV", "-Vv", "-version", "-VV"})
"""Asks for the version where it is the only word."""
_RUNS_INSIDE: Final = frozenset({"echo", "printf", "cat", "base64", "xxd", "curl", "wget", "tr", "sed", "awk", "rev"})


def run(call: Call) -> None:
    """Add the effects of a simple command, whatever it is."""
    words = call.words
    name = words[0]
    if not name.literal:
        call.unseen("the program's name is computed")
        visible_targets(call, words[1:])
        return
    scan = call.scan
    if scan.depth > LIMITS.command_nesting * 2:
        call.unseen("wrapped too deep")
        return
    text = name.text
    if "/" in text:
        known = _SYSTEM.fullmatch(text)
        own = _OWN_TOOLS.fullmatch(text) if known is None else None
        row = program_named(own[1] or own[2]) if own else None
        if known is None and (row is None or row.does not in _PROJECT):
            script(call, name, words[1:])
            return
        text = own[1] or own[2] if own else known[1] or known[2] if known else text
    program = program_named(text)
    if program is None:
        # INVARIANT: a function never hides a program: its body was read where it stands, the program is read here.
        if name.text not in scan.functions:
            unknown(call)
    else:
        apply(call, program)
        if len(call.words) > 1:
            add_addresses(call)
        if not RUNS.isdisjoint(call.drafts):
            bind(call)
        if not REACHING.isdisjoint(call.drafts):
            protect(call)


def unknown(call: Call) -> None:
    """A program without a row: it may do anything, and what its words name is still seen."""
    call.unseen(f"{call.words[0].text[:40]} is not a known program" if call.words else "no program")
    visible_targets(call, call.words[1:])


def script(call: Call, path: Word, rest: list[Word]) -> None:
    """A program or script of the file system: named, but what it does is not known."""
    call.path("script.run", path)
    call.unseen(f"{path.text[:40]} is a script", "script.run")
    visible_targets(call, rest)


def visible_targets(call: Call, words: list[Word]) -> None:
    """Let guards and domain checks see the paths and addresses among the words of something unverified."""
    for word in words[: LIMITS.targets]:
        text = word.text
        if text[:1] == "-" and "=" in text:
            word = word.after(text.index("=") + 1)  # noqa: PLW2901  (the value of --name=value)
            text = word.text
        if "://" in text:
            call.url("web.read", word)
        elif text and text[0] != "-" and looks_like_path(text):
            call.path("file.read", word)


def nested(call: Call, words: list[Word], *, stdin: str | None = None, piped: bool | None = None) -> None:
    """Add the effects of a command that the call's program starts, as part of the same invocation."""
    if not words:
        return
    scan = call.scan
    if scan.depth > LIMITS.command_nesting * 2:
        call.unseen("wrapped too deep")
        return
    inner = Call(scan, words, stdin, piped=call.piped if piped is None else piped)
    inner.drafts = call.drafts
    functions, scan.functions = scan.functions, set()  # a program never starts a function of the shell
    scan.depth += 1
    run(inner)
    scan.depth -= 1
    scan.functions = functions


def repeated(call: Call, words: list[Word]) -> None:
    """Add the effects of a command that the call's program starts once for each of many inputs."""
    scan = call.scan
    before = {name for name, draft in call.drafts.items() if draft.risk in CONSEQUENTIAL}
    scan.repeats += 1
    nested(call, words, piped=False)
    scan.repeats -= 1
    for name, draft in call.drafts.items():
        if draft.risk in CONSEQUENTIAL and name not in before:
            draft.unverified.add(TargetKind.COUNT)


def shell_line(call: Call, word: Word, *, stdin: str | None = None, here: bool = False) -> None:
    """Add the effects of a shell text that the call's program runs: ``sh -c``, ``watch``.

    ``here`` is a text that this very shell runs, with its functions: ``eval``, ``trap``.
    """
    from agentsfence_core.classification.shell.tree import read_text  # noqa: PLC0415  (tree imports nothing from here)

    if not word.sure:
        call.unseen("the shell text is computed")
    scan = call.scan
    before = len(scan.effects)
    dirs, variables, functions = scan.dirs, scan.variables, scan.functions
    scan.variables, scan.functions = {}, set(functions) if here else set()
    invocation = scan.invocation
    text = word.text
    if word.runs:  # what is in the substitution was visited with the word
        text = _SUBSTITUTED.sub("$_", text)
    read_text(scan, text, run, stdin=stdin, piped=call.piped)
    scan.dirs, scan.variables, scan.functions = dirs, variables, functions
    if len(scan.effects) == before and not call.drafts and scan.invocation == invocation:
        call.effect("system.read")


def helps(words: list[Word]) -> bool:
    """Whether a command only prints its help or version."""
    return bool(words) and (words[0].text in _ASKS_HELP or (len(words) == 1 and words[0].text in _ASKS_VERSION))


def apply(call: Call, program: Program, skip: int = 1) -> None:
    """Add the effects of a command by its row; ``skip`` words are its name and subcommands."""
    words = call.words[skip:]
    call.skip = skip
    if helps(words):
        call.effect("system.read")
        return
    if program.before is not None:
        program.before(call)
    if program.hook is not None:
        program.hook(call, program)
    elif program.subcommands is not None:
        subcommand(call, program, skip)
    else:
        by_row(call, program, words)
    if call.scan.open:
        _open_words(call, program, words)


def _open_words(call: Call, program: Program, words: list[Word]) -> None:
    """Refuse to trust a variable that may hold options where they would act: ``sort $X``, ``find . $X``."""
    if not (program.acting or table_of(program).dangerous):
        return
    if any(draft.risk is not Risk.READ for draft in call.drafts.values()):
        return
    for word in words:
        if word.text == "--":
            return
        if word.open:
            call.unseen("options may come from a variable")
            return


def subcommand(call: Call, program: Program, skip: int) -> None:
    """Find the row of a subcommand behind the program's own options."""
    table = table_of(program)
    split = Split(call.words[skip:], table, posix=True, single=program.single)
    _given(call, program, split.given, [])
    operands = split.operands
    rows = program.subcommands or {}
    if not operands:
        call.effect(program.bare or program.does)
        return
    for count in (3, 2, 1):
        key = " ".join([word.text for word in operands[:count]])
        row = rows.get(key) if len(operands) >= count else None
        if row is not None and all(word.literal for word in operands[:count]):
            _step(call, row, operands, count)
            return
    if not operands[0].literal:
        call.unseen("the subcommand is computed")
    elif program.otherwise is not None:
        _step(call, program.otherwise, operands, 1)
    else:
        call.unseen(f"{call.words[0].text[:40]} {operands[0].text[:40]} is not a known subcommand")
    visible_targets(call, operands)


def _step(call: Call, row: Program, operands: list[Word], count: int) -> None:
    """Read the words after a subcommand by the subcommand's row."""
    inner = Call(call.scan, [call.words[0], *operands], call.stdin, piped=call.piped)
    inner.drafts = call.drafts
    apply(inner, row, count + 1)


def by_row(call: Call, program: Program, words: list[Word]) -> Split:
    """Add the effects of options and operands as the row says; return the words taken apart."""
    if not words:
        _base(call, program, program.bare or program.does)
        return Split(words, _NO_OPTIONS, posix=False, single=False)
    table = table_of(program)
    split = Split(words, table, posix=program.posix, single=program.single)
    capability = _capability(program, split.given)
    if capability in _FILE_WRITES and _writes_nothing(program, split.operands):
        capability = "file.read"
    _base(call, program, capability)
    if program.strict and split.strays:
        call.unseen(f"an option that the row does not name: {split.strays[0][:40]}")
    if split.strays and RISK_OF.get(capability) is Risk.READ:
        loose_options(call, words, table, single=program.single)
    if table.dangerous:
        _hidden_options(call, split.operands)
    operands = split.operands
    roles = _roles(program, split)
    _given(call, program, split.given, [word for role, word in roles if role in _PATHS], capability)
    for place, (role, word) in enumerate(roles):
        if role is Role.ARGV:
            nested(call, operands[place:])
            break
        give(call, program, capability, role, word)
    if not operands and program.bare and not split.given:
        call.effect(program.bare)
    return split


def _writes_nothing(program: Program, operands: list[Word]) -> bool:
    """Whether all that is written goes to a device that keeps nothing: ``tee /dev/null``."""
    targets = operands if program.rest is Role.TARGET and not program.operands else []
    return bool(targets) and all(word.literal and word.text in _NO_FILES - {"-"} for word in targets)


def _roles(program: Program, split: Split) -> list[tuple[Role, Word]]:
    """Return what each operand is to the program."""
    first = program.operands
    if first and any(option.role is Role.SCRIPT for _, option, _ in split.given):
        first = tuple(role for role in first if role is not Role.TEXT)
    last = len(split.operands) - 1
    roles = []
    for place, word in enumerate(split.operands):
        role = first[place] if place < len(first) else program.rest
        if program.last is not None and place == last and place:
            role = program.last
        roles.append((role, word))
    return roles


def _base(call: Call, program: Program, capability: str) -> None:
    if program.sure or RISK_OF.get(capability, Risk.EXECUTION).rank < Risk.EXECUTION.rank:
        call.effect(capability)
    if not program.sure:
        runs = capability not in call.drafts
        call.unseen(f"{call.words[0].text[:40]} runs what the text does not show", capability if runs else "shell.exec")


def _capability(program: Program, given: list[Given]) -> str:
    for _, option, _ in given:
        if option.instead:
            return option.instead
    return program.does


def _hidden_options(call: Call, operands: list[Word]) -> None:
    """Refuse to trust text from another command where an option would do something else: ``sort $(cat x)``."""
    for word in operands:
        if word.runs and word.text[:1] in "$`" and any(f"{name} " in word.text for name in _RUNS_INSIDE):
            call.unseen("options may come from another command's output")
            return


def _given(
    call: Call, program: Program, given: list[Given], operands: list[Word], capability: str | None = None
) -> None:
    """Add the effects of the options that were given."""
    for _, option, value in given:
        if option.also:
            call.effect(option.also)
            for word in operands:
                call.path(option.also, word)
        elif value is not None:
            give(call, program, capability or program.does, option.role, value)
        elif option.role in {Role.RUN, Role.UNSEEN}:
            call.unseen("an option starts a program or brings in settings")


def give(call: Call, program: Program, capability: str, role: Role, word: Word) -> None:
    """Add one word to the effects as its role says."""
    if role in _PATHS:
        _give_path(call, program, capability, role, word)
    elif role is Role.RUN:
        call.unseen("an option starts a program")
        shell_line(call, word)
    elif role is Role.UNSEEN:
        call.unseen("options or instructions come from elsewhere")
        if "://" in word.text:
            call.url("web.read", word)
        else:
            call.path("file.read", word)
    elif role in _PARTY_ROLES:
        _give_party(call, program, capability, role, word)


def _give_path(call: Call, program: Program, capability: str, role: Role, word: Word) -> None:
    """Add a path; what is written to a device that keeps nothing is none."""
    if role is Role.WRITE and word.text == "-" and program.dash_is_file:
        word = Word("./-")
    names = (capability,) if role is Role.TARGET else _FILE_ROLES[role]
    writes = role is Role.WRITE or capability in _FILE_WRITES
    if not (role in {Role.WRITE, Role.TARGET} and writes and word.text in _NO_FILES):
        for name in names:
            call.path(name, word)


def _give_party(call: Call, program: Program, capability: str, role: Role, word: Word) -> None:
    """Add an object, an address, a machine or a recipient."""
    if role is Role.OBJECT:
        call.object(capability, program.kind, word)
    elif role is Role.URL:
        call.url(capability, word)
    elif role is Role.HOST:
        call.host(capability, word)
    else:
        call.effect(capability).recipients.append(word.text[: LIMITS.target_length])
        if not word.literal:
            call.unverified(capability, TargetKind.RECIPIENTS)


__all__ = [
    "Option",
    "OptionTable",
    "apply",
    "by_row",
    "give",
    "nested",
    "repeated",
    "run",
    "script",
    "shell_line",
    "unknown",
]
