"""Paths: one spelling for each file, and nothing lies within a folder that does not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsfence_core.classification.targets.paths import (
    canonical_bound,
    canonical_path,
    is_literal,
    is_within,
    looks_like_path,
)

HOME = "/home/ann"
WORK = "/srv/w"

FOLDED = [
    ("src/a.py", "/srv/w/src/a.py"),
    ("./src//a.py", "/srv/w/src/a.py"),
    ("../x", "/srv/x"),
    ("/etc/../etc/./passwd/", "/etc/passwd"),
    ("/../../etc", "/etc"),
    ("~", HOME),
    ("~/.ssh/../.ssh/id_rsa", "/home/ann/.ssh/id_rsa"),
    ("$HOME/.ssh", "/home/ann/.ssh"),
    ("${HOME}/.ssh", "/home/ann/.ssh"),
    ("~bob/../ann", "~bob/../ann"),
    ("file:///etc/passwd", "/etc/passwd"),
    ("FILE://localhost/%65tc/passwd", "/etc/passwd"),
    ("file:/etc/passwd?x#y", "/etc/passwd"),
    ("file:///C:/Users/ann", "C:/Users/ann"),
    ("C:\\Users\\ann\\..\\bob", "C:/Users/bob"),
    ("c:/", "C:/"),
    ("\\\\?\\C:\\x", "C:/x"),
    ("\\\\server\\share\\..\\..\\x", "\\\\server/x"),
    ("a\\b", "/srv/w/a\\b"),  # a backslash in a POSIX name
    ("notes:2026", "/srv/w/notes:2026"),
    ("./~/x", "/srv/w/~/x"),  # a folder named ~
    ("/proc/self/root/etc/passwd", "/etc/passwd"),
    ("/proc/42/root/proc/self/root/etc", "/etc"),
    ("/proc/self/cwd/a", "/srv/w/a"),
    ("/proc/self/environ", "/proc/self/environ"),
    (" /etc/passwd\n", "/etc/passwd"),
    ("", WORK),
]


@pytest.mark.parametrize(("text", "path"), FOLDED)
def test_every_spelling_has_one_canonical_form(text: str, path: str) -> None:
    assert canonical_path(text, workdir=WORK, home=HOME) == path


def test_unknown_folders_leave_a_path_as_it_is_written() -> None:
    assert canonical_path("a/./b/../c", workdir=None, home=None) == "a/c"
    assert canonical_path("../a", workdir=None, home=None) == "../a"
    assert canonical_path("~/a/../b", workdir=None, home=None) == "~/b"
    assert canonical_path("./~", workdir=None, home=None) == "./~"
    assert canonical_path("a", workdir="sub", home=None) == "a"


def test_a_folder_given_through_home_is_a_folder() -> None:
    assert canonical_path("id_rsa", workdir="~/.ssh", home=HOME) == "/home/ann/.ssh/id_rsa"


def test_windows_folders_make_backslashes_separators() -> None:
    assert canonical_path("..\\x", workdir="C:\\w\\a", home="C:\\Users\\ann") == "C:/w/x"
    assert canonical_path("~\\x", workdir="C:\\w", home="C:\\Users\\ann") == "C:/Users/ann/x"


def test_a_bound_keeps_the_slash_that_means_only_below() -> None:
    assert canonical_bound("~/Downloads/", workdir=None, home=HOME) == "/home/ann/Downloads/"
    assert canonical_bound("~/Downloads", workdir=None, home=HOME) == "/home/ann/Downloads"
    assert canonical_bound("/", workdir=None, home=None) == "/"


WITHIN = [
    ("/a/b", "/a", True),
    ("/a", "/a", True),
    ("/a", "/a/", False),
    ("/a/b", "/a/", True),
    ("/ab", "/a", False),
    ("/a/../b", "/a", False),
    ("~bob/../ann/x", "~bob", False),
    ("/x", "/", True),
    ("/", "/", False),
    ("", "/a", False),
    ("/a", "", False),
    ("C:/w/x", "C:/w", True),
]


@pytest.mark.parametrize(("path", "folder", "inside"), WITHIN)
def test_within_needs_a_separator(path: str, folder: str, inside: bool) -> None:
    assert is_within(path, folder) is inside


@pytest.mark.parametrize(
    "text", ["*.py", "a?", "$X/a", "${X}", "$(id)", "`id`", "{a,b}", "a[bc]", "~bob/x", "%TEMP%\\x", "a\0"]
)
def test_what_names_several_files_is_not_literal(text: str) -> None:
    assert not is_literal(text)


@pytest.mark.parametrize("text", ["/a/b c.txt", "~/x", "~", "cost$", "100%", "a{b}c", "C:\\x"])
def test_what_names_one_file_is_literal(text: str) -> None:
    assert is_literal(text)


def test_tools_without_globs_take_brackets_as_they_are() -> None:
    assert is_literal("app/[slug]/page.tsx", globs=False)
    assert not is_literal("$HOME2/[slug]", globs=False)


@pytest.mark.parametrize(
    "text",
    [
        "/etc/passwd",
        "~/.ssh/id_rsa",
        "./a",
        "../a",
        ".ssh/id_rsa",
        ".env",
        "src/a.py",
        "report.pdf",
        "a/b/c",
        "C:\\x",
        "file:///x",
    ],
)
def test_paths_look_like_paths(text: str) -> None:
    assert looks_like_path(text)


@pytest.mark.parametrize(
    "text",
    [
        "text/html",
        "and/or",
        "2026/05/04",
        "hello",
        "example.com",
        "bob@x.example",
        "https://x.example/a",
        "// note",
        "/* c */",
        "a b",
        "",
        "1.5",
    ],
)
def test_other_texts_do_not(text: str) -> None:
    assert not looks_like_path(text)


_PATHS = st.text(alphabet="/\\.~:aC \t%$HOMEfile-\n\u00e9", max_size=40)


@given(
    _PATHS, st.sampled_from([None, WORK, "~", "C:\\w", "rel", "/"]), st.sampled_from([None, HOME, "C:\\Users\\a", "/"])
)
@settings(max_examples=400, deadline=None)
def test_canonicalisation_idempotent(text: str, workdir: str | None, home: str | None) -> None:
    once = canonical_path(text, workdir=workdir, home=home)
    assert canonical_path(once, workdir=workdir, home=home) == once


@given(st.text(max_size=60))
@settings(max_examples=200, deadline=None)
def test_reading_paths_never_raises(text: str) -> None:
    path = canonical_path(text, workdir=WORK, home=HOME)
    is_within(path, WORK)
    is_literal(text)
    looks_like_path(text)
