"""Whether an audit log holds together: every line whole, every chain without a gap (DESIGN 8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from agentsfence_core.audit import chain
from agentsfence_core.audit.log import CURRENT, numbered
from agentsfence_core.errors import AuditError


@dataclass(frozen=True, slots=True)
class Gap:
    """A place where the log does not hold together."""

    file: str
    line: int
    why: str

    def __str__(self) -> str:
        """Return the place and what is wrong there."""
        return f"{self.file}:{self.line}: {self.why}" if self.line else f"{self.file}: {self.why}"


@dataclass(frozen=True, slots=True)
class Verification:
    """What `verify` found."""

    lines: int
    chains: int
    gaps: tuple[Gap, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing is missing or changed, as far as the log itself can show."""
        return not self.gaps


def files(path: Path) -> tuple[Path, ...]:
    """Return the files of a log, oldest first; ``path`` is its folder or one file."""
    if path.is_file():
        return (path,)
    rotated = sorted((file for file in path.glob("audit-*.jsonl") if numbered(file)), key=numbered)
    current = path / CURRENT
    return (*rotated, current) if current.exists() else tuple(rotated)


def verify(path: Path, heads: Iterable[chain.Head] = ()) -> Verification:
    """Return what is missing or changed in a log.

    ``heads`` that the store kept show a tail that was cut off, a chain that was taken out whole, and one that was
    written anew. A chain whose lines stood in old files that were taken away as a whole is not missed.

    Raises `AuditError` where there is no log, or it cannot be read.
    """
    logs = files(path)
    if not logs:
        raise AuditError(f"{path}: no audit log", hint="check the path")
    kept = {head.chain: head for head in heads}
    seen = _Seen(kept, pruned=numbered(logs[0]) > 1)
    gaps = [gap for log in logs for gap in seen.read(log)]
    gaps.extend(
        Gap(str(logs[-1]), 0, f"chain {chain}: lines up to {head.number} were written and are gone")
        for chain, head in kept.items()
        if seen.misses(head)
    )
    return Verification(seen.lines, len(seen.newest), tuple(gaps))


class _Seen:
    """What was read so far."""

    def __init__(self, heads: Mapping[str, chain.Head], *, pruned: bool) -> None:
        self.lines = 0
        self._heads = heads
        self.newest: dict[str, tuple[int, str]] = {}
        self._hashes: set[str] = set()
        self._pruned = pruned
        """Older files were taken away as a whole: chains may begin in them."""

    def read(self, log: Path) -> Iterator[Gap]:
        """Read one file; yield every gap."""
        try:
            with log.open("rb") as file:
                for number, line in enumerate(file, 1):
                    if line.strip():
                        self.lines += 1
                        if why := self._fault(line):
                            yield Gap(str(log), number, why)
        except OSError as error:
            raise AuditError(f"{log}: {error.strerror or error}", hint="check its rights") from error

    def _fault(self, line: bytes) -> str:
        """Return what is wrong with a line, or an empty text; take it up either way."""
        link = chain.link(line)
        if link is None:
            return "no audit line, or a torn one"
        before = self.newest.get(link.chain)
        self.newest[link.chain] = (link.number, link.hash)
        known = self._hashes
        why = ""
        head = self._heads.get(link.chain)
        if not link.whole:
            why = "the line was changed"
        elif head is not None and head.number == link.number and head.hash != link.hash:
            why = f"line {link.number} of chain {link.chain} is not the one that was written"
        elif before is not None and (link.number, link.previous) != (before[0] + 1, before[1]):
            why = f"line {link.number} of chain {link.chain} does not follow line {before[0]}"
        elif before is None and not self._pruned and not self._begins(link):
            why = f"chain {link.chain} begins at line {link.number}, or after a line that is gone"
        known.add(link.hash)
        return why

    def misses(self, head: chain.Head) -> bool:
        """Whether a line that was written is not there."""
        newest = self.newest.get(head.chain)
        return not self._pruned if newest is None else newest[0] < head.number

    def _begins(self, link: chain.Link) -> bool:
        """Whether this may be the first line of its chain: it names a line that is there, or there was none."""
        return link.number == 1 and (link.previous in self._hashes if link.previous else True)
