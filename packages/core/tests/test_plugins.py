"""Plugins: who may load, who may own a name, and that no plugin can allow, crash or hang anything (DESIGN 4)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import metadata

import pytest

from agentsfence_core import plugins as module
from agentsfence_core._deciders import Deciders, Hook, joined
from agentsfence_core.errors import PluginError, StoreError
from agentsfence_core.hookspecs import hookimpl
from agentsfence_core.model import (
    Action,
    Decision,
    Effect,
    ExecutionState,
    ReasonCode,
    Risk,
    Source,
    TaskPolicy,
    ToolCall,
    Verdict,
)
from agentsfence_core.plugins import Plugins, checked, load_plugins, new_manager, register
from agentsfence_core.ports import ToolMapping
from agentsfence_core.settings import Settings

CALL = ToolCall("send", {"to": "bob@x.example"})
ACTION = Action(CALL, (Effect("email.send", Risk.COMMUNICATION, recipients=("bob@x.example",)),), Source.CATALOGUE)


def decision(verdict: Verdict, **changes: object) -> Decision:
    made = Decision(verdict, ReasonCode.GRANTED, "x", "because", "", Risk.READ, "file.read", covered_by="g1")
    for name, value in changes.items():
        object.__setattr__(made, name, value)
    return made


def decision_with_text() -> Decision:
    made = decision(Verdict.ALLOW)
    object.__setattr__(made, "verdict", "ALLOW")
    return made


def plugins_of(*named: tuple[str, object]) -> Plugins:
    manager = new_manager()
    for name, plugin in named:
        register(manager, plugin, name)
    checked(manager)
    return Plugins(manager)


def evaluating(function: Callable[[], object]) -> object:
    class Plugin:
        @hookimpl
        def agentsfence_evaluate(self) -> object:
            return function()

    return Plugin()


def classifying(function: Callable[[], object]) -> object:
    class Plugin:
        @hookimpl
        def agentsfence_classify(self, call: ToolCall) -> object:
            assert call is CALL
            return function()

    return Plugin()


def objections(plugins: Plugins) -> tuple[Decision, ...]:
    return plugins.evaluate(TaskPolicy(), ExecutionState(), ACTION, 0.0)


class TestDeciders:
    def test_without_plugins_nobody_is_asked(self) -> None:
        assert not Plugins(None).has_deciders
        assert not load_plugins().has_deciders
        assert objections(Plugins(None)) == ()
        assert Plugins(None).classify(CALL, ACTION) is ACTION

    def test_a_plugin_objects(self) -> None:
        plugins = plugins_of(("corp:x", evaluating(lambda: decision(Verdict.BLOCK))))
        assert plugins.has_deciders
        (found,) = objections(plugins)
        assert found.verdict is Verdict.BLOCK
        assert found.reason is ReasonCode.PLUGIN_VERDICT
        assert "corp" in found.sentence

    def test_an_allow_of_a_plugin_says_nothing(self) -> None:
        assert objections(plugins_of(("corp:x", evaluating(lambda: decision(Verdict.ALLOW))))) == ()
        assert objections(plugins_of(("corp:x", evaluating(lambda: None)))) == ()

    def test_every_plugin_is_heard_whatever_the_order(self) -> None:
        allow = ("a:x", evaluating(lambda: decision(Verdict.ALLOW)))
        block = ("b:x", evaluating(lambda: decision(Verdict.BLOCK)))
        for order in ([allow, block], [block, allow]):
            assert [found.verdict for found in objections(plugins_of(*order))] == [Verdict.BLOCK]

    def test_a_plugin_cannot_pass_for_a_grant_or_a_prohibition(self) -> None:
        (found,) = objections(
            plugins_of(("corp:x", evaluating(lambda: decision(Verdict.ASK_USER, asks=("prohibited:*",)))))
        )
        assert found.covered_by == ""
        assert found.asks == ("plugin_verdict:corp:x",)
        assert found.risk is Risk.COMMUNICATION

    @pytest.mark.parametrize(
        "answer",
        [
            lambda: 1 / 0,
            lambda: exec("raise SystemExit(0)"),
            lambda: exec("raise KeyboardInterrupt"),
            lambda: "ALLOW",
            lambda: True,
            decision_with_text,
        ],
        ids=["exception", "exit", "interrupt", "text", "true", "verdict"],
    )
    def test_a_plugin_that_fails_blocks_and_is_not_asked_again(self, answer: Callable[[], object]) -> None:
        asked: list[int] = []

        def fail() -> object:
            asked.append(1)
            return answer()

        plugins = plugins_of(("corp:x", evaluating(fail)))
        for _ in range(3):
            (found,) = objections(plugins)
            assert found.verdict is Verdict.BLOCK
            assert found.reason is ReasonCode.PLUGIN_FAULT
            assert "corp" in found.sentence
        assert asked == [1]
        assert [fault.plugin for fault in plugins.faults] == ["corp:x"]

    def test_a_plugin_that_hangs_blocks_within_the_deadline(self) -> None:
        manager = new_manager()
        register(manager, evaluating(lambda: time.sleep(20)), "slow:x")
        hooks: list[Hook] = list(getattr(manager.hook, "agentsfence_evaluate").get_hookimpls())  # noqa: B009
        deciders = Deciders((), tuple(hooks), 0.05)
        start = time.monotonic()
        (found,) = deciders.evaluate(TaskPolicy(), ExecutionState(), ACTION, 0.0)
        assert time.monotonic() - start < 2
        assert found.reason is ReasonCode.PLUGIN_FAULT
        assert "0.05 seconds" in found.sentence

    def test_a_failed_plugin_does_not_silence_another(self) -> None:
        bad, good = ("a:x", evaluating(lambda: 1 / 0)), ("b:x", evaluating(lambda: decision(Verdict.ASK_USER)))
        found = objections(plugins_of(bad, good))
        assert {one.reason for one in found} == {ReasonCode.PLUGIN_FAULT, ReasonCode.PLUGIN_VERDICT}

    def test_a_plugin_may_ask_for_the_arguments_it_wants(self) -> None:
        seen: list[object] = []

        class Plugin:
            @hookimpl
            def agentsfence_evaluate(self, policy: TaskPolicy, now: float) -> None:
                seen.extend([policy, now])

        policy = TaskPolicy(purpose="p")
        plugins_of(("corp:x", Plugin())).evaluate(policy, ExecutionState(), ACTION, 7.0)
        assert seen == [policy, 7.0]


class TestClassify:
    def read_as(self, *effects: Effect, base: Action = ACTION) -> Action:
        answer = Action(CALL, effects, Source.PLUGIN, content=frozenset({"to"}))
        plugins = plugins_of(("corp:x", classifying(lambda: answer)))
        found = plugins.classify(CALL, base)
        assert plugins.faults == ()
        return found

    def test_a_plugin_raises_the_class(self) -> None:
        assert self.read_as(Effect("payment.send", Risk.FINANCIAL)).risk is Risk.FINANCIAL

    def test_a_plugin_cannot_lower_the_class(self) -> None:
        found = self.read_as(Effect("file.read", Risk.READ))
        assert found.risk is Risk.COMMUNICATION
        assert ACTION.effects[0] in found.effects

    def test_a_plugin_adds_targets_and_takes_none_away(self) -> None:
        found = self.read_as(Effect("email.send", Risk.COMMUNICATION, recipients=("eve@x.example",)))
        assert found.worst.recipients == ("bob@x.example", "eve@x.example")
        assert len(found.effects) == 1

    def test_a_plugin_explains_what_was_unknown(self) -> None:
        unknown = replace(ACTION, effects=(Effect("tool.unknown", Risk.UNKNOWN),))
        found = self.read_as(Effect("record.read", Risk.READ), base=unknown)
        assert [effect.capability for effect in found.effects] == ["record.read"]

    def test_a_plugin_cannot_name_arguments_as_message_text(self) -> None:
        assert self.read_as(Effect("file.read", Risk.READ)).content == frozenset()

    @pytest.mark.parametrize(
        "answer",
        [
            "READ",
            ACTION.effects[0],
            replace(ACTION, effects=(Effect("x", "READ"),)),  # type: ignore[arg-type]
            replace(ACTION, effects=(Effect("x", Risk.READ, recipients=["a"]),)),  # type: ignore[arg-type]
            replace(ACTION, effects=(Effect("x", Risk.READ, recipients=(["a"],)),)),  # type: ignore[arg-type]
            replace(ACTION, effects=(Effect("x", Risk.READ, values=(("a", []),)),)),  # type: ignore[arg-type]
        ],
    )
    def test_a_wrong_answer_leaves_the_reading_and_blocks_the_call(self, answer: object) -> None:
        try:
            plugins = plugins_of(("corp:x", classifying(lambda: answer)))
            assert plugins.classify(CALL, ACTION) is ACTION
        except KeyError:  # pragma: no cover
            pytest.fail("a wrong class must not be looked up")
        assert [found.reason for found in objections(plugins)] == [ReasonCode.PLUGIN_FAULT]

    def test_joining_never_loses_an_effect(self) -> None:
        two = replace(ACTION, effects=(*ACTION.effects, Effect("file.delete", Risk.DELETE, paths=("/x",))))
        assert set(two.effects) <= set(joined(two, ACTION).effects)


class Entry:
    """An entry point of a distribution that is not installed."""

    def __init__(self, distribution: str, name: str, value: object) -> None:
        self.dist = type("Dist", (), {"name": distribution})()
        self.name = name
        self.value = value

    def load(self) -> object:
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Add entry points to those that are installed."""
    real = metadata.entry_points

    def install(group: str, *entries: Entry) -> None:
        def entry_points(**params: str) -> Sequence[object]:
            extra = list(entries) if params.get("group") == group else []
            return [*real(**params), *extra]

        monkeypatch.setattr(metadata, "entry_points", entry_points)
        module._scan.cache_clear()

    yield install
    monkeypatch.undo()
    module._scan.cache_clear()


