"""Package managers: installing may run code of the package, removing deletes, publishing goes out."""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

import re
from collections.abc import Callable

from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.engine import nested, script
from agentsfence_core.classification.shell.environment import SECRET
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.rows import Program, Role, rows, table_of
from agentsfence_core.classification.shell.words import Word
from agentsfence_core.model.action import TargetKind

LIST = Program("system.read", rest=Role.TEXT)
SEARCH = Program("web.search", rest=Role.TEXT)
BUILD = Program("build.run", rest=Role.TEXT)
TEST = Program("test.run", rest=Role.TEXT)
LINT = Program("lint.run", rest=Role.TEXT)


_INDEXES = "-i --index-url --extra-index-url --default-index --index --find-links --registry --source --repository"


def install(text: str = "", read: str = "", unseen: str = "") -> Program:
    """Return a row for installing packages that are named."""
    return Program(
        "package.install",
        rest=Role.OBJECT,
        kind="package",
        options={Role.TEXT: text, Role.READ: read, Role.UNSEEN: unseen, Role.URL: _INDEXES},
        hook=_install,
    )


_VERSION = re.compile(r"[=<>!~\[; ]")


def _package(call: Call, capability: str, word: Word) -> None:
    """Add a package by its bare name; one from an address or a folder is not what its name says."""
    text = word.text
    if (
        "://" in text
        or text.startswith(("git+", ".", "/", "~", "file:", "github:"))
        or text.endswith((".tgz", ".whl", ".tar.gz", ".zip", ".deb", ".rpm"))
    ):
        call.object(capability, "package", word)
        call.unverified(capability, TargetKind.OBJECTS)
        if "://" in text:
            call.url(capability, Word(text[text.index("http") :] if "http" in text else text, word.sure))
        else:
            call.path("file.read", word)
        return
    bare = _VERSION.split(text, maxsplit=1)[0]
    at = bare.find("@", 1)
    call.object(capability, "package", Word(bare[:at] if at > 0 else bare, word.sure, word.glob))


def _install(call: Call, program: Program) -> None:
    """Packages that are named; another index or a file of names makes them unverified."""
    split = Split(call.words[call.skip :], table_of(program), posix=False, single=False)
    call.effect(program.does)
    operands = split.operands
    for name, option, value in split.given:
        if option.role is Role.READ and value is not None:
            call.path("file.read", value)
            call.unverified(program.does, TargetKind.OBJECTS)
            if name in {"e", "editable"}:
                call.unseen("a project is installed by its own code", program.does)
        elif option.role is Role.URL and value is not None:
            call.url(program.does, value)
            call.unverified(program.does, TargetKind.OBJECTS)
        elif option.role is Role.UNSEEN:
            call.unseen("an option chooses a program, a place or settings", program.does)
    for word in operands:
        _package(call, program.does, word)


REMOVE = Program("package.remove", rest=Role.OBJECT, kind="package")
UPDATE = install()
_TEST_NAMES = ("test", "spec", "e2e", "unit", "integration", "vitest", "jest", "coverage", "cov")
_LINT_NAMES = (
    "lint",
    "format",
    "fmt",
    "typecheck",
    "type-check",
    "check-types",
    "types",
    "prettier",
    "eslint",
    "tsc",
    "check",
    "stylelint",
)
_BUILD_NAMES = ("build", "compile", "bundle", "docs", "dist", "pack", "codegen", "generate")


def run_by_name(call: Call, word: Word, rest: list[Word]) -> None:
    """A project's own script: its name says whether it tests, lints or builds; anything else is unverified."""
    name = word.text
    head = name.partition(":")[0].partition("-")[0]
    capability = "script.run"
    for names, found in ((_TEST_NAMES, "test.run"), (_LINT_NAMES, "lint.run"), (_BUILD_NAMES, "build.run")):
        if word.literal and (name in names or head in names):
            capability = found
            break
    call.effect(capability)
    if capability == "script.run":
        call.object(capability, "name", word)
        call.unseen(f"the project's script {name[:40]}", capability)
    else:
        call.value(capability, "script", name[:80])
    del rest


def _run(call: Call, program: Program) -> None:
    """``npm run NAME``."""
    split = Split(call.words[1:], table_of(program), posix=True, single=False)
    operands = split.operands
    for place, word in enumerate(call.words):
        if word.text in {"run", "run-script", "rum", "urn", "task"}:
            again = Split(call.words[place + 1 :], table_of(program), posix=True, single=False)
            operands = again.operands
            break
    if operands:
        run_by_name(call, operands[0], operands[1:])
    else:
        call.effect("file.read")


