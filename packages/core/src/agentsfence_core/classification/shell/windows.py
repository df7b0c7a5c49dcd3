"""PowerShell and cmd: a conservative table over a linear tokenizer.

Rules of this file:

* Known readers read, known writers write; whatever the tokenizer does not fully understand (``$(``, ``&``, script
  blocks, splatting, ``iex``) is unverified execution beside what is visible.
* Options of PowerShell are data here: the verb of the cmdlet decides, operands are its paths.
"""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

import re

from agentsfence_core.classification.shell.call import ENVIRONMENT, Call, Scan
from agentsfence_core.classification.shell.engine import run, visible_targets
from agentsfence_core.classification.shell.words import Word
from agentsfence_core.limits import LIMITS

_TOKEN = re.compile(
    r"""'(?:[^']|'')*'?|"(?:[^"`]|`.|"")*"?|`.|\d?>>?(?:&\d)?|\|\||&&|[|;&(){}\n]|[^\s'"`|;&(){}>]+""", re.DOTALL
)
_ALIASES = {
    **dict.fromkeys("ls dir gci".split(), "get-childitem"),
    **dict.fromkeys("cat type gc".split(), "get-content"),
    **dict.fromkeys("rm del erase ri rd rmdir".split(), "remove-item"),
    **dict.fromkeys("cp copy cpi".split(), "copy-item"),
    **dict.fromkeys("mv move mi".split(), "move-item"),
    **dict.fromkeys("ren rni".split(), "rename-item"),
    **dict.fromkeys("ni md mkdir".split(), "new-item"),
    **dict.fromkeys("sc".split(), "set-content"),
    **dict.fromkeys("ac".split(), "add-content"),
    **dict.fromkeys("clc".split(), "clear-content"),
    **dict.fromkeys("echo write".split(), "write-output"),
    **dict.fromkeys("cd chdir sl".split(), "set-location"),
    **dict.fromkeys("pwd gl".split(), "get-location"),
    **dict.fromkeys("ps gps".split(), "get-process"),
    **dict.fromkeys("kill spps".split(), "stop-process"),
    **dict.fromkeys("irm".split(), "invoke-restmethod"),
    **dict.fromkeys("iwr wget curl".split(), "invoke-webrequest"),
    **dict.fromkeys("iex".split(), "invoke-expression"),
    **dict.fromkeys("icm".split(), "invoke-command"),
    **dict.fromkeys("select".split(), "select-object"),
    **dict.fromkeys("where ?".split(), "where-object"),
    **dict.fromkeys("foreach %".split(), "foreach-object"),
    **dict.fromkeys("sort".split(), "sort-object"),
    **dict.fromkeys("measure".split(), "measure-object"),
    **dict.fromkeys("sls".split(), "select-string"),
    **dict.fromkeys("ft fl fw".split(), "format-table"),
    **dict.fromkeys("saps start".split(), "start-process"),
    **dict.fromkeys("gsv".split(), "get-service"),
    **dict.fromkeys("sasv".split(), "start-service"),
    **dict.fromkeys("spsv".split(), "stop-service"),
    **dict.fromkeys("tee".split(), "tee-object"),
    **dict.fromkeys("gi".split(), "get-item"),
    **dict.fromkeys("gp".split(), "get-itemproperty"),
    **dict.fromkeys("sp".split(), "set-itemproperty"),
    **dict.fromkeys("gm".split(), "get-member"),
    **dict.fromkeys("gcm".split(), "get-command"),
    **dict.fromkeys("diff compare".split(), "compare-object"),
}
_READ_VERBS = (
    "get-",
    "select-",
    "measure-",
    "test-",
    "compare-",
    "format-",
    "sort-",
    "group-",
    "where-",
    "convertto-",
    "convertfrom-",
    "resolve-",
    "find-",
    "show-",
    "out-string",
    "out-host",
    "out-null",
    "out-default",
    "write-",
    "join-",
    "split-",
    "wait-",
    "read-host",
    "search-",
    "trace-",
)
_ROWS = {
    "remove-item": "file.delete", "clear-content": "file.delete", "clear-item": "file.delete", "clear-recyclebin": "file.delete",
    "remove-itemproperty": "file.delete", "format-volume": "file.delete", "clear-disk": "file.delete", "initialize-disk": "file.delete",
    "set-content": "file.write", "add-content": "file.write", "out-file": "file.write", "new-item": "file.write", "tee-object": "file.write",
    "export-csv": "file.write", "export-clixml": "file.write", "set-item": "file.write", "expand-archive": "file.archive",
    "compress-archive": "file.archive", "copy-item": "file.copy", "move-item": "file.move", "rename-item": "file.move",
    "set-itemproperty": "system.configure", "new-itemproperty": "system.configure", "set-executionpolicy": "system.configure",
    "set-acl": "file.permissions", "stop-process": "process.control", "start-service": "process.control", "stop-service": "process.control",
    "restart-service": "process.control", "set-service": "system.configure", "restart-computer": "system.configure",
    "stop-computer": "system.configure", "install-module": "package.install", "install-package": "package.install",
    "uninstall-module": "package.remove", "uninstall-package": "package.remove", "send-mailmessage": "email.send",
    "register-scheduledtask": "schedule.create", "unregister-scheduledtask": "schedule.delete", "set-location": "system.read",
    "push-location": "system.read", "pop-location": "system.read", "start-sleep": "system.read", "clear-host": "system.read",
    "import-csv": "file.read", "import-clixml": "file.read", "set-variable": "system.read", "new-object": "code.exec",
    "add-localgroupmember": "access.grant", "new-localuser": "access.grant", "remove-localuser": "account.delete",
}  # fmt: skip
_CMD = {
    **dict.fromkeys("dir type more find findstr where tree ver vol hostname whoami ipconfig systeminfo tasklist fc comp sort cls cd chdir echo rem netstat pause title".split(), "file.read"),
    **dict.fromkeys("del erase rd rmdir".split(), "file.delete"), **dict.fromkeys("format diskpart cipher".split(), "file.delete"),
    **dict.fromkeys("copy xcopy robocopy".split(), "file.copy"), **dict.fromkeys("move ren rename".split(), "file.move"),
    **dict.fromkeys("md mkdir".split(), "folder.create"), **dict.fromkeys("icacls takeown attrib cacls".split(), "file.permissions"),
    **dict.fromkeys("taskkill sc".split(), "process.control"), **dict.fromkeys("shutdown reg setx net netsh bcdedit assoc ftype".split(), "system.configure"),
    "schtasks": "schedule.create", "mklink": "file.write", "ping": "web.read", "nslookup": "web.read", "tracert": "web.read",
}  # fmt: skip
_FILTER = re.compile(
    r"\{\s{0,9}\$_(?:\.\w{1,40}){0,4}\s{0,9}"
    r"(?:-(?:gt|lt|eq|ne|ge|le|like|notlike|match|notmatch|contains|in)\s{1,9}(?:'[^'\n]{0,200}'|\"[^\"$`\n]{0,200}\"|[\w.*-]{1,80})\s{0,9})?\}",
    re.IGNORECASE,
)
"""A script block that only compares: ``{ $_.Length -gt 1MB }``."""
_ON_PATHS = frozenset(
    """get-content get-childitem get-item get-itemproperty select-string test-path resolve-path get-filehash get-acl
    format-hex compare-object import-csv import-clixml""".split()
)
_CONTROL = frozenset({"if", "for", "else", "do", "call", "start", "forfiles"})
_WRITES = frozenset({">", ">>", "1>", "1>>", "2>", "2>>", "*>", "3>"})


