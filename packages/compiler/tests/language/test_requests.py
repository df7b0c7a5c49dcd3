"""What a message asks for: verbs, parties, paths, counts; and what only looks like a request."""

from __future__ import annotations

import pytest

from agentsfence_compiler.language import Request, mentions_authority, read
from agentsfence_core.model import Risk


def requests(text: str) -> tuple[Request, ...]:
    return read(text, home="/home/u", workspace="/srv/w").requests


SENDS_TO_BOB = [
    "Email the summary to bob@x.com.",
    "hey can you email bob@x.com the slides thanks",
    "Could you please forward the invoice to bob@x.com? Thanks!",
    "could you shoot bob@x.com a quick note about lunch",
    "Would you mind sending the notes to bob@x.com?",
    "SEND THE REPORT TO BOB@X.COM",
    "Email the report to\nbob@x.com",
    "1. Read a.txt\n2. Email it to bob@x.com",
    "Step 1: summarize. Step 2: send to bob@x.com.",
    "Read the report, summarize it, and send that to bob@x.com",
    "Don't forget to email bob@x.com the slides.",
    "I can't send mails from my phone, so please email bob@x.com for me: running late.",
    "If you don't see errors, send the report to bob@x.com.",
    "There is no email from Bob; send him a note at bob@x.com.",
    "Let bob@x.com know that the parcel arrived",
    "Thank bob@x.com for the flowers by mail.",
    "drop bob@x.com a line",
    "get word to bob@x.com that it works",
    "Reply to bob@x.com that carol@x.com agrees",
    "Send bob@x.com the mail that carol@x.com wrote",
    "Send bob@x.com the mail carol@x.com sent",
    "Send the mail from alice@x.com to bob@x.com",
    "Ask bob@x.com to send the file to carol@x.com",
    "Tell bob@x.com carol@x.com is sick",
    "Send it to bob@x.com, carol@x.com said it is fine",
    "Send bob@x.com the notes and mention that carol@x.com agreed",
    "Email bob@x.com: please forward this to carol@x.com",
    "Email bob@x.com about the mail to carol@x.com",
    "Mail the photos to bob@x.com, not to bob@y.com",
    "Send this email:\nTo: bob@x.com\nSubject: hello\n\nPlease delete /srv/a and tell carol@x.com.",
    "The notes should be emailed to bob@x.com",
    "summarize the log to bob@x.com",
    "Email “bob@x.com” the summary.",
    "His address is bob@x.com. Send him the notes.",
    "Recipients: bob@x.com. Please send the minutes to them.",
]


@pytest.mark.parametrize("text", SENDS_TO_BOB)
def test_a_send_binds_the_one_it_is_for_and_nobody_else(text: str) -> None:
    sends = [r for r in requests(text) if Risk.COMMUNICATION in r.risks]
    assert {party for r in sends for party in r.recipients} == {"bob@x.com"}
    assert all("email.send" in r.capabilities for r in sends)
    assert mentions_authority(text)


ASKS_NOTHING = [
    "How do I send an email to bob@x.com?",
    "What does `rm -rf /srv/w` do?",
    "Explain how to delete /srv/w/a and push to main",
    "Could you explain how to delete /srv/w/a and email it to bob@x.com?",
    "Show me how to email bob@x.com",
    "List save and delete commands.",
    "Explain why save and delete differ in this editor.",
    "Describe the send and delete buttons",
    "list the update and delete endpoints",
    "the email from alice@x.com",
    "the email to bob@x.com",
    "Which customers asked for a refund this week?",
    "What would happen if I emailed bob@x.com?",
    "Would it be a good idea to buy the X100 now?",
    "Should I delete /srv/w/a?",
    "Did you email bob@x.com?",
    "I emailed bob@x.com yesterday",
    "Bob asked me to send the file to carol@x.com",
    "My boss wrote: send the numbers to mallory@x.com. Does that look like phishing?",
    "The mail says: forward this to mallory@x.com",
    "According to the mail I should transfer 300 EUR.",
    "Find the message not-alice@x.com sent me",
    "Find the mail that asks to delete /srv/w/a",
    "Notes about deleting old accounts: where are they?",
    "My colleague wants to delete /srv/w/a",
    "Is it safe to delete /srv/w/a?",
    "Compare copy and delete",
    "Look at the invoice bob@x.com sent",
    "He wrote “delete /srv/w/a” in the ticket",
    "Give me the command to delete /srv/w/a",
    "The drafts should be deleted",
    "It should not take long to update the file /tmp/x.",
    "Send me the summary",
    "Give me a summary of the report",
    "Translate to German: “Please email the contract to mallory@x.com today.”",
    "Could you check whether the refund for order 7 was paid?",
    "Give me a list of all e-mails about deleted accounts.",
]


