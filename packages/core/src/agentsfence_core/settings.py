"""Settings: what the person who runs the fence decided about it, never what a task or an agent may decide (DESIGN 9).

Rules of this file:

* Precedence: argument > environment > the user's file > the organisation's defaults; the organisation's floor only
  tightens what came out. ``tools``, ``contacts``, ``plugins``, ``compiler`` and ``store`` never come from the
  organisation or a project: each of them could move authority.
* The working directory is never read. A project file is read only where it is named, and only narrows.
* A file that another account can write is refused: whoever writes it decides what the fence allows.
* What weakens the fence has a name that begins with ``unsafe_`` and no environment variable.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Final

from agentsfence_core.errors import PolicyError, SettingsError
from agentsfence_core.evaluation.options import DEFAULT_UNAUTHORIZED
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Ceiling, Prohibition, Risk, TaskPolicy, Verdict
from agentsfence_core.model.decision import strictest
from agentsfence_core.plain import PlainError, from_plain
from agentsfence_core.ports import ToolMapping
from agentsfence_core.stores.private_files import writable_by_others
from agentsfence_core.strict_yaml import Document, StrictYamlError, parse

FILE_NAME = "settings.yaml"
_OPENROUTER_KEY = "OPENROUTER_API_KEY"
_LONGEST_TIMEOUT = 600  # seconds that a compiler backend may take


class Preset(StrEnum):
    """Named settings: ``balanced`` is the defaults of the task policies, ``strict`` asks less and blocks more."""

    BALANCED = "balanced"
    STRICT = "strict"


class MissingPolicy(StrEnum):
    """What an unknown task gets: the read-only policy, or BLOCK."""

    FALLBACK = "fallback"
    BLOCK = "block"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """How calls are judged that no policy settles."""

    unauthorized: Mapping[Risk, Verdict] = field(default_factory=dict)
    """Class -> verdict where it differs from the preset's."""
    missing_policy: MissingPolicy = MissingPolicy.FALLBACK
    strict_auto_approve: bool = False
    """A question is a BLOCK wherever the host would answer it by itself, not only under the fallback policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiler:
    """Which backend drafts policies, and how it is reached."""

    name: str = ""
    """Name of the backend; empty: ``chat`` where a key is set, else ``rules``."""
    model: str = ""
    base_url: str = ""
    api_key_env: str = ""
    """Name of the environment variable that holds the key; the key itself never stands in a file."""
    timeout: float = 20.0
    """Seconds that one answer may take."""
    options: Mapping[str, object] = field(default_factory=dict)
    """Passed to the backend as they are."""

    def values(self) -> Mapping[str, object]:
        """Return all but the name, for a backend."""
        named = {"model": self.model, "base_url": self.base_url, "api_key_env": self.api_key_env}
        return {**self.options, **named, "timeout": self.timeout}


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """Whether and where decisions are recorded."""

    enabled: bool = True
    path: str = ""
    """Folder of the log; empty: ``audit`` in the home folder of the fence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """What a project or an organisation takes away from every policy. It has no way to add authority."""

    prohibitions: tuple[Prohibition, ...] = ()
    denied_tools: tuple[str, ...] = ()
    requires_approval: tuple[str, ...] = ()
    ceilings_off: frozenset[Ceiling] = frozenset()

    def applied(self, policy: TaskPolicy) -> TaskPolicy:
        """Return the policy with everything here taken away."""
        if self == _NOTHING_TAKEN:
            return policy
        off = self.ceilings_off
        return replace(
            policy,
            user_prohibitions=(*policy.user_prohibitions, *self.prohibitions),
            denied_tools=(*policy.denied_tools, *self.denied_tools),
            requires_approval=(*policy.requires_approval, *self.requires_approval),
            allow_local_writes=policy.allow_local_writes and Ceiling.LOCAL_WRITES not in off,
            allow_external_writes=policy.allow_external_writes and Ceiling.EXTERNAL_WRITES not in off,
            allow_destructive_actions=policy.allow_destructive_actions and Ceiling.DESTRUCTIVE_ACTIONS not in off,
            allow_financial_actions=policy.allow_financial_actions and Ceiling.FINANCIAL_ACTIONS not in off,
            allow_execution=policy.allow_execution and Ceiling.EXECUTION not in off,
            allow_permission_changes=policy.allow_permission_changes and Ceiling.PERMISSION_CHANGES not in off,
        )

    def joined(self, other: Narrowing) -> Narrowing:
        """Return what both take away."""
        return Narrowing(
            prohibitions=(*self.prohibitions, *other.prohibitions),
            denied_tools=(*self.denied_tools, *other.denied_tools),
            requires_approval=(*self.requires_approval, *other.requires_approval),
            ceilings_off=self.ceilings_off | other.ceilings_off,
        )


