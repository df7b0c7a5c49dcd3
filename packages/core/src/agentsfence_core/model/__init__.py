"""Frozen values: the words of DESIGN 2 as types. No I/O, no clock, no behaviour beyond reading their own fields."""

from agentsfence_core.model.action import OBJECT_KINDS, Action, Effect, ObjectRef, Source, TargetKind, parse_object
from agentsfence_core.model.call import HostFacts, Locality, PathFacts, ToolCall
from agentsfence_core.model.decision import Decision, Outcome, ReasonCode, Verdict, strictest
from agentsfence_core.model.grant import Delta, Grant, Scope
from agentsfence_core.model.policy import (
    Example,
    Permission,
    PolicySource,
    Prohibition,
    Targets,
    TaskPolicy,
    ToolConstraint,
)
from agentsfence_core.model.risk import CEILING_OF, CONSEQUENTIAL, OUTBOUND, RANK, Ceiling, Risk, worst
from agentsfence_core.model.state import Charge, ExecutionState

__all__ = [
    "CEILING_OF",
    "CONSEQUENTIAL",
    "OBJECT_KINDS",
    "OUTBOUND",
    "RANK",
    "Action",
    "Ceiling",
    "Charge",
    "Decision",
    "Delta",
    "Effect",
    "Example",
    "ExecutionState",
    "Grant",
    "HostFacts",
    "Locality",
    "ObjectRef",
    "Outcome",
    "PathFacts",
    "Permission",
    "PolicySource",
    "Prohibition",
    "ReasonCode",
    "Risk",
    "Scope",
    "Source",
    "TargetKind",
    "Targets",
    "TaskPolicy",
    "ToolCall",
    "ToolConstraint",
    "Verdict",
    "parse_object",
    "strictest",
    "worst",
]
