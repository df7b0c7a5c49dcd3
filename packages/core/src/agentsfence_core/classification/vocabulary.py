"""The table of capabilities, loaded: which verb and noun make which capability (DESIGN 2, "one catalogue").

The same `Vocabulary` reads tool names in the classifier and a person's words in the compiler, so that a request and
the call that fulfils it meet in the same name. Where the table has no entry, `inferred` makes ``noun.verb``: a name
that says what is done (``password.update``) and covers nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from agentsfence_core.model.risk import Risk

NO_NOUN = "-"
"""In a noun list: the verb needs no object to name this capability."""


@dataclass(frozen=True, slots=True)
class Capability:
    """One row of ``capabilities.yaml``."""

    name: str
    risk: Risk
    verbs: tuple[str, ...]
    nouns: tuple[str, ...]
    does: str


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Capabilities by name, and by verb and noun."""

    capabilities: Mapping[str, Capability]
    by_verb_noun: Mapping[tuple[str, str], tuple[str, ...]]
    """(verb, noun) -> capability names, in the order of the table; the noun may be ``-``."""
    by_verb: Mapping[str, tuple[str, ...]]
    """verb -> all capability names that it may ask for."""

    def named(self, verb: str, noun: str = NO_NOUN) -> tuple[Capability, ...]:
        """Return the capabilities that a verb and a singular noun name, none where the table has no such pair."""
        return tuple(self.capabilities[name] for name in self.by_verb_noun.get((verb, noun), ()))

    def risk_of(self, capability: str) -> Risk | None:
        """Return the class of a capability of the table; ``None`` for an inferred name."""
        entry = self.capabilities.get(capability)
        return entry.risk if entry else None


def inferred(verb: str, noun: str) -> str:
    """Return the capability name for a pair that the table does not have: ``transaction.schedule``."""
    return f"{noun.replace(' ', '_')}.{verb}" if noun and noun != NO_NOUN else f"tool.{verb}"


@cache
def vocabulary() -> Vocabulary:
    """Return the built-in table; read once per process."""
    import yaml  # noqa: PLC0415  (lazy: start-up budget, DESIGN 13)

    text = resources.files("agentsfence_core.classification.catalogue").joinpath("capabilities.yaml").read_text("utf-8")
    rows = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  (both are safe loaders)
    capabilities = {
        name: Capability(name, Risk(row["risk"]), tuple(row["verbs"]), tuple(row["nouns"]), row["does"])
        for name, row in rows.items()
    }
    pairs: dict[tuple[str, str], list[str]] = {}
    verbs: dict[str, list[str]] = {}
    for capability in capabilities.values():
        for verb in capability.verbs:
            verbs.setdefault(verb, []).append(capability.name)
            for noun in capability.nouns:
                pairs.setdefault((verb, noun), []).append(capability.name)
    return Vocabulary(
        capabilities,
        {pair: tuple(names) for pair, names in pairs.items()},
        {verb: tuple(names) for verb, names in verbs.items()},
    )
