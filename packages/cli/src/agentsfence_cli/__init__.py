"""The agentsfence command: parse, call core, render. No rule of authorization lives in this package."""
