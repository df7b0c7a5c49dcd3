"""The working adapter: what Hermes tells and asks, handed to the fence and answered in Hermes' terms.

It decides nothing: the fence does. Its own duty is that what the fence said is what happens: the same call, with the
same arguments, once.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentsfence_core import BlockingFence, Decision, Fence, FenceError, TaskPolicy, Verdict
from agentsfence_hermes import host, ingress, ordering, plugin, questions
from agentsfence_hermes.authorizations import Authorization, Authorizations, CallIds, CallKey
from agentsfence_hermes.command import FenceCommand
from agentsfence_hermes.compiling import Compiling
from agentsfence_hermes.fences import Fences
from agentsfence_hermes.host import Answer
from agentsfence_hermes.identity import Identity, Recent
from agentsfence_hermes.note import note_of

_LOG = logging.getLogger("agentsfence.hermes")
_YES = frozenset({"once", "session", "always"})
_LASTING = frozenset({"session", "always"})

Directive = dict[str, str]


@dataclass(slots=True)
class Session:
    """What is remembered of a task in this process."""

    workspace: str | None = None
    shared: bool = False
    """Several people write into it."""
    public: bool = False
    """Others than its sender can answer a question in its chat, and Hermes does not say who did."""
    unheard: str = ""
    """Why the newest words could not be kept: they may forbid what comes next, so nothing runs until they are."""
    starter: str = ""
    """Name of the person who started it, for the sentence that sends others to them."""

    def heard(self) -> None:
        """The newest words are kept."""
        self.unheard = ""


class Profile:
    """The ids and sessions of one HERMES_HOME."""

    def __init__(self, fences: Fences) -> None:
        """Begin with no ids."""
        self._fences = fences
        self.branches: Recent[str] = Recent()
        self.sessions: Recent[Session] = Recent()
        self.chats: Recent[str] = Recent()
        self.identity = Identity(host.origin, self._begin_child, lambda above, task: self.branches.put(task, above))

    def session(self, task: str) -> Session:
        """Return what is remembered of a task."""
        known = self.sessions.get(task)
        if known is None:
            known = Session()
            self.sessions.put(task, known)
        return known

    def _begin_child(self, parent: str, task: str) -> str:
        """Return the task of a subagent's session; the parent's own where no subtask can begin: never wider."""
        fence = self._fences.current()
        if not parent or isinstance(fence, BlockingFence):
            return parent
        try:
            fence.child(parent, task=task)
        except FenceError:
            return parent
        self.sessions.put(task, self.session(parent))  # the very same: what is known of the parent holds for the child
        return task


@dataclass(slots=True)
class Entered:
    """An execution that was let in. `leave` must follow it."""

    key: CallKey
    again: bool
    """Whether the same execution may come by once more on its way to the tool (Hermes' concurrent path)."""
    fence: Fence | BlockingFence | None = None
    task: str = ""
    ticket: str = ""
    token: Token[Entered | None] | None = field(default=None, repr=False)

    def leave(self, *, done: bool) -> None:
        """The fence knows what became of the call."""
        if self.token is not None:
            _ENTERED.reset(self.token)
        if self.ticket and isinstance(self.fence, Fence):
            self.fence.outcome(self.task, self.ticket, status="done" if done else "failed")


_ENTERED: ContextVar[Entered | None] = ContextVar("agentsfence_entered", default=None)
_RECEIVED: ContextVar[ingress.Received | None] = ContextVar("agentsfence_received", default=None)


class Adapter:
    """One per process, for all its profiles and sessions."""

    def __init__(self) -> None:
        """Open nothing: fences are opened at their first use, for the profile of that moment."""
        self.fences = Fences()
        self.compiling = Compiling()
        self._waiting = Authorizations()
        self._profiles: dict[Path, Profile] = {}
        self._manager: Any = None

    def attach(self, ctx: Any) -> None:
        """The adapter serves this plugin manager; repeated at forced rediscovery."""
        self._manager = ctx._manager
        self.compiling.attach(ctx)
        command = FenceCommand(self, ctx)
        ctx.register_command("fence", command, description=command.WHAT, args_hint=command.ARGUMENTS)

    @property
    def profile(self) -> Profile:
        """Return the ids of the profile that this code runs for."""
        return self._here()[0]

    def _here(self) -> tuple[Profile, Fence | BlockingFence]:
        """Return ids and fence of the profile that this code runs for."""
        folder = host.home()
        found = self._profiles.get(folder)
        if found is None:
            found = self._profiles.setdefault(folder, Profile(self.fences))
        return found, self.fences.of(folder)

    def hold(self) -> None:
        """Our callbacks have their places, whatever other plugins did since."""
        ordering.hold(self._manager, plugin.HOOKS, plugin.MIDDLEWARE)

    # ------------------------------------------------------------------------------------------------ a person's words

    def arrived(self, event: Mapping[str, Any]) -> None:
        """The message that the gateway received is known to the turn that it starts."""
        message = event.get("event")
        source = getattr(message, "source", None)
        if source is None:
            return
        _RECEIVED.set(
            ingress.Received(
                text=str(getattr(message, "text", "") or ""),
                sender=str(getattr(source, "user_id", "") or ""),
                platform=str(getattr(getattr(source, "platform", ""), "value", "")),
                chat=":".join(str(getattr(source, name, "") or "") for name in ("chat_id", "thread_id")),
                sender_name=str(getattr(source, "user_name", "") or ""),
                shared=host.shared(source),
                direct=getattr(source, "chat_type", "") == "dm",
                person=not getattr(source, "is_bot", False),
            )
        )

    @property
    def received(self) -> ingress.Received | None:
        """The message that this context was started by."""
        return _RECEIVED.get()

    def task_of_session(self, session: str) -> str:
        """Return the task of a session of this profile."""
        return self.profile.identity.of_session(session)

    def task_of_chat(self, place: str) -> str:
        """Return the task that the latest words from this chat went to, or an empty text."""
        return self.profile.chats.get(place) or ""

    def turn(self, event: Mapping[str, Any]) -> dict[str, str] | None:
        """The policy follows the person's words of a turn, if there are any; return the note for the model."""
        self.hold()
        profile, fence = self._here()
        ids = CallIds.of(event)
        task = profile.identity.of_turn(ids)
        if isinstance(fence, BlockingFence) or not task:
            return {"context": f"[{plugin.blocked_sentence()}]"} if isinstance(fence, BlockingFence) else None
        received = _RECEIVED.get()
        in_chat = host.session_value("PLATFORM") not in ingress.LOCAL
        if in_chat or received is not None:
            _place(profile.session(task), received)
        text = ingress.text_of(event.get("user_message"))
        words = ingress.words_of(
            ingress.Turn(
                text=text,
                with_skill=host.said_with_skill(text, ids.session) if text.startswith(ingress.SKILL) else "",
                platform=str(event.get("platform") or ""),
                sender=str(event.get("sender_id") or ""),
                received=received,
                in_review=host.in_review(),
                in_chat=in_chat,
                kanban=bool(os.environ.get("HERMES_KANBAN_TASK")),
            )
        )
        if words.vouched:
            profile.session(task).unheard = "your last message has not been read to its end"
            self._hear(profile, fence, task, words, ids, received)
        else:
            _LOG.info("the text of a turn does not count as a person's words: %s", words.why_not)
        return {"context": note_of(fence.policy(task), words.why_not)}

    def _hear(
        self,
        profile: Profile,
        fence: Fence,
        task: str,
        words: ingress.Words,
        ids: CallIds,
        received: ingress.Received | None,
    ) -> None:
        session = profile.session(task)
        session.workspace = session.workspace or host.workspace(ids.task)
        if received is not None and received.used:
            session.starter = session.starter or received.sender_name or received.sender
            profile.chats.put(received.place, task)
        self._keep_bans_of_branch(profile, fence, task, words.sender)
        facts = host.facts(ids.task, session.workspace, host.who_answers(), shared=session.shared)
        self.compiling.hear(fence, task, words, facts, session.heard)

    @staticmethod
    def _keep_bans_of_branch(profile: Profile, fence: Fence, task: str, sender: str | None) -> None:
        above = profile.branches.get(task)
        bans = fence.policy(above).user_prohibitions if above else ()
        if not above or not bans:
            return
        profile.branches.put(task, "")
        # A task that has ended keeps its bans and nothing else: that is what a branch begins with.
        ended = TaskPolicy(purpose="branch", user_prohibitions=bans, expires_at=datetime.now(UTC))
        try:
            fence.adopt(ended, task=task, sender=sender)
        except FenceError:
            _LOG.info("the branch %s had begun already", task)

    def delegated(self, event: Mapping[str, Any]) -> None:
        """A subagent's session is a subtask of its parent's."""
        parent = CallIds(session=str(event.get("parent_session_id") or ""), turn=str(event.get("parent_turn_id") or ""))
        child = str(event.get("child_session_id") or ""), str(event.get("child_subagent_id") or "")
        self.profile.identity.delegated(parent, *child)

    # ---------------------------------------------------------------------------------------------------- a tool call

    def before(self, event: Mapping[str, Any]) -> Directive | None:
        """Return what Hermes must do with a call: nothing, block it, or ask."""
        self.hold()
        profile, fence = self._here()
        ids, tool = CallIds.of(event), str(event.get("tool_name") or "")
        args = host.coerced(tool, event.get("args"))
        task = profile.identity.of_call(ids)
        session = profile.sessions.get(task) or Session()
        answer = Answer.NOBODY if host.in_review() else host.who_answers()
        facts = host.facts(ids.task, session.workspace, answer, shared=session.shared)
        if session.unheard:
            return _block(f"Blocked: {session.unheard}; a fault in AgentsFence, see Hermes' log. Tell the person.")
        decision = fence.check(task, tool, args, call_id=ids.call, host=facts)
        key = CallKey.of(ids, tool, args)
        if decision.allowed:
            self._waiting.add(key, Authorization(task, ticket=decision.ticket))
            return None
        if decision.enforced is Verdict.ASK_USER and isinstance(fence, Fence):
            return self._asked(fence, task, decision, key, answer, session)
        return _block(decision.guidance)

    def _asked(
        self, fence: Fence, task: str, decision: Decision, key: CallKey, answer: Answer, session: Session
    ) -> Directive:
        if answer is Answer.NOBODY:
            return _block(f"{decision.guidance} {decision.sentence}")
        if (session.shared or session.public) and answer is not Answer.SILENT:
            # Hermes cannot name who answers, and everybody here may: only the starter's own message can authorize it.
            starter = session.starter or "the person who started this task"
            return _block(f"{decision.guidance} Ask {starter} to write it as a request ({decision.capability}).")
        question = next((known for known in fence.questions(task) if known.id == decision.question), None)
        limit = questions.CHAT_LIMIT if answer is Answer.CHAT else questions.PROMPT_LIMIT
        message = questions.message_of(decision, question, limit)
        if not message:
            return _block(
                f"{decision.guidance} It has too many targets to show in one question; ask for fewer at once."
            )
        rule_key = questions.rule_key_of(task, decision)
        silent = answer is Answer.SILENT
        waiting = Authorization(
            task, question=decision.question, rule_key=rule_key, silent=silent, told=answer is Answer.CHAT,
            at=time.monotonic(),
        )  # fmt: skip
        self._waiting.add(key, waiting)
        return {"action": "approve", "message": message, "rule_key": rule_key}

    def answered(self, event: Mapping[str, Any]) -> None:
        """The answer to one of our questions is kept with it; a no is told to the fence at once."""
        key, choice = str(event.get("pattern_key") or ""), str(event.get("choice") or "")
        waiting = self._waiting.asked(key.removeprefix(host.PLUGIN_RULE))
        if waiting is None or waiting.answer:
            return
        waiting.answer = choice or "timeout"
        fence = self.fences.current()
        if choice == "deny" and isinstance(fence, Fence):
            fence.deny(waiting.task, waiting.question)

    def enter(self, event: Mapping[str, Any]) -> Entered | str:
        """Return the execution that may begin now, or why it may not."""
        ids, tool = CallIds.of(event), str(event.get("tool_name") or "")
        args = host.coerced(tool, event.get("args"))
        key = CallKey.of(ids, tool, args)
        outer = _ENTERED.get()
        if outer is not None and outer.again and outer.key == key:
            outer.again = False
            return Entered(key, again=False)
        waiting = self._waiting.take(key)
        if waiting is None:
            _LOG.error("%s was about to run without having been authorized with these arguments", tool)
            return "Blocked: this call was not authorized with these arguments. Do not work around it; tell the person."
        fence, ticket = self.fences.current(), waiting.ticket
        if waiting.question:
            decision = self._confirmed(fence, waiting, ids, tool, args)
            if isinstance(decision, str):
                return decision
            ticket = decision.ticket
        entered = Entered(key, again=True, fence=fence, task=waiting.task, ticket=ticket)
        entered.token = _ENTERED.set(entered)
        return entered

    def _confirmed(
        self, fence: Fence | BlockingFence, waiting: Authorization, ids: CallIds, tool: str, args: Mapping[str, object]
    ) -> Decision | str:
        """Return the fence's ALLOW after a person's yes, or why there is none."""
        if waiting.told and waiting.answer not in _YES:
            return "Blocked: nobody has approved this call. Do not try it again; tell the person."
        if isinstance(fence, BlockingFence):
            return plugin.blocked_sentence()
        lasting = waiting.answer in _LASTING or (not waiting.silent and host.remembered(waiting.rule_key))
        if fence.approve(waiting.task, waiting.question, scope="task" if lasting else "once") is None:
            return "Blocked: this question cannot be answered any more. Do not work around it; tell the person."
        session = self.profile.session(waiting.task)
        facts = host.facts(ids.task, session.workspace, Answer.PROMPT, shared=session.shared)
        decision = fence.check(waiting.task, tool, args, call_id=ids.call, host=facts)
        return decision if decision.allowed else decision.guidance

    def after(self, event: Mapping[str, Any]) -> None:
        """A call that was authorized and then kept from running by others is refunded; a no at a prompt is a no."""
        if event.get("status") != "blocked":
            return
        ids, tool = CallIds.of(event), str(event.get("tool_name") or "")
        waiting = self._waiting.take(CallKey.of(ids, tool, host.coerced(tool, event.get("args"))))
        fence = self.fences.current()
        if waiting is None or not isinstance(fence, Fence):
            return
        if waiting.ticket:
            fence.outcome(waiting.task, waiting.ticket, status="not_run")
        elif waiting.question and not waiting.told and time.monotonic() - waiting.at < host.approval_timeout():
            fence.deny(waiting.task, waiting.question)


def _place(session: Session, received: ingress.Received | None) -> None:
    """What is known of a session's chat is kept; of a chat that was not shown, only a direct one is private."""
    direct = received.direct if received is not None else ":dm:" in host.session_value("KEY")
    session.public = session.public or not direct
    session.shared = session.shared or (received.shared if received is not None else not direct)


def _block(message: str) -> Directive:
    return {"action": "block", "message": message or "Blocked by AgentsFence."}
