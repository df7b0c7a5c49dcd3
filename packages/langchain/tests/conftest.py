"""These tests bind the real LangChain, in an environment of its own: ``nox -s langchain``."""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("langchain") is None:
    collect_ignore_glob = ["*"]
