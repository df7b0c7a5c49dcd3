"""What a request is aimed at, by verb and role: parties, paths, packages, branches, amounts, counts (DESIGN 7.4)."""

from __future__ import annotations

from collections.abc import Sequence

from agentsfence_compiler.language import coverage
from agentsfence_compiler.language.references import References, Role
from agentsfence_compiler.language.tables import (
    BRANCHES,
    NO_COUNT,
    PACKAGE_NOISE,
    PARTY_CLASSES,
    REACHED,
    REFERRING,
    REMOTES,
    ROLE_WORDS,
    STRICTLY_BELOW,
    TRANSFERRING,
)
from agentsfence_compiler.language.targets import has_ending
from agentsfence_compiler.language.tokens import Token
from agentsfence_core.model import Risk


def reached(refs: References, capability: str, lemma: str) -> list[str]:
    """Return the parties that a capability reaches: the object of the send, with whom a file is shared."""
    risk = coverage.risk_of(capability, lemma)
    wide = capability.startswith(
        ("calendar.", "file.share", "access.", "repo.admin", "chat.admin", "email.draft", "task.", "issue.update")
    )
    if risk not in PARTY_CLASSES and not wide:
        return []
    # "as eve@x.example" says who acts, not who is reached.
    roles = (REACHED | {Role.WITH, Role.FOR} if wide or lemma == "share" else REACHED) - {Role.AS}
    return [party for role, party in refs.parties if role in roles]


def points(refs: References) -> bool:
    """Whether the object is what points to something: "the reference to a.txt", "the import of b.py"."""
    spoken = {word.lower() for role, word in refs.words if role is Role.OBJECT} | set(refs.nouns)
    return bool(spoken & REFERRING)


def chosen_paths(lemma: str, refs: References) -> list[tuple[Role, str, bool]]:
    """Return the paths that a verb acts on, by role."""
    by_role: dict[Role, list[tuple[Role, str, bool]]] = {}
    for entry in refs.paths:
        by_role.setdefault(entry[0], []).append(entry)
    goals = by_role.get(Role.TO, []) + by_role.get(Role.AS, [])
    if lemma not in TRANSFERRING and points(refs):
        return by_role.get(Role.SOURCE, []) + by_role.get(Role.INSIDE, [])
    here = by_role.get(Role.OBJECT, []) + by_role.get(Role.INSIDE, [])
    if (lemma in TRANSFERRING and goals) or lemma in {"unzip", "unpack", "untar", "decompress"}:
        return goals  # what is unpacked lands in the current folder
    if lemma == "copy":
        return by_role.get(Role.INSIDE, [])
    if lemma in {"delete", "remove", "clean", "clear", "erase", "purge", "wipe", "trash"}:
        here = here + by_role.get(Role.SOURCE, [])
    return here + goals or by_role.get(Role.OF, [])


def below(role: Role, text: str, lemma: str) -> bool:
    """Whether only what lies below a path is meant: "everything in /srv/tmp"."""
    return role in (Role.INSIDE, Role.SOURCE, Role.OF) and lemma in STRICTLY_BELOW and not has_ending(text)


def domains(refs: References, names: Sequence[str]) -> tuple[str, ...]:
    """Return the hosts that a request writes or posts to; a host named for reading binds nothing."""
    if not any(name.startswith(("web.", "browser.", "file.upload")) for name in names):
        return ()
    return tuple(dict.fromkeys(host for role, host in refs.hosts if role in (Role.TO, Role.INSIDE, Role.OBJECT)))


def packages(refs: References) -> list[str]:
    """Return the packages that a clause names, without their version marks."""
    words = [word for role, word in refs.words if role is Role.OBJECT and word.lower() not in PACKAGE_NOISE]
    words += [text for role, text in refs.slashed if role is Role.OBJECT]
    words += [host for role, host in refs.hosts if role is Role.OBJECT]
    words += [command for command in refs.commands if " " not in command]
    names = []
    for word in words:
        name = word
        for mark in "=<>~!;":
            name = name.split(mark, 1)[0]
        if name and name.lower() not in PACKAGE_NOISE:
            names.append(f"package:{name}")
    return names


def push_targets(refs: References) -> list[str]:
    """Return remote and branch of "push to origin main"."""
    found: list[str] = []
    for _, word in refs.words:
        low = word.lower()
        if low in REMOTES:
            found.append(f"remote:{low}")
        elif low in BRANCHES or (any(c in word for c in "-_") and word[0].isalnum()):
            found.append(f"branch:{word}")
    for _, text in refs.slashed:
        remote, _, branch = text.partition("/")
        if remote.lower() in REMOTES:
            found += [f"remote:{remote.lower()}", f"branch:{branch}"]
        else:
            found.append(f"branch:{text}")
    return found


def max_calls(refs: References, risks: frozenset[Risk], few: bool) -> int | None:
    """Return how often a request may be done: "an event" once; "the summary" says nothing."""
    if refs.count is None or few or refs.universal or risks <= NO_COUNT or "draft" in refs.nouns:
        return None
    reached = len({party for _, party in refs.parties}) + len({name for _, name in refs.names})
    if refs.count == 1 and (refs.plural or reached > 1):
        return None
    return refs.count


def amount(refs: References) -> str | None:
    """Return the highest amount that a clause names."""
    amounts = [written for written in refs.amounts if written]
    return max(amounts, key=float) if amounts else None


def role_of(tokens: Sequence[Token], at: int, end: int) -> dict[str, str]:
    """Return the role of "as a reader", "with edit access"; nothing where the words name none."""
    for place in range(at, end):
        role = ROLE_WORDS.get(tokens[place].low)
        if role is None:
            continue
        before = {token.low for token in tokens[max(at, place - 2) : place]}
        following = tokens[place + 1].low if place + 1 < end else ""
        if "as" in before or following in {"access", "permission", "permissions", "rights", "role", "privileges"}:
            return {"role": role}
    return {}
