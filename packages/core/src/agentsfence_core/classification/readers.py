"""Calls whose arguments are written in a language of their own: which argument holds it, and who reads it.

Rules of this file:

* Parsers are imported when the first call needs them.
* An argument that should hold the language but does not, or cannot be read, makes the call the worst its tool can do.
* A flag by which the caller vouches for its own call (``requires_approval: false``) is never read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from agentsfence_core.classification.arguments import gather
from agentsfence_core.classification.catalogue.rows import Meaning, Reader, meaning
from agentsfence_core.classification.names import fold_all, fold_key, named, words_of
from agentsfence_core.classification.targets.paths import canonical_path
from agentsfence_core.limits import LIMITS
from agentsfence_core.model.action import Effect, Source, TargetKind
from agentsfence_core.model.risk import RANK, Risk

if TYPE_CHECKING:
    from agentsfence_core.classification.catalogue.rows import Plan
    from agentsfence_core.model.call import ToolCall

COMMAND_KEYS: Final = (
    "command cmd commands cmds commandline shellcommand bashcommand clicommand fullcommand script argv args "
    "input code text query statement program exec run line"
).split()
"""Folded names of arguments that hold a command, the likeliest first."""
_RANKED: Final = {key: place for place, key in enumerate(COMMAND_KEYS)}
_CERTAIN: Final = frozenset("command cmd commands cmds script argv clicommand shellcommand bashcommand".split())
_TEXTS: Final = 64
"""Texts of one argument that are read."""
_FOLDERS: Final = frozenset(
    "workdir cwd workingdir workingdirectory directory dir currentdirectory workspacefolder".split()
)
_ASIDE: Final = _FOLDERS | {"description", "explanation"}
_SQL_KEYS: Final = frozenset(
    "sql query queries statement statements script command q sqlquery sqltext text sqlstatement migration".split()
)
_SQL_WORDS: Final = frozenset(
    "select insert update delete drop alter create truncate grant revoke call exec execute copy merge vacuum begin do "
    "declare with pragma attach load replace rename set use lock import export analyze explain values table".split()
)
_CODE_KEYS: Final = frozenset(
    "code script source expression function query input command python javascript js snippet cell cellsource "
    "program text body content newsource pagefunction".split()
)
_PATCH_KEYS: Final = frozenset("patch input diff patchtext content changes text unifieddiff".split())
_PLAIN_ENVIRONMENT: Final = frozenset(
    "LANG LC_ALL TZ TERM CI NODE_ENV DEBUG PYTHONUNBUFFERED COLUMNS LINES NO_COLOR FORCE_COLOR".split()
)
_SHELLS: Final[Mapping[str, str]] = {
    "powershell": "powershell",
    "pwsh": "powershell",
    "cmd": "cmd",
    "cmd.exe": "cmd",
    "ps1": "powershell",
}
_SHELL_KEYS: Final = frozenset({"shell", "interpreter", "shelltype"})
_LANGUAGE_KEYS: Final = frozenset({"language", "lang", "runtime", "interpreter"})
_METHOD_KEYS: Final = frozenset({"method", "httpmethod", "verb"})
_KEEPS_IN: Final = ("output", "save", "dest", "download", "outfile", "target")
"""How the names of arguments begin that say into which file an answer goes."""
_DOCUMENT_KEYS: Final = frozenset({"query", "document", "mutation", "operation", "body"})
_ENVIRONMENTS: Final = frozenset({"env", "environment", "envvars"})
OPAQUE_COMMAND: Final = Effect(
    "shell.exec",
    Risk.EXECUTION,
    unverified=frozenset({TargetKind.PROGRAM}),
    because="a command that is not written in the call",
)

Read = Callable[["ToolCall", "Plan"], tuple[Effect, ...]]


def read(call: ToolCall, plan: Plan) -> tuple[Effect, ...]:
    """Return the effects of a call whose plan names a reader; none where the arguments do not hold its language."""
    return _READERS[plan.reader](call, plan)


def texts(call: ToolCall, keys: frozenset[str]) -> list[str]:
    """Return the strings under any of some folded keys, lists opened."""
    found: list[str] = []
    for key, value in fold_all(call.args):
        if key in keys:
            for item in list(value[:_TEXTS]) if isinstance(value, list | tuple) else [value]:
                found += _texts_in(item, keys)
    return found


def _texts_in(item: object, keys: frozenset[str]) -> list[str]:
    """Return the text of an item: itself, or what an object holds under one of the keys."""
    if isinstance(item, str):
        return [item]
    if isinstance(item, bytes | bytearray):
        return [bytes(item[: LIMITS.command_bytes + 1]).decode("utf-8", "replace")]
    return [inner for name, inner in fold_all(item) if isinstance(inner, str) and name in keys]


def numbered(groups: Sequence[Sequence[Effect]]) -> tuple[Effect, ...]:
    """Return the effects of several readings as one call: invocations counted on."""
    if len(groups) == 1:
        return tuple(groups[0])
    found: list[Effect] = []
    start = 0
    for group in groups:
        found.extend(replace(effect, invocation=effect.invocation + start) if start else effect for effect in group)
        start += max((effect.invocation for effect in group), default=-1) + 1
    return tuple(found)


# --- commands


def _shell(call: ToolCall, plan: Plan) -> tuple[Effect, ...]:
    """Read every command of the call; one that is not there is unverified execution."""
    workdir = _workdir(call)
    grammar = _grammar(call)
    groups = [
        group for key, value in _commands(call) if (group := _command(key, value, call, workdir, grammar, plan.detail))
    ]
    if not groups:
        return (OPAQUE_COMMAND,)
    extra = (OPAQUE_COMMAND,) if _odd_environment(call) or _runs_more(call, plan) else ()
    return (*numbered(groups[:64]), *extra)


_ELSEWHERE: Final = frozenset("remote ssh container docker pod k8s vm droplet fleet".split())
"""Words of names of tools that run commands elsewhere: what is there is not known here."""
_OTHER_LANGUAGES: Final = frozenset(
    "sql python js javascript node script code query browser notebook workflow agent".split()
)
"""Words of names that say of a tool which only its name says to run commands that it runs more than these."""
_PLACES: Final = frozenset("host hostname server machine instanceid container containerid pod vm remotehost".split())


def _runs_more(call: ToolCall, plan: Plan) -> bool:
    """Whether a tool runs commands elsewhere, or, as far as its name says, other languages too."""
    if plan.detail:
        return False
    words = words_of(call.tool)
    if not _ELSEWHERE.isdisjoint(words) or any(key in _PLACES and value for key, value in fold_all(call.args)):
        return True
    return plan.source is Source.VERB and not _OTHER_LANGUAGES.isdisjoint(words)


def _commands(call: ToolCall) -> list[tuple[str, object]]:
    """Return the arguments that hold a command: those under a known key, else every argument with text."""
    entries = [(key, value) for key, value in fold_all(call.args) if value]
    known = sorted((pair for pair in entries if pair[0] in _RANKED), key=lambda pair: _RANKED[pair[0]])
    if not known:
        return [(key, value) for key, value in entries if isinstance(value, str | list | tuple) and key not in _ASIDE]
    first, value = known[0]
    follows = next(
        (item for key, item in known[1:] if key in {"args", "argv"} and isinstance(item, list | tuple)), None
    )
    if isinstance(value, str) and follows is not None and " " not in value.strip():
        return [("argv", [value, *follows])]
    return [pair for pair in known if pair[0] in _CERTAIN] or [(first, value)]


def _command(
    key: str, value: object, call: ToolCall, workdir: str | None, grammar: str, program: str
) -> tuple[Effect, ...]:
    """Read one argument: a text, several texts, or the words of one command."""
    if isinstance(value, str):
        return _text(value, call, workdir, grammar, program)
    if not isinstance(value, list | tuple) or not value:
        return (OPAQUE_COMMAND,)
    items = [_item_text(item) for item in value[: LIMITS.command_operators]]
    if key not in {"commands", "cmds"} and all(isinstance(item, str) for item in value):
        words = _argv([str(item) for item in value], call, workdir, program)
        if key == "argv" or not any(" " in item.strip() for item in items[1:]):
            return words
        # `["ls", "rm x"]` is one command to one tool and two to another: both readings count.
        return numbered([words, *(_text(item, call, workdir, grammar, program) for item in items)])
    return numbered([_text(item, call, workdir, grammar, program) if item else (OPAQUE_COMMAND,) for item in items])


def _item_text(item: object) -> str:
    """Return an item of a list of commands as text: itself, its own command key, or words joined."""
    if isinstance(item, str):
        return item
    if isinstance(item, Mapping):
        return next((str(item[key]) for key in ("command", "cmd", "script") if isinstance(item.get(key), str)), "")
    if isinstance(item, list | tuple) and all(isinstance(word, str) for word in item):
        import shlex  # noqa: PLC0415

        return shlex.join(item)
    return ""


def _text(text: str, call: ToolCall, workdir: str | None, grammar: str, program: str) -> tuple[Effect, ...]:
    from agentsfence_core.classification.shell import read_command  # noqa: PLC0415  (lazy: the parser)

    if program and not text.lstrip().startswith((f"{program} ", f"{program}\t")):
        text = f"{program} {text}"
    return read_command(text, workdir=workdir, home=call.home, grammar=grammar).effects


def _argv(words: list[str], call: ToolCall, workdir: str | None, program: str) -> tuple[Effect, ...]:
    from agentsfence_core.classification.shell import read_argv  # noqa: PLC0415  (lazy: the parser)

    if program and words[0] != program:
        words = [program, *words]
    return read_argv(words, workdir=workdir, home=call.home).effects


def _workdir(call: ToolCall) -> str | None:
    """Return the folder that the call itself names, else the host's."""
    folder = _text_under(call, _FOLDERS)
    return canonical_path(folder, workdir=call.workdir, home=call.home) if folder else call.workdir