def read_windows(scan: Scan, text: str, grammar: str) -> None:
    """Read a PowerShell or cmd line into ``scan``."""
    if len(text) > LIMITS.command_bytes:
        scan.unreadable("longer than is read", text)
        return
    text = text.replace("^", "") if grammar == "cmd" else _FILTER.sub(" ", text)
    words: list[Word] = []
    operators = 0
    odd = ""
    for match in _TOKEN.finditer(text):
        piece = match[0]
        if piece in {"|", "||", "&&", ";", "\n"} or (piece == "&" and grammar == "cmd"):
            operators += 1
            _one(scan, words, grammar)
            words = []
            if operators > LIMITS.command_operators:
                scan.unreadable("too many operators", text)
                return
        elif piece in "(){}&":
            odd = odd or piece
            if words and piece != "&":
                _one(scan, words, grammar)
                words = []
        else:
            words.append(_word(piece, grammar))
    _one(scan, words, grammar)
    if _is_odd(text, odd, grammar):
        scan.invocation += 1
        scan.unreadable("an expression that is not read", text)


def _is_odd(text: str, odd: str, grammar: str) -> bool:
    if grammar == "cmd":
        return "%" in text or bool(odd and odd in "(){}" and re.search(r"\bfor\b|\bif\b", text, re.IGNORECASE))
    return (
        bool(odd)
        or "$(" in text
        or re.search(r"@\w|\[\w+(?:\.\w+)*\]::|\$\w+\s*=|`|(?:^|[;|\n])\s*\.\s", text) is not None
    )


