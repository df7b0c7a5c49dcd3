"""The catalogue, compiled: which plan a tool's name has. Exact rows, then globs, then the verb in its name (paper 3.2).

Rules of this file:

* A person's settings win. A plugin's row lowers only what is UNKNOWN, else it only raises; so do a host's descriptions
  and annotations of its tools.
* One name has one row in every scheme: ``mcp__gmail__send_email``, ``gmail.send_email``, ``GmailSendEmail``.
* A tool part alone (``create_pull_request``) is looked up where all servers that have it agree.
* Plans are remembered per name, up to a bound; a catalogue itself never changes.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Final

from agentsfence_core.classification.catalogue.rows import (
    UNKNOWN,
    Meaning,
    Plan,
    Reader,
    Server,
    meaning,
    read_row,
    read_server,
    tool_key,
)
from agentsfence_core.classification.keys import KeyRole, Role
from agentsfence_core.classification.lexicon import ACTS, ALSO_NOUN, LOOKS, LOOKS_OR_NOUN
from agentsfence_core.classification.names import NAME_LENGTH, fold_key, words_of
from agentsfence_core.classification.verbs import Inference, infer, leading_verb
from agentsfence_core.classification.vocabulary import vocabulary
from agentsfence_core.model.action import Source
from agentsfence_core.model.risk import RANK, Risk
from agentsfence_core.ports import ToolMapping

_REMEMBERED: Final = 4096
_SCHEMES: Final = frozenset({"mcp", "functions", "function", "tool", "tools"})
_UNKNOWN_PLAN: Final = Plan(UNKNOWN, Source.NONE, "nothing in the name says what the tool does", nothing_known=True)
_REMOTE_NAMES: Final[Mapping[str, str]] = {
    "file.write": "drive.write",
    "file.copy": "drive.write",
    "file.move": "drive.write",
    "folder.create": "drive.write",
    "file.archive": "drive.write",
    "file.delete": "drive.delete",
    "file.read": "drive.read",
    "file.search": "drive.search",
    "memory.write": "note.write",
    "media.generate": "media.generate",
}
_GRAPHQL: Final = frozenset({"graphql", "gql"})
_NO_SERVER: Final = Server("")
_READERS: Final[Mapping[str, Reader]] = {
    "shell.exec": Reader.SHELL,
    "code.exec": Reader.CODE,
    "browser.execute_js": Reader.CODE,
    "web.post": Reader.HTTP,
}


@dataclass(frozen=True, slots=True)
class _Glob:
    pattern: str
    plan: Plan


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What is known of tools by name. Built once; `plan` is the only question it answers."""

    bare: Mapping[str, Plan]
    """Whole names, as words."""
    parts: Mapping[tuple[str, str], Plan]
    """(server, tool part)."""
    alone: Mapping[str, Plan]
    """Tool parts that mean the same on every server that has them."""
    servers: Mapping[str, Server]
    """Every name a server goes by, as words."""
    globs: tuple[_Glob, ...] = ()
    settings: Mapping[str, Plan] = field(default_factory=dict)
    setting_globs: tuple[_Glob, ...] = ()
    plugins: Mapping[str, Plan] = field(default_factory=dict)
    plugin_globs: tuple[_Glob, ...] = ()
    described: Mapping[str, Risk] = field(default_factory=dict)
    """The class of the verb that opens a host's description of a tool, by exact name."""
    hinted: Mapping[str, Risk] = field(default_factory=dict)
    """The class that a tool's annotations admit, by exact name."""
    _plans: dict[str, Plan] = field(default_factory=dict, compare=False, repr=False)

    def plan(self, tool: str) -> Plan:
        """Return what is known of a tool by its name."""
        known = self._plans.get(tool)
        if known is not None:
            return known
        found = self._find(tool)
        if len(tool) <= NAME_LENGTH:
            if len(self._plans) >= _REMEMBERED:
                self._plans.clear()
            self._plans[tool] = found
        return found

    def extended(
        self,
        settings_rows: Sequence[ToolMapping],
        plugin_rows: Sequence[ToolMapping],
        registered: Sequence[Mapping[str, object]] = (),
    ) -> Catalogue:
        """Return a catalogue with a person's rows before, and plugins' rows and a host's descriptions beside it."""
        exact, globs = _mappings(settings_rows, Source.SETTINGS)
        described, hinted = _said(registered)
        plugin_exact, plugin_globs = _mappings(plugin_rows, Source.PLUGIN)
        return replace(
            self,
            settings={**self.settings, **exact},
            setting_globs=(*globs, *self.setting_globs),
            plugins={**self.plugins, **plugin_exact},
            plugin_globs=(*plugin_globs, *self.plugin_globs),
            described={**self.described, **described},
            hinted={**self.hinted, **hinted},
            _plans={},
        )

    def _find(self, tool: str) -> Plan:
        """Walk the layers for a name that was not asked for before."""
        chosen = self.settings.get(tool) or _first_glob(self.setting_globs, tool)
        if chosen is not None:
            return chosen
        found = self._built_in(tool)
        plugin = self.plugins.get(tool) or _first_glob(self.plugin_globs, tool)
        if plugin is not None:
            found = _raised_by(found, plugin)
        return self._raised(tool, found)

    def _raised(self, tool: str, found: Plan) -> Plan:
        """Return a plan that a host's own words raise. A catalogue row knows better; an annotation doubts reads."""
        if found.source is Source.CATALOGUE:
            return found
        floor = self.described.get(tool, Risk.READ)
        if found.means.risk is Risk.READ:
            floor = max(floor, self.hinted.get(tool, Risk.READ), key=lambda risk: RANK[risk])
        return replace(found, floor=floor) if RANK[floor] > RANK[found.means.risk] else found

    def _built_in(self, tool: str) -> Plan:
        """Return the plan of the built-in layers: exact, glob, verb."""
        words = words_of(tool)
        if not words:
            return _UNKNOWN_PLAN
        whole = "_".join(words)
        exact = self.bare.get(whole)
        if exact is not None:
            return exact
        if words[0] in _SCHEMES and len(words) > 1:
            wrapped = self.bare.get("_".join(words[1:])) if words[0] != "mcp" else None
            if wrapped is not None:
                return wrapped
            words = words[1:]
        server, rest = self._server(words, told=len(words) < len(words_of(tool)))
        parts = tool.split("__")
        if server is None and len(parts) >= 3 and parts[0].casefold() in _SCHEMES:
            words = rest = words_of("_".join(parts[2:])) or words
        exact = self._exact(server, words, rest)
        if exact is not None:
            return exact
        glob = _first_glob(self.globs, "_".join(words))
        return glob if glob is not None else _inferred(tool, server, rest or words, words)

    def _server(self, words: Sequence[str], *, told: bool = True) -> tuple[Server | None, Sequence[str]]:
        """Return the server whose name opens the words, the longest one, and the words behind it.

        ``told``: something in front of the words says that a server's name comes first.
        """
        for size in range(min(4, len(words) - 1), 0, -1):
            server = self.servers.get("_".join(words[:size]))
            if server is not None and not (size == 1 and self._is_verb(server, words, told=told)):
                rest = words[size:]
                while len(rest) > size and tuple(rest[:size]) == tuple(words[:size]):
                    rest = rest[size:]
                return server, rest
        return None, words

    def _is_verb(self, server: Server, words: Sequence[str], *, told: bool) -> bool:
        """Whether a word that is a server's name is the verb of a tool: ``fetch_order`` of no server called *fetch*."""
        word = words[0]
        if word in ACTS:
            return word not in ALSO_NOUN
        return not told and word in LOOKS and (server.name, "_".join(words[1:])) not in self.parts

    def _alone_in(self, words: Sequence[str], *, first: bool) -> Plan | None:
        """Return the row of a tool part of an unknown server, unless it makes a read of what the words call an act."""
        if len(words) < 2:
            return None
        part = "_".join(words)
        found = (None if first else self.bare.get(part)) or self.alone.get(part)
        if found is None or found.means.risk is not Risk.READ or found.by or found.reader is not Reader.NONE:
            return found
        said = infer(words)
        return found if said is None or said.risk is Risk.READ else None

    def _of_server(self, server: Server, rest: Sequence[str]) -> Plan | None:
        """Return the row of a server's tool, which a server's name may open again (``gmail_gmail_api_send``)."""
        known = self.parts.get((server.name, "_".join(rest)))
        if known is not None or len(rest) < 2:
            return known
        inner, behind = self._server(rest)
        return self.parts.get((inner.name, "_".join(behind))) if inner is not None else None

    def _exact(self, server: Server | None, words: Sequence[str], rest: Sequence[str]) -> Plan | None:
        """Return the row of a tool part: of its server, alone, or behind an unknown server's name."""
        if server is not None:
            own = self._of_server(server, rest)
            if own is not None or infer(rest):
                return own
            whole = self.parts.get((server.name, "_".join(words)))
            return whole if whole is not None and whole.means.risk is Risk.READ else None
        for start in range(min(4, len(words))):
            if any(word in ACTS or word in LOOKS or word in LOOKS_OR_NOUN for word in words[:start]):
                return None
            found = self._alone_in(words[start:], first=start == 0)
            if found is not None:
                return found
        return None


