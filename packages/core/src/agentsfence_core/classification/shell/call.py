"""One invocation while it is being read: the words, what is known around them, and the effects found so far.

`Scan` is the state of reading one whole command (folders, functions, variables, effects); `Call` is one simple
command in it. Both live only while ``read_command`` runs: nothing here outlives the reading.
"""

from __future__ import annotations

import re
from dataclasses import replace

from agentsfence_core.classification.shell.capabilities import RISK_OF
from agentsfence_core.classification.shell.environment import changes_programs
from agentsfence_core.classification.shell.words import Word, holds_code
from agentsfence_core.classification.targets.hosts import canonical_host, read_url
from agentsfence_core.classification.targets.paths import canonical_path
from agentsfence_core.limits import LIMITS
from agentsfence_core.model.action import Effect, ObjectRef, TargetKind
from agentsfence_core.model.risk import Risk

_EMPTY: frozenset[TargetKind] = frozenset()
_HOSTED = frozenset({"image", "package", "repo", "id"})
"""Kinds of objects whose name can begin with the host that has them."""
_REGISTRY = re.compile(r"(?:[\w-]+\.)+[A-Za-z]{2,24}(?::\d+)?|[\w.-]+:\d+|localhost")
_PROGRAM = frozenset({TargetKind.PROGRAM})
CONSEQUENTIAL = frozenset({Risk.EXTERNAL_WRITE, Risk.COMMUNICATION, Risk.DELETE, Risk.FINANCIAL})
"""Classes of which it matters how often they happen."""
_FETCHES = frozenset({"file.read", "build.run", "media.generate"})
"""Capabilities whose programs open an address as they open a file."""
_OWN_VARIABLES = ("AGENTSFENCE_", "HERMES_")
ENVIRONMENT = "/proc/self/environ"
"""Stands for "all variables of the environment", which is where secrets are kept: guards know this path."""


class Draft:
    """An effect being put together."""

    __slots__ = ("domains", "objects", "paths", "recipients", "risk", "unverified", "urls", "values")

    def __init__(self, risk: Risk) -> None:
        """Start with a class and nothing else."""
        self.risk = risk
        self.paths: list[str] = []
        self.domains: list[str] = []
        self.urls: list[str] = []
        self.objects: list[ObjectRef] = []
        self.recipients: list[str] = []
        self.values: list[tuple[str, str]] = []
        self.unverified: set[TargetKind] = set()


