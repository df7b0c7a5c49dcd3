"""Real paths instead of written ones: the last step of classification, with what the file system says handed in.

Rules of this file:

* Pure: `paths_of` says what must be looked up, `resolve` puts the answers in. Nothing here touches a file system.
* Bounds and guards see the real path. The written one is kept in ``because``, for people: a path allowlist must not be
  satisfied by the name of a link, and a link's own name protects nothing that its target does not.
* A link that is deleted or renamed is the link, not what it points to. Both count then: the written path and the real
  one, so that neither a bound nor a guard can be passed by either.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from agentsfence_core.model.risk import Risk

if TYPE_CHECKING:
    from agentsfence_core.model.action import Action, Effect
    from agentsfence_core.model.call import PathFacts

_ACT_ON_THE_LINK: Final = frozenset({"file.move", "file.delete"})


def paths_of(action: Action) -> tuple[str, ...]:
    """Return every path of an action, each once, in order: what a host must look up."""
    if len(action.effects) == 1:
        return action.effects[0].paths
    return tuple(dict.fromkeys(path for effect in action.effects for path in effect.paths))


def resolve(action: Action, facts: PathFacts) -> Action:
    """Return the action with real paths. The same action where every path is already real."""
    if not facts.case_insensitive and all(
        facts.real.get(path, path) == path for effect in action.effects for path in effect.paths
    ):
        return action
    return replace(action, effects=tuple(_resolved(effect, facts) for effect in action.effects))


def _resolved(effect: Effect, facts: PathFacts) -> Effect:
    """Return one effect with its real paths."""
    if not effect.paths:
        return effect
    real = [_real(path, facts) for path in effect.paths]
    if tuple(real) == effect.paths:
        return effect
    both = effect.risk is Risk.DELETE or effect.capability in _ACT_ON_THE_LINK
    written = [path for path, target in zip(effect.paths, real, strict=True) if path != target]
    paths = tuple(dict.fromkeys((*effect.paths, *real) if both else real))
    note = f"written as {', '.join(written[:3])}"
    return replace(effect, paths=paths, because=f"{effect.because}; {note}" if effect.because else note)


def _real(path: str, facts: PathFacts) -> str:
    """Return where a path leads; on a file system that ignores case, in lower case."""
    real = facts.real.get(path, path)
    return real.casefold() if facts.case_insensitive else real
