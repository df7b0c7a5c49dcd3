"""The adapter contract, kept by the command line: a host that asks `serve --stdio`, and one that runs `check`."""

from __future__ import annotations

import copy
import io
import json
import secrets
import subprocess
import sys
import threading
from contextlib import redirect_stderr, redirect_stdout, suppress
from typing import IO, ClassVar, cast

import pytest
from packages.cli.tests.terminals import at_terminal

from agentsfence_cli.main import main
from agentsfence_core.testkit.adapters import AdapterContract
from agentsfence_core.testkit.host import AdapterDriver, Attempt, Interrupted, Place

TASK = "t1"
COMMAND = [sys.executable, "-m", "agentsfence_cli.main"]
Answer = dict[str, object]


class Host:
    """A program with tools that runs one only when the command said ALLOW; how it asks is the subclasses' matter."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.newest: tuple[Attempt, str] | None = None

    def ask(self, op: str, **fields: object) -> Answer:
        """Return the command's answer."""
        raise NotImplementedError

    def say(self, text: str) -> None:
        answer = self.ask("amend", text=text)
        assert "error" not in answer, answer

    def attempt(self, attempt: Attempt) -> str:
        self.newest = (attempt, secrets.token_hex(8))
        return self.run(*self.newest)

    def replay(self) -> str:
        assert self.newest is not None
        return self.run(*self.newest)

    def close(self) -> None:
        """Nothing is held."""

    def run(self, attempt: Attempt, key: str) -> str:
        args = copy.deepcopy(attempt.args)
        decision = self.check(attempt, args, key)
        if decision.get("question") and attempt.answer and self.place.person_present:
            sat = at_terminal("approve", str(decision["question"]), "--task", TASK, types=f"{attempt.answer}\n")
            assert sat.code == (4 if attempt.answer == "no" else 0), sat.shown
            decision = self.check(attempt, args, key)
        attempt.meanwhile()
        if decision.get("enforced") != "ALLOW":
            return str(decision.get("guidance") or decision.get("error"))
        return self.body(attempt.tool, args, str(decision["ticket"]))

    def check(self, attempt: Attempt, args: Answer, key: str) -> Answer:
        return self.ask("check", tool=attempt.tool, args=args, call_id=attempt.call_id, key=key)

    def body(self, tool: str, args: Answer, ticket: str) -> str:
        try:
            answer = self.place.body(tool)(args)
        except Interrupted:
            return "interrupted"
        except Exception as error:  # noqa: BLE001  (whatever a tool raises)
            self.tell(ticket, "failed")
            return f"failed: {error}"
        self.tell(ticket, "done")
        return answer

    def tell(self, ticket: str, status: str) -> None:
        if ticket:
            self.ask("outcome", ticket=ticket, status=status)


class ServedHost(Host):
    """Keeps one `agentsfence serve --stdio` for all calls."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.lock = threading.Lock()
        self.process = subprocess.Popen([*COMMAND, "serve", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, op: str, **fields: object) -> Answer:
        host = {"human_present": self.place.person_present}
        request = json.dumps({"op": op, "task": TASK, "host": host, **fields})
        with self.lock:
            into, out = cast("IO[bytes]", self.process.stdin), cast("IO[bytes]", self.process.stdout)
            into.write(request.encode() + b"\n")
            into.flush()
            answer = json.loads(out.readline())
        assert isinstance(answer, dict)
        return answer

    def close(self) -> None:
        with suppress(BrokenPipeError):
            cast("IO[bytes]", self.process.stdin).close()
        self.process.wait(30)
        cast("IO[bytes]", self.process.stdout).close()


class CommandHost(Host):
    """Runs the command before each call; in this process, which changes nothing but the time it takes."""

    def ask(self, op: str, **fields: object) -> Answer:
        line = [op, "--task", TASK]
        given = ""
        if op == "amend":
            line += ["-"]
            given = str(fields["text"])
        elif op == "outcome":
            line += [str(fields["ticket"]), str(fields["status"])]
        else:
            line += [str(fields["tool"]), "-", "--key", str(fields["key"]), "--call-id", str(fields["call_id"])]
            line += [] if self.place.person_present else ["--no-person"]
            given = json.dumps(fields["args"])
        code, out = command([*line, "--json"], given)
        if code not in {0, 3, 4}:
            return {"error": "the command failed"}
        answer = json.loads(out)
        assert isinstance(answer, dict)
        # The exit code alone decides for a program that reads nothing else.
        assert op != "check" or (code == 0) == (answer["enforced"] == "ALLOW")
        return answer


def command(arguments: list[str], given: str) -> tuple[int, str]:
    """Return exit code and output of `agentsfence ARGUMENTS`; a traceback has the exit code 1, as in a shell."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        try:
            main(arguments)
        except SystemExit as stopped:
            return int(stopped.code or 0), out.getvalue()
        except Exception:  # noqa: BLE001  (what Python itself would do)
            return 1, out.getvalue()
    return 0, out.getvalue()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
class TestServe(AdapterContract):
    """A program that talks to one `agentsfence serve --stdio`."""

    def make(self, place: Place) -> AdapterDriver:
        return ServedHost(place)

    def crash(self, driver: AdapterDriver, monkeypatch: pytest.MonkeyPatch) -> None:
        assert isinstance(driver, ServedHost)
        driver.process.kill()
        driver.process.wait()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
class TestCommand(AdapterContract):
    """A program that runs `agentsfence check` before each call."""

    threads: ClassVar[bool] = False

    def make(self, place: Place) -> AdapterDriver:
        return CommandHost(place)
