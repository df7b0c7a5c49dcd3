"""From a tool call to an action: every effect it has, with its capability, class and targets (paper 3.2; DESIGN 5).

The three layers of the paper, in this order:

1. an explicit mapping per tool, refined by argument values, or by a reader of the language that an argument is in;
2. glob patterns;
3. verb inference from the tool's name. No signal: UNKNOWN, which is never treated as safe.

`Catalogue.plan` answers them once per name; here the plan meets the arguments, and argument analysis finds the targets.

Rules of this file:

* `classify` is pure and total: same call and catalogue, same action; no input raises.
* Arguments raise what a name says, never the other way round: ``get_x`` that is handed SQL, a command or a method of
  writing is what those say. A flag by which the caller vouches for itself is never read.
* A call that another tool dispatches is classified as itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from agentsfence_core.classification.arguments import gather
from agentsfence_core.classification.catalogue.rows import UNKNOWN, Meaning, Plan, Reader
from agentsfence_core.classification.keys import FILE_TEXT_KEYS, TEXT_KEYS
from agentsfence_core.classification.names import NAME_LENGTH, fold_key, words_of
from agentsfence_core.classification.readers import numbered, read
from agentsfence_core.classification.verbs import infer
from agentsfence_core.limits import LIMITS
from agentsfence_core.model.action import Action, Effect, Source, TargetKind
from agentsfence_core.model.call import ToolCall
from agentsfence_core.model.risk import RANK, Risk

if TYPE_CHECKING:
    from agentsfence_core.classification.catalogue import Catalogue

_DISPATCH_DEPTH: Final = 5
_DISPATCHED: Final = 64
_EVERYTHING: Final = frozenset(TargetKind)
_ACTION_KEYS: Final = ("action", "operation", "op", "command", "method", "verb", "subcommand", "actiontype", "operationtype", "mode", "requesttype")
_METHOD_KEYS: Final = frozenset({"method", "httpmethod", "requestmethod", "verb", "httpverb"})
_WRITING_METHODS: Final = frozenset({"post", "put", "patch", "delete"})
_SQL_STARTS: Final = frozenset("select insert update delete drop create alter truncate with explain merge replace grant revoke call copy pragma vacuum".split())
_NAME_KEYS: Final = ("name", "tool", "toolname", "function", "functionname", "recipientname", "toolid", "actionname", "toolslug")
_ARGUMENT_KEYS: Final = ("arguments", "args", "parameters", "params", "input", "toolinput", "toolargs", "toolarguments", "kwargs", "payload")
_BATCH_KEYS: Final = ("tooluses", "calls", "toolcalls", "invocations", "requests", "operations", "steps", "actions", "batch", "tools")
_RUNS_LATER_NAMES: Final = frozenset(
    "agents.md claude.md gemini.md soul.md memory.md user.md skill.md requirements.txt constraints.txt cmakelists.txt copilot-instructions.md llms.txt".split()
)
_DATA_ENDINGS: Final = frozenset("md markdown txt text rst adoc org csv tsv log tex bib srt vtt".split())


def classify(call: ToolCall, catalogue: Catalogue) -> Action:
    """Return what a call can do. Never raises; what cannot be read is UNKNOWN or unverified, never harmless."""
    return _classify(call, catalogue, 0)


def _classify(call: ToolCall, catalogue: Catalogue, depth: int) -> Action:
    """Classify a call that ``depth`` dispatching tools stand around."""
    if not isinstance(call.args, Mapping) or not isinstance(call.tool, str):
        return _unreadable(call, "the arguments are no mapping")
    plan = catalogue.plan(call.tool)
    if plan.reader is Reader.DISPATCH:
        return _dispatched(call, catalogue, depth)
    effects, source, note = _effects(call, plan)
    if plan.floor is not Risk.READ:
        effects = _raised(effects, plan)
    return Action(call, effects, source, _content(call, effects), note)


def _unreadable(call: ToolCall, note: str) -> Action:
    """Return the action of a call about which nothing can be said."""
    return Action(call, (Effect(UNKNOWN.capability, UNKNOWN.risk, unverified=_EVERYTHING, because=note),), Source.NONE, note=note)


def _effects(call: ToolCall, plan: Plan) -> tuple[tuple[Effect, ...], Source, str]:
    """Return the effects of a call by its plan, and which knowledge they come from."""
    if plan.by or plan.rules:
        meanings, refined = _refined(call, plan)
        if not refined and plan.reader is not Reader.NONE:
            return _read(call, plan)
        source = Source.ARGUMENTS if refined and plan.source is Source.CATALOGUE else plan.source
        return tuple(gather(call, plan, means).effect(plan.because) for means in meanings), source, ""
    if plan.reader is not Reader.NONE:
        return _read(call, plan)
    if plan.source is Source.VERB or plan.source is Source.NONE:
        sniffed = _sniffed(call, plan)
        if sniffed is not None:
            return sniffed
    found = gather(call, plan, plan.means)
    effect = found.effect(plan.because)
    if found.urls and any(_runs_script(url) for url in found.urls):
        return (effect, _SCRIPT_URL), plan.source, ""
    return (effect,), plan.source, ""


def _read(call: ToolCall, plan: Plan) -> tuple[tuple[Effect, ...], Source, str]:
    """Hand a call to the reader of its language; keep the plan's own word where there is nothing to read."""
    effects = read(call, plan)
    if not effects:
        found = gather(call, plan, plan.means)
        return (found.effect(plan.because),), plan.source, ""
    if plan.reader is Reader.SHELL:
        return effects[: LIMITS.command_effects], Source.SHELL, ""
    return effects, Source.ARGUMENTS if plan.source is Source.VERB else plan.source, ""


