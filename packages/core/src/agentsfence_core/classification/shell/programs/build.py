"""Build, test and lint tools: verified execution, unless an option brings in code from elsewhere."""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

import re

from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.engine import by_row, nested
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.programs.packages import BUILD, LINT, LIST, TEST, UPDATE
from agentsfence_core.classification.shell.project import RUNS
from agentsfence_core.classification.shell.rows import Program, Role, rows, table_of
from agentsfence_core.classification.shell.words import Word
from agentsfence_core.model.action import TargetKind

_PYTEST = Program(
    "test.run",
    rest=Role.TARGET,
    options={
        Role.UNSEEN: "-p -c --config-file --rootdir --confcutdir --override-ini -o --basetemp --import-mode --pythonpath "
        "--pyargs! --pdb! --trace! --pdbcls --debug? --pastebin --plugins",
        Role.WRITE: "--junitxml --junit-xml --result-log --html --json-report-file --log-file",
        Role.TEXT: "-k -m -n --numprocesses --maxfail --tb --durations --durations-min -r --cov? --cov-report --cov-fail-under "
        "--timeout --ignore --ignore-glob --deselect --dist --reruns --color --capture -W --pythonwarnings --log-level "
        "--log-cli-level --verbosity --show-capture --last-failed-no-failures --lfnf --count --randomly-seed "
        "--hypothesis-seed --hypothesis-profile --benchmark-only! --snapshot-update! --asyncio-mode --splits --group",
        Role.READ: "--cov-config",
        Role.FLAG: "-v -vv -q -s -x -l -h --lf --ff --nf --sw --no-header --no-summary --co --collect-only --verbose "
        "--quiet --exitfirst --last-failed --failed-first --new-first --stepwise --stepwise-skip --showlocals --no-cov "
        "--cache-clear --cache-show? --strict-markers --strict-config --disable-warnings --markers --fixtures --setup-show "
        "--doctest-modules --continue-on-collection-errors --full-trace --cov-append --cov-branch --no-showlocals --forked "
        "--runxfail --setup-only --fixtures-per-test --disable-pytest-warnings --help --version --noconftest "
        "--keep-duplicates --no-fold-skipped --force-short-summary --xfail-tb --strict --funcargs --trace-config --run-slow "
        "--runslow --slow --integration --live --update-snapshots",
    },
    strict=True,
)
_HARMLESS_PLUGINS = ("no:",)


def _pytest(call: Call, _program: Program) -> None:
    """``-p no:x`` only switches a plug-in off."""
    words = call.words[1:]
    kept: list[Word] = []
    skip = False
    for place, word in enumerate(words):
        if skip:
            skip = False
        elif word.text == "-p" and place + 1 < len(words) and words[place + 1].text.startswith(_HARMLESS_PLUGINS):
            skip = True
        elif not (word.text.startswith("-pno:")):
            kept.append(word)
    by_row(call, _PYTEST, kept)


_TEST_TARGETS = frozenset(
    "test tests check unittest unit-test unit-tests spec e2e integration coverage cov pytest verify test-unit test-integration".split()
)
_LINT_TARGETS = frozenset("lint format fmt typecheck types mypy ruff style black flake8 eslint pre-commit".split())
_BUILD_TARGETS = frozenset(
    "all build compile docs doc html dist bundle package bin app release debug help generate proto".split()
)
_MAKE = Program(
    "build.run",
    options={
        Role.UNSEEN: "-f --file --makefile -C --directory -I --include-dir --eval -E",
        Role.TEXT: "-j? --jobs? -l? --load-average? -o --old-file -W --what-if -O? --output-sync? --shuffle?",
    },
)


def _make(call: Call, program: Program) -> None:
    """``make test`` tests, ``make lint`` lints, ``make`` builds; another target does what nobody can see from here."""
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    for name, option, value in split.given:
        if option.role is Role.UNSEEN and not (name in {"C", "directory"} and value is not None and value.text == "."):
            call.unseen("a makefile from elsewhere", "build.run")
            if value is not None:
                call.path("build.run", value)
    if {"n", "just-print", "dry-run", "q", "question"} & set(split.strays) and not call.drafts:
        call.unseen("make expands its file", "build.run")
    targets = []
    chosen = False
    for word in split.operands:
        if "=" in word.text:
            chosen = chosen or _chooses(word)
        else:
            targets.append(word)
    if not targets:
        call.effect("build.run")
    for word in targets:
        _make_target(call, word)
    for capability in RUNS.intersection(call.drafts) if chosen else ():
        call.unseen("a variable of the makefile can name a program", capability)