_EXECUTE_ROW = Program(
    "package.install",
    options={
        Role.OBJECT: "-p --package --with --from",
        Role.RUN: "-c --call",
        Role.TEXT: "-w --workspace --python --project --directory --extra --group --prefix --index-url --env-file",
    },
    kind="package",
    posix=True,
)


def _execute(call: Call, _program: Program) -> None:
    """``npx tool`` is the tool where it has a row, else a package that is fetched and run."""
    words = call.words[call.skip :]
    wanted = _EXECUTE_ROW
    split = Split(words, table_of(wanted), posix=True, single=False)
    for _, option, value in split.given:
        if option.role is Role.OBJECT and value is not None:
            call.object("package.install", "package", value)
        elif option.role is Role.RUN:
            call.unseen("a shell line")
    operands = split.operands
    if not operands:
        if not call.drafts:
            call.effect("system.read")
        return
    tool = operands[0]
    name = tool.text if tool.text.startswith("@") else tool.text.partition("@")[0]
    from agentsfence_core.classification.shell.programs import program_named  # noqa: PLC0415  (the whole table)

    local = call.words[0].text in {"uv", "poetry", "pdm", "pipenv", "rye", "bundle", "composer"}
    row = program_named(name) if tool.literal and "/" not in name else None
    # A name that a registry resolves is not the program of the system: only development tools are what they are called.
    if row is not None and (local or row.does in {"test.run", "lint.run", "build.run", "database.write"}):
        nested(call, [Word(name), *operands[1:]])
        return
    if ("/" in name and not name.startswith("@")) or name.endswith((".py", ".sh", ".js")):
        script(call, tool, operands[1:])
        return
    call.object("package.install", "package", tool)
    call.unseen("a package that is fetched and run", "package.install")


def _manage(
    commands: dict[str, Program],
    *,
    scripts: bool = False,
    bare: str = "system.read",
    options: str = "",
    unseen: str = "",
) -> Program:
    """Return a row for a package manager; with ``scripts`` an unknown subcommand is a project script."""
    return Program(
        "package.install",
        subcommands=commands,
        options={Role.TEXT: options, Role.UNSEEN: unseen},
        bare=bare,
        otherwise=Program("script.run", hook=_named_script) if scripts else None,
    )


def _named_script(call: Call, _program: Program) -> None:
    run_by_name(call, call.words[1], call.words[2:])


Hook = Callable[[Call, Program], None]
_RUN = Program("script.run", options={Role.TEXT: "-w --workspace --prefix -C --filter -F --cwd"}, hook=_run)
_EXEC = Program("package.install", hook=_execute)
_NPM_INSTALL = install(
    "--prefix --save-prefix -w --workspace --tag --loglevel --omit --include --cwd -C --filter -F",
    unseen="--script-shell",
)
_NPM = {
    **rows(
        "install i add in ins inst isntall ci clean-install install-test it link ln rebuild update up upgrade dedupe ddp import approve-builds",
        _NPM_INSTALL,
    ),
    **rows(
        "ls list ll la view info show v outdated audit why explain help bin root prefix ping doctor fund docs repo bugs whoami search find query sbom diff licenses",
        LIST,
    ),
    **rows("search find s", SEARCH),
    **rows("uninstall un unlink remove rm r prune autoremove", REMOVE),
    **rows("test t tst", TEST),
    **rows("run run-script rum urn", _RUN),
    **rows("exec x dlx", _EXEC),
    **rows("start stop restart dev serve preview", Program("process.control", rest=Role.TEXT)),
    "audit fix": UPDATE,
    "build": BUILD,
    "publish": Program("package.publish", rest=Role.TARGET, options={Role.TEXT: "--tag --access --otp --registry"}),
    **rows("unpublish", Program("repo.delete", rest=Role.OBJECT, kind="package")),
    **rows("deprecate undeprecate dist-tag", Program("package.publish", rest=Role.OBJECT, kind="package")),
    **rows("login logout adduser token owner access team hook profile trust", Program("account.security")),
    "version": Program("git.commit"),
    "pack": BUILD,
    "init": Program("file.write", hook=lambda call, _program: _start_project(call)),
    **rows("create", Program("package.install", rest=Role.OBJECT, kind="package", sure=False)),
    "config": Program("system.configure", hook=lambda call, _program: _config(call)),
    **rows("get", LIST),
    "set": Program("system.configure"),
    **rows("cache", Program("system.read", hook=lambda call, _program: _cache(call))),
    "pkg": Program("file.write", hook=lambda call, _program: _pkg(call)),
    "node": Program("script.run", sure=False),
    "store": Program("system.read", hook=lambda call, _program: _cache(call)),
    "patch": Program("file.write"),
    "workspaces list": LIST,
    "workspaces info": LIST,
    "workspaces": Program("script.run", sure=False),
    "workspace": Program("script.run", sure=False),
}