_NOTHING_TAKEN = Narrowing()


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFile:
    """The fields of ``settings.yaml``, of a settings mapping and, without the last five, of an organisation's."""

    preset: Preset = Preset.BALANCED
    evaluation: Evaluation = field(default_factory=Evaluation)
    audit: Audit = field(default_factory=Audit)
    unsafe_shadow: bool = False
    """Decide and record, but let the host go on; guards and prohibitions stay enforced."""
    unsafe_unauthorized: bool = False
    """Lets ``evaluation.unauthorized`` say ALLOW for a class that changes something."""
    compiler: Compiler = field(default_factory=Compiler)
    store: str = ""
    """URL; empty: ``sqlite:`` in the home folder of the fence."""
    tools: tuple[ToolMapping, ...] = ()
    contacts: Mapping[str, str] = field(default_factory=dict)
    """Name -> address; only what the user wrote here."""
    plugins: tuple[str, ...] = ()
    """Distributions of third-party plugins that may load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(SettingsFile):
    """Settings in force, complete and checked. Without arguments: the built-in defaults, which name no place."""

    compiler: Compiler = field(default_factory=lambda: Compiler(name="rules"))
    home: Path | None = None
    """Folder that holds the settings and the state."""
    audit_path: Path | None = None
    """Folder of the audit log; ``None``: nothing is recorded."""
    host_places: tuple[str, ...] = ()
    """Folders and files of the host, absolute, that no call may change; named by its adapter, never by a file."""
    narrowing: Narrowing = field(default_factory=Narrowing)
    default_verdicts: Mapping[Risk, Verdict] = field(default_factory=lambda: DEFAULT_UNAUTHORIZED)
    """Class -> verdict for a call that the policy does not authorize; complete."""

    @property
    def missing_policy(self) -> MissingPolicy:
        """What an unknown task gets."""
        return self.evaluation.missing_policy

    @property
    def strict_auto_approve(self) -> bool:
        """Whether a question is a BLOCK wherever the host would answer it by itself."""
        return self.evaluation.strict_auto_approve

    @property
    def protected(self) -> tuple[str, ...]:
        """Folders and files of the fence and its host, which no call may change."""
        places = [str(place) for place in (self.home, self.audit_path) if place is not None]
        if self.store.startswith("sqlite:"):
            places.append(str(sqlite_path(self.store)))
        return tuple(dict.fromkeys((*places, *self.host_places)))


_ENVIRONMENT: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "AGENTSFENCE_PRESET": ("preset",),
        "AGENTSFENCE_STORE": ("store",),
        "AGENTSFENCE_COMPILER": ("compiler", "name"),
        "AGENTSFENCE_MODEL": ("compiler", "model"),
        "AGENTSFENCE_BASE_URL": ("compiler", "base_url"),
    }
)
"""Environment variables and the fields they set. None of them can weaken a verdict."""

_NEVER_SHARED = ("tools", "contacts", "plugins", "compiler", "store")
_Plain = Mapping[str, object]


def load_settings(
    source: str | Path | _Plain | None = None,
    environ: Mapping[str, str] | None = None,
    org: _Plain | None = None,
    *,
    read_user_file: bool = True,
) -> Settings:
    """Return the settings in force.

    ``source`` is a file that takes the place of the user's, or a mapping that goes before everything else; ``None``
    leaves the user's file, which may be missing. ``org`` has defaults, and under ``floor`` what can only be tightened.
    """
    refuse_foreign_package()
    environ = os.environ if environ is None else environ
    home = settings_home(environ)
    defaults, floor = _organisation(org)
    named = Path(source).expanduser() if isinstance(source, str | Path) else None
    layers = [defaults, _user_layer(named or home / FILE_NAME, needed=named is not None) if read_user_file else {}]
    layers.append(_environment_layer(environ))
    if isinstance(source, Mapping):
        layers.append(_checked_layer(source, "settings"))
    merged: _Plain = {}
    for layer in layers:
        merged = _merged(merged, layer)
    found = _tightened(_read(merged, "settings"), floor)
    return _complete(replace(found, compiler=_named(found.compiler, environ)), home)


def settings_home(environ: Mapping[str, str]) -> Path:
    """Return the folder of settings and state: ``$AGENTSFENCE_HOME``, else where this system keeps user data."""
    if named := environ.get("AGENTSFENCE_HOME", ""):
        home = Path(named).expanduser()
        if not home.is_absolute():
            raise SettingsError(
                f"AGENTSFENCE_HOME is not absolute: {named}", hint="the working directory is never read"
            )
        return home
    import platformdirs  # noqa: PLC0415  (lazy: start-up budget, DESIGN 13)

    return platformdirs.user_data_path("agentsfence", appauthor=False)


def sqlite_path(url: str) -> Path:
    """Return the file of a URL: ``sqlite:/absolute``, ``sqlite:///absolute``, ``sqlite:~/file``."""
    return Path(url.removeprefix("sqlite:").removeprefix("//")).expanduser()


