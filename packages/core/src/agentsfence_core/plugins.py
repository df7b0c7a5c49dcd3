"""Loading plugins and combining what they announce (DESIGN 4). Every package of this repository uses the same door.

Rules of this file:

* This repository's distributions load by themselves; anybody else's only where the user's settings name the
  distribution: being installed is no consent to sit in the path of a decision.
* Names and URL schemes have one owner. A second claim, or one to a built-in name, refuses to start and names both.
* Implementations are called one by one and never through pluggy's dispatch, so that no wrapper of one plugin sees,
  replaces or swallows what another one says.
* Entry points are scanned once per process, at first need.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Final, TypeVar

from agentsfence_core._deciders import Deciders, Hook, PluginFault, nobody
from agentsfence_core._notifier import Notifier
from agentsfence_core.errors import FenceError, PluginError, StoreError
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Action, Decision, ExecutionState, TaskPolicy, ToolCall
from agentsfence_core.ports import AdapterInfo, CompilerBackend, IntentPipeline, PolicyStore, ToolMapping

if TYPE_CHECKING:
    import pluggy

    from agentsfence_core.settings import Settings

GROUP = "agentsfence.plugins"
PIPELINE_GROUP = "agentsfence.pipeline"
PIPELINE_OWNER = "agentsfence-compiler"
OWN: Final = frozenset(f"agentsfence-{name}" for name in ("core", "compiler", "hermes", "langchain", "cli"))
"""This repository's distributions. A list, not a prefix: anybody may publish ``agentsfence-something``."""
RESERVED: Final = frozenset({"memory", "sqlite", "postgres", "postgresql", "rules", "chat", "host"})
"""Built-in names and schemes, which are taken even where the package that brings them is not installed."""

Value = TypeVar("Value")
StoreFactory = Callable[[str], PolicyStore]


@dataclass(frozen=True, slots=True)
class Found:
    """An entry point and the distribution that brings it."""

    distribution: str
    entry: metadata.EntryPoint

    @property
    def name(self) -> str:
        """Name of the plugin in messages."""
        return self.distribution


class Plugins:
    """All plugins that are loaded. Values are computed at first use and kept."""

    def __init__(self, manager: pluggy.PluginManager | None, skipped: tuple[str, ...] = ()) -> None:
        """Take a manager whose plugins are registered under the names of their distributions; ``None``: no plugins."""
        self._manager = manager
        self._deciders = self._make_deciders()
        self._notifier = Notifier(self._hooks("agentsfence_on_event"))
        self.skipped = skipped
        """Distributions with plugins that the settings do not name."""
        self.has_deciders = bool(self._deciders)
        """Whether any plugin has a say in decisions; if not, the path of a check does not come here."""

    # ------------------------------------------------------------------------------------------ in the path of a check

    def classify(self, call: ToolCall, action: Action) -> Action:
        """Return the action with what plugins read in the call: never less than before, except where it was UNKNOWN."""
        return self._deciders.classify(call, action)

    def evaluate(self, policy: TaskPolicy, state: ExecutionState, action: Action, now: float) -> tuple[Decision, ...]:
        """Return what plugins object to: BLOCK and ASK_USER only, and BLOCK for a plugin that failed."""
        return self._deciders.evaluate(policy, state, action, now)

    @property
    def listens(self) -> bool:
        """Whether a plugin wants to be told of events."""
        return self._notifier.listens

    def emit(self, event: Mapping[str, object]) -> None:
        """Tell plugins of an event, later and without waiting."""
        self._notifier.emit(event)

    def flush(self, seconds: float = 1.0) -> bool:
        """Wait until plugins were told of all events so far."""
        return self._notifier.flush(seconds)

    @property
    def faults(self) -> tuple[PluginFault, ...]:
        """Deciding plugins that failed and are not asked any more."""
        return tuple(self._deciders.faults.values())

    # ------------------------------------------------------------------------------------------------------ announced

    def compilers(self) -> Mapping[str, CompilerBackend]:
        """Return all compiler backends by name."""
        return self._named("agentsfence_compilers", "compiler")

    def stores(self) -> Mapping[str, StoreFactory]:
        """Return all store factories by URL scheme."""
        return self._named("agentsfence_stores", "store scheme")

    def open_store(self, url: str) -> PolicyStore:
        """Return the store that a URL names."""
        scheme = url.partition(":")[0]
        factories = self.stores()
        if scheme not in factories:
            known = ", ".join(sorted(factories))
            raise StoreError(f"{url}: no store for '{scheme}'", hint=f"known: {known}")
        return factories[scheme](url)

    def mappings(self) -> tuple[ToolMapping, ...]:
        """Return the rows that plugins map tools with."""
        rows: list[ToolMapping] = []
        for hook in self._hooks("agentsfence_tool_mappings"):
            answer = _announced(hook, "agentsfence_tool_mappings")
            if not isinstance(answer, Iterable) or isinstance(answer, str | Mapping):
                raise _wrong(hook, "agentsfence_tool_mappings", answer)
            for row in answer:
                if not isinstance(row, ToolMapping):
                    raise _wrong(hook, "agentsfence_tool_mappings", row)
                rows.append(row)
        return tuple(rows)

    def adapters(self) -> tuple[AdapterInfo, ...]:
        """Return what the adapters among the plugins say about themselves."""
        found = []
        for hook in self._hooks("agentsfence_adapters"):
            answer = _announced(hook, "agentsfence_adapters")
            if not isinstance(answer, AdapterInfo):
                raise _wrong(hook, "agentsfence_adapters", answer)
            found.append(answer)
        return tuple(found)

    def pipeline(self) -> IntentPipeline | None:
        """Return what turns words into policies, made with all compiler backends; ``None`` where none is installed."""
        entry = _pipeline_entry(_scan(PIPELINE_GROUP))
        if entry is None:
            return None
        try:
            made = entry.load()(self.compilers())
        except FenceError:
            raise
        except Exception as error:
            raise PluginError(f"{PIPELINE_OWNER}: {type(error).__name__}: {error}", hint="reinstall it") from error
        pipeline: IntentPipeline = made
        return pipeline

    # ------------------------------------------------------------------------------------------------------ internals

    def _hooks(self, name: str) -> tuple[Hook, ...]:
        if self._manager is None:
            return ()
        hooks: list[Hook] = list(getattr(self._manager.hook, name).get_hookimpls())
        return tuple(hooks)

    def _make_deciders(self) -> Deciders:
        if self._manager is None:
            return nobody()
        return Deciders(self._hooks("agentsfence_classify"), self._hooks("agentsfence_evaluate"), LIMITS.plugin_seconds)

    def _named(self, hook_name: str, what: str) -> Mapping[str, Value]:
        """Return what hooks announce by name; a name that two distributions claim is refused."""
        found: dict[str, Value] = {}
        owners: dict[str, str] = {}
        for hook in self._hooks(hook_name):
            answer = _announced(hook, hook_name)
            if not isinstance(answer, Mapping):
                raise _wrong(hook, hook_name, answer)
            owner = _owner(hook.plugin_name)
            for name, value in answer.items():
                if name in owners or (name in RESERVED and owner not in OWN):
                    first = owners.get(name, "agentsfence-core")
                    raise PluginError(
                        f"the {what} '{name}' is claimed by {owner} and belongs to {first}",
                        hint=f"take {owner} out of 'plugins', or uninstall it",
                    )
                owners[name] = owner
                found[name] = value
        return found


