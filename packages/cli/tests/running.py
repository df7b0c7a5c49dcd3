"""Running the command inside the test's own process, as `agentsfence ARGUMENTS` would."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from agentsfence_cli.main import main


@dataclass(frozen=True)
class Done:
    """What a run left: its exit code and its two outputs."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, object]:
        """The one JSON object of the output."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found

    @property
    def lines(self) -> list[dict[str, object]]:
        """The JSON objects of the output, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Done]


def runner(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return ``run(*arguments, stdin=…)``."""

    def run(*arguments: str, stdin: str | bytes = b"") -> Done:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        shown = capsys.readouterr()
        code = stopped.value.code
        return Done(code if isinstance(code, int) else 0, shown.out, shown.err)

    return run


def rows(done: Done, name: str) -> list[dict[str, object]]:
    """Return a list of objects in a run's JSON."""
    found = done.json[name]
    assert isinstance(found, list)
    return found