@pytest.mark.parametrize("text", ASKS_NOTHING)
def test_explanations_questions_and_remarks_ask_for_nothing(text: str) -> None:
    assert requests(text) == ()


PATHS = [
    ("Save the summary to `/srv/w/s.md`.", "file.write", ("/srv/w/s.md",)),
    ("Save it as /srv/w/b.md instead.", "file.write", ("/srv/w/b.md",)),
    ("Save the notes to /srv/w/my notes.md please.", "file.write", ("/srv/w/my notes.md",)),
    ("Export the notes in /srv/w/a.md to /srv/w/a.html", "file.write", ("/srv/w/a.html",)),
    ("Fix the typo in /srv/w/README.md", "file.write", ("/srv/w/README.md",)),
    ("In /srv/w/app.py, replace foo with bar", "file.write", ("/srv/w/app.py",)),
    ("Rename the variable send_mail to deliver in /srv/w/mail.py", "file.write", ("/srv/w/mail.py",)),
    ("You may edit files under /srv/w/docs only.", "file.write", ("/srv/w/docs/",)),
    ("Create /srv/w/n.py with the code from /srv/w/t.py", "file.write", ("/srv/w/n.py",)),
    ("summary of /srv/w/a.md → /srv/w/b.md", "file.write", ("/srv/w/b.md",)),
    ("Create the directory /srv/w/newdir.", "folder.create", ("/srv/w/newdir",)),
    ("Copy /srv/w/a.txt to /srv/w/b.txt", "file.copy", ("/srv/w/b.txt",)),
    ("Move /srv/w/a.txt to /srv/w/b.txt", "file.move", ("/srv/w/a.txt", "/srv/w/b.txt")),
    ("Download https://example.com/a.pdf to /srv/w/a.pdf", "file.download", ("/srv/w/a.pdf",)),
    ("Delete /srv/w/a.txt and /srv/w/b.txt", "file.delete", ("/srv/w/a.txt", "/srv/w/b.txt")),
    ("Can you delete /srv/w/a.log?", "file.delete", ("/srv/w/a.log",)),
    ("Delete everything in /srv/w/tmp", "file.delete", ("/srv/w/tmp/",)),
    ("Clean up my Downloads", "file.delete", ("~/Downloads/",)),
    ("Remove the typo from /srv/w/README.md", "file.write", ("/srv/w/README.md",)),
    ("Run ./deploy.sh", "script.run", ("/srv/w/deploy.sh",)),
    ("Clone https://example.com/a/b into /srv/w/b", "git.update", ("/srv/w/b",)),
]


@pytest.mark.parametrize(("text", "capability", "paths"), PATHS)
def test_a_request_binds_the_paths_it_acts_on(text: str, capability: str, paths: tuple[str, ...]) -> None:
    assert [(r.capabilities, r.paths) for r in requests(text)] == [((capability,), paths)]


CAPABILITIES = [
    ("Run the test suite.", {"test.run"}),
    ("Run the unit tests with pytest", {"test.run"}),
    ("Build the project", {"build.run"}),
    ("Commit the staged changes with message fix.", {"git.commit"}),
    ("Cancel my dentist appointment on Monday.", {"calendar.delete"}),
    ("Reschedule my meeting to 2026-05-20", {"calendar.update"}),
    ("Order the blue mug in my cart.", {"purchase.order"}),
    ("Archive all newsletters", {"email.update"}),
    ("Label mails from bob@x.com as Work", {"email.update"}),
    ("Draft an answer to alice@x.com", {"email.draft"}),
    ("Create an event on Friday", {"calendar.create"}),
    ("Please pay the bill 'bill.txt' for me", {"payment.send"}),
    ("Adjust my rent payment accordingly", {"payment.schedule"}),
    ("Change my password", {"account.security"}),
    ("Open an issue in acme/app about the crash", {"issue.create"}),
    ("Merge PR #12", {"repo.merge"}),
    ("Remember that I prefer short answers.", {"memory.write"}),
    ("Make the report public", {"file.share"}),
    ("Read the report and email the summary to john@example.com.", {"email.send"}),
]


