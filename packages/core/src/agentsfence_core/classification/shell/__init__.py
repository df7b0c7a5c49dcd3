"""Shell commands: what every program in them does, and to what (DESIGN 5)."""

from agentsfence_core.classification.shell.reading import Reading, read_argv, read_command

__all__ = ["Reading", "read_argv", "read_command"]
