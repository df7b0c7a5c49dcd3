"""Which row a tool's name finds, and who may change it."""

from __future__ import annotations

import pytest

from agentsfence_core.classification.catalogue import Catalogue, builtin
from agentsfence_core.classification.classifier import classify
from agentsfence_core.classification.lexicon import LOOKS
from agentsfence_core.classification.vocabulary import vocabulary
from agentsfence_core.model import Action, Risk, Source, ToolCall
from agentsfence_core.ports import ToolMapping


def action(tool: str, catalogue: Catalogue | None = None, **args: object) -> Action:
    return classify(ToolCall(tool, args, workdir="/srv/w", home="/home/u"), catalogue or builtin())


@pytest.mark.parametrize(
    "name",
    [
        "mcp_gmail_send_email",
        "mcp__gmail__send_email",
        "gmail.send_email",
        "gmail-send-email",
        "gmail/sendEmail",
        "GmailSendEmail",
        "mcp_gmail_gmail_send_email",
        "send_email",
        "mcp__my-own-server__send_email",
    ],
)
def test_one_tool_has_one_row_in_every_naming_scheme(name: str) -> None:
    assert action(name, to="bob@example.com").capability == "email.send"


@pytest.mark.parametrize(
    ("name", "capability"),
    [
        ("mcp_slack_slack_post_message", "chat.send"),
        ("mcp_google_calendar_delete_event", "calendar.delete"),
        ("mcp_git_git_checkout", "git.update"),
        ("mcp_github_merge_pull_request", "repo.merge"),
        ("mcp_stripe_create_refund", "payment.refund"),
        ("mcp_filesystem_directory_tree", "file.read"),
        ("mcp_time_get_current_time", "translation.read"),
        ("mcp_kubernetes_pods_delete", "container.delete"),
        ("mcp_notion_API-post-page", "note.write"),
        ("Read", "file.read"),
        ("MultiEdit", "file.write"),
        ("functions.Read", "file.read"),
    ],
)
def test_usual_servers_are_known_by_name(name: str, capability: str) -> None:
    assert action(name).capability == capability


@pytest.mark.parametrize(
    ("name", "args", "capability"),
    [
        ("mcp_gmail_archive", {}, "email.update"),
        ("mcp_box_write_file", {"path": "a.txt"}, "drive.write"),
        ("mcp_linear_list_items", {}, "repo.read"),
    ],
)
def test_a_known_server_gives_its_subject_to_tools_without_a_row(
    name: str, args: dict[str, object], capability: str
) -> None:
    found = classify(ToolCall(name, args), builtin())
    assert found.capability.partition(".")[0] == capability.partition(".")[0]


def test_every_row_has_a_class() -> None:
    plans = [*builtin().bare.values(), *builtin().parts.values()]
    faulty = [
        plan.because
        for plan in plans
        for means in (plan.means, *plan.choices.values(), *(rule.means for rule in plan.rules))
        if means.risk is Risk.UNKNOWN and means.capability != "tool.unknown"
    ]
    assert faulty == []
    assert len(plans) > 2_000


def test_capabilities_of_rows_have_the_class_of_the_table() -> None:
    table = vocabulary()
    plans = [*builtin().bare.values(), *builtin().parts.values()]
    differ = {
        plan.means.capability for plan in plans if table.risk_of(plan.means.capability) not in {None, plan.means.risk}
    }
    assert differ == set()


def test_a_name_without_any_signal_is_unknown() -> None:
    found = action("frobnicate")
    assert (found.risk, found.capability, found.source) == (Risk.UNKNOWN, "tool.unknown", Source.NONE)


@pytest.mark.parametrize("name", ["transfer_to_billing_agent", "handoff_to_researcher", "mcp_foo_list_resources"])
def test_globs_come_before_verbs(name: str) -> None:
    found = action(name)
    assert found.risk is Risk.READ


def test_the_tool_part_of_an_unknown_server_never_turns_an_act_into_a_read() -> None:
    for name in (
        "mcp_billing_update_plan",
        "mcp_foo_finish",
        "mcp_ci_dispatch_agent",
        "mcp_foo_confirm_cost",
        "mcp_foo_purge_search",
        "mcp_delete_list_files_now",
    ):
        assert action(name).risk is not Risk.READ, name


