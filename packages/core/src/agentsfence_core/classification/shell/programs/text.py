"""Searching and editing text: grep, sed, awk, jq and their kin."""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

import re

from agentsfence_core.classification.shell.call import ENVIRONMENT, Call
from agentsfence_core.classification.shell.engine import by_row, shell_line
from agentsfence_core.classification.shell.environment import SECRET
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.rows import Program, Role, rows, table_of
from agentsfence_core.classification.shell.words import Word
from agentsfence_core.model.action import TargetKind


def _search(call: Call, program: Program) -> None:
    """Searchers that look below the current folder when no path is named."""
    split = by_row(call, program, call.words[1:])
    has_pattern = any(option.role is Role.SCRIPT for _, option, _ in split.given)
    below = call.words[0].text not in _GREPS or {"r", "R", "recursive", "dereference-recursive"} & set(split.strays)
    if len(split.operands) <= (0 if has_pattern else 1) and not call.piped and below:
        call.path("file.read", Word("."))


_GREP = Program(
    "file.read",
    hook=_search,
    operands=(Role.TEXT,),
    rest=Role.TARGET,
    options={
        Role.SCRIPT: "-e --regexp",
        Role.TEXT: "-A --after-context -B --before-context -C --context -m --max-count --include --exclude --exclude-dir "
        "--color? --colour? --label -d --directories -D --devices --binary-files --group-separator -f --file -t --type",
        Role.READ: "--exclude-from",
    },
)
_RG = Program(
    "file.read",
    hook=_search,
    operands=(Role.TEXT,),
    rest=Role.TARGET,
    options={
        Role.SCRIPT: "-e --regexp --files! --type-list!",
        Role.RUN: "--pre --hostname-bin",
        Role.TEXT: "-A --after-context -B --before-context -C --context -g --glob --iglob -m --max-count -t --type -T "
        "--type-not -j --threads --color --colors -r --replace -E --encoding -M --max-columns -d --max-depth --sort "
        "--sortr --type-add --pre-glob --max-filesize --engine --context-separator --path-separator --dfa-size-limit",
        Role.READ: "-f --file --ignore-file",
    },
)


def _is_computed(word: Word) -> bool:
    """Whether a script comes whole from a variable, not only a pattern within it."""
    return not word.sure and word.text[:1] == "$"


def _sed(call: Call, program: Program) -> None:
    """``sed`` prints; ``-i`` edits, and its own language can write files (``w``) and run programs (``e``)."""
    words = call.words[1:]
    split = Split(words, table_of(program), posix=False, single=False)
    scripts = [value for _, option, value in split.given if option.role is Role.SCRIPT and value is not None]
    if not scripts and not any(
        name == "f" or (len(name) > 1 and "file".startswith(name)) for name, _, _ in split.given
    ):
        scripts = split.operands[:1]
    sandboxed = any(name == "sandbox" for name in split.strays)
    for script in scripts:
        if not sandboxed:
            _sed_script(call, script)
    by_row(call, program, words)


def _sed_script(call: Call, word: Word) -> None:
    """Read a sed script for what writes and runs."""
    runs, files = sed_commands(word.text)
    for line in runs:
        call.unseen("sed runs a program")
        if line:
            shell_line(call, Word(line, word.sure))
    for file in files:
        if file not in {"/dev/stdout", "/dev/stderr"}:
            call.path("file.write", Word(file, word.sure))
    if word.runs or _is_computed(word):
        call.unseen("the sed script is computed")


def sed_commands(script: str) -> tuple[list[str], list[str]]:
    """Return the shell lines and the files that a sed script names; one pass over the text."""
    runs: list[str] = []
    files: list[str] = []
    place, size = 0, len(script)
    while place < size:
        char = script[place]
        if char in "/\\" and (char == "/" or place + 1 < size):
            mark = "/" if char == "/" else script[place + 1]
            place = _past(script, place + (1 if char == "/" else 2), mark)
        elif char in {"s", "y"}:
            place = _substitution(script, place, runs, files)
        elif char in "ewWrRaicbtT:#":
            stop = script.find("\n", place)
            stop = size if stop < 0 else stop
            if char in "btT":
                semicolon = script.find(";", place)
                stop = min(stop, semicolon if semicolon >= 0 else size)
            rest = script[place + 1 : stop].strip()
            if char == "e":
                runs.append(rest)
            elif char in "wW":
                files.append(rest)
            place = stop + 1
        else:
            place += 1
    return runs, files