def _word(token: str, grammar: str) -> Word:
    if token[0] == "'" and grammar != "cmd":
        return Word(token[1:-1] if token.endswith("'") else token[1:])
    if token[0] == '"':
        inside = token[1:-1] if token.endswith('"') and len(token) > 1 else token[1:]
        return Word(inside, "$" not in inside and "%" not in inside)
    return Word(token, "$" not in token and "%" not in token, "*" in token or "?" in token)


def _one(scan: Scan, words: list[Word], grammar: str) -> None:
    """Read one command."""
    if not words or (words[0].text.startswith("$") and len(words) > 1 and words[1].text == "="):
        return
    kept, targets = _redirections(words)
    scan.invocation += 1
    call = Call(scan, kept or words)
    for target in targets:
        if target.text.lower() not in {"$null", "nul"}:
            call.path("file.write", target)
    if kept:
        name = kept[0].text.lower()
        if not kept[0].sure or "*" in name:
            call.unseen("the command's name is computed")
        elif grammar == "cmd":
            _cmd(call, name.rpartition("\\")[2].removesuffix(".exe"))
        else:
            _powershell(call, _ALIASES.get(name, name.removesuffix(".exe")))
    call.finish()


def _redirections(words: list[Word]) -> tuple[list[Word], list[Word]]:
    kept: list[Word] = []
    targets: list[Word] = []
    skip = False
    for place, word in enumerate(words):
        if skip:
            skip = False
        elif word.text in _WRITES:
            if place + 1 < len(words):
                targets.append(words[place + 1])
                skip = True
        elif not re.fullmatch(r"\d?>&\d", word.text):
            kept.append(word)
    return kept, targets


def _powershell(call: Call, name: str) -> None:
    words = call.words[1:]
    operands = [word for word in words if not word.text.startswith("-")]
    if name in {"invoke-restmethod", "invoke-webrequest"}:
        _web(call, words)
    elif name in {"powershell", "pwsh"}:
        _inner(call, words, "powershell")
    elif name == "cmd":
        _inner(call, words, "cmd")
    elif name in _ROWS:
        _targets(call, _ROWS[name], operands)
        if name == "new-object":
            call.unseen("an object of another library", "code.exec")
    elif name.startswith(_READ_VERBS):
        _targets(call, "file.read" if name in _ON_PATHS else "system.read", operands)
    elif name in _CMD and name not in {"sort", "where", "echo", "start", "type", "copy", "move"}:
        _cmd(call, name)
    elif "-" in name or name.startswith((".", "[", "$")):
        call.unseen(f"{name[:40]} is not a known cmdlet")
        visible_targets(call, words)
    else:
        call.words[0] = Word(name)
        run(call)


