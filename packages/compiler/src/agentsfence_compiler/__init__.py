"""From the words of a person to a task policy."""