def _past(script: str, place: int, mark: str) -> int:
    """Return the place behind the next unescaped ``mark``; inside brackets it does not count."""
    size = len(script)
    inside = False
    while place < size:
        char = script[place]
        if char == "\\":
            place += 2
            continue
        if char == "[" and not inside and "]" in script[place + 2 : place + 60]:
            inside = True
        elif char == "]" and inside:
            inside = False
        elif char == mark and not inside:
            return place + 1
        place += 1
    return size


def _substitution(script: str, place: int, runs: list[str], files: list[str]) -> int:
    """Read ``s/a/b/flags``: flag ``e`` runs the result, ``w`` writes it."""
    if place + 1 >= len(script):
        return place + 1
    mark = script[place + 1]
    if mark in "\n \\":
        return place + 1
    kind = script[place]
    place = _past(script, place + 2, mark)
    place = _past(script, place, mark)
    while kind == "s" and place < len(script) and script[place] in "gpiImMewW0123456789":
        if script[place] == "e":
            runs.append("")
        elif script[place] in "wW":
            stop = script.find("\n", place)
            stop = len(script) if stop < 0 else stop
            files.append(script[place + 1 : stop].strip())
            return stop
        place += 1
    return place


_AWK_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_AWK_REGEX = re.compile(r"(?<=[~(,{;!&|\s])/(?:[^/\\\n]|\\.)+/|^/(?:[^/\\\n]|\\.)+/")
_AWK_RUNS = re.compile(r"\bsystem\s*\(|\|&?\s*getline|\|\s*getline|@load\b|@include\b|\bextension\s*\(")
_AWK_TARGET = re.compile(r'>>?\s*"((?:[^"\\\n]|\\.)*)"')
_AWK_PRINTS = re.compile(r"\bprintf?\b[^;}\n]*")


def _awk(call: Call, program: Program) -> None:
    """``awk`` prints; its language can run programs, write files and open sockets."""
    words = call.words[1:]
    split = Split(words, table_of(program), posix=True, single=False)
    scripts = [value for _, option, value in split.given if option.role is Role.SCRIPT and value is not None]
    from_file = [
        value
        for name, _, value in split.given
        if name in {"f", "file", "E", "exec", "i", "include", "l", "load"} and value
    ]
    operands = split.operands
    call.effect("file.read")
    for _, option, value in split.given:
        if option.role is Role.WRITE and value is not None:
            call.path("file.write", value)
    for value in from_file:
        if value.text in {"inplace", "/inplace"} or value.text.endswith("inplace"):
            for word in operands[1:]:
                call.path("file.write", word)
        else:
            call.unseen("an awk program from a file", "script.run")
            call.path("script.run", value)
    programs_in_files = any(name in {"f", "file", "E", "exec"} for name, _, _ in split.given)
    if not scripts and not programs_in_files:
        scripts, operands = operands[:1], operands[1:]
    for script in scripts:
        _awk_script(call, script)
    for word in operands:
        if "=" not in word.text:
            call.path("file.read", word)


_ENVIRON = re.compile(r"\bENVIRON\b(?:\s*\[\s*\"([A-Za-z_]\w*)\"\s*\])?")
_JQ_ENV = re.compile(r"(?:\$ENV|(?<![\w.$])(?:env|strenv|envsubst))\b(?:\.([A-Za-z_]\w*)|\(\s*([A-Za-z_]\w*)\s*\))?")


def _environment(call: Call, pattern: re.Pattern[str], text: str) -> None:
    """Note where a script reads the environment: all of it, or a variable that is probably a secret."""
    for found in pattern.finditer(text):
        name = next((group for group in found.groups() if group), "")
        if not name or SECRET.search(name):
            call.path("system.read", Word(ENVIRONMENT))
            return


