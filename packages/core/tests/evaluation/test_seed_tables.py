"""Every row of the seeds' tables that the evaluator answers for, one test a row, named after it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from packages.core.tests.evaluation.aids import (
    JOHN,
    MALLORY,
    action,
    ban,
    decide,
    delete,
    read,
    send,
    sends_to_john,
    with_ceiling,
    write,
)

from agentsfence_core.evaluation import CHECKS, DEFAULT_UNAUTHORIZED, EvaluationOptions
from agentsfence_core.model import (
    CEILING_OF,
    Ceiling,
    Effect,
    ExecutionState,
    HostFacts,
    PolicySource,
    ReasonCode,
    Risk,
    TargetKind,
    TaskPolicy,
    ToolConstraint,
    Verdict,
)

CONSEQUENTIAL = [risk for risk in Risk if risk not in {Risk.READ, Risk.UNKNOWN}]


def _effect(risk: Risk) -> Effect:
    return Effect("some.capability", risk, recipients=(JOHN,) if risk is Risk.COMMUNICATION else ())


def test_the_order_is_the_papers_order() -> None:
    """Paper, 3.4: ordered checks with first-match semantics."""
    assert [(check.number, check.name) for check in CHECKS] == [
        (1, "expiry"),
        (2, "guards"),
        (3, "prohibitions"),
        (4, "deny_list"),
        (5, "grants"),
        (6, "argument_constraints"),
        (7, "ceiling_and_listing"),
        (8, "recipient_binding"),
        (9, "domain_allowlist"),
        (10, "exfiltration_urls"),
        (11, "path_allowlist"),
        (12, "outbound_budget"),
        (13, "approval_requirements"),
    ]


class TestDefaultBehaviourWhenACallIsNotAuthorized:
    """Task policies, "Default behaviour when a call isn't authorized"."""

    @pytest.mark.parametrize(
        ("risk", "verdict"),
        [
            (Risk.READ, Verdict.ALLOW),
            (Risk.LOCAL_WRITE, Verdict.ASK_USER),
            (Risk.EXTERNAL_WRITE, Verdict.ASK_USER),
            (Risk.COMMUNICATION, Verdict.ASK_USER),
            (Risk.EXECUTION, Verdict.ASK_USER),
            (Risk.UNKNOWN, Verdict.ASK_USER),
            (Risk.DELETE, Verdict.BLOCK),
            (Risk.PERMISSION_CHANGE, Verdict.BLOCK),
            (Risk.FINANCIAL, Verdict.BLOCK),
        ],
    )
    def test_default_verdict(self, risk: Risk, verdict: Verdict) -> None:
        """Each class has the verdict of the seed's table."""
        assert decide(TaskPolicy(), _effect(risk)).verdict is verdict
        assert DEFAULT_UNAUTHORIZED[risk] is verdict

    def test_evaluation_unauthorized_changes_them(self) -> None:
        """``evaluation.unauthorized`` may turn a BLOCK into a question."""
        asking = EvaluationOptions(unauthorized={**DEFAULT_UNAUTHORIZED, Risk.DELETE: Verdict.ASK_USER})
        assert decide(TaskPolicy(), delete("/srv/a"), options=asking).verdict is Verdict.ASK_USER


class TestWhenIsACallAuthorized:
    """Task policies, "When is a call authorized?": both keys, ceiling and listing."""

    @pytest.mark.parametrize("risk", CONSEQUENTIAL)
    def test_a_ceiling_alone_authorizes_nothing(self, risk: Risk) -> None:
        """The ceiling is on, the call is not listed."""
        policy = with_ceiling(TaskPolicy(allowed_recipients=(JOHN,)), risk)
        assert decide(policy, _effect(risk)).reason is ReasonCode.NOT_LISTED

    @pytest.mark.parametrize("risk", CONSEQUENTIAL)
    @pytest.mark.parametrize("listing", ["tool", "some.capability", "some.*", "class"])
    def test_a_listing_alone_authorizes_nothing(self, risk: Risk, listing: str) -> None:
        """The call is listed by name, capability, glob or class; the ceiling is off."""
        policy = TaskPolicy(allowed_tools=(risk.value if listing == "class" else listing,), allowed_recipients=(JOHN,))
        assert decide(policy, _effect(risk)).reason is ReasonCode.CEILING_OFF

    @pytest.mark.parametrize("risk", CONSEQUENTIAL)
    @pytest.mark.parametrize("listing", ["tool", "some.capability", "some.*", "class"])
    def test_both_keys_authorize(self, risk: Risk, listing: str) -> None:
        """Ceiling and listing together, in every syntax of ``allowed_tools``."""
        listed = risk.value if listing == "class" else listing
        policy = with_ceiling(TaskPolicy(allowed_tools=(listed,), allowed_recipients=(JOHN,)), risk)
        assert decide(policy, _effect(risk)).verdict is Verdict.ALLOW

    def test_file_delete_listed_with_destructive_actions_off_still_blocks(self) -> None:
        """The seed's own example."""
        policy = TaskPolicy(allowed_tools=("file.delete",), allow_destructive_actions=False)
        assert decide(policy, delete("/srv/a")).verdict is Verdict.BLOCK

    def test_communication_and_external_writes_share_a_ceiling(self) -> None:
        """``allow_external_writes`` gates both."""
        assert CEILING_OF[Risk.COMMUNICATION] is CEILING_OF[Risk.EXTERNAL_WRITE] is Ceiling.EXTERNAL_WRITES

    def test_unknown_only_by_exact_name_in_a_manual_policy(self) -> None:
        """UNKNOWN tools: by exact name, and only in a policy that a person wrote."""
        unknown = Effect("tool.unknown", Risk.UNKNOWN)
        by_name = TaskPolicy(allowed_tools=("tool",))
        assert decide(by_name, unknown).verdict is Verdict.ALLOW
        assert decide(TaskPolicy(allowed_tools=("to*", "UNKNOWN", "tool.unknown")), unknown).verdict is Verdict.ASK_USER
        compiled = TaskPolicy(allowed_tools=("tool",), source=PolicySource.COMPILED)
        assert decide(compiled, unknown).verdict is Verdict.ASK_USER