_PLAIN_VALUE = re.compile(r"[\w.,+=-]*|/usr/bin/[\w.-]+|/usr/local|/usr")
_MAKE_PROGRAMS = (
    "CC CXX LD AR AS CPP SHELL PYTHON PYTHON3 NODE NPM GO CARGO RUSTC CMAKE CTEST PYTEST MAKE MAKEFLAGS "
    "MAKEFILES GNUMAKEFLAGS BASH_ENV CMD EXE BIN RUNNER WRAPPER LAUNCHER COMPILER INTERPRETER"
).split()
_KNOWN_PROGRAMS = frozenset(
    "gcc g++ clang clang++ cc c++ ld ar sh bash /bin/sh /bin/bash python python3 node npm go cargo pytest cmake ctest".split()
)


def _chooses(word: Word) -> bool:
    """Whether ``NAME=value`` can make the makefile start another program: ``V=1`` cannot, ``CC=/tmp/x`` can."""
    name, _, value = word.text.partition("=")
    name = name.rstrip(":+?")
    if not word.sure:
        return True
    if value in _KNOWN_PROGRAMS:
        return False
    if name in _MAKE_PROGRAMS or name.rpartition("_")[2] in _MAKE_PROGRAMS:
        return True
    return _PLAIN_VALUE.fullmatch(value[:400]) is None


def _make_target(call: Call, word: Word) -> None:
    name = word.text
    capability = "test.run" if name in _TEST_TARGETS else "lint.run" if name in _LINT_TARGETS else "build.run"
    call.value(capability, "target", name[:80])
    if "clean" in name:
        call.unverified("file.delete", TargetKind.PATHS)
    elif capability == "build.run" and (name not in _BUILD_TARGETS or not word.literal):
        call.unseen(f"make {name[:40]}", capability)


def _tool(
    capability: str,
    *,
    write: str = "",
    unseen: str = "",
    text: str = "",
    reads: str = "",
    run: str = "",
    read: str = "",
    single: bool = False,
) -> Program:
    """Return a row for a tool that works on the paths it is given."""
    return Program(
        capability,
        rest=Role.TARGET,
        options={Role.WRITE: write, Role.UNSEEN: unseen, Role.TEXT: text, Role.RUN: run, Role.READ: read},
        instead={"file.read": reads} if reads else {},
        single=single,
    )


def _compiler() -> Program:
    """``cc -o x a.c``: reads sources, writes the output; plug-ins and wrappers are programs."""
    return Program(
        "build.run",
        rest=Role.READ,
        options={
            Role.WRITE: "-o -MF",
            Role.TEXT: "-I? -L? -l? -D? -U? -O? -std? -x -MT -MQ -isystem -include -arch -target -march? -m? -W? -f? -g?",
            Role.UNSEEN: "-wrapper -fplugin -specs -B -Xlinker",
        },
        single=True,
    )


_CARGO = {
    **rows("build b rustc doc d bench package", Program("build.run", rest=Role.TEXT)),
    **rows("test t nextest miri", TEST),
    **rows("check c clippy fmt fix", LINT),
    **rows("run r", Program("script.run", sure=False)),
    **rows(
        "tree metadata search version help locate-project pkgid read-manifest verify-project audit outdated info", LIST
    ),
    **rows("add update fetch generate-lockfile vendor", UPDATE),
    "install": Program(
        "package.install",
        rest=Role.OBJECT,
        kind="package",
        options={Role.TEXT: "--version --git --path --root --features --branch"},
    ),
    **rows("remove rm uninstall", Program("package.remove", rest=Role.OBJECT, kind="package")),
    "clean": Program("file.delete"),
    "publish": Program("package.publish"),
    "yank": Program("repo.delete", rest=Role.OBJECT, kind="package"),
    **rows("login logout owner", Program("account.security")),
    **rows("new init", Program("file.write", rest=Role.TARGET)),
}
_GO = {
    **rows(
        "build",
        Program(
            "build.run",
            rest=Role.TEXT,
            options={
                Role.WRITE: "-o",
                Role.RUN: "-toolexec",
                Role.UNSEEN: "-overlay -modfile",
                Role.TEXT: "-ldflags -gcflags -tags -p -mod",
            },
            single=True,
        ),
    ),
    "test": Program(
        "test.run",
        rest=Role.TEXT,
        options={
            Role.RUN: "-exec -toolexec",
            Role.UNSEEN: "-overlay -modfile",
            Role.WRITE: "-o -coverprofile -cpuprofile -memprofile -trace -blockprofile",
            Role.TEXT: "-run -bench -count -timeout -tags -cover! -parallel -p -skip",
        },
        single=True,
    ),
    "vet": Program("lint.run", rest=Role.TEXT, options={Role.RUN: "-vettool -toolexec"}, single=True),
    **rows("fmt fix", LINT),
    **rows("version doc", LIST),
    "list": Program(
        "system.read",
        options={
            Role.RUN: "-toolexec -exec",
            Role.UNSEEN: "-overlay -modfile -vettool",
            Role.TEXT: "-f -tags -mod -C -p",
        },
        single=True,
    ),
    "env": Program("system.read", also={"system.configure": "-w -u"}),
    **rows("run generate tool", Program("script.run", rest=Role.TARGET, sure=False)),
    **rows("get install", Program("package.install", rest=Role.OBJECT, kind="package")),
    "mod download": UPDATE,
    **rows("mod", Program("file.write")),
    "mod graph": LIST,
    "mod why": LIST,
    "mod verify": LIST,
    "clean": Program("file.delete"),
    "work": Program("file.write"),
}


