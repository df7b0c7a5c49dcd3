"""Patches: every file that any reader would touch is named."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsfence_core.classification.patch import read_patch
from agentsfence_core.model import Risk, TargetKind

BEGIN = "*** Begin Patch\n"

FILES: list[tuple[str, dict[str, list[str]]]] = [
    (f"{BEGIN}*** Delete File: /srv/app/a.txt\n*** End Patch", {"file.delete": ["/srv/app/a.txt"]}),
    (f"{BEGIN}***  Move File : /srv/a.py  ->  /srv/b.py\n", {"file.move": ["/srv/a.py", "/srv/b.py"]}),
    (
        f"{BEGIN}*** Update File: a.py\n*** Move to: ../c.py\n@@\n",
        {"file.write": ["/srv/w/a.py"], "file.move": ["/srv/w/a.py", "/srv/c.py"]},
    ),
    ("***update file:a.py\n@@\n-x\n***ADD FILE:  b.py  \n+y", {"file.write": ["/srv/w/a.py", "/srv/w/b.py"]}),
    ("x *** Begin Patch\n*** Add File: ~/.bashrc\n+evil", {"file.write": ["/home/ann/.bashrc"]}),
    (f"{BEGIN}*** Add File: a\n+x\n  *** Delete File: b\n", {"file.write": ["/srv/w/a"], "file.delete": ["/srv/w/b"]}),
    # Content is no header
    (
        f"{BEGIN}*** Update File: a\n@@\n *** Delete File: x\n+*** Delete File: y\n-*** Delete File: z\n",
        {"file.write": ["/srv/w/a"]},
    ),
    ("--- a/x.py\t2020-01-01\n+++ b/x.py\n@@ -1 +1 @@\n--- old\n+new\n", {"file.write": ["/srv/w/x.py"]}),
    (
        "--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n--- /dev/null\n+++ b/z\n",
        {"file.delete": ["/srv/w/y"], "file.write": ["/srv/w/z"]},
    ),
    ("--- old.txt\n+++ new.txt\n", {"file.write": ["/srv/w/old.txt", "/srv/w/new.txt"]}),
    ("*** a.txt\t2020\n--- b.txt\t2020\n***************\n", {"file.write": ["/srv/w/a.txt", "/srv/w/b.txt"]}),
    (
        "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n",
        {"file.move": ["/srv/w/x", "/srv/w/y"]},
    ),
    ("diff --git a/z b/z\ndeleted file mode 100644\n", {"file.delete": ["/srv/w/z"]}),
    ("diff --git a/s.sh b/s.sh\nold mode 100644\nnew mode 100755\n", {"file.write": ["/srv/w/s.sh"]}),
    ("diff --git a/i.png b/i.png\nGIT binary patch\n", {"file.write": ["/srv/w/i.png"]}),
    ('--- "a/caf\\303\\251"\n+++ "b/caf\\303\\251"\n', {"file.write": ["/srv/w/caf\u00e9"]}),
    ("Index: src/a.c\n====\n", {"file.write": ["/srv/w/src/a.c"]}),
    # Both formats in one text: each reader sees its own
    ("*** Update File: ok\n--- a/evil\n+++ b/evil\n", {"file.write": ["/srv/w/ok", "/srv/w/evil"]}),
]


@pytest.mark.parametrize(("text", "files"), FILES)
def test_every_file_of_a_patch_is_named(text: str, files: dict[str, list[str]]) -> None:
    effects = read_patch(text, workdir="/srv/w", home="/home/ann")
    assert {effect.capability: list(effect.paths) for effect in effects} == files
    assert all(effect.verified for effect in effects)


@pytest.mark.parametrize("text", ["", "garbage", "*** Update File:\n", "s/a/b/"])
def test_a_patch_without_files_is_a_write_to_unknown_ones(text: str) -> None:
    (effect,) = read_patch(text, workdir="/srv/w", home=None)
    assert effect.risk is Risk.LOCAL_WRITE
    assert TargetKind.PATHS in effect.unverified


def test_a_link_in_a_patch_leaves_paths_unverified() -> None:
    text = "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n"
    assert all(TargetKind.PATHS in effect.unverified for effect in read_patch(text, workdir=None, home=None))


@given(
    st.lists(
        st.sampled_from(
            [
                "*** ",
                "--- ",
                "+++ ",
                "a/x",
                "b/y",
                "Delete File:",
                "Move to:",
                " -> ",
                "\n",
                "diff --git ",
                "rename from ",
                "\t",
                '"',
                "/dev/null",
            ]
        ),
        max_size=20,
    ).map("".join)
)
@settings(max_examples=250, deadline=None)
def test_reading_patches_is_total(text: str) -> None:
    effects = read_patch(text, workdir=None, home=None)
    assert effects
    assert all(effect.paths or not effect.verified for effect in effects)