@pytest.mark.parametrize(("text", "capabilities"), CAPABILITIES)
def test_verb_and_noun_name_the_capability_and_nothing_beside_it(text: str, capabilities: set[str]) -> None:
    assert {name for r in requests(text) for name in r.capabilities} == capabilities


OBJECTS = [
    ("Push my branch feature-x to origin.", {"branch:feature-x", "remote:origin"}),
    ("Push to origin main", {"remote:origin", "branch:main"}),
    ("Install requests and numpy==1.2 with pip", {"package:requests", "package:numpy"}),
    ("Refund order 7", {"order:7"}),
    ("Close issue #42", {"issue:42"}),
    ("Open an issue in acme/app about the crash", {"repo:acme/app"}),
    ("Add bob@x.com to the participants of the 'Intro' event", {"event:Intro"}),
    ("Create an event titled 'Lunch' like the 'Dinner' event", {"event:Lunch"}),
]


@pytest.mark.parametrize(("text", "objects"), OBJECTS)
def test_literal_names_become_objects(text: str, objects: set[str]) -> None:
    assert {name for r in requests(text) for name in r.objects} == objects


def test_each_payment_keeps_its_own_party_and_amount() -> None:
    found = requests("send 10 € to GB29NWBK60161331926819 and 500 € to GB29NWBK60161331926820")
    assert [(r.recipients, r.max_amount) for r in found] == [
        (("gb29nwbk60161331926819",), "10"),
        (("gb29nwbk60161331926820",), "500"),
    ]


def test_a_folder_is_borrowed_by_the_next_request_of_the_same_kind_alone() -> None:
    first, second = requests("Clean up my Downloads and delete duplicates")
    assert first.paths == second.paths == ("~/Downloads/",)
    assert requests("List the files in /srv/w/tmp and delete the duplicates")[0].paths == ()


def test_cc_reaches_both_with_one_mail() -> None:
    (mail,) = requests("Send the report to bob@x.com, cc carol@x.com")
    assert mail.recipients == ("bob@x.com", "carol@x.com")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Create an event on Friday", 1),
        ("Send one email to bob@x.com", 1),
        ("Send two emails to bob@x.com", 2),
        ("Send the summary to bob@x.com", None),
        ("Send an email to each person", None),
        ("Book 5 hours on Friday", None),
        ("Send a few emails to bob@x.com", None),
    ],
)
def test_an_indefinite_object_counts_and_a_definite_one_does_not(text: str, count: int | None) -> None:
    assert [r.max_calls for r in requests(text)] == [count]


def test_conditions_and_approvals_are_noted() -> None:
    assert requests("If it's over 100, delete /srv/w/a.log")[0].conditional
    assert requests("email bob@x.com if the build is green")[0].conditional
    assert requests("If x is true, email bob@x.com; otherwise delete /srv/w/a")[1].conditional
    assert not requests("If possible, email bob@x.com")[0].conditional
    assert requests("Email bob@x.com the notes after I approve")[0].ask_first
    assert not requests("Delete /srv/w/a without asking me")[0].ask_first


def test_a_name_is_not_an_address_unless_the_person_wrote_it_down() -> None:
    (mail,) = requests("Email John")
    assert (mail.recipients, mail.names) == ((), ("John",))
    (mail,) = read("Email John", contacts={"john": "john@x.com"}).requests
    assert (mail.recipients, mail.names) == (("john@x.com",), ())
    (mail,) = read("Email Johnny", contacts={"john": "john@x.com"}).requests
    assert mail.recipients == ()


def test_roots_and_home_folders_bind_nothing() -> None:
    for text in ("Delete /", "Delete ~/", "Clean up /home/u", "Delete everything in /"):
        assert all(r.paths == () for r in requests(text)), text


def test_a_homoglyph_makes_another_address() -> None:
    assert requests("Email \u0430lice@x.com")[0].recipients != ("alice@x.com",)


def test_a_literal_command_is_kept_as_written() -> None:
    assert requests("Run `make docs`")[0].commands == ("make docs",)
    assert requests("Run npm test and tell me")[0].commands == ("npm test",)


@pytest.mark.parametrize(
    ("text", "recipients", "paths", "instead"),
    [
        ("also to carol@x.com please", ("carol@x.com",), (), False),
        ("sorry, I meant bob@y.com", ("bob@y.com",), (), True),
        ("b.md instead", (), ("/srv/w/b.md",), True),
    ],
)
def test_a_verbless_turn_continues_the_newest_request(
    text: str, recipients: tuple[str, ...], paths: tuple[str, ...], instead: bool
) -> None:
    reading = read(text, workspace="/srv/w")
    assert reading.continues
    assert [(r.recipients, r.paths, r.instead) for r in reading.requests] == [(recipients, paths, instead)]


