"""``serve --stdio``: a program's requests against the configured fence, one JSON object a line (DESIGN 11).

Rules of this file:

* One request, one answer, in the same order. Garbage, half a line and a line that is too long are answered with an
  error and end nothing; an end of input or a reader that went away ends the service, and charges stand.
* Whatever a request holds, a ``check`` is answered with a verdict or an error, and both mean: do not run, unless the
  verdict says ALLOW.
* A person's answer is not taken here: whoever can write these lines may be the agent. ``agentsfence approve`` is asked
  at a terminal, and ``questions`` shows when that has happened.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO, Final

from agentsfence_cli.jsonl import LineError, flag_field, list_field, mapping_field, optional_text, text_field
from agentsfence_cli.wire import (
    JsonObject,
    action_object,
    decision_object,
    grant_object,
    policy_object,
    question_object,
    task_object,
)
from agentsfence_cli.workbench import absolute, account_home
from agentsfence_core import BlockingFence, Fence, FenceError, HostFacts
from agentsfence_core.model import Locality
from agentsfence_core.ports import PersonMessage

LONGEST: Final = 16_000_000
"""Bytes of one request; the rest of a longer line is skipped, not kept."""
_PERSONAL: Final = frozenset({"approve", "deny"})
Request = Mapping[str, object]


class Service:
    """Answers requests over one fence."""

    def __init__(self, fence: Fence | BlockingFence) -> None:
        """Take a fence; one that could not start blocks every call and says why."""
        self._fence = fence

    def answer(self, line: bytes) -> JsonObject:
        """Return the answer to one line; never raises."""
        try:
            request = json.loads(line)
        except ValueError:
            return _error(None, "not a JSON object on one line", "send one request, then a newline")
        except RecursionError:
            return _error(None, "the JSON is nested too deeply", "flatten it")
        if not isinstance(request, dict):
            return _error(None, f"a request is a JSON object, not {type(request).__name__}", 'send {"op": "check", …}')
        name = request.get("id")
        try:
            return {"id": name, **self._answered(request)}
        except FenceError as error:
            return _error(name, Exception.__str__(error), error.hint)
        except Exception as error:  # noqa: BLE001  (one request's fault must not silence the requests after it)
            return _error(name, f"{type(error).__name__}: {error}", "")

    def _answered(self, request: Request) -> JsonObject:
        operation = text_field(request, "op")
        if operation == "check":
            return self._check(request)
        if operation in _PERSONAL:
            raise LineError(
                f"op: {operation} is not taken from a program", hint="a person runs: agentsfence approve ID"
            )
        found = _OPERATIONS.get(operation)
        if found is None:
            raise LineError(f"op: {operation!r} is not known", hint=f"one of check, {', '.join(sorted(_OPERATIONS))}")
        if isinstance(self._fence, BlockingFence):
            raise self._fence.error
        return found(self._fence, request)

    def _check(self, request: Request) -> JsonObject:
        decision = self._fence.check(
            text_field(request, "task"),
            text_field(request, "tool"),
            mapping_field(request, "args"),
            call_id=optional_text(request, "call_id") or "",
            key=optional_text(request, "key"),
            host=_host(request),
        )
        return decision_object(decision)


def requests(source: BinaryIO) -> Iterator[bytes]:
    """Yield each line that is not blank; of one that is too long, its beginning alone, which is no JSON any more."""
    while line := source.readline(LONGEST):
        rest = line
        while len(rest) == LONGEST and not rest.endswith(b"\n"):
            rest = source.readline(LONGEST)
        if line.strip():
            yield line if rest is line else line[:80]


def _host(request: Request) -> HostFacts:
    """Return what the program says about itself; what it leaves out is this account's home and nobody's workspace."""
    facts = mapping_field(request, "host")
    unknown = sorted(facts.keys() - _HOST_FIELDS)
    if unknown:
        raise LineError(f"host.{unknown[0]}: no such field", hint=f"one of {', '.join(sorted(_HOST_FIELDS))}")
    workdir, workspace = optional_text(facts, "workdir"), optional_text(facts, "workspace")
    return HostFacts(
        auto_approves=flag_field(facts, "auto_approves", default=False),
        human_present=flag_field(facts, "human_present", default=True),
        shared=flag_field(facts, "shared", default=False),
        home=optional_text(facts, "home") or account_home(),
        workdir=absolute(workdir) if workdir else None,
        workspace=absolute(workspace) if workspace else None,
        locality=_locality(optional_text(facts, "locality")),
    )


_HOST_FIELDS = frozenset({"auto_approves", "human_present", "shared", "home", "workdir", "workspace", "locality"})


def _locality(name: str | None) -> Locality:
    try:
        return Locality(name or Locality.LOCAL)
    except ValueError:
        raise LineError(f"host.locality: {name!r} is not known", hint=f"one of {', '.join(Locality)}") from None


def _message(request: Request) -> PersonMessage:
    return PersonMessage(text_field(request, "text"), optional_text(request, "sender"), "program")


def _begin(fence: Fence, request: Request) -> JsonObject:
    return task_object(fence.begin(_message(request), task=text_field(request, "task"), host=_host(request)))


def _amend(fence: Fence, request: Request) -> JsonObject:
    return task_object(fence.amend(_message(request), task=text_field(request, "task"), host=_host(request)))


def _child(fence: Fence, request: Request) -> JsonObject:
    return task_object(fence.child(text_field(request, "parent"), task=text_field(request, "task")))


def _adopt(fence: Fence, request: Request) -> JsonObject:
    policy = mapping_field(request, "policy")
    return task_object(fence.adopt(policy, task=text_field(request, "task"), sender=optional_text(request, "sender")))


def _outcome(fence: Fence, request: Request) -> JsonObject:
    fence.outcome(text_field(request, "task"), text_field(request, "ticket"), status=text_field(request, "status"))
    return {"ok": True}


def _tools(fence: Fence, request: Request) -> JsonObject:
    tools = [tool for tool in list_field(request, "tools") if isinstance(tool, dict)]
    if len(tools) < len(list_field(request, "tools")):
        raise LineError("tools: must be a list of objects")
    fence.register_tools(tools)
    return {"ok": True, "tools": len(tools)}


def _classify(fence: Fence, request: Request) -> JsonObject:
    return action_object(
        fence.classify(text_field(request, "tool"), mapping_field(request, "args"), host=_host(request))
    )


def _questions(fence: Fence, request: Request) -> JsonObject:
    return {"questions": [question_object(each) for each in fence.questions(text_field(request, "task"))]}


def _grants(fence: Fence, request: Request) -> JsonObject:
    return {"grants": [grant_object(each) for each in fence.grants(text_field(request, "task"))]}


def _revoke(fence: Fence, request: Request) -> JsonObject:
    fence.revoke(text_field(request, "task"), text_field(request, "grant"))
    return {"ok": True}


def _policy(fence: Fence, request: Request) -> JsonObject:
    return {"policy": policy_object(fence.policy(text_field(request, "task")))}


def _close(fence: Fence, request: Request) -> JsonObject:
    fence.close(text_field(request, "task"))
    return {"ok": True}


def _hello(fence: Fence, request: Request) -> JsonObject:
    from importlib.metadata import version  # noqa: PLC0415  (asked once)

    del fence, request
    return {"schema": "agentsfence.serve/1", "version": version("agentsfence-cli"), "ops": ["check", *_OPERATIONS]}


_OPERATIONS: Final[Mapping[str, Callable[[Fence, Request], JsonObject]]] = {
    "adopt": _adopt,
    "amend": _amend,
    "begin": _begin,
    "child": _child,
    "classify": _classify,
    "close": _close,
    "grants": _grants,
    "hello": _hello,
    "outcome": _outcome,
    "policy": _policy,
    "questions": _questions,
    "revoke": _revoke,
    "tools": _tools,
}


def _error(name: object, message: str, hint: str) -> JsonObject:
    return {"id": name, "error": message, "hint": hint}
