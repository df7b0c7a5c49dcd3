"""The agentsfence command."""
