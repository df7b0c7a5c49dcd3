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

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from agentsfence_core.classification.arguments import gather
from agentsfence_core.classification.catalogue.rows import UNKNOWN, Meaning, Plan, Reader
from agentsfence_core.classification.content import content_of
from agentsfence_core.classification.dispatch import CALLS, DEPTH, inner_calls
from agentsfence_core.classification.names import NAME_LENGTH, fold_all, fold_key
from agentsfence_core.classification.raising import raised_by_arguments
from agentsfence_core.classification.readers import numbered, read
from agentsfence_core.classification.sniff import seeks_secrets, sniffed
from agentsfence_core.limits import LIMITS
from agentsfence_core.model.action import Action, Effect, Source, TargetKind
from agentsfence_core.model.risk import RANK, Risk

if TYPE_CHECKING:
    from agentsfence_core.classification.catalogue import Catalogue
    from agentsfence_core.model.call import ToolCall

_EVERYTHING: Final = frozenset(TargetKind)
_ENTRIES: Final = 1_000
"""Entries of a list, or of a batch, that are searched for the value of a multiplexing argument."""


def classify(call: ToolCall, catalogue: Catalogue) -> Action:
    """Return what a call can do. Never raises; what cannot be read is UNKNOWN or unverified, never harmless."""
    return _classify(call, catalogue, 0, [CALLS])


def _classify(call: ToolCall, catalogue: Catalogue, depth: int, left: list[int]) -> Action:
    """Classify a call that ``depth`` dispatching tools stand around; ``left`` counts the inner calls still opened."""
    if not _is_call(call.tool, call.args):
        return _unreadable(call, "the arguments are no mapping, or the tool has no name")
    plan = catalogue.plan(call.tool)
    if plan.reader is Reader.DISPATCH:
        return _dispatched(call, catalogue, depth, left)
    effects, source = _effects(call, plan)
    if all(effect.risk is Risk.READ for effect in effects) and call.args and source is not Source.SHELL:
        effects = raised_by_arguments(call, plan, effects)
    if plan.floor is not Risk.READ:
        effects = _raised(effects, plan)
    note = _unread(effects) if source is Source.SHELL else ""
    return Action(call, effects, source, content_of(call, effects), note)


def _unread(effects: tuple[Effect, ...]) -> str:
    """Return which part of a command could not be verified."""
    return next((effect.because for effect in effects if TargetKind.PROGRAM in effect.unverified), "")


def _is_call(tool: object, args: object) -> bool:
    """Whether a host handed over what it promises: a name and a mapping."""
    return isinstance(tool, str) and isinstance(args, Mapping)


def _unreadable(call: ToolCall, note: str) -> Action:
    """Return the action of a call about which nothing can be said."""
    effect = Effect(UNKNOWN.capability, UNKNOWN.risk, unverified=_EVERYTHING, because=note)
    return Action(call, (effect,), Source.NONE, note=note)


def _effects(call: ToolCall, plan: Plan) -> tuple[tuple[Effect, ...], Source]:
    """Return the effects of a call by its plan, and which knowledge they come from."""
    if plan.by or plan.rules:
        meanings = _refined(call, plan)
        if meanings:
            return tuple(_effect(call, plan, means) for means in meanings), Source.ARGUMENTS
    if plan.reader is not Reader.NONE:
        return _read(call, plan)
    if plan.source is Source.VERB or plan.source is Source.NONE:
        found = sniffed(call, plan)
        if found is not None:
            return found
    effect = _effect(call, plan, plan.means)
    if effect.capability == "file.search" and seeks_secrets(call):
        return (effect, replace(effect, capability="secret.read")), plan.source
    if effect.urls and any(_runs_script(url) for url in effect.urls):
        return (effect, _SCRIPT_URL), plan.source
    return (effect,), plan.source


def _effect(call: ToolCall, plan: Plan, means: Meaning) -> Effect:
    """Return the one effect of a call that does one thing."""
    return gather(call, plan, means).effect(plan.because)


def _read(call: ToolCall, plan: Plan) -> tuple[tuple[Effect, ...], Source]:
    """Hand a call to the reader of its language; keep the plan's own word where there is nothing to read."""
    effects = read(call, plan)
    if not effects:
        return (_effect(call, plan, plan.means),), plan.source
    if plan.reader is Reader.SHELL:
        return _bounded(effects), Source.SHELL
    return effects, Source.ARGUMENTS if plan.source is Source.VERB else plan.source


