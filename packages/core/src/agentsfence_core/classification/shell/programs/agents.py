"""The fence's and its host's own command lines, and every other way to reach them from a shell.

What a command says to the fence or its host about protection is ``fence.control``: no policy allows it.
"""

from __future__ import annotations

import re

from agentsfence_core.classification.shell.around import pattern_means_own
from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.programs import REACHING
from agentsfence_core.classification.shell.rows import Program, rows
from agentsfence_core.classification.shell.words import Word

CONTROL = "fence.control"
_OURS = re.compile(r"agents?[-_.]?fence|hermes", re.IGNORECASE)
_FENCE_READS = frozenset(
    """classify simulate compile capabilities explain adapters doctor demo test version help policy questions grants
    decisions status audit check tools""".split()
)
_HOST_READS = frozenset("status doctor version help logs insights sessions tools dump list show".split())
_GROUPS = frozenset(
    "config plugin skill cron profile gateway mcp model auth pairing hook approval setting tool".split()
)
_UNPROTECTED = frozenset({"--yolo", "--safe-mode", "-z", "--oneshot", "--dangerously-skip-permissions"})
_SWITCHES = frozenset(
    """config configure plugin extension profile approval hook setting uninstall update upgrade gateway pairing setup
    reset disable""".split()
)
"""In the singular: a group of commands goes by either form."""


_META = frozenset(".*+?[](){}|^$\\")
_SHARED = frozenset({"pip", "uv", "pipx", "conda", "mamba", "micromamba", "python", "python3"})
"""Package managers that remove from the environment of whatever runs; a project's own manager does not."""
_NEEDED = frozenset("pluggy sqlglot structlog platformdirs tree-sitter tree-sitter-bash tree-sitter-powershell".split())
"""Packages without which the fence does not start, and its host does."""


def _plain(words: list[Word]) -> list[str]:
    """Return the words that are no options; the value of ``-p default`` goes with its option."""
    out: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word.text.startswith("-"):
            skip = word.text in {"-p", "--profile", "-m", "--model", "-c", "--config"}
        else:
            out.append(word.text)
    return out


def _fence(call: Call, _program: Program) -> None:
    """``agentsfence`` looks, or it changes what is enforced."""
    names = _plain(call.words[1:])
    verb = names[0] if names else "help"
    inner = names[1] if len(names) > 1 else ""
    if verb in _FENCE_READS or (verb in {"hermes", "langchain"} and inner in {"status", "doctor", "show", "list"}):
        call.effect("system.read")
    else:
        call.effect(CONTROL)


def _host(call: Call, _program: Program) -> None:
    """``hermes``: looking is a read, its settings and plug-ins are the fence's own, the rest starts an agent."""
    words = call.words[1:]
    names = _plain(words)
    verb = names[0].lower() if names else ""
    group = verb if verb in {"status", "access"} else verb.removesuffix("s")
    inner = names[1] if len(names) > 1 else ""
    if any(word.text.partition("=")[0] in _UNPROTECTED for word in words):
        call.effect(CONTROL)
    elif (
        not words
        or verb in _HOST_READS
        or (group in _GROUPS and inner in {"list", "show", "path", "status", "get", "check"})
    ):
        call.effect("system.read") if words else call.unseen("another agent")
    elif group in _SWITCHES or any(not word.literal for word in words[:3]):
        call.effect(CONTROL)
    elif verb == "send":
        call.effect("message.send")
    elif verb == "cron":
        call.effect("schedule.delete" if inner in {"remove", "delete", "rm"} else "schedule.create")
    else:
        call.unseen("another agent")


def _names_us(name: str) -> bool:
    """Whether a name or a pattern of ``pkill`` means the fence or its host: also a part of their names."""
    if not _META.isdisjoint(name):
        return _OURS.search(name) is not None or pattern_means_own(name)
    return _OURS.search(name) is not None or (len(name) > 3 and name.lower() in "hermes-gateway agentsfence hermes_cli")


def protect(call: Call) -> None:
    """Add ``fence.control`` where a command stops, removes or replaces the fence or its host under their name."""
    for capability, draft in list(call.drafts.items()):
        if (
            capability == "package.remove"
            and call.words[0].text in _SHARED
            and _NEEDED.intersection(item.name.casefold().replace("_", "-") for item in draft.objects)
        ):
            call.effect(CONTROL)
            return
        if capability in REACHING and any(_names_us(item.name) for item in draft.objects):
            call.effect(CONTROL)
            return


PROGRAMS = {
    "agentsfence": Program("system.read", hook=_fence),
    **rows("hermes hermes-agent", Program("system.read", hook=_host)),
}
