"""AgentsFence inside Hermes Agent: `agentsfence_hermes.plugin` is what Hermes loads.

Importing this package imports nothing else, so that the plugin can block every call even where the rest is broken.
"""

__version__ = "0.1.0"
