"""Errors, by who is at fault. Each carries a hint: what the person can do about it."""

from __future__ import annotations


class FenceError(Exception):
    """Root of every error that AgentsFence raises on purpose."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        """Keep what went wrong and what helps."""
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        """Return the message, and the hint after it where there is one."""
        message = super().__str__()
        return f"{message} ({self.hint})" if self.hint else message


class PolicyError(FenceError):
    """A policy written by a person cannot be read or grants too much; ``field`` is the path of the fault."""

    def __init__(self, message: str, *, field: str = "", hint: str = "", where: str = "") -> None:
        """Keep the path of the field beside the message; ``where`` is the file and line, which come first."""
        super().__init__(": ".join(part for part in (where, field, message) if part), hint=hint)
        self.field = field


class SettingsError(FenceError):
    """Settings cannot be read or must not be trusted."""


class CompilerError(FenceError):
    """A compiler backend failed or answered nonsense."""


class HostContractError(FenceError):
    """The host (or the adapter for it) called the fence in a way that its contract excludes."""


class PluginError(FenceError):
    """A plugin cannot be loaded or claims what is not its own."""


class StoreError(FenceError):
    """The state cannot be read or written."""


class AuditError(FenceError):
    """An audit line cannot be written, or a log does not hold together."""
