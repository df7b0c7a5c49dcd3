"""Who else could write a file: any other account, but not the group that an account has for itself."""

from __future__ import annotations

import grp
import os
import pwd
from pathlib import Path

import pytest

from agentsfence_core.errors import StoreError
from agentsfence_core.stores.private_files import create_privately, make_folder, require_private, writable_by_others


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    file = folder / "file"
    file.touch(mode=0o600)
    return file


def group_of(monkeypatch: pytest.MonkeyPatch, name: str, members: list[str]) -> None:
    """The account is ann with a primary group of this name and these further members."""
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: pwd.struct_passwd(("ann", "x", uid, os.getgid(), "", "/", "")))
    monkeypatch.setattr(grp, "getgrgid", lambda gid: grp.struct_group((name, "x", gid, members)))


def test_a_private_file_is_nobody_elses(path: Path) -> None:
    assert writable_by_others(path) == ""
    require_private(path)


@pytest.mark.parametrize("mode", [0o602, 0o606, 0o666, 0o777])
def test_a_file_that_everybody_writes_is_told(path: Path, mode: int) -> None:
    path.chmod(mode)
    assert writable_by_others(path) == f"other accounts can write {path}"
    with pytest.raises(StoreError):
        require_private(path)


def test_the_accounts_own_group_is_nobody_else(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.chmod(0o664)
    path.parent.chmod(0o775)
    group_of(monkeypatch, "ann", [])
    assert writable_by_others(path) == ""


@pytest.mark.parametrize(("name", "members"), [("staff", []), ("ann", ["bob"]), ("ann", ["ann", "bob"])])
def test_a_group_with_others_in_it_is_told(
    path: Path, monkeypatch: pytest.MonkeyPatch, name: str, members: list[str]
) -> None:
    path.chmod(0o664)
    group_of(monkeypatch, name, members)
    assert writable_by_others(path) == f"other accounts can write {path}"


def test_a_sticky_folder_is_no_danger_to_an_own_file(path: Path) -> None:
    path.parent.chmod(0o1777)
    assert writable_by_others(path) == ""


def test_a_folder_that_everybody_writes_is_told(path: Path) -> None:
    path.parent.chmod(0o777)
    assert writable_by_others(path) == f"other accounts can write {path.parent}"


def test_a_file_of_another_account_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    told = writable_by_others(path)
    assert told == "" if path.stat().st_uid == 0 else "another account" in told


def test_two_creators_do_not_mix(path: Path) -> None:
    target = path.with_name("new")

    def write(draft: Path) -> None:
        draft.write_text("mine", encoding="utf-8")
        target.write_text("theirs", encoding="utf-8")

    assert create_privately(target, write) is False
    assert target.read_text(encoding="utf-8") == "theirs"
    assert sorted(item.name for item in path.parent.iterdir()) == ["file", "new"]


def test_only_what_is_made_gets_the_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_folder(tmp_path / "a" / "b")
    assert [oct(place.stat().st_mode & 0o777) for place in (tmp_path, tmp_path / "a", tmp_path / "a" / "b")] == [
        "0o755",
        "0o700",
        "0o700",
    ]
