"""Guards: spellings of what is guarded, and ordinary neighbours that stay quiet (DESIGN, table 6, check 2)."""

from __future__ import annotations

import pytest

from agentsfence_core.evaluation.guards import guard
from agentsfence_core.model import Effect, ReasonCode, Risk, Verdict


def _said(path: str, risk: Risk, protected: tuple[str, ...] = ()) -> ReasonCode | None:
    outcome = guard(Effect("file.any", risk, paths=(path,)), protected)
    return outcome.code if outcome else None


@pytest.mark.parametrize(
    "path",
    [
        "/home/u/.ssh/id_rsa",
        "~/.ssh/id_rsa",
        "/home/u/.SSH/ID_RSA",
        "/home/u/.ss*/id_rsa",
        "/home/u/.s?h/x",
        "/home/u/.aws/*",
        "/home/u/.hermes/.en*",
        "/srv/app/.env",
        "/srv/app/.env.production",
        "/srv/app/.en?",
        "/proc/self/environ",
        "/proc/1/task/1/environ",
        "/home/u/.kube/config",
        "/home/u/.docker/config.json",
        "/home/u/.hermes/profiles/work/auth.json",
        "/etc/shadow",
        "/srv/tls/server.pem",
        "/srv/tls/server.key",
        "/srv/app/prod.env",
        "/home/u/.ssh/id_rsa.bak",
        "/etc/shadow-",
        "/srv/infra/terraform.tfstate",
        "C:\\Users\\u\\.ssh\\id_ed25519",
    ],
)
def test_credentials_are_asked_about_in_every_spelling(path: str) -> None:
    """Kind of shared case: probes/secrets."""
    assert _said(path, Risk.READ) is ReasonCode.SECRET_READ


@pytest.mark.parametrize(
    "path",
    [
        "/srv/app/src/main.py",
        "/srv/app/.env.example",
        "/home/u/.ssh/id_rsa.pub",
        "/home/u/.ssh/known_hosts",
        "/srv/app/*.json",
        "/srv/app/*",
        "/srv/app/environment.md",
        "/home/u/notes/ssh.md",
        "/srv/app/$file",
        "/srv/app/data/[a-z]*",
        "/srv/.github/workflows/ci.yml",
        "/home/u/.bashrc",
        "",
    ],
)
def test_ordinary_reads_stay_quiet(path: str) -> None:
    """A needless question is a defect."""
    assert _said(path, Risk.READ) is None


@pytest.mark.parametrize("risk", [Risk.LOCAL_WRITE, Risk.DELETE, Risk.EXECUTION, Risk.PERMISSION_CHANGE])
@pytest.mark.parametrize(
    "path",
    [
        "/home/u/.hermes/config.yaml",
        "/home/u/.hermes/agentsfence/state.db",
        "/home/u/.hermes/profiles/work/config.yaml",
        "/home/u/.herme?/config.yaml",
        "/home/u/.local/share/agentsfence/settings.yaml",
        "/usr/lib/python3/site-packages/agentsfence_core/fence.py",
        "/usr/lib/python3/dist-packages/agentsfence_hermes/plugin.py",
        "/srv/v/lib/python3.11/site-packages/agentsfence_core-0.1.0.dist-info/RECORD",
        "/srv/v/bin/agentsfence",
    ],
)
def test_the_fences_own_files_are_only_read(path: str, risk: Risk) -> None:
    """BLOCK for everything but a read."""
    assert _said(path, risk) is ReasonCode.PROTECTS_FENCE
    assert _said("/home/u/.hermes/config.yaml", Risk.READ) is None


@pytest.mark.parametrize("path", ["/", "/home/u/.hermes", "/home/u/.config", "/home/u/.c*", "/opt/fence", "/opt"])
def test_deleting_moving_or_locking_a_folder_around_them_is_blocked(path: str) -> None:
    """What takes a folder takes the fence in it (a reviewer's list)."""
    for risk, capability in (
        (Risk.DELETE, "file.delete"),
        (Risk.PERMISSION_CHANGE, "file.permissions"),
        (Risk.LOCAL_WRITE, "file.move"),
    ):
        outcome = guard(Effect(capability, risk, paths=(path,)), ("/opt/fence",))
        assert outcome is not None
        assert (outcome.verdict, outcome.code) == (Verdict.BLOCK, ReasonCode.PROTECTS_FENCE)


@pytest.mark.parametrize("path", ["/home/u/.hermes", "/home/u/.config"])
def test_writing_an_unnamed_file_into_such_a_folder_is_asked_about(path: str) -> None:
    """``tar x -C ~/.hermes`` names no file; ``mkdir -p ~/.config`` writes none."""
    outcome = guard(Effect("file.archive", Risk.LOCAL_WRITE, paths=(path,)))
    assert outcome is not None
    assert outcome.verdict is Verdict.ASK_USER
    assert guard(Effect("folder.create", Risk.LOCAL_WRITE, paths=(path,))) is None


@pytest.mark.parametrize(
    "path",
    [
        "/home/u/.bashrc",
        "/srv/app/.git/hooks/pre-commit",
        "/srv/app/.git/config",
        "/etc/cron.d/job",
        "/home/u/.config/systemd/user/x.service",
        "/home/u/.ssh/authorized_keys",
        "/srv/app/.github/workflows/ci.yml",
        "/usr/lib/python3/site-packages/x.pth",
    ],
)
def test_writing_what_runs_later_is_asked_about(path: str) -> None:
    """Even inside an allowed path."""
    assert _said(path, Risk.LOCAL_WRITE) is ReasonCode.RUNS_LATER


def test_switches_and_metadata_hosts() -> None:
    """The fence's switches block; hosts that hand out credentials ask."""
    switch = guard(Effect("fence.control", Risk.PERMISSION_CHANGE))
    assert switch is not None
    assert switch.verdict is Verdict.BLOCK
    metadata = guard(Effect("web.read", Risk.READ, domains=("169.254.169.254",)))
    assert metadata is not None
    assert metadata.verdict is Verdict.ASK_USER
    assert guard(Effect("web.read", Risk.READ, domains=("example.com",))) is None