def _start_project(call: Call) -> None:
    """``npm init`` writes a file; with a name it fetches that package and runs it."""
    call.effect("file.write")
    for word in [word for word in call.words[call.skip :] if word.text[:1] != "-"][:1]:
        call.object("package.install", "package", word)
        call.unseen("a package that is fetched and run", "package.install")


def _config(call: Call) -> None:
    words = [word.text for word in call.words if word.text[:1] != "-"]
    reads = {"get", "list", "ls", "debug"} & set(words)
    shown = "secret.read" if reads and any(SECRET.search(word) for word in words) else "system.read"
    call.effect(shown if reads or len(words) < 3 else "system.configure")


def _version(call: Call) -> None:
    """``version`` alone prints; with a word it writes the project's file."""
    bumps = any(word.text[:1] != "-" or word.text.startswith("--bump") for word in call.words[call.skip :])
    call.effect("file.write" if bumps else "file.read")


def _cache(call: Call) -> None:
    words = {word.text for word in call.words}
    acts = words & {"clean", "clear", "rm", "purge", "remove", "prune", "verify"}
    call.effect("file.delete" if acts - {"verify"} else "system.read")


def _pkg(call: Call) -> None:
    words = {word.text for word in call.words}
    call.effect("file.read" if "get" in words else "file.write")


_PIP_INSTALL = install(
    "--python --platform --abi --python-version --implementation --progress-bar --proxy --timeout --retries "
    "--trusted-host --cache-dir --upgrade-strategy --report --no-binary --only-binary --group --extra",
    unseen="-t --target --prefix --root -f --src --config-settings -C",
    read="-r --requirement -c --constraint -e --editable --requirements --constraints",
)
_PIP = {
    **rows("install download wheel", _PIP_INSTALL),
    **rows("list show freeze check search index debug inspect help hash", LIST),
    "tree": LIST,
    "uninstall": Program("package.remove", rest=Role.OBJECT, kind="package", options={Role.READ: "-r --requirement"}),
    "config": Program("system.configure", hook=lambda call, _program: _config(call)),
    "cache": Program("system.read", hook=lambda call, _program: _cache(call)),
    **rows("compile sync", _PIP_INSTALL),
}
_UV = {
    **{f"pip {name}": row for name, row in _PIP.items()},
    **rows("sync add lock", _PIP_INSTALL),
    "remove": REMOVE,
    "tree": LIST,
    "export": Program("file.read", options={Role.WRITE: "-o --output-file"}),
    "run": _EXEC,
    "tool run": _EXEC,
    "tool install": _PIP_INSTALL,
    "tool upgrade": _PIP_INSTALL,
    "tool list": LIST,
    "tool uninstall": REMOVE,
    "python list": LIST,
    "python find": LIST,
    "python install": _PIP_INSTALL,
    "python uninstall": REMOVE,
    "venv": Program("file.write", rest=Role.TARGET, options={Role.TEXT: "-p --python --prompt"}),
    "init": Program("file.write", rest=Role.TARGET),
    "build": BUILD,
    "publish": Program("package.publish"),
    "version": Program("file.read", hook=lambda call, _program: _version(call)),
    "format": LINT,
    **rows("help self cache", LIST),
    "cache clean": Program("file.delete"),
    "cache prune": Program("file.delete"),
    "self update": UPDATE,
}
_POETRY = {
    **rows("install add update lock sync self", _PIP_INSTALL),
    "remove": REMOVE,
    **rows("show check search about list", LIST),
    "env info": LIST,
    "env list": LIST,
    "env use": Program("system.configure"),
    "version": Program("file.read", hook=lambda call, _program: _version(call)),
    "env remove": Program("file.delete"),
    "run": _EXEC,
    "build": BUILD,
    "publish": Program("package.publish"),
    **rows("new init", Program("file.write", rest=Role.TARGET)),
    "config": Program("system.configure"),
    "shell": Program("shell.exec", sure=False),
    "graph": LIST,
    "test": TEST,
}


