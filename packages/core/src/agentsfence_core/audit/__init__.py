"""What was decided, on which words, by whose answer: a log that cannot lose a line unnoticed (DESIGN 8)."""

from agentsfence_core.audit.chain import Head
from agentsfence_core.audit.log import AuditLog
from agentsfence_core.audit.replay import Replayed, read_events, replay
from agentsfence_core.audit.verify import Gap, Verification, verify

__all__ = ["AuditLog", "Gap", "Head", "Replayed", "Verification", "read_events", "replay", "verify"]