_SCRIPT_URL: Final = Effect("browser.execute_js", Risk.EXECUTION, unverified=frozenset({TargetKind.PROGRAM}), because="a URL that is a script")


def _runs_script(url: str) -> bool:
    """Whether opening a URL runs a script: ``javascript:``, ``data:`` in every spelling a browser takes."""
    head = "".join(url[:200].split()).casefold().removeprefix("view-source:")
    return head.startswith(("javascript:", "data:", "vbscript:"))


# --- refinement by argument values (layer 1)


def _refined(call: ToolCall, plan: Plan) -> tuple[tuple[Meaning, ...], bool]:
    """Return what the arguments make of a row, worst first among batches; and whether they decided."""
    folded = {fold_key(key): value for key, value in call.args.items() if isinstance(key, str)}
    for rule in plan.rules:
        value = folded.get(rule.argument)
        if _says(value, rule.values):
            return (rule.means,), True
    if not plan.by:
        return (plan.means,), False
    chosen: dict[Meaning, None] = {}
    values = _choices(folded, plan.by)
    for value in values:
        chosen[_chosen(value, plan)] = None
    if not chosen:
        return (plan.otherwise or plan.means,), True
    return tuple(chosen), True


def _says(value: object, wanted: frozenset[str]) -> bool:
    """Whether an argument has one of the wanted values, or says anything at all where none is named."""
    if isinstance(value, list | tuple):
        return any(_says(item, wanted) for item in value[:1000]) if value else False
    if isinstance(value, bytes | bytearray):
        value = bytes(value[:NAME_LENGTH]).decode("utf-8", "replace")
    if not wanted:
        return value is not None and value is not False and value != "" and not (isinstance(value, Mapping) and not value)
    return fold_key(value if isinstance(value, str) else str(value).lower() if isinstance(value, bool | int) else "") in wanted


def _choices(folded: Mapping[str, object], keys: frozenset[str]) -> list[str]:
    """Return the values of the multiplexing argument: at the top, and in each entry of a batch."""
    found: list[str] = []
    for key, value in folded.items():
        if key in keys and value is not None:
            items = value if isinstance(value, list | tuple) else [value]
            found += [item if isinstance(item, str) else "?" for item in items[:1000]]
        elif isinstance(value, list | tuple):
            for item in value[:1000]:
                if isinstance(item, Mapping):
                    found += [inner if isinstance(inner, str) else "?" for name, inner in item.items() if isinstance(name, str) and fold_key(name) in keys]
    return found


