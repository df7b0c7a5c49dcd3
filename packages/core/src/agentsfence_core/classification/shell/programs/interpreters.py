"""Interpreters: code in the command is read for what it shows, scripts are named, both stay unverified."""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

import re

from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.engine import apply, by_row, script
from agentsfence_core.classification.shell.programs import program_named
from agentsfence_core.classification.shell.rows import Program, Role, rows
from agentsfence_core.classification.shell.words import Word

_FIELDS_OF = {
    # language: (options with code, options with a value, options without a script behind them)
    "python": ("c", "WXQ", frozenset({"-V", "--version", "-VV", "-h", "--help"})),
    "javascript": ("ep", "rC", frozenset({"-v", "--version", "-h", "--help"})),
    "perl": ("eE", "", frozenset({"-v", "-V", "--version", "--help", "-h"})),
    "ruby": ("e", "rCEIKTWx", frozenset({"-v", "--version", "--help", "-h"})),
    "php": ("rBRE", "cdgtSz", frozenset({"-v", "--version", "-m", "-i", "-h", "--ini"})),
    "lua": ("e", "l", frozenset({"-v"})),
    "r": ("e", "", frozenset({"--version"})),
    "other": ("e", "", frozenset({"--version", "-version", "-v"})),
}
_EDITS = re.compile(r"-[nplaws0]{0,8}i")
_LONG_CODE = frozenset({"--eval", "--print", "--execute", "--expression", "-eval"})
_PRELOADS = ("-r", "--require", "--import", "--loader", "--experimental-loader", "--env-file")
_LONG_VALUE = frozenset({"--require", "--import", "--loader", "--experimental-loader", "--conditions", "--env-file"})


def code(call: Call, text: Word, language: str) -> None:
    """Add what code shows that it does; the code itself is unverified."""
    call.unseen(f"{language} code", "code.exec")
    try:
        from agentsfence_core.classification.code import read_code  # noqa: PLC0415  (lazy: rarely needed)
    except ImportError:  # pragma: no cover  (a partial installation: the code stays unverified)
        return
    call.foreign(read_code(text.text, language))


def interpreter(language: str) -> Program:
    """Return a row for an interpreter."""

    def hook(call: Call, _program: Program) -> None:
        _interpret(call, language)

    return Program("code.exec", hook=hook)


def _interpret(call: Call, language: str) -> None:
    """Read an interpreter's own options up to code, module, script or standard input."""
    codes, valued, harmless = _FIELDS_OF[language]
    words = call.words[1:]
    place = 0
    found = False
    while place < len(words):
        word = words[place]
        option = word.text
        if option in harmless and len(words) == 1:
            call.effect("system.read")
            return
        if not word.sure or len(option) < 2 or option[0] != "-":
            break
        place += 1
        if option == "--":
            break
        if option.startswith("--") or option in _LONG_CODE:
            place, used = _long(call, words, place, option, language)
            found = found or used
            continue
        if language == "python" and "m" in option[1:] and not set(option[1 : option.index("m")]) & set("cWXQ"):
            glued = option[option.index("m") + 1 :]
            _module(call, [Word(glued), *words[place:]] if glued else words[place:])
            return
        place, used = _bundle(call, words, place, codes, valued, language)
        found = found or used
        if found and language == "python":
            return
    rest = words[place:]
    if found:
        for word in rest if language == "perl" else ():
            call.path("file.write" if _in_place(words) else "file.read", word)
        return
    _script_or_input(call, rest, language)


def _in_place(words: list[Word]) -> bool:
    return any(_EDITS.match(word.text) for word in words)


def _long(call: Call, words: list[Word], place: int, option: str, language: str) -> tuple[int, bool]:
    name, equals, _ = option.partition("=")
    if name in _LONG_CODE:
        text = words[place - 1].after(len(name) + 1) if equals else (words[place] if place < len(words) else Word(""))
        code(call, text, language)
        return place if equals else place + 1, True
    if name in _LONG_VALUE:
        call.unseen("foreign code is loaded first", "code.exec")
        return place if equals else place + 1, False
    if name in {"--test", "--check"} and any(word.text.startswith(_PRELOADS) for word in words):
        call.unseen("foreign code is loaded first", "code.exec")
    if language == "javascript" and name == "--test":
        call.effect("test.run")
        return len(words), True
    if language == "javascript" and name == "--check":
        call.effect("file.read")
        return len(words), True
    return place, False


def _bundle(call: Call, words: list[Word], place: int, codes: str, valued: str, language: str) -> tuple[int, bool]:
    """Read ``-pie code`` or ``-c code``."""
    option = words[place - 1].text
    for index in range(1, len(option)):
        letter = option[index]
        if letter in codes:
            glued = words[place - 1].after(index + 1)
            if glued.text and language not in {"python", "perl"}:
                glued = Word("")
            text = glued if glued.text else (words[place] if place < len(words) else Word(""))
            code(call, text, language)
            if language == "perl" and _in_place(words[:place]):
                call.effect("file.write")
            return place if glued.text else place + 1, True
        if letter in valued:
            if letter in "rlC" and language in {"javascript", "ruby", "lua"}:
                call.unseen("foreign code is loaded first", "code.exec")
            return place if index + 1 < len(option) else place + 1, False
    return place, False


def _script_or_input(call: Call, rest: list[Word], language: str) -> None:
    if rest and rest[0].text != "-":
        script(call, rest[0], rest[1:])
    elif call.stdin is not None:
        code(call, Word(call.stdin), language)
    else:
        call.unseen("an interpreter that runs what arrives", "code.exec")