class TestFields:
    """Task policies, "Fields"."""

    def test_deny_beats_allow(self) -> None:
        """``denied_tools``: same syntax; deny beats allow."""
        for entry in ("tool", "email.send", "email.*", "COMMUNICATION"):
            policy = TaskPolicy(
                allowed_tools=("email.send",),
                denied_tools=(entry,),
                allow_external_writes=True,
                allowed_recipients=(JOHN,),
            )
            assert decide(policy, send(JOHN)).reason is ReasonCode.DENIED

    def test_tool_constraints_bind_recipients_domains_paths_and_calls(self) -> None:
        """``tool_constraints``: per tool or capability."""
        bounds = ToolConstraint(allowed_recipients=(JOHN,), max_calls=1)
        policy = TaskPolicy(
            allowed_tools=("email.send",), allow_external_writes=True, tool_constraints={"email.send": bounds}
        )
        assert decide(policy, send(JOHN)).verdict is Verdict.ALLOW
        assert decide(policy, send(MALLORY)).reason is ReasonCode.RECIPIENT_NOT_LISTED
        used = ExecutionState(counters={"tool:email.send": 1})
        assert decide(policy, send(JOHN), state=used).reason is ReasonCode.MAX_CALLS_USED
        paths = TaskPolicy(
            allowed_tools=("file.write",),
            allow_local_writes=True,
            tool_constraints={"file.*": ToolConstraint(allowed_paths=("/srv/w",))},
        )
        assert decide(paths, write("/srv/w/a")).verdict is Verdict.ALLOW
        assert decide(paths, write("/srv/wx")).reason is ReasonCode.PATH_NOT_LISTED
        hosts = TaskPolicy(tool_constraints={"web.read": ToolConstraint(allowed_domains=("docs.example.com",))})
        assert (
            decide(hosts, Effect("web.read", Risk.READ, domains=("evil.example",))).reason
            is ReasonCode.DOMAIN_NOT_LISTED
        )

    def test_task_wide_allowlists(self) -> None:
        """``allowed_recipients, allowed_external_domains, allowed_paths``."""
        policy = TaskPolicy(
            allowed_risk_classes=tuple(Risk)[:5],
            allow_external_writes=True,
            allow_local_writes=True,
            allowed_recipients=(JOHN,),
            allowed_external_domains=("docs.example.com",),
            allowed_paths=("/srv/w",),
        )
        assert decide(policy, send(MALLORY)).reason is ReasonCode.RECIPIENT_NOT_LISTED
        assert (
            decide(policy, Effect("web.read", Risk.READ, domains=("evil.example",))).reason is ReasonCode.DOMAIN_OUTSIDE
        )
        assert decide(policy, write("/etc/motd")).reason is ReasonCode.PATH_OUTSIDE
        assert decide(policy, write("/srv/w/a")).verdict is Verdict.ALLOW

    def test_max_external_writes_counts_sends_and_external_writes(self) -> None:
        """``max_external_writes``: outbound budget for the whole task."""
        policy = TaskPolicy(
            allowed_risk_classes=(Risk.READ, Risk.EXTERNAL_WRITE, Risk.COMMUNICATION),
            allow_external_writes=True,
            allowed_recipients=(JOHN,),
            max_external_writes=1,
        )
        assert decide(policy, send(JOHN)).verdict is Verdict.ALLOW
        used = ExecutionState(counters={"outbound": 1})
        assert decide(policy, send(JOHN), state=used).reason is ReasonCode.BUDGET_USED
        assert decide(policy, Effect("web.post", Risk.EXTERNAL_WRITE), state=used).reason is ReasonCode.BUDGET_USED
        assert decide(policy, read(), state=used).verdict is Verdict.ALLOW

    def test_requires_approval_always_asks(self) -> None:
        """``requires_approval``: always ASK_USER for these."""
        policy = TaskPolicy(allowed_tools=("file.write",), allow_local_writes=True, requires_approval=("file.write",))
        assert decide(policy, write("/srv/w/a")).reason is ReasonCode.APPROVAL_REQUIRED

    def test_prohibitions_come_before_everything_but_guards_and_expiry(self) -> None:
        """``user_prohibitions``: checked before everything else except guards."""
        policy = TaskPolicy(
            allowed_tools=("email.send",), allow_external_writes=True, user_prohibitions=(ban("COMMUNICATION"),)
        )
        assert decide(policy, send(JOHN)).reason is ReasonCode.PROHIBITED

    def test_an_expired_policy_blocks(self) -> None:
        """How it works: "Policy expired (default 12h): BLOCK until your next message starts a fresh policy"."""
        policy = TaskPolicy(expires_at=datetime.fromtimestamp(1_000, UTC))
        assert decide(policy, read(), now=999).verdict is Verdict.ALLOW
        assert decide(policy, read(), now=1_000).reason is ReasonCode.POLICY_EXPIRED


