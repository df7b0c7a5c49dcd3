"""Whatever is done to the files afterwards: it shows in the log, and it never makes a policy wider."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import pytest
from tests.state.aids import CATALOGUE, JOHN, POLICY, SEND

from agentsfence_core.audit import AuditLog, verify
from agentsfence_core.audit.chain import link
from agentsfence_core.errors import FenceError
from agentsfence_core.fence import Fence
from agentsfence_core.model import Prohibition, Verdict
from agentsfence_core.settings import Settings
from agentsfence_core.stores import codec
from agentsfence_core.stores.sqlite import SqliteStore

STRANGER = (SEND[0], {"to": "mallory@example.net", "subject": "s", "body": "b"})
DELETE = ("mcp_filesystem_delete_file", {"path": "/srv/w/a.md"})
Lines = list[bytes]


def fence_in(folder: Path) -> Fence:
    store = SqliteStore(folder / "state.db")
    return Fence(settings=Settings(), store=store, catalogue=CATALOGUE, audit=AuditLog(folder / "audit"))


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A folder with a state file and a log of two processes' worth of decisions."""
    for _ in range(2):
        fence = fence_in(tmp_path)
        if not fence.questions("t") and not fence._store.tasks():
            fence.adopt(replace(POLICY, user_prohibitions=(Prohibition(what="DELETE"),)), task="t")
        for call in (SEND, STRANGER, DELETE) * 5:
            fence.check("t", *call)
        fence.close()
    return tmp_path


def changed(lines: Lines, chance: random.Random) -> None:
    place = chance.randrange(len(lines))
    at = chance.randrange(len(lines[place]) - 1)
    lines[place] = lines[place][:at] + bytes([lines[place][at] ^ 1]) + lines[place][at + 1 :]


def removed(lines: Lines, chance: random.Random) -> None:
    del lines[chance.randrange(len(lines))]


def reordered(lines: Lines, chance: random.Random) -> None:
    place = chance.randrange(len(lines) - 1)
    lines[place], lines[place + 1] = lines[place + 1], lines[place]


def cut(lines: Lines, chance: random.Random) -> None:
    del lines[-chance.randrange(1, len(lines)) :]


def doubled(lines: Lines, chance: random.Random) -> None:
    place = chance.randrange(len(lines))
    lines.insert(place, lines[place])


@pytest.mark.parametrize("damage", [changed, removed, reordered, cut, doubled])
@pytest.mark.parametrize("seed", range(6))
def test_what_is_done_to_the_log_shows(
    written: Path, damage: Callable[[Lines, random.Random], None], seed: int
) -> None:
    store = SqliteStore(written / "state.db")
    fence = Fence(settings=Settings(), store=store, catalogue=CATALOGUE)
    heads = fence.heads()
    assert verify(written / "audit", heads).holds
    path = written / "audit" / "audit.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    damage(lines, random.Random(seed))
    path.write_bytes(b"".join(lines))
    assert verify(written / "audit", heads).gaps
    store.close()


def test_control_without_the_chain_a_missing_line_does_not_show(written: Path) -> None:
    lines = (written / "audit" / "audit.jsonl").read_bytes().splitlines()
    del lines[3]
    links = [link(line) for line in lines]
    assert all(found is not None and found.whole for found in links)  # each line by itself is as it was written


def test_a_changed_byte_of_the_state_never_allows_more(written: Path) -> None:
    """A byte anywhere in the file is another: calls that were not allowed still are not."""
    path = written / "state.db"
    whole = path.read_bytes()
    used = [place for place, byte in enumerate(whole) if byte]
    chance = random.Random(11)
    for trial in range(120):
        at = chance.choice(used)
        place = written / f"trial{trial}"
        place.mkdir(mode=0o700)
        copy = place / "state.db"
        copy.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << chance.randrange(8))]) + whole[at + 1 :])
        copy.chmod(0o600)
        try:
            store = SqliteStore(copy)
        except FenceError:
            continue  # it is refused as a whole, so every call is blocked
        fence = Fence(settings=Settings(), store=store, catalogue=CATALOGUE)
        for call in (STRANGER, DELETE):
            assert fence.check("t", *call).verdict is not Verdict.ALLOW, at
        store.close()
        shutil.rmtree(place)


def test_control_without_checksums_a_changed_byte_is_another_policy() -> None:
    sealed = codec.encode_policy(POLICY)
    body = bytearray(sealed[8:])
    body[body.index(JOHN.encode()) + 3] ^= 1
    with pytest.raises(codec.DamagedError):
        codec.decode_policy(sealed[:8] + bytes(body))
    believed = codec.decode_policy(b"%08x" % crc32(body) + bytes(body))  # as if no sum had been kept
    assert believed != POLICY
    assert believed.permissions[0].recipients != (JOHN,)
