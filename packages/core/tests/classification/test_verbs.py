"""Tool names are read as a person reads them: position decides, nouns that look like verbs yield."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsfence_core.classification.names import fold_key, singular, words_of
from agentsfence_core.classification.verbs import infer, leading_verb
from agentsfence_core.model import Risk

# Where a row comes from: P = probes of earlier reviews ("a later token says it acts", "only reads"),
# N = the design's own examples, D = everyday tools of public agent benchmarks.
READS = [
    "get_send_status",  # N
    "order_history",  # N
    "payment_list",  # N
    "permissions_list",  # N
    "list_trash",  # N
    "get_reply_thread",  # P
    "get_wire_transfers",  # P
    "get_trade_history",  # P
    "directions",  # P
    "whoami",  # P
    "weather_forecast",  # P
    "conversations_history",  # P
    "conversations_search_messages",
    "iam_role_get",  # P
    "list_sent_messages",
    "API-post-search",
    "API-post-database-query",
    "API-get-users",
    "get_all_hotels_in_city",  # D
    "check_restaurant_opening_hours",  # D
    "get_contact_information_for_restaurants",  # D
    "AmazonViewSavedPaymentMethods",  # D
    "pods_log",
    "health_check",
    "take_screenshot",
    "track_package",
    "test_connection",
    "refund_status",
    "list_exports",
    "get_next_page",
    "open_file",
    "can_send_email",
    "is_deleted",
    "simulate_transfer",
    "get_delete_requests",
]
ACTS = [
    ("download_and_run", Risk.EXECUTION),  # N
    ("status_update", Risk.EXTERNAL_WRITE),  # N
    ("find_one_and_replace", Risk.EXTERNAL_WRITE),  # P
    ("get_or_create_user", Risk.EXTERNAL_WRITE),  # P
    ("conversations_add_message", Risk.COMMUNICATION),  # N
    ("API-post-page", Risk.EXTERNAL_WRITE),  # N
    ("API-delete-a-block", Risk.DELETE),
    ("API-create-a-comment", Risk.COMMUNICATION),
    ("trello_list_move_cards", Risk.EXTERNAL_WRITE),  # P
    ("mastodon_status_create", Risk.EXTERNAL_WRITE),  # P
    ("github_check_run_create", Risk.EXTERNAL_WRITE),  # P
    ("query_cache_clear", Risk.DELETE),  # P
    ("preview_deploy", Risk.EXTERNAL_WRITE),  # P
    ("retrieve_and_charge", Risk.FINANCIAL),  # P
    ("get_and_set", Risk.EXTERNAL_WRITE),  # P
    ("stat_reset", Risk.EXTERNAL_WRITE),  # P
    ("list_unsubscribe", Risk.EXTERNAL_WRITE),  # P
    ("check_out_book", Risk.EXTERNAL_WRITE),  # P
    ("status_page_resolve", Risk.EXTERNAL_WRITE),  # P
    ("get_and_send_report", Risk.COMMUNICATION),
    ("data_fetch_and_execute", Risk.EXECUTION),
    ("files_list_then_delete", Risk.DELETE),
    ("sign_document", Risk.EXTERNAL_WRITE),
    ("process_payment", Risk.FINANCIAL),
    ("confirm_delete", Risk.DELETE),
    ("batch_delete_emails", Risk.DELETE),
    ("submit_order", Risk.FINANCIAL),
    ("create_refund", Risk.FINANCIAL),
    ("transfer_ownership", Risk.PERMISSION_CHANGE),
    ("create_api_key", Risk.PERMISSION_CHANGE),
    ("attach_user_policy", Risk.PERMISSION_CHANGE),
    ("update_password", Risk.PERMISSION_CHANGE),  # D
    ("disable_two_factor_authentication", Risk.PERMISSION_CHANGE),  # D
    ("schedule_transaction", Risk.FINANCIAL),  # D
    ("reserve_hotel", Risk.FINANCIAL),  # D
    ("add_calendar_event_participants", Risk.COMMUNICATION),  # D
    ("email_customers", Risk.COMMUNICATION),
    ("post_status", Risk.COMMUNICATION),
    ("change_details", Risk.EXTERNAL_WRITE),
    ("mark_as_read", Risk.EXTERNAL_WRITE),
    ("log_call", Risk.EXTERNAL_WRITE),
    ("download_report", Risk.LOCAL_WRITE),
    ("void_payment", Risk.FINANCIAL),
    ("request_refund", Risk.FINANCIAL),
    ("enable_autopay", Risk.FINANCIAL),
    ("log_out", Risk.EXTERNAL_WRITE),
    ("report_user", Risk.EXTERNAL_WRITE),
    ("sort_range", Risk.EXTERNAL_WRITE),
    ("lights_off", Risk.EXTERNAL_WRITE),
    ("make_public", Risk.PERMISSION_CHANGE),
    ("place_call", Risk.COMMUNICATION),
]
SAY_NOTHING = ["foo", "bar_baz", "sync_folders", "manage_email", "process_it", "handle_request_thing", "check_in", ""]


@pytest.mark.parametrize("name", READS)
def test_what_only_looks_is_a_read(name: str) -> None:
    reading = infer(words_of(name))
    assert reading is not None
    assert reading.risk is Risk.READ


@pytest.mark.parametrize(("name", "risk"), ACTS)
def test_what_acts_has_the_class_of_its_act(name: str, risk: Risk) -> None:
    reading = infer(words_of(name))
    assert reading is not None
    assert reading.risk is risk


@pytest.mark.parametrize("name", [name for name in SAY_NOTHING if name != "check_in"])
def test_check_sync_manage_process_and_handle_prove_nothing(name: str) -> None:
    assert infer(words_of(name)) is None


@pytest.mark.parametrize(
    ("name", "capability"),
    [
        ("update_password", "account.security"),
        ("schedule_transaction", "payment.schedule"),
        ("delete_email", "email.delete"),
        ("stat_reset", "stat.reset"),
        ("rename_widget", "widget.rename"),
        ("status_update", "status.update"),
    ],
)
def test_a_capability_names_what_is_done_and_is_never_a_bucket(name: str, capability: str) -> None:
    reading = infer(words_of(name))
    assert reading is not None
    assert reading.capability == capability


def test_two_acts_on_different_things_never_share_an_inferred_capability() -> None:
    first, second = infer(words_of("rename_widget")), infer(words_of("rename_gadget"))
    assert first is not None
    assert second is not None
    assert first.capability != second.capability


def test_a_description_is_read_by_the_verb_that_opens_it() -> None:
    assert leading_verb("Deletes the whole mailbox.") is Risk.DELETE
    assert leading_verb("Send a message to someone") is Risk.COMMUNICATION
    assert leading_verb("Returns the weather; deletes nothing") is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mcp__gmail__sendMessage", ("mcp", "gmail", "send", "message")),
        ("API-post-search", ("api", "post", "search")),
        ("GmailSendEmail", ("gmail", "send", "email")),
        ("HTTPRequest", ("http", "request")),
        ("chat.postMessage", ("chat", "post", "message")),
        ("server/tool:read", ("server", "tool", "read")),
    ],
)
def test_names_are_split_on_separators_and_camel_case(name: str, words: tuple[str, ...]) -> None:
    assert words_of(name) == words


def test_a_name_of_absurd_length_says_nothing() -> None:
    assert words_of("get_" * 100_000) == ()


def test_plurals_meet_the_singular_nouns_of_the_table() -> None:
    assert [singular(word) for word in ("emails", "repositories", "branches", "status", "address", "files")] == [
        "email",
        "repository",
        "branch",
        "status",
        "address",
        "file",
    ]


@given(st.text(max_size=300))
def test_reading_any_name_never_raises(name: str) -> None:
    infer(words_of(name))
    leading_verb(name)
    assert fold_key(name) == fold_key(fold_key(name))