def _text_under(call: ToolCall, keys: frozenset[str]) -> str:
    """Return the first text under any of some folded keys."""
    for key, value in fold_all(call.args):
        if key in keys and isinstance(value, str) and value:
            return value
    return ""


def _grammar(call: ToolCall) -> str:
    """Return the grammar that the call or its host names."""
    shell = _text_under(call, _SHELL_KEYS)[:200].strip().casefold().rpartition("/")[2].removesuffix(".exe")
    return _SHELLS.get(shell, call.shell)


def _odd_environment(call: ToolCall) -> bool:
    """Whether the call sets variables that can make a program do something else (``LD_PRELOAD``, ``BASH_ENV``)."""
    for key, value in fold_all(call.args):
        if key in _ENVIRONMENTS and value:
            return not isinstance(value, Mapping) or any(name not in _PLAIN_ENVIRONMENT for name in value)
    return False


# --- other languages


def _sql(call: ToolCall, plan: Plan) -> tuple[Effect, ...]:
    """Read every statement; the tool's own word is kept where no SQL is found.

    A tool that may as well take a question in words (``maybe``) is read only where a word of SQL stands in it.
    """
    from agentsfence_core.classification.sql import read_sql  # noqa: PLC0415  (lazy: the parser)

    found = [text for text in texts(call, _SQL_KEYS) if text.strip()]
    dialect: str | None = plan.detail or None
    if plan.detail == "maybe":
        dialect = None
        found = [text for text in found if len(text) > LIMITS.sql_bytes or not _SQL_WORDS.isdisjoint(_words(text))]
    groups = [effects for text in found if (effects := read_sql(text, dialect))]
    return numbered(groups) if groups else ()


