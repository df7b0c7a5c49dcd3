"""Hostile text: never an exception, never a read where bash itself refuses the text, never more than linear time."""

# ruff: noqa: E501  (pieces of hostile text, many a line)
from __future__ import annotations

import shutil
import subprocess
import sys
import textwrap
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentsfence_core.classification.shell import read_argv, read_command
from agentsfence_core.classification.shell.programs import all_programs
from agentsfence_core.model import Risk

PIECES = [
    "ls", "cat f", "rm x", "echo", "git log", "sort -o y", "curl", "env", "sudo", "xargs", "find . -exec", "sh -c", "eval", "cd d",
    "'", '"', "`", "$(", ")", "(", "{", "}", ";", "&", "&&", "||", "|", "|&", ">", ">>", "<", "<<E", "<<'E'", "<<<", "\n", "E\n",
    " ", "\t", "#", "\\", "$x", "${x", "${x:-", "}", "$((", "))", "[[", "]]", "[", "]", "if", "then", "fi", "for", "in", "do", "done",
    "while", "case", "esac", "function", "f()", "!", "=", "x=", "*", "?", "~", "-", "--", "2>&1", "&>", "<(", ">(", "\r", "\0",
    "\u00a0", "é", "\u200b", "\U0001f600", ";;", "$'", "a[", "+=", "coproc", "time", "export", "@P}", "<>", "1", "/dev/tcp/h/1",
]  # fmt: skip
SCRIPTS = st.lists(st.sampled_from(PIECES), max_size=30).map("".join) | st.lists(
    st.sampled_from(PIECES), max_size=30
).map(" ".join)
QUICK = settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
BASH = shutil.which("bash")


@QUICK
@given(SCRIPTS | st.text(max_size=200), st.sampled_from(["posix", "powershell", "cmd"]))
def test_total_no_text_raises_and_every_reading_has_effects(text: str, grammar: str) -> None:
    assert read_command(text, workdir="/srv/w", home="/home/u", grammar=grammar).effects


@QUICK
@given(st.binary(max_size=300))
def test_total_random_bytes(data: bytes) -> None:
    assert read_command(data.decode("latin-1"), workdir=None, home=None).effects
    assert read_command(data.decode("utf-8", "surrogateescape"), workdir=None, home=None).effects


@QUICK
@given(st.lists(st.text(max_size=40) | st.sampled_from(PIECES), max_size=12))
def test_total_lists_of_words(argv: list[str]) -> None:
    assert read_argv(argv, workdir="/srv/w", home=None).effects


ODD_WORDS = [
    "-", "--", "-x", "-c", "-e", "-f", "-o", "-i", "-d", "-T", "-TT", "-exec", "-delete", "--output", "--output=", "--eval",
    "a=b", "=", "", "@", ";", "+", "{}", "install", "run", "exec", "delete", "get", "push", "api", "graphql", "query=@", ":", "/",
    "~", "http://", "*", "\n", "s/", "s/a/b/e", '{print > "x"}', "\\!", ".output", "|", "%s", "\ud800", "s3://", "[::1]:2",
    "user@", "+!x", "(", ")", "-1", "source=/x,ro",
]  # fmt: skip


@QUICK
@given(st.sampled_from(sorted(all_programs())), st.lists(st.sampled_from(ODD_WORDS), max_size=6))
def test_total_every_row_on_odd_words(program: str, words: list[str]) -> None:
    assert read_argv([program, *words], workdir=None, home=None).effects
    assert read_command(" ".join([program, *words]), workdir="/srv/w", home="/home/u").effects


@QUICK
@given(SCRIPTS)
def test_deterministic(text: str) -> None:
    first = read_command(text, workdir="/srv/w", home="/home/u")

    assert read_command(text, workdir="/srv/w", home="/home/u") == first


@pytest.mark.skipif(BASH is None, reason="bash is the oracle")
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SCRIPTS.filter(lambda text: "\0" not in text))
def test_what_bash_refuses_is_never_a_read(text: str) -> None:
    assert BASH is not None
    checked = subprocess.run([BASH, "-n"], input=text.encode("utf-8", "replace"), capture_output=True, check=False)
    if checked.returncode != 0:
        reading = read_command(text, workdir="/srv/w", home="/home/u")
        assert any(effect.risk is not Risk.READ for effect in reading.effects)


FAMILIES = [
    "a|", "a;", "$(", "(", "{ ", "if a; then ", '"$(', "`", '"', "'", "a ", '"$a" ', "<<E\n", "<<'E'\n", ">f ", "a=b ", "${a:-",
    "$((1+", "\\", "#\n", "a&&", "! ", "[[ ", "[[ a =~ ", "case a in a) ", "f(){ ", "{a,", "x[", "$a", "a\n", "<(", "sudo ",
    "sh -c ", "eval ", "'a'", "\u00a0", "$'", "<<<a ", "a|b&&", "$(a) ", "git -c a=b ", "find -exec ", "a\\\n", "sed s/a/", "\r\n",
]  # fmt: skip


def test_linear_time_and_bounded_memory_on_hostile_families() -> None:
    program = textwrap.dedent(
        """
        import resource, sys, time
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        from agentsfence_core.classification.shell import read_command
        slow = []
        for family in eval(sys.stdin.read()):
            for size in (60_000, 1_000_000):
                text = (family * (size // len(family) + 1))[:size]
                for command in (text, "cat " + text):
                    start = time.process_time()
                    read_command(command, workdir="/w", home="/h")
                    spent = time.process_time() - start
                    if spent > 3:
                        slow.append((family, size, spent))
        print(slow)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=repr(FAMILIES), capture_output=True, text=True, timeout=240, check=False
    )

    assert done.stdout.strip() == "[]", (done.returncode, done.stdout, done.stderr[-500:])


IN_SCRIPTS = [
    '"\\`',
    "/[",
    "/[[:a:]",
    "s/[",
    "s/[]",
    "s[",
    "a[",
    "if(",
    "getline ",
    "@f(",
    "b;",
    "w\n",
    "/\\",
    "1,",
    "[.*",
    "(a|",
    "*h",
]
"""What made readers of ``sed``, ``awk``, ``pkill`` and ``find`` slow (security review), and its like."""


@pytest.mark.parametrize("frame", ["awk '{}'", "sed '{}'", "pkill '{}'", "find ~ -name '{}' -delete", "mv ~/.'{}' x"])
def test_linear_time_in_the_languages_of_programs(frame: str) -> None:
    for family in IN_SCRIPTS:
        start = time.process_time()
        read_command(frame.replace("{}", family * (30_000 // len(family))), workdir="/w", home="/h")

        assert time.process_time() - start < 3, family