def _system(installs: str, removes: str, lists: str) -> dict[str, Program]:
    return {
        **rows(
            installs,
            install(
                "-t --target-release --enablerepo --disablerepo", unseen="-o --option -c --config-file --installroot"
            ),
        ),
        **rows(removes, REMOVE),
        **rows(lists, LIST),
    }


_APT = (
    _system(
        "install upgrade full-upgrade dist-upgrade update build-dep reinstall source download satisfy",
        "remove purge autoremove autopurge",
        "list show search policy changelog depends rdepends moo check showpkg stats madison pkgnames dump indextargets",
    )
    | rows("clean autoclean", Program("file.delete"))
    | rows("edit-sources", Program("system.configure"))
)


def _pacman(call: Call, _program: Program) -> None:
    """``pacman -S`` installs, ``-R`` removes, ``-Q`` looks."""
    flags = next((word.text for word in call.words[1:] if word.text.startswith("-")), "")
    names = [word for word in call.words[1:] if not word.text.startswith("-")]
    capability = "package.install"
    if flags.startswith(("-Q", "-F", "--query", "-T", "-V", "-h")) or (
        flags.startswith("-S") and set(flags) & set("sigl")
    ):
        capability = "system.read"
    elif flags.startswith(("-R", "--remove", "-Sc")):
        capability = "package.remove"
    call.effect(capability)
    for word in names if capability != "system.read" else ():
        call.object(capability, "package", word)


def _dpkg(call: Call, _program: Program) -> None:
    """``dpkg -i`` installs, ``-r`` and ``-P`` remove, the rest looks."""
    words = call.words[1:]
    flags = {word.text for word in words if word.text.startswith("-")}
    names = [word for word in words if not word.text.startswith("-")]
    if flags & {"-i", "--install", "--unpack", "--configure", "-U", "-Uvh", "-ivh", "-F", "--upgrade", "-a"}:
        capability = "package.install"
    elif flags & {"-r", "--remove", "-P", "--purge", "-e", "--erase"}:
        capability = "package.remove"
    elif flags & {"-x", "-X", "--extract", "-b", "--build", "-R", "--set-selections"}:
        capability = "file.write"
    else:
        capability = "system.read"
    call.effect(capability)
    if any(word.text.startswith(_RPM_RUNS) for word in words) and call.words[0].text == "rpm":
        call.unseen("a macro can run a program")
    for word in names if capability.startswith("package") else ():
        call.object(capability, "package", word)


