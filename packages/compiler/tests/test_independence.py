"""Compiler independence over whole tasks: no backend, whatever it answers, opens what the rules keep shut.

The drafts are made of the rows that the rules read in the very words: kept, split, repeated and narrowed with what
stands in them, so that most of them survive hardening. Tasks have several turns and many calls, because counts,
replacements and bans only show over time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packages.compiler.tests.fence import HOME, HOST, NOW, WORK, Task

from agentsfence_compiler import hardening, pipeline
from agentsfence_compiler.amendment import amend
from agentsfence_compiler.assembly import assemble
from agentsfence_core.classification.catalogue.table import builtin
from agentsfence_core.classification.classifier import classify
from agentsfence_core.evaluation import charge_of, evaluate, prepare
from agentsfence_core.evaluation.options import EvaluationOptions
from agentsfence_core.model import Action, ExecutionState, Permission, ToolCall, Verdict

BOB, CAROL, EVE = "bob@x.example", "carol@x.example", "eve@x.example"

FIRST = (
    f"Pay 10 EUR to {BOB}",
    f"Pay 10 EUR to {BOB} or {EVE}",
    f"Refund 10 EUR to {BOB}",
    f"Send one email to {BOB}.",
    f"Send one message to {BOB}",
    f"Send two emails to {BOB} and {CAROL}",
    f"Email {BOB}",
    f"Email {BOB} and save a summary to /srv/w/notes.md",
    "Delete one file in /srv/w/tmp/",
    "Delete /srv/w/tmp/a and /srv/w/tmp/b",
    "Save a summary to /srv/w/notes.md",
    f"Share /srv/w/notes.md with {BOB} as reader",
    "Push to origin main",
    "Don't touch config.py. Save a summary to /srv/w/notes.md",
    f"Never email {EVE}. Email {BOB}",
)
LATER = (
    f"Email {CAROL} instead",
    f"Only email {CAROL}",
    f"Also to {CAROL}",
    f"Don't email {BOB}",
    "Fix the bugs in the code",
    "Create notes",
    "Edit /srv/w/config.py",
    "Clean up /srv/w",
    f"Pay 5 EUR to {CAROL}",
    f"Send an email to {EVE}",
    "Never delete anything",
    "Thanks!",
)
CALLS: tuple[tuple[str, Mapping[str, object]], ...] = (
    *(("send_email", {"to": to, "subject": "s", "body": "b"}) for to in (BOB, CAROL, EVE)),
    ("send_message", {"to": BOB, "text": "b"}),
    *(("send_money", {"to": to, "amount": amount}) for to in (BOB, EVE) for amount in (5, 10)),
    ("refund_payment", {"to": BOB, "amount": 10}),
    *(("terminal", {"command": f"rm /srv/w/tmp/{name}"}) for name in ("a", "b", "c")),
    *(("write_file", {"path": path, "content": "x"}) for path in ("/srv/w/notes.md", "/srv/w/config.py", "/etc/x")),
    ("share_file", {"path": "/srv/w/notes.md", "email": BOB, "role": "reader"}),
    ("terminal", {"command": "git push origin main"}),
)
ACTIONS: tuple[Action, ...] = tuple(classify(ToolCall(tool, args, WORK, HOME), builtin()) for tool, args in CALLS)
WEIGHTS = [5, *(1 for _ in ACTIONS[1:])]
"""Most of what is said is about mail to Bob."""


@dataclass
class Run:
    """A task with what it has used up."""

    task: Task
    state: ExecutionState = field(default_factory=ExecutionState)

    def verdict(self, action: Action, *, state: ExecutionState | None = None) -> Verdict:
        """What the fence says now."""
        prepared = prepare(self.task.policy, EvaluationOptions(home=HOME, workdir=WORK))
        return evaluate(prepared, state or self.state, action, HOST, NOW).verdict

    def admit(self, action: Action) -> None:
        """The call runs."""
        prepared = prepare(self.task.policy, EvaluationOptions(home=HOME, workdir=WORK))
        self.state = self.state.charged(charge_of(prepared, self.state, action))


def entries(row: Permission, chance: Random) -> Iterator[dict[str, object]]:
    """One row as a draft may write it: once or split, each part narrowed by something that stands in the words."""
    words = row.evidence.split()
    for _ in range(chance.choice((1, 1, 2, 4))):
        entry: dict[str, object] = {"capability": row.capability, "quote": row.evidence}
        if row.recipients and chance.random() < 0.5:
            entry["recipients"] = [chance.choice(row.recipients)]
        if row.paths and chance.random() < 0.5:
            path = chance.choice(row.paths)
            entry["paths"] = [chance.choice((path, f"{path.rstrip('/')}/{chance.choice('abc')}"))]
        if chance.random() < 0.4:
            entry["objects"] = [chance.choice((*row.objects, *words))]
        if chance.random() < 0.3:
            entry["values"] = {
                chance.choice(("note", "memo", *row.values)): chance.choice((*row.values.values(), *words))
            }
        if chance.random() < 0.3:
            entry["max_calls"] = chance.choice((1, 2, 5))
        if chance.random() < 0.3:
            entry["max_amount"] = chance.choice(("5", "10", "500"))
        yield entry


def draft_of(words: str, chance: Random) -> object:
    """A draft about a message: made of what the rules read in it, and now and then nothing or a failure."""
    whim = chance.random()
    if whim < 0.2:
        return "fail" if whim < 0.1 else {"permissions": []}
    rows = [row for row in Task(words).policy.permissions if chance.random() < 0.85]
    listed = [entry for row in rows for entry in entries(row, chance)]
    chance.shuffle(listed)
    return {"permissions": listed}


@dataclass(frozen=True)
class Story:
    """What a person says, what a backend makes of it, and what the agent then calls."""

    turns: tuple[tuple[str, object], ...]
    calls: tuple[tuple[int, ...], ...]
    """Per turn, places in `ACTIONS`."""


def story(chance: Random) -> Story:
    """One to three turns; calls repeat often."""
    said = [chance.choice(FIRST), *(chance.choice(LATER) for _ in range(chance.randrange(3)))]
    calls = tuple(
        tuple(
            place for place in chance.choices(range(len(ACTIONS)), WEIGHTS, k=4) for _ in range(chance.choice((1, 2)))
        )
        for _ in said
    )
    return Story(tuple((words, draft_of(words, chance)) for words in said), calls)


def told(one: Story) -> Iterator[tuple[Run, Run, Action]]:
    """Tell a story under the rules and under the drafts, and yield both before each call."""
    ruled, drafted = Run(Task(one.turns[0][0])), Run(Task(one.turns[0][0], draft=one.turns[0][1]))
    for number, (words, draft) in enumerate(one.turns):
        if number:
            ruled.task.says(words)
            drafted.task.says(words, draft=draft)
        for place in one.calls[number]:
            yield ruled, drafted, ACTIONS[place]


def opens_nothing(one: Story) -> None:
    """Whatever runs unasked under the drafts would have run unasked under the rules, counts and turns included."""
    for ruled, drafted, action in told(one):
        if drafted.verdict(action) is Verdict.ALLOW:
            assert ruled.verdict(action) is Verdict.ALLOW, (one, action.call)
            drafted.admit(action)
            ruled.admit(action)


def softens_nothing(one: Story) -> None:
    """What the rules would block on sight, no draft turns into a question."""
    fresh = ExecutionState()
    for ruled, drafted, action in told(one):
        if ruled.verdict(action, state=fresh) is Verdict.BLOCK:
            assert drafted.verdict(action, state=fresh) is Verdict.BLOCK, (one, action.call)


stories = st.randoms(use_true_random=False).map(story)
ROUNDS = settings(max_examples=60, deadline=None)
SEEDS = range(200)


@ROUNDS
@given(stories)
def test_compiler_independence_over_calls_and_turns(one: Story) -> None:
    opens_nothing(one)


@ROUNDS
@given(stories)
def test_no_draft_turns_a_block_into_a_question(one: Story) -> None:
    softens_nothing(one)


def test_both_hold_on_seeded_stories_of_which_most_keep_a_row_and_many_calls_run() -> None:
    kept = run = 0
    for seed in SEEDS:
        one = story(Random(seed))
        opens_nothing(one)
        softens_nothing(one)
        kept += bool(Task(one.turns[0][0], draft=one.turns[0][1]).policy.permissions)
        run += any(drafted.verdict(action) is Verdict.ALLOW for _, drafted, action in told(one))
    assert kept >= len(SEEDS) // 2, kept
    assert run >= len(SEEDS) // 5, run


def notices(theorem: Callable[[Story], None]) -> None:
    """A theorem that no seeded story breaks would not see the fault."""
    with pytest.raises(AssertionError):
        for seed in SEEDS:
            theorem(story(Random(seed)))


def test_independence_notices_rows_with_counters_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "shared", tuple)
    monkeypatch.setattr(hardening, "shared", tuple)
    notices(opens_nothing)


def test_independence_notices_a_replacement_that_a_draft_undoes(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_the_words(*values: object, asked: object, **named: object) -> object:
        del asked
        return amend(*values, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(pipeline, "amend", without_the_words)
    notices(opens_nothing)


def test_softening_notices_bounds_that_a_draft_drops(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_bounds(*values: object, bounds: object, **named: object) -> object:
        del bounds
        return assemble(*values, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(pipeline, "assemble", without_bounds)
    notices(softens_nothing)


# ---------------------------------------------------------------- what reviewers have found

PAY, DELETE_ONE = f"Pay 10 EUR to {BOB}", "Delete one file in /srv/w/tmp/"
EITHER, ONE_MAIL = f"Pay 10 EUR to {BOB} or {EVE}", f"Send one email to {BOB}."
TWO_MAILS = f"Send two emails to {BOB} and {CAROL}"


def rows(capability: str, quote: str, *parts: Mapping[str, object]) -> dict[str, object]:
    """A draft with one row for each part."""
    return {"permissions": [{"capability": capability, "quote": quote, **part} for part in parts]}


def runs(words: str, draft: object, calls: tuple[tuple[str, Mapping[str, object]], ...]) -> list[Verdict]:
    """What becomes of calls made one after the other."""
    run = Run(Task(words, draft=draft))
    verdicts = []
    for tool, args in calls:
        action = classify(ToolCall(tool, args, WORK, HOME), builtin())
        verdicts.append(run.verdict(action))
        if verdicts[-1] is Verdict.ALLOW:
            run.admit(action)
    return verdicts


def money(to: str) -> tuple[str, Mapping[str, object]]:
    return "send_money", {"to": to, "amount": 10}


def mail(to: str) -> tuple[str, Mapping[str, object]]:
    return "send_email", {"to": to, "subject": "s", "body": "b"}


def removal(name: str) -> tuple[str, Mapping[str, object]]:
    return "terminal", {"command": f"rm /srv/w/tmp/{name}"}


SPLIT = [
    ("amount by objects", PAY, rows("payment.send", PAY, {"objects": ["Pay"]}, {"objects": ["to"]}), [money(BOB)] * 2),
    (
        "amount by values",
        PAY,
        rows("payment.send", PAY, {"values": {"a": "Pay"}}, {"values": {"b": "to"}}),
        [money(BOB)] * 2,
    ),
    (
        "amount by payees",
        EITHER,
        rows("payment.send", "Pay 10 EUR", *({"recipients": [to]} for to in (BOB, EVE))),
        [money(BOB), money(EVE)],
    ),
    (
        "count by objects",
        ONE_MAIL,
        rows("email.send", ONE_MAIL[:-1], {"objects": ["one"]}, {"objects": ["to"]}),
        [mail(BOB)] * 2,
    ),
    (
        "count by paths",
        DELETE_ONE,
        rows("file.delete", DELETE_ONE, *({"paths": [f"/srv/w/tmp/{n}"]} for n in "ab")),
        [removal("a"), removal("b")],
    ),
    (
        "refund and payment of one request",
        f"Refund 10 EUR to {BOB}",
        None,
        [("refund_payment", {"to": BOB, "amount": 10}), money(BOB)],
    ),
    (
        "mail and message of one request",
        f"Send one message to {BOB}",
        None,
        [mail(BOB), ("send_message", {"to": BOB, "text": "b"})],
    ),
]


@pytest.mark.parametrize(("name", "words", "draft", "calls"), SPLIT, ids=[row[0] for row in SPLIT])
def test_rows_of_one_request_share_its_count(
    name: str, words: str, draft: object, calls: list[tuple[str, Mapping[str, object]]]
) -> None:
    assert runs(words, draft, tuple(calls)) == [Verdict.ALLOW, Verdict.BLOCK]


def test_a_draft_that_gives_each_party_its_own_count_does_not_lose_the_second() -> None:
    draft = rows("email.send", TWO_MAILS, *({"recipients": [to], "max_calls": 1} for to in (BOB, CAROL)))
    assert runs(TWO_MAILS, draft, (mail(BOB), mail(CAROL), mail(BOB))) == [Verdict.ALLOW, Verdict.ALLOW, Verdict.BLOCK]


def test_a_ban_on_one_of_two_parties_does_not_start_counting_anew() -> None:
    run = Run(Task(EITHER))
    first, second = (classify(ToolCall(*money(to), WORK, HOME), builtin()) for to in (BOB, EVE))
    run.admit(first)
    run.task.says(f"Don't pay {BOB}")
    assert run.verdict(second) is Verdict.BLOCK


@pytest.mark.parametrize("draft", [{"permissions": []}, "fail", None])
@pytest.mark.parametrize("turn", [f"Email {CAROL} instead", f"Only email {CAROL}"])
def test_a_replacement_does_not_depend_on_a_backend(turn: str, draft: object) -> None:
    task = Task(f"Email {BOB}")
    task.says(turn, draft=draft)
    assert task.mails(BOB) is Verdict.BLOCK


@pytest.mark.parametrize("draft", [{"permissions": []}, "fail"])
def test_a_turn_does_not_go_on_with_an_older_request_because_a_draft_leaves_out_the_newest(draft: object) -> None:
    task = Task(f"Email {BOB}")
    task.says(f"Pay 10 EUR to {EVE}", draft=draft)
    task.says(f"Also to {CAROL}")
    assert task.mails(CAROL) is not Verdict.ALLOW


@pytest.mark.parametrize("draft", [{"permissions": []}, "fail", None])
def test_what_the_words_bound_stays_a_block_whatever_a_draft_leaves(draft: object) -> None:
    task = Task(f"Email {BOB}", draft=draft)
    assert task.mails(EVE) is Verdict.BLOCK
    task.says("Save a summary to /srv/w/notes.md")
    assert (task.mails(EVE), task.writes("/srv/w/notes.md")) == (Verdict.BLOCK, Verdict.ALLOW)
    task.says(f"Email {EVE} too")
    assert task.mails(EVE) is Verdict.ALLOW


@pytest.mark.parametrize(
    ("turn", "verdict"),
    [
        ("Fix the bugs in the code", Verdict.BLOCK),
        ("Create notes", Verdict.BLOCK),
        ("Clean up /srv/w", Verdict.BLOCK),
        ("Edit config.py", Verdict.ALLOW),
        ("Edit /srv/w/config.py", Verdict.ALLOW),
    ],
)
def test_a_ban_is_lifted_by_a_request_that_names_its_target(turn: str, verdict: Verdict) -> None:
    task = Task("Don't touch config.py.")
    task.says(turn)
    assert task.writes("/srv/w/config.py") is verdict


def test_no_draft_names_a_banned_target_for_the_person() -> None:
    task = Task("Don't touch config.py.")
    turn = "Fix the bugs in the code of config"
    task.says(turn, draft=rows("file.write", turn, {"paths": ["/srv/w/config.py"], "objects": ["config"]}))
    assert task.writes("/srv/w/config.py") is Verdict.BLOCK
