"""``agentsfence questions``: what waits for a person's answer."""

from __future__ import annotations

import typer

from agentsfence_cli.kept import AnyTask, AsJson, kept_fence, kept_tasks
from agentsfence_cli.screen import SCREEN, shortened
from agentsfence_cli.wire import question_object, write_json
from agentsfence_core.model import Delta
from agentsfence_core.tasks import Question

_EFFECTS = 20  # effects of one call that are shown
_TARGETS = 20  # targets of one effect that are shown
app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def questions(task: AnyTask = None, as_json: AsJson = False) -> None:
    """List the calls that wait for a person, and what an approval of each would cover."""
    with kept_fence() as fence:
        found = [question for name in kept_tasks(task) for question in fence.questions(name)]
    if as_json:
        write_json({"schema": "agentsfence.questions/1", "questions": [question_object(each) for each in found]})
        return
    for question in found:
        SCREEN.heading(f"{question.id}  {question.tool}  (task {shortened(question.task, 40)})")
        for line in question_lines(question):
            SCREEN.line(line, indent=2)
    if not found:
        SCREEN.line("No call waits for an answer.")
    else:
        SCREEN.line()
        SCREEN.line("Answer one with: agentsfence approve ID, or agentsfence deny ID")


def question_lines(question: Question) -> list[str]:
    """Return a question for people: why it is asked, exactly what a yes would cover, and what it would not."""
    lines = [shortened(question.sentence, 600)]
    for delta in question.deltas[:_EFFECTS]:
        where = _where(delta)
        lines.append(f"- {shortened(delta.capability, 80)} ({delta.risk}){': ' if where else ''}{where}")
    if len(question.deltas) > _EFFECTS:
        lines.append(f"- and {len(question.deltas) - _EFFECTS} MORE EFFECTS, which do not fit here")
    if question.covered_too:
        lines.append(f"A yes covers {shortened(question.covered_too, 300)}.")
    if question.not_covered:
        lines.append(f"It does not cover {shortened(question.not_covered, 300)}.")
    return lines


def _where(delta: Delta) -> str:
    """Return the targets of an effect, each on no more than a line; that some are left out comes first."""
    targets = (*delta.recipients, *delta.domains, *delta.paths, *delta.objects)
    found = (*targets, *(f"{name} {value}" for name, value in delta.values))
    many = f"{len(found)} TARGETS, of which the first are " if len(found) > _TARGETS else ""
    return many + ", ".join(shortened(each, 160) for each in found[:_TARGETS])
