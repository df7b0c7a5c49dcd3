"""The one table of capabilities: every row readable, none written twice."""

from __future__ import annotations

from collections import Counter
from importlib import resources

import pytest

from agentsfence_core.classification.vocabulary import inferred, vocabulary
from agentsfence_core.model import Risk


def test_no_capability_is_written_twice() -> None:
    text = resources.files("agentsfence_core.classification.catalogue").joinpath("capabilities.yaml").read_text("utf-8")
    names = Counter(line.partition(":")[0] for line in text.splitlines() if line[:1].isalpha())
    assert [name for name, times in names.items() if times > 1] == []
    assert set(names) == set(vocabulary().capabilities)


@pytest.mark.parametrize("name", ["email.send", "email.read", "email.search", "file.read", "file.share", "file.delete"])
def test_the_seeds_capabilities_are_in_it(name: str) -> None:
    """The capabilities that the two policies of the task-policies seed name."""
    assert name in vocabulary().capabilities


def test_a_verb_and_a_noun_name_what_they_say() -> None:
    known = vocabulary()
    assert "email.send" in [row.name for row in known.named("send", "email")]
    assert [row.name for row in known.named("cancel", "event")] == ["calendar.delete"]
    assert known.named("teach", "event") == ()
    assert known.risk_of("payment.send") is Risk.FINANCIAL
    assert known.risk_of("transaction.schedule") is None
    assert inferred("schedule", "transaction") == "transaction.schedule"
