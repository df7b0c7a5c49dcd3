"""Kinds of sentences that once were read wrongly: several of each, in other words than those that showed the fault."""

# ruff: noqa: RUF001  (people write these characters)
from __future__ import annotations

import pytest

from agentsfence_compiler.isolation import isolate
from agentsfence_compiler.language import mentions_authority, read
from agentsfence_compiler.language.envelope import envelope
from agentsfence_core.model import Permission, Prohibition


def rows(text: str) -> tuple[Permission, ...]:
    reading = read(text, home="/home/u", workspace="/srv/w")
    return envelope(reading, workspace="/srv/w", workdir="/srv/w", home="/home/u").permissions


def bans(text: str) -> set[str]:
    return {ban.what for ban in read(text, home="/home/u", workspace="/srv/w").prohibitions}


def bound(row: Permission) -> tuple[str, ...]:
    return (*row.recipients, *row.paths, *row.objects)


REQUESTS = [
    # a request behind a named object
    ("Delete the old branch feature-x and push main to origin", "git.push", ("branch:main", "remote:origin")),
    ("Merge feature-y and push develop", "git.push", ("branch:develop",)),
    ("Read /srv/w/a.md and text carol@x.example", "message.send", ("carol@x.example",)),
    ("Look at src/app.py and merge develop", "git.update", ("/srv/w",)),
    ("Check bob@x.example and email carol@x.example the answer", "email.send", ("carol@x.example",)),
    # people before or after a clause, by medium
    ("Send information about what food they serve to Bob via direct message", "message.send", ("Bob",)),
    ("Forward what he said about the offer to carol@x.example", "email.send", ("carol@x.example",)),
    ("Send a note on how it went to Anna by email", "email.send", ("Anna",)),
    ("Share the result with ruth@x.example by email.", "email.send", ("ruth@x.example",)),
    ("Share the numbers with ruth@x.example via mail", "email.send", ("ruth@x.example",)),
    # name and address of one person
    ("Invite Dora to Slack. Her address is dora@x.example.", "chat.admin", ("dora@x.example", "Dora")),
    ("Invite Dora (dora@x.example) to Slack", "chat.admin", ("dora@x.example", "Dora")),
    # a file by bare name is in the folder or in the drive
    ("Create a new file named 'plan.docx' with the list", "drive.write", ("file:plan.docx",)),
    ("Append the total to the file 'costs.xlsx'", "drive.write", ("file:costs.xlsx",)),
    ("Save it as notes.docx", "drive.write", ("file:notes.docx",)),
    # comments on a numbered thing
    ("Comment on issue 17 in acme/web that it is fixed", "comment.create", ("issue:17", "repo:acme/web")),
    ("Leave a comment on PR 12 in acme/web", "comment.create", ("pr:12", "repo:acme/web", "issue:12")),
    ("Reply on issue #7 in acme/api: thanks", "comment.create", ("issue:7", "repo:acme/api")),
    # known folders stay as written
    ("Clean up my Downloads", "file.delete", ("~/Downloads/",)),
    ("Delete ~/Desktop/old.txt", "file.delete", ("~/Desktop/old.txt",)),
    # a command typed as the message
    ("`git push origin main`", "git.push", ("remote:origin", "branch:main")),
    ("npm install lodash please", "package.install", ("package:lodash",)),
    ("git push origin main", "git.push", ("remote:origin", "branch:main")),
    ("pip install requests", "package.install", ("package:requests",)),
    ("git tag v2.0.1", "git.branch", ("tag:v2.0.1",)),
    # tools, branches, versions, scripts
    ("Format /srv/w/main.py with black", "lint.run", ("/srv/w/main.py",)),
    ("Switch to the branch develop", "git.branch", ("/srv/w", "branch:develop")),
    ("Switch to feature-x", "git.branch", ("/srv/w", "branch:feature-x")),
    ("Tag this commit v1.2.0", "git.branch", ("/srv/w", "tag:v1.2.0")),
    ("Run python scripts/gen.py", "script.run", ("/srv/w/scripts/gen.py",)),
    ("Run bash tools/seed.sh", "script.run", ("/srv/w/tools/seed.sh",)),
    # other ways to say it
    ("Announce the release in #releases on Slack.", "chat.send", ("#releases",)),
    ("Get rid of /srv/w/dump.bin", "file.delete", ("/srv/w/dump.bin",)),
    ("I can't find my notes, so start a new file /srv/w/n.md.", "file.write", ("/srv/w/n.md",)),
    ("What I need now: an overview of the offer, saved to /srv/w/o.md.", "file.write", ("/srv/w/o.md",)),
    ("I'd like the report sent to bob@x.example today.", "email.send", ("bob@x.example",)),
    ("All I want is the minutes, emailed to bob@x.example.", "email.send", ("bob@x.example",)),
    ("Delete the .tmp files in /srv/w/cache", "file.delete", ("/srv/w/cache/**.tmp",)),
    ("Delete *.bak in /srv/w/old", "file.delete", ("/srv/w/old/**.bak",)),
    ("Remove all .log and .tmp files in /srv/w/x", "file.delete", ("/srv/w/x/**.log", "/srv/w/x/**.tmp")),
    ("Restart nginx on this host.", "process.control", ("nginx",)),
    ("Turn off the kitchen lights", "home.control", ("service:turn_off", "service:off")),
    # templates: what the person wrote of them
    ("Add an event called 'Booking {hotel}' to my calendar", "calendar.create", ("event:Booking *",)),
    ("Add an event. The title should be 'Dinner at {place}'.", "calendar.create", ("event:Dinner at *",)),
    # courtesies between commas
    ("Перешли, пожалуйста, счёт на buh@x.example.", "email.send", ("buh@x.example",)),
    ("Envoie, s'il te plaît, le rapport à ana@x.example.", "email.send", ("ana@x.example",)),
    ("Envía, por favor, el informe a ana@x.example.", "email.send", ("ana@x.example",)),
    ("Sende, bitte, den Bericht an ana@x.example.", "email.send", ("ana@x.example",)),
]