class Scan:
    """The state of reading one command."""

    __slots__ = (
        "assigned",
        "assignments",
        "depth",
        "dirs",
        "effects",
        "errexit",
        "evaluates",
        "functions",
        "home",
        "invocation",
        "listed",
        "loaded",
        "lost",
        "note",
        "open",
        "overflow",
        "raised",
        "repeats",
        "risks",
        "start",
        "text",
        "variables",
    )

    def __init__(self, workdir: str | None, home: str | None, text: str = "") -> None:
        """Start in one folder, or in an unknown one."""
        self.dirs: tuple[str | None, ...] = (workdir,)
        """Folders that relative paths may start from: more than one after a ``cd`` that may have failed."""
        self.start = workdir
        """The folder that the command begins in."""
        self.home = home
        self.text = text
        self.repeats = 0
        """Loops, functions and programs open at this place that run what they hold again and again."""
        self.raised = False
        """What is read runs with the rights of another user."""
        self.effects: list[Effect] = []
        self.risks: set[Risk] = set()
        self.functions: set[str] = set()
        self.variables: dict[str, str] = {}
        """Variables whose value the command itself fixes."""
        self.assigned: set[str] = set()
        """Variables that this command sets to something that the text does not show."""
        self.listed: set[str] = set()
        """Variables that a loop or ``read`` sets to one name after the other."""
        self.lost = False
        """The current folder is no longer known: relative paths are unverified from here on."""
        self.assignments = 0
        self.invocation = 0
        self.depth = 0
        self.note = ""
        self.open = False
        """Some word is a whole unquoted variable (`Word.open`)."""
        self.overflow = False
        """Effects were left out."""
        self.errexit = False
        """``set -e``: after a failed ``cd`` nothing runs."""
        self.evaluates = False
        """Somewhere a text is read as arithmetic."""
        self.loaded = False
        """Somewhere a literal text stands that would run something if it were read as arithmetic."""

    def inside(self, path: str) -> bool:
        """Whether a path is the folder that the command began in, or below it."""
        return self.start is not None and (path == self.start or path.startswith(f"{self.start.rstrip('/')}/"))

    def elsewhere(self) -> bool:
        """Whether what runs now may run outside the folder that the command began in."""
        return self.lost or any(folder is not None and not self.inside(folder) for folder in self.dirs)

    def certain(self) -> bool:
        """Whether the last change of folder cannot have failed unnoticed."""
        return self.errexit or (len(self.dirs) == 1 and self.dirs[0] in {"/", "/tmp", self.home})  # noqa: S108

    def emit(self, effect: Effect) -> None:
        """Keep an effect; beyond the limit only one of each class, and the whole is unverified."""
        if self.repeats and effect.risk in CONSEQUENTIAL:
            effect = replace(effect, unverified=effect.unverified | {TargetKind.COUNT})
        if len(self.effects) >= LIMITS.command_effects:
            self.overflow = True
            if effect.risk in self.risks:
                return
        self.risks.add(effect.risk)
        self.effects.append(effect)

    def sets(self, name: str, value: str | None) -> bool:
        """Whether setting a variable changes what programs run; settings of the fence or its host are its control."""
        if name.startswith(_OWN_VARIABLES):
            self.emit(Effect("fence.control", Risk.PERMISSION_CHANGE, invocation=self.invocation, because=name[:80]))
            return True
        return changes_programs(name, value)

    def evaluate(self) -> None:
        """Note that texts are read as arithmetic: ``$((x))`` runs what the value of x has in a subscript."""
        if self.loaded and not self.evaluates:
            self.unreadable("a text that is read as arithmetic holds a substitution")
        self.evaluates = True

    def load(self, text: str) -> str:
        """Note a literal text that arithmetic would run; return it."""
        if not self.loaded and "[" in text and holds_code(text):
            self.loaded = True
            if self.evaluates:
                self.unreadable("a text that is read as arithmetic holds a substitution")
        return text

    def unreadable(self, why: str, words: str = "") -> None:
        """Record that something here runs that cannot be told from the text."""
        self.note = self.note or why
        values = (("command", words[:200]),) if words else ()
        self.emit(
            Effect(
                "shell.exec",
                Risk.EXECUTION,
                values=values,
                unverified=_PROGRAM,
                invocation=self.invocation,
                because=why,
            )
        )