@cache
def builtin() -> Catalogue:
    """Return the built-in catalogue; read once per process."""
    bare: dict[str, Plan] = {}
    parts: dict[tuple[str, str], Plan] = {}
    servers: dict[str, Server] = {}
    globs: list[_Glob] = []
    for name, entry in _entries():
        if name == "globs":
            globs += [
                _Glob(pattern, _plain(str(capability), pattern, Server(name))) for pattern, capability in entry.items()
            ]
            continue
        server = read_server(name, entry)
        rows = _rows_of(server, entry)
        if name.startswith("bare"):
            bare.update(rows)
            continue
        for alias in (name, *str(entry.get("servers", "")).split()):
            servers[tool_key(alias)] = server
        parts.update({(name, tool): plan for tool, plan in rows.items()})
    return Catalogue(bare, parts, _alone(parts), servers, tuple(globs))


def _entries() -> Iterable[tuple[str, Mapping[str, object]]]:
    """Yield the servers of every file of the catalogue."""
    import yaml  # noqa: PLC0415  (lazy: start-up budget, DESIGN 13)

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    folder = resources.files("agentsfence_core.classification.catalogue")
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if file.name.endswith(".yaml") and file.name != "capabilities.yaml":
            content = yaml.load(file.read_text("utf-8"), Loader=loader)  # noqa: S506  (a safe loader)
            yield from content.items()


