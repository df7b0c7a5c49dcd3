"""The façade: all that an adapter needs (DESIGN 3).

    fence = Fence.open()
    task = fence.begin("Read the report and email it to john@example.com", task="t1")
    decision = fence.check("t1", "mcp_gmail_send_email", {"to": "john@example.com"})
    if decision.allowed: ...

Rules of this file:

* Nothing about a call or a message raises. A fault anywhere inside is BLOCK with a reason (how it works, "When things
  go wrong"). What raises is misuse by the host: beginning a live task, a policy that cannot be read.
* Clock, ids, file system, store and log are touched here and nowhere below; classify and evaluate get values.
* Check, charge and grant use are one store transaction.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from agentsfence_core import tasks
from agentsfence_core._checker import READ_ONLY, Checker, charging, fault, token
from agentsfence_core._messages import Task, amending, message_of, scope_of, task_of, with_lifetime
from agentsfence_core._world import home_folder, look_up_paths
from agentsfence_core.audit import events
from agentsfence_core.canonical import digest
from agentsfence_core.classification.classifier import classify
from agentsfence_core.errors import FenceError, HostContractError, StoreError
from agentsfence_core.evaluation import evaluate, prepare
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import (
    Action,
    Decision,
    ExecutionState,
    Grant,
    HostFacts,
    PathFacts,
    PolicySource,
    ReasonCode,
    TaskPolicy,
)
from agentsfence_core.ports import (
    AuditHead,
    CompileContext,
    Compiled,
    Instruction,
    IntentPipeline,
    PersonMessage,
    PolicyStore,
    TaskRecord,
    ToolMapping,
)
from agentsfence_core.tasks import Question

if TYPE_CHECKING:
    from agentsfence_core.audit import AuditLog, Head
    from agentsfence_core.classification.catalogue import Catalogue
    from agentsfence_core.plugins import Plugins
    from agentsfence_core.settings import Settings

__all__ = ["Fence", "Past", "Task"]

Kept = TypeVar("Kept")
Change = Callable[[TaskRecord | None], tuple[TaskRecord | None, Kept]]
_HOST = HostFacts()
_RECENT = 1_000  # decisions kept in memory for `decisions`


@dataclass(frozen=True, slots=True)
class Past:
    """A decision that was given, for people."""

    task: str
    tool: str
    decision: Decision
    at: float


class Fence:
    """One fence over one store. Thread-safe; open one per process and share it."""

    def __init__(
        self,
        *,
        settings: Settings,
        store: PolicyStore,
        catalogue: Catalogue,
        pipeline: IntentPipeline | None = None,
        audit: AuditLog | None = None,
        plugins: Plugins | None = None,
        clock: Callable[[], float] = time.time,
        look_up: Callable[[tuple[str, ...]], PathFacts] | None = look_up_paths,
    ) -> None:
        """Wire the ports together. ``look_up=None`` makes paths lexical, as in simulation."""
        self._settings = settings
        self._store = store
        self._audit = audit
        self._last = ""
        self._checker = Checker(settings, store, catalogue, plugins, clock, look_up, self._head)
        self._pipeline = pipeline
        self._plugins = plugins
        self._heard = audit is not None or (plugins is not None and plugins.listens)
        self._clock = clock
        self._recent: deque[Past] = deque(maxlen=_RECENT)

    @classmethod
    def open(cls, settings: str | Path | Mapping[str, object] | None = None) -> Fence:
        """Return a fence over the configured store, compiler and log.

        Raises:
            SettingsError: the settings cannot be read or must not be trusted.
            PluginError: a plugin is missing or claims what is not its own.
            StoreError: the store is not ours, damaged or locked.
        """
        from agentsfence_core._opening import open_fence  # noqa: PLC0415

        return open_fence(cls, settings)

    # --- a person's words

    def begin(self, text: str | PersonMessage, *, task: str, sender: str | None = None, host: HostFacts | None = None,
              draft: object = None) -> Task:  # fmt: skip
        """Compile a person's message into the policy of a new task and keep it.

        A task whose policy has expired starts afresh and keeps its bans. ``draft`` is hardened instead of asking a
        backend. Raises `HostContractError` for a live task or an empty task id.
        """
        message = message_of(text, sender)
        self._require_name(task)
        now = self._clock()
        existing = self._store.read(task)
        if existing is not None and not tasks.begins_anew(existing, now):
            raise HostContractError(f"task {task!r} has begun already", hint="use amend for a later message")
        compiled = self._require_pipeline().begin(message, self._context(host, now, draft))
        words = digest(compiled.instruction)

        def start(record: TaskRecord | None) -> tuple[TaskRecord | None, TaskPolicy]:
            if record is not None and not tasks.begins_anew(record, now):
                raise HostContractError(f"task {task!r} has begun already", hint="use amend for a later message")
            # Somebody may have added a ban since: what is kept now counts, not what was read before compiling.
            fresh = tasks.with_bans(compiled.policy, record)
            return tasks.begun(task, fresh, message.sender, words, now, record), fresh

        policy = self._kept(task, start)
        self._emit("begin", task, policy, {"source": message.source, "instruction": words})
        return task_of(task, replace(compiled, policy=policy))

    def adopt(
        self, policy: TaskPolicy | Mapping[str, object] | str | Path, *, task: str, sender: str | None = None
    ) -> Task:
        """Take a policy that a person wrote as the policy of a new task. Raises `PolicyError` with the field."""
        from agentsfence_core.policy_file import load_policy  # noqa: PLC0415

        self._require_name(task)
        now = self._clock()
        read = policy if isinstance(policy, TaskPolicy) else load_policy(policy)
        read = with_lifetime(replace(read, source=PolicySource.MANUAL), now)
        self.check_examples(read)

        def start(record: TaskRecord | None) -> tuple[TaskRecord | None, TaskPolicy]:
            if record is not None and not tasks.begins_anew(record, now):
                raise HostContractError(f"task {task!r} has begun already", hint="close it first")
            fresh = tasks.with_bans(read, record)
            return tasks.begun(task, fresh, sender, "", now, record), fresh

        read = self._kept(task, start)
        self._emit("adopt", task, read, {})
        return Task(task, read, Instruction(""))

    def amend(self, text: str | PersonMessage, *, task: str, sender: str | None = None, host: HostFacts | None = None,
              draft: object = None) -> Task:  # fmt: skip
        """Compile a later message and merge it: the newest explicit statement wins (paper, 4.1).

        Somebody else's message in a shared chat can only narrow. A message to a task that nobody began begins it.
        """
        message = message_of(text, sender)
        self._require_name(task)
        now = self._clock()
        for _ in range(8):
            record = self._store.read(task)
            if record is None or tasks.begins_anew(record, now):
                return self.begin(message, task=task, host=host, draft=draft)
            compiled = self._amended(message, record, self._context(host, now, draft))
            if self._kept(task, amending(record.policy, compiled, now)):
                self._emit("amend", task, compiled.policy, {"source": message.source, "changed": compiled.changed})
                return task_of(task, compiled)
        raise StoreError(f"task {task!r} changes too often to amend it", hint="try again")

    def child(self, parent: str, *, task: str) -> Task:
        """Begin a subtask: a live link to its parent, whose policy holds for it at every call, as it is then.

        Raises `HostContractError` where the parent is not live, has too many ancestors, or the subtask has begun.
        """
        self._require_name(task)
        now = self._clock()

        def start(record: TaskRecord | None) -> tuple[TaskRecord | None, object]:
            if record is not None:
                raise HostContractError(f"task {task!r} has begun already", hint="use another id for the subtask")
            above = self._store.read(parent)
            # INVARIANT: the whole chain exists before its newest member, so no chain is a circle.
            depth = self._checker.depth(above) if above is not None else None
            if above is None or depth is None:
                raise HostContractError(f"task {parent!r} is not live", hint="begin the parent first")
            if depth > LIMITS.subtask_depth:
                raise HostContractError(f"task {parent!r} is {depth} levels deep", hint="use a subtask further up")
            return tasks.child_of(above, task, now), None

        self._kept(task, start)
        self._emit("child", task, None, {"parent": digest(parent)})
        return Task(task, self.policy(task), Instruction(""))

    def declare_tools(self, rows: Sequence[ToolMapping]) -> None:
        """Take the word of the program around the fence on what its own tools do; the user's settings come first."""
        own = self._settings.tools
        new = [row for row in rows if not any(fnmatchcase(row.match, mine.match) for mine in own)]
        self._checker.catalogue = self._checker.catalogue.extended(new, ())

    def register_tools(self, tools: Sequence[Mapping[str, object]]) -> None:
        """Learn what the host offers. Descriptions and annotations are untrusted: they may only raise risk."""
        self._checker.catalogue = self._checker.catalogue.extended((), (), registered=tools)

    # --- a tool call

    def check(self, task: str, tool: str, args: Mapping[str, object], *, call_id: str = "", key: str | None = None,
              host: HostFacts | None = None) -> Decision:  # fmt: skip
        """Return the decision on one call, charged if it is admitted. Never raises; a fault is BLOCK.

        ``key`` identifies one execution across replays; without it every call is a new one. ``call_id`` is only logged.
        """
        try:
            decision = self._checker.check(task, tool, args, key or "", host or _HOST)
        except FenceError as error:
            decision = fault(
                ReasonCode.STORE_FAULT if isinstance(error, StoreError) else ReasonCode.INTERNAL_FAULT, str(error)
            )
        except Exception as error:  # noqa: BLE001  (the host boundary: whatever failed, the call does not run)
            decision = fault(ReasonCode.INTERNAL_FAULT, f"{type(error).__name__} inside AgentsFence")
        if decision.ticket or decision.question:
            self._last = task
        decision = self._logged(task, tool, call_id, decision)
        self._recent.append(Past(str(task), str(tool), decision, self._clock()))
        return decision

    def outcome(self, task: str, ticket: str, *, status: str) -> None:
        """Take the host's word on an admitted call: ``done``, ``failed``, ``suspended`` or ``not_run`` (refunds)."""
        if status not in tasks.OUTCOMES:
            raise HostContractError(f"no such outcome: {status!r}", hint=f"one of {', '.join(sorted(tasks.OUTCOMES))}")
        if not ticket:
            return

        def report(record: TaskRecord | None) -> tuple[TaskRecord | None, object]:
            if record is None:
                return None, None
            after, refund = tasks.reported(record, ticket, status)
            for payer, (counters, grants) in refund.shares().items():
                if payer:
                    self._store.transact(payer, charging(counters, grants, sign=-1))
            return after, None

        self._kept(task, report)
        self._emit("outcome", task, None, {"ticket": ticket, "status": status})

    # --- a person's answer

    def approve(self, task: str, question: str, *, scope: str = "once", by: str | None = None, times: int | None = None,
                until: float | None = None) -> Grant | None:  # fmt: skip
        """Answer a question with yes. Returns the grant, or ``None`` where nothing may be granted.

        ``scope``: ``once``, ``times`` (with ``times``), ``until`` (seconds since the epoch) or ``task``;
        a host's ``session`` and ``always`` mean ``task``, which is capped.
        """
        kind, uses = scope_of(scope, times, until)
        now = self._clock()

        def answer(record: TaskRecord | None) -> tuple[TaskRecord | None, object]:
            if record is None:
                return None, None
            return tasks.approved(
                record, question, grant_id=token(), scope=kind, uses=uses, until=until, by=by, now=now
            )

        granted = self._kept(task, answer)
        grant = granted if isinstance(granted, Grant) else None
        self._emit(
            "approve", task, None, {"question": question, "scope": kind.value, "grant": grant.id if grant else ""}
        )
        return grant

    def deny(self, task: str, question: str, *, by: str | None = None) -> None:
        """Answer a question with no; the same call is blocked until the person asks for it anew."""
        self._kept(task, lambda record: (tasks.refused(record, question) if record else None, None))
        self._emit("deny", task, None, {"question": question, "by": digest(by) if by else ""})

    def revoke(self, task: str, grant: str) -> None:
        """Withdraw a grant; it holds for no later call in any process."""
        self._kept(task, lambda record: (tasks.revoked(record, grant) if record else None, None))
        self._emit("revoke", task, None, {"grant": grant})

    # --- looking

    def policy(self, task: str) -> TaskPolicy:
        """Return the policy in force with its grants; the read-only one for a task that nobody began.

        For a subtask without words of its own this is its parent's, as it is now, with the subtask's grants.
        """
        record = self._store.read(task)
        if record is None:
            return READ_ONLY
        above = self.policy(record.parent) if record.inherits and record.parent is not None else record.policy
        return replace(above, grants=(*above.grants, *record.state.grants))

    def questions(self, task: str) -> tuple[Question, ...]:
        """Return the open questions of a task, oldest first."""
        record = self._store.read(task)
        return tuple(tasks.question_of(task, name, kept) for name, kept in record.questions.items()) if record else ()

    def grants(self, task: str) -> tuple[Grant, ...]:
        """Return the grants of a task that were not revoked."""
        record = self._store.read(task)
        return record.state.grants if record else ()

    def decisions(self, task: str) -> tuple[Past, ...]:
        """Return the latest decisions of this process for a task, oldest first."""
        return tuple(past for past in list(self._recent) if past.task == task)

    def heads(self) -> tuple[Head, ...]:
        """Return the newest audit line that each process is known to have written, for `audit.verify`.

        The store keeps them with its commits: a line shows as missing once its process has changed anything after it.
        """
        from agentsfence_core.audit import Head  # noqa: PLC0415  (only for a verification)

        return tuple(Head(*head) for head in self._store.heads())

    def classify(self, tool: str, args: Mapping[str, object], *, host: HostFacts | None = None) -> Action:
        """Return what a call can do, lexically: nothing is looked up, decided or kept."""
        return classify(self._checker.call(tool, args, host or HostFacts()), self._checker.catalogue)

    def check_examples(self, policy: TaskPolicy) -> None:
        """Raise `PolicyError` when an example of a hand-written policy gets another verdict than its author expects."""
        from agentsfence_core.errors import PolicyError  # noqa: PLC0415

        prepared = prepare(policy, self._checker.options(HostFacts()))
        for place, example in enumerate(policy.examples):
            action = self.classify(example.tool, example.args)
            decision = evaluate(prepared, ExecutionState(), action, HostFacts(), 0.0)
            if decision.verdict.value != example.expect:
                raise PolicyError(
                    f"{example.tool} gets {decision.verdict.value}, not {example.expect}: {decision.sentence}",
                    field=f"examples[{place}]",
                    hint="change the policy or the expectation",
                )

    def close(self, task: str | None = None, *, discard: bool = False) -> None:
        """End one task, or the fence itself: later checks are BLOCK.

        ``discard`` removes a task whose record is damaged, and with it what was forbidden there: only a person decides
        that, so an adapter never sets it by itself.
        """
        if task is not None:
            self._end(task, discard=discard)
            self._emit("close", task, None, {})
            return
        with suppress(StoreError):  # a store that is closed or gone cannot keep the last line's head
            self._keep_head()
        self._store.close()
        if self._audit is not None:
            self._audit.close()

    # --- inside

    def _end(self, task: str, *, discard: bool) -> None:
        """Remove a task; one that cannot be read only with ``discard``."""
        remove = getattr(self._store, "discard", None) if discard else None
        if remove is not None:
            remove(task)
        else:
            self._kept(task, lambda _: (None, None))

    def _head(self) -> AuditHead | None:
        """Return the newest line of this process's audit chain."""
        return self._audit.newest if self._audit is not None else None

    def _kept(self, task: str, change: Change[Kept]) -> Kept:
        """Run a change as one transaction and keep the newest audit line with it."""

        def with_head(record: TaskRecord | None) -> tuple[TaskRecord | None, object]:
            after, result = change(record)
            head = self._head()
            if after is not None and after is not record and head is not None:
                after = replace(after, head=head)
            return after, result

        self._last = task
        return cast("Kept", self._store.transact(task, with_head))

    def _keep_head(self) -> None:
        """Keep the newest audit line with the task that was changed last, where that task still lives."""
        head = self._head()
        if head is not None and self._last:
            self._store.transact(self._last, lambda r: (replace(r, head=head) if r is not None else None, None))

    def _amended(self, message: PersonMessage, record: TaskRecord, context: CompileContext) -> Compiled:
        pipeline = self._require_pipeline()
        if record.parent is not None:
            # Words to a subtask only narrow it further; it ends with its parent, not by itself.
            now = self.policy(record.task)
            compiled = pipeline.restrict(message, now, context)
            return replace(compiled, policy=replace(compiled.policy, grants=(), created_at=None, expires_at=None))
        if message.sender == record.starter and (message.sender is not None or not context.host.shared):
            return pipeline.amend(message, record.policy, context)
        return pipeline.restrict(message, record.policy, context)

    def _context(self, host: HostFacts | None, now: float, draft: object) -> CompileContext:
        facts = host or HostFacts()
        return CompileContext(
            host=facts if facts.home else replace(facts, home=home_folder()),
            now=now,
            contacts=self._settings.contacts,
            compiler=self._settings.compiler.name,
            compiler_settings=self._settings.compiler.values(),
            draft=draft,
            preset=self._settings.preset,
        )

    def _logged(self, task: str, tool: str, call_id: str, decision: Decision) -> Decision:
        """Write the decision down; a line that cannot be written is BLOCK, the charge stands (DESIGN 8)."""
        if not self._heard:
            return decision
        try:
            self._write(events.decision_event(task=str(task), tool=str(tool), call_id=str(call_id), decision=decision,
                                              at=self._clock()))  # fmt: skip
        except Exception as error:  # noqa: BLE001  (the host boundary)
            return fault(ReasonCode.AUDIT_FAULT, f"the audit line could not be written: {error}")
        return decision

    def _emit(self, kind: str, task: str, policy: TaskPolicy | None, details: Mapping[str, object]) -> None:
        if self._heard:
            self._write(events.event(kind, task=task, policy=policy, details=details, at=self._clock()))

    def _write(self, event: Mapping[str, object]) -> None:
        """Write an event to the log, which tells plugins of it; tell them directly where nothing is logged."""
        if self._audit is not None:
            self._audit.write(event)
        elif self._plugins is not None:
            self._plugins.emit(event)

    def _require_pipeline(self) -> IntentPipeline:
        if self._pipeline is None:
            raise HostContractError("no compiler is installed", hint="pip install agentsfence-compiler, or use adopt")
        return self._pipeline

    def _require_name(self, task: str) -> None:
        if not task:
            raise HostContractError("a task needs an id", hint="use the host's session or thread id")
