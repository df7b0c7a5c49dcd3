"""Searching and editing text: grep, sed, awk, jq and their kin."""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

import re
from dataclasses import replace

from agentsfence_core.classification.shell.call import ENVIRONMENT, Call
from agentsfence_core.classification.shell.engine import by_row
from agentsfence_core.classification.shell.environment import SECRET
from agentsfence_core.classification.shell.rows import Program, Role, rows
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


_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"?')
_LOADS = re.compile(r"\bload\w{0,12}\(\s?\"([^\"]{1,400})\"")
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
        for name in _LOADS.findall(word.text):
            call.path("file.read", Word(name, word.sure))
        if "env" in word.text or "ENV" in word.text:
            _environment(call, _JQ_ENV, _STRING.sub('"', word.text))


_GREPS = frozenset("grep egrep fgrep zgrep bzgrep xzgrep pcregrep pcre2grep ugrep".split())


_MLR_WRITES = re.compile(r"\b(?:tee|emit\w*|print\w*|dump)\b[^;{}]{0,400}>|\b(?:system|exec)\s*\(")


def _mlr(call: Call, program: Program) -> None:
    """``mlr`` prints; its verbs ``tee`` and ``split`` write, and its language can write and run."""
    by_row(call, program, call.words[1:])
    for place, word in enumerate(call.words[1:-1], 1):
        if word.text == "tee":
            call.path("file.write", call.words[place + 1])
        elif word.text == "split":
            call.unverified("file.write", TargetKind.PATHS)
    if any(_MLR_WRITES.search(word.text) for word in call.words[1:]):
        call.unseen("a script that writes or runs")


def _pandoc(call: Call, program: Program) -> None:
    """``pandoc`` prints or writes; a reader or writer in Lua is a program."""
    split = by_row(call, program, call.words[1:])
    if any(
        option.role is Role.SCRIPT and value is not None and ".lua" in value.text for _, option, value in split.given
    ):
        call.unseen("a reader or writer in Lua")


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
    **rows("grep egrep fgrep zgrep bzgrep xzgrep pcregrep pcre2grep", _GREP),
    **rows(
        "ugrep ug",
        replace(
            _GREP,
            options={
                **_GREP.options,
                Role.RUN: "--filter --pager? --view? --format-open --format-close",
                Role.WRITE: "--save-config?",
                Role.UNSEEN: "--config?",
            },
        ),
    ),
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
                Role.TEXT: "-o --output-format -p --input-format -I --indent --prettyPrint!",
                Role.SCRIPT: "--from-file --expression",
            },
            also={"file.write": "-i --inplace --in-place -s --split-exp"},
            hook=_jq,
        ),
    ),
    **rows(
        "gojq jaq",
        Program(
            "file.read",
            operands=(Role.TEXT,),
            rest=Role.TARGET,
            options={
                Role.TEXT: "--arg# --argjson# --indent",
                Role.READ: "--slurpfile# --rawfile# -L -f --from-file",
                Role.FLAG: "--slurp --args",
            },
            hook=_jq,
        ),
    ),
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
    "mlr": Program("file.read", rest=Role.TEXT, also={"file.write": "-I"}, hook=_mlr),
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
            Role.WRITE: "-o --output --log --extract-media",
            Role.SCRIPT: "-f --from -t --to -r --read -w --write",
            Role.RUN: "-F --filter -L --lua-filter --pdf-engine",
            Role.TEXT: "-M --metadata -V --variable --toc-depth",
            Role.READ: "--template -H -B -A -c --bibliography --csl --reference-doc",
            Role.UNSEEN: "-d --defaults --data-dir",
        },
        hook=_pandoc,
    ),
}
