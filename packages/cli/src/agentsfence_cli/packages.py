"""Which packages of AgentsFence are installed."""

from __future__ import annotations

from importlib import metadata
from typing import Final

PACKAGES: Final = ("core", "compiler", "cli", "hermes", "langchain")


def versions() -> dict[str, str]:
    """Return our distributions that are installed, with their versions."""
    found = {}
    for name in (f"agentsfence-{package}" for package in PACKAGES):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