@pytest.mark.parametrize("text", ["and on Saturday?", "shorter please", "thanks, what did the second section say?"])
def test_small_talk_continues_nothing(text: str) -> None:
    assert not read(text).continues
    assert read(text).requests == ()


def test_only_use_bounds_the_domains_and_a_host_for_reading_bounds_nothing() -> None:
    assert read("Only use docs.example.com. Find the limits.").only_domains == ("docs.example.com",)
    assert read("Only use utils.py as reference; look up the docs online.").only_domains == ()
    assert read("Read docs.example.com").only_domains == ()
    assert requests("post this to https://hooks.example.com/x")[0].domains == ("hooks.example.com",)


def test_a_bound_on_messages_bounds_the_task() -> None:
    assert read("Send at most two emails to bob@x.com").max_external_writes == 2


TALK = [
    "Summarize the attached report in five bullet points and highlight the risks",
    "Check my calendar and tell me when I'm free",
    "Look up the weather in Paris and suggest what to wear",
    "Find the cheapest flight to Rome next weekend",
    "Compare these two phones and recommend one",
    "Go through my inbox and flag anything urgent in your answer",
    "Figure out why the tests fail",
    "Review the code in src/ and point out bugs",
    "Please help me understand this error",
    "Analyze sales.csv and make a table of the top customers",
    "Make a list of all open tickets",
    "Write me an email I can send to my landlord",
    "Rewrite this paragraph",
    "Generate three ideas for a blog post",
    "Plan a trip to Japan",
    "Prepare a briefing for tomorrow",
    "Calculate the total of the invoices",
    "Count the lines in /srv/app/a.txt",
    "Show the differences between a.py and b.py",
    "Open the README and explain it",
    "Get the latest price of gold",
    "Give me an overview of the repo",
    "Tell me about the project",
    'Search the docs for "delete user"',
    "Watch the logs for errors",
    "Report on the status of the build",
    "Note that the deadline is Friday",
    "Note: the server is down",
    "Order the results by date",
    "Sort the list by name",
    "Filter the results",
    "Group the tickets by owner",
    "Book recommendations for the summer?",
    "Test results: what failed?",
    "Email from Bob: what does he want?",
    "Update on the project?",
    "Any updates from Carol?",
    "Save the date: May 4",
    "Call me Alex",
    "Call it a day",
    "Set aside the first file",
    "Put it in simple words",
    "Add up the numbers",
    "Change the tone of your answer",
    "Make it shorter",
    "Move on to the next topic",
    "Answer in German",
    "Reply in one word",
    "Send me the link",
    "Share your thoughts",
    "Post-mortem of the outage, please",
    "Play devil's advocate",
    "Run me through the plan",
    "Walk me through the code",
    "Keep it short",
    "Stop after three results",
    "Start with the newest file",
    "Pay attention to the dates",
    "Delete that from your answer",
    "Use British spelling",
    "Ignore the previous mail",
    "Skip the intro",
    "Include sources",
    "Mention the dates",
    "Format the answer as a table",
    "Print the contents of config.yaml",
    "Export is broken, why?",
    "Deploy failed again, what happened?",
    "Push notifications do not work, why?",
    "Commit history of main please",
    "Merge conflicts: how do I resolve them?",
    "Install instructions for numpy?",
    "Release notes for v2?",
]
"""Everyday words that begin with a verb, or with a noun that may be one, and change nothing."""


@pytest.mark.parametrize("text", TALK)
def test_everyday_talk_asks_for_nothing_and_forbids_nothing(text: str) -> None:
    reading = read(text, workspace="/srv/w")
    assert reading.requests == ()
    assert reading.prohibitions == ()


@pytest.mark.parametrize(
    ("text", "recipients"),
    [
        ("Make sure bob@x.com gets the report", ("bob@x.com",)),
        ("I'd like bob@x.com to receive the slides", ("bob@x.com",)),
        ("Get the report over to bob@x.com", ("bob@x.com",)),
        ("Forward Carol's message to bob@x.com", ("bob@x.com",)),
        ("pls fwd the invoice 2 bob@x.com thx", ("bob@x.com",)),
    ],
)
def test_paraphrases_of_a_send(text: str, recipients: tuple[str, ...]) -> None:
    assert [r.recipients + r.names for r in requests(text)] == [recipients]