def _words(text: str) -> list[str]:
    """Return the words of a text, in lower case."""
    return "".join(character if character.isalnum() else " " for character in text.casefold()).split()


def _patch(call: ToolCall, plan: Plan) -> tuple[Effect, ...]:
    """Read a patch; without one, the edit of a single file."""
    from agentsfence_core.classification.patch import read_patch  # noqa: PLC0415  (lazy: few calls need it)

    found = [text for text in texts(call, _PATCH_KEYS) if text.strip()]
    one_file = gather(call, plan, plan.means)
    if not found or (one_file.paths and not any("***" in text or "---" in text for text in found)):
        return (one_file.effect(plan.because),)
    groups = [read_patch(text, workdir=_workdir(call), home=call.home) for text in found]
    if one_file.paths:
        groups.append((one_file.effect(plan.because),))
    return tuple(effect for group in groups for effect in group)


def _http(call: ToolCall, plan: Plan) -> tuple[Effect, ...]:
    """Read an HTTP request; a method in the tool's name counts where the arguments have none.

    INVARIANT: a tool that posts by name (``post_webpage``) posts whatever its arguments say: it may not look at them.
    """
    from agentsfence_core.classification.http import read_http  # noqa: PLC0415  (lazy: few calls need it)

    commanded = _program_call(call)
    if commanded:
        return commanded
    effects = read_http(call.args) or ()
    method = plan.detail or ("post" if plan.means.risk is Risk.EXTERNAL_WRITE else "")
    if method:
        others = {key: value for key, value in named(call.args) if fold_key(key) not in _METHOD_KEYS}
        own = read_http({**others, "method": method.upper()}) or ()
        effects = own if _worst_rank(own) >= _worst_rank(effects) else effects
    if not effects:
        return ()
    found = gather(call, plan, plan.means)
    seen = {path for effect in effects for path in effect.paths}
    found.paths = [path for path in found.paths if path not in seen]
    if not found.paths:
        return effects
    if any(key.startswith(_KEEPS_IN) for key, _ in fold_all(call.args)):
        return (*effects, Effect("file.download", Risk.LOCAL_WRITE, paths=tuple(found.paths), because=plan.because))
    return (*effects, found.effect(plan.because))