def _rows_of(server: Server, entry: Mapping[str, object]) -> dict[str, Plan]:
    """Return the plans of one server by tool part."""
    found: dict[str, Plan] = {}
    tools = entry.get("tools")
    for capability, names in (tools if isinstance(tools, Mapping) else {}).items():
        for tool in str(names).split():
            found[tool_key(tool)] = _plain(capability, f"{server.name}: {tool}", server)
    rows = entry.get("rows")
    for names, row in (rows if isinstance(rows, Mapping) else {}).items():
        for tool in names.split():
            found[tool_key(tool)] = read_row(tool, row, server)
    return found


def _plain(capability: str, because: str, server: Server) -> Plan:
    """Return the plan of a tool whose capability says everything."""
    reader = Reader.COPY if capability == "file.copy" else _READERS.get(capability, Reader.NONE)
    means = meaning(capability)
    return Plan(means, Source.CATALOGUE, because, reader=reader, remote=server.remote, roles=server.roles)


def _alone(parts: Mapping[tuple[str, str], Plan]) -> dict[str, Plan]:
    """Return the tool parts that have the same capability on every server that has them."""
    found: dict[str, Plan | None] = {}
    for (_, tool), plan in parts.items():
        other = found.get(tool, plan)
        same = other is not None and other.means == plan.means and other.reader == plan.reader and other.by == plan.by
        found[tool] = plan if same else None
    return {tool: plan for tool, plan in found.items() if plan is not None}


