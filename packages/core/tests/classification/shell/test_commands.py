"""A table of ordinary and hostile commands with the class and the effects that they must have (``commands.tsv``)."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsfence_core.classification.shell import Reading, read_command
from agentsfence_core.model import Effect
from agentsfence_core.model.risk import RANK

TABLE = Path(__file__).with_name("commands.tsv")
ROWS = [
    tuple(line.split("\t"))
    for line in TABLE.read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("# class")
]


def brief(effect: Effect) -> str:
    """Return an effect in the notation of the table."""
    values = [f"{name}={value}" for name, value in effect.values if name != "command"]
    targets = [*effect.recipients, *effect.domains, *effect.paths, *map(str, effect.objects), *values]
    unverified = ",".join(sorted(kind.value for kind in effect.unverified))
    return f"{effect.capability}{'!' + unverified if unverified else ''}({' '.join(targets)})"


def read(command: str) -> Reading:
    return read_command(command.replace("\\n", "\n"), workdir="/srv/w", home="/home/u")


@pytest.mark.parametrize(("risk", "command", "effects"), ROWS, ids=[row[1][:60] for row in ROWS])
def test_a_command_has_the_class_and_the_effects_of_the_table(risk: str, command: str, effects: str) -> None:
    reading = read(command)

    assert max(reading.effects, key=lambda effect: RANK[effect.risk]).risk == risk
    assert " ".join(brief(effect) for effect in reading.effects) == effects
