"""Bans on looking: "don't read secret.txt", "don't access the internet", "never visit evil.example" (DESIGN 7.2).

A ban on reading counts where it names a literal file or host, the internet, or a store of its own (mail, calendar);
"don't read too much into it" forbids nothing.
"""

from __future__ import annotations

from agentsfence_compiler.language.clauses import Segment
from agentsfence_compiler.language.openings import word_at
from agentsfence_compiler.language.scope import Scope
from agentsfence_compiler.language.tables import LOOKING, ONLINE, READ_STORES
from agentsfence_compiler.language.tokens import Kind
from agentsfence_core.classification.vocabulary import vocabulary
from agentsfence_core.model import Prohibition, Risk, Targets

_FILES = ("file.read", "file.search", "media.read", "drive.read")
_WEB = ("web.read", "web.search", "web.post", "browser.navigate", "browser.interact", "file.upload")


class ReadingBans(Scope):
    """Adds what a ban on looking covers."""

    def _no_reading(self, index: int, segment: Segment) -> None:
        """Add the bans of a clause whose verb only looks."""
        at = segment.body
        while at < segment.last and word_at(self.tokens, at, self.words) in self.words.sets["adverbs"] - LOOKING:
            at += 1
        if word_at(self.tokens, at, self.words) not in LOOKING or segment.conditional or self._waits(index, segment):
            return
        refs = self._refs(at + 1, segment.last, "read")
        targets = self._targets(refs, frozenset())
        if targets.paths and word_at(self.tokens, at, self.words) not in {"use", "using", "go", "contact", "connect"}:
            self._looks(segment, _FILES, Targets(paths=targets.paths))
        if targets.domains:
            hosts = tuple(dict.fromkeys(name for host in targets.domains for name in (host, f"*.{host}")))
            self._looks(segment, _WEB, Targets(domains=hosts))
        if targets or refs.parties or refs.names:
            return
        lows = [
            word_at(self.tokens, place, self.words)
            for place in range(at + 1, segment.last)
            if self.tokens[place].kind is Kind.WORD
        ]
        named = [low for low in lows if low not in self.words.sets["determiners"] | self.words.sets["universal"]]
        named = [low for low in named if low not in {"at", "in", "into", "through", "on", "to", "for", "please", "up"}]
        if len(named) != 1:
            return  # "the mails from hr" cannot be told from other mails
        noun = self.words.nouns.get(named[0], named[0])
        if named[0] in ONLINE or noun in ONLINE:
            self._looks(segment, _WEB, Targets())
        elif noun in READ_STORES:
            family = READ_STORES[noun]
            table = vocabulary().capabilities
            names = [n for n, entry in table.items() if n.startswith(f"{family}.") and entry.risk is Risk.READ]
            self._looks(segment, tuple(names), Targets())

    def _looks(self, segment: Segment, names: tuple[str, ...], targets: Targets) -> None:
        for name in names:
            self._add(Prohibition(what=name, targets=targets, quote=self._quote(segment)))
