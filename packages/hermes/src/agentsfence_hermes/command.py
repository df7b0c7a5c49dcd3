"""``/fence``: what the fence holds for this session, for the person in the chat or at the terminal.

Hermes tells a slash command neither its session nor its sender; both are found where Hermes keeps them.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from agentsfence_core import BlockingFence, Fence
from agentsfence_core.model import Grant, PolicySource, TaskPolicy
from agentsfence_hermes import host
from agentsfence_hermes.ingress import Received

if TYPE_CHECKING:
    from agentsfence_hermes.fences import Fences

_LATEST = 8  # decisions shown


class _Known(Protocol):
    """What the command needs of the adapter."""

    fences: Fences

    @property
    def received(self) -> Received | None: ...

    def task_of_session(self, session: str) -> str: ...

    def task_of_chat(self, place: str) -> str: ...


class FenceCommand:
    """The handler of ``/fence``."""

    WHAT: ClassVar[str] = "Show what the fence lets the agent do here, and take grants back"
    ARGUMENTS: ClassVar[str] = "[policy | questions | grants | decisions | revoke ID]"

    def __init__(self, adapter: _Known, ctx: Any) -> None:
        """Take where sessions are known."""
        self._adapter = adapter
        self._ctx = ctx

    def __call__(self, raw_args: str = "") -> str:
        """Return the answer to show."""
        fence = self._adapter.fences.current()
        if isinstance(fence, BlockingFence):
            return f"AgentsFence blocks every call: {fence.error}"
        task = self._task()
        if not task:
            return (
                "AgentsFence: this session has not said anything yet, so there is no policy. The agent may only read."
            )
        what, _, rest = raw_args.strip().partition(" ")
        if what == "revoke":
            return _revoked(fence, task, rest.strip())
        parts = {"policy": _policy, "questions": _questions, "grants": _grants, "decisions": _decisions}
        if what and what not in parts:
            return f"/fence {self.ARGUMENTS}"
        shown = [parts[what]] if what else list(parts.values())
        return "\n\n".join(show(fence, task) for show in shown)

    def _task(self) -> str:
        received = self._adapter.received
        if received is not None:
            return self._adapter.task_of_chat(received.place)
        terminal = getattr(getattr(self._ctx, "_manager", None), "_cli_ref", None)
        session = str(getattr(terminal, "session_id", "") or "") or host.session_value("ID")
        return self._adapter.task_of_session(session) if session else ""


def _policy(fence: Fence, task: str) -> str:
    policy = fence.policy(task)
    what = "reading only" if policy.source is PolicySource.FALLBACK else policy.summary or policy.purpose
    lines = [f"Policy ({policy.source.value}): {what}"]
    lines += [f"- {_row(row)}" for row in _rows(policy)]
    lines += [f"- never: {ban.what}{_quoted(ban.quote)}" for ban in policy.user_prohibitions]
    if policy.expires_at is not None:
        lines.append(f"Until {policy.expires_at:%Y-%m-%d %H:%M} UTC, or your next message.")
    return "\n".join(lines)


def _rows(policy: TaskPolicy) -> list[tuple[str, list[str], bool, str]]:
    return [
        (row.capability, [*row.recipients, *row.domains, *row.paths, *row.objects], row.needs_approval, row.evidence)
        for row in policy.permissions
    ]


def _row(row: tuple[str, list[str], bool, str]) -> str:
    capability, targets, asks, evidence = row
    bound = f" {', '.join(targets)}" if targets else ""
    return f"{capability}{bound}{' (asks you first)' if asks else ''}{_quoted(evidence)}"


def _quoted(words: str) -> str:
    return f" (you wrote: “{words}”)" if words else ""


def _questions(fence: Fence, task: str) -> str:
    waiting = fence.questions(task)
    return (
        "\n".join(["Open questions:", *(f"- {one.sentence}" for one in waiting)]) if waiting else "No open questions."
    )


def _grants(fence: Fence, task: str) -> str:
    grants = fence.grants(task)
    if not grants:
        return "No grants."
    return "\n".join(["Grants (take one back with /fence revoke ID):", *(f"- {_grant(grant)}" for grant in grants)])


def _grant(grant: Grant) -> str:
    what = ", ".join(dict.fromkeys(delta.capability for delta in grant.deltas))
    often = f"{grant.max_calls} times" if grant.max_calls not in {None, 1} else grant.scope.value
    return f"{grant.id}: {grant.tool} ({what}), {often}"


def _decisions(fence: Fence, task: str) -> str:
    latest = fence.decisions(task)[-_LATEST:]
    if not latest:
        return "No decisions yet."
    lines = [
        f"- {time.strftime('%H:%M:%S', time.localtime(past.at))} {past.decision.verdict.value} {past.tool}"
        f"{': ' + past.decision.sentence if past.decision.sentence else ''}"
        for past in latest
    ]
    return "\n".join(["Latest decisions:", *lines])


def _revoked(fence: Fence, task: str, grant: str) -> str:
    if not any(known.id == grant for known in fence.grants(task)):
        return f"There is no grant {grant!r} here; /fence grants lists them."
    fence.revoke(task, grant)
    return f"The grant {grant} is taken back."