def _targets(call: Call, capability: str, operands: list[Word]) -> None:
    call.effect(capability)
    for word in operands:
        if word.text.lower().startswith(("env:", "$env:")):
            call.path("system.read", Word(ENVIRONMENT))
        elif capability.startswith(("file.", "folder.")) and not word.text.startswith("@"):
            call.path(capability, word)


def _web(call: Call, words: list[Word]) -> None:
    """``Invoke-RestMethod``: a method, a body or a file to send makes it a write; ``-OutFile`` saves."""
    sends = False
    url: Word | None = None
    for place, word in enumerate(words):
        name = word.text.lower()
        value = words[place + 1] if place + 1 < len(words) else None
        if name.startswith(("-meth", "-me")) and value is not None:
            sends = sends or value.text.lower() not in {"get", "head", "options"}
        elif name.startswith(("-bod", "-inf", "-form")):
            sends = True
            if value is not None and name.startswith("-inf"):
                call.path("file.read", value)
        elif name.startswith("-outf") and value is not None:
            call.path("file.download", value)
        elif "://" in word.text or (url is None and name[:1] != "-" and "." in name):
            url = word
    capability = "web.post" if sends else "web.read"
    call.effect(capability)
    if url is not None:
        call.url(capability, url)


def _inner(call: Call, words: list[Word], grammar: str) -> None:
    """``pwsh -c text`` and ``cmd /c text``."""
    for place, word in enumerate(words):
        name = word.text.lower()
        if name.startswith(("-c", "/c", "/k")) and len(name) > 1 and not name.startswith("-con"):
            text = " ".join([w.text for w in words[place + 1 :]])
            scan = call.scan
            if scan.depth > LIMITS.command_nesting:
                call.unseen("nested too deep")
                return
            scan.depth += 1
            read_windows(scan, text, grammar)
            scan.depth -= 1
            return
        if name.startswith(("-e", "-f")):
            break
    call.unseen("a shell that runs what the text does not show")


def _cmd(call: Call, name: str) -> None:
    words = call.words[1:]
    if name in {"powershell", "pwsh"}:
        _inner(call, words, "powershell")
        return
    if name == "cmd":
        _inner(call, words, "cmd")
        return
    if name in _CONTROL:
        _after_control(call, words)
        return
    row = _CMD.get(name)
    operands = [word for word in words if not word.text.startswith(("/", "-"))]
    if row is None:
        call.words[0] = Word(name)
        run(call)
        return
    if name == "schtasks" and any(word.text.lower() == "/delete" for word in words):
        row = "schedule.delete"
    elif (
        name == "net" and operands and operands[0].text.lower() in {"user", "localgroup", "group"} and len(operands) > 1
    ):
        deletes = any(word.text.lower() == "/delete" for word in words)
        row = "account.delete" if deletes else "access.grant"
    elif name == "echo":
        row = "system.read"
    elif name == "reg" and operands and operands[0].text.lower() == "delete":
        row = "file.delete"
    elif (
        name in {"reg", "schtasks", "net", "netsh"}
        and operands
        and operands[0].text.lower() in {"query", "view", "show"}
    ):
        row = "system.read"
    _targets(call, row, operands)


def _after_control(call: Call, words: list[Word]) -> None:
    """``if exist a del a``, ``for %i in (*) do del %i``: the first known command among the words is what may run."""
    call.unseen("a condition or a loop")
    for place, word in enumerate(words):
        name = word.text.lower()
        if name in _CMD and name not in {"more", "sort", "where", "path", "vol", "ver"}:
            inner = Call(call.scan, words[place:])
            inner.drafts = call.drafts
            _cmd(inner, name)
            return
