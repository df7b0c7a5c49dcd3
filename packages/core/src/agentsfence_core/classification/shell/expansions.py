"""Words of the tree: what a program will receive, as far as the text alone can say, and the variables that help.

Visiting a word visits the commands inside it. `WordReader` reads words; `Walker` (``tree.py``) reads statements.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentsfence_core.classification.shell.call import ENVIRONMENT, Scan
from agentsfence_core.classification.shell.environment import SECRET
from agentsfence_core.classification.shell.syntax import Prepared, restore
from agentsfence_core.classification.shell.words import Word, unescape, unescape_ansi, unescape_double, words_of
from agentsfence_core.limits import LIMITS
from agentsfence_core.model.action import Effect
from agentsfence_core.model.risk import Risk

if TYPE_CHECKING:
    from tree_sitter import Node

_GLOB = re.compile(r"(?<!\\)[*?\[]")
_SPECIAL = re.compile(r"[*?\[\\`]")
_RUNS = re.compile(r"(?<!\\)(?:\\\\){0,8}`")
_VARIABLES = frozenset({"simple_expansion", "expansion"})
_BRACE_LIST = re.compile(r"\{([^{}]*,[^{}]*)\}")
_BRACE_WORDS = 64
_BRACE = re.compile(r"\{[^{}]*(?:,|\.\.)[^{}]*\}")
_PLAIN_NAME = re.compile(r"\$\{?([A-Za-z_]\w*)\}?")
_TRANSFORMED = re.compile(r"@[PEA]\}")
_FOLDERS = {
    "HERMES_HOME": "~/.hermes",
    "XDG_CONFIG_HOME": "~/.config",
    "XDG_DATA_HOME": "~/.local/share",
    "XDG_STATE_HOME": "~/.local/state",
    "XDG_CACHE_HOME": "~/.cache",
}
"""Variables for folders with the place that they usually are; guards must see it, and it stays unverified."""
_DEFAULT = re.compile(r"\$\{\w{1,80}:?[-=]((?:~|/|\./)[^${}`\"']{0,400})\}")
"""A variable with a literal path for a value where it has none."""
_PART = re.compile(r"\$\{!?(\w{1,80})(?!\w|:?\+)")
_INDIRECT = re.compile(r"\$\{!\w{1,80}\}")
"""A variable whose name another one holds."""
TOP = 1
"""Depth of a statement that runs whatever happens: not in a branch, a loop or a function."""


def text_of(node: Node) -> str:
    """Return the source of a node."""
    raw = node.text
    return raw.decode("utf-8", "replace") if raw is not None else ""


def _braces(text: str) -> list[str]:
    """Return the words that ``a{b,c}d`` becomes: one of them may be an option. Beyond a few lists it stays one word."""
    done: list[str] = []
    waiting = [text]
    while waiting and len(done) + len(waiting) < _BRACE_WORDS:
        current = waiting.pop(0)
        found = _BRACE_LIST.search(current)
        if found is None:
            done.append(current)
        else:
            waiting += [current[: found.start()] + part + current[found.end() :] for part in found[1].split(",")]
    return [*done, *waiting]


class WordReader:
    """Reads the words of one tree."""

    __slots__ = ("_depth", "_prepared", "_scan")

    def __init__(self, scan: Scan, prepared: Prepared) -> None:
        """Read for ``scan``."""
        self._scan = scan
        self._prepared = prepared
        self._depth = 0

    def walk(self, node: Node, extra: tuple[Node, ...] = ()) -> None:
        """Visit a node that may hold commands."""
        raise NotImplementedError

    def statements(self, node: Node) -> None:
        """Visit the children of a node."""
        raise NotImplementedError

    def peek(self, node: Node) -> Word | None:
        """Return a literal word without visiting what is in it."""
        if node.type == "command_name":
            node = node.children[0]
        if node.type == "word":
            return self.plain(node)
        if node.type == "raw_string":
            return Word(text_of(node)[1:-1])
        if node.type == "string" and all(child.type in {"string_content", '"'} for child in node.children):
            return Word(unescape_double(text_of(node)[1:-1]))
        return None

    def plain(self, node: Node) -> Word:
        """Return an unquoted word without expansions."""
        text = text_of(node)
        if self._prepared.marked:
            text = restore(text)
        if _SPECIAL.search(text) is None:
            return Word(text)
        if "`" in text and _RUNS.search(text):
            self._scan.unreadable("a backquote that the parser took for text", text)
        glob = text != "[" and _GLOB.search(text) is not None
        return Word(self._scan.load(unescape(text)), True, glob)

    def split(self, node: Node) -> list[Word]:
        """Return the words that one argument becomes: an unquoted variable whose value is known falls apart."""
        word = self.word(node)
        kind = node.type
        if kind in _VARIABLES:
            if word.sure:
                return words_of(word.text.split()) if " " in word.text else [word]
            simple = _PLAIN_NAME.fullmatch(word.text)
            if simple is not None and simple[1] not in self._scan.listed:
                self._scan.open = True
                return [word._replace(open=True)]
        if kind == "concatenation" and word.glob and "{" in word.text:
            return [Word(text, word.sure, True, word.runs) for text in _braces(word.text)]
        return [word]

    def word(self, node: Node) -> Word:
        """Return a word, and visit the commands inside it."""
        kind = node.type
        if kind == "word":
            return self.plain(node)
        text = text_of(node)
        if self._prepared.marked:
            text = restore(text)
        if kind == "raw_string":
            return Word(self._scan.load(text[1:-1]))
        if kind == "string":
            return self._string(node, text)
        if kind == "concatenation":
            return self._joined(node, text)
        if kind in {"simple_expansion", "expansion"}:
            return self._expansion(node, text)
        if kind == "ansi_c_string":
            return Word(self._scan.load(unescape_ansi(text[2:-1])))
        return self._rare(node, text)

    def _rare(self, node: Node, text: str) -> Word:
        """Return a number, a brace list or the place of a substitution."""
        kind = node.type
        if not node.is_named or (kind == "number" and not node.named_child_count):
            return Word(text)
        if kind == "brace_expression":
            return Word(text, True, True)
        self.walk(node)
        if kind == "process_substitution":
            return Word("/dev/fd/63", False, False, True)
        return Word(text, False, False, "substitution" in kind)

    def _string(self, node: Node, text: str) -> Word:
        inside = text[text.find('"') + 1 : -1]
        parts = [child for child in node.named_children if child.type != "string_content"]
        if not parts:
            return Word(self._scan.load(unescape_double(inside)))
        words = [self.word(part) for part in parts]
        raw, base = node.text or b"", node.start_byte
        place = raw.find(b'"') + 1
        out: list[str] = []
        for part, word in zip(parts, words, strict=True):
            out.append(unescape_double(raw[place : part.start_byte - base].decode("utf-8", "replace")))
            out.append(word.text)
            place = part.end_byte - base
        out.append(unescape_double(raw[place:-1].decode("utf-8", "replace")))
        joined = "".join(out)
        return Word(
            restore(joined) if self._prepared.marked else joined,
            all(word.sure for word in words),
            False,
            any(word.runs for word in words),
        )

    def _joined(self, node: Node, text: str) -> Word:
        parts = [self.word(child) for child in node.children]
        glob = any(part.glob for part in parts) or ("{" in text and _BRACE.search(text) is not None)
        return Word(
            "".join([part.text for part in parts]),
            all(part.sure for part in parts),
            glob,
            any(part.runs for part in parts),
        )

    def _expansion(self, node: Node, text: str) -> Word:
        """Return the value of a variable where it is known: the home folder, the current one, a literal set before."""
        scan = self._scan
        simple = _PLAIN_NAME.fullmatch(text)
        if simple is None:
            return self._composed(node, text)
        name = simple[1]
        if name in scan.variables:
            return Word(scan.variables[name])
        if name in scan.assigned:
            return Word(text, False, False, True)
        if name == "HOME":
            return Word("~")
        if name in _FOLDERS:
            return Word(_FOLDERS[name], False)
        if name == "PWD" and len(scan.dirs) == 1 and scan.dirs[0]:
            return Word(scan.dirs[0])
        if SECRET.search(name):
            self._shows_environment(text)
        return Word(text, False)

    def _composed(self, node: Node, text: str) -> Word:
        """Return the value of ``${x:-y}``, ``${x:1:2}``, ``$1``: hardly ever known; what runs in it is visited."""
        scan = self._scan
        if "@" in text and _TRANSFORMED.search(text):
            scan.unreadable("a prompt expansion runs what the variable holds", text)
        if ":" in text and any(child.type == ":" for child in node.children):
            scan.evaluate()  # ``${x:n:m}``: both are arithmetic
        self.statements(node)
        part = _PART.match(text)
        if part is not None and (SECRET.search(part[1]) or _INDIRECT.fullmatch(text)):
            self._shows_environment(text)
        default = _DEFAULT.fullmatch(text)
        if default is not None:
            return Word(default[1], False)
        if text[1:].isdigit() or text not in {"$?", "$#", "$$", "$!"}:
            return Word(text, False, False, any("substitution" in c.type for c in node.named_children))
        return Word("0")

    def _shows_environment(self, text: str) -> None:
        """Note that a variable is used that is probably a secret, or any one."""
        scan = self._scan
        scan.emit(
            Effect("system.read", Risk.READ, paths=(ENVIRONMENT,), invocation=scan.invocation + 1, because=text[:80])
        )

    # -- variables

    def assign(self, node: Node, *, keep: bool = True) -> str:
        """Take note of an assignment; return the name if it changes what programs run."""
        name_node = node.child_by_field_name("name")
        value_node = node.child_by_field_name("value")
        if name_node is None:
            return ""
        if name_node.named_child_count:
            self.statements(name_node)
        name = text_of(name_node).partition("[")[0]
        word = Word("") if value_node is None else self.word(value_node)
        if keep:
            self._keep(name, word, array=value_node is not None and value_node.type == "array")
        return name if self._scan.sets(name, word.text if word.sure else None) else ""

    def _keep(self, name: str, word: Word, *, array: bool) -> None:
        scan = self._scan
        scan.variables.pop(name, None)
        scan.assignments += 1
        if scan.assignments > LIMITS.command_nesting * 4:
            scan.assigned.add(name)
            return
        text = scan.text
        # INVARIANT: a value counts only where nothing else in the command can set the variable.
        uses = text.count(f"${name}") + text.count(f"${{{name}}}")
        if word.literal and not array and self._depth <= TOP and text.count(name) == uses + 1:
            scan.variables[name] = word.text
        elif word.runs or not word.sure:
            scan.assigned.add(name)
