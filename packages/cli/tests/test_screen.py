"""What reaches a terminal."""

from __future__ import annotations

import io
import sys
import time

import pytest

from agentsfence_cli import screen
from agentsfence_cli.screen import SCREEN, clean, shortened, working
from agentsfence_core.model import Verdict


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("Grüße, 你好", "Grüße, 你好"),
        ("two\nlines", "two\nlines"),
        ("\x1b[31mred", "\\u001b[31mred"),
        ("over\rwritten", "over\\u000dwritten"),
        ("a\u202eb", "a\\u202eb"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\udcff", "\\udcff"),
        ("tab\there", "tab here"),
    ],
)
def test_what_could_repaint_a_screen_is_written_out(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_a_long_text_is_cut_visibly() -> None:
    assert shortened("a b\nc" + "x" * 100, 10) == "a b cxxxx…"


def test_square_brackets_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    SCREEN.line("[red]not red[/red] :boom:")
    SCREEN.rows([("[bold]cell", "x")])
    shown = capsys.readouterr().out
    assert "[red]not red[/red] :boom:" in shown
    assert "[bold]cell" in shown


@pytest.mark.parametrize("verdict", Verdict)
def test_a_verdict_is_a_word_whatever_the_colour(
    verdict: Verdict, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    SCREEN.verdict(verdict, "email.send")
    shown = capsys.readouterr().out
    assert verdict.value in shown
    assert "\x1b" not in shown


class Terminal(io.StringIO):
    """An error output that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("takes", "shown"), [(0.0, ""), (0.3, "\rcompiling the message …\r\x1b[K")])
def test_only_what_takes_long_says_so_and_leaves_nothing_behind(
    takes: float, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen, "_PATIENCE", 0.1)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with working("compiling the message"):
        time.sleep(takes)
    assert terminal.getvalue() == shown


def test_what_is_no_terminal_is_told_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(screen, "_PATIENCE", 0.0)
    with working("compiling the message"):
        time.sleep(0.05)
    assert capsys.readouterr().err == ""
