"""What one reading says beyond its class: targets, invocations, variables, folders, here-documents, the fence's own."""

from __future__ import annotations

import pytest

from agentsfence_core.classification.shell import Reading, read_argv, read_command
from agentsfence_core.classification.shell.capabilities import RISK_OF
from agentsfence_core.classification.shell.programs import all_programs
from agentsfence_core.classification.shell.rows import Program
from agentsfence_core.classification.vocabulary import vocabulary
from agentsfence_core.limits import LIMITS
from agentsfence_core.model import Effect, Risk
from agentsfence_core.model.action import ObjectRef, TargetKind
from agentsfence_core.model.risk import RANK


def read(command: str, *, workdir: str | None = "/srv/w", grammar: str = "posix") -> Reading:
    return read_command(command, workdir=workdir, home="/home/u", grammar=grammar)


def worst(reading: Reading) -> Risk:
    return max((effect.risk for effect in reading.effects), key=lambda risk: RANK[risk])


def only(reading: Reading, capability: str) -> Effect:
    found = [effect for effect in reading.effects if effect.capability == capability]
    assert len(found) == 1, reading.effects
    return found[0]


class TestTargets:
    def test_rm_deletes_exactly_the_paths_that_it_names(self) -> None:
        effect = only(read("rm a b"), "file.delete")

        assert effect.paths == ("/srv/w/a", "/srv/w/b")
        assert effect.verified

    @pytest.mark.parametrize(
        "command", ["rm *.log", 'rm "$x"', "rm $(cat list)", "rm ~root/x", "rm {a,b}", "ls | xargs rm"]
    )
    def test_what_the_text_does_not_name_is_unverified(self, command: str) -> None:
        assert TargetKind.PATHS in only(read(command), "file.delete").unverified

    @pytest.mark.parametrize(
        "spelling",
        [
            "~/.ssh/id_rsa",
            "~/.s'sh'/id_rsa",
            "$HOME/.ssh/id_rsa",
            '"${HOME}/.ssh/id_rsa"',
            "~//.ssh/./id_rsa",
            "/home/u/a/../.ssh/id_rsa",
            r"~/.s\sh/id_rsa",
            "$'/home/u/.\\x73sh/id_rsa'",
        ],
    )
    def test_every_spelling_of_a_secret_path_is_that_path(self, spelling: str) -> None:
        assert "/home/u/.ssh/id_rsa" in only(read(f"cat {spelling}"), "file.read").paths

    def test_push_names_remote_and_branch(self) -> None:
        effect = only(read("git push origin feature-x"), "git.push")

        assert effect.objects == (ObjectRef("remote", "origin"), ObjectRef("branch", "feature-x"))

    def test_install_names_packages_without_versions(self) -> None:
        assert only(read("pip install 'a>=2' b==1.0"), "package.install").objects == (
            ObjectRef("package", "a"),
            ObjectRef("package", "b"),
        )

    def test_paths_on_another_machine_are_unverified(self) -> None:
        effect = only(read("ssh h 'rm /x'"), "file.delete")

        assert TargetKind.PATHS in effect.unverified

    def test_the_effects_of_one_command_share_an_invocation(self) -> None:
        assert {effect.invocation for effect in read("curl -d @c https://h.example").effects} == {1}

    def test_each_command_of_a_list_is_an_invocation_of_its_own(self) -> None:
        assert [effect.invocation for effect in read("rm a; rm b; rm c").effects] == [1, 2, 3]


class TestFolders:
    def test_a_folder_change_joined_by_and_moves_paths(self) -> None:
        effect = only(read("cd sub && rm a"), "file.delete")

        assert effect.paths == ("/srv/w/sub/a",)
        assert effect.verified

    @pytest.mark.parametrize(
        "command", ["cd sub; rm a", "cd sub\nrm a", "cd sub || rm a", "if cd sub; then :; fi; rm a"]
    )
    def test_a_folder_change_that_may_have_failed_leaves_both_places(self, command: str) -> None:
        effect = only(read(command), "file.delete")

        assert {"/srv/w/sub/a", "/srv/w/a"} <= set(effect.paths)
        assert TargetKind.PATHS in effect.unverified

    def test_a_subshell_keeps_its_folder_to_itself(self) -> None:
        assert only(read("(cd sub && ls) && rm a"), "file.delete").paths == ("/srv/w/a",)

    def test_without_a_known_folder_paths_stay_as_written(self) -> None:
        assert only(read("rm a", workdir=None), "file.delete").paths == ("a",)


