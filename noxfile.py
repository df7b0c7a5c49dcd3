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
nox.options.sessions = ["lint", "types", "imports", "deps", "tests", "hermes", "langchain", "docs"]

PINS = Path("constraints.txt")
HERMES_TOOLS = Path("constraints-hermes.in")
HERMES_PINS = {"0.19.0": Path("constraints-hermes.txt"), "0.18.1": Path("constraints-hermes-oldest.txt")}
"""Hermes pins its own dependencies exactly, so each of its versions has an environment, and pins, of its own."""
LANGCHAIN_TOOLS = Path("constraints-langchain.in")
LANGCHAIN_PINS = {"current": Path("constraints-langchain.txt"), "1.2": Path("constraints-langchain-oldest.txt")}
"""LangChain moves fast: the newest release, and the oldest that the package allows."""
LANGCHAIN_OLDEST = ("langchain==1.2.0", "langchain-core==1.2.4", "langgraph==1.0.5", "langgraph-prebuilt==1.0.5")
LANGCHAIN_NEWEST = ("deepagents>=0.7", "langchain-classic>=1.0")
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
@nox.parametrize("version", list(HERMES_PINS), ids=list(HERMES_PINS))
def hermes(session: nox.Session, version: str) -> None:
    """The plugin inside the real Hermes Agent: types and all tests on the newest, a smoke run on the oldest."""
    session.install("--quiet", "--no-config", "--require-hashes", "-r", str(HERMES_PINS[version]))
    ours = [path for path in PACKAGES if path.name != "langchain"]
    session.install("--quiet", "--no-config", "--no-deps", *(f"--editable={path}" for path in ours))
    tests = "packages/hermes/tests"
    env = {"HERMES_DISABLE_LAZY_INSTALLS": "1"}
    if version == max(HERMES_PINS):
        session.run("mypy", "packages/hermes/src", tests)
        session.run("pytest", tests, *session.posargs, env=env)
    else:
        session.run(
            "pytest",
            *(f"{tests}/real/test_{name}.py" for name in ("loading", "ordering", "agent_loop", "identity")),
            env=env,
        )


@nox.session
@nox.parametrize("version", list(LANGCHAIN_PINS), ids=list(LANGCHAIN_PINS))
def langchain(session: nox.Session, version: str) -> None:
    """The adapter beside the real LangChain: types and all tests on the newest, all tests that it can run on 1.2.

    ``-- bench`` prints what the fence adds to a tool call instead.
    """
    session.install("--quiet", "--no-config", "--require-hashes", "-r", str(LANGCHAIN_PINS[version]))
    session.install("--quiet", "--no-config", "--no-deps", *(f"--editable={path}" for path in PACKAGES))
    if session.posargs == ["bench"]:
        session.run("python", "-m", "packages.langchain.tests.bench")
        return
    if version == "current":
        session.run("mypy", "packages/langchain/src", "packages/langchain/tests")
    session.run("pytest", "packages/langchain/tests", *session.posargs)


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
    """Resolve every dependency anew and write the pins to the constraints files and pyproject.toml."""
    ours = [str(path / "pyproject.toml") for path in PACKAGES if path.name != "langchain"]
    compile_pins(session, PINS, "--all-extras", "--group=dev", str(WORKSPACE), *ours)
    text = WORKSPACE.read_text(encoding="utf-8")
    block = "".join(f'    "{pin}",\n' for pin in pins_of(PINS))
    WORKSPACE.write_text(HELD.sub(lambda match: match[1] + block + match[3], text), encoding="utf-8")
    for version, path in HERMES_PINS.items():
        host = Path(session.create_tmp()) / f"hermes-{version}.in"
        host.write_text(f"hermes-agent=={version}\n", encoding="utf-8")
        compile_pins(session, path, str(HERMES_TOOLS), str(host.resolve()), *ours)
    for version, path in LANGCHAIN_PINS.items():
        host = Path(session.create_tmp()) / f"langchain-{version}.in"
        wanted = LANGCHAIN_NEWEST if version == "current" else LANGCHAIN_OLDEST
        host.write_text("\n".join(wanted), encoding="utf-8")
        adapter = "packages/langchain/pyproject.toml"
        compile_pins(session, path, str(LANGCHAIN_TOOLS), str(host.resolve()), adapter, *ours)


def compile_pins(session: nox.Session, target: Path, *sources: str) -> None:
    """The file holds the newest versions that fit together, with the hashes of their files and no addresses."""
    session.run(
        *("uv", "pip", "compile", "--no-config", "--quiet", "--upgrade", "--universal", "--python-version=3.11"),
        *("--generate-hashes", "--no-emit-index-url", "--no-header", "--no-annotate", f"--output-file={target}"),
        *(f"--no-emit-package=agentsfence-{path.name}" for path in PACKAGES),
        *sources,
        external=True,
    )


HELD = re.compile(r"^(constraint-dependencies = \[\n)(.*?)(^\]\n)", re.MULTILINE | re.DOTALL)


def pins_of(path: Path) -> list[str]:
    """The pins of a constraints file, without hashes."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.removesuffix("\\").strip() for line in lines if "==" in line]


def held_pins() -> list[str]:
    """The pins that the workspace holds for `uv run`, which doesn't read constraints.txt."""
    match = HELD.search(WORKSPACE.read_text(encoding="utf-8"))
    return re.findall(r'^    "(.*)",$', match[2], re.MULTILINE) if match else []
