"""`agentsfence serve --stdio`: one line, one answer, whatever the line holds and whoever goes away."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentsfence_cli import service
from agentsfence_cli.service import Service, requests
from agentsfence_cli.workbench import Workbench

TO_JOHN, TO_EVE = {"to": "john@example.com", "body": "x"}, {"to": "eve@example.net", "body": "x"}


class Client:
    """A program that talks to the service."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "agentsfence_cli.main", "serve", "--stdio"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.into, self.out = cast("IO[bytes]", self.process.stdin), cast("IO[bytes]", self.process.stdout)

    def raw(self, line: bytes) -> dict[str, object]:
        self.into.write(line)
        self.into.flush()
        answer = json.loads(self.out.readline())
        assert isinstance(answer, dict)
        return answer

    def ask(self, op: str, **fields: object) -> dict[str, object]:
        return self.raw(json.dumps({"id": 7, "op": op, "task": "t1", **fields}).encode() + b"\n")

    def check(self, args: object, **fields: object) -> dict[str, object]:
        return self.ask("check", tool="send_email", args=args, **fields)

    def end(self) -> int:
        if not self.into.closed:
            self.into.close()
        code = self.process.wait(30)
        self.out.close()
        cast("IO[bytes]", self.process.stderr).close()
        return code


@pytest.fixture
def client(home: Path) -> Iterator[Client]:
    client = Client()
    yield client
    if client.process.poll() is None:
        client.process.kill()
    client.end()


def test_a_program_is_fenced_over_one_pipe(client: Client) -> None:
    assert client.ask("hello")["schema"] == "agentsfence.serve/1"
    assert client.ask("begin", text="Email the report to john@example.com")["task"] == "t1"
    allowed, blocked = client.check(TO_JOHN), client.check(TO_EVE)
    assert (allowed["id"], allowed["enforced"], blocked["enforced"]) == (7, "ALLOW", "BLOCK")
    assert client.ask("outcome", ticket=allowed["ticket"], status="done")["ok"] is True
    assert client.ask("amend", text="Do not send anything.")["changed"] is True
    assert client.check(TO_JOHN)["reason"] == "prohibited"
    assert client.ask("close")["ok"] is True
    assert client.end() == 0


def test_questions_grants_and_policy_can_be_looked_at(client: Client) -> None:
    client.ask("begin", text="Read my inbox")
    question = client.check(TO_EVE)["question"]
    found = client.ask("questions")["questions"]
    assert isinstance(found, list)
    assert [each["id"] for each in found] == [question]
    assert client.ask("grants")["grants"] == []
    assert client.ask("policy")["policy"]
    assert client.ask("classify", tool="send_email", args=TO_EVE)["capability"] == "email.send"


@pytest.mark.parametrize("op", ["approve", "deny"])
def test_no_program_answers_a_question(op: str, client: Client) -> None:
    client.ask("begin", text="Read my inbox")
    question = client.check(TO_EVE)["question"]
    assert "error" in client.ask(op, question=question, scope="task")
    assert client.check(TO_EVE)["enforced"] == "ASK_USER"


@pytest.mark.parametrize(
    "line",
    [b"garbage\n", b"[]\n", b"null\n", b'"check"\n', b"{}\n", b'{"op": 1}\n', b'{"op": "zorp"}\n', b"\xff\xfe\0\n",
     b'{"op": "check"\n', b'{"op": "check"}\n', b'{"op": "check", "task": "t1", "tool": "x", "args": []}\n',
     b'{"op": "check", "task": "t1", "tool": "x", "host": {"human": false}}\n',
     b'{"op": "check", "task": "t1", "tool": "x", "host": {"human_present": "no"}}\n',
     b'{"op": "begin", "task": "", "text": "Read"}\n', b"[" * 100_000 + b"\n"],
    ids=lambda line: repr(line[:40]),
)  # fmt: skip
def test_garbage_is_answered_and_ends_nothing(line: bytes, client: Client) -> None:
    assert "error" in client.raw(line)
    assert client.check(TO_EVE)["enforced"] == "ASK_USER"


def test_half_a_line_is_no_request(client: Client) -> None:
    client.into.write(b'{"id": 1, "op": "begin", "task": "t1", "text": "Email')
    client.into.close()
    assert "error" in json.loads(client.out.readline())
    assert client.process.wait(30) == 0


def test_a_client_that_dies_leaves_its_charges_and_no_traceback(client: Client, home: Path) -> None:
    client.ask("begin", text="Send one email to john@example.com")
    client.out.close()  # the program dies while it waits for the answer
    client.into.write(json.dumps({"op": "check", "task": "t1", "tool": "send_email", "args": TO_JOHN}).encode() + b"\n")
    client.into.close()
    assert client.process.wait(30) == 0
    assert b"Traceback" not in cast("IO[bytes]", client.process.stderr).read()
    second = Client()
    assert second.check(TO_JOHN)["enforced"] != "ALLOW"
    assert second.end() == 0


def test_ended_by_its_parent_it_goes_quietly(client: Client) -> None:
    client.ask("hello")
    client.process.terminate()
    assert client.process.wait(30) == 0
    assert cast("IO[bytes]", client.process.stderr).read() == b""


def test_settings_that_cannot_be_read_block_every_call(home: Path) -> None:
    (home / "fence").mkdir(mode=0o700)
    (home / "fence" / "settings.yaml").write_text("presett: strict\n", encoding="utf-8")
    client = Client()
    answer = client.ask("check", tool="read_file", args={"path": "a"})
    assert (answer["enforced"], answer["reason"]) == ("BLOCK", "settings_fault")
    assert "presett" in str(client.ask("begin", text="Read")["error"])
    client.end()


def test_a_line_that_is_too_long_is_skipped_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "LONGEST", 1_000)
    long = b'{"op": "check", "body": "' + b"x" * 5_000 + b'"}\n'
    found = list(requests(io.BytesIO(long + b'{"op": "hello"}\n' + b"x" * 1_000 + b"\n" + b'{"op": "hello"}')))
    assert [len(line) for line in found] == [80, 16, 80, 15]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Service:
    return Service(Workbench.without_settings(tmp_path_factory.mktemp("home")).fence())


FIELDS = st.sampled_from(["id", "op", "task", "tool", "args", "host", "text", "policy", "status", "ticket", "tools"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["check", "begin", "t1", "done"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(request=st.dictionaries(FIELDS, VALUES, max_size=6), op=st.sampled_from([*service._OPERATIONS, "check"]))
def test_every_request_has_an_answer(request: dict[str, object], op: str, desk: Service) -> None:
    answer = desk.answer(json.dumps({**request, "op": op}).encode())
    assert answer["id"] == request.get("id")
    assert not str(answer.get("error", "")).startswith(("KeyError", "TypeError", "AttributeError", "AssertionError"))
    json.dumps(answer)


def test_a_check_takes_far_less_than_a_person_notices(client: Client) -> None:
    """No time is asserted: the number is printed, and a hang would be the failure."""
    client.ask("begin", text="Email the report to john@example.com")
    began = time.perf_counter()
    verdicts = {client.check(TO_JOHN)["enforced"] for _ in range(200)}
    print(f"serve: {(time.perf_counter() - began) / 200 * 1e6:.0f} µs a check")  # noqa: T201
    assert verdicts == {"ALLOW"}
