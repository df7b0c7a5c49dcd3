"""Third-party opinions on a call, asked so that no plugin can allow, crash or hang anything (DESIGN 4).

Rules of this file:

* One hook at a time, on a thread of its own, with a deadline. The thread of a hook that hangs is left behind.
* An exception, a wrong type and a deadline that passed are one thing: a `PluginFault`. The plugin is not asked again,
  and since what it would have said is unknown, every later call is BLOCK until it is repaired or taken out.
* A plugin's reading of a call is added to the built-in one; it replaces only what the built-in calls UNKNOWN.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, TypeGuard

from agentsfence_core.limits import LIMITS
from agentsfence_core.model import (
    Action,
    Decision,
    Effect,
    ExecutionState,
    ObjectRef,
    ReasonCode,
    Risk,
    Source,
    TargetKind,
    TaskPolicy,
    ToolCall,
    Verdict,
)


class Hook(Protocol):
    """One plugin's implementation of one hook: what pluggy calls a ``HookImpl``."""

    plugin_name: str
    argnames: tuple[str, ...]

    @property
    def function(self) -> Callable[..., object]:
        """What to call, with ``argnames`` by name."""


@dataclass(frozen=True, slots=True)
class PluginFault:
    """A deciding hook that gave no usable answer."""

    plugin: str
    hook: str
    why: str

    def decision(self, action: Action) -> Decision:
        """Return the BLOCK that stands for the answer that is missing."""
        detail = f"the plugin {self.plugin} failed in {self.hook}: {self.why}"
        return Decision(
            verdict=Verdict.BLOCK,
            reason=ReasonCode.PLUGIN_FAULT,
            rule=f"plugin {self.plugin}",
            sentence=f"Blocked: {detail}. Repair it, or take it out of 'plugins' in the settings, and start again.",
            guidance=f"This call was blocked: {detail}. Do not work around it; tell the person.",
            risk=action.risk,
            capability=action.capability,
        )


class Deciders:
    """The deciding hooks of all plugins, and which of them have failed."""

    def __init__(self, classify: tuple[Hook, ...], evaluate: tuple[Hook, ...], seconds: float) -> None:
        self._classify = classify
        self._evaluate = evaluate
        self._seconds = seconds
        self._turn = threading.Lock()
        self.faults: dict[str, PluginFault] = {}
        """Plugin -> its fault; such a plugin is in quarantine."""

    def __bool__(self) -> bool:
        """Whether there is anybody to ask."""
        return bool(self._classify or self._evaluate)

    def classify(self, call: ToolCall, action: Action) -> Action:
        """Return the action with what plugins read in the call. A fault is kept, and `evaluate` says BLOCK for it."""
        for hook in self._classify:
            answer = self._answer(hook, "agentsfence_classify", {"call": call})
            if answer is None:
                continue
            if _is_action(answer):
                action = joined(action, answer)
            else:
                self._fail(hook, "agentsfence_classify", f"answered with {type(answer).__name__}, not with an Action")
        return action

    def evaluate(self, policy: TaskPolicy, state: ExecutionState, action: Action, now: float) -> tuple[Decision, ...]:
        """Return what plugins object to, and a BLOCK for each plugin that cannot be asked."""
        values = {"policy": policy, "state": state, "action": action, "now": now}
        objections = []
        for hook in self._evaluate:
            answer = self._answer(hook, "agentsfence_evaluate", values)
            if answer is None:
                continue
            if isinstance(answer, Decision) and isinstance(answer.verdict, Verdict):
                objections.append(_objection(hook.plugin_name, answer, action))
            else:
                self._fail(hook, "agentsfence_evaluate", f"answered with {type(answer).__name__}, not with a Decision")
        faults = [fault.decision(action) for fault in self.faults.values()]
        return (*faults, *(found for found in objections if found.verdict is not Verdict.ALLOW))

    def _answer(self, hook: Hook, name: str, values: Mapping[str, object]) -> object:
        """Return what the hook answers; ``None`` for nothing, and for a plugin that fails or has failed."""
        if hook.plugin_name in self.faults:
            return None
        arguments = {argument: values[argument] for argument in hook.argnames}
        answers: list[object] = []
        errors: list[str] = []

        def ask() -> None:
            try:
                answers.append(hook.function(**arguments))
            except BaseException as error:  # noqa: BLE001  (SystemExit in a plugin must not pass for an answer)
                errors.append(f"{type(error).__name__}: {error}"[:200])

        with self._turn:
            worker = threading.Thread(target=ask, name=f"agentsfence {hook.plugin_name}", daemon=True)
            worker.start()
            worker.join(self._seconds)
        if answers:
            return answers[0]
        self._fail(hook, name, errors[0] if errors else f"no answer within {self._seconds:g} seconds")
        return None

    def _fail(self, hook: Hook, name: str, why: str) -> None:
        self.faults.setdefault(hook.plugin_name, PluginFault(hook.plugin_name, name, why))


