"""HTTP clients: curl, wget, httpie and kin. The method, the body and the files that come or go decide."""

# ruff: noqa: E501  (one row of the table a line)
from __future__ import annotations

import re
from urllib.parse import quote

from agentsfence_core.classification.shell.call import Call
from agentsfence_core.classification.shell.engine import shell_line
from agentsfence_core.classification.shell.environment import SECRET
from agentsfence_core.classification.shell.options import Split
from agentsfence_core.classification.shell.rows import Program, Role, rows, table_of
from agentsfence_core.classification.shell.words import Word
from agentsfence_core.limits import LIMITS
from agentsfence_core.model.action import TargetKind

URL_HINTS = ("://",)
_READ_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND"})
_DATA = "-d --data --data-ascii --data-raw --data-binary --data-urlencode --json --url-query"
_FORM = "-F --form --form-string"
_CURL_TEXT = (
    "-A --user-agent -b --cookie -e --referer -H --header --proxy-header -m --max-time -u --user -w --write-out -x --proxy -X --request "
    "-y --speed-time --etag-compare -Y --speed-limit -z --time-cond -C --continue-at -r --range -U --proxy-user -t --telnet-option -P "
    "--ftp-port --connect-timeout --retry --retry-delay --retry-max-time --limit-rate --resolve --connect-to --cacert "
    "--capath --cert-type --key-type --ciphers --max-redirs --max-filesize --interface --local-port --noproxy --preproxy "
    "--proto --proto-default --proto-redir --tlsv --tls-max --aws-sigv4 --oauth2-bearer --dns-servers --doh-url --delegation "
    "--keepalive-time --socks5 --socks4 --socks5-hostname --unix-socket --abstract-unix-socket --variable --expand-url "
    "--parallel-max --rate --request-target --service-name --pass --mail-from --mail-auth --ftp-method --quote -Q --postquote "
    "--engine --egd-file --random-file --haproxy-clientip --ipfs-gateway --krb --login-options"
)
_CURL = Program(
    "web.read",
    options={
        Role.SCRIPT: f"{_DATA} {_FORM}",
        Role.READ: "-T --upload-file -E --cert --key --netrc-file --proxy-cert --proxy-key --pinnedpubkey",
        Role.WRITE: "-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --libcurl --etag-save --alt-svc --hsts",
        Role.UNSEEN: "-K --config",
        Role.FLAG: "--head --netrc --parallel --get --remote-name --remote-name-all --proxy-head",
        Role.URL: "--url",
        Role.RECIPIENT: "--mail-rcpt",
        Role.TEXT: f"{_CURL_TEXT} --output-dir",
    },
)


class _Request:
    """What the options of a client ask for."""

    __slots__ = ("data", "leaks", "method", "recipients", "saves", "sends", "urls")

    def __init__(self, urls: list[Word]) -> None:
        """Start with a plain GET of ``urls``."""
        self.urls = urls
        self.method = ""
        self.sends = False
        self.leaks = False
        """A file or the output of a command leaves in a header, the address or a name."""
        self.data: list[str] = []
        """Literal data that ``-G`` puts into the address."""
        self.saves = False
        self.recipients: list[Word] = []


def _curl(call: Call, program: Program) -> None:
    """A GET is a read; a body, a form, an upload or another method is a write to the host."""
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    request = _Request(list(split.operands))
    folder = next((value for name, _, value in reversed(split.given) if name == "output-dir"), None)
    for name, option, value in split.given:
        if value is not None:
            value = _under(folder, value) if name in {"o", "output"} else value  # noqa: PLW2901  (where it is saved)
            _curl_option(call, request, name, option.role, value)
    for place, word in enumerate(call.words[1:-1], 2):  # a value that variables are put into: an address, or data
        if word.text.startswith("--expand-"):
            request.sends = True
            if word.text == "--expand-url":
                request.urls = [call.words[place], *[url for url in request.urls if url is not call.words[place]]]
    named = {name for name, option, _ in split.given if option.role is Role.FLAG} | set(split.strays)
    into_address = bool({"G", "get"} & named)
    if {"O", "remote-name", "remote-name-all"} & named:
        for word in request.urls:
            call.path("file.download", _saved_as(word, folder))
    if (into_address or not request.sends) and request.data and not request.leaks:
        added = "&".join(request.data)
        request.urls = [word._replace(text=_with_query(word.text, added)) for word in request.urls]
    sends = request.leaks or (request.sends and not (into_address and not request.method))
    _reach(call, request.urls, request.method, sends=sends, saves=request.saves, recipients=request.recipients)