def _chosen(value: str, plan: Plan) -> Meaning:
    """Return what one value means; one that the row does not have is the tool's worst."""
    known = plan.choices.get(fold_key(value))
    return known if known is not None else plan.otherwise or plan.means


# --- arguments that say more than an inferred name


def _sniffed(call: ToolCall, plan: Plan) -> tuple[tuple[Effect, ...], Source, str] | None:
    """Read a call of a tool that no row knows by what it is handed: an action, SQL, a command, an HTTP method."""
    folded = {fold_key(key): value for key, value in call.args.items() if isinstance(key, str)}
    sql = next((key for key in ("sql", "sqlquery", "query", "statement") if _is_sql(folded.get(key), key, plan)), None)
    if sql is not None:
        effects = read(call, replace(plan, reader=Reader.SQL))
        if effects:
            return effects, Source.ARGUMENTS, ""
    method = next((str(folded[key]) for key in folded if key in _METHOD_KEYS and isinstance(folded[key], str)), "")
    if method.casefold() in _WRITING_METHODS and any(key in folded for key in ("url", "uri", "endpoint", "path")):
        effects = read(call, replace(plan, reader=Reader.HTTP))
        if effects:
            return effects, Source.ARGUMENTS, ""
    for key in _ACTION_KEYS:
        value = folded.get(key)
        if isinstance(value, str) and value and (found := _by_action(call, plan, key, value)):
            return found
    return _sniffed_command(call, plan, folded)


def _is_sql(value: object, key: str, plan: Plan) -> bool:
    """Whether an argument holds SQL: its name says so, or its first word does and the tool's name allows it."""
    if not isinstance(value, str):
        return False
    if key.startswith("sql"):
        return True
    first = value[:200].lstrip(" \t\r\n(;").partition(" ")[0].casefold()
    about = plan.means.capability.startswith(("database", "query", "sql", "tool", "table", "run", "statement")) or plan.nothing_known
    return first in _SQL_STARTS and about and (" " in value.strip())


def _by_action(call: ToolCall, plan: Plan, key: str, value: str) -> tuple[tuple[Effect, ...], Source, str] | None:
    """Read ``manage_email(operation="send")``: the value is the verb, the name has the noun."""
    if len(value) > 80 or (" " in value.strip() and key in {"command", "mode"}):
        return None
    named = words_of(call.tool)
    inner = words_of(value)
    subject = _subject(named)
    reading = infer([*inner], subject) if inner else None
    if reading is None:
        return None
    if RANK[reading.risk] < RANK[plan.means.risk] and not plan.nothing_known:
        return None
    because = f"{call.tool[:80]}: {key} is {value}"
    means = Meaning(reading.capability, reading.risk)
    return (gather(call, replace(plan, means=means), means).effect(because),), Source.ARGUMENTS, ""


def _subject(words: Sequence[str]) -> str:
    """Return the noun of a name whose verb says nothing: ``manage_email`` is about *email*."""
    from agentsfence_core.classification.lexicon import PROVES_NOTHING, STOP  # noqa: PLC0415
    from agentsfence_core.classification.names import singular  # noqa: PLC0415

    left = [word for word in words if word not in PROVES_NOTHING and word not in STOP and word != "manager"]
    return singular(left[-1]) if left else ""


def _sniffed_command(call: ToolCall, plan: Plan, folded: Mapping[str, object]) -> tuple[tuple[Effect, ...], Source, str] | None:
    """Read a command line that a tool of unknown kind is handed."""
    if not (plan.nothing_known or plan.means.risk is Risk.EXECUTION):
        return None
    for key in ("command", "cmd", "commands", "shellcommand", "commandline", "clicommand"):
        value = folded.get(key)
        if value and isinstance(value, str | list | tuple):
            effects = read(call, replace(plan, reader=Reader.SHELL))
            own = () if plan.nothing_known is False else (Effect("shell.exec", Risk.EXECUTION, unverified=frozenset({TargetKind.PROGRAM}), because="an unknown tool that takes a command"),)
            return (*effects, *own), Source.SHELL, ""
    return None


# --- tools that call tools


