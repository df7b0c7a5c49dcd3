"""The place of the LangChain and LangGraph adapter. It is not built yet: importing this package protects nothing."""

__version__ = "0.1.0"
