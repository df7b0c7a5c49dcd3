"""The sub-commands, one module each, imported when called."""