def _dispatched(call: ToolCall, catalogue: Catalogue, depth: int) -> Action:
    """Classify the calls inside a call, each as itself."""
    inner = _inner_calls(call)
    if not inner or depth >= _DISPATCH_DEPTH or len(inner) > _DISPATCHED:
        return _unreadable(call, "a tool that calls a tool, and which one cannot be read")
    actions = [_classify(each, catalogue, depth + 1) for each in inner]
    effects = numbered([action.effects for action in actions])
    source = actions[0].source if len(actions) == 1 else Source.ARGUMENTS
    return Action(call, effects, source, frozenset(), "; ".join(action.note for action in actions if action.note))


def _inner_calls(call: ToolCall) -> list[ToolCall]:
    """Return the calls that a dispatching call names."""
    folded = {fold_key(key): value for key, value in call.args.items() if isinstance(key, str)}
    for key in _BATCH_KEYS:
        entries = _parsed(folded.get(key))
        if isinstance(entries, list | tuple) and entries:
            return [_inner(call, entry) for entry in entries[: _DISPATCHED + 1]]
    return [_inner(call, call.args)] if any(isinstance(folded.get(key), str) for key in _NAME_KEYS) else []


def _inner(call: ToolCall, entry: object) -> ToolCall:
    """Return one inner call; an entry that names none becomes a call of a tool without a name."""
    entry = _parsed(entry)
    if not isinstance(entry, Mapping):
        return replace(call, tool="", args={})
    folded = {fold_key(key): value for key, value in entry.items() if isinstance(key, str)}
    if isinstance(folded.get("function"), Mapping):
        return _inner(call, folded["function"])
    name = next((str(folded[key]) for key in _NAME_KEYS if isinstance(folded.get(key), str)), "")
    server = next((str(folded[key]) for key in ("servername", "server", "mcpserver", "toolkit", "app") if isinstance(folded.get(key), str)), "")
    args = next((_parsed(folded[key]) for key in _ARGUMENT_KEYS if folded.get(key) is not None), None)
    if args is None:
        args = {key: value for key, value in entry.items() if not isinstance(key, str) or fold_key(key) not in _NAME_KEYS}
    if not isinstance(args, Mapping):
        args = {"input": args}
    name = name.removeprefix("functions.")
    return replace(call, tool=f"mcp__{server}__{name}" if server else name, args=args)


def _parsed(value: object) -> object:
    """Return a value, read from JSON where it was written as a string."""
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["} and len(value) <= LIMITS.json_text:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


# --- what is left


def _raised(effects: tuple[Effect, ...], plan: Plan) -> tuple[Effect, ...]:
    """Return the effects with the worst one raised to the plan's floor."""
    worst = max(effects, key=lambda effect: RANK[effect.risk])
    if RANK[worst.risk] >= RANK[plan.floor]:
        return effects
    return tuple(replace(effect, risk=plan.floor) if effect is worst else effect for effect in effects)


def _content(call: ToolCall, effects: tuple[Effect, ...]) -> frozenset[str]:
    """Return the arguments that a grant may leave out of its digest: the text of a send, the content of a plain file."""
    if any(effect.risk is Risk.COMMUNICATION for effect in effects):
        keys = TEXT_KEYS if all(effect.risk in {Risk.COMMUNICATION, Risk.READ} for effect in effects) else frozenset()
    elif len(effects) == 1 and effects[0].capability == "file.write" and effects[0].risk is Risk.LOCAL_WRITE:
        keys = FILE_TEXT_KEYS if effects[0].verified and effects[0].paths and all(map(_is_data, effects[0].paths)) else frozenset()
    else:
        return frozenset()
    return frozenset(key for key, value in call.args.items() if isinstance(key, str) and isinstance(value, str) and fold_key(key) in keys)


def _is_data(path: str) -> bool:
    """Whether nothing runs or obeys a file: by its ending, outside hidden folders, and no file that steers programs."""
    folder, _, name = path.casefold().rpartition("/")
    return name.rpartition(".")[2] in _DATA_ENDINGS and "." in name[1:] and name not in _RUNS_LATER_NAMES and "/." not in folder and not name.startswith((".", "requirements"))
