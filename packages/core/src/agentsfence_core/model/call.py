"""What a host hands over: a tool call, and the facts about the world that the pure core must not look up itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Locality(StrEnum):
    """Where the paths of a call live. What is not local cannot be verified by looking at this machine's file system."""

    LOCAL = "local"
    REMOTE = "remote"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that an agent wants to make, exactly as the tool would receive it.

    Everything in ``args`` is hostile: any depth, any type, any size, cycles included.
    """

    tool: str
    """The tool's name as the host knows it, for example ``mcp_gmail_send_email``."""
    args: Mapping[str, object]
    """The arguments as the tool will receive them, after any coercion by the host."""
    workdir: str | None = None
    """Absolute folder that relative paths start from; ``None`` when the host does not say."""
    home: str | None = None
    """Absolute home folder of the account the tool acts as; ``~`` expands to it."""
    shell: str = "posix"
    """Grammar of a command in ``args``: ``posix``, ``powershell`` or ``cmd``."""


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What a host knows about itself at this moment (DESIGN 3). Defaults: interactive, single user."""

    auto_approves: bool = False
    """The host would answer an ASK_USER by itself: yolo, cron approve, a remembered key."""
    human_present: bool = True
    """A person can be asked now."""
    shared: bool = False
    """Several people write into this task."""
    home: str | None = None
    """Absolute home folder, for ``~``."""
    workdir: str | None = None
    """Absolute current folder of the tools."""
    workspace: str | None = None
    """Absolute folder that the host declares as the place for the task's files; ``None`` when it declares none."""
    locality: Locality = Locality.LOCAL
    """Where paths live."""


@dataclass(frozen=True, slots=True)
class PathFacts:
    """What the file system says about the paths of one call: the only knowledge that ``resolve`` takes from outside."""

    real: Mapping[str, str]
    """Lexical absolute path -> path with every symbolic link followed. Paths that are absent stay as written."""
    case_insensitive: bool = False
    """The file system treats ``A`` and ``a`` as one name."""
