"""A text of code, read for what can be seen in it.

Rules of this package:

* Code is an execution that nobody can verify: that effect is always there, and what is seen only adds to it.
* What is seen is never taken as all there is, so its targets stay unverified, except in a literal shell command.
* Paths and addresses in strings count as read and contacted, so that the guards see ``~/.ssh/id_rsa`` inside code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from agentsfence_core.classification.code import tables
from agentsfence_core.classification.code.calls import Call, Kind, calls_in, scan
from agentsfence_core.classification.code.python import parsed_calls
from agentsfence_core.classification.sql import tables as sql
from agentsfence_core.classification.targets.hosts import hosts_in
from agentsfence_core.classification.targets.paths import canonical_path, is_literal, looks_like_path
from agentsfence_core.classification.targets.recipients import addresses_in
from agentsfence_core.limits import LIMITS
from agentsfence_core.model.action import Effect, TargetKind
from agentsfence_core.model.risk import RANK, Risk

_SQL: Final = re.compile(
    r"\s*(?:DELETE\s+FROM|DROP\s+(?:TABLE|DATABASE|SCHEMA|VIEW|INDEX)|TRUNCATE\s+(?:TABLE\s+)?\w|INSERT\s+(?:INTO|OR)|REPLACE\s+INTO"
    r"|UPDATE\s+[\w.\"`]+\s+SET|ALTER\s+TABLE|GRANT\s+\w+[\s,]|REVOKE\s+\w+[\s,])",
    re.IGNORECASE,
)
_URL_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}://")
_RUNNING: Final = ("os.exec", "os.spawn", "os.posix_spawn", "pexpect.")
_LAST_PARTS: Final = frozenset(
    {
        *tables.LAST,
        *(name for names in tables.BY_LANGUAGE.values() for name in names),
        *tables.HTTP_WRITES,
        *tables.READS_WEB,
        "delete",
    }
)
_COMMANDS: Final = 8  # shell commands in one text of code that are read
_COMMAND_LENGTH: Final = 4_000  # characters of one


@dataclass(slots=True)
class _Seen:
    """Effects by capability."""

    workdir: str | None
    home: str | None
    effects: dict[str, Effect] = field(default_factory=dict)
    commands: int = _COMMANDS

    def add(self, effect: Effect) -> None:
        """Merge an effect with the one of the same capability."""
        known = self.effects.get(effect.capability)
        if known is None:
            self.effects[effect.capability] = effect
            return
        self.effects[effect.capability] = replace(
            known,
            recipients=_both(known.recipients, effect.recipients),
            domains=_both(known.domains, effect.domains),
            paths=_both(known.paths, effect.paths),
            urls=_both(known.urls, effect.urls),
            unverified=known.unverified | effect.unverified,
        )

    def path(self, text: str) -> str:
        """Return a path of the code in canonical form."""
        return canonical_path(text, workdir=self.workdir, home=self.home)


def read_code(
    text: str, language: str = "python", *, workdir: str | None = None, home: str | None = None
) -> tuple[Effect, ...]:
    """Return ``code.exec``, then what the code visibly deletes, sends, pays, runs, reads and contacts, worst first."""
    language = tables.LANGUAGES.get(language.lower(), language.lower())
    seen = _Seen(workdir, home)
    program = Effect(
        "code.exec", Risk.EXECUTION, unverified=frozenset({TargetKind.PROGRAM}), because=f"{language} code"
    )
    text = text[: LIMITS.code_text]
    pieces = scan(text, language)
    calls = list(calls_in(pieces, language, _matters))
    strings = [piece.text for piece in pieces if piece.kind is Kind.TEXT]
    if language == "python":
        more_calls, more_strings = parsed_calls(text)
        calls.extend(more_calls)
        strings.extend(more_strings)
    for call in calls:
        _read_call(call, language, seen)
    _read_strings(strings, text, seen)
    if language in tables.BACKQUOTES_RUN and "`" in text:
        seen.add(_effect(tables.SHELL, "`…`"))
    rest = sorted(seen.effects.values(), key=lambda effect: -RANK[effect.risk])
    return (program, *rest)


def _both(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))[: LIMITS.targets]


def _effect(does: tables.Does, because: str, *, texts: Iterable[str] = (), seen: _Seen | None = None) -> Effect:
    """Return the effect of a call, with the targets that are written in it; more may be hidden."""
    capability, risk, hidden = does
    written = list(texts)[:50]
    paths: tuple[str, ...] = ()
    recipients: tuple[str, ...] = ()
    if hidden is TargetKind.PATHS and seen is not None:
        paths = tuple(
            seen.path(text) for text in written if text and "\n" not in text and len(text) < LIMITS.target_length
        )
    elif hidden is TargetKind.RECIPIENTS:
        recipients = tuple(address for text in written for address in addresses_in(text))
    urls = tuple(text for text in written if _URL_SCHEME.match(text))
    domains = tuple(dict.fromkeys(host for url in urls for host in hosts_in(url)))
    return Effect(
        capability, risk, recipients, domains, paths, urls=urls, unverified=frozenset({hidden}), because=because[:80]
    )


def _read_call(call: Call, language: str, seen: _Seen) -> None:
    """Add what one call does."""
    does = _does(call, language)
    if does is None:
        return
    if does == tables.SHELL:
        _read_command(call, seen)
    # The first argument of smtplib's `sendmail` is the sender.
    texts = call.texts[1:] if call.last == "sendmail" else call.texts
    seen.add(_effect(does, f"{call.name}(…)", texts=texts, seen=seen))


def _matters(name: str) -> bool:
    """Whether a call of this name may do something that is seen here."""
    last = name.rpartition(".")[2]
    return last in _LAST_PARTS or name in tables.FULL or name.startswith(_RUNNING)


def _does(call: Call, language: str) -> tables.Does | None:
    """Return what a call does, or ``None`` where its name says nothing."""
    known = tables.FULL.get(call.name) or tables.LAST.get(call.last)
    if known is None:
        known = tables.BY_LANGUAGE.get(language, {}).get(call.last)
    if known is not None:
        return known
    first = call.name.partition(".")[0].lower()
    if call.name.startswith(_RUNNING):
        return tables.SHELL
    web = first in tables.HTTP_MODULES or any(_URL_SCHEME.match(text) for text in call.texts)
    if call.last in tables.HTTP_WRITES and "." in call.name and web:
        return tables.POST
    if call.last == "delete" and "." in call.name and web:
        return tables.HTTP_DELETE
    if call.last in tables.READS_WEB:
        return _web(call)
    return None


def _web(call: Call) -> tables.Does:
    """Return what a call does whose arguments decide between reading and writing."""
    texts = set(call.texts)
    if "DELETE" in texts or "delete" in texts:
        return tables.HTTP_DELETE
    sends = texts & tables.SENDING_METHODS or call.words & tables.SENDING_WORDS or texts & tables.SENDING_WORDS
    return tables.POST if sends else tables.FETCH


def _read_command(call: Call, seen: _Seen) -> None:
    """Add the effects of a shell command that stands literally in a call."""
    if not call.texts or seen.commands <= 0 or sum(map(len, call.texts)) > _COMMAND_LENGTH:
        return
    seen.commands -= 1
    for effect in _command_effects(call, seen):
        if effect.risk is not Risk.EXECUTION:
            seen.add(replace(effect, invocation=0))


def _command_effects(call: Call, seen: _Seen) -> Iterator[Effect]:
    """Yield what the shell classifier says of a literal command; nothing where it cannot say."""
    from agentsfence_core.classification import shell  # noqa: PLC0415  (lazy: the shell reads code too)

    try:
        if call.listed or (len(call.texts) > 1 and " " not in call.texts[0]):
            yield from shell.read_argv(list(call.texts), workdir=seen.workdir, home=seen.home).effects
        else:
            yield from shell.read_command(call.texts[0], workdir=seen.workdir, home=seen.home, grammar="posix").effects
    except RecursionError:
        return


def _read_strings(strings: Iterable[str], text: str, seen: _Seen) -> None:
    """Add the paths and addresses that stand in strings, and SQL that changes something."""
    paths: dict[str, None] = {}
    unsure = False
    for string in strings:
        if len(string) > LIMITS.target_length:
            continue
        if looks_like_path(string) and len(paths) < LIMITS.targets:
            paths[seen.path(string)] = None
            unsure = unsure or not is_literal(string)
        statement = _SQL.match(string)
        if statement is not None:
            capability, risk = sql.STATEMENTS[statement[0].split()[0].upper()]
            seen.add(Effect(capability, risk, unverified=frozenset({TargetKind.OBJECTS}), because=statement[0].strip()))
    if paths:
        unverified = frozenset({TargetKind.PATHS}) if unsure else frozenset[TargetKind]()
        seen.add(Effect("file.read", Risk.READ, paths=tuple(paths), unverified=unverified, because="paths in code"))
    hosts = _both(hosts_in(text), tuple(host for string in strings if "://" in string for host in hosts_in(string)))
    if hosts:
        urls = tuple(dict.fromkeys(string for string in strings if _URL_SCHEME.match(string)))[: LIMITS.targets]
        seen.add(Effect("web.read", Risk.READ, domains=hosts, urls=urls, because="addresses in code"))
