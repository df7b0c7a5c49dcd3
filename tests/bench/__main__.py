"""Print what the hot paths cost, beside a plain-Python floor measured in the same run (DESIGN 13).

Run with ``nox -s bench``. Each figure is a percentile of single calls in microseconds, and its ratio to the floor: the
least that any checker could do, one dictionary look-up of the tool and one set look-up of the target in plain Python.
"""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.bench.stores import stores

from agentsfence_core.classification.catalogue import builtin
from agentsfence_core.classification.classifier import classify
from agentsfence_core.evaluation import EvaluationOptions, evaluate, prepare
from agentsfence_core.fence import Fence
from agentsfence_core.model import ExecutionState, HostFacts, Permission, Risk, TaskPolicy, ToolCall

JOHN = "john@example.com"
FLOOR_TABLE = {"read_file": "READ", "send_email": "COMMUNICATION"}
FLOOR_SET = frozenset({JOHN})

CALLS = {
    "read": ToolCall("read_file", {"path": "/srv/w/report.md"}, "/srv/w", "/home/u"),
    "send": ToolCall("mcp_gmail_send_email", {"to": JOHN, "subject": "Q3", "body": "text " * 100}, "/srv/w", "/home/u"),
    "command": ToolCall(
        "terminal", {"command": "cd src && grep -rn foo . 2>/dev/null | head -20"}, "/srv/w", "/home/u"
    ),
    "git status": ToolCall("terminal", {"command": "git status"}, "/srv/w", "/home/u"),
}
BUDGET = {"read": 15.0, "send": 50.0, "command": 60.0, "git status": 60.0}  # microseconds, median


HELP = "import sys; sys.argv = ['agentsfence', '--help']; from agentsfence_cli.main import main; main()"
STARTS = {
    "python -c pass": "pass",
    "import agentsfence_core.fence": "import agentsfence_core.fence",
    "agentsfence --help": HELP,
}


def measure(run: Callable[[], object], *, seconds: float = 0.6) -> list[float]:
    """Return the duration of single runs in microseconds, collector off, after a warm-up."""
    for _ in range(50):
        run()
    gc.collect()
    gc.disable()
    taken = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        started = time.perf_counter_ns()
        run()
        taken.append((time.perf_counter_ns() - started) / 1_000)
    gc.enable()
    return sorted(taken)


def row(name: str, taken: list[float], floor: float, budget: float | None = None) -> None:
    """Print one line: median, 99th percentile, ratio to the floor, budget."""
    half, late = statistics.median(taken), taken[int(len(taken) * 0.99)]
    limit = f"{budget:8.0f}" if budget else f"{'':8}"
    print(f"{name:38}{half:10.1f}{late:10.1f}{half / floor:10.0f}x{limit}")


def floor() -> list[float]:
    """Return what the least possible check costs."""
    call = CALLS["send"]

    def least() -> bool:
        args = call.args
        return FLOOR_TABLE.get(call.tool) == "COMMUNICATION" and args["to"] in FLOOR_SET

    return measure(least)


def policy(entries: int) -> TaskPolicy:
    """Return a policy that lets John have mail, with many other entries."""
    rows = tuple(
        Permission(capability="email.send", recipients=(JOHN, *(f"p{n}@example.com" for n in range(entries))))
        for _ in range(1)
    )
    return TaskPolicy(
        allow_external_writes=True,
        allowed_risk_classes=(Risk.READ, Risk.COMMUNICATION),
        permissions=rows,
        denied_tools=tuple(f"denied.tool{n}" for n in range(entries)),
        allowed_paths=tuple(f"/srv/w/{n}" for n in range(entries)),
    )


def pure(base: float) -> None:
    """Print classify and evaluate for single calls and for growing policies."""
    catalogue = builtin()
    host, state = HostFacts(), ExecutionState()
    for entries in (10, 1_000, 10_000):
        prepared = prepare(policy(entries), EvaluationOptions(home="/home/u", workdir="/srv/w"))
        for name, call in CALLS.items():

            def both(call: ToolCall = call, prepared: object = prepared) -> object:
                return evaluate(prepared, state, classify(call, catalogue), host, 0.0)  # type: ignore[arg-type]

            row(f"classify+evaluate {name}, {entries} entries", measure(both), base, BUDGET[name])


def whole(base: float) -> None:
    """Print the façade over each store, with the audit log, and the offline compiler."""
    for scheme in ("memory", "sqlite"):
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder, "fence")
            home.mkdir(mode=0o700)
            url = "memory://" if scheme == "memory" else f"sqlite:///{home / 'state.db'}"
            os.environ["AGENTSFENCE_HOME"] = str(home)
            fence = Fence.open({"store": url})
            task = fence.begin("Read the report and email the summary to john@example.com.", task="t")
            for name in ("read", "send"):
                call = CALLS[name]

                def check(call: ToolCall = call, fence: Fence = fence) -> object:
                    return fence.check("t", call.tool, call.args)

                row(f"Fence.check {name}, {scheme} and audit", measure(check), base, 150.0)
            del task
            fence.close()
    from agentsfence_compiler.pipeline import IntentCompiler
    from agentsfence_core.ports import CompileContext, PersonMessage

    compiler, message = IntentCompiler(), PersonMessage("Read the report and email the summary to john@example.com.")
    row("compile a usual request (rules)", measure(lambda: compiler.begin(message, CompileContext())), base, 1_000.0)


def start_up() -> None:
    """Print the processor time of a start, in milliseconds."""
    for name, code in STARTS.items():
        spent = []
        for _ in range(5):
            before = os.times()
            subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
            after = os.times()
            spent.append(
                (after.children_user + after.children_system - before.children_user - before.children_system) * 1_000
            )
        print(f"{name:38}{statistics.median(spent):10.0f} ms of CPU")


def main() -> None:
    """Run every benchmark."""
    print(f"{'microseconds':38}{'p50':>10}{'p99':>10}{'floor':>11}{'budget':>8}")
    taken = floor()
    base = statistics.median(taken)
    row("plain-Python floor", taken, base)
    pure(base)
    whole(base)
    stores()
    start_up()


if __name__ == "__main__":
    main()
