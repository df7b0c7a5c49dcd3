"""Every limit of the system in one place, with its unit (DESIGN 13).

A limit is where reading stops, never where protection stops: what lies beyond is UNKNOWN, EXECUTION, BLOCK or refused.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on hostile input. Sizes are characters unless named bytes."""

    message: int = 1_000_000  # characters of a person's message that are read
    message_to_model: int = 20_000  # characters that a compiler backend is given
    quote: int = 2_000  # characters of an evidence quote
    evidence_words: int = 240  # characters of a quote shown to a person
    draft_permissions: int = 256  # rows that a draft may have
    draft_bytes: int = 1_000_000  # bytes of a backend's answer
    policy_bytes: int = 4_000_000  # bytes of a policy file
    policy_entries: int = 50_000  # entries over all lists of a policy
    globs: int = 2_000  # glob patterns in one policy
    glob_length: int = 512  # characters of one glob
    settings_bytes: int = 1_000_000  # bytes of a settings file
    argument_depth: int = 40  # levels of nesting that are searched for targets
    argument_nodes: int = 50_000  # values of a call that are searched for targets
    argument_text: int = 1_000_000  # characters over all strings that are searched for targets
    targets: int = 10_000  # targets of one kind that are kept per effect
    target_length: int = 4_096  # characters of one target
    command_bytes: int = 65_536  # bytes of a command after literal here-doc bodies are cut
    command_operators: int = 512  # pipes, lists, substitutions and redirections in one command
    command_nesting: int = 24  # levels of nesting in one command
    command_effects: int = 256  # effects kept for one command
    sql_bytes: int = 20_000  # bytes of SQL that are parsed
    sql_nesting: int = 60  # parentheses open at once
    code_text: int = 250_000  # characters of code that are searched for what can be seen in it
    json_text: int = 200_000  # characters of a JSON string inside an argument that is parsed
    open_questions: int = 100  # questions waiting in one task
    task_grant_uses: int = 10  # uses of a grant "for this task"
    subtask_depth: int = 8  # ancestors that a subtask may have
    tickets: int = 256  # admitted calls kept per task; what is older can no longer be reported on or replayed
    grants: int = 10_000  # grants in force in one task
    spent_grants: int = 64  # grants of one task that are kept although they are used up or have ended
    denials: int = 1_000  # denied calls remembered in one task
    bans_kept_seconds: float = 30 * 86_400.0  # how long the bans of an ended task wait for it to begin again
    unbegun_kept_seconds: float = 86_400.0  # how long a task is kept that only calls have mentioned
    forgotten_at_once: int = 16  # ended tasks that are forgotten when another begins
    chains: int = 1_000  # audit chains whose head is kept after their tasks have gone
    plugin_seconds: float = 2.0  # deadline of a third-party deciding hook
    audit_line_bytes: int = 16_384  # bytes of one audit line
    audit_file_bytes: int = 16_000_000  # bytes after which the audit log is rotated


LIMITS = Limits()
"""The limits in force. One instance: the pure core reads it as a constant."""