def refuse_foreign_package() -> None:
    """Raise where the other public package of this name is installed: it claims the same command, key and folder."""
    from importlib import metadata  # noqa: PLC0415

    try:
        metadata.distribution("agentsfence")
    except metadata.PackageNotFoundError:
        return
    raise SettingsError(
        "another package called 'agentsfence' is installed, which claims the same command, plugin name and folder",
        hint="uninstall it, or use another environment: pip uninstall agentsfence",
    )


def narrowed(settings: Settings, project: _Plain | Path) -> Settings:
    """Return the settings with what a project takes away; a project that would add anything is refused."""
    from agentsfence_core.policy_file import load_policy  # noqa: PLC0415  (lazy: pydantic)

    where = str(project) if isinstance(project, Path) else "project"
    data = _document(project, where).value if isinstance(project, Path) else project
    if not isinstance(data, Mapping):
        raise SettingsError(f"{where}: not a mapping of fields", hint="start with 'prohibitions: [...]'")
    lists = {"user_prohibitions", "prohibitions", "denied_tools", "requires_approval"}
    ceilings = {ceiling.value for ceiling in Ceiling}
    for name, value in data.items():
        if name not in lists and not (name in ceilings and value is False):
            hint = "it may have prohibitions, denied_tools, requires_approval, and ceilings that are false"
            raise SettingsError(f"{where}: {name}: a project may only narrow", hint=hint)
    try:
        policy = load_policy({name: value for name, value in data.items() if name in lists})
    except PolicyError as error:
        raise SettingsError(f"{where}: {Exception.__str__(error)}", hint=error.hint) from error
    taken = Narrowing(
        prohibitions=policy.user_prohibitions,
        denied_tools=policy.denied_tools,
        requires_approval=policy.requires_approval,
        ceilings_off=frozenset(Ceiling(name) for name in data if name in ceilings),
    )
    return replace(settings, narrowing=settings.narrowing.joined(taken))


# -------------------------------------------------------------------------------------------------------------- layers


def _user_layer(path: Path, *, needed: bool) -> _Plain:
    """Return what the user's file says; nothing where it is missing and was not named."""
    try:
        there = path.exists()
        reason = writable_by_others(path) or writable_by_others(path.resolve()) if there else ""
    except (OSError, RuntimeError) as error:
        raise SettingsError(f"{path}: {error}", hint="check the rights of its folder") from error
    if reason:
        raise SettingsError(f"{path}: {reason}", hint=f"check what it says, then: chmod go-w {path} {path.parent}")
    if not there:
        if needed:
            raise SettingsError(f"{path}: no such file", hint="check the path")
        return {}
    document = _document(path, str(path))
    return _checked_layer({} if document.value is None else document.value, str(path), document)


