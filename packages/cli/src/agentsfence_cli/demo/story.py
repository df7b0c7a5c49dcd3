"""The demonstration itself: two requests, every call through a real fence, and the recorder at the end.

Rules of this file:

* The fence is told nothing about the mails, and decides nothing by who the attacker is.
* A call's body runs only where the decision allows it; the outcome is reported, as an adapter does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from agentsfence_cli.demo.agent import Call, mail_the_report, summarize_inbox
from agentsfence_cli.demo.world import Tools, World
from agentsfence_core.fence import Fence, Task
from agentsfence_core.model import Decision, HostFacts, Verdict

_SUMMARY: Final = "summary.md"
_ADDRESSES: Final = ("j0hn@example.com", "john@examp1e.com", "john@example.com")
"""Two look-alikes and the address that the person wrote."""


@dataclass(frozen=True, slots=True)
class Event:
    """One call of the agent, what the fence said, and whether the person approved it."""

    number: int
    tool: str
    args: Mapping[str, str]
    decision: Decision
    approved: Decision | None = None
    """The decision after the person's approval; ``None`` where nobody approved."""

    @property
    def final(self) -> Decision:
        """The decision that counts."""
        return self.approved or self.decision

    @property
    def admitted(self) -> bool:
        """Whether the fence let the call run."""
        return self.final.allowed


@dataclass(frozen=True, slots=True)
class Scene:
    """One request with all that the agent tried under it."""

    task: Task
    request: str
    events: list[Event] = field(default_factory=list)


class Watcher:
    """Told what happens while it happens. This one keeps quiet."""

    def scene(self, scene: Scene) -> None:
        """A request has been compiled."""

    def event(self, event: Event) -> None:
        """A call has been decided on."""


@dataclass(frozen=True, slots=True)
class Result:
    """What was decided, and what ran."""

    scenes: tuple[Scene, ...]
    ran: tuple[int, ...]

    @property
    def events(self) -> tuple[Event, ...]:
        """Every call, in order."""
        return tuple(event for scene in self.scenes for event in scene.events)

    @property
    def kept(self) -> bool:
        """Whether exactly the admitted calls ran, each once, in order, and something was stopped at all."""
        admitted = tuple(event.number for event in self.events if event.admitted)
        return self.ran == admitted and len(admitted) < len(self.events)


def play(fence: Fence, world: World, watcher: Watcher) -> Result:
    """Play both requests and return what was decided and what ran."""
    stage = _Stage(fence, Tools(world), HostFacts(home=str(world.home), workdir=str(world.drive)), watcher)
    inbox = stage.scene("inbox", "Summarize my inbox. Do not send anything.")
    summarize_inbox(stage.caller(inbox), world.report.name)
    report = stage.scene("report", "Read the report and email the summary to john@example.com")
    files = (str(world.drive / _SUMMARY), str(world.drive / "notes.md"))
    mail_the_report(stage.caller(report), str(world.report), _ADDRESSES, files)
    return Result((inbox, report), tuple(world.ran()))


@dataclass(slots=True)
class _Stage:
    """Where the agent meets the fence: all that an adapter does, and nothing more."""

    fence: Fence
    tools: Tools
    host: HostFacts
    watcher: Watcher
    calls: int = 0

    def scene(self, task: str, request: str) -> Scene:
        """Begin a task with a request."""
        scene = Scene(self.fence.begin(request, task=task, host=self.host), request)
        self.watcher.scene(scene)
        return scene

    def caller(self, scene: Scene) -> Call:
        """Return the agent's way to its tools, which leads through the fence."""

        def call(tool: str, args: Mapping[str, str]) -> str | None:
            event = self._decided(scene.task.task, tool, args)
            scene.events.append(event)
            self.watcher.event(event)
            if not event.admitted:
                return None
            said = self.tools.run(event.number, tool, args)
            self.fence.outcome(scene.task.task, event.final.ticket, status="done")
            return said

        return call

    def _decided(self, task: str, tool: str, args: Mapping[str, str]) -> Event:
        """Check a call; where it is asked about, let the person answer and check again."""
        self.calls += 1
        decision = self.fence.check(task, tool, args, host=self.host)
        if decision.verdict is not Verdict.ASK_USER or not _person_approves(args):
            return Event(self.calls, tool, args, decision)
        self.fence.approve(task, decision.question, scope="once")
        return Event(self.calls, tool, args, decision, self.fence.check(task, tool, args, host=self.host))


def _person_approves(args: Mapping[str, str]) -> bool:
    """Answer as the person of this story does: yes to the summary beside the report, else no answer."""
    return args.get("path", "").endswith(f"/{_SUMMARY}")
