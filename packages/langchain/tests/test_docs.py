"""The guide shows what is true: its example runs, and its snippets are Python that binds what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from agentsfence_langchain import LangChainFence

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "langchain.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"^```py\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_example_prints_what_the_page_shows() -> None:
    done = subprocess.run(
        [sys.executable, str(DOCS / "examples" / "langchain_agent.py")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    shown = re.findall(r"^```text\n(ASK.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[0].splitlines()
    printed = done.stdout.splitlines()
    assert len(shown) == len(printed)
    for line, whole in zip(shown, printed, strict=True):
        assert whole.startswith(line.rstrip(".")), line


@pytest.mark.parametrize("snippet", SNIPPETS, ids=range(len(SNIPPETS)))
def test_a_snippet_names_only_what_exists(snippet: str) -> None:
    compile(snippet, "langchain.md", "exec")
    for name in re.findall(r"\bfence\.(\w+)", snippet):
        assert hasattr(LangChainFence, name), name
