"""SQL as effects: what the statements of a text would do on the server that runs them."""

from agentsfence_core.classification.sql.reading import read_sql

__all__ = ["read_sql"]
