"""What a message forbids, what it does not, and how far a ban reaches."""

# ruff: noqa: RUF001  (people write these characters)
from __future__ import annotations

import pytest

from agentsfence_compiler.language import mentions_authority, read
from agentsfence_core.model import Prohibition

FORBIDS = [
    "Please don't reply.",
    "Don’t send anything.",
    "dont delet anything",
    "DO NOT EMAIL ANYONE",
    "Never ever delete my files",
    "You mustn't share this",
    "You may not push to main.",
    "You shouldn't contact the customer",
    "Under no circumstance delete anything",
    "On no account should you transfer money",
    "Summarize my inbox without sending anything",
    "Summarise it but do not send it yet",
    "Reading only, no writes.",
    "No changes please.",
    "no emails",
    "No new files, please",
    "I do not want you to delete anything",
    "I don't want any emails sent",
    "I'd rather you didn't email them",
    "I'd prefer that you not send this",
    "Make sure you don't delete anything",
    "Make sure not to delete anything",
    "Be careful not to delete anything",
    "Avoid sending emails",
    "Avoid any purchases",
    "Stop sending emails",
    "Do not, under any circumstances, delete files",
    "Please do not make any changes",
    "It is forbidden to delete files",
    "You are not allowed to send messages",
    "You're not permitted to run commands",
    "Deleting files is prohibited",
    "Purchases are off limits",
    "The production database is off limits",
    "Nothing should be sent",
    "No files may be deleted",
    "Nobody should be emailed",
    "None of the files should be modified",
    "Files must never be deleted",
    "Do not let anything be deleted",
    "Leave the calendar alone",
    "Keep everything as it is",
    "Don't touch anything",
    "do nothing but read",
    "Just look, don't touch",
    "Look but don't touch anything",
    "read only",
    "Only read my mails",
    "this is read-only",
    "Don't spend any money",
    "Don't buy anything",
    "Do not post publicly",
    "Don't tweet",
    "Don't publish it",
    "don't commit or push",
    "Don't merge the PR",
    "Don't install any packages",
    "do not run any commands",
    "Don't execute code",
    "Don't open any PRs",
    "Don't change permissions",
    "Don't invite Bob",
    "Don't sned anything",
    "Absolutely no emails to customers",
    "No need to send it, and don't delete it",
    "Forget about sending the email, don't send it",
    "I forbid you to send emails",
    "Sending emails is not allowed",
    "You have no permission to delete",
    "Emails shouldn't be sent",
    "Don't you dare delete anything",
    "Whatever you do, don't delete the database",
    "Please, never send my data anywhere",
    "Do not\nemail anyone",
    "Don't\n  delete\nanything",
    "Check the logs; do not restart anything.",
    "Tell me what's in it, but don't open any links or send anything",
    "Don't do anything destructive",
    "Do not upload my files",
    "don't leak my data",
    "Not a single email should be sent",
    "Don't ever message my boss",
    "Cease all deletions",
    "do not modify or delete anything",
    "You can read everything but you cannot delete",
    "Don't download anything",
    "Refrain from posting",
    "Without deleting anything, free up space",
    "Please draft it but don't send",
    "draft a reply, do not send it",
    "no sending",
    "no deletions",
    "No purchases without my approval, and never delete anything",
    "Please no replies",
    "Skip the email, don't send it",
    "Do not use my credit card",
    "Don't book anything yet",
    "don't create any files",
    "Don't forward this to anyone.",
    "Don't let it send mails",
    "Please refrain from making purchases",
]