_RPM_RUNS = ("--ev", "-E", "--def", "-D", "--pipe", "--mac", "--rcf", "--load", "--predef")
PROGRAMS = {
    "bun": Program("package.install", subcommands=_NPM, options={Role.TEXT: "--filter -F --registry -w --cwd", Role.UNSEEN: "-e --eval -p --print -r --preload -c --config --import --require"}, bare="system.read"),
    **rows("npm pnpm", _manage(_NPM, options="--prefix -C --dir --filter -F --registry -w --workspace --loglevel --cwd")),
    "yarn": _manage({**_NPM, **rows("global", _NPM_INSTALL), "upgrade-interactive": UPDATE, "plugin": UPDATE, "set version": UPDATE}, scripts=True, bare="package.install", options="--cwd"),
    **rows("npx bunx pnpx uvx", _EXEC),
    "corepack": Program("package.install"),
    **rows("nvm fnm volta n asdf rbenv pyenv rustup sdk", _manage({**rows("list ls ls-remote current version versions which where show --version list-remote", LIST), **rows("use global local default alias", Program("system.configure")), **rows("uninstall remove", REMOVE), **rows("install update upgrade add self component target toolchain latest lts fetch", UPDATE)})),
    "pip": Program("package.install", subcommands=_PIP, options={Role.TEXT: "--proxy --timeout --retries --cache-dir", Role.UNSEEN: "--python", Role.WRITE: "--log"}, bare="system.read"),
    "pipx": _manage({**_PIP, "run": _EXEC, "upgrade": UPDATE, "upgrade-all": UPDATE, "inject": UPDATE, "ensurepath": Program("system.configure"), "environment": LIST}),
    "pip-compile": Program("file.write", rest=Role.READ, options={Role.WRITE: "-o --output-file"}),
    "pip-sync": _PIP_INSTALL,
    "pip-audit": LIST,
    "uv": _manage(_UV, options="--directory --project --python -p --cache-dir --config-file"),
    **rows("poetry pdm pipenv rye", _manage(_POETRY, options="-C --directory -P --project")),
    "hatch": _manage({"build": BUILD, "test": TEST, "fmt": LINT, "run": _RUN, "publish": Program("package.publish"), "version": Program("file.read"), "env show": LIST, "env find": LIST, "env remove": Program("file.delete"), "env prune": Program("file.delete"), "env run": Program("script.run", sure=False), "env create": UPDATE, "status": LIST, "dep": LIST, "new": Program("file.write")}),
    **rows("conda mamba micromamba", _manage({**rows("list info search", LIST), "env list": LIST, "env remove": REMOVE, "config": Program("system.configure"), **rows("install create update upgrade", install("-n --name -c --channel -p --prefix", read="-f --file")), "env create": install("-n", read="-f --file"), "env update": install("-n", read="-f --file"), **rows("remove uninstall", REMOVE), "run": Program("script.run", sure=False), "clean": Program("file.delete"), **rows("activate deactivate", Program("system.configure"))})),
    **rows("apt apt-get aptitude apt-cache nala", _manage(_APT, options="-t", unseen="-o -c")),
    **rows("dnf yum zypper tdnf microdnf", _manage(_system("install upgrade update in up dup reinstall groupinstall localinstall swap downgrade refresh makecache builddep", "remove rm erase autoremove", "list info search repolist provides se if history check-update repoquery deplist lr what-provides") | rows("clean", Program("file.delete")), unseen="-c --installroot")),
    **rows("apk", _manage(_system("add upgrade update fix", "del", "info list search policy stats version"))),
    **rows("pacman yay paru", Program("package.install", hook=_pacman)),
    **rows("dpkg rpm", Program("package.install", hook=_dpkg)),
    "dpkg-query": LIST,
    **rows("brew port", _manage(_system("install upgrade update reinstall tap link", "uninstall remove rm autoremove untap unlink", "list ls info search deps outdated doctor config leaves uses desc home log --prefix --version cat") | {"cleanup": Program("file.delete"), "services list": LIST, "services": Program("process.control"), "bundle": UPDATE})),
    **rows("snap flatpak", _manage(_system("install refresh update", "remove uninstall", "list info find search remotes remote-ls history") | {"run": Program("script.run", sure=False)})),
    **rows("choco scoop winget", _manage(_system("install upgrade update add", "uninstall remove", "list search info show outdated"))),
    **rows("nix-env nix-shell nixos-rebuild", Program("package.install", sure=False)),
    "nix": _manage({**rows("search show path-info log", LIST), **rows("build develop flake", BUILD), **rows("run shell", Program("package.install", sure=False)), **rows("profile", UPDATE)}),
    "gem": _manage(_system("install update fetch", "uninstall cleanup", "list search info env environment contents dependency outdated which query specification help") | {"build": BUILD, "push": Program("package.publish"), "yank": Program("repo.delete"), "signin": Program("account.security"), "owner": Program("repo.admin")}),
    "bundle": _manage({**rows("install update add lock", install("--path --jobs --without")), "remove": REMOVE, **rows("list show info outdated check platform", LIST), "exec": _EXEC, "config": Program("system.configure"), "clean": Program("file.delete"), "init": Program("file.write")}, bare="package.install"),
    "composer": _manage({**rows("install update require", install("-d --working-dir")), "remove": REMOVE, **rows("show info outdated validate licenses diagnose audit depends why", LIST), "dump-autoload": Program("file.write"), "create-project": UPDATE, "exec": _EXEC, "run-script": _RUN, "run": _RUN, "test": TEST}),
    "cpan": UPDATE,
    "cpanm": UPDATE,
    "luarocks": _manage(_system("install make build", "remove purge", "list show search path config")),
    **rows("pod", _manage({**rows("install update", UPDATE), **rows("list search", LIST)})),
    "twine": _manage({"upload": Program("package.publish", rest=Role.READ), "check": LIST}),
    **rows("pre-commit", _manage({"run": LINT, **rows("install autoupdate uninstall", Program("git.config")), "clean": Program("file.delete")})),
    "ensurepip": UPDATE,
}  # fmt: skip