@pytest.mark.parametrize(("text", "capability", "targets"), REQUESTS)
def test_a_request_binds_what_it_names(text: str, capability: str, targets: tuple[str, ...]) -> None:
    assert (targets, False) in [
        (bound(row), row.needs_approval) for row in rows(text) if row.capability == capability
    ], rows(text)
    assert mentions_authority(text)


ASKS = [
    ("Check how much they sent me and send them back the difference", "payment.send"),
    ("Find out how much I owe him and pay him", "payment.send"),
    ("He paid too much. Give him back the rest.", "payment.send"),
    ("Look up what Bob transferred to me and return the difference to him", "payment.send"),
    ("Also, refund that 10.00 I just got", "payment.refund"),
    ("Update my standing orders accordingly", "payment.schedule"),
    ("Set my address to this address: 1 Elm Street, Town and update my standing orders", "payment.schedule"),
    ("Note that you first have to invite Dora to Slack", "chat.admin"),
    ("Keep in mind that you also need to delete the old backups", "file.delete"),
    ("Every Monday at 9, send the report to bob@x.example", "schedule.create"),
    ("Every morning summarize my inbox", "schedule.create"),
    ("Check the build every 2 hours", "schedule.create"),
    ("Each Friday evening email bob@x.example the numbers", "schedule.create"),
    ("Build the project with make", "build.run"),
]


@pytest.mark.parametrize(("text", "capability"), ASKS)
def test_a_request_without_a_literal_asks_and_is_no_remark(text: str, capability: str) -> None:
    assert any(row.needs_approval for row in rows(text) if row.capability == capability), rows(text)
    assert mentions_authority(text)


NOTHING = [
    "git push is broken on my machine",
    "npm install fails with an error, why?",
    "docker build keeps failing",
    "pytest fails",
    "go test your patience",
    "find my keys",
    "git commit messages should be short",
    "Tag the photo with 2024",
    "Switch to dark mode",
    "Open a file",
    "Format the answer as a table",
    "Note that the docs say you have to delete the cache",
    "He told me that you need to email bob@x.example",
    "I need to know what was sent to bob@x.example",
    "I need the mail sent to bob@x.example yesterday",
    "The summary saved to /srv/w/a.md is wrong.",
    "I need the file that Bob saved to /srv/w/a.md explained.",
    "One day we should publish the package and invite more maintainers.",
    "They could delete the branches and push to main some day.",
    "What happens every Monday?",
    "Explain how much it costs and how to refund it",
    "¿Debo enviar el contrato a lisa@x.example?",
    "Dois-je envoyer le contrat à lisa@x.example ?",
    "Devo inviare il contratto a lisa@x.example?",
    "Devo enviar o contrato para lisa@x.example?",
    "Стоит ли отправить договор на lisa@x.example?",
    "هل يجب أن أرسل العقد إلى lisa@x.example؟",
    "この契約書を lisa@x.example に送るべきですか？",
    "계약서를 lisa@x.example 에게 보내야 하나요?",
]


