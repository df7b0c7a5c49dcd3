"""``agentsfence policy``: policy files, checked before they are used."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentsfence_cli.kept import AsJson, TaskId, kept_fence
from agentsfence_cli.screen import SCREEN
from agentsfence_cli.sentences import show_policy
from agentsfence_cli.wire import policy_object, write_json
from agentsfence_cli.workbench import Workbench, account_home
from agentsfence_core.errors import PolicyError
from agentsfence_core.policy_file import load_policy, policy_schema
from agentsfence_core.settings import load_settings
from agentsfence_core.tasks import UNBEGUN

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Show the policy of a task, validate a policy file, or print the schema.",
)
SCHEMA = "agentsfence.policy-validation/1"


@app.command()
def validate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A policy file, YAML or JSON.")],
    as_json: AsJson = False,
) -> None:
    """Read a policy file, check its examples, and show what it says. Exit code 1 where it is not valid."""
    try:
        policy = load_policy(file)
        workbench = Workbench.open()
        workbench.fence().check_examples(policy)
    except PolicyError as error:
        if not as_json:
            raise
        write_json({"schema": SCHEMA, "valid": False, "error": str(error), "field": error.field, "hint": error.hint})
        raise typer.Exit(1) from None
    if as_json:
        write_json({"schema": SCHEMA, "valid": True, "policy": policy_object(policy)})
        return
    checked = f" and its {len(policy.examples)} examples hold" if policy.examples else ""
    SCREEN.line(f"{file}: valid{checked}.")
    show_policy(policy, workbench.settings.default_verdicts, workbench.home)


@app.command()
def show(task: TaskId, as_json: AsJson = False) -> None:
    """Show the policy that a task has now, with what was approved since it began."""
    with kept_fence() as fence:
        policy = fence.policy(task)
    if as_json:
        write_json({"schema": "agentsfence.policy/1", "task": task, "policy": policy_object(policy)})
        return
    if policy.purpose == UNBEGUN:
        SCREEN.line(f"Nobody began task {task}: it only reads.")
    show_policy(policy, load_settings().default_verdicts, account_home())
    if policy.grants:
        SCREEN.heading("You approved")
        SCREEN.rows((grant.id, grant.tool, grant.scope.value) for grant in policy.grants)


@app.command()
def schema() -> None:
    """Print the JSON Schema of policy files, for editors."""
    write_json(policy_schema())
