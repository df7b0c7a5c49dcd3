"""Real paths replace written ones, purely."""

from __future__ import annotations

from agentsfence_core.classification.catalogue import builtin
from agentsfence_core.classification.classifier import classify
from agentsfence_core.classification.resolve import paths_of, resolve
from agentsfence_core.model import Action, PathFacts, ToolCall


def action(tool: str, **args: object) -> Action:
    return classify(ToolCall(tool, args, workdir="/srv/w", home="/home/u"), builtin())


def test_every_path_is_named_once_for_the_look_up() -> None:
    found = action("copy_file", source="a", destination="b")
    assert paths_of(found) == ("/srv/w/a", "/srv/w/b")


def test_a_link_is_bound_by_what_it_points_to_and_shown_as_written() -> None:
    found = resolve(action("write_file", path="notes", content="x"), PathFacts({"/srv/w/notes": "/etc/passwd"}))
    assert found.worst.paths == ("/etc/passwd",)
    assert "/srv/w/notes" in found.worst.because


def test_deleting_a_link_acts_on_both_spellings() -> None:
    found = resolve(action("delete_file", path="link"), PathFacts({"/srv/w/link": "/etc/x"}))
    assert found.worst.paths == ("/srv/w/link", "/etc/x")


def test_real_paths_leave_the_action_as_it_is() -> None:
    found = action("read_file", path="/srv/w/a")
    assert resolve(found, PathFacts({})) is found
    assert resolve(found, PathFacts({"/srv/w/a": "/srv/w/a"})) is found


def test_case_folds_where_the_file_system_ignores_it() -> None:
    found = resolve(action("write_file", path="/srv/w/.GIT/hooks/x", content=""), PathFacts({}, case_insensitive=True))
    assert found.worst.paths == ("/srv/w/.git/hooks/x",)


def test_resolving_twice_changes_nothing_more() -> None:
    facts = PathFacts({"/srv/w/notes": "/data/notes"})
    once = resolve(action("write_file", path="notes", content="x"), facts)
    assert resolve(once, facts) == once
