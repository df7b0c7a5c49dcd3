"""What no policy may say: grants so wide that they name nothing (task policies; paper, 4).

A stray ``*`` in an allow list, a root folder, the home folder: each would turn a contract for one task into a licence
for everything, so each is refused with the field it stands in. Wide *bans* are fine and stay.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from fnmatch import translate

from agentsfence_core.classification.vocabulary import vocabulary
from agentsfence_core.errors import PolicyError
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Permission, PolicySource, Risk, TaskPolicy, ToolConstraint

_CLASS = re.compile(r"\[[^\]]*\]")
_NEAR = 0.85  # likeness from which a name that nobody knows is taken for a slip
_WILD = re.compile(r"[*?\[]")
_AMOUNT = re.compile(r"\d{1,30}(?:\.\d{1,10})?\Z")
_HOME = re.compile(
    r"(?:~[^/]*|\$HOME|\$\{HOME\}|%USERPROFILE%|/root|/var/root|/(?:home|Users)(?:/[^/]+)?|/mnt/[a-z]/Users(?:/[^/]+)?"
    r"|[A-Za-z]:(?:/Users(?:/[^/]+)?)?)\Z",
    re.IGNORECASE,
)

Entry = tuple[str, str]
"""Path of a field, and one of its entries."""


def refuse_too_wide(policy: TaskPolicy, home: str) -> None:
    """Raise `PolicyError` where a policy allows everything of a kind, has an empty entry or more than the limits."""
    for field, name in _allowed_names(policy):
        _check_name(field, name)
        _refuse_slip(field, name)
    for field, party in _parties(policy):
        _check_party(field, party)
    for field, domain in _domains(policy):
        _check_domain(field, domain)
    for field, path in _paths(policy):
        _check_path(field, path, home)
    for field, name in _objects(policy):
        if matches_everything(name.partition(":")[2] or name):
            raise _too_wide(field, name, "name the objects; an empty list does not restrict them")
    _check_bans(policy)
    _check_numbers(policy)
    _check_sizes(policy)
    if policy.source is not PolicySource.MANUAL:
        return
    if Risk.UNKNOWN in policy.allowed_risk_classes:
        raise PolicyError(
            "UNKNOWN cannot be allowed as a class",
            field="allowed_risk_classes",
            hint="name the tool exactly in allowed_tools",
        )


def matches_everything(pattern: str) -> bool:
    """Whether nothing but wildcards and separators is written: ``*``, ``?*``, ``*.*``, ``[a-z]*``, ``*@*``."""
    return bool(_WILD.search(pattern)) and not any(letter.isalnum() for letter in _CLASS.sub("", pattern))


def _covers_most(pattern: str) -> bool:
    """Whether a glob names more than half of all capabilities: ``*e*``, ``[!x]*``."""
    if not _WILD.search(pattern):
        return False
    known = vocabulary().capabilities
    matcher = re.compile(translate(pattern))
    return sum(matcher.match(name) is not None for name in known) > len(known) // 2


def _slip(name: str) -> str:
    """Return the class or capability that a name is a slip of; empty for a name of its own."""
    known = vocabulary().capabilities
    if _WILD.search(name) or name in known or name.upper() in Risk.__members__:
        return ""
    if "." in name:
        near = get_close_matches(name, known, 1, _NEAR)
    else:
        near = get_close_matches(name.upper(), Risk.__members__, 1, _NEAR)
    return near[0] if near else ""


def _too_wide(field: str, entry: str, hint: str) -> PolicyError:
    return PolicyError(f"'{entry[:80]}' allows everything", field=field, hint=hint)


def _at(field: str, entries: Iterable[str]) -> Iterator[Entry]:
    for place, entry in enumerate(entries):
        yield f"{field}[{place}]", entry


def _rows(policy: TaskPolicy) -> Iterator[tuple[str, Permission]]:
    for place, row in enumerate(policy.permissions):
        yield f"permissions[{place}]", row


def _bounds(policy: TaskPolicy) -> Iterator[tuple[str, ToolConstraint]]:
    yield from policy.tool_constraints.items()


def _allowed_names(policy: TaskPolicy) -> Iterator[Entry]:
    yield from _at("allowed_tools", policy.allowed_tools)
    for field, row in _rows(policy):
        yield f"{field}.capability", row.capability


def _parties(policy: TaskPolicy) -> Iterator[Entry]:
    yield from _at("allowed_recipients", policy.allowed_recipients)
    for name, bounds in policy.tool_constraints.items():
        yield from _at(f"tool_constraints.{name}.allowed_recipients", bounds.allowed_recipients)
    for field, row in _rows(policy):
        yield from _at(f"{field}.recipients", row.recipients)


def _domains(policy: TaskPolicy) -> Iterator[Entry]:
    yield from _at("allowed_external_domains", policy.allowed_external_domains)
    for name, bounds in policy.tool_constraints.items():
        yield from _at(f"tool_constraints.{name}.allowed_domains", bounds.allowed_domains)
    for field, row in _rows(policy):
        yield from _at(f"{field}.domains", row.domains)


def _paths(policy: TaskPolicy) -> Iterator[Entry]:
    yield from _at("allowed_paths", policy.allowed_paths)
    for name, bounds in policy.tool_constraints.items():
        yield from _at(f"tool_constraints.{name}.allowed_paths", bounds.allowed_paths)
    for field, row in _rows(policy):
        yield from _at(f"{field}.paths", row.paths)


def _objects(policy: TaskPolicy) -> Iterator[Entry]:
    for name, bounds in policy.tool_constraints.items():
        yield from _at(f"tool_constraints.{name}.allowed_objects", bounds.allowed_objects)
    for field, row in _rows(policy):
        yield from _at(f"{field}.objects", row.objects)


def _check_name(field: str, name: str) -> None:
    """Refuse an allowed name that covers every tool, or the class of what cannot be classified."""
    if not name.strip():
        raise PolicyError("an empty entry", field=field, hint="remove it")
    if matches_everything(name) or _covers_most(name):
        raise _too_wide(field, name, "name the tools, capabilities or risk classes that the task needs")
    if field.startswith("permissions") and _WILD.search(name):
        raise PolicyError(
            f"'{name[:80]}' is a pattern", field=field, hint="a row lists one capability, such as email.send"
        )
    if name.strip().upper() == Risk.UNKNOWN.value:
        raise PolicyError("UNKNOWN cannot be allowed as a class", field=field, hint="name the tool exactly")


def _check_party(field: str, party: str) -> None:
    """Refuse an empty recipient, and patterns that do not pin a domain of their own."""
    if not party.strip():
        raise PolicyError("an empty entry", field=field, hint="remove it")
    if _WILD.search(party) and not _pins_domain(party.rpartition("@")[2]):
        raise _too_wide(field, party, "write the addresses, or a pattern with a whole domain: *@example.com")


def _check_domain(field: str, domain: str) -> None:
    """Refuse an empty domain, and patterns over a whole top-level domain."""
    if not domain.strip():
        raise PolicyError("an empty entry", field=field, hint="remove it")
    if _WILD.search(domain) and not _pins_domain(domain):
        raise _too_wide(field, domain, "write the domains, or a pattern below one: *.example.com")


def _pins_domain(pattern: str) -> bool:
    """Whether the last two labels of a host pattern are literal."""
    labels = pattern.rstrip(".").split(".")[-2:]
    return len(labels) == 2 and all(label and not _WILD.search(label) for label in labels)


def _check_path(field: str, path: str, home: str) -> None:
    """Refuse an empty path, a root, and whatever has a home folder in it."""
    if not path.strip():
        raise PolicyError("an empty entry", field=field, hint="remove it")
    folded = path.strip().replace("\\", "/")
    while _WILD.search(last := folded.rpartition("/")[2]) and matches_everything(last):
        folded = folded[: -len(last)].rstrip("/") or "/"
        if not _WILD.search(folded):
            break
    if matches_everything(folded):
        raise _too_wide(field, path, "name the folder that the task works in")
    folded = "/" + posixpath.normpath(folded).lstrip("/") if folded.startswith("/") else posixpath.normpath(folded)
    inside = home and home != "/" and (home + "/").startswith(folded.rstrip("/") + "/")
    if folded in {"/", ".."} or folded.startswith("../") or _HOME.match(folded) or inside:
        raise PolicyError(
            f"'{path[:80]}' is a root or home folder, or holds one",
            field=field,
            hint="name the folder that the task works in, such as ~/Downloads",
        )


def _check_bans(policy: TaskPolicy) -> None:
    """Refuse a ban that forbids nothing: an empty name, a slip, or exceptions that are everything."""
    for field, name in _at("denied_tools", policy.denied_tools):
        _refuse_slip(field, name)
    for place, ban in enumerate(policy.user_prohibitions):
        field, spared = f"user_prohibitions[{place}]", ban.exceptions
        if not ban.what.strip():
            raise PolicyError("an empty name", field=f"{field}.what", hint="name a risk class or a capability")
        _refuse_slip(f"{field}.what", ban.what)
        if any(map(matches_everything, (*spared.recipients, *spared.domains, *spared.paths, *spared.objects))):
            raise PolicyError("excepts everything", field=f"{field}.exceptions", hint="name what stays allowed")


def _refuse_slip(field: str, name: str) -> None:
    """Refuse a name that nobody knows and that is nearly a class or a capability."""
    slip = _slip(name)
    if slip:
        raise PolicyError(f"'{name[:80]}' names nothing", field=field, hint=f"did you mean {slip}?")


def _check_numbers(policy: TaskPolicy) -> None:
    """Refuse negative counts, and amounts that are no plain decimal number."""
    bounds = [
        (f"tool_constraints.{name}", row.max_calls, row.max_amount) for name, row in policy.tool_constraints.items()
    ]
    bounds += [(field, row.max_calls, row.max_amount) for field, row in _rows(policy)]
    for field, calls, amount in bounds:
        if calls is not None and calls < 0:
            raise PolicyError("a negative number", field=f"{field}.max_calls", hint="write 0 or more")
        if amount is not None and not _AMOUNT.match(amount):
            raise PolicyError("no decimal number", field=f"{field}.max_amount", hint='write "120.50", without currency')
    if policy.max_external_writes is not None and policy.max_external_writes < 0:
        raise PolicyError("a negative number", field="max_external_writes", hint="write 0 or more")


def _check_sizes(policy: TaskPolicy) -> None:
    """Refuse more glob patterns, or longer ones, than the evaluator compiles."""
    names = [*policy.allowed_tools, *policy.denied_tools, *policy.requires_approval, *policy.tool_constraints]
    names += [ban.what for ban in policy.user_prohibitions]
    globs = [name for name in names if _WILD.search(name)]
    if len(globs) > LIMITS.globs:
        raise PolicyError(
            f"{len(globs)} patterns", hint=f"at most {LIMITS.globs}: write plain names, which are unlimited"
        )
    for name in globs:
        if len(name) > LIMITS.glob_length:
            raise PolicyError(
                f"the pattern '{name[:40]}…' is too long", hint=f"at most {LIMITS.glob_length} characters"
            )
