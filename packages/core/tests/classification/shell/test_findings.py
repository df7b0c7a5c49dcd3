"""Findings of a security review by kind: what ranks at least so high, and what stays as low (``findings.tsv``)."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsfence_core.classification.shell import read_command
from agentsfence_core.model import Risk
from agentsfence_core.model.risk import RANK

TABLE = Path(__file__).with_name("findings.tsv")
ROWS = [
    tuple(line.split("\t"))
    for line in TABLE.read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
HELD = {">=": lambda found, bound: found >= bound, "<=": lambda found, bound: found <= bound}


def rank_of(command: str) -> int:
    reading = read_command(command.replace("\\n", "\n"), workdir="/srv/w", home="/home/u")
    return max(RANK[effect.risk] for effect in reading.effects)


@pytest.mark.parametrize(
    ("kind", "relation", "risk", "command"), ROWS, ids=[f"{row[0]}: {row[3][:50]}" for row in ROWS]
)
def test_a_finding_of_the_review_stays_fixed(kind: str, relation: str, risk: str, command: str) -> None:
    assert HELD[relation](rank_of(command), RANK[Risk(risk)]), kind