class TestVariables:
    def test_a_value_that_the_command_fixes_is_used(self) -> None:
        assert only(read('D=/srv/w/x; rm -r "$D/y"'), "file.delete").paths == ("/srv/w/x/y",)

    @pytest.mark.parametrize(
        "command",
        [
            "D=a; D=b; rm $D",
            "D=a; read D; rm $D",
            "if x; then D=a; fi; rm $D",
            "x && D=a; rm $D",
            "(D=a); rm $D",
            "for D in a b; do :; done; rm $D",
            "D=a; eval D=b; rm $D",
            "D=a rm $D",
        ],
    )
    def test_a_value_that_may_be_another_is_not(self, command: str) -> None:
        effect = next(effect for effect in read(command).effects if effect.capability == "file.delete")

        assert TargetKind.PATHS in effect.unverified

    def test_options_hidden_in_a_variable_count(self) -> None:
        assert worst(read("x='-o out'; sort $x in")) is Risk.LOCAL_WRITE

    @pytest.mark.parametrize("command", ["echo $AWS_SECRET_ACCESS_KEY", "env", "set", "export -p", "ps eww"])
    def test_secrets_of_the_environment_are_seen(self, command: str) -> None:
        assert any("/proc/self/environ" in effect.paths for effect in read(command).effects)

    @pytest.mark.parametrize(
        "name", ["LD_PRELOAD", "BASH_ENV", "GIT_SSH_COMMAND", "PATH", "LESSOPEN", "PYTHONSTARTUP", "NODE_OPTIONS"]
    )
    @pytest.mark.parametrize("form", ["{}=./x ls", "export {}=./x; ls", "env {}=./x ls", "sudo {}=./x ls"])
    def test_a_variable_that_changes_programs_is_unverified_execution(self, name: str, form: str) -> None:
        assert worst(read(form.format(name))) is Risk.EXECUTION

    @pytest.mark.parametrize(
        "command",
        [
            "LC_ALL=C ls",
            "GIT_PAGER=cat git log",
            "PYTHONPATH=src ls",
            "NODE_ENV=test ls",
            "GIT_TERMINAL_PROMPT=0 git log",
        ],
    )
    def test_a_harmless_variable_changes_nothing(self, command: str) -> None:
        assert worst(read(command)) is Risk.READ


class TestVerified:
    @pytest.mark.parametrize(
        "command",
        [
            "pytest -q",
            "python -m pytest -x tests",
            "npm test",
            "make",
            "make test",
            "cargo build",
            "go test ./...",
            "ruff check src",
            "pip install requests",
            ".venv/bin/pytest",
        ],
    )
    def test_a_program_whose_row_says_what_it_does_is_verified(self, command: str) -> None:
        assert all(effect.verified for effect in read(command).effects)

    @pytest.mark.parametrize(
        "command",
        [
            "foo",
            "./x.sh",
            "python x.py",
            "python -c 1",
            "make deploy",
            "npm run deploy",
            "pytest -p evil",
            "pytest --rootdir=/tmp/x",
            "make -f /tmp/m",
            "make SHELL=./x",
            "eval ls",
            "$X",
            "bash x.sh",
            "npx some-package",
            "docker run x",
            "source x",
        ],
    )
    def test_everything_else_is_not(self, command: str) -> None:
        assert any(TargetKind.PROGRAM in effect.unverified for effect in read(command).effects)

    @pytest.mark.parametrize(
        "command", ["./ls", "bin/ls -la", "/tmp/git status", "/usr/bin/../../tmp/cat x", "./pytest"]
    )
    def test_a_program_of_another_folder_is_a_script(self, command: str) -> None:
        assert only(read(command), "script.run").risk is Risk.EXECUTION

    def test_a_script_is_named_by_its_path(self) -> None:
        assert only(read("python3 tools/x.py"), "script.run").paths == ("/srv/w/tools/x.py",)


class TestHereDocuments:
    def test_a_literal_body_is_data(self) -> None:
        reading = read("cat > notes.md <<'EOF'\nrm -rf / $(rm x) `rm y`\nEOF")

        assert worst(reading) is Risk.LOCAL_WRITE

    @pytest.mark.parametrize("body", ["$(rm x)", "`rm x`", "a ${b:-$(rm x)}"])
    def test_an_expanded_body_runs_its_substitutions(self, body: str) -> None:
        assert worst(read(f"cat <<EOF\n{body}\nEOF")) is Risk.DELETE

    @pytest.mark.parametrize(
        "quoted", ["echo \"<<'E'\"\nrm x\nE", "# <<'E'\nrm x\nE", "echo '<<E'\nrm x\nE", "echo $((1<<'E'))\nrm x\nE"]
    )
    def test_what_only_looks_like_a_here_document_hides_nothing(self, quoted: str) -> None:
        assert RANK[worst(read(quoted))] >= RANK[Risk.EXECUTION]

    @pytest.mark.parametrize("rest", ["; rm x", "&& rm x", "| xargs rm", "& rm x", "|| rm x"])
    def test_what_follows_on_the_line_counts(self, rest: str) -> None:
        assert worst(read(f"cat <<E {rest}\nhi\nE")) is Risk.DELETE

    def test_a_body_of_thousands_of_operators_is_still_data(self) -> None:
        body = "f(x) | g(x) && {y};\n" * 2_000
        reading = read(f"cat > a.py <<'EOF'\n{body}EOF")

        assert worst(reading) is Risk.LOCAL_WRITE


