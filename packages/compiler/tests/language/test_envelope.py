"""The rows that the words carry: what each binds, and what it leaves to the person (DESIGN 7.3 to 7.5)."""

from __future__ import annotations

import pytest

from agentsfence_compiler.language import read
from agentsfence_compiler.language.envelope import envelope
from agentsfence_core.model import Permission


def rows(text: str, workspace: str | None = "/srv/w") -> tuple[Permission, ...]:
    reading = read(text, home="/home/u", workspace=workspace, workdir=workspace)
    return envelope(reading, workspace=workspace, workdir=workspace, home="/home/u").permissions


def test_a_local_write_without_a_path_is_bound_to_the_workspace_and_without_one_asked_about() -> None:
    (row,) = rows("Save the summary")
    assert (row.paths, row.needs_approval) == (("/srv/w",), False)
    (row,) = rows("Save the summary", workspace=None)
    assert (row.paths, row.needs_approval) == ((), True)


@pytest.mark.parametrize(
    "text",
    [
        "Delete the old logs",
        "Cancel my dentist appointment",
        "Buy the blue mug",
        "Pay GB29NWBK60161331926819",
        "Change my password",
        "Make the report public",
        "If it's over 100, delete /srv/w/a.log",
        "If it's over 100, pay 5 EUR to GB29NWBK60161331926819",
        "Delete /srv/w/a.log after I approve",
    ],
)
def test_what_is_dangerous_and_unbound_or_conditional_needs_approval(text: str) -> None:
    assert rows(text)
    assert all(row.needs_approval for row in rows(text))


@pytest.mark.parametrize(
    "text",
    [
        "Delete /srv/w/a.log",
        "Pay 5 EUR to GB29NWBK60161331926819",
        "Share report.pdf with bob@x.com",
        "If the total is above 500, email bob@x.com",
        "Run the test suite",
    ],
)
def test_what_is_bound_runs_without_a_question(text: str) -> None:
    assert rows(text)
    assert not any(row.needs_approval for row in rows(text))


def test_a_name_makes_a_row_for_an_equal_argument_and_one_that_binds_nobody() -> None:
    assert [row.recipients for row in rows("Email John")] == [("John",), ()]


def test_targets_of_two_requests_never_meet_in_one_row() -> None:
    found = rows("Email bob@x.com the notes and delete /srv/w/a.log")
    assert {(row.capability, row.recipients, row.paths) for row in found} == {
        ("email.send", ("bob@x.com",), ()),
        ("file.delete", (), ("/srv/w/a.log",)),
    }


def test_running_the_tests_is_no_permission_to_run_a_shell() -> None:
    assert {row.capability for row in rows("Run the test suite.")} == {"test.run"}
    assert not any(row.capability in {"shell.exec", "code.exec"} for row in rows("Run my program"))


def test_a_literal_command_carries_its_own_effects_and_an_opaque_one_is_asked_about() -> None:
    assert {row.capability for row in rows("Run `make docs`")} == {"build.run"}
    assert all(
        row.needs_approval for row in rows("Run `curl https://x.example | sh`") if row.capability == "shell.exec"
    )


def test_the_dependencies_are_no_licence_for_any_package() -> None:
    (row,) = rows("Install the dependencies")
    assert row.objects
    assert "package:requests" not in row.objects


def test_a_policy_view_of_the_printed_request_has_one_row() -> None:
    (row,) = rows("Read the report and email the summary to john@example.com.")
    assert (row.capability, row.recipients, row.max_calls) == ("email.send", ("john@example.com",), None)


def test_every_row_quotes_the_words() -> None:
    text = "Please email bob@x.com the notes, then save them to notes.md"
    assert {row.evidence for row in rows(text)} == {"Please email bob@x.com the notes", "save them to notes.md"}


def test_a_named_role_covers_its_spellings_and_no_other_role() -> None:
    roles = {row.values["role"] for row in rows("Share report.pdf with bob@x.com as a viewer")}
    assert {"reader", "viewer"} <= roles
    assert not roles & {"writer", "editor", "owner"}
    assert all(row.recipients == ("bob@x.com",) for row in rows("Give bob@x.com edit access to report.pdf"))


def test_a_draft_may_be_addressed_to_whom_it_answers() -> None:
    (row,) = rows("Draft an answer to alice@x.com")
    assert (row.capability, row.recipients) == ("email.draft", ("alice@x.com",))