_CLIENTS: Final = frozenset({"curl", "wget", "httpie", "xh"})
_LINES: Final = frozenset("args argv arguments options flags command cmd commandline cli".split())


def _program_call(call: ToolCall) -> tuple[Effect, ...]:
    """Return what a tool that is named after a client does with a command line for it."""
    words = words_of(call.tool)
    if not words or words[-1] not in _CLIENTS:
        return ()
    program = "http" if words[-1] == "httpie" else words[-1]
    lines = [value for key, value in fold_all(call.args) if key in _LINES and value]
    urls = [text for text in texts(call, frozenset({"url", "uri", "urls"})) if text][:64]
    groups: list[tuple[Effect, ...]] = []
    for value in lines:
        if isinstance(value, str):
            import shlex  # noqa: PLC0415

            text = " ".join([value, *map(shlex.quote, urls)])
            groups.append(_text(text, call, _workdir(call), "posix", program))
        elif isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
            groups.append(_argv([*map(str, value[: LIMITS.command_operators]), *urls], call, _workdir(call), program))
        else:
            groups.append((OPAQUE_COMMAND,))
    return numbered(groups) if groups else ()


def _worst_rank(effects: tuple[Effect, ...]) -> int:
    return max((RANK[effect.risk] for effect in effects), default=-1)


def _code(call: ToolCall, plan: Plan) -> tuple[Effect, ...]:
    """Read code: it is execution that cannot be verified, with whatever else can be seen in it."""
    from agentsfence_core.classification.code import read_code  # noqa: PLC0415  (lazy: few calls need it)

    found = texts(call, _CODE_KEYS) or [value for value in call.args.values() if isinstance(value, str)]
    language = plan.detail or _language(call)
    own = Effect(
        plan.means.capability, Risk.EXECUTION, unverified=frozenset({TargetKind.PROGRAM}), because=plan.because
    )
    effects = [effect for text in found[:64] for effect in read_code(text, language)]
    return (
        own,
        *(
            effect
            for effect in effects
            if effect.capability not in {plan.means.capability, "code.exec"} or effect.paths or effect.domains
        ),
    )


def _language(call: ToolCall) -> str:
    """Return the language that the call names."""
    return _text_under(call, _LANGUAGE_KEYS)[:40].casefold() or "python"


def _graphql(call: ToolCall, plan: Plan) -> tuple[Effect, ...]:
    """A GraphQL document that holds a mutation or a subscription writes; without one, the name decides."""
    from agentsfence_core.classification.http import graphql_kind, graphql_texts  # noqa: PLC0415

    written = texts(call, _DOCUMENT_KEYS)
    documents = [document for text in written for document in graphql_texts(text)]
    kinds = {graphql_kind(document) for document in documents}
    if len(documents) < len(written) and any("mutation" in text.casefold() for text in written):
        kinds.add(Risk.EXTERNAL_WRITE)  # a document that cannot be read and names what changes
    worst = max(kinds, key=lambda kind: RANK[kind], default=plan.means.risk)
    capability = {Risk.READ: "web.read", Risk.DELETE: "web.delete"}.get(worst, "web.post")
    return (gather(call, plan, meaning(capability)).effect(plan.because),)