def _document(path: Path, where: str) -> Document:
    """Return the parsed file, or raise `SettingsError` with the line."""
    try:
        with path.open("rb") as file:
            raw = file.read(LIMITS.settings_bytes + 1)
        if len(raw) > LIMITS.settings_bytes:
            raise SettingsError(f"{where}: the file is too large", hint=f"at most {LIMITS.settings_bytes} bytes")
        return parse(raw.decode("utf-8-sig"), max_values=LIMITS.policy_entries)
    except OSError as error:
        raise SettingsError(f"{where}: {error.strerror or error}", hint="check the file and its rights") from error
    except ValueError as error:
        raise SettingsError(f"{where}: not UTF-8", hint="save the file as UTF-8 text") from error
    except StrictYamlError as error:
        raise SettingsError(f"{where}: {error}", hint=error.hint) from error


def _checked_layer(data: object, where: str, document: Document | None = None) -> _Plain:
    """Return the layer with its short forms written out, once it is known to be valid by itself."""
    if not isinstance(data, Mapping):
        raise SettingsError(f"{where}: not a mapping of fields", hint="start with 'preset: balanced'")
    layer = {name: value for name, value in data.items() if value is not None}
    if "tools" in layer:
        layer["tools"] = _tool_rows(layer["tools"], where)
    _read(layer, where, document)
    return layer


def _tool_rows(rows: object, where: str) -> object:
    """Return the rows of ``tools`` as a list: ``{tool: {...}}`` is a short form, ``risk`` may follow the capability."""
    if isinstance(rows, Mapping):
        rows = [{"match": match, **row} if isinstance(row, Mapping) else row for match, row in rows.items()]
    return [_tool_row(row, where) for row in rows] if isinstance(rows, list | tuple) else rows


def _tool_row(row: object, where: str) -> object:
    from agentsfence_core.classification.vocabulary import vocabulary  # noqa: PLC0415  (lazy: reads the catalogue)

    if not isinstance(row, Mapping) or not isinstance(row.get("capability"), str):
        return row
    if "risk" not in row and (risk := vocabulary().risk_of(str(row["capability"]))):
        return {**row, "risk": risk.value}
    if "risk" in row and row["risk"] not in set(Risk):
        name = str(row.get("match", ""))[:80]
        raise SettingsError(f"{where}: tools: {name}: unknown risk", hint=f"one of {', '.join(Risk)}")
    return row


def _environment_layer(environ: Mapping[str, str]) -> _Plain:
    layer: dict[str, object] = {}
    for variable, path in _ENVIRONMENT.items():
        value = environ.get(variable, "")
        if value and len(path) == 1:
            layer[path[0]] = value
        elif value:
            layer[path[0]] = _merged(_mapping(layer.get(path[0])), {path[1]: value})
    return _checked_layer(layer, "environment")


def _organisation(org: _Plain | None) -> tuple[_Plain, SettingsFile | None]:
    """Return the defaults and the floor of an organisation."""
    if org is None:
        return {}, None
    defaults = {name: value for name, value in org.items() if name != "floor"}
    floor = org.get("floor", {})
    if not isinstance(floor, Mapping):
        raise SettingsError("organisation: floor: not a mapping of fields", hint="write 'floor: {preset: strict}'")
    for name in (*defaults, *floor):
        if name in _NEVER_SHARED:
            raise SettingsError(f"organisation: {name}: belongs to the user's own settings", hint="take it out")
    # A floor that does not speak of a field sets none: without these it would forbid what it never mentions.
    unsaid = {"unsafe_shadow": True, "unsafe_unauthorized": True, "audit": {"enabled": False}}
    return _checked_layer(defaults, "organisation"), _read({**unsaid, **floor}, "organisation: floor")


def _mapping(value: object) -> _Plain:
    return value if isinstance(value, Mapping) else {}


def _merged(below: _Plain, above: _Plain) -> _Plain:
    """Return both layers in one; mappings are joined field by field, everything else is replaced."""
    joined = dict(below)
    for name, value in above.items():
        old = joined.get(name)
        joined[name] = _merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return joined


# -------------------------------------------------------------------------------------------------------------- values