def _inferred(tool: str, server: Server | None, rest: Sequence[str], words: Sequence[str]) -> Plan:
    """Return the plan that the words of a name make, or the one of a tool about which nothing is known."""
    reading = infer(rest, server.about if server else "") or infer(words)
    known = server or _NO_SERVER
    if reading is None:
        return replace(_UNKNOWN_PLAN, remote=known.remote, roles=known.roles)
    means = _meant(reading, known)
    reader = Reader.COPY if means.capability == "file.copy" else _READERS.get(means.capability, Reader.NONE)
    if not _GRAPHQL.isdisjoint(words):
        reader = Reader.GRAPHQL
    because = f"{tool[:80]}: the name says {reading.verb} {reading.noun}".rstrip()
    return Plan(means, Source.VERB, because, reader=reader, remote=known.remote, roles=known.roles)


def _meant(reading: Inference, server: Server) -> Meaning:
    """Return what a name means on its server: a file there is none here, and what runs there runs elsewhere."""
    capability, risk = reading.capability, reading.risk
    if server.remote and capability in _REMOTE_NAMES:
        return meaning(_REMOTE_NAMES[capability])
    if server.remote and risk is Risk.EXECUTION and capability not in _READERS:
        return Meaning(capability, Risk.EXTERNAL_WRITE)
    return Meaning(capability, risk)


def _first_glob(globs: Iterable[_Glob], tool: str) -> Plan | None:
    for glob in globs:
        if fnmatch.fnmatchcase(tool, glob.pattern):
            return glob.plan
    return None


def _mappings(rows: Iterable[ToolMapping], source: Source) -> tuple[dict[str, Plan], tuple[_Glob, ...]]:
    """Return the plans of rows from settings or a plugin: exact ones, and globs in their order."""
    exact: dict[str, Plan] = {}
    globs: list[_Glob] = []
    for row in rows:
        plan = _mapped(row, source)
        if any(sign in row.match for sign in "*?["):
            globs.append(_Glob(row.match, plan))
        else:
            exact[row.match] = plan
    return exact, tuple(globs)


def _mapped(row: ToolMapping, source: Source) -> Plan:
    """Return the plan of one row from settings or a plugin."""
    roles = {fold_key(key): KeyRole(Role.RECIPIENT) for key in row.recipients}
    roles |= {fold_key(key): KeyRole(Role.PATH) for key in row.paths}
    roles |= {fold_key(key): KeyRole(Role.URL) for key in row.domains}
    roles |= {fold_key(key): KeyRole(Role.OBJECT, kind) for key, kind in row.objects.items()}
    roles |= {fold_key(key): KeyRole(Role.VALUE, name) for key, name in row.values.items()}
    roles |= {fold_key(key): KeyRole(Role.CONTENT) for key in row.content}
    risk = row.risk.strip().upper()
    known = Risk(risk) if risk in Risk.__members__ else vocabulary().risk_of(row.capability) or Risk.UNKNOWN
    reader = _READERS.get(row.capability, Reader.NONE)
    return Plan(Meaning(row.capability, known), source, f"{source}: {row.match}", reader=reader, roles=roles)


def _raised_by(found: Plan, plugin: Plan) -> Plan:
    """Return the stricter of the built-in plan and a plugin's; a plugin lowers only what is UNKNOWN."""
    if found.nothing_known:
        return plugin
    if RANK[plugin.means.risk] <= RANK[found.means.risk]:
        return replace(found, roles={**plugin.roles, **found.roles})
    return replace(found, floor=plugin.means.risk)


def _said(registered: Iterable[Mapping[str, object]]) -> tuple[dict[str, Risk], dict[str, Risk]]:
    """Return what a host's descriptions and annotations of its tools admit. Both are untrusted: they only raise."""
    described: dict[str, Risk] = {}
    hinted: dict[str, Risk] = {}
    for tool in registered:
        name, description, hints = tool.get("name"), tool.get("description"), tool.get("annotations")
        if not isinstance(name, str):
            continue
        acts = leading_verb(description) if isinstance(description, str) else None
        if acts is not None:
            described[name] = acts
        if isinstance(hints, Mapping) and hints.get("destructiveHint") is True:
            hinted[name] = Risk.DELETE
        elif isinstance(hints, Mapping) and hints.get("readOnlyHint") is False:
            hinted[name] = Risk.EXTERNAL_WRITE
    return described, hinted