FORBIDS_NOTHING = [
    "Don't forget to email bob@x.com",
    "Do not hesitate to email bob@x.com",
    "no problem, send it to bob@x.com",
    "No worries, delete /tmp/a",
    "Find emails that don't mention pay",
    "List files that were never modified",
    "Why don't you email bob@x.com?",
    "I can't send emails from here",
    "I couldn't delete the file, please delete /tmp/a",
    "We don't sell to them; send the invoice to bob@x.com",
    "It won't break the bank",
    "I don't remember the order number",
    "I don't want to run into trouble",
    "If you don't find it, search the web",
    "Show me the mails I haven't answered",
    "What shouldn't I delete?",
    "How do I avoid sending mails twice?",
    "There's no email from Bob",
    "The email was not sent. Why?",
    "No more than 3 results please",
    "Which files can not be deleted?",
    "I have no idea how to send this",
    "I did not send the mail",
    "You don't need to send it",
    "The tests don't pass, fix them in /srv/a.py",
    "Is it not possible to delete?",
    "Explain why I must not delete system32",
    "Tell bob@x.com not to delete the file",
    "Email bob@x.com that he must not send the file",
    "Does this not send an email?",
    "Save it to /srv/w/do-not-delete.md",
    "My boss doesn't write emails",
    "The script that never deletes files is broken",
    "not sure, can you check?",
    "Not only summarize it but also email it to bob@x.com",
    "He said he would not pay. What now?",
    "Can't you just email bob@x.com?",
    "I never delete anything",
    "Nothing was sent",
    "Don't worry about it",
    "Don't just summarize it, email it to bob@x.com",
    "Don't stop until it is done",
    "there are no changes in the repo",
    "Without further ado, email bob@x.com the notes",
    "I got no reply",
    "Is read-only mode on?",
    "What does read-only mean?",
    "Nobody answered my email",
    "The file isn't deleted",
    "We have no meetings tomorrow",
    "Look for unread mails, if there are none, tell me",
    "I am not able to move the file to /tmp",
    "You never sent the email",
]


def what(text: str) -> set[str]:
    return {ban.what for ban in read(text).prohibitions}


def bans(text: str) -> tuple[Prohibition, ...]:
    return read(text, home="/home/u", workspace="/srv/w").prohibitions


@pytest.mark.parametrize("text", FORBIDS)
def test_a_ban_is_read_however_it_is_said(text: str) -> None:
    assert read(text).prohibitions
    assert mentions_authority(text)


@pytest.mark.parametrize("text", FORBIDS_NOTHING)
def test_a_negation_without_an_order_forbids_nothing(text: str) -> None:
    assert read(text).prohibitions == ()


@pytest.mark.parametrize(
    ("text", "covered"),
    [
        ("Don't send anything", {"COMMUNICATION", "web.post", "file.upload", "git.push"}),
        ("Don't delete anything", {"DELETE"}),
        ("Don't buy anything", {"FINANCIAL"}),
        ("Don't send money", {"FINANCIAL"}),
        ("Don't grant access", {"file.share", "access.grant"}),
        ("Don't make it public", {"PERMISSION_CHANGE"}),
        ("Don't run anything", {"EXECUTION"}),
        ("Email bob@x.com the summary without sending attachments", {"email.attach"}),
        ("Don't run the migration; run the unit tests", {"database.write"}),
        ("Don't touch the shared drive", {"drive.write", "drive.delete"}),
        ("Don't remember anything", {"memory.write"}),
    ],
)
def test_a_ban_covers_its_own_class_and_no_other(text: str, covered: set[str]) -> None:
    assert what(text) == covered


def test_a_ban_on_the_terminal_forbids_running_and_the_tools_by_name() -> None:
    assert {"EXECUTION", "terminal", "bash"} <= what("Don't use the terminal.")


def test_a_ban_on_any_change_covers_every_writing_class() -> None:
    assert {"LOCAL_WRITE", "EXTERNAL_WRITE", "DELETE", "PERMISSION_CHANGE"} <= what("Do not change anything.")


def test_read_only_forbids_everything_but_what_the_message_asks_for_itself() -> None:
    assert "COMMUNICATION" in what("Read-only please: what is in /srv/a.yaml?")
    assert "COMMUNICATION" not in what("This is read-only. Email the result to bob@x.com")


def test_only_read_bans_nothing_where_a_request_follows() -> None:
    assert what("Only read the first page, then email bob@x.com a summary.") == set()
    assert "DELETE" in what("Only read my mails.")