def _gradle(call: Call, program: Program) -> None:
    """Gradle and Maven run the tasks that they are given; known ones are builds and tests."""
    split = Split(call.words[1:], table_of(program), posix=False, single=True)
    for _, option, value in split.given:
        if option.role is Role.UNSEEN:
            call.unseen("a build file from elsewhere", "build.run")
            del value
    known = {
        "build",
        "assemble",
        "compile",
        "package",
        "install",
        "jar",
        "classes",
        "compileJava",
        "verify",
        "site",
        "bootJar",
        "compileKotlin",
        "war",
        "test-compile",
        "process-resources",
        "validate",
    }
    reads = {"tasks", "projects", "dependencies", "properties", "help", "dependency:tree"}
    if not split.operands:
        call.effect("build.run")
    for word in split.operands:
        name = word.text.rpartition(":")[2] if word.text.startswith(":") else word.text
        if name in {"test", "check", "integrationTest", "surefire:test", "connectedCheck"}:
            call.effect("test.run")
        elif name in {"clean", "cleanBuild"}:
            call.unverified("file.delete", TargetKind.PATHS)
            call.effect("build.run")
        elif name in reads:
            call.effect("build.run")
        elif name in {"publish", "deploy", "publishToMavenLocal", "release:perform", "uploadArchives"}:
            call.effect("package.publish")
        elif name in known:
            call.effect("build.run")
        else:
            call.unseen(f"task {name[:40]}", "build.run")


def _just(call: Call, program: Program) -> None:
    """``just``, ``task``, ``rake``, ``invoke``, ``nox``, ``tox``: a recipe's name says whether it tests, lints or builds."""
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    for _, option, _value in split.given:
        if option.role is Role.UNSEEN:
            call.unseen("recipes from elsewhere", "build.run")
    if {"l", "list", "summary", "T", "tasks", "list-all"} & set(split.strays):
        call.effect("file.read")
        return
    if not split.operands:
        call.unseen("the default recipe", "build.run")
    for word in split.operands[:1]:
        _make_target(call, word)


_TOX_ROW = Program(
    "test.run",
    options={
        Role.UNSEEN: "-c --conf -f --noxfile",
        Role.TEXT: "-e -s --session --sessions -k -p? -m -t --tags --workdir --envdir -r!",
    },
    posix=True,
)


def _tox(call: Call, _program: Program) -> None:
    """``tox`` and ``nox`` run the project's own checks."""
    row = _TOX_ROW
    by_row(call, row, call.words[1:])


_RECIPES = Program(
    "build.run",
    options={
        Role.UNSEEN: "-f --justfile --taskfile --rakefile -d --working-directory --dir -C --chooser --shell",
        Role.TEXT: "--set -D",
    },
    hook=_just,
)


