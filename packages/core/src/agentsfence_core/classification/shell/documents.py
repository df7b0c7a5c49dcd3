"""Input texts of a command: here-documents, here-strings, ``< f``.

Here-documents were cut out before the parser saw the text (``syntax.py``); a marked name stands for each. What runs in
their bodies is visited here, and what they put on standard input is known to the command that reads it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from agentsfence_core.classification.shell.call import Scan
from agentsfence_core.classification.shell.expansions import WordReader, text_of
from agentsfence_core.classification.shell.syntax import DOCUMENT, Prepared

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser, Tree

_free: list[Parser] = []
"""Parsers at rest. Taking one and putting one back are single steps of the interpreter: no lock that a fork could
leave closed."""
_BACKQUOTE = re.compile(r"(?<!\\)`")


def parse(text: str) -> Tree:
    """Return the tree of a text. The caller keeps it for as long as it looks at nodes.

    INVARIANT: a parser is in nobody else's hands while it parses: not another thread's, and not those of a call that
    a signal or a finalizer makes in the middle of this one. Parsers and the grammar live as long as the process.
    """
    try:
        made = _free.pop()
    except IndexError:
        made = _new_parser()
    tree = made.parse(text.encode("utf-8", "replace"))
    _free.append(made)  # not reached where parsing failed: such a parser is not used again
    return tree


@cache
def _grammar() -> Language:
    """Return the grammar, loaded on first use."""
    import tree_sitter_bash  # noqa: PLC0415  (lazy: start-up budget)
    from tree_sitter import Language  # noqa: PLC0415

    return Language(tree_sitter_bash.language())


def _new_parser() -> Parser:
    from tree_sitter import Parser  # noqa: PLC0415  (lazy: start-up budget)

    return Parser(_grammar())


class DocumentReader(WordReader):
    """Reads what arrives on standard input."""

    __slots__ = ("piped", "seen", "stdin")

    def __init__(self, scan: Scan, prepared: Prepared) -> None:
        """Start with a terminal on standard input."""
        super().__init__(scan, prepared)
        self.seen: set[int] = set()
        """Here-documents that the parser found where the scan in front of it saw them."""
        self.stdin: str | None = None
        self.piped = False

    def read_inside(self, text: str) -> None:
        """Read a shell text that stands inside this one."""
        raise NotImplementedError

    def feeds(self, redirect: Node) -> None:
        """Take note of what ``< f`` puts on standard input: the text of a here-document, or something unseen."""
        targets = redirect.children_by_field_name("destination")
        if not targets or not any(child.type in {"<", "<&"} for child in redirect.children):
            return
        number = self.numbered(targets[0])
        self.stdin, self.piped = (self.cut(number) if number is not None else None), True
        if number is None and text_of(targets[0]) == "/dev/null":
            self.stdin = ""

    def numbered(self, node: Node) -> int | None:
        """Return which here-document a marked name stands for."""
        text = text_of(node)
        if not text.startswith(DOCUMENT) or node.type != "word":
            return None
        tail = text[len(DOCUMENT) :]
        return int(tail) if tail.isdigit() and len(tail) < 6 and int(tail) < len(self._prepared.documents) else None

    def cut(self, number: int) -> str | None:
        """Return the text of a here-document that was cut; visit what runs in it."""
        document = self._prepared.documents[number]
        if number in self.seen:
            return document.text if document.literal else None
        self.seen.add(number)
        if document.literal or ("$" not in document.text and "`" not in document.text):
            return document.text
        # One here-document alone is what the parser does understand.
        end = "END_OF_TEXT"
        source = f"cat <<{end}\n{document.text.rstrip()}\n{end}\n" if end not in document.text else ""
        tree = parse(source)
        root = tree.root_node
        if not source or root.has_error:
            self._scan.unreadable("a here-document that does not parse", document.text[:200])
        self.bodies(root)
        self.backquoted(document.text)
        return None

    def backquoted(self, text: str) -> None:
        """Visit what stands between backquotes in a here-document: the parser takes them for text there."""
        pieces = _BACKQUOTE.split(text)
        if len(pieces) % 2 == 0:
            self._scan.unreadable("an open backquote in a here-document", text[:200])
        for piece in pieces[1::2]:
            self.read_inside(piece.replace("\\`", "`"))

    def bodies(self, node: Node) -> None:
        """Visit the expansions in the here-document of a tree of its own."""
        for child in node.named_children:
            if child.type == "heredoc_body":
                self.statements(child)
            elif child.type in {"redirected_statement", "heredoc_redirect"}:
                self.bodies(child)

    def document(self, node: Node, after: list[Node]) -> str | None:
        """Return the text of a here-document or here-string where it is literal; visit what runs in it."""
        if node.type == "herestring_redirect":
            if node.named_children and self.misread(node, node.named_children[0]):
                self._scan.unreadable("an input text without a text", text_of(node))
            words = [self.word(child) for child in node.named_children]
            return words[0].text if len(words) == 1 and words[0].sure else None
        text: str | None = None
        literal = False
        arguments = node.children_by_field_name("argument")
        for child in node.named_children:
            if child.type == "heredoc_start":
                literal = any(mark in text_of(child) for mark in "'\"\\")
            elif child.type == "heredoc_body":
                text = self.body(child, literal=literal)
            elif child.type not in {"heredoc_end", "file_redirect", "file_descriptor", "herestring_redirect"} and (
                child not in arguments
            ):
                after.append(child)
        return text

    def body(self, node: Node, *, literal: bool) -> str | None:
        """Return the text of a body that the parser found itself; visit what runs in it."""
        text = text_of(node)
        if literal:
            return text
        self.statements(node)
        if "`" in text:
            self.backquoted(text)
        return None if "$" in text or "`" in text else text

    def misread(self, node: Node, target: Node) -> bool:
        """Whether the parser took for a target what bash does not: across a line end, or the number of another one."""
        before = (node.text or b"")[: target.start_byte - node.start_byte]
        if target.start_byte == target.end_byte or b"\n" in before:
            return True
        if target.type != "number":
            return False
        after = self._prepared.text.encode("utf-8", "replace")[target.end_byte : target.end_byte + 1]
        return after in {b"<", b">"}