def load_plugins(settings: Settings | None = None) -> Plugins:
    """Return this repository's plugins and those that the settings name; `PluginError` where one cannot be trusted."""
    wanted = {_normal(name): name for name in (settings.plugins if settings else ())}
    entries = _scan(GROUP)
    for missing in wanted.keys() - {found.distribution for found in entries} - OWN:
        raise PluginError(
            f"no installed distribution '{wanted[missing]}' has a plugin", hint="install it, or correct 'plugins'"
        )
    manager = new_manager()
    for found in entries:
        if found.distribution in OWN or found.distribution in wanted:
            register(manager, _loaded(found), f"{found.distribution}:{found.entry.name}")
    checked(manager)
    return Plugins(manager, tuple(sorted({found.distribution for found in entries} - OWN - wanted.keys())))


def new_manager() -> pluggy.PluginManager:
    """Return a manager that knows the hooks and has no plugins."""
    import pluggy  # noqa: PLC0415  (lazy: start-up budget, DESIGN 13)

    from agentsfence_core import hookspecs  # noqa: PLC0415

    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    return manager


def register(manager: pluggy.PluginManager, plugin: object, name: str) -> None:
    """The plugin is registered under ``distribution:entry``; a fault in its hooks is `PluginError`."""
    try:
        manager.register(plugin, name)
    except Exception as error:
        raise PluginError(f"{_owner(name)}: {error}", hint="its hooks do not fit this version") from error


def checked(manager: pluggy.PluginManager) -> None:
    """No plugin has a misspelt hook or a wrapper around other plugins' answers."""
    try:
        manager.check_pending()
    except Exception as error:
        raise PluginError(f"a hook that does not exist: {error}", hint="the name may be misspelt") from error
    for plugin in manager.get_plugins():
        for caller in manager.get_hookcallers(plugin) or ():
            for hook in caller.get_hookimpls():
                if hook.wrapper or hook.hookwrapper:
                    raise PluginError(
                        f"{_owner(hook.plugin_name)}: {caller.name} is a wrapper",
                        hint="a plugin answers for itself; wrappers are not called",
                    )


@cache
def _scan(group: str) -> tuple[Found, ...]:
    """Return the entry points of a group in the order of their distributions' names; scanned once."""
    entries = [
        Found(_normal(entry.dist.name if entry.dist is not None else ""), entry)
        for entry in metadata.entry_points(group=group)
    ]
    return tuple(
        sorted(entries, key=lambda found: (found.distribution not in OWN, found.distribution, found.entry.name))
    )


def _pipeline_entry(entries: tuple[Found, ...]) -> metadata.EntryPoint | None:
    """Return the one pipeline: whoever could replace it would write every policy."""
    strangers = sorted({found.distribution for found in entries} - {PIPELINE_OWNER})
    if strangers:
        raise PluginError(
            f"{', '.join(strangers)} offers to turn words into policies, which only {PIPELINE_OWNER} may",
            hint=f"uninstall {strangers[0]}",
        )
    if len(entries) > 1:
        raise PluginError(f"{PIPELINE_OWNER} has {len(entries)} pipelines", hint="reinstall it")
    return entries[0].entry if entries else None


def _loaded(found: Found) -> object:
    try:
        return found.entry.load()
    except Exception as error:
        hint = "reinstall it" if found.distribution in OWN else "take it out of 'plugins' in the settings"
        raise PluginError(f"{found.name} cannot be loaded: {type(error).__name__}: {error}", hint=hint) from error


def _announced(hook: Hook, name: str) -> object:
    try:
        return hook.function()
    except Exception as error:
        raise PluginError(f"{_owner(hook.plugin_name)}: {name}: {type(error).__name__}: {error}") from error


def _wrong(hook: Hook, name: str, answer: object) -> PluginError:
    return PluginError(f"{_owner(hook.plugin_name)}: {name} answered with {type(answer).__name__}")


def _owner(plugin_name: str) -> str:
    return plugin_name.partition(":")[0]


def _normal(name: str) -> str:
    """Return a distribution's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()