def _under(folder: Word | None, word: Word) -> Word:
    """Return the name that ``--output-dir`` gives a file."""
    if folder is None or word.text in {"-", "/dev/null", "/dev/stdout"} or word.text[:1] in {"/", "~"}:
        return word
    return Word(f"{folder.text.rstrip('/')}/{word.text}", folder.sure and word.sure, folder.glob or word.glob)


def _with_query(url: str, added: str) -> str:
    """Return an address with the data that ``-G`` puts into it, so that what it carries can be judged there."""
    return f"{url}{'&' if '?' in url else '?'}{quote(added, safe='=&+%')}"[: LIMITS.target_length * 2] if added else url


def _curl_option(call: Call, request: _Request, name: str, role: Role, value: Word) -> None:
    """Take note of one option with its value."""
    if role is Role.SCRIPT or name in {"T", "upload-file"}:
        request.sends = request.sends or name != "url-query"
        request.data.append(value.text)
        request.leaks = _payload(call, name, value) or value.runs or request.leaks
    elif role is Role.READ:
        call.path("file.read", value)
    elif role is Role.WRITE:
        request.saves = _save(call, value) or request.saves
    elif role is Role.UNSEEN:
        call.unseen("curl options from a file")
        call.path("file.read", value)
    elif role is Role.URL:
        request.urls.append(value)
    elif role is Role.RECIPIENT:
        request.recipients.append(value)
    elif name in {"X", "request"}:
        request.method = value.text.upper() if value.sure else "POST"
    else:
        if name in _SENT and (value.runs or (name in _FROM_FILE and value.text[:1] == "@")):
            request.leaks = True
        _other(call, name, value)


_SENT = frozenset(
    """A user-agent b cookie e referer H header proxy-header u user U proxy-user oauth2-bearer request-target range r
    mail-from mail-auth t telnet-option haproxy-clientip variable login-options service-name""".split()
)
"""Options whose value reaches the host."""
_FROM_FILE = frozenset({"H", "header", "proxy-header"})


def _payload(call: Call, name: str, value: Word) -> bool:
    """``-d @f``, ``-F x=@f`` and ``-T f`` send a file; return whether one is sent."""
    text = value.text
    if name in {"T", "upload-file"}:
        call.path("file.read", value)
        return True
    if name in {"F", "form"}:
        content = text.partition("=")[2]
        if content[:1] in {"@", "<"}:
            call.path("file.read", Word(content[1:].partition(";")[0], value.sure))
        return True
    if name == "data-raw":
        return False
    place = 0 if text.startswith("@") else text.find("@") if name in {"data-urlencode", "url-query"} else -1
    if place < 0 or (place and "=" in text[:place]):
        return False
    if text[place + 1 :] not in {"", "-"}:
        call.path("file.read", Word(text[place + 1 :], value.sure))
    return True


def _save(call: Call, value: Word) -> bool:
    if value.text in {"-", "/dev/null", "/dev/stdout", "/dev/stderr", "%"} and value.sure:
        return False
    call.path("file.download", value)
    return True


def _other(call: Call, name: str, value: Word) -> None:
    if name in {"x", "proxy", "preproxy", "socks5", "socks4", "socks5-hostname", "doh-url", "proxy1.0"}:
        call.host("web.read", Word(value.text.partition("://")[2] or value.text, value.sure))
    elif name in {"resolve", "connect-to"}:
        call.unseen("the address of a host is replaced")
    elif name in {"unix-socket", "abstract-unix-socket"}:
        call.unseen("a local socket")
        call.path("file.read", value)
    elif name in {"b", "cookie"} and "=" not in value.text:
        call.path("file.read", value)
    elif name in _FROM_FILE and value.text.startswith("@"):
        call.path("file.read", value.after(1))
    elif name in {"w", "write-out"}:
        _write_out(call, value)
    elif name == "variable" and "@" in value.text:
        call.path("file.read", value.after(value.text.index("@") + 1))
    elif name in {"engine", "Q", "quote", "postquote"}:
        call.unseen("an engine or server commands")