def _jq(call: Call, program: Program) -> None:
    """``jq`` and ``yq`` print; ``env`` and ``$ENV`` in their language are the environment."""
    split = by_row(call, program, call.words[1:])
    for word in split.operands[:2]:
        if "env" in word.text or "ENV" in word.text:
            _environment(call, _JQ_ENV, _AWK_STRING.sub('"', word.text))


def _awk_script(call: Call, word: Word) -> None:
    text = word.text
    _environment(call, _ENVIRON, text)
    strings = _AWK_STRING.findall(text)
    bare = _AWK_REGEX.sub(" ", _AWK_STRING.sub('"', text))
    runs = _AWK_RUNS.search(bare) is not None or word.runs or _is_computed(word)
    if runs:
        call.unseen("awk runs a program")
        for line in strings:
            if " " in line or line.startswith("/"):
                shell_line(call, Word(line.replace('\\"', '"'), word.sure))
    pipes = writes = False
    for statement in _AWK_PRINTS.findall(bare):
        outside = _outside_parentheses(statement)
        pipes = pipes or "|" in outside.replace("||", "")
        writes = writes or ">" in outside.replace(">=", "")
    if "|&" in bare or any(line.startswith("/inet") for line in strings):
        _awk_sockets(call, strings)
    if pipes:
        call.unseen("awk pipes into a program")
        for line in strings:
            shell_line(call, Word(line, word.sure))
    if writes:
        _awk_files(call, text)


def _awk_sockets(call: Call, strings: list[str]) -> None:
    """``/inet/tcp/0/host/80`` reaches a host; a co-process that no string names may reach any."""
    call.unverified("web.post", TargetKind.DOMAINS)
    for line in strings:
        parts = line.split("/")
        if line.startswith("/inet") and len(parts) > 4:
            call.host("web.post", Word(parts[4]))


def _awk_files(call: Call, text: str) -> None:
    """``print > "f"`` writes f; a computed name is unverified, the standard streams are no files."""
    targets = _AWK_TARGET.findall(text)
    for target in targets:
        if target not in {"/dev/stderr", "/dev/stdout", "/dev/null", "/dev/tty"}:
            call.path("file.write", Word(target))
    if not targets:
        call.unverified("file.write", TargetKind.PATHS)


def _outside_parentheses(text: str) -> str:
    depth = 0
    out: list[str] = []
    for char in text:
        if char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
        elif depth <= 0:
            out.append(char)
    return "".join(out)


_AWK = Program(
    "file.read",
    options={
        Role.TEXT: "-F --field-separator -v --assign",
        Role.READ: "-f --file -E --exec -i --include -l --load",
        Role.SCRIPT: "-e --source",
        Role.WRITE: "-o? --pretty-print? -d? --dump-variables? -p? --profile?",
    },
    hook=_awk,
)


_GREPS = frozenset("grep egrep fgrep zgrep bzgrep xzgrep pcregrep pcre2grep ugrep".split())


def _envsubst(call: Call, _program: Program) -> None:
    """``envsubst`` prints the variables that its input names; a list of harmless ones as its argument bounds that."""
    call.effect("system.read")
    names = [name for word in call.words[1:] for name in re.findall(r"\$\{?(\w+)", word.text)]
    shown = names or re.findall(r"\$\{?(\w+)", call.stdin or "")
    if any(SECRET.search(name) for name in shown):
        call.path("system.read", Word(ENVIRONMENT))


def _dc(call: Call) -> None:
    """In ``dc`` a ``!`` runs a program, and its input is a program of its own."""
    hidden = (call.piped and call.stdin is None) or (len(call.words) > 1 and call.words[1].text[:1] != "-")
    if hidden or any("!" in text for text in [*[word.text for word in call.words], call.stdin or ""]):
        call.unseen("dc can run a program")


