"""From text to invocations: parse, walk every node that can hold a command, hand each simple command to the engine.

Rules of this file:

* Every command in the tree is visited: lists, pipelines, groups, loops, branches, function bodies, substitutions in
  any kind of quotes, here-documents, assignments, arithmetic, redirections.
* A fault in the parse makes the whole unverified, and what could be read of it still counts.
* A ``cd`` moves relative paths. Where it may have failed, both folders count and the paths are unverified.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentsfence_core.classification.shell.call import ENVIRONMENT, Call, Scan
from agentsfence_core.classification.shell.documents import DocumentReader, parse
from agentsfence_core.classification.shell.expansions import TOP, text_of
from agentsfence_core.classification.shell.redirections import either, reach, written
from agentsfence_core.classification.shell.syntax import REPEATS, Prepared, prepare
from agentsfence_core.classification.shell.words import Word, holds_code
from agentsfence_core.limits import LIMITS
from agentsfence_core.model.action import Effect
from agentsfence_core.model.risk import Risk

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node

_DEEPEST = 120
_EMPTYING = frozenset({":", "true", "false", "cat /dev/null", "echo -n", "printf ''", "printf", "echo -n ''"})
_ESCAPED = re.compile(r"\\([`$\\])")
_COMPARES = re.compile(r"\s-(?:eq|ne|lt|le|gt|ge|v|R)\s")
_CASE_ENDS = frozenset({";;", ";&", ";;&"})
_WRITERS = frozenset({"echo", "printf", "cat", "tee"})
_TEXTS = frozenset({"herestring_redirect", "heredoc_redirect"})
_LAST_OWNS = frozenset({"list", "pipeline", "negated_command"})
_QUIET = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/1", "/dev/fd/2"})


def read_text(
    scan: Scan, text: str, run: Callable[[Call], None], *, stdin: str | None = None, piped: bool = False
) -> None:
    """Read a shell text into ``scan``; ``run`` reads one simple command."""
    if scan.depth > LIMITS.command_nesting:
        scan.unreadable("nested too deep", text)
        return
    prepared = prepare(text)
    if prepared.fault:
        scan.unreadable(prepared.fault, text)
        return
    tree = parse(prepared.text)
    root = tree.root_node
    walker = Walker(scan, prepared, run)
    walker.stdin, walker.piped = stdin, piped
    outer, scan.text = scan.text, text
    scan.depth += 1
    walker.statements(root)
    scan.depth -= 1
    scan.text = outer
    if root.has_error:
        scan.unreadable("the command does not parse", text)
    elif walker.seen != set(range(len(prepared.documents))):
        scan.unreadable("a here-document that bash may read in another way", text)


class Walker(DocumentReader):
    """Walks one tree."""

    __slots__ = ("_cases", "_run")

    def __init__(self, scan: Scan, prepared: Prepared, run: Callable[[Call], None]) -> None:
        """Walk for ``scan``."""
        super().__init__(scan, prepared)
        self._run = run
        self._cases = ";;" in prepared.text or ";&" in prepared.text

    def read_inside(self, text: str) -> None:
        """Read a shell text that stands inside this one."""
        read_text(self._scan, text, self._run)

    # -- nodes

    def walk(self, node: Node, extra: tuple[Node, ...] = ()) -> None:
        """Visit a node. ``extra`` are words behind a redirection that belong to the command in front of it."""
        kind = node.type
        handler = _HANDLERS.get(kind)
        repeats = kind in REPEATS
        self._scan.repeats += repeats
        self._depth += 1
        if self._depth > _DEEPEST:
            self._scan.unreadable("nested too deep")
        elif handler is not None:
            handler(self, node, extra)
        else:
            if extra:
                self._scan.unreadable("words after a redirection", text_of(node))
            if node.named_child_count:
                self.statements(node)
            else:
                self._other_leaf(node)
        self._depth -= 1
        self._scan.repeats -= repeats

    def _other_leaf(self, node: Node) -> None:
        """Visit a pattern or a name in which the parser sees no substitution; bash may see one there."""
        text = text_of(node)
        if ("`" in text or "$(" in text) and not node.type.startswith("heredoc"):
            self._scan.unreadable("a substitution that the parser took for text", text)

    def _arithmetic(self, node: Node, extra: tuple[Node, ...]) -> None:
        """Visit ``$((x))``, ``a[x]``, ``for ((;;))``: quotes protect nothing there, and texts are evaluated again."""
        text = text_of(node)
        quoted = text.find("'")
        if quoted >= 0 and ("$(" in text[quoted:] or "`" in text[quoted:]):
            self._scan.unreadable("a substitution inside arithmetic", text)
        self._scan.evaluate()
        if extra:
            self._scan.unreadable("words after a redirection", text)
        self.statements(node)

    def _unset(self, node: Node, extra: tuple[Node, ...]) -> None:
        """Visit ``unset a[x]``: a name's subscript is arithmetic."""
        for child in (*node.named_children, *extra):
            text = self.word(child).text
            self._scan.functions.discard(text)
            if holds_code(text):
                self._scan.unreadable("a subscript that runs what it holds", text_of(node))

    def _test(self, node: Node, extra: tuple[Node, ...]) -> None:
        """Visit ``[[ a -eq b ]]``: some of its operators read texts as arithmetic."""
        if _COMPARES.search(text_of(node)):
            self._scan.evaluate()
        if extra:
            self._scan.unreadable("words after a redirection", text_of(node))
        self.statements(node)

    def statements(self, node: Node) -> None:
        """Visit the children one after the other; a change of folder in one may have failed for the next."""
        scan = self._scan
        if self._cases and node.type != "case_item" and any(child.type in _CASE_ENDS for child in node.children):
            scan.unreadable("an end of a case outside a case", text_of(node))
        for child in node.named_children:
            before = scan.dirs
            self.walk(child)
            if scan.dirs is not before and not scan.certain():
                scan.dirs = either(scan.dirs, before)

    def _inside(self, node: Node, extra: tuple[Node, ...] = ()) -> None:
        """Visit what runs in a process of its own: its changes of folder and variables end with it."""
        dirs, variables, stdin, piped = self._scan.dirs, dict(self._scan.variables), self.stdin, self.piped
        functions = set(self._scan.functions)
        if node.type in {"command_substitution", "process_substitution"}:
            self.stdin, self.piped = None, False
        if extra:
            self._scan.unreadable("words after a redirection", text_of(node))
        text = text_of(node)
        if text[:1] == "`" and _ESCAPED.search(text):
            # between backquotes a backslash is taken off first: what it protected is read again
            read_text(self._scan, _ESCAPED.sub(r"\1", text[1:-1]), self._run)
        else:
            self.statements(node)
        self._scan.dirs, self._scan.variables, self.stdin, self.piped = dirs, variables, stdin, piped
        self._scan.functions = functions

    def _list(self, node: Node, extra: tuple[Node, ...]) -> None:
        """Visit ``a && b || c``, which the parser nests to the left."""
        parts: list[tuple[str, Node]] = []
        while node.type == "list":
            children = node.children
            if len(children) != 3:
                self.statements(node)
                return
            parts.append((children[1].type, children[2]))
            node = children[0]
        scan = self._scan
        before = scan.dirs
        self._depth -= 1  # the first part runs whatever happens
        self.walk(node)
        self._depth += 1
        for place, (operator, right) in enumerate(reversed(parts)):
            if operator != "&&":
                scan.dirs = either(scan.dirs, before)
                scan.variables = {}
            self.walk(right, extra if place == len(parts) - 1 else ())

    def _pipeline(self, node: Node, extra: tuple[Node, ...]) -> None:
        """Visit the parts of a pipeline; what ``echo`` writes is known to the next part."""
        parts = node.named_children
        stdin, piped, dirs = self.stdin, self.piped, self._scan.dirs
        for place, part in enumerate(parts):
            if place:
                self.stdin, self.piped = self._written_by(parts[place - 1], self.stdin), True
            self.walk(part, extra if place == len(parts) - 1 else ())
            self._scan.dirs = dirs
        self.stdin, self.piped = stdin, piped

    def _written_by(self, node: Node, stdin: str | None) -> str | None:
        """Return what a command writes to a pipe, where its text says so: ``echo 'rm x'``."""
        if node.type == "redirected_statement":
            body, redirects = node.child_by_field_name("body"), node.children_by_field_name("redirect")
            if body is None or len(redirects) != 1 or redirects[0].type != "file_redirect":
                return None
            targets = redirects[0].children_by_field_name("destination")
            number = self.numbered(targets[0]) if len(targets) == 1 else None
            document = self._prepared.documents[number] if number is not None else None
            if document is None or not (document.literal or ("$" not in document.text and "`" not in document.text)):
                return None
            node, stdin = body, document.text
        if node.type != "command" or any(
            child.type in {"variable_assignment", "file_redirect"} for child in node.children
        ):
            return None
        if text_of(node).partition(" ")[0] not in _WRITERS:
            return None
        words = [self.peek(child) for child in node.named_children]
        if not words or any(word is None for word in words):
            return None
        name, *rest = [word.text for word in words if word is not None]
        return written(name, rest, stdin)

    def _negated(self, node: Node, extra: tuple[Node, ...]) -> None:
        """Visit ``! a``."""
        for child in node.named_children:
            self.walk(child, extra)

    def _redirected(self, node: Node, extra: tuple[Node, ...]) -> None:
        """Visit a statement with redirections; the words after their targets belong to the statement."""
        body = node.child_by_field_name("body")
        redirects = [child for child in node.children if child is not body and child.is_named and child != body]
        stdin, piped = self.stdin, self.piped
        after: list[Node] = []
        words = (*self._inputs(redirects, after), *extra)
        if body is None:
            if words:
                self._scan.unreadable("words after a redirection", text_of(node))
            self._bare(redirects)
        elif body.type == "command":
            self._command(body, words, tuple(redirects))
        elif body.type in _LAST_OWNS:
            # ``a && b > f``: the parser hangs the redirection on the list, bash on its last command
            self.walk(body, (*redirects, *extra))
        else:
            self.walk(body, words)
            self._bare(redirects, empties=False)
        for later in after:
            if later.type == "pipeline":
                passes = body is not None and text_of(body).strip() in {"cat", "tee", "cat -"}
                self.stdin, self.piped = self.stdin if passes else None, True
            else:
                self.stdin, self.piped = stdin, piped
            self.walk(later)
        self.stdin, self.piped = stdin, piped

    def _inputs(self, redirects: list[Node], after: list[Node]) -> list[Node]:
        """Take note of what redirections put on standard input; return the words behind their targets."""
        stray: list[Node] = []
        for redirect in redirects:
            if redirect.type == "file_redirect":
                stray += redirect.children_by_field_name("destination")[1:]
                self.feeds(redirect)
            elif redirect.type in _TEXTS:
                self.stdin, self.piped = self.document(redirect, after), True
                stray += redirect.children_by_field_name("argument")
                for nested in redirect.children_by_field_name("redirect"):
                    stray += nested.children_by_field_name("destination")[1:]
        return stray

    def _group(self, node: Node, extra: tuple[Node, ...]) -> None:
        """Visit ``{ a; b; }``; bash needs a blank behind the brace and something inside."""
        text = text_of(node)
        if text[:2] == "((":
            self._arithmetic(node, extra)
            return
        if not node.named_children or (text[:1] == "{" and text[1:2] not in {" ", "\t", "\n", "("}):
            self._scan.unreadable("a group that bash reads in another way", text)
        if extra:
            self._scan.unreadable("words after a redirection", text)
        self.statements(node)

    def _alone(self, node: Node, extra: tuple[Node, ...]) -> None:
        """Visit ``$(< f)``: the file is read."""
        self._bare([node], empties=False)
        for stray in extra:
            self.word(stray)

    def _bare(self, redirects: list[Node], *, empties: bool = True) -> None:
        """Visit redirections that belong to no simple command."""
        call = Call(self._scan, [Word(">")])
        call.because = " ".join(text_of(redirect)[:60] for redirect in redirects)
        for redirect in redirects:
            self._redirect(redirect, call, empties=empties)
        if call.drafts:
            self._scan.invocation += 1
            call.finish()

    # -- simple commands

    def _command(self, node: Node, extra: tuple[Node, ...] = (), redirects: tuple[Node, ...] = ()) -> None:
        """Read one simple command."""
        words: list[Word] = []
        own: list[Node] = list(redirects)
        unsafe = ""
        stdin, piped = self.stdin, self.piped
        for child in (*node.children, *extra):
            kind = child.type
            if kind == "word":
                words.append(self.plain(child))
            elif kind == "variable_assignment":
                unsafe = self.assign(child, keep=False) or unsafe
            elif kind == "file_redirect":
                own.append(child)
                self.feeds(child)
                words += [self.word(stray) for stray in child.children_by_field_name("destination")[1:] if words]
            elif kind in _TEXTS:
                if child in extra:
                    own.append(child)  # its text is known already: only what it writes is left
                else:
                    self._own_text(child)
            elif kind == "command_name":
                words.append(self.word(child.children[0]))
            else:
                words += self.split(child)
        if not words:
            self._bare(own)
        else:
            self._simple(words, own, unsafe)
        self.stdin, self.piped = stdin, piped

    def _own_text(self, node: Node) -> None:
        """Take a here-string inside a command as its input; a here-document there is not where bash sees it."""
        if node.type == "heredoc_redirect":
            self._scan.unreadable("an input text in front of a command", text_of(node))
        self.stdin, self.piped = self.document(node, []), True

    def _simple(self, words: list[Word], redirects: list[Node], unsafe: str) -> None:
        scan = self._scan
        call = Call(scan, words, self.stdin, piped=self.piped)
        scan.invocation += 1
        scan.depth += 1
        invocation = scan.invocation
        self._run(call)
        scan.depth -= 1
        empties = bool(redirects) and call.line() in _EMPTYING
        for redirect in redirects:
            self._redirect(redirect, call, empties=empties)
        if unsafe:
            call.unseen(f"{unsafe} changes what programs run")
        latest, scan.invocation = scan.invocation, invocation
        call.finish()
        scan.invocation = latest

    def _redirect(self, node: Node, call: Call, *, empties: bool) -> None:
        """Add what one redirection does to a call."""
        if node.type in _TEXTS:
            for child in node.named_children:
                if child.type == "file_redirect":
                    self._redirect(child, call, empties=empties)
            return
        targets = node.children_by_field_name("destination")
        if not targets:
            return
        operator = next((child.type for child in node.children if not child.is_named), ">")
        if self.misread(node, targets[0]):
            self._scan.unreadable("a redirection without a target", text_of(node))
        if self.numbered(targets[0]) is not None:
            return
        word = self.word(targets[0])
        text = word.text
        moves = operator in {">&", "<&"} and (text.rstrip("-").isdigit() or text == "-")
        if not moves and targets[0].type != "process_substitution" and not (text in _QUIET and word.sure):
            reach(call, operator, word, empties=empties)

    # -- variables

    def _assignment(self, node: Node, extra: tuple[Node, ...]) -> None:
        unsafe = self.assign(node)
        if unsafe or extra:
            self._scan.invocation += 1
            self._scan.unreadable(f"{unsafe} changes what programs run", text_of(node))

    def _assignments(self, node: Node, extra: tuple[Node, ...]) -> None:
        for child in node.named_children:
            self._assignment(child, ())
        if extra:
            self._scan.unreadable("words after a redirection", text_of(node))

    def _declaration(self, node: Node, extra: tuple[Node, ...]) -> None:
        """Read ``export``, ``declare``, ``local``: a name alone exports it, no name at all lists everything."""
        scan = self._scan
        named = False
        for child in (*node.named_children, *extra):
            if child.type == "variable_assignment":
                named = True
                self._assignment(child, ())
            elif child.type == "variable_name":
                named = True
                if scan.sets(text_of(child), None):
                    scan.unreadable(f"{text_of(child)} changes what programs run", text_of(node))
            else:
                word = self.word(child)
                named = named or not word.text.startswith("-") or "f" in word.text
                if holds_code(word.text):
                    scan.unreadable("a subscript that runs what it holds", text_of(node))
                if word.text[:1] == "-" and "i" in word.text:
                    scan.evaluate()
                if word.text[:1] == "-" and "n" in word.text and text_of(node)[:6] != "export":
                    scan.unreadable("a name for another variable", text_of(node))
                if not word.sure or "=" in word.text:
                    scan.unreadable("a computed declaration", text_of(node))
        if not named:
            scan.invocation += 1
            scan.emit(
                Effect(
                    "system.read",
                    Risk.READ,
                    paths=(ENVIRONMENT,),
                    invocation=scan.invocation,
                    because=text_of(node)[:80],
                )
            )

    def _function(self, node: Node, extra: tuple[Node, ...]) -> None:
        """Read a function's body where it is defined: whatever it does counts, called or not."""
        name = node.child_by_field_name("name")
        after = node.next_sibling
        if name is not None and self._depth <= TOP and (after is None or after.type != "&"):
            self._scan.functions.add(text_of(name))  # anywhere else it may never be defined
        dirs, variables = self._scan.dirs, self._scan.variables
        self._scan.variables = {}
        for child in node.named_children:
            if child != name:
                self.walk(child)
        for stray in extra:
            self.word(stray)
        # A body that changes the folder does so when it is called: from then on both may hold.
        self._scan.dirs = either(self._scan.dirs, dirs)
        self._scan.variables = variables

    def _for(self, node: Node, extra: tuple[Node, ...]) -> None:
        """Read a loop; its variable holds whatever its words give."""
        variable = node.child_by_field_name("variable")
        name = text_of(variable) if variable is not None else ""
        self._scan.variables.pop(name, None)
        self._scan.listed.add(name)
        if self._scan.sets(name, None):
            self._scan.unreadable(f"{name} changes what programs run", text_of(node)[:80])
        for value in node.children_by_field_name("value"):
            if self.word(value).runs:
                self._scan.assigned.add(name)
        body = node.child_by_field_name("body")
        if body is not None:
            self.walk(body)
        for stray in extra:
            self.word(stray)

    def _leaf(self, node: Node, _extra: tuple[Node, ...]) -> None:
        """Visit a word outside a command: a pattern, a loop value."""
        self.word(node)

    def _comment(self, node: Node, _extra: tuple[Node, ...]) -> None:
        """Accept a comment only where bash begins one too."""
        start = node.start_byte
        text = self._prepared.text.encode("utf-8", "replace")[max(0, start - 2) : start]
        if text[-1:] not in (b"", b" ", b"\t", b"\n", b";", b"&", b"|", b"(", b")") or (
            text[:1] == b"\\" and len(text) == 2
        ):
            self._scan.unreadable("a comment that bash may read in another way", text_of(node))


_HANDLERS: dict[str, Callable[[Walker, Node, tuple[Node, ...]], None]] = {
    "command": Walker._command,
    "list": Walker._list,
    "pipeline": Walker._pipeline,
    "negated_command": Walker._negated,
    "redirected_statement": Walker._redirected,
    "compound_statement": Walker._group,
    "subshell": Walker._inside,
    "command_substitution": Walker._inside,
    "process_substitution": Walker._inside,
    "variable_assignment": Walker._assignment,
    "variable_assignments": Walker._assignments,
    "declaration_command": Walker._declaration,
    "file_redirect": Walker._alone,
    "arithmetic_expansion": Walker._arithmetic,
    "subscript": Walker._arithmetic,
    "c_style_for_statement": Walker._arithmetic,
    "test_command": Walker._test,
    "unset_command": Walker._unset,
    "function_definition": Walker._function,
    "for_statement": Walker._for,
    "word": Walker._leaf,
    "string": Walker._leaf,
    "raw_string": Walker._leaf,
    "concatenation": Walker._leaf,
    "simple_expansion": Walker._leaf,
    "expansion": Walker._leaf,
    "comment": Walker._comment,
}
