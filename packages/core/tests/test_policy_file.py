"""Policies that people write: what loads, what is refused and how the fault is named (task policies; DESIGN 6)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsfence_core.errors import PolicyError
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import (
    Delta,
    Example,
    Grant,
    Permission,
    PolicySource,
    Prohibition,
    Risk,
    Scope,
    Targets,
    TaskPolicy,
    ToolConstraint,
)
from agentsfence_core.policy_file import dump_policy, load_policy, policy_schema

MORTGAGE = """\
purpose: summarize_mortgage_statement
allowed_risk_classes: [READ]
allowed_tools: [email.search, email.read, file.read]
denied_tools: [email.send, file.share, file.delete]
allow_external_writes: false
allow_destructive_actions: false
allow_financial_actions: false
max_external_writes: 0
"""
REPORT = """\
purpose: email_report_summary
allowed_risk_classes: [READ, COMMUNICATION]
allowed_tools: [file.read, email.send]
allow_external_writes: true
allowed_recipients: [john@example.com]
tool_constraints:
  email.send: {allowed_recipients: [john@example.com]}
"""


def refused(data: Mapping[str, object] | str | Path, home: str = "/home/ann") -> PolicyError:
    with pytest.raises(PolicyError) as caught:
        load_policy(data, home=home)
    return caught.value


def test_the_seeds_first_policy_loads_unchanged() -> None:
    policy = load_policy(MORTGAGE)
    assert policy == TaskPolicy(
        purpose="summarize_mortgage_statement",
        allowed_risk_classes=(Risk.READ,),
        allowed_tools=("email.search", "email.read", "file.read"),
        denied_tools=("email.send", "file.share", "file.delete"),
        max_external_writes=0,
    )


def test_the_seeds_second_policy_loads_unchanged() -> None:
    policy = load_policy(REPORT)
    assert policy == TaskPolicy(
        purpose="email_report_summary",
        allowed_risk_classes=(Risk.READ, Risk.COMMUNICATION),
        allowed_tools=("file.read", "email.send"),
        allow_external_writes=True,
        allowed_recipients=("john@example.com",),
        tool_constraints={"email.send": ToolConstraint(allowed_recipients=("john@example.com",))},
    )


class TestSources:
    def test_a_file_is_read_by_its_path(self, tmp_path: Path) -> None:
        path = tmp_path / "p.yaml"
        path.write_text(REPORT, encoding="utf-8")
        assert load_policy(path) == load_policy(REPORT)

    def test_json_text_and_mappings_read_the_same(self) -> None:
        plain = dump_policy(load_policy(REPORT))
        assert load_policy(plain) == load_policy(json.dumps(plain)) == load_policy(REPORT)

    def test_an_absent_file_is_named(self, tmp_path: Path) -> None:
        assert "absent.yaml" in str(refused(tmp_path / "absent.yaml"))

    def test_a_file_that_is_no_text_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "p.yaml"
        path.write_bytes(b"\xff\xfe\x00")
        assert "UTF-8" in str(refused(path))

    def test_a_name_of_a_file_is_no_policy(self) -> None:
        assert "pass its path" in refused("policy.yaml").hint

    def test_a_file_too_large_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "p.yaml"
        path.write_bytes(b"#" * (LIMITS.policy_bytes + 1))
        assert "too large" in str(refused(path))
        assert "too large" in str(refused("#" * (LIMITS.policy_bytes + 1)))

    def test_an_empty_policy_is_read_only(self) -> None:
        assert load_policy({}) == TaskPolicy()


FAULTS: list[tuple[object, str, str]] = [
    ({"allow_executon": True}, "allow_executon", "did you mean allow_execution"),
    (
        {"tool_constraints": {"email.send": {"allowed_recipient": ["a"]}}},
        "tool_constraints.email.send.allowed_recipient",
        "allowed_recipients",
    ),
    ({"permissions": [{"capability": "x.y", "recipient": []}]}, "permissions[0].recipient", "did you mean recipients"),
    ({"user_prohibitions": [{"what": "DELETE", "target": []}]}, "user_prohibitions[0].target", "did you mean targets"),
    ({"allowed_risk_classes": ["READ", "reed"]}, "allowed_risk_classes[1]", "did you mean READ"),
    ({"allowed_risk_classes": ["SEND"]}, "allowed_risk_classes[0]", "one of"),
    ({"allow_execution": "yes"}, "allow_execution", "true or false"),
    ({"allow_execution": 1}, "allow_execution", "true or false"),
    ({"max_external_writes": "2"}, "max_external_writes", "whole number"),
    ({"max_external_writes": -1}, "max_external_writes", "0 or more"),
    ({"allowed_recipients": [49170123]}, "allowed_recipients[0]", "quotes"),
    ({"allowed_tools": "email.send"}, "allowed_tools", "write a list"),
    ({"tool_constraints": ["email.send"]}, "tool_constraints", "mapping"),
    ({"tool_constraints": {"email.send": ["a@x.example"]}}, "tool_constraints.email.send", "fields"),
    ({"permissions": [{}]}, "permissions[0].capability", "add it"),
    ({"user_prohibitions": [{"targets": ["a@x.example"]}]}, "user_prohibitions[0].what", "add it"),
    ({"user_prohibitions": [" "]}, "user_prohibitions[0].what", "name a risk class"),
    ({"user_prohibitions": [{"what": "DELETE", "except": ["*"]}]}, "user_prohibitions[0].exceptions", "stays allowed"),
    ({"prohibitions": [], "user_prohibitions": []}, "prohibitions", "use user_prohibitions"),
    ({"expires_at": "soon"}, "expires_at", "2026-05-04"),
    (
        {"permissions": [{"capability": "payment.send", "max_amount": "10 EUR"}]},
        "permissions[0].max_amount",
        "without currency",
    ),
    ({"tool_constraints": {"pay": {"max_amount": -3}}}, "tool_constraints.pay.max_amount", "without currency"),
    ({"tool_constraints": {"pay": {"max_calls": -3}}}, "tool_constraints.pay.max_calls", "0 or more"),
    ({"source": "person"}, "source", "one of"),
    ({"allowed_risk_classes": ["UNKNOWN"]}, "allowed_risk_classes", "exactly"),
    ({"allowed_tools": ["unknown"]}, "allowed_tools[0]", "exactly"),
    ({"allowed_tools": ["email.send", ""]}, "allowed_tools[1]", "remove it"),
    ({"allowed_paths": [" "]}, "allowed_paths[0]", "remove it"),
    ({"allowed_recipients": [""]}, "allowed_recipients[0]", "remove it"),
    ({"allowed_external_domains": [""]}, "allowed_external_domains[0]", "remove it"),
    ({"denied_tools": ["*" + "a" * 600]}, "", "at most"),
    ({"denied_tools": [f"a{n}*" for n in range(LIMITS.globs + 1)]}, "", "at most"),
]


@pytest.mark.parametrize(("data", "field", "hint"), FAULTS, ids=[json.dumps(fault[0])[:60] for fault in FAULTS])
def test_a_fault_names_its_field_and_the_fix(data: Mapping[str, object], field: str, hint: str) -> None:
    error = refused(data)
    assert error.field == field
    assert hint in error.hint
    assert str(error).startswith(f"{field}: " if field else "")


class TestTooWide:
    @pytest.mark.parametrize(
        "name", ["*", "**", "*.*", "?*", "***", "[a-z]*", "[!x]*", "*_*", "*-*", "*/*", "*:*", "?", "[ab]"]
    )
    def test_a_wildcard_for_everything_is_refused_in_every_allow_list(self, name: str) -> None:
        for data in (
            {"allowed_tools": [name]},
            {"allowed_recipients": [name]},
            {"allowed_external_domains": [name]},
            {"allowed_paths": [name]},
            {"tool_constraints": {"a.b": {"allowed_recipients": [name]}}},
            {"tool_constraints": {"a.b": {"allowed_domains": [name]}}},
            {"tool_constraints": {"a.b": {"allowed_paths": [name]}}},
            {"tool_constraints": {"a.b": {"allowed_objects": [name]}}},
            {"permissions": [{"capability": name}]},
            {"permissions": [{"capability": "a.b", "recipients": [name]}]},
            {"permissions": [{"capability": "a.b", "domains": [name]}]},
            {"permissions": [{"capability": "a.b", "paths": [name]}]},
            {"permissions": [{"capability": "a.b", "objects": [name]}]},
        ):
            assert refused(data).field

    @pytest.mark.parametrize("name", ["*", "**", "email.*"])
    def test_wide_bans_and_approvals_are_fine(self, name: str) -> None:
        load_policy({"denied_tools": [name], "requires_approval": [name], "user_prohibitions": [name]})

    @pytest.mark.parametrize("party", ["*@*", "*@*.com", "*@com", "*.com", "?@*.example.com.*"])
    def test_a_pattern_of_recipients_needs_a_whole_domain(self, party: str) -> None:
        assert refused({"allowed_recipients": [party]}).field == "allowed_recipients[0]"

    def test_a_pattern_of_one_domain_is_fine(self) -> None:
        load_policy({"allowed_recipients": ["*@example.com"], "allowed_external_domains": ["*.example.com"]})

    @pytest.mark.parametrize("domain", ["*.com", "*.", "**.org", "example.*", "*.*.com"])
    def test_a_pattern_over_a_top_level_domain_is_refused(self, domain: str) -> None:
        assert refused({"allowed_external_domains": [domain]}).field == "allowed_external_domains[0]"

    @pytest.mark.parametrize(
        "path",
        "/ // /. /.. /* /** /**/* /srv/.. ~ ~/ ~/. ~/* ~/** ~bob $HOME ${HOME}/ %USERPROFILE% /root /root/ /home "
        "/home/ /home/* /home/ann /home/bob/ /home/ann/* /Users /Users/ann /var/root C:\\ C:/ c:\\* C:\\Users "
        "C:\\Users\\ann\\ /mnt/c/Users/ann .. ../.. ../x a/../.. /home/ann/x/.. ~/x/../".split(),
    )
    def test_a_root_or_a_home_folder_is_refused(self, path: str) -> None:
        for data in (
            {"allowed_paths": [path]},
            {"tool_constraints": {"file.write": {"allowed_paths": [path]}}},
            {"permissions": [{"capability": "file.write", "paths": [path]}]},
        ):
            assert "folder" in str(refused(data))

    def test_the_accounts_own_home_is_refused_wherever_it_is(self) -> None:
        refused({"allowed_paths": ["/data/people/ann"]}, home="/data/people/ann")
        refused({"allowed_paths": ["/data/people"]}, home="/data/people/ann")
        load_policy({"allowed_paths": ["/data/people/ann/work"]}, home="/data/people/ann")
        load_policy({"allowed_paths": ["/srv"]}, home="/")

    @pytest.mark.parametrize(
        "path",
        [
            "/srv",
            "/srv/app/",
            "/home/ann/work",
            "~/Downloads",
            "~/Downloads/*",
            "src",
            "./src",
            ".",
            "*.py",
            "C:\\work",
            "/tmp/*",
        ],
    )
    def test_a_folder_is_fine(self, path: str) -> None:
        load_policy({"allowed_paths": [path]}, home="/home/ann")


class TestShortForms:
    def test_a_bare_name_is_a_prohibition(self) -> None:
        policy = load_policy("prohibitions: [DELETE, email.send, delete]")
        assert [ban.what for ban in policy.user_prohibitions] == ["DELETE", "email.send", "DELETE"]

    def test_a_class_in_small_letters_forbids_the_class(self) -> None:
        policy = load_policy({"denied_tools": ["delete", "read", "email.send"], "requires_approval": ["Execution"]})
        assert policy.denied_tools == ("DELETE", "read", "email.send")
        assert policy.requires_approval == ("EXECUTION",)

    def test_a_merged_mapping_is_read(self) -> None:
        policy = load_policy("permissions: [&a {capability: x.y, max_calls: 1}, {<<: *a, max_calls: 2}]")
        assert [row.max_calls for row in policy.permissions] == [1, 2]

    @pytest.mark.parametrize(
        ("amount", "text"), [("10", "10"), ("10.5", "10.5"), ("10.0", "10"), ("0.1234567", "0.1234567"), ("1e2", "100")]
    )
    def test_an_amount_is_exact(self, amount: str, text: str) -> None:
        policy = load_policy({"permissions": [{"capability": "payment.send", "max_amount": float(amount)}]})
        assert policy.permissions[0].max_amount == text

    def test_capability_risk_and_except_are_other_names(self) -> None:
        policy = load_policy(
            {"user_prohibitions": [{"capability": "email.send", "except": ["john@x.example"]}, {"risk": "financial"}]}
        )
        assert policy.user_prohibitions == (
            Prohibition(what="email.send", exceptions=Targets(recipients=("john@x.example",))),
            Prohibition(what="FINANCIAL"),
        )

    @pytest.mark.parametrize(
        ("target", "kinds"),
        [
            ("bob@x.example", {"recipients"}),
            ("@bob", {"recipients"}),
            ("#general", {"recipients"}),
            ("+49 170 1234567", {"recipients"}),
            ("DE89370400440532013000", {"recipients"}),
            ("example.com", {"domains"}),
            ("*.example.com", {"domains"}),
            ("https://user@example.com:8443/x?y", {"domains"}),
            ("~/notes", {"paths"}),
            ("/srv/x", {"paths"}),
            ("../x", {"paths"}),
            ("C:\\x", {"paths"}),
            ("branch:main", {"objects"}),
            ("report.pdf", {"paths", "objects"}),
            ("src/app", {"paths", "objects"}),
            ("Bob", {"recipients", "objects"}),
        ],
    )
    def test_targets_are_sorted_by_their_shape(self, target: str, kinds: set[str]) -> None:
        (ban,) = load_policy({"user_prohibitions": [{"what": "DELETE", "targets": [target]}]}).user_prohibitions
        assert {kind for kind in ("recipients", "domains", "paths", "objects") if getattr(ban.targets, kind)} == kinds

    def test_a_url_is_its_host(self) -> None:
        (ban,) = load_policy(
            {"user_prohibitions": [{"what": "web.read", "targets": ["https://u:p@a.example:1/x"]}]}
        ).user_prohibitions
        assert ban.targets.domains == ("a.example",)

    def test_dates_are_utc(self) -> None:
        for text in (
            "2026-05-04",
            "2026-05-04T00:00:00Z",
            "2026-05-04 00:00:00",
            '"2026-05-04T00:00"',
            "2026-05-04T02:00:00+02:00",
        ):
            assert load_policy(f"expires_at: {text}").expires_at == datetime(2026, 5, 4, tzinfo=UTC), text

    def test_numbers_become_texts_where_texts_are_due(self) -> None:
        policy = load_policy("permissions: [{capability: payment.send, max_amount: 10.50, values: {amount: 10}}]")
        assert policy.permissions[0].max_amount == "10.5"
        assert policy.permissions[0].values == {"amount": "10"}


class TestText:
    def test_faults_say_the_line(self) -> None:
        error = refused("purpose: x\ntool_constraints:\n  email.send: {allowed_paht: []}\n")
        assert str(error).startswith("line 3: tool_constraints.email.send.allowed_paht: unknown field")
        error = refused("purpose: x\nallowed_tools:\n  - email.send\n  - '*'\n")
        assert str(error).startswith("line 4: allowed_tools[1]: '*'")

    def test_a_key_that_stands_twice_is_refused(self) -> None:
        assert "line 2" in str(refused("allow_execution: false\nallow_execution: true\n"))
        assert "stands twice" in str(refused("tool_constraints:\n  a: {max_calls: 1}\n  a: {max_calls: 2}\n"))

    def test_an_alias_bomb_is_refused(self) -> None:
        bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        bomb += "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))
        assert "too many" in str(refused(bomb))

    def test_a_plain_alias_is_fine(self) -> None:
        policy = load_policy("allowed_tools: &t [file.read]\nrequires_approval: *t\n")
        assert policy.requires_approval == ("file.read",)

    @pytest.mark.parametrize(
        "text",
        [
            *("[" * 5_000, "{a: " * 500, "a: *b", "a: &a [*a]", "!!python/object/apply:os.system [ls]"),
            *("a: !!binary aGk=", "a: !!set {b}", "- a", "a: b: c", "\x00", "a: 1\n---\nb: 2", "? [a]\n: b"),
            *("purpose: \ud800", "a: 99999-99-99", "a: 1_000:99"),
        ],
    )
    def test_hostile_or_broken_text_is_a_policy_error(self, text: str) -> None:
        refused(text)


class TestMappings:
    @pytest.mark.parametrize(
        "value", [float("nan"), float("inf"), b"x", object(), 10**5000, {1: {2: 3}}, {"a": {b"x": 1}}], ids=range(7)
    )
    def test_values_that_no_policy_has_are_refused(self, value: object) -> None:
        for name in ("allowed_tools", "max_external_writes", "tool_constraints", "examples", "x"):
            refused({name: value})

    def test_cycles_and_depth_are_refused(self) -> None:
        cycle: dict[str, object] = {}
        cycle["a"] = cycle
        ring: list[object] = []
        ring.append(ring)
        deep: object = "x"
        for _ in range(100_000):
            deep = [deep]
        refused(cycle)
        refused({"allowed_tools": ring})
        refused({"allowed_tools": deep})

    def test_too_many_entries_are_refused(self) -> None:
        assert "entries" in str(refused({"allowed_tools": ["a"] * (LIMITS.policy_entries + 1)}))

    def test_as_many_as_the_limit_are_fine(self) -> None:
        load_policy({"allowed_recipients": [f"a{n}@x.example" for n in range(LIMITS.policy_entries - 10)]})


LETTERS = st.characters(codec="utf-8", categories=("L", "N", "Zs"))
WORDS = st.text(LETTERS, min_size=1, max_size=8).map(lambda text: f"a{text}z")
LISTS = st.lists(WORDS, max_size=3).map(tuple)
PAIRS = st.lists(st.tuples(WORDS, WORDS), max_size=2).map(tuple)
VALUES = st.dictionaries(WORDS, WORDS, max_size=2)
COUNTS = st.none() | st.integers(0, 10**6)
AMOUNTS = st.none() | st.decimals(0, 10**6, places=2).map(str)
TIMES = st.none() | st.datetimes(timezones=st.just(UTC))
TARGETS = st.builds(Targets, recipients=LISTS, domains=LISTS, paths=LISTS, objects=LISTS)
BOUNDS = st.builds(
    ToolConstraint, allowed_recipients=LISTS, allowed_objects=LISTS, max_calls=COUNTS, max_amount=AMOUNTS
)
ROWS = st.builds(
    Permission,
    capability=WORDS,
    recipients=LISTS,
    values=VALUES,
    max_calls=COUNTS,
    max_amount=AMOUNTS,
    needs_approval=st.booleans(),
    evidence=WORDS,
)
BANS = st.builds(Prohibition, what=WORDS, targets=TARGETS, exceptions=TARGETS, quote=WORDS)
DELTAS = st.builds(Delta, capability=WORDS, risk=WORDS, paths=LISTS, values=PAIRS)
GRANTS = st.builds(
    Grant,
    id=WORDS,
    tool=WORDS,
    arguments_digest=WORDS,
    answers=st.frozensets(WORDS, max_size=2),
    scope=st.sampled_from(Scope),
    max_calls=COUNTS,
    expires_at=st.none() | st.floats(0, 1e10),
    deltas=st.lists(DELTAS, max_size=2).map(tuple),
)
EXAMPLES = st.builds(Example, tool=WORDS, args=st.dictionaries(WORDS, st.none() | st.integers() | WORDS, max_size=2))
POLICIES = st.builds(
    TaskPolicy,
    purpose=WORDS,
    source=st.sampled_from(PolicySource),
    allowed_tools=LISTS,
    denied_tools=LISTS,
    allowed_risk_classes=st.lists(st.sampled_from(sorted(set(Risk) - {Risk.UNKNOWN})), max_size=3).map(tuple),
    allow_execution=st.booleans(),
    tool_constraints=st.dictionaries(WORDS, BOUNDS, max_size=2),
    max_external_writes=COUNTS,
    permissions=st.lists(ROWS, max_size=3).map(tuple),
    user_prohibitions=st.lists(BANS, max_size=3).map(tuple),
    grants=st.lists(GRANTS, max_size=2).map(tuple),
    created_at=TIMES,
    expires_at=TIMES,
    examples=st.lists(EXAMPLES, max_size=2).map(tuple),
)


@settings(max_examples=60, deadline=None)
@given(POLICIES)
def test_what_is_dumped_loads_back_unchanged(policy: TaskPolicy) -> None:
    plain = dump_policy(policy)
    assert load_policy(json.loads(json.dumps(plain)), home="") == policy


KEYS = st.text(max_size=8) | st.sampled_from(["what", "targets", "capability", "max_amount", "values"])
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | KEYS | st.sampled_from(["*", "/", "DELETE"])
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
FIELDS = st.sampled_from([*(field.name for field in fields(TaskPolicy)), "prohibitions", "x"])


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(FIELDS, JSON, max_size=4))
def test_any_mapping_is_a_policy_or_a_policy_error(data: dict[str, object]) -> None:
    try:
        assert isinstance(load_policy(data), TaskPolicy)
    except PolicyError as error:
        assert error.hint or error.field


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=60) | st.text("ab:-[]{}&*!#'\"\n ,|>?%@`", max_size=40))
def test_any_text_is_a_policy_or_a_policy_error(text: str) -> None:
    try:
        assert isinstance(load_policy(text), TaskPolicy)
    except PolicyError as error:
        assert str(error)


class TestSchema:
    def test_the_shipped_schema_has_not_drifted(self) -> None:
        shipped = resources.files("agentsfence_core").joinpath("policy.schema.json").read_text("utf-8")
        assert json.loads(shipped) == policy_schema(), "write policy_schema() into policy.schema.json"

    def test_the_schema_knows_every_field_and_both_names_of_prohibitions(self) -> None:
        properties = policy_schema()["properties"]
        assert isinstance(properties, dict)
        assert set(properties) == {*(field.name for field in fields(TaskPolicy)), "prohibitions"}
        assert all("description" in properties[name] for name in ("denied_tools", "expires_at", "prohibitions"))


class TestReviewedNames:
    """A reviewer's list: globs that name almost everything, and bans that forbid nothing."""

    @pytest.mark.parametrize("glob", ["*e*", "[!]a]*", "*.*", "?*a*", "*[a-z]"])
    def test_a_glob_that_names_most_capabilities_is_refused(self, glob: str) -> None:
        assert "allows everything" in str(refused({"allowed_tools": [glob]}))

    @pytest.mark.parametrize("glob", ["email.*", "*.read", "mcp_gmail_*", "file.*"])
    def test_an_ordinary_glob_loads(self, glob: str) -> None:
        assert load_policy({"allowed_tools": [glob]}).allowed_tools == (glob,)

    @pytest.mark.parametrize(
        ("field", "name", "meant"),
        [
            ("user_prohibitions", "deletes", "DELETE"),
            ("denied_tools", "flie.delete", "file.delete"),
            ("denied_tools", "comunication", "COMMUNICATION"),
        ],
    )
    def test_a_ban_that_is_a_slip_is_refused(self, field: str, name: str, meant: str) -> None:
        assert f"did you mean {meant}?" in str(refused({field: [name]}))

    @pytest.mark.parametrize("name", ["password.update", "my_own_tool", "mcp__x__delete_all", "crm.purge"])
    def test_a_ban_on_a_tool_of_ones_own_loads(self, name: str) -> None:
        assert load_policy({"denied_tools": [name]}).denied_tools == (name,)