def _bundler(call: Call, program: Program) -> None:
    """Bundlers build; ``dev`` and ``serve`` start a server, ``test`` and ``lint`` do that, ``deploy`` goes out."""
    names = {word.text for word in call.words[1:3]}
    by_row(call, program, call.words[1:])
    found = call.drafts.pop("build.run", None)
    kinds = {
        "process.control": {"dev", "serve", "start", "preview", "server", "watch"},
        "test.run": {"test", "e2e"},
        "lint.run": {"lint", "check", "fmt", "format"},
        "deploy.run": {"deploy", "gh-deploy", "publish", "eas"},
    }
    capability = next((capability for capability, known in kinds.items() if names & known), "build.run")
    draft = call.effect(capability)
    if found is not None:
        draft.unverified |= found.unverified


def _coverage(call: Call) -> None:
    """``coverage run -m pytest`` is pytest; another module or script is unverified."""
    words = call.words[2:]
    skip = {"--source", "--omit", "--include", "--rcfile", "--data-file", "--context", "--concurrency"}
    while words and words[0].text.startswith("-") and words[0].text not in {"-m", "--module"}:
        words = words[2:] if words[0].text in skip else words[1:]
    nested(call, [Word("python"), *words])


PROGRAMS = {
    **rows("pytest py.test", Program("test.run", hook=_pytest)),
    **rows("tox nox", Program("test.run", hook=_tox)),
    **rows("nose2 unittest stestr", _tool("test.run", unseen="-c --config --plugin", text="-s -p -k")),
    "coverage": Program("test.run", subcommands={**rows("report annotate debug", LIST), **rows("html xml json lcov combine", Program("file.write")), "erase": Program("file.delete"), "run": Program("script.run", hook=lambda call, _program: _coverage(call))}),
    **rows("jest vitest mocha ava karma cypress playwright jasmine nyc c8 tap bats shellspec phpunit rspec minitest ctest busted codecept pest lit", _tool("test.run", unseen="-c --config --require -r --setupFiles --globalSetup --rootDir", text="-t --testNamePattern -g --grep --reporter --timeout --filter -j --project -R", write="--outputFile --json-output -o --output")),
    **rows("make gmake bmake", Program("build.run", options=_MAKE.options, hook=_make)),
    **rows("ninja samu scons meson waf", Program("build.run", rest=Role.TEXT, options={Role.UNSEEN: "-f -C", Role.TEXT: "-j -l -k"})),
    "cmake": Program("build.run", rest=Role.READ, options={Role.TEXT: "-D? -G -B -S -j? --build --target -t --config --preset --install --prefix", Role.UNSEEN: "-P -C -E! --script"}),
    **rows("bazel bazelisk buck2 buck pants", Program("build.run", subcommands={**rows("build", BUILD), **rows("test coverage", TEST), **rows("run", Program("script.run", sure=False)), **rows("query cquery aquery info version help", LIST), "clean": Program("file.delete"), **rows("lint fmt check", LINT)})),
    **rows("just task rake invoke inv grunt gulp mage doit pyinvoke", _RECIPES),
    **rows("gradle gradlew mvn mvnw ant sbt lein mill", Program("build.run", options={Role.UNSEEN: "-b --build-file -I --init-script -c --settings-file -p --project-dir -f --file -s -gs --include-build", Role.TEXT: "-P? -D? -x --tests -pl -T"}, hook=_gradle)),
    "cargo": Program("build.run", subcommands=_CARGO, options={Role.UNSEEN: "--config -Z -C", Role.TEXT: "--color"}),
    "go": Program("build.run", subcommands=_GO, options={Role.UNSEEN: "-C"}),
    "rustc": Program("build.run", rest=Role.READ, options={Role.WRITE: "-o --out-dir", Role.UNSEEN: "-C --codegen --extern -L"}),
    **rows("gcc g++ cc c++ clang clang++ tcc icc nvcc gfortran gdc ldc2", _compiler()),
    **rows("ld as objcopy ranlib nasm yasm", Program("build.run", rest=Role.READ, options={Role.WRITE: "-o"})),
    "strip": Program("file.write", rest=Role.TARGET, options={Role.WRITE: "-o"}),
    **rows("nm objdump readelf size otool addr2line c++filt dwarfdump", Program("file.read", rest=Role.TARGET)),
    "ldd": Program("code.exec", rest=Role.READ, sure=False),
    **rows("javac kotlinc scalac ghc ocamlfind dmd zig valac fpc", _tool("build.run", unseen="-processorpath -processor -Xplugin", text="-d -cp -classpath", single=True)),
    "dotnet": Program("build.run", subcommands={**rows("build pack msbuild", BUILD), "publish": BUILD, **rows("test vstest", TEST), **rows("run watch exec", Program("script.run", sure=False)), **rows("restore add tool workload", UPDATE), "remove": Program("package.remove"), **rows("list --info --list-sdks --version", LIST), "format": LINT, "clean": Program("file.delete"), "new": Program("file.write"), "sln list": LIST, "sln": Program("file.write"), "nuget push": Program("package.publish"), "nuget delete": Program("repo.delete")}),
    **rows("msbuild xcodebuild", BUILD),
    "swift": Program("build.run", subcommands={**rows("build", BUILD), **rows("test", TEST), "run": Program("script.run", sure=False), "package": UPDATE}),
    "flutter": Program("build.run", subcommands={**rows("build", BUILD), **rows("test", TEST), **rows("analyze format", LINT), "run": Program("script.run", sure=False), **rows("pub", UPDATE), **rows("doctor devices --version", LIST), "clean": Program("file.delete")}),
    "mix": Program("build.run", subcommands={**rows("compile", BUILD), **rows("test", TEST), **rows("format credo dialyzer", LINT), **rows("deps.get deps.update", UPDATE), "run": Program("script.run", sure=False)}),
    **rows("stack cabal dune opam rebar3", Program("build.run", subcommands={**rows("build compile", BUILD), **rows("test runtest", TEST), **rows("run exec", Program("script.run", sure=False)), **rows("install update add", UPDATE), "clean": Program("file.delete"), **rows("list info show", LIST)})),
    **rows("mypy pyright basedpyright flake8 pylint bandit pycodestyle pydocstyle vulture radon dmypy pyre pytype ty safety", _tool("lint.run", unseen="--load-plugins --init-hook --plugin --custom-typeshed-dir", text="-p -m --python-version --select --ignore --max-line-length --disable --enable --format -f --exclude", read="--config-file --rcfile -c --config", write="--output-file -o")),
    "ruff": Program("lint.run", subcommands={**rows("check format", _tool("lint.run", read="--config", text="--select --ignore --extend-select --output-format --target-version --line-length --exclude", write="--output-file -o")), **rows("rule config linter version server help analyze", LIST), "clean": Program("file.delete")}, options={Role.READ: "--config"}, otherwise=_tool("lint.run")),
    **rows("black isort autopep8 yapf prettier eslint tslint standard biome dprint rubocop standardrb gofmt goimports golangci-lint rustfmt clang-format clang-tidy shfmt stylua ktlint swiftlint swiftformat php-cs-fixer phpstan psalm phpcs phpcbf stylelint markdownlint markdownlint-cli2 oxlint xo djlint sqlfluff taplo yamlfmt google-java-format pyupgrade autoflake docformatter credo cpplint cppcheck nixfmt alejandra buf", _tool("lint.run", unseen="--plugin --rulesdir --resolve-plugins-relative-to --parser --require -r --load --plugin-search-dir", text="-l --line-length --target-version --ext --rule --format -f --max-warnings -t --log-level", read="-c --config --ignore-path", write="-o --output-file")),
    **rows("shellcheck hadolint yamllint jsonlint actionlint tflint checkov trivy semgrep gitleaks trufflehog dive grype syft codespell typos vale ansible-lint kubeconform kubeval htmlhint lychee", _tool("lint.run", text="-s --shell -e -x -f --format --severity -S", read="-c --config --config-file", write="-o --output")),
    "tsc": _tool("build.run", text="-p --project --target --module --outDir --lib --jsx", single=True),
    **rows("webpack vite rollup esbuild parcel turbo nx lerna next nuxt astro gatsby svelte-kit ng vue-cli-service react-scripts remix swc babel tsup rspack metro expo storybook hugo jekyll mkdocs sphinx-build sphinx eleventy docusaurus doxygen typedoc gitbook latexmk pdflatex xelatex lualatex typst asciidoctor", Program("build.run", hook=_bundler, options={Role.UNSEEN: "-c --config --require -r --plugin", Role.WRITE: "-o --out-dir", Role.TEXT: "--mode --port -p --host --filter --scope --target -t -b"})),
    "protoc": Program("build.run", rest=Role.READ, options={Role.UNSEEN: "--plugin"}),
    **rows("configure autoconf automake autoreconf pkg-config libtool ctags cscope gtags", Program("build.run", rest=Role.TEXT)),
    **rows("locust artillery", TEST),
    "nvidia-smi": LIST,
}  # fmt: skip