_MODULES: dict[str, Program] = {
    "json.tool": Program("file.read", operands=(Role.TARGET, Role.WRITE), options={Role.TEXT: "--indent"}),
    "venv": Program("file.write", rest=Role.TARGET, options={Role.TEXT: "--prompt"}),
    "virtualenv": Program("file.write", rest=Role.TARGET, options={Role.TEXT: "-p --python --prompt"}),
    "py_compile": Program("file.write", rest=Role.READ),
    "compileall": Program("file.write", rest=Role.READ),
    "zipfile": Program("file.archive", rest=Role.READ, instead={"file.read": "-l --list -t --test"}),
    "tarfile": Program("file.archive", rest=Role.READ, instead={"file.read": "-l --list -t --test"}),
    "http.server": Program("process.control", rest=Role.TEXT),
    "site": Program("system.read"),
    "sysconfig": Program("system.read"),
    "platform": Program("system.read"),
    "this": Program("system.read"),
    "calendar": Program("system.read"),
    "ast": Program("file.read", rest=Role.TARGET),
    "tokenize": Program("file.read", rest=Role.TARGET),
    "dis": Program("file.read", rest=Role.TARGET),
    "base64": Program("file.read", rest=Role.TARGET),
    "unittest": Program("test.run", rest=Role.TARGET, options={Role.TEXT: "-k -p --pattern -s --start-directory -t"}),
    "doctest": Program("test.run", rest=Role.TARGET, options={Role.TEXT: "-o"}),
    "build": Program("build.run", rest=Role.TARGET),
    "smtpd": Program("process.control"),
}
_PLAIN_TOOLS = frozenset(
    """pip pytest mypy ruff black isort flake8 pylint coverage tox nox build twine bandit pyright pre_commit sphinx
    mkdocs poetry uv pipx ensurepip nose2 yapf autopep8 pycodestyle pydocstyle vulture""".split()
)


_OWN = {"agentsfence": "agentsfence", "agentsfence_cli": "agentsfence", "hermes_cli": "hermes", "hermes": "hermes"}


def _is_tool(name: str) -> bool:
    return name in _PLAIN_TOOLS or name.partition(".")[0] in _OWN


def _module(call: Call, words: list[Word]) -> None:
    """``python -m name``: a tool with a row is that tool, anything else is a script named by its module."""
    if not words or not words[0].literal:
        call.unseen("a computed module", "code.exec")
        return
    name = words[0].text
    row = _MODULES.get(name)
    if row is not None:
        by_row(call, row, words[1:])
        return
    tool = program_named(_OWN.get(name.partition(".")[0], name.replace("_", "-"))) if _is_tool(name) else None
    if tool is not None:
        inner = Call(call.scan, words, call.stdin, piped=call.piped)
        inner.drafts = call.drafts
        apply(inner, tool)
        return
    call.unseen(f"module {name[:40]}", "script.run")
    call.value("script.run", "module", name[:80])


_DENO_ROWS = {
    "test": Program("test.run", rest=Role.TARGET),
    "bench": Program("test.run", rest=Role.TARGET),
    "fmt": Program("lint.run", rest=Role.TARGET),
    "lint": Program("lint.run", rest=Role.TARGET),
    "check": Program("lint.run", rest=Role.TARGET),
    "doc": Program("file.read", rest=Role.TARGET),
    "info": Program("system.read"),
    "types": Program("system.read"),
    "run": Program("script.run", operands=(Role.TARGET,), sure=False),
    "eval": Program("code.exec", sure=False),
    "task": Program("script.run", operands=(Role.OBJECT,), sure=False),
    "compile": Program("build.run", rest=Role.TARGET),
    "bundle": Program("build.run", rest=Role.TARGET),
    **rows("install add cache", Program("package.install", rest=Role.OBJECT, kind="package")),
    **rows("uninstall remove", Program("package.remove", rest=Role.OBJECT, kind="package")),
    "publish": Program("package.publish"),
    "deploy": Program("deploy.run"),
    "upgrade": Program("package.install"),
}


def _java(call: Call, program: Program) -> None:
    if len(call.words) == 2 and call.words[1].text in {"-version", "--version"}:
        call.effect("system.read")
    else:
        by_row(call, program, call.words[1:])


PROGRAMS = {
    **rows("python pypy ipython jython", interpreter("python")),
    **rows("node nodejs tsx ts-node", interpreter("javascript")),
    "deno": Program("script.run", subcommands=_DENO_ROWS),
    "perl": interpreter("perl"),
    "ruby": interpreter("ruby"),
    "jruby": interpreter("ruby"),
    "php": interpreter("php"),
    **rows("lua luajit", interpreter("lua")),
    "Rscript": interpreter("r"),
    "R": interpreter("r"),
    **rows("julia elixir groovy scala ocaml guile racket clojure clj sbcl erl swipl octave tclsh expect ghci runghc jshell "
           "kotlinc-jvm jruby crystal raku osascript nim dart", interpreter("other")),
    "java": Program("script.run", operands=(Role.TARGET,), options={Role.UNSEEN: "-cp -classpath --class-path -javaagent -agentlib -agentpath", Role.TARGET: "-jar"}, sure=False, single=True, instead={"system.read": "-version --version"}, hook=_java),
    "javap": Program("file.read", rest=Role.TARGET, options={Role.TEXT: "-cp -classpath"}, single=True),
}  # fmt: skip