_CYPHER_KEYS: Final = frozenset({"query", "cypher", "statement", "cypherquery"})
_CYPHER_DELETES: Final = frozenset({"delete", "detach", "remove", "drop"})
_CYPHER_WRITES: Final = frozenset("create merge set foreach load call grant revoke alter".split())


def _cypher(call: ToolCall, plan: Plan) -> tuple[Effect, ...]:
    """Read a graph query by its words outside quotes: any that deletes or writes counts, wherever it stands."""
    words: set[str] = set()
    for text in texts(call, _CYPHER_KEYS):
        if len(text) > LIMITS.sql_bytes:
            words.add("delete")
        outside = "".join(part for part in _unquoted(text[: LIMITS.sql_bytes]))
        words.update(_words(outside))
    if not words:
        return ()
    capability = (
        "database.delete"
        if words & _CYPHER_DELETES
        else "database.write"
        if words & _CYPHER_WRITES
        else "database.read"
    )
    return (gather(call, plan, meaning(capability)).effect(plan.because),)


def _unquoted(text: str) -> list[str]:
    """Return the parts of a text that stand outside quotes; an open quote runs to the end, and is kept as code."""
    parts: list[str] = []
    start = place = 0
    while place < len(text):
        quote = text[place]
        if quote in "'\"":
            end = place + 1
            while end < len(text) and text[end] != quote:
                end += 2 if text[end] == "\\" else 1
            if end >= len(text):
                break
            parts.append(text[start:place])
            start = end + 1
            place = end
        place += 1
    return [*parts, text[start:]]


_WRITING_STAGES: Final[Mapping[str, Meaning]] = {
    "$out": Meaning("database.write", Risk.EXTERNAL_WRITE),
    "$merge": Meaning("database.write", Risk.EXTERNAL_WRITE),
    "$function": Meaning("code.exec", Risk.EXECUTION),
    "$accumulator": Meaning("code.exec", Risk.EXECUTION),
    "$where": Meaning("code.exec", Risk.EXECUTION),
}


def _pipeline(call: ToolCall, plan: Plan) -> tuple[Effect, ...]:
    """A pipeline reads, but for the stages that write or run code."""
    found = {plan.means: None}
    stack: list[object] = [call.args]
    for _ in range(LIMITS.argument_nodes):
        if not stack:
            break
        value = stack.pop()
        if isinstance(value, Mapping):
            for key, item in value.items():
                if isinstance(key, str) and key in _WRITING_STAGES:
                    found[_WRITING_STAGES[key]] = None
                stack.append(item)
        elif isinstance(value, list | tuple):
            stack.extend(value)
        elif (
            isinstance(value, str)
            and value.lstrip()[:1] in {"[", "{"}
            and any(stage in value for stage in _WRITING_STAGES)
        ):
            found |= dict.fromkeys(means for stage, means in _WRITING_STAGES.items() if stage in value)
    if stack:
        found[Meaning("database.write", Risk.EXTERNAL_WRITE)] = None
    return tuple(gather(call, plan, means).effect(plan.because) for means in found)


def _copy(call: ToolCall, plan: Plan) -> tuple[Effect, ...]:
    """What is copied is read, where it goes is written."""
    found = gather(call, plan, plan.means)
    sources = tuple(dict.fromkeys(found.sources))
    if not sources or plan.means.risk is not Risk.LOCAL_WRITE:
        return (found.effect(plan.because),)
    found.paths = [path for path in found.paths if path not in sources]
    return (Effect("file.read", Risk.READ, paths=sources, because=plan.because), found.effect(plan.because))


_READERS: Final[Mapping[Reader, Read]] = {
    Reader.SHELL: _shell,
    Reader.SQL: _sql,
    Reader.PATCH: _patch,
    Reader.HTTP: _http,
    Reader.CODE: _code,
    Reader.GRAPHQL: _graphql,
    Reader.CYPHER: _cypher,
    Reader.PIPELINE: _pipeline,
    Reader.COPY: _copy,
}
