"""A small adapter in a small host, which can be broken in every way that the contract knows."""

from __future__ import annotations

import copy
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from agentsfence_core import Decision, HostFacts, Verdict, open_or_block
from agentsfence_core.fence import Fence
from agentsfence_core.testkit.host import Attempt, Interrupted, Place

TASK = "toy"


@dataclass
class Toy:
    """The adapter and its host. ``fault`` names what is broken; none: it keeps the contract."""

    place: Place
    fault: str = ""
    begun: bool = False
    first: str = ""
    memory: set[str] = field(default_factory=set)
    """What a broken adapter remembers instead of asking the fence."""
    log: list[str] = field(default_factory=list)
    """The conversation: what tools said."""
    newest: tuple[Attempt, str] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    shared: Decision | None = None

    def __post_init__(self) -> None:
        self.fence = open_or_block()
        if self.fault == "begins anew at each start" and isinstance(self.fence, Fence):
            self.fence.close(TASK)
            self.fence.amend("Email the report to john@example.com", task=TASK)
        self.facts = HostFacts(human_present=self.place.person_present)

    def say(self, text: str) -> None:
        assert isinstance(self.fence, Fence)
        if self.fault == "sends the conversation along":
            text = "\n\n".join([text, *self.log])
        if self.fault == "begins anew with each message":
            self.fence.close(TASK)
            text = f"{self.first} {text}"
        self.first = self.first or text
        self.begun = True
        self.fence.amend(text, task=TASK, host=self.facts)

    def attempt(self, attempt: Attempt) -> str:
        key = attempt.call_id if self.fault == "takes the model's id for a key" else secrets.token_hex(8)
        self.newest = (attempt, key)
        return self.run(attempt, key)

    def replay(self) -> str:
        assert self.newest is not None
        attempt, key = self.newest
        if self.fault == "plays back without a check":
            return self.place.body(attempt.tool)(attempt.args)
        return self.run(attempt, secrets.token_hex(8) if self.fault == "has a new key for a replay" else key)

    def close(self) -> None:
        if isinstance(self.fence, Fence):
            self.fence.close()

    # ------------------------------------------------------------------------------------------------------- one call

    def run(self, attempt: Attempt, key: str) -> str:
        args: dict[str, object] = attempt.args
        if self.fault == "copies only the outside":
            args = dict(args)
        elif self.fault != "runs what others can still change":
            args = copy.deepcopy(args)
        if self.fault == "runs first and checks later":
            self.place.body(attempt.tool)(args)
        if self.fault == "never runs anything":
            return "blocked by the adapter"
        if self.fault == "gives calls at once one answer":
            with self.lock:
                decision = self.shared = self.shared or self.decided(attempt, args, key)
        else:
            decision = self.decided(attempt, args, key)
        attempt.meanwhile()
        if decision is not None and decision.enforced is Verdict.ASK_USER:
            decision = self.asked(attempt, args, key, decision)
        if decision is None or self.goes(decision, attempt):
            return self.body(attempt, args, decision)
        return "" if self.fault == "says nothing to the agent" else decision.guidance

    def decided(self, attempt: Attempt, args: Mapping[str, object], key: str) -> Decision | None:
        """Return the fence's decision; a broken adapter may do without."""
        name = f"{attempt.tool} {args}"
        if self.does_without(attempt, args, name):
            return None
        if self.fault == "checks a stand-in first":
            self.fence.check(TASK, attempt.tool, {"to": "john@example.com"}, host=self.facts)
        shown = self.shown(args)
        try:
            decision = self.fence.check(TASK, attempt.tool, shown, call_id=attempt.call_id, key=key, host=self.facts)
        except Exception:
            if self.fault == "runs when the check crashes":
                return None
            raise
        if decision.allowed:
            self.memory.add(name)
            if self.fault == "gives the charge back at once":
                self.tell(decision, "not_run")
        return decision

    def does_without(self, attempt: Attempt, args: Mapping[str, object], name: str) -> bool:
        """Whether a broken adapter asks nobody."""
        skips = {
            "remembers what was allowed": name in self.memory,
            "lets everything run before the first message": not self.begun,
            "believes a tool's description": "read-only" in self.describes(attempt.tool),
            "lets read tools pass": attempt.tool.startswith("read_"),
            "checks only calls with arguments": not args,
            "runs when the fence cannot start": not isinstance(self.fence, Fence),
        }
        return skips.get(self.fault, False)

    def shown(self, args: Mapping[str, object]) -> Mapping[str, object]:
        """Return the arguments that the fence gets to see."""
        if self.fault == "shows only the main argument" and "to" in args:
            return {"to": args["to"]}
        if self.fault == "shows long calls in part" and len(str(args)) > 10_000:
            return {name: value for name, value in args.items() if name in {"to", "subject"}}
        return args

    def asked(self, attempt: Attempt, args: Mapping[str, object], key: str, decision: Decision) -> Decision | None:
        """Carry the person's answer; then check again."""
        assert isinstance(self.fence, Fence)
        name = f"{attempt.tool} {args}"
        if self.fault == "remembers approvals itself" and name in self.memory:
            return None
        answer = attempt.answer if self.place.person_present or self.fault == "asks where nobody is" else ""
        if self.fault == "takes the agent's word for an answer" and (args.get("approved") or args.get("confirm")):
            answer = "once"
        if self.fault == "takes every answer for a yes" and answer:
            answer = "once"
        if not answer:
            return decision
        if answer == "no":
            self.fence.deny(TASK, decision.question)
            return decision
        if self.fault == "remembers approvals itself":
            self.memory.add(name)
            return None
        if self.fault == "answers the oldest question":
            self.fence.approve(TASK, self.fence.questions(TASK)[0].id, scope=answer)
            return None
        scope = "task" if self.fault == "approves for longer than was said" else answer
        self.fence.approve(TASK, decision.question, scope=scope)
        if self.fault == "approves the tool instead of the call":
            self.memory.add(attempt.tool)
        decision = self.fence.check(TASK, attempt.tool, args, key=key, host=self.facts)
        if decision.allowed:
            self.memory.add(name)
        return decision

    def goes(self, decision: Decision, attempt: Attempt) -> bool:
        verdict = decision.verdict
        if self.fault == "does what the verdict says under shadow":
            return verdict is Verdict.ALLOW
        if self.fault == "ignores a block" and decision.rule != "fault":
            return verdict is not Verdict.ASK_USER
        if self.fault == "runs when the state is gone" and decision.rule == "fault":
            return True
        if self.fault == "takes a question for a yes" and verdict is Verdict.ASK_USER:
            return True
        if self.fault == "approves the tool instead of the call" and attempt.tool in self.memory:
            return True
        return decision.allowed

    def body(self, attempt: Attempt, args: Mapping[str, object], decision: Decision | None) -> str:
        try:
            answer = self.place.body(attempt.tool)(args)
        except Interrupted:
            self.tell(decision, "suspended")
            return "interrupted"
        except Exception as error:  # noqa: BLE001  (whatever a tool raises)
            self.tell(decision, "not_run" if self.fault == "gives back what failed" else "failed")
            self.read(str(error))
            return f"failed: {error}"
        self.tell(decision, "done")
        self.read(answer)
        if self.fault == "runs once more in the background":
            threading.Timer(0.005, self.place.body(attempt.tool), [args]).start()
        return answer

    def read(self, text: str) -> None:
        """The agent reads what a tool said; a broken adapter takes it for a person's words."""
        self.log.append(text)
        if self.fault == "takes what a tool says for the person's words" and isinstance(self.fence, Fence):
            for line in text.splitlines():
                self.fence.amend(line.partition("ser: ")[2], task=TASK)

    def tell(self, decision: Decision | None, status: str) -> None:
        if decision is None or self.fault == "never says what became of a call" or not isinstance(self.fence, Fence):
            return
        self.fence.outcome(TASK, decision.ticket, status=status)

    def describes(self, tool: str) -> str:
        return next(known.description for known in self.place.tools if known.name == tool)
