"""The short forms that people write in a policy, rewritten into the one full form (DESIGN 6).

``DELETE`` for a prohibition that forbids all deleting, a list of texts for its targets, a number for an amount. Nothing
here judges: what cannot be rewritten stays as it is, and the validation behind it names the fault.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from agentsfence_core.model import CONSEQUENTIAL, OBJECT_KINDS

BANS = "user_prohibitions"
BANS_ALIAS = "prohibitions"
_LONGEST_BITS = 200
_CLASSES = {risk.value.lower(): risk.value for risk in CONSEQUENTIAL}
_DATE = re.compile(r"\d{4}-\d\d-\d\d\Z")
_ADDRESS = re.compile(r"[^@\s/]+@[^@\s/]+\.[^@\s/]+\Z")
_PHONE = re.compile(r"\+?[\d][\d ()./-]{5,24}\Z")
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9 ]{11,40}\Z")
_HOST = re.compile(r"(?:\*\.)?[^\s/:@.]+(?:\.[^\s/:@.]+)+\Z")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}://(?:[^/@\s?#]*@)?(\[[^\]\s]*\]|[^/:?#\s]+)")
_PATH = re.compile(r"(?:[/~\\]|\.{1,2}[/\\]|[A-Za-z]:[/\\]|\$)")
_FILE_ENDINGS = frozenset(
    # Documents, data, code, archives and pictures: what a person means by "report.pdf", which is no host.
    "txt md rst pdf doc docx odt xls xlsx csv tsv ods ppt pptx json jsonl yaml yml toml ini cfg conf env log xml "
    "html htm css js ts tsx jsx py ipynb rb go rs c h cpp java kt swift sh bash zsh ps1 bat sql db sqlite zip tar "
    "gz tgz bz2 xz 7z png jpg jpeg gif svg webp mp3 mp4 wav mov avi key pem crt bak tmp lock ics eml".split()
)


def expanded(data: Mapping[str, object]) -> dict[str, object]:
    """Return the policy with every short form written out."""
    full = dict(data)
    if BANS_ALIAS in full and BANS not in full:
        full[BANS] = full.pop(BANS_ALIAS)
    if isinstance(full.get(BANS), list | tuple):
        full[BANS] = [_prohibition(entry) for entry in _items(full[BANS])]
    for name in ("denied_tools", "requires_approval"):
        if isinstance(full.get(name), list | tuple):
            full[name] = [_what(entry) if isinstance(entry, str) else entry for entry in _items(full[name])]
    for name in ("created_at", "expires_at"):
        full[name] = _time(full[name]) if name in full else None
    if isinstance(full.get("permissions"), list | tuple):
        full["permissions"] = [_amount(_values(row)) for row in _items(full["permissions"])]
    constraints = full.get("tool_constraints")
    if isinstance(constraints, Mapping):
        full["tool_constraints"] = {name: _amount(row) for name, row in constraints.items()}
    return full


def _items(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def _prohibition(entry: object) -> object:
    """Write out one prohibition: a bare name, or a mapping with other names for its fields."""
    if isinstance(entry, str):
        return {"what": _what(entry)}
    if not isinstance(entry, Mapping):
        return entry
    full = dict(entry)
    for name in ("capability", "risk"):
        if name in full and "what" not in full:
            full["what"] = full.pop(name)
    if "except" in full and "exceptions" not in full:
        full["exceptions"] = full.pop("except")
    if isinstance(full.get("what"), str):
        full["what"] = _what(full["what"])
    for name in ("targets", "exceptions"):
        if isinstance(full.get(name), list | tuple | str):
            full[name] = sorted_targets(full[name])
    return full


def _what(name: object) -> str:
    """Return a class in its own spelling: ``delete`` would otherwise be a name that no call has, and forbid nothing.

    Not so for ``read``, which is the name of many a tool.
    """
    return _CLASSES.get(str(name).strip().lower(), str(name))


def sorted_targets(targets: object) -> object:
    """Return a plain list of targets by kind, as their shape says; a list of anything but texts stays as it is."""
    entries = [targets] if isinstance(targets, str) else _items(targets)
    if not all(isinstance(entry, str) for entry in entries):
        return targets
    kinds: dict[str, list[str]] = {}
    for entry in entries:
        for kind, target in _shapes(str(entry).strip()):
            kinds.setdefault(kind, []).append(target)
    return kinds


def _shapes(text: str) -> tuple[tuple[str, str], ...]:
    """Return the kinds that a target can be; what fits two kinds is named in both, so that a ban misses neither."""
    if url := _URL.match(text):
        return (("domains", url[1]),)
    if _PATH.match(text):
        return (("paths", text),)
    if text.partition(":")[0] in OBJECT_KINDS and ":" in text:
        return (("objects", text),)
    if text[:1] in {"@", "#"} or _ADDRESS.match(text) or _PHONE.match(text) or _IBAN.match(text):
        return (("recipients", text),)
    if "/" in text:
        return (("paths", text), ("objects", text))
    if _HOST.match(text):
        if text.rpartition(".")[2].lower() not in _FILE_ENDINGS:
            return (("domains", text),)
        return (("paths", text), ("objects", text))
    return (("recipients", text), ("objects", text))


def _is_number(value: object) -> bool:
    """Whether a value is a whole number that can be written out; very long ones cannot."""
    return isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < _LONGEST_BITS


def _time(value: object) -> object:
    """Return a date as its first moment, and a time without zone as UTC."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if _DATE.match(text):
        return f"{text}T00:00:00+00:00"
    if re.match(r"\d{4}-\d\d-\d\d[T ]", text) and not re.search(r"(?:Z|[+-]\d\d:?\d\d)\Z", text):
        return f"{text}+00:00"
    return text


def _amount(row: object) -> object:
    """Return a row whose ``max_amount`` is a text where it was a number."""
    if not isinstance(row, Mapping):
        return row
    amount = row.get("max_amount")
    if isinstance(amount, float):
        exact = format(Decimal(repr(amount)), "f")
        return {**row, "max_amount": exact.removesuffix(".0")}
    if _is_number(amount):
        return {**row, "max_amount": str(amount)}
    return row


def _values(row: object) -> object:
    """Return a row whose ``values`` are texts where they were numbers."""
    if not isinstance(row, Mapping) or not isinstance(row.get("values"), Mapping):
        return row
    values = {
        name: str(value) if isinstance(value, float) or _is_number(value) else value
        for name, value in row["values"].items()
    }
    return {**row, "values": values}