def nobody() -> Deciders:
    """Return no deciding hooks at all."""
    return Deciders((), (), LIMITS.plugin_seconds)


def joined(action: Action, other: Action) -> Action:
    """Return the action with the effects of a second reading: never less than before, except where it was UNKNOWN."""
    readable = all(effect.risk is not Risk.UNKNOWN for effect in other.effects)
    kept = [effect for effect in action.effects if not (readable and effect.risk is Risk.UNKNOWN)]
    for effect in other.effects:
        place = next((at for at, known in enumerate(kept) if _same_thing(known, effect)), None)
        if place is None:
            kept.append(effect)
        else:
            kept[place] = _with_targets(kept[place], effect)
    # INVARIANT: a plugin cannot name an argument as message text, which would take it out of a grant's digest.
    return replace(action, effects=tuple(kept), source=Source.PLUGIN)


def _same_thing(one: Effect, other: Effect) -> bool:
    return (one.capability, one.risk, one.invocation) == (other.capability, other.risk, other.invocation)


def _with_targets(effect: Effect, other: Effect) -> Effect:
    """Return the effect with the targets of both readings."""
    return replace(
        effect,
        recipients=_union(effect.recipients, other.recipients),
        domains=_union(effect.domains, other.domains),
        paths=_union(effect.paths, other.paths),
        objects=tuple(dict.fromkeys((*effect.objects, *other.objects))),
        values=tuple(dict.fromkeys((*effect.values, *other.values))),
        urls=_union(effect.urls, other.urls),
        unverified=effect.unverified | other.unverified,
    )


def _union(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _is_action(answer: object) -> TypeGuard[Action]:
    """Whether a plugin's answer is an action through and through: dataclasses do not check their own fields."""
    return isinstance(answer, Action) and bool(answer.effects) and all(map(_is_effect, answer.effects))


def _is_effect(effect: object) -> bool:
    if not isinstance(effect, Effect):
        return False
    single: tuple[tuple[object, type], ...] = (
        (effect.risk, Risk),
        (effect.capability, str),
        (effect.invocation, int),
        (effect.unverified, frozenset),
    )
    many: tuple[tuple[object, type], ...] = (
        *((kind, str) for kind in (effect.recipients, effect.domains, effect.paths, effect.urls)),
        *((pair, str) for pair in effect.values),
        (effect.values, tuple),
        (effect.objects, ObjectRef),
        (tuple(effect.unverified), TargetKind),
    )
    return all(isinstance(value, kind) for value, kind in single) and all(
        isinstance(values, tuple) and all(isinstance(value, kind) for value in values) for values, kind in many
    )


def _objection(plugin: str, answer: Decision, action: Action) -> Decision:
    """Return a plugin's decision as what it is: it cannot pass for a grant, a prohibition or another plugin."""
    said = str(answer.sentence)[:500] or "no reason given"
    return Decision(
        verdict=answer.verdict,
        reason=ReasonCode.PLUGIN_VERDICT,
        rule=f"plugin {plugin}",
        sentence=f"The plugin {plugin} objects: {said}",
        guidance=f"The plugin {plugin} objects: {said} Do not work around it; tell the person.",
        risk=action.risk,
        capability=action.capability,
        asks=(f"{ReasonCode.PLUGIN_VERDICT.value}:{plugin}",),
    )
