"""What may stand in an audit line: targets of what changes something, never content, secrets or the raw request.

Rules of this file: pure and linear; a text is cut before it is searched; what is not known to be harmless is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from agentsfence_core.canonical import digest
from agentsfence_core.model import Effect, Risk

TEXT = 240  # characters of one text
ENTRIES = 24  # targets of one kind
MASKS = ("…", "[secret]")
"""What stands in a text, or at the end of a list, where something was taken out."""

_SECRETS = re.compile(
    r"(?<![A-Za-z0-9])(?:sk|pk|rk|ghp|gho|ghu|ghs|glpat|github_pat|xox[a-z]|hf|npm|pypi)[-_][A-Za-z0-9_-]{12,200}"
    r"|(?<![A-Za-z0-9])(?:AKIA|ASIA|AIza|eyJ)[A-Za-z0-9_.-]{12,240}"
    r"|(?i:bearer|basic)\s[A-Za-z0-9+/=_.-]{8,240}"
    r"|(?i:password|passwd|passphrase|passcode|secret|token|api[ _-]?key|pin)(?:\s?[=:]\s?|\sis\s)\S{1,240}"
)
_DIGEST = re.compile(r"[0-9a-f]{32}")
_LOGIN = re.compile(r"(://)[^/@\s]{1,240}@")
_AFTER_HOST = re.compile(r"(://[^/?#\s]{1,240})[/?#]\S{0,240}")


def text(value: object, longest: int = TEXT) -> str:
    """Return a text that is short and carries no credential that can be told by its shape."""
    whole = str(value)
    return _masked(whole if len(whole) <= longest else f"{whole[:longest]}…")


@lru_cache(maxsize=2_048)
def _masked(kept: str) -> str:
    """Return a short text without credentials. Tasks, tools and targets repeat, so results are kept."""
    if "://" in kept:
        kept = _AFTER_HOST.sub(r"\1/…", _LOGIN.sub(r"\1…@", kept))
    return _SECRETS.sub("[secret]", kept)


def texts(values: Iterable[object]) -> list[str]:
    """Return the first texts of a list; one more says how many were left out."""
    items = values if isinstance(values, tuple) else tuple(values)
    kept = [text(item) for item in items[:ENTRIES]]
    return kept if len(items) <= ENTRIES else [*kept, f"… {len(items) - ENTRIES} more"]


def targets(effect: Effect | None) -> dict[str, object]:
    """Return the targets of an effect that changes something; what is read stays private."""
    if effect is None or effect.risk is Risk.READ:
        return {}
    kept: dict[str, object] = {}
    for kind, values in (
        ("recipients", effect.recipients),
        ("domains", effect.domains),
        ("paths", effect.paths),
        ("objects", effect.objects),
    ):
        if values:
            kept[kind] = texts(values)
    if effect.unverified:
        kept["unverified"] = sorted(kind.value for kind in effect.unverified)
    if effect.values:
        kept["values"] = [f"{text(name, 40)}={_value(name, value)}" for name, value in effect.values[:ENTRIES]]
    return kept


def _value(name: str, value: str) -> str:
    """Return a value; of a command only its program, since any word after it can be a secret."""
    if name != "command":
        return text(value, 80)
    program, _, rest = value.partition(" ")
    return f"{text(program, 80)} …" if rest else text(program, 80)


_PLAIN = frozenset({"changed", "enabled", "times", "until", "count", "status", "scope", "source", "verdict"})
"""Details of events that are short words or numbers by construction."""
_IDS = frozenset({"ticket", "question", "grant", "by", "parent", "call_id", "policy"})
"""Details that are ids or digests."""


def details(values: Mapping[str, object]) -> dict[str, object]:
    """Return what may be kept of an event's details; a value of an unknown name is replaced by its digest."""
    kept: dict[str, object] = {}
    for name, value in values.items():
        if value is None or isinstance(value, bool | int | float):
            kept[text(name, 40)] = value
        elif name in _PLAIN or name in _IDS or (name == "instruction" and _DIGEST.fullmatch(str(value))):
            kept[name] = text(value, 80)
        elif value:
            kept[f"{text(name, 40)}_digest"] = digest(value)
    return kept