_OUTPUT = re.compile(r"%output\{(?:>>)?([^}]{0,4096})\}")


def _write_out(call: Call, value: Word) -> None:
    """``-w '%output{f}'`` writes f; a format from a file may say so too."""
    if value.text.startswith("@"):
        call.path("file.read", value.after(1))
        if value.text != "@-":
            call.unverified("file.download", TargetKind.PATHS)
        return
    for name in _OUTPUT.findall(value.text):
        call.path("file.download", Word(name, value.sure))


def _capability(url: Word, method: str, *, sends: bool) -> str:
    scheme = url.text.partition("://")[0].lower() if "://" in url.text else ""
    if scheme in {"smtp", "smtps"}:
        return "email.send"
    if method == "DELETE":
        return "web.delete"
    if sends or (method and method not in _READ_METHODS):
        return "web.post"
    return "web.read"


_NAMED = re.compile(r"\$\{?(\w{1,80})")


def tells_secret(word: Word) -> bool:
    """Whether an address carries a variable that is probably a secret."""
    return not word.sure and any(SECRET.search(name) for name in _NAMED.findall(word.text))


def _reach(call: Call, urls: list[Word], method: str, *, sends: bool, saves: bool, recipients: list[Word]) -> None:
    """Add what is reached, and what a DELETE or a computed part of the address means."""
    if not urls:
        call.effect("web.post" if sends or recipients else "web.read")
    if saves:
        call.effect("file.download")
    for word in urls:
        if word.text.lower().startswith("file:"):
            call.path("file.read", word)
            continue
        capability = _capability(word, method, sends=sends or bool(recipients))
        if capability == "web.read" and (word.runs or tells_secret(word)):
            capability = "web.post"  # the output of a command leaves in the address
        call.url(capability, word)
    for word in recipients:
        call.effect("email.send").recipients.append(word.text[:320])


_WGET = Program(
    "file.download",
    options={
        Role.SCRIPT: "--post-data --body-data",
        Role.READ: "--post-file --body-file -i --input-file --load-cookies --certificate --private-key --ca-certificate",
        Role.WRITE: "-o --output-file -a --append-output --save-cookies --warc-file",
        Role.RUN: "--use-askpass",
        Role.UNSEEN: "--config -e --execute",
        Role.FLAG: "--spider --delete-after",
        Role.TEXT: "-O --output-document -P --directory-prefix --method -t --tries -T --timeout -w --wait --waitretry -Q --quota "
        "-U --user-agent --header --referer --user --password --http-user --http-password --limit-rate -A --accept -R --reject -D "
        "--domains --exclude-domains -I -X --cut-dirs -l --level --max-redirect --progress --proxy-user --base -B --start-pos "
        "--dns-timeout --connect-timeout --read-timeout --bind-address --prefer-family --compression --regex-type --accept-regex "
        "--reject-regex --restrict-file-names --secure-protocol --ciphers",
    },
)


def _wget(call: Call, program: Program) -> None:
    """``wget`` saves a file; ``-O -`` and ``--spider`` only read; a body or another method writes to the host."""
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    request = _Request(split.operands)
    target: Word | None = None
    folder: Word | None = None
    for name, option, value in split.given:
        if value is None:
            continue
        if name in {"O", "output-document"}:
            target = value
        elif name in {"P", "directory-prefix"}:
            folder = value
        else:
            _wget_option(call, request, name, option.role, value)
    quiet = target is not None and target.text in {"-", "/dev/null", "/dev/stdout"}
    flags = {name for name, option, _ in split.given if option.role is Role.FLAG}
    if "spider" not in flags and not quiet:
        call.effect("file.download")
        for word in [_saved_as(url, folder) for url in request.urls] if target is None else [target]:
            call.path("file.download", word)
    _reach(call, request.urls, request.method, sends=request.sends, saves=False, recipients=[])
    if "delete-after" in flags:
        call.drafts.pop("file.download", None)


