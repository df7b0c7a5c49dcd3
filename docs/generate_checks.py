"""Write the tables of `docs/checks.md` from the code: `python docs/generate_checks.py`.

The order comes from ``CHECKS``; which reasons a check can give is read from its source, through the functions it calls.
A test compares the page with what this script makes of the code.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from agentsfence_core import evaluation
from agentsfence_core.evaluation import CHECKS
from agentsfence_core.model import ReasonCode

PAGE = Path(__file__).parent / "checks.md"
_BEGIN, _END = "<!-- generated: {} -->", "<!-- end -->"

MEANING: dict[ReasonCode, str] = {
    ReasonCode.AUTHORIZED: "Your words ask for it: ceiling and listing both say yes, and no other check objects.",
    ReasonCode.READ_DEFAULT: "It only reads.",
    ReasonCode.GRANTED: "You approved this call.",
    ReasonCode.POLICY_EXPIRED: "The task is over. Your next message begins a new one.",
    ReasonCode.PROTECTS_FENCE: "It would change the fence's own files or settings, switch it off, or approve for you.",
    ReasonCode.SECRET_READ: "It reads a secret: keys, credentials, `.env`, a metadata host.",
    ReasonCode.RUNS_LATER: "It writes a file that something else runs later: shell start-up, a git hook, cron, CI.",
    ReasonCode.PROHIBITED: "You forbade it.",
    ReasonCode.MAY_BE_PROHIBITED: "You forbade something, or set limits, and what this call does cannot be seen.",
    ReasonCode.DENIED: "The policy's deny list names it.",
    ReasonCode.RECIPIENT_NOT_LISTED: "It reaches somebody you did not name.",
    ReasonCode.DOMAIN_NOT_LISTED: "It contacts a host that this permission does not name.",
    ReasonCode.PATH_NOT_LISTED: "It touches a path that this permission does not name.",
    ReasonCode.OBJECT_NOT_LISTED: "It acts on another thing than the one you named.",
    ReasonCode.VALUE_NOT_LISTED: "It uses another value (a role, a date) than the one you named.",
    ReasonCode.AMOUNT_ABOVE_LIMIT: "The amounts add up to more than you named.",
    ReasonCode.TARGET_UNVERIFIED: "The permission is bound to a target, and the call does not show its own.",
    ReasonCode.MAX_CALLS_USED: "It was done as often as you asked.",
    ReasonCode.CEILING_OFF: "Nothing you wrote asks for this class of action.",
    ReasonCode.NOT_LISTED: "You asked for this class of action, but not for this one.",
    ReasonCode.UNKNOWN_TOOL: "Nothing is known about the tool.",
    ReasonCode.RECIPIENT_NOT_BOUND: "You named no address, or the call does not show one.",
    ReasonCode.DOMAIN_OUTSIDE: "The task names its hosts, and this is another.",
    ReasonCode.EXFILTRATION_SHAPED_URL: "The address looks as if it carried data away.",
    ReasonCode.PATH_OUTSIDE: "The task names its paths, and this is outside.",
    ReasonCode.BUDGET_USED: "The task has sent or written outside as often as it may.",
    ReasonCode.APPROVAL_REQUIRED: "The policy wants your approval for this, each time.",
    ReasonCode.AUTO_APPROVAL_REFUSED: "The host would have approved by itself.",
    ReasonCode.NO_HUMAN: "Nobody is there to ask. The message says what to write to authorize it.",
    ReasonCode.NO_POLICY: "The task has no policy, and the settings say to block then.",
    ReasonCode.UNKNOWN_TASK: "The call belongs to no task, or to a subtask whose parent has ended.",
    ReasonCode.DENIED_BY_PERSON: "You said no to this very call.",
    ReasonCode.ALREADY_DONE: "The host plays back a call that is done: it would happen a second time.",
    ReasonCode.PLUGIN_VERDICT: "A plugin that you named tightened the verdict.",
    ReasonCode.PLUGIN_FAULT: "A plugin failed or took too long.",
    ReasonCode.STORE_FAULT: "The state could not be read or written.",
    ReasonCode.AUDIT_FAULT: "The audit line could not be written.",
    ReasonCode.INTERNAL_FAULT: "Something inside AgentsFence failed.",
    ReasonCode.SETTINGS_FAULT: "The fence could not start: settings, plugins or state.",
    ReasonCode.SHADOW: "`unsafe_shadow` let the host go on.",
}


def pages_text() -> str:
    """Return the page as it must be: its own words, and the tables made from the code."""
    text = PAGE.read_text(encoding="utf-8")
    for name, table in (("checks", _checks_table()), ("reasons", _reasons_table())):
        begin = _BEGIN.format(name)
        start, end = text.index(begin) + len(begin), text.index(_END, text.index(begin))
        text = f"{text[:start]}\n\n{table}\n\n{text[end:]}"
    return text


def _checks_table() -> str:
    functions = _functions()
    rows = ["| # | Check | What it holds | Says | Reasons |", "| --- | --- | --- | --- | --- |"]
    for check in CHECKS:
        found = _reached(check.run.__name__, functions)
        codes = sorted(_codes(found), key=list(ReasonCode).index)
        claim = _in_markdown((check.run.__doc__ or "").split("\n")[0])
        reasons = ", ".join(f"`{code.value}`" for code in codes)
        rows.append(f"| {check.number} | `{check.name}` | {claim} | {_says(found)} | {reasons} |")
    return "\n".join(rows)


def _in_markdown(line: str) -> str:
    """Return a docstring's first line without its number and its reference."""
    line = re.sub(r"^\d+\.\s*", "", line)
    line = re.sub(r"\s*\([^()]*(paper|table|how it works|task policies)[^()]*\)", "", line)
    return line.replace("``", "`").replace("|", "\\|").rstrip(".")


def _reasons_table() -> str:
    rows = ["| Reason | What it means |", "| --- | --- |"]
    return "\n".join([*rows, *(f"| `{code.value}` | {MEANING[code]} |" for code in ReasonCode)])


def _functions() -> dict[str, set[str]]:
    """Return function name -> the names it uses, over the modules of the evaluator."""
    functions: dict[str, set[str]] = {}
    for path in sorted(Path(evaluation.__file__).parent.glob("*.py")):
        if path.stem in {"evaluator", "explain", "prepared"}:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.Assign | ast.AnnAssign):
                functions.update(dict.fromkeys(_defined(node), _used(node)))
    return functions


def _defined(node: ast.FunctionDef | ast.Assign | ast.AnnAssign) -> list[str]:
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _used(node: ast.AST) -> set[str]:
    """Return names used; ``ReasonCode.X`` and ``Verdict.X`` as such."""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            names.add(f"{part.value.id}.{part.attr}")
    return names


def _reached(name: str, functions: dict[str, set[str]]) -> set[str]:
    """Return every name that a function uses, through the functions that it calls."""
    found, todo = set[str](), [name]
    while todo:
        for used in functions.get(todo.pop(), set()) - found:
            found.add(used)
            if used != "CHECKS":
                todo.append(used)
    return found


def _codes(names: set[str]) -> set[ReasonCode]:
    return {ReasonCode[name.removeprefix("ReasonCode.")] for name in names if name.startswith("ReasonCode.")}


def _says(names: set[str]) -> str:
    if "_unauthorized" in names:
        return "the class's default verdict"
    return " or ".join(name for name in ("ALLOW", "BLOCK", "ASK_USER") if f"Verdict.{name}" in names)


if __name__ == "__main__":
    PAGE.write_text(pages_text(), encoding="utf-8")
