"""Which tool calls of an agent a task may make."""