def _wget_option(call: Call, request: _Request, name: str, role: Role, value: Word) -> None:
    """Take note of one option with its value."""
    if role is Role.SCRIPT:
        request.sends = True
    elif role is Role.READ:
        call.path("file.read", value)
        request.sends = request.sends or name.startswith(("post", "body"))
    elif role is Role.WRITE:
        call.path("file.write", value)
    elif role is Role.RUN:
        call.unseen("wget starts a program")
        shell_line(call, value)
    elif role is Role.UNSEEN:
        call.unseen("wget settings")
    elif name == "method":
        request.method = value.text.upper() if value.sure else "POST"
    elif value.runs and name in {
        "U",
        "user-agent",
        "header",
        "referer",
        "user",
        "password",
        "http-user",
        "http-password",
    }:
        request.sends = True


def _saved_as(word: Word, folder: Word | None) -> Word:
    path = (word.text.partition("://")[2] or word.text).partition("?")[0].partition("#")[0].partition("/")[2]
    name = path.rpartition("/")[2] or "index.html"
    return Word(f"{folder.text}/{name}" if folder else name, word.sure and (folder is None or folder.sure))


def _httpie(call: Call, program: Program) -> None:
    """``http [METHOD] URL [items]``: an item with ``=`` or ``@`` makes it a POST."""
    split = Split(call.words[1:], table_of(program), posix=False, single=False)
    operands = split.operands
    method = ""
    if operands and operands[0].text.isalpha() and operands[0].text.isupper():
        method, operands = operands[0].text, operands[1:]
    items = operands[1:]
    sends = call.piped and call.stdin is not None
    for item in items:
        text = item.text
        mark = next((mark for mark in ("==", ":=@", "=@", ":=", "=", "@", ":") if mark in text), "")
        if mark in {"=@", ":=@", "@"}:
            call.path("file.read", item.after(text.index(mark) + len(mark)))
        sends = sends or mark not in {"", "==", ":"} or item.runs
    saves = False
    for _, option, value in split.given:
        if option.role is Role.WRITE and value is not None:
            saves = _save(call, value) or saves
    _reach(
        call,
        operands[:1],
        method,
        sends=sends,
        saves=saves or "d" in split.strays or "download" in split.strays,
        recipients=[],
    )


_HTTPIE = Program(
    "web.read",
    options={
        Role.WRITE: "-o --output",
        Role.TEXT: "-a --auth -A --auth-type -p --print -s --style --session --proxy --timeout --verify --cert --max-redirects --pretty --format-options",
        Role.SCRIPT: "--raw",
    },
    hook=_httpie,
)

PROGRAMS = {
    "curl": Program("web.read", options=_CURL.options, hook=_curl),
    **rows("curlie", Program("web.read", options=_CURL.options, hook=_curl)),
    **rows("wget wget2", Program("file.download", options=_WGET.options, hook=_wget)),
    **rows("http https xh httpie", _HTTPIE),
    **rows(
        "aria2c axel",
        Program(
            "file.download",
            rest=Role.URL,
            options={
                Role.TEXT: "-o --out -d --dir -s -x -j",
                Role.UNSEEN: "--conf-path --on-download-complete --on-download-start",
                Role.READ: "-i --input-file",
            },
        ),
    ),
    **rows(
        "youtube-dl yt-dlp",
        Program(
            "file.download",
            rest=Role.URL,
            options={
                Role.TEXT: "-f --format -o --output -P --paths --cookies-from-browser --proxy",
                Role.RUN: "--exec --downloader --external-downloader",
                Role.UNSEEN: "--config-locations --plugin-dirs -a --batch-file",
            },
        ),
    ),
    **rows(
        "lynx w3m links elinks",
        Program(
            "web.read",
            rest=Role.URL,
            options={
                Role.TEXT: "-width -cols",
                Role.UNSEEN: "-cfg -config -cmd_script -editor",
                Role.READ: "-post_data! -get_data!",
            },
            single=True,
        ),
    ),
    **rows("xdg-open open sensible-browser firefox chromium google-chrome", Program("process.control", rest=Role.URL)),
    **rows(
        "grpcurl",
        Program(
            "web.post", operands=(Role.HOST,), options={Role.TEXT: "-d -H -proto -import-path -authority"}, single=True
        ),
    ),
    "websocat": Program("web.post", rest=Role.URL, sure=False),
    "wscat": Program("web.post", options={Role.URL: "-c --connect", Role.TEXT: "-x -H"}),
    **rows(
        "ab wrk hey siege k6 vegeta",
        Program("web.post", rest=Role.URL, options={Role.TEXT: "-n -c -t -d -z -q -m -H -T -p -s"}),
    ),
}
