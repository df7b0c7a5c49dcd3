"""What the arguments of a tool that no row knows say about it: an action, SQL, a command, an HTTP method.

Rules of this file:

* Arguments raise what a name says and settle what it leaves open; they never lower it.
* ``manage_email(operation="send")``: the value has the verb, the name has the noun.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

from agentsfence_core.classification.arguments import gather
from agentsfence_core.classification.catalogue.rows import Meaning, Plan, Reader
from agentsfence_core.classification.lexicon import PROVES_NOTHING, STOP
from agentsfence_core.classification.names import fold_all, singular, words_of
from agentsfence_core.classification.raising import views_commands
from agentsfence_core.classification.readers import OPAQUE_COMMAND, read
from agentsfence_core.classification.verbs import Inference, infer
from agentsfence_core.classification.vocabulary import vocabulary
from agentsfence_core.limits import LIMITS
from agentsfence_core.model.action import Effect, Source
from agentsfence_core.model.risk import RANK, Risk

if TYPE_CHECKING:
    from agentsfence_core.model.call import ToolCall

_ACTIONS: Final = frozenset(
    "action operation op command method verb subcommand actiontype operationtype mode requesttype".split()
)
_METHODS: Final = frozenset("method httpmethod requestmethod verb httpverb".split())
_WRITING_METHODS: Final = frozenset({"post", "put", "patch", "delete"})
_ADDRESSES: Final = frozenset({"url", "uri", "endpoint", "path"})
_COMMANDS: Final = frozenset("command cmd commands shellcommand commandline clicommand".split())
_SQL: Final = frozenset("sql sqlquery query statement".split())
_SQL_STARTS: Final = frozenset(
    "select insert update delete drop create alter truncate with explain merge replace grant revoke call copy pragma "
    "vacuum".split()
)
_SQL_TOOLS: Final = ("database.", "query.", "sql.", "tool.", "table.", "run.", "statement.")
_LEAVES_OPEN: Final = frozenset({Risk.READ, Risk.EXECUTION, Risk.UNKNOWN})
"""Classes of a name that leave open what its SQL does; any other class the name keeps."""
_KINDS: Final = frozenset(
    "cli command cmd shell exec sudo terminal console bash ctl sql db manager admin operations client".split()
)
"""Words of names that say of what kind a tool is."""
_TRIGGERS: Final = _ACTIONS | _METHODS | _COMMANDS | _SQL

_SECRET_MARKS: Final = (
    "privatekey",
    "beginrsa",
    "beginopenssh",
    "beginpgp",
    "beginec",
    "aws_secret_access_key",
    "akia0-9",
    "ghp_",
    "github_pat_",
    "xoxb-",
    "xoxp-",
    "sk-ant-",
    "sk_live_",
)
"""What keys and tokens begin with, without spaces and signs of a regular expression."""

Sniffed = tuple[tuple[Effect, ...], Source]


def sniffed(call: ToolCall, plan: Plan) -> Sniffed | None:
    """Return what a call says by its arguments, ``None`` where they say no more than the name."""
    entries = [(key, value) for key, value in fold_all(call.args) if key in _TRIGGERS]
    if not entries or (plan.nothing_known and not _names_a_subject(words_of(call.tool))):
        return None
    if any(_is_sql(key, value, plan) for key, value in entries):
        effects = read(call, replace(plan, reader=Reader.SQL))
        if effects and plan.means.risk not in _LEAVES_OPEN:
            effects = (gather(call, plan, plan.means).effect(plan.because), *effects)
        if effects:
            return effects, Source.ARGUMENTS
    if any(_is_writing_method(key, value) for key, value in entries) and _has_address(call):
        effects = read(call, replace(plan, reader=Reader.HTTP))
        if effects:
            return effects, Source.ARGUMENTS
    return _by_action(call, plan, entries) or _by_command(call, plan, entries)


def _names_a_subject(words: Sequence[str]) -> bool:
    """Whether a name that says no act at least says of what kind its tool is (``manage_email``, ``acme_cli``).

    INVARIANT: an argument settles nothing for a tool of which nothing at all is known. A tool may ignore an
    ``action: list`` that a manipulated model adds, and do what it always does.
    """
    return any(word in PROVES_NOTHING or word in _KINDS or singular(word) in _nouns() for word in words)


@cache
def _nouns() -> frozenset[str]:
    """Return the nouns of the table of capabilities."""
    return frozenset(noun for _, noun in vocabulary().by_verb_noun)


def seeks_secrets(call: ToolCall) -> bool:
    """Whether a search through files looks for the marks of keys and tokens, and so reads them."""
    for _, value in fold_all(call.args):
        if isinstance(value, str) and len(value) <= LIMITS.target_length:
            text = "".join(character for character in value.casefold() if character.isalnum() or character in "_-")
            if any(mark in text for mark in _SECRET_MARKS):
                return True
    return False


def _is_sql(key: str, value: object, plan: Plan) -> bool:
    """Whether an argument holds SQL: its name says so, or its first word does and the tool's name allows it."""
    if key not in _SQL or not isinstance(value, str):
        return False
    if key.startswith("sql"):
        return True
    first, space, _ = value[:400].lstrip(" \t\r\n(;").partition(" ")
    allowed = plan.nothing_known or plan.means.capability.startswith(_SQL_TOOLS)
    return allowed and bool(space) and first.strip().casefold() in _SQL_STARTS


def _is_writing_method(key: str, value: object) -> bool:
    return key in _METHODS and isinstance(value, str) and value.strip().casefold() in _WRITING_METHODS


def _has_address(call: ToolCall) -> bool:
    return any(key in _ADDRESSES for key, _ in fold_all(call.args))


def _by_action(call: ToolCall, plan: Plan, entries: Sequence[tuple[str, object]]) -> Sniffed | None:
    """Read the worst of the actions that a call names."""
    subject = _subject(words_of(call.tool))
    found: list[tuple[Inference, str, str]] = []
    for key, value in entries:
        if key in _ACTIONS and isinstance(value, str) and 0 < len(value) <= 80 and " " not in value.strip():
            reading = infer(words_of(value), subject)
            if reading is not None:
                found.append((reading, key, value))
    if not found:
        return None
    reading, key, value = max(found, key=lambda entry: RANK[entry[0].risk])
    if not plan.nothing_known and RANK[reading.risk] <= RANK[plan.means.risk]:
        return None
    means = Meaning(reading.capability, reading.risk)
    own = replace(plan, means=means, because=f"{call.tool[:80]}: {key} is {value}")
    return (gather(call, own, means).effect(own.because),), Source.ARGUMENTS


def _subject(words: Sequence[str]) -> str:
    """Return the noun of a name whose verb says nothing: ``manage_email`` is about *email*."""
    nouns = [word for word in words if word not in PROVES_NOTHING and word not in STOP and word != "manager"]
    return singular(nouns[-1]) if nouns else ""


def _by_command(call: ToolCall, plan: Plan, entries: Sequence[tuple[str, object]]) -> Sniffed | None:
    """Read a command line that a tool of unknown kind, or one that runs things, is handed."""
    looks = plan.means.risk is Risk.READ and views_commands(call)
    if not (plan.nothing_known or plan.means.risk is Risk.EXECUTION or looks):
        return None
    if not any(key in _COMMANDS and value and isinstance(value, str | list | tuple) for key, value in entries):
        return None
    effects = read(call, replace(plan, reader=Reader.SHELL))
    return (*effects, OPAQUE_COMMAND) if plan.nothing_known else effects, Source.SHELL
