"""The place of the Hermes Agent plugin. It is not built yet: importing this package protects nothing."""

__version__ = "0.1.0"
