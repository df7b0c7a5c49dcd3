"""Plays the cases of ``words/`` as sessions: what a person's words allow, forbid, leave alone, and never let through.

One case a line. ``allow`` runs without a question, ``not_allow`` never does, ``forbid`` is BLOCK and ``not_block`` may
ask. Under a hostile compiler the draft asks for every class and every target that any call of the case
wants, and quotes the message, its sentences and its clauses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from agentsfence_cli.simulation import simulate
from agentsfence_cli.workbench import Workbench

CASES = Path(__file__).parent / "words"
EXPECTED = {
    "allow": ("ALLOW",),
    "not_allow": ("ASK_USER", "BLOCK"),
    "forbid": ("BLOCK",),
    "not_block": ("ALLOW", "ASK_USER"),
}
CLASSES = (
    "LOCAL_WRITE", "EXECUTION", "EXTERNAL_WRITE", "COMMUNICATION", "DELETE", "PERMISSION_CHANGE", "FINANCIAL",
)  # fmt: skip


@cache
def bench() -> Workbench:
    """Return one workbench for all cases, on built-in defaults."""
    return Workbench.without_settings(Path("/home/u"))


def cases(name: str) -> list[Any]:
    """Return the cases of one file, each under its id."""
    lines = (CASES / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [pytest.param(case, id=case["id"]) for case in map(json.loads, lines)]


def play(turns: list[dict[str, object]], call: Mapping[str, object] | None = None) -> Mapping[str, Any]:
    """Return the result of the last step of a session."""
    steps = [*turns, {"tool": call["tool"], "args": call["args"]}] if call else turns
    results: list[Mapping[str, Any]] = simulate({"id": "case", "steps": steps}, bench())["results"]  # type: ignore[assignment]
    return results[-1]


def strings(value: object) -> Iterator[str]:
    """Yield every string inside an argument."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from strings(each)


def hostile(text: str, calls: list[Mapping[str, object]]) -> dict[str, object]:
    """Return a draft that wants everything and quotes real words for it."""
    sentences = [part.strip() for part in re.split(r"(?<=[.!?。])\s+|\n+", text) if part.strip()]
    clauses = [
        part.strip(" ,;:") for one in sentences for part in re.split(r"[,;]|\b(?:and|then|but|und|et|y|e)\b", one)
    ]
    quotes = list(dict.fromkeys([text, *sentences, *(one for one in clauses if len(one) > 3)]))[:12]
    targets = sorted({each for call in calls for each in strings(call["args"]) if len(each) < 200})
    hosts = sorted({host for each in targets for host in re.findall(r"[\w-]+(?:\.[\w-]+)+", each)})
    wanted = [
        {"risk": risk, "quote": quote, "recipients": targets, "domains": hosts, "paths": targets}
        for quote in quotes
        for risk in CLASSES
    ]
    return {"purpose": "hostile", "summary": "", "prohibitions": [], "permissions": wanted}


@pytest.mark.parametrize("case", cases("intents"))
def test_words_carry_what_they_ask_for_and_nothing_else(case: Mapping[str, Any]) -> None:
    turns = [{"user": text} for text in case.get("turns") or [case["instruction"]]]
    wrong = [
        (expectation, call, verdict)
        for expectation, right in EXPECTED.items()
        for call in case.get(expectation) or []
        if (verdict := play(turns, call)["verdict"]) not in right
    ]
    assert wrong == []


@pytest.mark.parametrize("case", cases("intents"))
def test_a_compiler_that_quotes_real_words_gains_nothing(case: Mapping[str, Any]) -> None:
    calls = [call for expectation in EXPECTED for call in case.get(expectation) or []]
    turns = [{"user": text, "draft": hostile(text, calls)} for text in case.get("turns") or [case["instruction"]]]
    wrong = [
        (expectation, call, verdict)
        for expectation in ("not_allow", "forbid")
        for call in case.get(expectation) or []
        if (verdict := play(turns, call)["verdict"]) not in EXPECTED[expectation]
    ]
    assert wrong == []


@pytest.mark.parametrize("case", cases("bans"))
def test_a_ban_is_read_and_none_is_invented(case: Mapping[str, Any]) -> None:
    read = play([{"user": case["instruction"]}])
    if "must_keep" in case:
        assert case["must_keep"] in read["instruction"]
    else:
        assert bool(read["policy"].get("user_prohibitions")) is case["bans"]


@pytest.mark.parametrize("case", cases("requests"))
def test_an_ordinary_request_runs_without_a_question(case: Mapping[str, Any]) -> None:
    assert play([{"user": case["instruction"]}], case)["verdict"] == "ALLOW"
