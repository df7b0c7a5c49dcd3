"""A person, an agent and its calls, with nothing in between but this repository's compiler and evaluator.

``Task`` tells the story of one task: what the person says, and what becomes of the calls that the agent makes.
"""

from __future__ import annotations

from collections.abc import Mapping

from agentsfence_compiler.pipeline import IntentCompiler
from agentsfence_core.classification.catalogue.table import builtin
from agentsfence_core.classification.classifier import classify
from agentsfence_core.evaluation import evaluate, prepare
from agentsfence_core.evaluation.options import EvaluationOptions
from agentsfence_core.model import ExecutionState, HostFacts, TaskPolicy, ToolCall, Verdict
from agentsfence_core.ports import CompileContext, Compiled, CompilerBackend, PersonMessage

HOME, WORK = "/home/u", "/srv/w"
NOW = 1_700_000_000.0
HOST = HostFacts(home=HOME, workdir=WORK, workspace=WORK)


class Task:
    """One task."""

    def __init__(
        self, words: str, *, draft: object = None, backend: CompilerBackend | None = None, **context: object
    ) -> None:
        self.compiler = IntentCompiler({"test": backend} if backend else None)
        self.name = "test" if backend else "rules"
        self.compiled = self.compiler.begin(PersonMessage(words), self._context(draft, context))

    def _context(self, draft: object, extra: Mapping[str, object]) -> CompileContext:
        return CompileContext(host=HOST, now=NOW, draft=draft, compiler=self.name, **extra)  # type: ignore[arg-type]

    @property
    def policy(self) -> TaskPolicy:
        return self.compiled.policy

    def says(self, words: str, *, draft: object = None, **context: object) -> Compiled:
        """The person goes on."""
        self.compiled = self.compiler.amend(PersonMessage(words), self.policy, self._context(draft, context))
        return self.compiled

    def hears(self, words: str) -> Compiled:
        """Somebody else in the chat speaks."""
        self.compiled = self.compiler.restrict(PersonMessage(words, "somebody"), self.policy, self._context(None, {}))
        return self.compiled

    def calls(self, tool: str, **args: object) -> Verdict:
        """The agent calls a tool."""
        action = classify(ToolCall(tool, args, WORK, HOME), builtin())
        prepared = prepare(self.policy, EvaluationOptions(home=HOME, workdir=WORK))
        return evaluate(prepared, ExecutionState(), action, HOST, NOW).verdict

    def mails(self, to: object) -> Verdict:
        """The agent sends a mail."""
        return self.calls("mcp_gmail_send_email", to=to, subject="s", body="b")

    def writes(self, path: str) -> Verdict:
        """The agent writes a file."""
        return self.calls("write_file", path=path, content="x")

    def deletes(self, path: str) -> Verdict:
        """The agent deletes a file."""
        return self.calls("mcp_filesystem_delete_file", path=path)
