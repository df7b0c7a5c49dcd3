"""Code as effects: always an execution that nobody can verify, and beside it what can be seen in the text."""

from agentsfence_core.classification.code.reading import read_code

__all__ = ["read_code"]