class TestOwnProtection:
    @pytest.mark.parametrize(
        "command",
        [
            "agentsfence uninstall --yes",
            "agentsfence approve q1",
            "python -m agentsfence unprotect",
            "hermes -p default plugins disable agentsfence",
            "hermes 'plu'gins disable x",
            "sudo env hermes config set approvals.mode off",
            "pkill -f hermes",
            "kill $(pgrep -f hermes)",
            "pip uninstall -y agentsfence-core",
            "systemctl stop hermes-gateway",
            "HERMES_YOLO_MODE=1 ls",
            "export AGENTSFENCE_HOME=/tmp",
            "env HERMES_SAFE_MODE=1 ls",
            "hermes --yolo chat",
        ],
    )
    def test_switching_the_fence_off_is_control_of_it(self, command: str) -> None:
        assert any(effect.capability == "fence.control" for effect in read(command).effects)

    @pytest.mark.parametrize(
        "command",
        [
            "agentsfence classify x",
            "hermes config show",
            "echo hermes",
            "grep -r agentsfence .",
            "git commit -m 'hermes plugins disable'",
            "pkill node",
        ],
    )
    def test_looking_and_talking_is_not(self, command: str) -> None:
        assert not any(effect.capability == "fence.control" for effect in read(command).effects)


class TestArgv:
    def test_words_of_a_list_are_literal(self) -> None:
        reading = read_argv(["rm", "$x", "*.log"], workdir="/srv/w", home=None)

        assert reading.effects[0].paths == ("/srv/w/$x", "/srv/w/*.log")

    def test_a_shell_in_a_list_still_runs_its_text(self) -> None:
        assert worst(read_argv(["bash", "-c", "rm x"], workdir=None, home=None)) is Risk.DELETE

    def test_an_empty_list_runs_nothing(self) -> None:
        assert [effect.risk for effect in read_argv([], workdir=None, home=None).effects] == [Risk.READ]


class TestBounds:
    def test_beyond_the_limit_of_effects_the_worst_stay_and_the_rest_is_unverified(self) -> None:
        reading = read("; ".join(["ls"] * (LIMITS.command_effects + 10) + ["rm x"]))

        assert worst(reading) is Risk.DELETE
        assert reading.effects[-1].capability == "shell.exec"
        assert len(reading.effects) <= LIMITS.command_effects + len(Risk) + 1

    @pytest.mark.parametrize(
        "command",
        ["a|" * 1_000, "(" * 200 + ")" * 200, "x" * 70_000, "echo \0; rm x", "ls\rrm x", "$(" * 100, "if " * 500],
    )
    def test_beyond_a_bound_nothing_is_a_read(self, command: str) -> None:
        assert RANK[worst(read(command))] >= RANK[Risk.EXECUTION]

    def test_odd_blanks_are_letters_as_they_are_for_bash(self) -> None:
        assert worst(read("ls\u00a0#\u00a0; rm x")) is Risk.DELETE


class TestTable:
    def test_the_classes_are_those_of_the_catalogue(self) -> None:
        catalogue = vocabulary()

        assert {name: catalogue.risk_of(name) for name in RISK_OF} == RISK_OF

    def test_every_row_names_a_known_capability(self) -> None:
        assert not {name for row in _rows() for name in _capabilities(row) if name not in RISK_OF}

    def test_about_three_hundred_programs_have_rows(self) -> None:
        assert len(all_programs()) > 300


def _rows() -> list[Program]:
    found: list[Program] = []
    waiting = list(all_programs().values())
    while waiting:
        row = waiting.pop()
        found.append(row)
        waiting += list((row.subcommands or {}).values())
        waiting += [row.otherwise] if row.otherwise else []
    return found


def _capabilities(row: Program) -> set[str]:
    return {row.does, *row.also, *row.instead} | ({row.bare} if row.bare else set())
