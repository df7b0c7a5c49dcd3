"""The policy of last resort: reading, and every prohibition that the words contain (DESIGN 7.9)."""

from __future__ import annotations

from collections.abc import Iterable

from agentsfence_compiler.assembly import assemble
from agentsfence_compiler.language.reading import Envelope
from agentsfence_compiler.views import READ_ONLY
from agentsfence_core.model import Permission, PolicySource, Prohibition, TaskPolicy


def fallback(
    prohibitions: Iterable[Prohibition],
    now: float,
    *,
    only_domains: tuple[str, ...] = (),
    requires_approval: tuple[str, ...] = (),
    bounds: tuple[Permission, ...] = (),
) -> TaskPolicy:
    """Return a read-only policy that keeps what the words forbid or narrow. It grants nothing, whatever failed.

    ``bounds`` are the rows that the words carry: what lies outside of them is a BLOCK here too, and no question.
    """
    narrowed = Envelope((), tuple(prohibitions), only_domains, 0, requires_approval)
    return assemble(
        narrowed,
        source=PolicySource.FALLBACK,
        now=now,
        bounds=bounds,
        purpose=READ_ONLY,
        summary="Reading only: your request could not be compiled, so everything else is asked about or blocked.",
    )