def test_a_named_target_narrows_a_ban_to_it() -> None:
    assert {ban.targets.recipients for ban in bans("don't email bob, email carol instead")} == {("bob",)}
    assert bans("Make no changes to a.py; edit /srv/w/b.py")[0].targets.paths == ("/srv/w/a.py",)
    assert {ban.targets.objects for ban in bans("Don't push to main. Push feature-x")} == {("branch:main",)}
    assert bans("Mail it to bob@x.com, not to bob@y.com")[0].targets.recipients == ("bob@y.com",)
    assert bans("Write to bob@x.com but leave carol@x.com out of it")[0].targets.recipients == ("carol@x.com",)


def test_a_ban_on_the_tests_is_about_the_tests_alone() -> None:
    assert all("**/tests/**" in ban.targets.paths for ban in bans("don't modify the tests, fix the bug in app.py"))


def test_an_exception_is_spared() -> None:
    assert bans("Don't send it to anyone except John")[0].exceptions.recipients == ("John",)
    assert bans("Don't send it to anyone except bob@x.com")[0].exceptions.recipients == ("bob@x.com",)
    keep = bans("Delete everything in /srv/w/tmp except /srv/w/tmp/keep.txt")
    assert [(ban.what, ban.targets.paths) for ban in keep] == [("DELETE", ("/srv/w/tmp/keep.txt",))]


def test_a_ban_on_something_described_spares_what_the_same_message_asks_for() -> None:
    (ban,) = bans("Don't delete the photos, delete /srv/w/old.log.")
    assert ban.exceptions.paths == ("/srv/w/old.log",)


def test_a_ban_on_everything_spares_nothing() -> None:
    assert not bans("Email bob@x.com. Actually, don't send anything.")[0].exceptions


@pytest.mark.parametrize(
    "text",
    [
        "Do not send anything unless I confirm.",
        "Don't delete anything without asking me",
        "Don't pay until I say so",
        "Ask me before deleting anything",
        "Check with me before sending it",
        "If the build fails, don't deploy.",
    ],
)
def test_a_ban_that_waits_for_the_person_is_a_question(text: str) -> None:
    reading = read(text)
    assert reading.prohibitions == ()
    assert reading.requires_approval
    assert mentions_authority(text)


def test_a_ban_counts_behind_a_reporting_colon_but_not_in_a_dictated_message() -> None:
    assert what("On Monday Bob wrote: the report. Do not delete it.") == {"DELETE"}
    assert what("Email bob@x.com: do not delete the file") == set()


def test_every_ban_quotes_the_words() -> None:
    text = "Summarize it, but please do not\nsend anything to anyone"
    assert all(ban.quote in text for ban in bans(text))


def test_a_limit_on_spending_is_no_ban() -> None:
    reading = read("Buy the X100. Don't spend more than $100.")
    assert reading.prohibitions == ()
    assert [r.max_amount for r in reading.requests] == ["100"]


@pytest.mark.parametrize("text", ["stop", "Please stop", "never mind", "forget it", "cancel that"])
def test_a_turn_that_calls_everything_off_forbids_everything_but_reading(text: str) -> None:
    assert {"COMMUNICATION", "DELETE", "EXECUTION", "LOCAL_WRITE"} <= what(text)
    assert mentions_authority(text)


@pytest.mark.parametrize(
    "text", ["Work only in /srv/app", "Limit yourself to /srv/app", "Don't touch anything outside /srv/app"]
)
def test_a_folder_to_stay_in_forbids_writing_elsewhere(text: str) -> None:
    found = {ban.what: ban.exceptions.paths for ban in bans(text)}
    assert found["LOCAL_WRITE"] == found["DELETE"] == ("/srv/app",)


def test_no_more_than_is_a_limit_and_nothing_but_a_request() -> None:
    assert what("Pay no more than 50 EUR to GB29NWBK60161331926819") == set()
    assert what("Delete nothing but /srv/app/tmp/a.log") == set()


def test_a_bare_name_that_is_spared_is_meant_in_the_folder_named() -> None:
    (ban,) = bans("Delete all files except a.txt in /srv/w/tmp")
    assert "/srv/w/tmp/a.txt" in ban.targets.paths