PROGRAMS = {
    **rows("grep egrep fgrep zgrep bzgrep xzgrep pcregrep pcre2grep ugrep", _GREP),
    "rg": _RG,
    "ripgrep": _RG,
    **rows(
        "ag ack pt sift",
        Program(
            "file.read",
            operands=(Role.TEXT,),
            rest=Role.TARGET,
            options={
                Role.RUN: "--pager",
                Role.WRITE: "--output",
                Role.TEXT: "-A -B -C -G -m --ignore --type --type-set --depth",
                Role.READ: "-p --path-to-ignore",
                Role.UNSEEN: "--ackrc",
            },
        ),
    ),
    "sed": Program(
        "file.read",
        operands=(Role.TEXT,),
        rest=Role.TARGET,
        options={Role.SCRIPT: "-e --expression", Role.UNSEEN: "-f --file", Role.TEXT: "-l --line-length"},
        also={"file.write": "-i? --in-place?"},
        hook=_sed,
    ),
    **rows("awk gawk mawk nawk goawk", _AWK),
    "jq": Program(
        "file.read",
        operands=(Role.TEXT,),
        rest=Role.TARGET,
        options={
            Role.TEXT: "--arg# --argjson# --indent --tab!",
            Role.READ: "--slurpfile# --rawfile# -L",
            Role.SCRIPT: "-f --from-file",
            Role.FLAG: "--slurp --args --raw",
        },
        hook=_jq,
    ),
    **rows(
        "yq",
        Program(
            "file.read",
            operands=(Role.TEXT,),
            rest=Role.TARGET,
            options={
                Role.TEXT: "-o --output-format -p --input-format -I --indent --prettyPrint! -s --split-exp",
                Role.SCRIPT: "--from-file --expression",
            },
            also={"file.write": "-i --inplace --in-place"},
            hook=_jq,
        ),
    ),
    **rows("gojq jaq", Program("file.read", operands=(Role.TEXT,), rest=Role.TARGET, options={Role.TEXT: "--arg# --argjson# --indent", Role.READ: "--slurpfile# --rawfile# -L -f --from-file", Role.FLAG: "--slurp --args"}, hook=_jq)),
    **rows(
        "gron dasel htmlq pup xq csvcut csvgrep csvlook csvstat csvsort csvjson in2csv csvkit",
        Program("file.read", operands=(Role.TEXT,), rest=Role.TARGET),
    ),
    "xmllint": Program(
        "file.read",
        rest=Role.TARGET,
        options={
            Role.WRITE: "--output -o",
            Role.TEXT: "--xpath --encode --pattern",
            Role.READ: "--schema --dtdvalid --relaxng",
        },
        single=True,
    ),
    "xsltproc": Program(
        "file.read",
        rest=Role.TARGET,
        options={Role.WRITE: "-o --output", Role.TEXT: "--param --stringparam"},
        sure=True,
    ),
    "mlr": Program("file.read", rest=Role.TEXT, also={"file.write": "-I"}),
    "tr": Program("system.read"),
    "envsubst": Program("system.read", hook=_envsubst),
    "bc": Program("system.read", rest=Role.READ, options={Role.TEXT: "-e"}),
    "dc": Program(
        "system.read", rest=Role.READ, options={Role.TEXT: "-e --expression", Role.UNSEEN: "-f --file"}, before=_dc
    ),
    "sd": Program(
        "file.write",
        operands=(Role.TEXT, Role.TEXT),
        rest=Role.TARGET,
        options={Role.TEXT: "-n -f --flags --max-replacements"},
        instead={"file.read": "-p --preview"},
    ),
    "ast-grep": Program(
        "file.read",
        options={Role.TEXT: "-p --pattern -l --lang -r --rewrite", Role.UNSEEN: "-c --config"},
        also={"file.write": "-U --update-all -i --interactive"},
    ),
    "pandoc": Program(
        "file.read",
        rest=Role.TARGET,
        options={
            Role.WRITE: "-o --output --log",
            Role.RUN: "-F --filter -L --lua-filter --pdf-engine",
            Role.TEXT: "-f --from -t --to -M --metadata -V --variable --toc-depth",
            Role.READ: "--template -H -B -A -c --bibliography --csl --reference-doc",
            Role.UNSEEN: "-d --defaults --data-dir",
        },
    ),
}
