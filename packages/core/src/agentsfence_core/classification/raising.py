"""Arguments by which a call that looks only, by its name, does more: where to save, what to replace, an option.

Rules of this file:

* Only what reads is looked at here: whatever acts is judged for what it does already.
* Arguments raise; nothing here lowers a class.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from agentsfence_core.classification.http import graphql_kind, graphql_texts
from agentsfence_core.classification.keys import Role, role_of
from agentsfence_core.classification.lexicon import ACTS, HARD, LOOKS_OR_NOUN
from agentsfence_core.classification.names import NAME_LENGTH, fold_all, fold_key, named, words_of
from agentsfence_core.classification.targets.paths import canonical_path, looks_like_path
from agentsfence_core.limits import LIMITS
from agentsfence_core.model.action import Effect
from agentsfence_core.model.risk import RANK, Risk

if TYPE_CHECKING:
    from agentsfence_core.classification.catalogue.rows import Plan
    from agentsfence_core.model.call import ToolCall

_SAVES: Final = frozenset("save saves saved output out write download export dump store persist".split())
_SAVED_AS: Final = frozenset("path paths file filename filepath to as dir directory folder location dest".split())
_SAVE_KEYS: Final = frozenset({"output", "outfile", "saveto", "saveas", "savepath", "outdir", "dumpto", "writeto"})
_REPLACES: Final = frozenset(
    "replacewith replacement replacements replacetext replacementtext newcontent newcontents newtext newstring newstr "
    "substitutewith setvalue".split()
)
"""Folded names of arguments that hold what takes the place of what is found."""
_SWITCHES: Final = frozenset(
    "delete remove purge destroy overwrite write send publish execute install drop pay".split()
)
"""Names of arguments that make a call act where they are true."""
_ENDPOINTS: Final = frozenset(
    "endpoint apiendpoint route apiroute apipath apimethod rpc rpcmethod procedure resourcepath".split()
)
_OPTION: Final = re.compile(r"--?[A-Za-z][\w-]*(?:=.*)?", re.DOTALL)
_DOCUMENTS: Final = frozenset({"query", "mutation", "document", "gql", "graphql", "operation", "body"})
_COMMAND_KEYS: Final = frozenset("command cmd commands shellcommand commandline".split())
_SHELLS: Final = frozenset("shell terminal console bash exec cli command cmd sh tty ssh".split())
_NO_OPTIONS: Final = frozenset({Role.CONTENT, Role.QUERY, Role.PATTERN, Role.HEADER, Role.MIME})
_TELLING: Final = _SAVE_KEYS | _REPLACES | _SWITCHES | _ENDPOINTS | _DOCUMENTS
_VALUES: Final = 64
"""Items of a list that are searched for options."""


def raised_by_arguments(call: ToolCall, plan: Plan, effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """Return the effects of a call that reads, with what its arguments make of it."""
    found: list[Effect] = []
    option_like = False
    for key, value in named(call.args):
        if isinstance(value, str | list | tuple):
            option_like = option_like or _holds_option(value)
        elif value is not True:
            continue
        folded = _telling(key) if len(key) <= NAME_LENGTH else ""
        if folded:
            found += _of_argument(call, plan, effects[0], key, folded, value)
    if option_like:
        found += _of_options(call)
    return (*effects, *found) if found else effects


@lru_cache(maxsize=4096)
def _telling(key: str) -> str:
    """Return the folded name of an argument that may raise a call, and nothing for any other."""
    folded = fold_key(key)
    words = words_of(key)
    saves = len(words) > 1 and words[0] in _SAVES and words[-1] in _SAVED_AS
    return folded if saves or folded in _TELLING else ""


def _of_argument(call: ToolCall, plan: Plan, own: Effect, key: str, folded: str, value: object) -> Iterator[Effect]:
    """Yield what one argument adds."""
    if value is True:
        if folded in _SWITCHES:
            yield Effect(f"{own.capability.partition('.')[0]}.{folded}", ACTS[folded], own.recipients, because=key[:80])
        return
    if folded in _REPLACES and own.capability != "file.compare":
        local = own.capability.startswith("file.") and not plan.remote
        capability, risk = ("file.write", Risk.LOCAL_WRITE) if local else (_written(own), Risk.EXTERNAL_WRITE)
        yield Effect(capability, risk, paths=own.paths, unverified=own.unverified, because=key[:80])
    if isinstance(value, str) and 0 < len(value) <= LIMITS.json_text:
        yield from _of_text(call, own, key, folded, value)


def _of_text(call: ToolCall, own: Effect, key: str, folded: str, value: str) -> Iterator[Effect]:
    """Yield what one text adds: a file to save to, an endpoint that acts, a GraphQL mutation."""
    because = f"{key[:40]}: {value[:80]}"
    if _saves(key, folded, value):
        path = canonical_path(value[: LIMITS.target_length], workdir=call.workdir, home=call.home)
        yield Effect("file.download", Risk.LOCAL_WRITE, domains=own.domains, paths=(path,), because=because)
    elif folded in _ENDPOINTS:
        risk = _endpoint_risk(value)
        if risk is not Risk.READ:
            yield Effect(_written(own), risk, domains=own.domains, urls=own.urls, because=because)
    elif folded in _DOCUMENTS and "mutation" in value.casefold():
        kinds = {graphql_kind(document) for document in graphql_texts(value)} - {Risk.READ}
        for kind in sorted(kinds):
            capability = "web.delete" if kind is Risk.DELETE else "web.post"
            yield Effect(capability, kind, domains=own.domains, urls=own.urls, because="a GraphQL mutation")


def _written(own: Effect) -> str:
    """Return the name for a change of what is read: ``record.read`` is changed by ``record.update``."""
    return f"{own.capability.partition('.')[0]}.update"


def _saves(key: str, folded: str, value: str) -> bool:
    """Whether an argument says into which file an answer goes."""
    words = words_of(key)
    says = folded in _SAVE_KEYS or (len(words) > 1 and words[0] in _SAVES and words[-1] in _SAVED_AS)
    if not says or "://" in value[:12] or "\n" in value:
        return False
    return looks_like_path(value) or (folded != "output" and "." in value)


def _endpoint_risk(value: str) -> Risk:
    """Return the worst of the acting words in the path of an endpoint: ``_delete_by_query``, ``/orders/create``."""
    path = value[:400].partition("://")[2].partition("/")[2] if "://" in value[:12] else value[:400]
    risks = [ACTS[word] for word in words_of(path.partition("?")[0][:200]) if word in HARD]
    return max(risks, key=lambda risk: RANK[risk], default=Risk.READ)


# --- options that values smuggle in


def _holds_option(value: object) -> bool:
    """Whether a value, or an item of a list, begins as an option does."""
    if isinstance(value, str):
        return value[:1] == "-" and len(value) > 1
    items = value[:_VALUES] if isinstance(value, list | tuple) else ()
    return any(isinstance(item, str) and item[:1] == "-" for item in items)


def _of_options(call: ToolCall) -> Sequence[Effect]:
    """Return what the program behind a tool does with values that are options to it (``target: "--output=f"``).

    A server for git hands ``--output=f`` on as it is (CVE-2025-68144 and its kin).
    """
    from agentsfence_core.classification.shell import read_argv  # noqa: PLC0415  (lazy: the parser)
    from agentsfence_core.classification.shell.programs import program_named  # noqa: PLC0415

    words = words_of(call.tool)
    place = next((at for at, word in enumerate(words) if word in _PROGRAMS and program_named(word)), None)
    if place is None:
        return ()
    options: list[str] = []
    for key, value in named(call.args):
        if role_of(key[:256]).role in _NO_OPTIONS:
            continue
        items = list(value[:_VALUES]) if isinstance(value, list | tuple) else [value]
        texts = [item[: LIMITS.target_length] for item in items if isinstance(item, str)]
        options += [text for text in texts if _OPTION.fullmatch(text)]
    if not options:
        return ()
    program = words[place]
    rest = [word for word in words[place + 1 :] if word != program]
    effects = read_argv([program, *rest, *options], workdir=call.workdir, home=call.home).effects
    return [effect for effect in effects if effect.risk is not Risk.READ]


_PROGRAMS: Final = frozenset(
    "git hg svn gh glab kubectl helm docker podman npm pip cargo rg grep find fd curl wget ffmpeg ffprobe tar rsync "
    "ssh terraform aws gcloud az psql mysql jq sort".split()
)
"""Programs that servers wrap: a value that is an option to them is one."""


def views_commands(call: ToolCall) -> bool:
    """Whether a name that may look only belongs to a tool for commands and is handed one (``shell_view``)."""
    words = words_of(call.tool)
    if _SHELLS.isdisjoint(words) or not any(word in LOOKS_OR_NOUN for word in words):
        return False
    return any(key in _COMMAND_KEYS and value for key, value in fold_all(call.args))