class Stores:
    def __init__(self, *schemes: str) -> None:
        self.schemes = schemes

    @hookimpl
    def agentsfence_stores(self) -> Mapping[str, Callable[[str], object]]:
        return dict.fromkeys(self.schemes, lambda url: url)


class TestLoading:
    def test_this_repositorys_packages_load_by_themselves(self) -> None:
        assert {"memory", "sqlite"} <= load_plugins().stores().keys()

    def test_an_installed_stranger_does_not_load(self, installed: Callable[..., None]) -> None:
        installed("agentsfence.plugins", Entry("Agentsfence_Evil", "x", RuntimeError("must not be imported")))
        loaded = load_plugins(Settings())
        assert loaded.skipped == ("agentsfence-evil",)
        assert not loaded.has_deciders

    def test_a_stranger_loads_where_the_settings_name_it(self, installed: Callable[..., None]) -> None:
        installed("agentsfence.plugins", Entry("corp-fence", "x", evaluating(lambda: decision(Verdict.BLOCK))))
        assert load_plugins(Settings(plugins=("Corp_Fence",))).has_deciders

    def test_a_name_that_is_not_installed_is_refused(self) -> None:
        with pytest.raises(PluginError, match="corp-fence"):
            load_plugins(Settings(plugins=("corp-fence",)))

    def test_a_plugin_that_cannot_be_loaded_refuses_to_start(self, installed: Callable[..., None]) -> None:
        installed("agentsfence.plugins", Entry("corp-fence", "x", ImportError("no module")))
        with pytest.raises(PluginError, match=r"corp-fence.*no module"):
            load_plugins(Settings(plugins=("corp-fence",)))

    @pytest.mark.parametrize("scheme", ["sqlite", "memory", "postgres"])
    def test_a_built_in_scheme_cannot_be_claimed(self, installed: Callable[..., None], scheme: str) -> None:
        installed("agentsfence.plugins", Entry("corp-fence", "x", Stores(scheme)))
        loaded = load_plugins(Settings(plugins=("corp-fence",)))
        with pytest.raises(PluginError, match=rf"'{scheme}'.*corp-fence.*agentsfence-core"):
            loaded.open_store("memory:")

    def test_one_scheme_has_one_owner(self) -> None:
        with pytest.raises(PluginError, match=r"redis.*(one.*two|two.*one)"):
            plugins_of(("one:x", Stores("redis")), ("two:x", Stores("redis"))).stores()

    def test_an_unknown_scheme_names_the_known_ones(self) -> None:
        with pytest.raises(StoreError, match="memory, postgres, postgresql, sqlite"):
            load_plugins().open_store("redis://x")

    def test_a_misspelt_hook_refuses_to_start(self) -> None:
        class Plugin:
            @hookimpl
            def agentsfence_evalute(self) -> None:
                """Never called."""

        with pytest.raises(PluginError, match="evalute"):
            plugins_of(("corp:x", Plugin()))

    def test_a_hook_with_a_wrong_argument_refuses_to_start(self) -> None:
        class Plugin:
            @hookimpl
            def agentsfence_evaluate(self, polcy: object) -> None:
                """Never called."""

        with pytest.raises(PluginError, match="corp"):
            plugins_of(("corp:x", Plugin()))

    def test_a_wrapper_refuses_to_start(self) -> None:
        class Plugin:
            @hookimpl(wrapper=True)
            def agentsfence_evaluate(self) -> Iterator[None]:
                yield

        with pytest.raises(PluginError, match="wrapper"):
            plugins_of(("corp:x", Plugin()))

    def test_mappings_are_rows_or_refused(self) -> None:
        class Plugin:
            def __init__(self, answer: object) -> None:
                self.answer = answer

            @hookimpl
            def agentsfence_tool_mappings(self) -> object:
                return self.answer

        row = ToolMapping("x", "email.send", "COMMUNICATION")
        assert plugins_of(("corp:x", Plugin([row]))).mappings() == (row,)
        for wrong in ([1], "x", 3):
            with pytest.raises(PluginError, match="corp"):
                plugins_of(("corp:x", Plugin(wrong))).mappings()


