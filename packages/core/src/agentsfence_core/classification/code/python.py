"""Python read by its own parser, within bounds: names behind aliases, strings that are put together.

Only for what the scan cannot see. Code that is too long, too deep or no Python gives nothing here, and loses nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from agentsfence_core.classification.code.calls import Call

_LONGEST: Final = 20_000  # characters that are parsed
_DEEPEST: Final = 40  # brackets, blocks and operators in a row
_NODES: Final = 20_000  # nodes that are visited
_PARTS: Final = 30  # parts of one put-together string
_OPENING: Final = frozenset("([{")
_CLOSING: Final = frozenset(")]}")
_UNARY: Final = frozenset("-+~")
_NESTING: Final = ("lambda", "not ", "**", "await", " else ", "elif")
"""Words that nest without brackets; a parser in C goes one level deeper for each."""


def parsed_calls(text: str) -> tuple[tuple[Call, ...], tuple[str, ...]]:
    """Return the calls of Python code with aliases resolved, and its strings with their parts joined."""
    if (
        len(text) > _LONGEST
        or "\0" in text
        or not _is_shallow(text)
        or any(text.count(word) > 150 for word in _NESTING)
    ):
        return (), ()
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return (), ()
    nodes = []
    for node in ast.walk(tree):
        nodes.append(node)
        if len(nodes) > _NODES:
            break
    aliases = _aliases(nodes)
    calls = tuple(_call(node, aliases) for node in nodes if isinstance(node, ast.Call))
    strings = (_joined(node, _PARTS) for node in nodes if isinstance(node, ast.BinOp | ast.JoinedStr | ast.Call))
    return calls, tuple(text for text in strings if text and text != "~")


def _is_shallow(text: str) -> bool:
    """Whether no bracket is nested and no operator repeated so often that a parser would have to go deep."""
    depth = run = 0
    for character in text:
        if character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
        if character in _UNARY:
            run += 1
        elif not character.isspace():
            run = 0
        if depth > _DEEPEST or run > _DEEPEST:
            return False
    return True


def _aliases(nodes: list[ast.AST]) -> dict[str, str]:
    """Return local name -> full name for everything that is imported."""
    aliases: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for name in node.names:
                aliases[name.asname or name.name.partition(".")[0]] = (
                    name.name if name.asname else name.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                aliases[name.asname or name.name] = f"{node.module}.{name.name}"
    return aliases


def _call(node: ast.Call, aliases: dict[str, str]) -> Call:
    """Return a call with its name resolved and the strings of its arguments."""
    texts = [text for argument in _arguments(node) if (text := _joined(argument, _PARTS))]
    words = frozenset(keyword.arg for keyword in node.keywords if keyword.arg)
    listed = bool(node.args) and isinstance(node.args[0], ast.List | ast.Tuple)
    return Call(_name(node.func, aliases), tuple(texts), listed, words)


def _arguments(node: ast.Call) -> Iterator[ast.expr]:
    """Yield the arguments of a call, those of a list one by one."""
    for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
        if isinstance(argument, ast.List | ast.Tuple):
            yield from argument.elts
        else:
            yield argument


def _name(node: ast.expr, aliases: dict[str, str]) -> str:
    """Return the dotted name that an expression is, aliases resolved; a call in front counts as its name."""
    parts: list[str] = []
    for _ in range(12):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        else:
            break
    if isinstance(node, ast.Name):
        parts.append(aliases.get(node.id, node.id))
    return ".".join(reversed(parts))


def _joined(node: ast.AST, left: int) -> str:
    """Return the string that an expression is, as far as it is written; unknown parts are left out."""
    if left <= 0:
        return ""
    if isinstance(node, ast.Constant):
        value = node.value
        return value if isinstance(value, str) else value.decode("latin-1") if isinstance(value, bytes) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_joined(part, left - 1) for part in node.values[:_PARTS])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _joined(node.left, left - 1) + _joined(node.right, left - 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        parts = (_joined(node.left, left - 1), _joined(node.right, left - 1))
        return "/".join(part for part in parts if part)
    return _joined_call(node, left) if isinstance(node, ast.Call) else ""


def _joined_call(node: ast.Call, left: int) -> str:
    """Return the path that ``Path.home()``, ``Path("a")``, ``os.path.join("a", "b")`` or ``expanduser`` makes."""
    name = (
        node.func.attr
        if isinstance(node.func, ast.Attribute)
        else node.func.id
        if isinstance(node.func, ast.Name)
        else ""
    )
    if name == "home":
        return "~"
    if name in {"join", "Path", "PurePath", "expanduser", "abspath", "realpath", "joinpath"}:
        return "/".join(text for argument in node.args[:_PARTS] if (text := _joined(argument, left - 1)))
    return ""