def _read(data: _Plain, where: str, document: Document | None = None) -> SettingsFile:
    """Return the fields of one layer, or raise `SettingsError` with the line and the fix."""
    evaluation = data.get("evaluation")
    rows = evaluation.get("unauthorized") if isinstance(evaluation, Mapping) else None
    try:
        if isinstance(rows, Mapping) and isinstance(evaluation, Mapping):
            unauthorized = from_plain(_Unauthorized, {"rows": [list(row) for row in rows.items()]}).rows
            data = {**data, "evaluation": {**evaluation, "unauthorized": {}}}
            found = from_plain(SettingsFile, data)
            return replace(found, evaluation=replace(found.evaluation, unauthorized=dict(unauthorized)))
        return from_plain(SettingsFile, data)
    except PlainError as error:
        path = error.path if error.path[:1] != ("rows",) else ("evaluation", "unauthorized")
        line = f"line {document.line(path)}: " if document else ""
        raise SettingsError(f"{where}: {line}{'.'.join(map(str, path))}: {error}", hint=error.hint) from error


@dataclass(frozen=True, slots=True)
class _Unauthorized:
    """The rows of ``evaluation.unauthorized``: class and verdict."""

    rows: tuple[tuple[Risk, Verdict], ...]


def _named(compiler: Compiler, environ: Mapping[str, str]) -> Compiler:
    """Return the compiler with the name of its backend: a model only where there is a key or an endpoint for it."""
    if compiler.name:
        return compiler
    reachable = compiler.base_url or environ.get(compiler.api_key_env or _OPENROUTER_KEY, "")
    return replace(compiler, name="chat" if reachable else "rules")


def _tightened(found: SettingsFile, floor: SettingsFile | None) -> SettingsFile:
    """Return the settings with the organisation's floor: whatever is stricter of the two."""
    if floor is None:
        return found
    rows = dict(found.evaluation.unauthorized)
    for risk, verdict in floor.evaluation.unauthorized.items():
        rows[risk] = strictest(verdict, rows.get(risk, DEFAULT_UNAUTHORIZED[risk]))
    evaluation = Evaluation(
        unauthorized=rows,
        missing_policy=max(found.evaluation.missing_policy, floor.evaluation.missing_policy, key=_MISSING.index),
        strict_auto_approve=found.evaluation.strict_auto_approve or floor.evaluation.strict_auto_approve,
    )
    return replace(
        found,
        evaluation=evaluation,
        preset=max(found.preset, floor.preset, key=_PRESETS.index),
        audit=found.audit if found.audit.enabled else floor.audit,
        unsafe_shadow=found.unsafe_shadow and floor.unsafe_shadow,
        unsafe_unauthorized=found.unsafe_unauthorized and floor.unsafe_unauthorized,
    )


_MISSING, _PRESETS = tuple(MissingPolicy), tuple(Preset)
"""From lax to strict, as the enums list them."""


def _complete(found: SettingsFile, home: Path) -> Settings:
    """Return the settings with every place and verdict filled in; refuse an ALLOW that nothing names as unsafe."""
    verdicts = {**DEFAULT_UNAUTHORIZED, **found.evaluation.unauthorized}
    allowed = sorted(risk for risk, verdict in verdicts.items() if verdict is Verdict.ALLOW and risk is not Risk.READ)
    if Risk.UNKNOWN in allowed:
        hint = "name the tool under 'tools', or exactly in a policy that you write"
        raise SettingsError("evaluation.unauthorized: UNKNOWN: ALLOW would let through what nobody knows", hint=hint)
    if allowed and not found.unsafe_unauthorized:
        hint = "write ASK_USER, or add 'unsafe_unauthorized: true' if that is what you mean"
        raise SettingsError(
            f"evaluation.unauthorized: {', '.join(allowed)}: ALLOW lets calls through unasked", hint=hint
        )
    if not 0 < found.compiler.timeout <= _LONGEST_TIMEOUT:
        raise SettingsError("compiler.timeout: out of range", hint=f"write 1 to {_LONGEST_TIMEOUT}")
    if found.store.startswith("sqlite:") and not sqlite_path(found.store).is_absolute():
        raise SettingsError(f"store: {found.store}: not absolute", hint="the working directory is never read")
    values = {item.name: getattr(found, item.name) for item in fields(SettingsFile)}
    values["store"] = found.store or f"sqlite:{home / 'state.db'}"
    folder = Path(found.audit.path).expanduser() if found.audit.path else home / "audit"
    if not folder.is_absolute():
        raise SettingsError("audit.path: not absolute", hint="the working directory is never read")
    audit_path = folder if found.audit.enabled else None
    return Settings(**values, home=home, audit_path=audit_path, default_verdicts=MappingProxyType(verdicts))