class TestPipeline:
    def test_a_second_pipeline_refuses_to_start(self, installed: Callable[..., None]) -> None:
        installed("agentsfence.pipeline", Entry("evil", "default", object))
        with pytest.raises(PluginError, match="evil"):
            load_plugins().pipeline()

    def test_two_pipelines_of_the_compiler_are_refused(self, installed: Callable[..., None]) -> None:
        installed("agentsfence.pipeline", Entry("agentsfence-compiler", "other", object))
        with pytest.raises(PluginError, match="2 pipelines"):
            load_plugins().pipeline()

    def test_a_pipeline_that_cannot_be_made_is_an_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        entry = Entry("agentsfence-compiler", "default", ImportError("gone"))
        monkeypatch.setattr(module, "_scan", lambda _: (module.Found("agentsfence-compiler", entry),))  # type: ignore[arg-type]
        with pytest.raises(PluginError, match="gone"):
            Plugins(None).pipeline()

    def test_without_the_compiler_there_is_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "_scan", lambda _: ())
        assert Plugins(None).pipeline() is None


class TestEvents:
    def test_hooks_are_told_and_faults_go_on(self, caplog: pytest.LogCaptureFixture) -> None:
        seen: list[object] = []

        class Good:
            @hookimpl
            def agentsfence_on_event(self, event: dict[str, object]) -> None:
                seen.append(event["kind"])
                event.clear()

        class Bad:
            @hookimpl
            def agentsfence_on_event(self, event: Mapping[str, object]) -> None:
                raise SystemExit(event["kind"])

        plugins = plugins_of(("bad:x", Bad()), ("good:x", Good()), ("good2:x", Good()))
        plugins.emit({"kind": "decision"})
        plugins.emit({"kind": "grant"})
        assert plugins.flush(5)
        assert seen == ["decision", "decision", "grant", "grant"]
        assert "bad" in caplog.text

    def test_a_hook_that_hangs_is_never_in_the_way(self) -> None:
        class Slow:
            @hookimpl
            def agentsfence_on_event(self) -> None:
                time.sleep(30)

        plugins = plugins_of(("slow:x", Slow()))
        start = time.monotonic()
        for _ in range(3000):
            plugins.emit({"kind": "decision"})
        assert time.monotonic() - start < 2
