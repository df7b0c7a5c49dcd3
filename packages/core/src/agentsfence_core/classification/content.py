"""Which arguments a grant may leave out of its digest: the text of a send, the content of a plain file (DESIGN 8).

Rules of this file:

* Structure is never content: a ``message`` that is an object may hold recipients.
* A file is plain where nothing runs or obeys it: notes and tables, outside hidden folders. Everything else a program
  may read later, so its content is part of what a person approves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentsfence_core.classification.keys import FILE_TEXT_KEYS, TEXT_KEYS
from agentsfence_core.classification.names import fold_key, named
from agentsfence_core.model.risk import Risk

if TYPE_CHECKING:
    from agentsfence_core.model.action import Effect
    from agentsfence_core.model.call import ToolCall

_NONE: Final[frozenset[str]] = frozenset()
_STEERS: Final = frozenset(
    "agents.md claude.md gemini.md soul.md memory.md user.md skill.md constraints.txt cmakelists.txt llms.txt "
    "copilot-instructions.md robots.txt manifest.txt".split()
)
"""Files of a plain kind that an agent or a program obeys."""
_PLAIN_ENDINGS: Final = frozenset("md markdown txt text rst adoc org csv tsv log tex bib srt vtt".split())


def content_of(call: ToolCall, effects: tuple[Effect, ...]) -> frozenset[str]:
    """Return the names of the call's top-level arguments that are message text or the content of a plain file."""
    worst = effects[0].risk
    if len(effects) > 1:
        if not all(effect.risk is Risk.COMMUNICATION or effect.risk is Risk.READ for effect in effects):
            return _NONE
        worst = Risk.COMMUNICATION if any(effect.risk is Risk.COMMUNICATION for effect in effects) else Risk.READ
    if worst is Risk.COMMUNICATION:
        return _texts(call, TEXT_KEYS)
    if worst is Risk.LOCAL_WRITE and effects[0].capability == "file.write" and _all_plain(effects[0]):
        return _texts(call, FILE_TEXT_KEYS)
    return _NONE


def _texts(call: ToolCall, keys: frozenset[str]) -> frozenset[str]:
    """Return the arguments under some names whose value is a text, and not structure written as one."""
    return frozenset(
        key
        for key, value in named(call.args)
        if isinstance(value, str) and fold_key(key) in keys and not (fold_key(key) == "payload" and value[:1] in "[{")
    )


def _all_plain(effect: Effect) -> bool:
    return effect.verified and bool(effect.paths) and all(map(_is_plain, effect.paths))


def _is_plain(path: str) -> bool:
    """Whether nothing runs or obeys a file."""
    folder, _, name = path.casefold().rpartition("/")
    stem, dot, ending = name.rpartition(".")
    hidden = "/." in folder or folder.startswith(".") or name.startswith((".", "requirements"))
    return bool(dot and stem) and ending in _PLAIN_ENDINGS and name not in _STEERS and not hidden