def _bounded(effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """Return at most the effects that are kept; what is cut makes the rest an execution that nobody verified."""
    if len(effects) <= LIMITS.command_effects:
        return effects
    cut = Effect("shell.exec", Risk.EXECUTION, unverified=_EVERYTHING, because="more effects than are kept")
    worst = max(effects, key=lambda effect: RANK[effect.risk])
    return (worst, *effects[: LIMITS.command_effects - 2], cut)


_SCRIPT_URL: Final = Effect(
    "browser.execute_js", Risk.EXECUTION, unverified=frozenset({TargetKind.PROGRAM}), because="a URL that is a script"
)


def _runs_script(url: str) -> bool:
    """Whether opening a URL runs a script: ``javascript:``, ``data:`` in every spelling a browser takes."""
    head = "".join(url[:200].split()).casefold().removeprefix("view-source:")
    return head.startswith(("javascript:", "data:", "vbscript:"))


# --- refinement by argument values (layer 1)


def _refined(call: ToolCall, plan: Plan) -> tuple[Meaning, ...]:
    """Return what the arguments make of a row, several for a batch; nothing where no rule of the row applies."""
    entries = fold_all(call.args)
    for rule in plan.rules:
        if any(key == rule.argument and _says(value, rule.values) for key, value in entries):
            return (rule.means,)
    if not plan.by:
        return ()
    chosen = dict.fromkeys(_chosen(value, plan) for value in _choices(entries, plan.by))
    return tuple(chosen) or (plan.otherwise or plan.means,)


def _says(value: object, wanted: frozenset[str]) -> bool:
    """Whether an argument has one of the wanted values, or says anything at all where none is named."""
    if isinstance(value, list | tuple):
        return any(_says(item, wanted) for item in value[:_ENTRIES])
    if isinstance(value, bytes | bytearray):
        value = bytes(value[:NAME_LENGTH]).decode("utf-8", "replace")
    if not wanted:
        return value is not None and value is not False and value not in ("", {})
    if isinstance(value, bool | int):
        value = str(value) if isinstance(value, bool) or value.bit_length() < 64 else ""
    return isinstance(value, str) and fold_key(value[:NAME_LENGTH]) in wanted


def _choices(entries: list[tuple[str, object]], keys: frozenset[str]) -> list[str]:
    """Return the values of the multiplexing argument: at the top, and in each entry of a batch."""
    found: list[str] = []
    for key, value in entries:
        items = list(value[:_ENTRIES]) if isinstance(value, list | tuple) else [value]
        if key in keys:
            found += [item if isinstance(item, str) else "?" for item in items if item is not None]
        elif isinstance(value, list | tuple):
            inner = [pair for item in items for pair in fold_all(item) if pair[0] in keys]
            found += [item if isinstance(item, str) else "?" for _, item in inner]
            if len(value) > _ENTRIES:
                found.append("?")
    return found


def _chosen(value: str, plan: Plan) -> Meaning:
    """Return what one value means; one that the row does not have is the tool's worst."""
    known = plan.choices.get(fold_key(value))
    return known if known is not None else plan.otherwise or plan.means


# --- tools that call tools, and floors


def _dispatched(call: ToolCall, catalogue: Catalogue, depth: int, left: list[int]) -> Action:
    """Classify the calls inside a call, each as itself."""
    inner = inner_calls(call)
    left[0] -= len(inner)
    if not inner or depth >= DEPTH or left[0] < 0:
        return _unreadable(call, "a tool that calls a tool, and which one cannot be read")
    actions = [_classify(each, catalogue, depth + 1, left) for each in inner]
    effects = _bounded(numbered([action.effects for action in actions]))
    source = actions[0].source if len(actions) == 1 else Source.ARGUMENTS
    return Action(call, effects, source, note="; ".join(action.note for action in actions if action.note))


def _raised(effects: tuple[Effect, ...], plan: Plan) -> tuple[Effect, ...]:
    """Return the effects with the worst one raised to the plan's floor."""
    worst = max(effects, key=lambda effect: RANK[effect.risk])
    if RANK[worst.risk] >= RANK[plan.floor]:
        return effects
    return tuple(replace(effect, risk=plan.floor) if effect is worst else effect for effect in effects)