@pytest.mark.parametrize("text", NOTHING)
def test_what_only_looks_like_a_request_asks_for_nothing(text: str) -> None:
    assert rows(text) == ()


FORBIDS = [
    # lists of bans
    ("Don't:\n- push to main\n- delete branches", {"git.push", "git.delete"}),
    ("You must not:\n1. send emails\n2. delete anything", {"COMMUNICATION", "DELETE"}),
    ("Never do any of the following:\n- send mails\n- delete files", {"COMMUNICATION", "DELETE"}),
    ("Do not: send mails, delete files or run commands.", {"COMMUNICATION", "DELETE", "EXECUTION"}),
    ("Don't do any of these: (a) send mails, (b) delete files", {"COMMUNICATION", "DELETE"}),
    ("Forbidden:\n- sending mails\n- deleting files", {"COMMUNICATION", "DELETE"}),
    # alternatives
    ("Don't delete files, send mails or run commands.", {"DELETE", "COMMUNICATION", "EXECUTION"}),
    ("Never send mails, delete files, or push.", {"COMMUNICATION", "DELETE", "git.push"}),
    ("Summarize it without sending mails or deleting files", {"COMMUNICATION", "DELETE"}),
    ("Don't skip the tests or delete them", {"DELETE"}),
    # said with other words
    ("I must insist that you send no messages whatsoever.", {"COMMUNICATION"}),
    ("I ask that you not delete anything.", {"DELETE"}),
    ("It's essential that you don't pay anyone.", {"FINANCIAL"}),
    ("Note that you must not send anything", {"COMMUNICATION"}),
    ("Keep in mind that you should delete nothing", {"DELETE"}),
    ("Not a single email may go out.", {"COMMUNICATION"}),
    ("No data may leave this machine.", {"COMMUNICATION"}),
    ("No deployment must happen today", {"deploy.run"}),
    ("Ensure that no messages are sent while you test this.", {"COMMUNICATION"}),
    ("Make sure that nothing is deleted", {"DELETE"}),
    ("I won't allow you to modify the config.", {"file.write"}),
    ("I can't let you send this", {"COMMUNICATION"}),
    ("Don't let it delete files", {"DELETE"}),
    ("Under no condition may you deploy to production.", {"deploy.run"}),
    ("Don't write to any hotel", {"COMMUNICATION"}),
    ("Find the duplicates, but leave them in place: no removing, no renaming.", {"DELETE", "file.move"}),
    # as one types
    ("Please do'nt delete the folder", {"DELETE"}),
    ("You should'nt send it", {"COMMUNICATION"}),
    ("Summarize the notes w/o sending them to anybody.", {"COMMUNICATION"}),
    ("Summarize it here.Don't send anything.", {"COMMUNICATION"}),
    # other languages
    ("Bitte nicht:\n- Mails senden\n- Dateien löschen", {"COMMUNICATION", "DELETE"}),
    ("Ne pas:\n- envoyer de mails\n- supprimer /srv/w/a", {"COMMUNICATION", "DELETE"}),
    ("Bitte sende keine Mails oder lösche Dateien", {"COMMUNICATION", "DELETE"}),
    ("Verschick auf keinen Fall etwas", {"COMMUNICATION"}),
    ("Schreib niemandem.", {"COMMUNICATION"}),
    ("Es ist verboten, Mails zu senden.", {"COMMUNICATION"}),
    ("Interdiction de supprimer des fichiers.", {"DELETE"}),
    ("Prohibición de borrar archivos.", {"DELETE"}),
    ("Divieto di inviare mail.", {"COMMUNICATION"}),
    ("لخص بريدي الوارد ولا ترسل أي شيء.", {"COMMUNICATION"}),
    ("削除禁止。", {"DELETE"}),
    ("送信禁止", {"COMMUNICATION"}),
]