@pytest.mark.parametrize(
    "verb", ["delete", "send", "create", "pay", "update", "share", "execute", "remove", "transfer"]
)
def test_the_name_of_a_server_never_hides_an_act(verb: str) -> None:
    plan = builtin().plan
    reads = [
        name
        for server in builtin().servers
        if server not in LOOKS  # ``fetch_share`` of no server named *fetch* fetches a share
        for name in (
            f"mcp_{server}_{verb}_thing",
            f"{server}_{verb}",
            f"mcp__{server}__{verb}_it",
            f"{server}_thing_{verb}",
        )
        if plan(name).means.risk is Risk.READ
    ]
    assert reads == []


@pytest.mark.parametrize("verb", ["delete", "send", "create", "pay", "share", "transfer"])
def test_a_server_whose_name_is_a_verb_hides_no_act_where_its_place_says_that_it_is_a_server(verb: str) -> None:
    assert action(f"mcp_fetch_{verb}_thing").risk is not Risk.READ
    assert action(f"mcp__fetch__{verb}_it").risk is not Risk.READ


class TestWhoMayChangeARow:
    def test_a_persons_settings_win(self) -> None:
        mine = ToolMapping("send_email", "note.write", "EXTERNAL_WRITE")
        assert action("send_email", builtin().extended([mine], [])).capability == "note.write"

    def test_settings_name_arguments(self) -> None:
        mine = ToolMapping("blast", "email.send", "COMMUNICATION", recipients=("crowd",), content=("words",))
        found = action("blast", builtin().extended([mine], []), crowd="bob@example.com", words="hi eve@example.net")
        assert found.worst.recipients == ("bob@example.com",)
        assert found.source is Source.SETTINGS

    def test_settings_match_globs(self) -> None:
        mine = ToolMapping("acme_*", "system.read", "READ")
        assert action("acme_frobnicate", builtin().extended([mine], [])).risk is Risk.READ

    def test_a_plugin_lowers_only_what_is_unknown(self) -> None:
        rows = [ToolMapping("frobnicate", "system.read", "READ"), ToolMapping("delete_file", "system.read", "READ")]
        catalogue = builtin().extended([], rows)
        assert action("frobnicate", catalogue).risk is Risk.READ
        assert action("delete_file", catalogue, path="/srv/w/a").risk is Risk.DELETE

    def test_a_plugin_raises(self) -> None:
        catalogue = builtin().extended([], [ToolMapping("read_file", "payment.send", "FINANCIAL")])
        assert action("read_file", catalogue, path="/srv/w/a").risk is Risk.FINANCIAL

    def test_a_hosts_words_raise_an_inferred_read(self) -> None:
        tools: list[dict[str, object]] = [
            {"name": "get_widget", "description": "Deletes the widget."},
            {"name": "list_gizmos", "annotations": {"destructiveHint": True}},
        ]
        catalogue = builtin().extended([], [], tools)
        assert action("get_widget", catalogue).risk is Risk.DELETE
        assert action("list_gizmos", catalogue).risk is Risk.DELETE

    def test_a_hosts_words_never_lower(self) -> None:
        tools: list[dict[str, object]] = [
            {"name": "frobnicate", "description": "Reads only.", "annotations": {"readOnlyHint": True}},
            {"name": "delete_widget", "description": "Get the widget", "annotations": {"readOnlyHint": True}},
        ]
        catalogue = builtin().extended([], [], tools)
        assert action("frobnicate", catalogue).risk is Risk.UNKNOWN
        assert action("delete_widget", catalogue).risk is Risk.DELETE

    def test_malformed_registrations_change_nothing(self) -> None:
        tools: list[dict[str, object]] = [{}, {"name": 3}, {"name": "x", "description": 7, "annotations": []}]
        catalogue = builtin().extended([], [], tools)
        assert action("read_file", catalogue, path="/a").risk is Risk.READ

    def test_the_built_in_catalogue_stays_as_it_was(self) -> None:
        builtin().extended([ToolMapping("read_file", "file.delete", "DELETE")], [])
        assert action("read_file", path="/a").risk is Risk.READ


def test_plans_are_remembered_up_to_a_bound() -> None:
    catalogue = builtin().extended([], [])
    for number in range(10_000):
        catalogue.plan(f"get_widget_{number}")
    assert len(catalogue._plans) <= 4_096
