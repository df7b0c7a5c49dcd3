"""The offline backend: its draft is the envelope of the words, and needs no network and no model (DESIGN 7.6)."""

from __future__ import annotations

from agentsfence_compiler import language
from agentsfence_compiler.language.envelope import envelope
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Permission
from agentsfence_core.ports import CompileContext, Instruction


class RulesBackend:
    """Drafts one permission for each row of the envelope, with its own words as evidence."""

    def draft(self, instruction: Instruction, context: CompileContext, error: str | None) -> object:  # noqa: ARG002  (rules do not learn from a fault)
        """Return the envelope as a draft. Deterministic; never raises."""
        host = context.host
        reading = language.read(
            instruction, home=host.home, workspace=host.workspace, workdir=host.workdir, contacts=context.contacts
        )
        bounds = envelope(reading, workspace=host.workspace, workdir=host.workdir, home=host.home)
        rows = [_permission(row) for row in bounds.permissions if row.evidence][: LIMITS.draft_permissions]
        return {"permissions": rows, "max_external_writes": bounds.max_external_writes}


def _permission(row: Permission) -> dict[str, object]:
    found: dict[str, object] = {"capability": row.capability, "quote": row.evidence[: LIMITS.quote]}
    for kind in ("recipients", "domains", "paths", "objects"):
        targets: tuple[str, ...] = getattr(row, kind)
        if targets:
            found[kind] = list(targets)
    if row.values:
        found["values"] = dict(row.values)
    if row.max_calls is not None:
        found["max_calls"] = row.max_calls
    if row.needs_approval:
        found["needs_approval"] = True
    return found
