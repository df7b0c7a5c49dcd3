"""The adapter contract: an adapter that keeps it passes, and one that is broken in any way it names fails."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from packages.core.tests.testkit.toy import Toy

from agentsfence_core.testkit.adapters import AdapterContract, home_in
from agentsfence_core.testkit.host import AdapterDriver, Place


class TestToy(AdapterContract):
    """An adapter that keeps the contract."""

    def make(self, place: Place) -> AdapterDriver:
        return Toy(place)


LONG = {"body": "x" * 300_000, "bcc": "eve@example.net"}
MUST_FAIL: list[tuple[str, str, dict[str, object], str]] = [
    # what is broken, the item that must fail, its parameters, a part of the message
    ("never runs anything", "what_the_words_ask_for_runs_once_with_its_own_arguments", {}, "ran 0 times"),
    ("never says what became of a call", "what_the_words_ask_for_runs_once_with_its_own_arguments", {}, "not done"),
    ("never runs anything", "a_read_runs_without_a_question", {}, "read_inbox ran 0 times"),
    ("ignores a block", "a_blocked_call_does_not_run", {}, "let through send_email.*Do not send anything"),
    ("runs first and checks later", "a_blocked_call_does_not_run", {}, "let through send_email"),
    ("says nothing to the agent", "a_blocked_call_does_not_run", {}, "all the agent was told"),
    ("ignores a block", "another_target_than_the_named_one_does_not_run", {}, "j0hn@example.com"),
    ("shows only the main argument", "every_argument_reaches_the_fence", {"args": {"bcc": "eve@example.net"}}, "copy"),
    ("shows long calls in part", "every_argument_reaches_the_fence", {"args": LONG}, "copy"),
    ("lets read tools pass", "a_tool_that_sounds_harmless_is_checked_too", {}, "private key"),
    ("checks only calls with arguments", "a_call_without_arguments_is_checked_too", {}, "let through delete_file"),
    ("answers the oldest question", "an_answer_is_for_the_question_that_was_shown", {}, "never answered this one"),
    ("begins anew at each start", "a_restart_of_the_host_forgets_nothing", {}, "started anew"),
    ("lets everything run before the first message", "a_call_before_any_message_does_not_run", {}, "no person"),
    ("believes a tool's description", "a_tool_that_nobody_knows_does_not_run", {}, "zorp_frobnicate"),
    ("remembers what was allowed", "a_ban_in_a_later_message_holds_at_once", {}, "after 1 that it may"),
    ("begins anew with each message", "a_later_message_forgets_nothing", {}, "no new count"),
    ("remembers what was allowed", "an_ended_policy_allows_nothing", {}, "the policy has ended"),
    ("takes a question for a yes", "a_question_without_a_person_does_not_run", {}, "ASK_USER, and nobody"),
    ("asks where nobody is", "a_question_without_a_person_does_not_run", {}, "ASK_USER, and nobody"),
    ("takes a question for a yes", "a_question_that_nobody_answers_does_not_run", {}, "has not answered"),
    ("takes every answer for a yes", "no_means_no", {}, "said no"),
    ("approves for longer than was said", "once_is_once", {}, "approved one call"),
    ("approves the tool instead of the call", "an_approval_covers_no_other_call", {}, "mallory@example.net"),
    ("remembers approvals itself", "a_grant_that_was_revoked_allows_nothing", {}, "one grant in the fence"),
    ("remembers what was allowed", "a_grant_that_was_revoked_allows_nothing", {}, "the grant was revoked"),
    ("does what the verdict says under shadow", "shadow_lets_a_question_through_and_no_ban", {}, "unsafe_shadow"),
    ("ignores a block", "shadow_lets_a_question_through_and_no_ban", {}, "ban holds|unsafe_shadow"),
    ("runs when the check crashes", "a_crash_of_the_evaluator_does_not_run_the_call", {}, "the check crashed"),
    ("runs when the state is gone", "a_state_that_cannot_be_read_runs_nothing", {}, "the state was damaged"),
    ("runs when the fence cannot start", "settings_that_cannot_be_read_run_nothing", {}, "the fence did not start"),
    ("takes the model's id for a key", "n_executions_are_charged_n_times", {}, "ran 1 times, not 3"),
    ("remembers what was allowed", "n_executions_are_charged_n_times", {}, "3 bodies ran and 1 calls were charged"),
    ("gives the charge back at once", "a_limit_holds_however_often_the_agent_tries", {}, "after 1 that it may"),
    ("gives back what failed", "a_body_that_fails_stays_charged", {}, "2 bodies ran and 0 calls were charged"),
    ("checks a stand-in first", "what_was_stopped_is_not_charged", {}, "nothing ran"),
    ("has a new key for a replay", "a_replay_of_an_unfinished_call_is_charged_once", {}, "played back as the same"),
    ("plays back without a check", "a_replay_of_a_finished_call_does_not_run_again", {}, "happen twice"),
    ("gives calls at once one answer", "calls_at_once_cannot_pass_a_limit_together", {}, "four calls came at once"),
    ("runs what others can still change", "arguments_changed_after_the_check_do_not_run", {"nested": False}, "mallory"),
    ("copies only the outside", "arguments_changed_after_the_check_do_not_run", {"nested": True}, "other arguments"),
    ("takes what a tool says for the person's words", "nothing_that_the_agent_reads_grants", {}, "mallory"),
    ("takes what a tool says for the person's words", "a_failing_tool_grants_nothing_either", {}, "mallory"),
    ("sends the conversation along", "a_later_message_carries_nothing_that_the_agent_read", {}, "mallory"),
    ("takes the agent's word for an answer", "arguments_answer_no_question", {}, "said nothing"),
]


@pytest.mark.parametrize(("fault", "item", "given", "message"), MUST_FAIL, ids=lambda value: str(value)[:60])
def test_a_broken_adapter_fails_the_item(
    fault: str, item: str, given: dict[str, object], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(AdapterContract):
        def make(self, place: Place) -> AdapterDriver:
            return Toy(place, fault)

    contract, home = Broken(), home_in(tmp_path, monkeypatch)
    method = getattr(contract, f"test_{item}")
    values = {"home": home, "monkeypatch": monkeypatch, **given}
    if "stage" in inspect.signature(method).parameters:
        values["stage"] = contract.staged(home)
    wanted = {name: values[name] for name in inspect.signature(method).parameters}
    with pytest.raises((AssertionError, pytest.fail.Exception), match=f"(?s){message}"):
        method(**wanted)


def test_each_item_of_the_contract_is_failed_by_some_broken_adapter() -> None:
    items = {name.removeprefix("test_") for name in dir(AdapterContract) if name.startswith("test_")}
    assert items == {item for _, item, _, _ in MUST_FAIL}


def test_what_runs_behind_the_hosts_back_is_seen_in_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(AdapterContract):
        def make(self, place: Place) -> AdapterDriver:
            return Toy(place, "runs once more in the background")

    contract = Broken()
    stage = contract.staged(home_in(tmp_path, monkeypatch))
    contract.test_what_the_words_ask_for_runs_once_with_its_own_arguments(stage)
    with pytest.raises(pytest.fail.Exception, match="2 bodies ran and 1 calls were admitted"):
        contract.finish(stage)
