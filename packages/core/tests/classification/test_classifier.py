"""The layers meet the arguments: refinement, readers, dispatch, sniffing, content."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsfence_core.classification.catalogue import builtin
from agentsfence_core.classification.classifier import classify
from agentsfence_core.model import RANK, Action, Risk, Source, TargetKind, ToolCall


def action(tool: str, args: Mapping[str, object]) -> Action:
    return classify(ToolCall(tool, args, workdir="/srv/w", home="/home/u"), builtin())


REFINED: list[tuple[str, dict[str, object], Risk]] = [
    ("discord", {"action": "fetch_messages"}, Risk.READ),
    ("discord", {"action": "create_thread"}, Risk.COMMUNICATION),
    ("discord_admin", {"action": "list_roles"}, Risk.READ),
    ("discord_admin", {"action": "ban_member"}, Risk.PERMISSION_CHANGE),
    ("memory", {"action": "add", "content": "x"}, Risk.LOCAL_WRITE),
    ("memory", {"action": "remove"}, Risk.DELETE),
    ("memory", {"operations": [{"action": "add"}, {"action": "remove"}]}, Risk.DELETE),
    ("memory", {"operations": [{"action": "add"}]}, Risk.LOCAL_WRITE),
    ("cronjob", {"action": "list"}, Risk.READ),
    ("cronjob", {"action": "create", "prompt": "x"}, Risk.EXECUTION),
    ("process", {"action": "poll"}, Risk.READ),
    ("process", {"action": "write", "data": "rm -rf x"}, Risk.EXECUTION),
    ("send_message", {"action": "list"}, Risk.READ),
    ("send_message", {"target": "telegram:1", "message": "x"}, Risk.COMMUNICATION),
    ("str_replace_editor", {"command": "view", "path": "a"}, Risk.READ),
    ("str_replace_editor", {"command": "create", "path": "a"}, Risk.LOCAL_WRITE),
    ("browser_console", {}, Risk.READ),
    ("browser_console", {"expression": ""}, Risk.READ),
    ("browser_console", {"expression": "1+1"}, Risk.EXECUTION),
    ("browser_dialog", {"action": "dismiss"}, Risk.READ),
    ("computer", {"action": "screenshot"}, Risk.READ),
    ("computer", {"action": "type", "text": "x"}, Risk.EXECUTION),
    ("ha_call_service", {"domain": "notify", "service": "x"}, Risk.COMMUNICATION),
    ("ha_call_service", {"domain": "light", "service": "turn_on"}, Risk.EXTERNAL_WRITE),
    ("mcp_gmail_modify_email", {"addLabelIds": ["TRASH"]}, Risk.DELETE),
    ("mcp_gmail_modify_email", {"addLabelIds": ["Label_1"]}, Risk.EXTERNAL_WRITE),
    ("mcp_github_update_repository", {"repo": "r", "description": "x"}, Risk.EXTERNAL_WRITE),
    ("mcp_github_update_repository", {"repo": "r", "visibility": "public"}, Risk.PERMISSION_CHANGE),
    ("mcp_github_issue_read", {"method": "get"}, Risk.READ),
    ("honcho_profile", {}, Risk.READ),
    ("honcho_profile", {"card": ["x"]}, Risk.LOCAL_WRITE),
    ("manage_email", {"operation": "send"}, Risk.COMMUNICATION),
    ("manage_email", {"operation": "list"}, Risk.READ),
    ("manage_widgets", {"action": "delete"}, Risk.DELETE),
    ("manage_widgets", {"action": "list"}, Risk.READ),
    ("manage_widgets", {"action": "zzz"}, Risk.UNKNOWN),
    ("frobnicate", {"action": "list"}, Risk.UNKNOWN),
    ("frobnicate", {"sql": "SELECT 1"}, Risk.UNKNOWN),
    ("frobnicate", {"command": "ls"}, Risk.UNKNOWN),
    ("acme_cli", {"command": "rm x"}, Risk.DELETE),
    ("manage_widgets", {"action": "list", "operation": "delete"}, Risk.DELETE),
    ("mcp_x_view", {"command": "delete"}, Risk.DELETE),
    ("mcp_x_view", {"mode": "fast"}, Risk.READ),
    ("delete_widget", {"action": "list"}, Risk.DELETE),
]


@pytest.mark.parametrize(("tool", "args", "risk"), REFINED)
def test_an_argument_decides_what_a_multiplexed_tool_does(tool: str, args: dict[str, object], risk: Risk) -> None:
    assert action(tool, args).risk is risk


@pytest.mark.parametrize(
    "tool", ["discord", "discord_admin", "cronjob", "memory", "process", "skill_manage", "computer_use"]
)
def test_an_unknown_or_missing_action_is_the_tools_worst(tool: str) -> None:
    plan = builtin().plan(tool)
    worst = max([plan.means, *plan.choices.values()], key=lambda means: RANK[means.risk]).risk
    for args in ({}, {"action": "zzz"}, {"action": None}, {"action": 3}, {"action": ["zzz"]}):
        assert RANK[action(tool, cast("dict[str, object]", args)).risk] >= RANK[worst]


class TestLanguages:
    def test_a_command_under_any_key_is_read(self) -> None:
        for args in (
            {"command": "rm -rf build"},
            {"commands": ["ls", "rm x"]},
            {"cmd": ["rm", "x"]},
            {"command": "rm", "args": ["x"]},
            {"script": "true && rm x"},
            {"Command": "rm x", "description": "ls"},
            {"command": "ls", "Command": "rm x"},
            {"argv": ["bash", "-lc", "rm x"]},
        ):
            assert action("terminal", cast("dict[str, object]", args)).risk is Risk.DELETE, args

    def test_a_list_that_two_tools_read_in_two_ways_counts_both_ways(self) -> None:
        assert action("terminal", {"command": ["ls", "rm x"]}).risk is Risk.DELETE

    def test_a_terminal_without_a_command_is_unverified_execution(self) -> None:
        found = action("terminal", {})
        assert found.risk is Risk.EXECUTION
        assert TargetKind.PROGRAM in found.worst.unverified

    def test_several_commands_are_several_invocations(self) -> None:
        found = action("terminal", {"commands": ["rm a", "rm b"]})
        assert len({effect.invocation for effect in found.effects if effect.risk is Risk.DELETE}) == 2

    def test_the_calls_own_folder_is_where_paths_start(self) -> None:
        found = action("terminal", {"command": "rm a", "workdir": "/tmp/x"})
        assert "/tmp/x/a" in found.worst.paths

    def test_variables_that_steer_programs_make_a_command_unverified(self) -> None:
        found = action("terminal", {"command": "ls", "env": {"LD_PRELOAD": "/tmp/x.so"}})
        assert found.risk is Risk.EXECUTION
        assert action("terminal", {"command": "ls", "env": {"LANG": "C"}}).risk is Risk.READ

    def test_a_flag_of_the_caller_proves_nothing(self) -> None:
        found = action("kubectl", {"command": "kubectl delete pod x", "modifies_resource": "no"})
        assert RANK[found.risk] >= RANK[Risk.EXECUTION]

    def test_sql_decides_over_the_name(self) -> None:
        assert action("mcp_sqlite_read_query", {"query": "DELETE FROM t"}).risk is Risk.DELETE
        assert action("mcp_postgres_query", {"sql": "SELECT 'DROP TABLE users'"}).risk is Risk.READ
        assert action("mcp_foo_get_rows", {"sql": "DROP TABLE t"}).risk is Risk.DELETE
        assert action("mcp_github_search_code", {"q": "delete from users"}).risk is Risk.READ

    def test_the_method_of_a_request_decides_over_the_name(self) -> None:
        assert action("mcp_fetch_fetch", {"url": "https://a.com", "http_method": "POST"}).risk is Risk.EXTERNAL_WRITE
        assert action("mcp_http_get", {"url": "https://a.com", "method": "HEAD"}).risk is Risk.READ
        assert action("requests_post", {"url": "https://a.com", "data": {}}).risk is Risk.EXTERNAL_WRITE
        assert action("mcp_acme_get_thing", {"url": "https://a.com", "method": "POST"}).risk is Risk.EXTERNAL_WRITE

    def test_a_tool_that_posts_by_name_posts_without_a_method(self) -> None:
        for url in ("www.x.com", "https://x.com"):
            found = action("post_webpage", {"url": url, "content": "x"})
            assert (found.risk, found.capability) == (Risk.EXTERNAL_WRITE, "web.post")
        assert action("get_webpage", {"url": "www.x.com"}).risk is Risk.READ
        assert action("requests_post", {"url": "https://x.com", "method": "GET"}).risk is Risk.EXTERNAL_WRITE
        assert action("requests_get", {"url": "https://x.com", "method": "POST"}).risk is Risk.EXTERNAL_WRITE

    def test_an_answer_that_goes_into_a_file_writes_it(self) -> None:
        found = action("fetch", {"url": "https://x.com", "output_path": "a.bin"})
        assert (found.risk, found.worst.paths) == (Risk.LOCAL_WRITE, ("/srv/w/a.bin",))

    def test_a_graph_query_is_read_outside_its_quotes(self) -> None:
        for query, risk in (
            ("MATCH (n) RETURN n", Risk.READ),
            ("MATCH (n {name: 'delete me'}) RETURN n", Risk.READ),
            ("CREATE (n)", Risk.EXTERNAL_WRITE),
            ("MATCH (n) DETACH DELETE n", Risk.DELETE),
            ("MATCH (n {name: 'x}) DELETE n", Risk.DELETE),
        ):
            assert action("mcp_neo4j_read_cypher", {"query": query}).risk is risk, query

    def test_harmless_sql_does_not_lower_what_a_name_says(self) -> None:
        assert action("mcp_foo_delete_rows", {"sql": "SELECT 1"}).risk is Risk.DELETE
        assert action("mcp_foo_run_sql_thing", {"sql": "SELECT 1"}).risk is Risk.READ

    def test_a_question_in_words_is_no_sql(self) -> None:
        assert action("query", {"query": "what is new"}).risk is Risk.READ
        assert action("query", {"query": "/* x */ drop table t"}).risk is Risk.DELETE

    def test_a_url_that_is_a_script_runs_it(self) -> None:
        for url in ("javascript:fetch('//evil.com')", "data:text/html,<script>x</script>", "java\tscript:1"):
            assert action("browser_navigate", {"url": url}).risk is Risk.EXECUTION, url

    def test_a_patch_is_read_file_by_file(self) -> None:
        patch = "*** Begin Patch\n*** Delete File: /srv/w/a\n*** End Patch"
        assert action("patch", {"mode": "patch", "patch": patch}).risk is Risk.DELETE
        found = action("patch", {"mode": "replace", "path": "a.md", "old_string": "x", "new_string": "y"})
        assert (found.capability, found.worst.paths) == ("file.write", ("/srv/w/a.md",))

    def test_code_is_execution_that_nobody_verified(self) -> None:
        found = action("execute_code", {"code": "print(1)"})
        assert found.risk is Risk.EXECUTION
        assert TargetKind.PROGRAM in found.worst.unverified
        assert RANK[action("python_repl", {"query": "1"}).risk] >= RANK[Risk.EXECUTION]

    def test_a_pipeline_writes_where_a_stage_does(self) -> None:
        stages: list[object] = [{"$match": {}}]
        assert action("mcp_mongodb_aggregate", {"pipeline": stages}).risk is Risk.READ
        assert action("mcp_mongodb_aggregate", {"pipeline": [*stages, {"$out": "copy"}]}).risk is Risk.EXTERNAL_WRITE
        assert action("mcp_mongodb_aggregate", {"pipeline": '[{"$merge": {}}]'}).risk is Risk.EXTERNAL_WRITE

    def test_graphql_writes_by_mutation(self) -> None:
        assert action("graphql_query", {"query": "{ me { id } }"}).risk is Risk.READ
        assert action("graphql_query", {"query": "mutation { x }"}).risk is Risk.EXTERNAL_WRITE


SEND: dict[str, object] = {"to": "bob@example.com", "body": "x"}


@pytest.mark.parametrize(
    ("pattern", "secret"),
    [("BEGIN .*PRIVATE KEY", True), ("aws_secret_access_key", True), ("def main", False), ("password", False)],
)
def test_a_search_for_keys_reads_secrets(pattern: str, *, secret: bool) -> None:
    for tool, key in (("search_files", "pattern"), ("Grep", "pattern"), ("grep_search", "query")):
        found = {effect.capability for effect in action(tool, {"path": "~", key: pattern}).effects}
        assert ("secret.read" in found) is secret


class TestDispatch:
    @pytest.mark.parametrize(
        ("tool", "args"),
        [
            ("tool_call", {"name": "mcp_gmail_send_email", "arguments": SEND}),
            ("tool_call", {"name": "mcp_gmail_send_email", "arguments": json.dumps(SEND)}),
            ("use_mcp_tool", {"server_name": "gmail", "tool_name": "send_email", "arguments": json.dumps(SEND)}),
            (
                "multi_tool_use.parallel",
                {"tool_uses": [{"recipient_name": "functions.send_email", "parameters": SEND}]},
            ),
            ("batch", {"calls": [{"function": {"name": "send_email", "arguments": json.dumps(SEND)}}]}),
            ("tool_call", {"name": "tool_call", "arguments": {"name": "send_email", "arguments": SEND}}),
        ],
    )
    def test_the_inner_call_is_what_counts(self, tool: str, args: dict[str, object]) -> None:
        found = action(tool, args)
        assert (found.capability, found.worst.recipients) == ("email.send", ("bob@example.com",))

    def test_a_batch_has_the_effects_of_all(self) -> None:
        calls = [{"name": "read_file", "arguments": {"path": "a"}}, {"name": "delete_file", "arguments": {"path": "b"}}]
        found = action("batch", {"calls": calls})
        assert [effect.capability for effect in found.effects] == ["file.read", "file.delete"]
        assert [effect.invocation for effect in found.effects] == [0, 1]

    @pytest.mark.parametrize(
        "args", [{}, {"name": 3}, {"calls": []}, {"calls": ["x"]}, {"name": "tool_call"}, {"calls": [{}] * 100}]
    )
    def test_a_dispatch_that_cannot_be_read_is_unknown(self, args: dict[str, object]) -> None:
        assert action("batch", args).risk is Risk.UNKNOWN

    def test_nested_batches_do_not_multiply(self) -> None:
        entry: dict[str, object] = {"name": "read_file", "arguments": {"path": "a"}}
        for _ in range(5):
            entry = {"name": "batch", "arguments": {"calls": [entry] * 60}}
        start = time.process_time()
        assert action("tool_call", entry).risk is Risk.UNKNOWN
        assert time.process_time() - start < 2

    def test_endless_dispatch_is_unknown(self) -> None:
        args: dict[str, object] = {"name": "read_file", "arguments": {"path": "a"}}
        for _ in range(20):
            args = {"name": "tool_call", "arguments": args}
        assert action("tool_call", args).risk is Risk.UNKNOWN


class TestContent:
    @pytest.mark.parametrize(
        ("tool", "args", "content"),
        [
            ("mcp_gmail_send_email", {"to": "a@x.com", "subject": "s", "body": "b"}, {"subject", "body"}),
            ("mcp_slack_post_message", {"channel": "#g", "text": "x"}, {"text"}),
            ("write_file", {"path": "/srv/w/a.md", "content": "x"}, {"content"}),
            ("mcp_gmail_send_email", {"to": "a@x.com", "attachments": ["a"], "threadId": "t"}, set()),
            ("mcp_gmail_send_email", {"message": {"to": "a@x.com"}}, set()),
            ("write_file", {"path": "/srv/w/.git/hooks/pre-commit", "content": "x"}, set()),
            ("write_file", {"path": "/srv/w/a.py", "content": "x"}, set()),
            ("write_file", {"path": "/srv/w/AGENTS.md", "content": "x"}, set()),
            ("write_file", {"path": "/srv/w/requirements-dev.txt", "content": "x"}, set()),
            ("write_file", {"content": "x"}, set()),
            ("mcp_google_docs_create_document", {"title": "t", "content": "x"}, set()),
            ("terminal", {"command": "echo x"}, set()),
            ("execute_code", {"code": "1"}, set()),
        ],
    )
    def test_only_message_text_and_plain_files_are_content(
        self, tool: str, args: dict[str, object], content: set[str]
    ) -> None:
        assert action(tool, args).content == content


NAMES = (
    "read_file mcp_gmail_send_email terminal manage_x patch batch mcp_postgres_query fetch execute_code memory cronjob "
    "copy_file mcp_mongodb_aggregate graphql get_x delete_x"
).split()
KEYS = "to path command action url body query calls name arguments sql patch method".split()
TEXTS = ["rm x", "SELECT 1", "send_email", "a@x.com", "https://a.com", "~/.ssh", "[", '{"to": "a@x"}']
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30) | st.binary(max_size=20)
NAMED = st.sampled_from(KEYS) | st.text(max_size=5)
VALUES = st.recursive(
    LEAVES | st.sampled_from(TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMED, inner, max_size=3),
    max_leaves=8,
)


class TestTotality:
    @pytest.mark.parametrize("args", [None, [], "x", 3])
    def test_arguments_that_are_no_mapping_are_unknown(self, args: object) -> None:
        assert classify(ToolCall("read_file", cast("Mapping[str, object]", args)), builtin()).risk is Risk.UNKNOWN

    def test_keys_that_are_no_text_raise_nothing(self) -> None:
        args = cast("Mapping[str, object]", {3: "x", None: "y", ("a",): "z", "path": "/a"})
        assert action("read_file", args).risk is Risk.READ

    def test_a_name_of_absurd_length_is_unknown(self) -> None:
        assert action("get_" * 100_000, {}).risk is Risk.UNKNOWN

    @settings(max_examples=300, deadline=None)
    @given(st.sampled_from(NAMES) | st.text(max_size=40), st.dictionaries(NAMED, VALUES, max_size=4))
    def test_any_call_has_effects_and_the_same_ones_each_time(self, tool: str, args: dict[str, object]) -> None:
        found = action(tool, args)
        assert found.effects
        assert found.effects == action(tool, args).effects
        assert found.risk is max((effect.risk for effect in found.effects), key=lambda risk: RANK[risk])
        assert found.content <= set(args)


def test_the_source_says_which_layer_decided() -> None:
    assert action("read_file", {"path": "a"}).source is Source.CATALOGUE
    assert action("transfer_to_x", {}).source is Source.CATALOGUE
    assert action("rename_widget", {}).source is Source.VERB
    assert action("discord", {"action": "fetch_messages"}).source is Source.ARGUMENTS
    assert action("terminal", {"command": "ls"}).source is Source.SHELL
    assert action("frobnicate", {}).source is Source.NONE
