"""Names of objects with ``*``: what a template of the person's words binds."""

from __future__ import annotations

import pytest

from agentsfence_core.evaluation.matching import Objects
from agentsfence_core.model import ObjectRef


@pytest.mark.parametrize(
    ("entry", "name", "fits"),
    [
        ("event:Dinner at *", "Dinner at Chez Nous", True),
        ("event:Dinner at *", "dinner at ", True),
        ("event:Dinner at *", "A dinner at Chez Nous", False),
        ("event:Hotel *, * nights", "Hotel Ritz, 3 nights", True),
        ("event:Hotel *, * nights", "Hotel Ritz, 3 days", False),
        ("event:aa*aa", "aaa", False),
        ("Dinner at *", "Dinner at Chez Nous", True),
        ("booking:Dinner at *", "Dinner at Chez Nous", False),
        ("event:Dinner", "Dinner at Chez Nous", False),
    ],
)
def test_a_star_stands_for_any_text_of_one_kind(entry: str, name: str, fits: bool) -> None:
    assert (ObjectRef("event", name) in Objects.of([entry])) is fits


def test_a_pattern_binds_its_kind() -> None:
    objects = Objects.of(["event:Dinner at *"])
    assert objects.binds("event")
    assert not objects.binds("branch")


def test_many_stars_stay_linear() -> None:
    objects = Objects.of(["event:" + "a*" * 2_000])
    assert ObjectRef("event", "a" * 4_000 + "b") in objects
    assert ObjectRef("event", "b" + "a" * 4_000) not in objects