@pytest.mark.parametrize(("text", "what"), FORBIDS)
def test_a_ban_covers_each_of_its_verbs(text: str, what: set[str]) -> None:
    assert what <= bans(text)
    assert rows(text) == () or "file.write" in what
    assert mentions_authority(text)


HARMLESS = [
    "Explain the readonly keyword in TypeScript.",
    "Find all read-only files",
    "Don't skip any tests, run them all.",
    "Don't ignore the warnings",
    "Don't leave out the appendix when you email bob@x.example the thesis.",
    "किसने अभी तक भुगतान नहीं किया?",
    "किसको मेल नहीं भेजा गया?",
    "I don't allow myself to delete anything",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_a_negation_that_forbids_nothing_is_no_ban(text: str) -> None:
    assert bans(text) == set()


def test_a_ban_on_everybody_spares_those_whom_the_message_names() -> None:
    for text in ("Don't reply to all; reply to ann@x.example alone.", "Don't email everyone, email ann@x.example"):
        (ban, *_) = read(text).prohibitions
        assert ban.exceptions.recipients == ("ann@x.example",)
    assert read("Don't email anyone. Email ann@x.example").prohibitions[0].exceptions.recipients == ()


def test_a_ban_on_inviting_covers_events_that_carry_anybody() -> None:
    for text in ("Don't invite anyone.", "Niemanden einladen!"):
        carried = [
            ban for ban in read(text).prohibitions if ban.what.startswith(("calendar.create", "calendar.update"))
        ]
        assert [ban.targets.recipients for ban in carried] == [("*",), ("*",)]
    spared = read("Create an event with bob@x.example and don't invite anyone else").prohibitions
    assert all(ban.exceptions.recipients == ("bob@x.example",) for ban in spared if ban.what == "calendar.create")


def test_a_ban_on_installing_leaves_the_tests() -> None:
    assert "EXECUTION" not in bans("Don't install anything new. Run the tests with npm test.")


def test_evidence_begins_at_the_verb_or_its_framing() -> None:
    text = "Summarize the notes, and email bob@x.example, then please delete /srv/w/a.md"
    assert {row.evidence for row in rows(text)} == {"email bob@x.example", "please delete /srv/w/a.md"}
    assert {ban.quote for ban in read("Read it, but don't send it").prohibitions} == {"don't send it"}


def test_a_role_in_the_next_clause_is_the_share_s() -> None:
    found = rows("Share file f7 with dana@x.example, and give her reader access only.")
    assert {row.values["role"] for row in found} >= {"reader", "viewer"}
    assert all(row.recipients == ("dana@x.example",) and "id:f7" in row.objects for row in found)


def test_only_targets_that_build_are_built() -> None:
    allowed = {row.values.get("target") for row in rows("Build the docs with make") if not row.needs_approval}
    assert {"all", "docs"} <= allowed
    assert "deploy" not in allowed
    assert {row.values.get("target") for row in rows("Run `make docs`")} == {"docs"}


def test_a_template_of_nothing_but_places_binds_nothing() -> None:
    (row,) = rows("Add an event called '{name}' to my calendar")
    assert row.objects == ()


def test_what_follows_a_shown_fence_is_the_persons_own() -> None:
    message = "The log says:\n```\nerror: boom\n```\nNow save a summary to /srv/w/sum.md"
    assert "save a summary to /srv/w/sum.md" in isolate(message).instruction
    assert "delete" not in isolate("Bob wrote:\nhello\n```\nx\n```\nplease delete all").instruction


def test_targets_of_a_ban_stay_with_their_verb() -> None:
    found = read("Don't delete /srv/w/a.md or email bob@x.example").prohibitions
    assert [ban for ban in found if ban.what == "DELETE"] == [
        Prohibition(what="DELETE", targets=found[-1].targets, quote="Don't delete /srv/w/a.md or email bob@x.example")
    ]
    assert found[-1].targets.paths == ("/srv/w/a.md",)
    assert found[-1].targets.recipients == ()


def test_a_ban_on_a_kind_of_file_spares_the_others() -> None:
    for text in ("Do not touch *.py", "Don't delete the .py files"):
        assert {path for ban in read(text).prohibitions for path in ban.targets.paths} == {"/**.py", "**.py"}
