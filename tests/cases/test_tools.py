"""Plays the cases of ``tools/``: what commands and calls can do, and what policies and approvals make of them.

One case a line, each for its kind. ``shell`` and ``tools``: ``acting`` ranks at least as the lowest class of
``expect_class``, anything else at most as ``max_class``; ``expect_targets`` are found (an inner list: any one of them),
``not_targets`` are not. ``probes``: under a policy of ``policies.json`` the verdict is none of ``not``. ``approvals``:
whether what was approved covers another call. ``kinds`` are calls whose class is exactly the one that stands there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from agentsfence_cli.simulation import simulate
from agentsfence_cli.workbench import Workbench
from agentsfence_core.classification.catalogue import builtin
from agentsfence_core.classification.classifier import classify
from agentsfence_core.classification.shell import read_command
from agentsfence_core.model import Effect, ToolCall
from agentsfence_core.model.risk import RANK, Risk

CASES = Path(__file__).parent / "tools"
HOME = "/home/u"
ASKING = {"evaluation": {"unauthorized": dict.fromkeys(("DELETE", "PERMISSION_CHANGE", "FINANCIAL"), "ASK_USER")}}


def cases(name: str) -> list[Any]:
    """Return the cases of one file, each under its id."""
    lines = (CASES / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [pytest.param(case, id=case["id"]) for case in map(json.loads, lines)]


@cache
def bench() -> Workbench:
    """Return one workbench for all cases, on built-in defaults."""
    return Workbench.without_settings(Path(HOME))


@cache
def policies() -> Mapping[str, Any]:
    """Return the policies that probes name."""
    return json.loads((CASES / "policies.json").read_text("utf-8"))  # type: ignore[no-any-return]


def verdicts(steps: list[dict[str, object]], settings: Mapping[str, object] | None = None) -> list[str]:
    """Return the verdict of every step of a session; empty for a step that is no call."""
    session: dict[str, object] = {"id": "case", "steps": steps, **({"settings": settings} if settings else {})}
    results: list[Mapping[str, Any]] = simulate(session, bench())["results"]  # type: ignore[assignment]
    return [result.get("verdict", "") for result in results]


def named(effects: tuple[Effect, ...], kind: str) -> Iterator[str]:
    """Yield the targets of one kind, over all effects."""
    for effect in effects:
        yield from (str(target).casefold() for target in getattr(effect, kind))


def worst(effects: tuple[Effect, ...]) -> Risk:
    """Return the most severe class."""
    return max((effect.risk for effect in effects), key=lambda risk: RANK[risk])


def check(case: Mapping[str, Any], effects: tuple[Effect, ...]) -> None:
    """Compare what was found with what the case says."""
    rank = RANK[worst(effects)]
    if case["acting"]:
        assert rank >= min(RANK[Risk(name)] for name in case["expect_class"])
    if case.get("max_class"):
        assert rank <= RANK[Risk(case["max_class"])]
    for kind, wanted in case.get("expect_targets", {}).items():
        for target in wanted:
            options = {str(each).casefold() for each in (target if isinstance(target, list) else [target])}
            assert options & set(named(effects, kind)), (kind, target)
    for kind, unwanted in case.get("not_targets", {}).items():
        assert not {str(target).casefold() for target in unwanted} & set(named(effects, kind)), kind


@pytest.mark.parametrize("case", cases("shell"))
def test_a_command_ranks_as_what_it_does(case: Mapping[str, Any]) -> None:
    check(case, read_command(case["command"], workdir=None, home=HOME, grammar=case.get("shell", "posix")).effects)


@pytest.mark.parametrize("case", cases("tools"))
def test_a_call_ranks_as_what_it_does_and_names_whom_it_reaches(case: Mapping[str, Any]) -> None:
    action = classify(ToolCall(case["tool"], case["args"], home=HOME), builtin())

    check(case, action.effects)
    assert case.get("expect_capability", action.capability) == action.capability


@pytest.mark.parametrize("case", cases("kinds"))
def test_a_call_has_the_class_of_its_kind(case: Mapping[str, Any]) -> None:
    action = classify(ToolCall(case["tool"], case["args"], workdir="/srv/w", home=HOME), builtin())

    assert action.risk == case["class"]


@pytest.mark.parametrize("case", cases("probes"))
def test_a_policy_never_gives_the_verdicts_that_a_probe_rules_out(case: Mapping[str, Any]) -> None:
    steps = [{"policy": policies()[case["policy"]]}, {"tool": case["tool"], "args": case["args"]}]

    assert verdicts(steps)[-1] not in {*case["not"], ""}, case["why"]


@pytest.mark.parametrize("case", cases("approvals"))
def test_an_approval_covers_the_call_that_was_shown_and_nothing_wider(case: Mapping[str, Any]) -> None:
    granted, scope = case["granted"], "once" if case["scope"] == "once" else "task"
    steps = [{"user": "Summarize my notes."}, granted, {"approve": scope}, granted, case["then"]]
    _, asked, _, used, then = verdicts(steps, ASKING)

    assert (asked, used) == ("ASK_USER", "ALLOW")
    assert (then == "ALLOW") is (case["expect"] == "COVERED")