class TestWhatHappensWhenThingsGoWrong:
    """How it works, "What happens when things go wrong"."""

    def test_questions_of_the_fallback_become_blocks_if_the_host_would_approve(self) -> None:
        """Row "Compiler unavailable or returns garbage"."""
        fallback = TaskPolicy(source=PolicySource.FALLBACK, allow_external_writes=False)
        assert decide(fallback, send(JOHN)).verdict is Verdict.ASK_USER
        refused = decide(fallback, send(JOHN), host=HostFacts(auto_approves=True))
        assert (refused.verdict, refused.reason) == (Verdict.BLOCK, ReasonCode.AUTO_APPROVAL_REFUSED)

    def test_other_policies_honour_the_hosts_approval_mode_unless_strict(self) -> None:
        """Paper, 8: approval modes the user enables are honoured for ASK_USER, never for BLOCK."""
        auto = HostFacts(auto_approves=True)
        assert decide(TaskPolicy(), send(JOHN), host=auto).verdict is Verdict.ASK_USER
        assert decide(TaskPolicy(), delete("/a"), host=auto).verdict is Verdict.BLOCK
        strict = EvaluationOptions(strict_auto_approve=True)
        assert decide(TaskPolicy(), send(JOHN), host=auto, options=strict).verdict is Verdict.BLOCK

    def test_with_nobody_there_the_reason_says_what_to_write(self) -> None:
        """Row "ASK_USER with no human present"."""
        decision = decide(TaskPolicy(), send(JOHN), host=HostFacts(human_present=False))
        assert decision.verdict is Verdict.ASK_USER
        assert "write it as a request" in decision.sentence


class TestSeedPolicies:
    """The two policies printed in the task-policies seed, as rows."""

    def test_the_report_may_go_to_john_and_to_nobody_else(self) -> None:
        """ "Read the report and email the summary to john@example.com"."""
        policy = sends_to_john()
        allowed = decide(policy, send(JOHN))
        assert allowed.verdict is Verdict.ALLOW
        assert allowed.evidence == ("email the summary to john@example.com",)
        for parties in ((MALLORY,), (JOHN, MALLORY)):
            assert decide(policy, send(*parties)).verdict is Verdict.BLOCK
        assert decide(policy, Effect("drive.write", Risk.EXTERNAL_WRITE)).verdict is Verdict.ASK_USER

    def test_hidden_recipients_are_asked_about(self) -> None:
        """A send whose parties cannot be read is never silently John's."""
        hidden = send(JOHN, unverified=frozenset({TargetKind.RECIPIENTS}))
        assert decide(sends_to_john(), hidden).verdict is Verdict.ASK_USER
        assert decide(sends_to_john(), send()).reason is ReasonCode.RECIPIENT_NOT_BOUND

    def test_the_strictest_effect_decides(self) -> None:
        """A call that sends to John and deletes must satisfy both ceilings."""
        assert decide(sends_to_john(), action(send(JOHN), delete("/srv/a"))).verdict is Verdict.BLOCK
        assert decide(sends_to_john(), action(read(), send(JOHN))).verdict is Verdict.ALLOW
