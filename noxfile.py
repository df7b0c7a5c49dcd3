"""Every check that a person or CI runs: `nox` for all of them, `nox -s NAME` for one, `nox -l` for the list.

Every session works on the same footing: the third-party packages that constraints.txt pins, each file checked against
its hash, and on top the workspace's own packages, editable. The second run finds its environment ready.
"""

import re
from pathlib import Path

import nox

nox.needs_version = ">=2025.5.1"
nox.options.default_venv_backend = "uv"
nox.options.reuse_existing_virtualenvs = True
nox.options.sessions = ["lint", "types", "imports", "deps", "tests", "docs"]

PINS = Path("constraints.txt")
WORKSPACE = Path("pyproject.toml")
PACKAGES = sorted(path.parent for path in Path("packages").glob("*/pyproject.toml"))


def prepare(session: nox.Session) -> None:
    """The session's environment holds the pinned packages and the workspace."""
    # --no-config: the workspace's own, hash-less copy of the pins must not be mixed in.
    session.install("--quiet", "--no-config", "--require-hashes", "-r", str(PINS))
    session.install("--quiet", "--no-config", "--no-deps", *(f"--editable={path}" for path in PACKAGES))


@nox.session
def lint(session: nox.Session) -> None:
    """Style and common faults (ruff), and the one format."""
    prepare(session)
    session.run("ruff", "check", *session.posargs)
    session.run("ruff", "format", "--check")


@nox.session
def types(session: nox.Session) -> None:
    """Types of all packages and tests (mypy, strict)."""
    prepare(session)
    session.run("mypy", *session.posargs)


@nox.session
def imports(session: nox.Session) -> None:
    """Imports point one way (import-linter)."""
    prepare(session)
    session.run("lint-imports", "--no-logo", *session.posargs)


@nox.session
def deps(session: nox.Session) -> None:
    """Each package declares what it imports and nothing else (deptry); the two places of the pins agree."""
    if pins_of(PINS) != held_pins():
        session.error("pyproject.toml holds other pins than constraints.txt: run `uv run nox -s pins`")
    prepare(session)
    for path in PACKAGES:
        with session.chdir(path):
            session.run("deptry", "src")


@nox.session
def tests(session: nox.Session) -> None:
    """All tests (pytest)."""
    prepare(session)
    session.run("pytest", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation site, with warnings as errors (mkdocs)."""
    prepare(session)
    # The theme's advertisement for its successor is no finding about these pages.
    session.run("mkdocs", "build", "--strict", *session.posargs, env={"NO_MKDOCS_2_WARNING": "1"})


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Print the time of a decision beside a plain-Python floor of the same run; never fails by time."""
    prepare(session)
    session.run("python", "-m", "tests.bench", *session.posargs)


@nox.session(venv_backend="none", default=False)
def pins(session: nox.Session) -> None:
    """Resolve every dependency anew and write the pins to constraints.txt and pyproject.toml."""
    session.run(
        *("uv", "pip", "compile", "--no-config", "--quiet", "--upgrade", "--universal", "--python-version=3.11"),
        *("--generate-hashes", "--no-emit-index-url", "--no-header", "--no-annotate"),
        *("--all-extras", "--group=dev", f"--output-file={PINS}"),
        *(f"--no-emit-package=agentsfence-{path.name}" for path in PACKAGES),
        *(str(path) for path in (WORKSPACE, *(path / "pyproject.toml" for path in PACKAGES))),
        external=True,
    )
    text = WORKSPACE.read_text(encoding="utf-8")
    block = "".join(f'    "{pin}",\n' for pin in pins_of(PINS))
    WORKSPACE.write_text(HELD.sub(lambda match: match[1] + block + match[3], text), encoding="utf-8")


HELD = re.compile(r"^(constraint-dependencies = \[\n)(.*?)(^\]\n)", re.MULTILINE | re.DOTALL)


def pins_of(path: Path) -> list[str]:
    """The pins of a constraints file, without hashes."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.removesuffix("\\").strip() for line in lines if "==" in line]


def held_pins() -> list[str]:
    """The pins that the workspace holds for `uv run`, which doesn't read constraints.txt."""
    match = HELD.search(WORKSPACE.read_text(encoding="utf-8"))
    return re.findall(r'^    "(.*)",$', match[2], re.MULTILINE) if match else []
