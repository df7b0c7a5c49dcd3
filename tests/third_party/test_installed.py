"""Distributions that nobody here wrote, really installed into a fresh environment: an adapter and four plugins."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
OURS = sorted(path.parent for path in ROOT.glob("packages/*/pyproject.toml"))
THEIRS = sorted(path.parent for path in HERE.glob("*/pyproject.toml"))
SEND = ("check", "--request", "Email the report to john@example.net", "send_email", '{"to": "john@example.net"}')
pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(shutil.which("uv") is None, reason="uv makes the fresh environment"),
]


@dataclass(frozen=True)
class Environment:
    """A fresh environment, and a home of the fence."""

    folder: Path
    home: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        environ = {name: value for name, value in os.environ.items() if not name.startswith(("AGENTSFENCE", "PYTHON"))}
        environ |= {"AGENTSFENCE_HOME": str(self.home), "HOME": str(self.home.parent), "COLUMNS": "100"}
        program = str(self.folder / ("Scripts" if os.name == "nt" else "bin") / command[0])
        return subprocess.run(
            [program, *command[1:]],
            capture_output=True, text=True, check=False, timeout=120, env=environ, cwd=self.home.parent,
        )  # fmt: skip

    def fence(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run("agentsfence", *arguments)

    def naming(self, *plugins: str) -> Environment:
        """The settings name these distributions."""
        self.home.mkdir(mode=0o700, exist_ok=True)
        (self.home / "settings.yaml").write_text(json.dumps({"plugins": plugins}), encoding="utf-8")
        return self


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with our packages and theirs, installed offline; other libraries are those of the pinned one."""
    folder = tmp_path_factory.mktemp("fresh") / "environment"
    uv("venv", "--python", sys.executable, str(folder))
    paths = [str(path) for path in (*OURS, *THEIRS)]
    uv("pip", "install", "--offline", "--no-deps", "--no-config", "--python", str(folder), *paths)
    (libraries,) = folder.glob("lib/python*/site-packages")
    (libraries / "pinned.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder


def uv(*arguments: str) -> None:
    command: Sequence[str] = ("uv", *arguments, "--quiet")
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=ROOT)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def fresh(installed: Path, tmp_path: Path) -> Environment:
    return Environment(installed, tmp_path / "fence")


def test_our_packages_are_the_installed_ones(fresh: Environment) -> None:
    done = fresh.run("python", "-c", "import agentsfence_core, acme_fence; print(agentsfence_core.__file__)")
    assert done.stdout.startswith(str(fresh.folder)), done.stderr


def test_the_adapter_is_found_with_what_it_cannot_see(fresh: Environment) -> None:
    done = fresh.fence("adapters", "--json")
    found = {adapter["name"]: adapter for adapter in json.loads(done.stdout)["adapters"]}
    assert found["acme"]["distribution"] == "acme-fence"
    assert found["acme"]["blind_spots"]


def test_the_adapters_own_commands_stand_under_its_name(fresh: Environment) -> None:
    assert fresh.fence("acme").stdout == "acme is fenced\n"


def test_the_adapter_keeps_the_contract_where_it_is_installed(fresh: Environment) -> None:
    fresh.home.parent.joinpath("pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    line = "-m pytest -q -p no:cacheprovider --pyargs acme_fence.contract"
    done = fresh.run("python", *line.split())
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout
    assert int(done.stdout.strip().splitlines()[-1].split()[0]) > 30


def test_a_plugin_that_is_only_installed_has_no_say(fresh: Environment) -> None:
    assert fresh.naming().fence(*SEND).returncode == 0


def test_a_guard_tightens(fresh: Environment) -> None:
    done = fresh.naming("acme-guard-tightens").fence(*SEND)
    assert done.returncode == 4
    assert "outside the company" in done.stdout


def test_a_guard_cannot_loosen(fresh: Environment) -> None:
    banned = ("check", "--request", "Do not send anything.", "send_email", '{"to": "john@example.com"}')
    assert fresh.naming("acme-guard-tightens").fence(*banned).returncode == 4


def test_a_guard_that_crashes_blocks_and_is_named(fresh: Environment) -> None:
    done = fresh.naming("acme-guard-crashes").fence(*SEND)
    assert done.returncode == 4
    assert "acme-guard-crashes" in done.stdout
    assert "Traceback" not in done.stderr


def test_a_guard_that_hangs_blocks_within_its_deadline(fresh: Environment) -> None:
    began = time.monotonic()
    done = fresh.naming("acme-guard-hangs").fence(*SEND)
    assert done.returncode == 4
    assert "acme-guard-hangs" in done.stdout
    assert time.monotonic() - began < 60


def test_a_plugin_that_claims_a_built_in_name_stops_the_fence_and_both_are_named(fresh: Environment) -> None:
    done = fresh.naming("acme-guard-claims").fence("check", "--task", "t1", "read_file", "{}")
    assert done.returncode == 1
    assert "acme-guard-claims" in done.stderr
    assert "agentsfence-core" in done.stderr


def test_a_plugin_that_is_not_installed_stops_the_fence(fresh: Environment) -> None:
    done = fresh.naming("acme-guard-tihgtens").fence(*SEND)
    assert done.returncode == 1
    assert "acme-guard-tihgtens" in done.stderr