class Call:
    """One simple command: its program's arguments and the effects found."""

    __slots__ = ("because", "drafts", "piped", "scan", "skip", "stdin", "words")

    def __init__(self, scan: Scan, words: list[Word], stdin: str | None = None, *, piped: bool = False) -> None:
        """Start reading ``words``, the program's name first."""
        self.scan = scan
        self.words = words
        self.stdin = stdin
        """What arrives on standard input, where the text says it."""
        self.piped = piped
        """Something else than a terminal is on standard input."""
        self.drafts: dict[str, Draft] = {}
        self.because = ""
        self.skip = 1
        """Words that name the program and its subcommand."""

    # -- effects

    def effect(self, capability: str) -> Draft:
        """Return the draft of one capability; the effect exists from now on."""
        draft = self.drafts.get(capability)
        if draft is None:
            draft = self.drafts[capability] = Draft(RISK_OF.get(capability, Risk.EXECUTION))
        return draft

    def path(self, capability: str, word: Word) -> None:
        """Add a path to an effect; ``-`` is no file."""
        draft = self.effect(capability)
        text = word.text
        if text == "-" or not text:
            return
        if "://" in text and capability in _FETCHES and text[:5] != "file:":
            self.url(capability, word, bare=False)
        if len(draft.paths) >= LIMITS.targets:
            draft.unverified.add(TargetKind.PATHS)
            return
        scan = self.scan
        if not word.sure or word.glob or (text[0] == "~" and text[:2] not in {"~", "~/"}):
            draft.unverified.add(TargetKind.PATHS)
        absolute = text[0] in "/~" or text[:5] == "file:"
        for folder in scan.dirs[:1] if absolute else scan.dirs:
            draft.paths.append(canonical_path(text, workdir=folder, home=scan.home)[: LIMITS.target_length])
        if not absolute and (scan.lost or len(scan.dirs) > 1):
            draft.unverified.add(TargetKind.PATHS)

    def url(self, capability: str, word: Word, *, bare: bool = True) -> bool:
        """Add an address to an effect; ``bare`` reads ``host/path`` as one too. Return whether it was one."""
        text = word.text
        full = text if "://" in text else f"http://{text}"
        if not bare and "://" not in text:
            return False
        reading = read_url(full) if word.sure else read_url(full.replace("$", "x").replace("`", "x"))
        draft = self.effect(capability)
        if reading is None or not reading.host:
            draft.unverified.add(TargetKind.DOMAINS)
            return False
        scheme, _, tail = full.partition("://")
        host_end = len(tail)
        for mark in "/?#":
            found = tail.find(mark)
            host_end = min(host_end, found) if found >= 0 else host_end
        if not word.sure and ("$" in tail[:host_end] or "`" in tail[:host_end] or "$" in scheme):
            draft.unverified.add(TargetKind.DOMAINS)
        draft.domains.append(reading.host)
        draft.domains += reading.inner
        draft.urls.append(full[: LIMITS.target_length])
        return True

    def host(self, capability: str, word: Word) -> None:
        """Add a machine, written ``host``, ``user@host``, ``host:port`` or ``[v6]:port``."""
        draft = self.effect(capability)
        name = word.text.rpartition("@")[2]
        if name.count(":") == 1:
            name = name.partition(":")[0]
        host = canonical_host(name.strip("[]")) if word.sure else None
        if host is None:
            draft.unverified.add(TargetKind.DOMAINS)
            if name and not word.sure:
                draft.domains.append(name.lower()[: LIMITS.target_length])
        else:
            draft.domains.append(host)

    def object(self, capability: str, kind: str, word: Word) -> None:
        """Add an object to an effect."""
        draft = self.effect(capability)
        draft.objects.append(ObjectRef(kind, word.text[: LIMITS.target_length]))
        if not word.literal:
            draft.unverified.add(TargetKind.OBJECTS)
        if "/" in word.text and kind in _HOSTED:
            registry = word.text.partition("/")[0]
            if _REGISTRY.fullmatch(registry[:300]):
                self.host(capability, Word(registry, word.sure))

    def value(self, capability: str, name: str, text: str) -> None:
        """Add a value to an effect."""
        self.effect(capability).values.append((name, text))

    def unverified(self, capability: str, kind: TargetKind) -> None:
        """Say that an effect touches something that cannot be read from the text."""
        self.effect(capability).unverified.add(kind)

    def unseen(self, why: str, capability: str = "shell.exec") -> None:
        """Say that a program runs that the text does not show."""
        draft = self.effect(capability)
        if TargetKind.PROGRAM not in draft.unverified:
            draft.unverified.add(TargetKind.PROGRAM)
            draft.values.append(("command", self.line()[:200]))
        self.scan.note = self.scan.note or why

    def foreign(self, effects: tuple[Effect, ...]) -> None:
        """Take over effects that another reader found (SQL, code), as part of this invocation."""
        for found in effects:
            draft = self.effect(found.capability)
            draft.paths += [
                canonical_path(path, workdir=folder, home=self.scan.home)
                for path in found.paths
                for folder in self.scan.dirs
            ]
            draft.domains += found.domains
            draft.urls += found.urls
            draft.objects += found.objects
            draft.recipients += found.recipients
            draft.values += found.values
            draft.unverified |= found.unverified
            draft.risk = found.risk

    # -- the end

    def line(self) -> str:
        """Return the words as one line, for people and for guards."""
        return " ".join([word.text for word in self.words])

    def finish(self) -> None:
        """Hand the effects to the scan."""
        scan = self.scan
        because = self.because or self.line()[:120]
        for capability, draft in self.drafts.items():
            scan.emit(
                Effect(
                    capability,
                    draft.risk,
                    tuple(draft.recipients),
                    tuple(dict.fromkeys(draft.domains)),
                    tuple(dict.fromkeys(draft.paths)),
                    tuple(draft.objects),
                    tuple(draft.values),
                    tuple(draft.urls),
                    frozenset(draft.unverified) if draft.unverified else _EMPTY,
                    scan.invocation,
                    because,
                )
            )
