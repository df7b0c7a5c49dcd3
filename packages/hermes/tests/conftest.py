"""Tests under ``real`` need the real Hermes Agent, which lives in the environment of the session `hermes`."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("hermes_cli") else ["real/*"]
