"""A person's words as tokens: words, literals (addresses, paths, hosts, amounts …), quoted names and breaks.

Rules of this file:

* One pass, linear: a chunk is cut at spaces, brackets and CJK letters, then looked at once.
* A literal is a whole chunk: ``not-alice@x.example`` is one address and contains no other.
* Nothing is decided here: a token says what it looks like, not what it means.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from agentsfence_core.limits import LIMITS


class Kind(StrEnum):
    """What a token looks like."""

    WORD = "word"
    NUMBER = "number"
    MONEY = "money"
    ADDRESS = "address"
    PARTY = "party"
    """A handle, a channel, a phone number, an account number."""
    URL = "url"
    HOST = "host"
    PATH = "path"
    SLASHED = "slashed"
    """``a/b``: a relative path, a repository or two words; the clause decides."""
    REFERENCE = "reference"
    """``#12``."""
    QUOTED = "quoted"
    CODE = "code"
    CJK = "cjk"
    PUNCT = "punct"
    BREAK = "break"
    """The end of a paragraph or of a list item."""
    SOFT = "soft"
    """A line break inside a paragraph."""


class Token(NamedTuple):
    """One token: what it looks like, where it stands, and its value (the text without quotes, or the amount)."""

    kind: Kind
    low: str
    start: int
    end: int
    value: str
    quoted: bool = False


PARAGRAPH = "\n\n"
"""Value of a break that ends a paragraph, not only an item of a list."""

FILE_ENDINGS = frozenset(
    """txt md rst csv tsv json jsonl yaml yml toml ini cfg conf env xml html htm css js mjs ts tsx jsx py ipynb rb rs go
    java kt c cc cpp h hpp cs php pl sh bash zsh ps1 bat sql db sqlite log lock pdf doc docx xls xlsx ppt pptx odt ods
    odp pages key png jpg jpeg gif webp svg heic tiff psd mp3 wav flac ogg m4a mp4 mov mkv avi webm zip tar gz tgz bz2
    xz 7z rar iso dmg exe dll so bak tmp old orig eml ics vcf pem crt patch diff tex bib epub srt vue svelte gradle
    properties""".split()
)
"""File name endings; a bare ``name.ending`` with another ending is a host."""

_CJK = "\u2e80-\u2fff\u3005-\u3007\u3041-\u30ff\u3400-\u9fff\uac00-\ud7ff\uf900-\ufaff"
_BREAKS = (
    '\\s"`<>()\\[\\]{},;\u00ab\u00bb\u201c-\u201f\u2039\u203a\u060c\u061b\u0964\u3000-\u3004\u3008-\u3020'
    "\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\u2014\u2192\u2022\u2013"
)
_SCAN = re.compile(
    rf"""(?P<newline>[ \t\r]*\n\s*)
    |(?P<space>[^\S\n]+)
    |(?P<code>`[^`\n]{{1,1000}}`)
    |(?P<quoted>"[^"\n]{{1,400}}"|\u201c[^\u201c\u201d\n]{{1,400}}\u201d|\u201e[^\u201c\u201d\u201e\n]{{1,400}}[\u201c\u201d]
      |\u00ab[^\u00ab\u00bb\n]{{1,400}}\u00bb|\u300c[^\u300c\u300d\n]{{1,400}}\u300d
      |(?<![\w'\u2019])['\u2018](?:[^'\u2018\u2019\n]|(?<=\w)['\u2019](?=\w)){{1,300}}['\u2019](?!\w))
    |(?P<money>(?<![\w.,@/-])\d[\d.,]{{0,30}}\ ?(?:[$\u20ac\u00a3\u00a5\u20b9](?!\d)
      |(?:EUR|USD|GBP|CHF|JPY|euros?|dollars?
      |pounds?|bucks|francs?|yen|rupees?)\b)
      |(?:[$\u20ac\u00a3\u00a5\u20b9]|(?<![A-Za-z])(?:USD|EUR|GBP|CHF|JPY)\ )\d[\d,.]{{0,30}}[km]?\b)
    |(?P<number>(?<![\w@./#+-])\d{{1,3}}(?:,\d{{3}}){{1,8}}(?:\.\d{{1,4}})?(?![\w/-]))
    |(?P<item>(?<![^\s:;,])\(?(?:[a-h]|i{{1,3}}|iv|vi{{0,3}}|\d{{1,2}})\)(?=\s))
    |(?P<cjk>[{_CJK}]+)
    |(?P<chunk>[^{_BREAKS}{_CJK}]+)
    |(?P<punct>.)""",
    re.VERBOSE | re.IGNORECASE,
)
_BULLET = re.compile(r"[ \t]*(?:[-*+\u2022\u2013]|\(?\d{1,3}[.)]|\(?[a-z][.)]|\[[ x]\])[ \t]+", re.IGNORECASE)
_ADDRESS = re.compile(r"[^@\s:/\\]{1,128}@[^@\s:/\\]{1,253}\.[^@\s:/\\.]{2,63}")
_URL = re.compile(r"(?:https?|ftp|sftp|ssh|git|wss?|file)://[^\s]{1,4000}", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:\\[^\s]{0,1000}")
_NUMBER = re.compile(r"\d{1,15}(?:[.,]\d{1,4})?")
_SUFFIXED_MONEY = re.compile(r"(\d[\d.,]{0,30})(\u20ac|\$|\u00a3|\u00a5|eur|usd|gbp|chf|k\u20ac)", re.IGNORECASE)
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{8,30}")
_ACCOUNT = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{1,7}")
_PHONE = re.compile(r"\+\d{7,15}")
_HOST = re.compile(r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,10}[^\W\d_]{2,24}(?::\d{1,5})?(?:/[^\s]{0,2000})?")
_FILE = re.compile(r"[\w@+~.-]{1,200}\.(\w{1,10})")
_LOCAL_PATH = re.compile(r"(?:~[\w.-]{0,40}|\.{1,2})?/[^\s]{0,2000}")
_SLASHED = re.compile(r"[\w@.+~-]{1,200}(?:/[\w@.+~*-]{0,200}){1,40}")
_HANDLE = re.compile(r"@[\w.-]{1,64}")
_CHANNEL = re.compile(r"#[^\W\d][\w.-]{0,80}")
_REFERENCE = re.compile(r"(?:#|(?:pr|gh)-?#?)\d{1,10}", re.IGNORECASE)
_TRAILING = ".:!?…,\u0964\u061f"
_ABBREVIATIONS = frozenset(
    "e.g. i.e. mr. mrs. ms. dr. vs. etc. no. approx. st. prof. z.b. bzw. p.ex. a.m. p.m.".split()
)
_OPENERS = frozenset(
    """
    please note don't dont do not never no then also and but if when after before once the this that these it i you we
    they my your can could would just only finally next now thanks ok so there let's make keep leave be nothing nobody
    """.split()
)
"""Words that begin a sentence: behind a full stop without a space ("it.Don't"), no host and no member of an object."""
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u00b4": "'"})


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a text in order; linear in its length."""
    tokens: list[Token] = []
    for found in _SCAN.finditer(text[: LIMITS.message]):
        group = found.lastgroup
        if group == "space":
            continue
        start, end, raw = found.start(), found.end(), found.group()
        if group == "chunk":
            _chunk(tokens, raw, start)
        elif group == "newline":
            tokens.append(_line_break(text, raw, start, end))
        elif group in {"quoted", "code"}:
            tokens.append(_quoted(raw, start, end, code=group == "code"))
        elif group == "money":
            tokens.append(Token(Kind.MONEY, raw.lower(), start, end, amount_of(raw)))
        elif group == "number":
            tokens.append(Token(Kind.NUMBER, raw, start, end, amount_of(raw)))
        elif group == "item":  # "(a) run the tests, (b) …": a step of a list within a line
            tokens.append(Token(Kind.PUNCT, ",", start, end, raw))
        elif group == "cjk":
            tokens.append(Token(Kind.CJK, raw, start, end, raw))
        else:
            tokens.append(Token(Kind.PUNCT, raw, start, end, raw))
    return _without_bullets(tokens, text)


def amount_of(text: str) -> str:
    """Return a written amount as a plain decimal number: ``1.200,50 €`` is ``1200.50``; empty where it is none."""
    digits = "".join(c for c in text if c.isascii() and (c.isdigit() or c in ".,")).strip(".,")
    if not digits:
        return ""
    scale = 3 if text[-1:].lower() == "k" else 6 if text[-1:].lower() == "m" else 0
    last = max(digits.rfind("."), digits.rfind(","))
    if last >= 0 and (len(digits) - last - 1 != 3 or (digits[:last].count(digits[last]) == 0 and digits[0] == "0")):
        whole, fraction = digits[:last], digits[last + 1 :]
    else:
        whole, fraction = digits, ""
    whole = whole.replace(".", "").replace(",", "") or "0"
    if scale:
        return str(int(whole) * 10**scale + int((fraction + "0" * scale)[:scale])) if len(whole) < 30 else ""
    return f"{whole}.{fraction}" if fraction else whole


def _line_break(text: str, raw: str, start: int, end: int) -> Token:
    hard = raw.count("\n") > 1 or _BULLET.match(text, end) is not None or end >= len(text)
    indent = raw.rpartition("\n")[2]
    hard = hard or _BULLET.match(indent + text[end : end + 8]) is not None
    return Token(Kind.BREAK if hard else Kind.SOFT, "\n", start, end, PARAGRAPH if raw.count("\n") > 1 else "")


def _without_bullets(tokens: list[Token], text: str) -> list[Token]:
    """Return the tokens without list markers (``-``, ``1.``, ``[x]``) at the start of a line."""
    kept: list[Token] = []
    skip_to = -1
    line_start = True
    for token in tokens:
        if token.start < skip_to:
            continue
        if line_start and token.kind not in (Kind.BREAK, Kind.SOFT):
            found = _BULLET.match(text, token.start)
            if found is not None and (
                token.kind is not Kind.WORD or (len(token.low) == 1 and token.low != "a") or "." in found.group()
            ):
                skip_to = found.end()
                line_start = False
                continue
        line_start = token.kind in (Kind.BREAK, Kind.SOFT)
        kept.append(token)
    return kept


def _quoted(raw: str, start: int, end: int, *, code: bool) -> Token:
    inner = raw[1:-1].strip()
    kind = literal_kind(inner) if inner and " " not in inner else None
    if kind is None or kind in (Kind.NUMBER, Kind.SLASHED):
        kind = Kind.CODE if code else Kind.QUOTED
        if (inner.startswith(("/", "~/", "./", "../")) and len(inner) > 1 and not (code and " " in inner)) or (
            not code and 0 < len(inner) <= 120 and inner.rpartition(".")[2].lower() in FILE_ENDINGS and "/" not in inner
        ):
            kind = Kind.PATH
    return Token(kind, inner.lower(), start, end, inner, quoted=True)


def literal_kind(text: str) -> Kind | None:
    """Return what a chunk is when it is a literal, else ``None``."""
    if "@" in text:
        return Kind.ADDRESS if _ADDRESS.fullmatch(text) else Kind.PARTY if _HANDLE.fullmatch(text) else None
    if text[0] in "#+" or text[-1:].isdigit():
        if _REFERENCE.fullmatch(text):
            return Kind.REFERENCE
        if _CHANNEL.fullmatch(text) or _PHONE.fullmatch(text) or _IBAN.fullmatch(text):
            return Kind.PARTY
        if _NUMBER.fullmatch(text):
            return Kind.NUMBER
    if _IBAN.fullmatch(text) or _ACCOUNT.fullmatch(text):
        return Kind.PARTY
    if _URL.fullmatch(text):
        return Kind.URL
    if "\\" in text and _DRIVE.fullmatch(text):
        return Kind.PATH
    return _dotted(text) if "." in text or "/" in text else None


def _dotted(text: str) -> Kind | None:
    """Return whether ``a.b`` or ``a/b`` is a path, a host or only slashed words."""
    if _LOCAL_PATH.fullmatch(text):
        return Kind.PATH
    if text.startswith("*."):
        return Kind.PATH if text[2:].lower() in FILE_ENDINGS else None
    found = _FILE.fullmatch(text)
    if found is not None and found[1].lower() in FILE_ENDINGS and not text.lower().startswith("www."):
        return Kind.PATH
    if text.startswith(".") and len(text) > 2 and text[1].isalpha():
        return Kind.PATH
    if (
        _HOST.fullmatch(text) and text.lower().rpartition("/")[2].rpartition(".")[2] not in FILE_ENDINGS
    ) or text.lower().startswith("www."):
        return Kind.HOST
    if "/" in text and _SLASHED.fullmatch(text):
        ending = text.rpartition("/")[2].rpartition(".")
        return (
            Kind.PATH
            if text.endswith("/") or (ending[1] and ending[0] != "" and ending[2].lower() in FILE_ENDINGS)
            else Kind.SLASHED
        )
    return None


def _chunk(tokens: list[Token], raw: str, start: int) -> None:
    """Append the tokens of one chunk: a literal or a word, and the punctuation around it."""
    lead = 0
    while (
        lead < len(raw)
        and not raw.startswith("*.", lead)
        and raw[lead] in "'\u2018\u2019*_\u00bf\u00a1"
        and len(raw) > 1
    ):
        lead += 1
    if lead >= len(raw):
        tokens.append(Token(Kind.PUNCT, raw[:1], start, start + len(raw), raw))
        return
    raw, start = raw[lead:], start + lead
    body = raw if raw.lower() in _ABBREVIATIONS else raw.rstrip(_TRAILING + "'\u2019*_")
    if not body:
        tokens.append(Token(Kind.PUNCT, raw[:1], start, start + len(raw), raw[:1]))
        return
    end = start + len(body)
    _body(tokens, body, start, end)
    rest = raw[len(body) :].strip("'\u2019*_,")
    if rest:
        mark = next((c for c in rest if c in "?!\u061f"), rest[0])
        tokens.append(Token(Kind.PUNCT, mark, end, start + len(raw), mark))


def _body(tokens: list[Token], body: str, start: int, end: int) -> None:
    money = _SUFFIXED_MONEY.fullmatch(body)
    if money is not None:
        tokens.append(Token(Kind.MONEY, body.lower(), start, end, amount_of(money[1])))
        return
    owner = body.translate(_APOSTROPHES) if "'" in body or "\u2019" in body else body
    place = max(owner.rfind("."), owner.rfind("!"), owner.rfind("?"))
    if place > 0 and owner[place + 1 : place + 2].isupper() and owner[place + 1 :].lower() in _OPENERS:
        _body(tokens, body[:place].rstrip(".!?") or body[:place], start, start + place)
        tokens.append(Token(Kind.PUNCT, owner[place], start + place, start + place + 1, owner[place]))
        _body(tokens, body[place + 1 :], start + place + 1, end)
        return
    if owner.endswith("'s") and "@" in owner:
        body = owner[:-2]
    kind = literal_kind(body)
    if kind is Kind.HOST and "/" not in body:
        head, _, last = body.rpartition(".")
        if last[1:].islower() and last[:1].isupper() and head.islower() and "." in head:  # a sentence without its space
            end -= len(last) + 1
            tokens.append(Token(Kind.HOST, head, start, end, head))
            tokens.append(Token(Kind.PUNCT, ".", end, end + 1, "."))
            tokens.append(Token(Kind.WORD, last.lower(), end + 1, end + 1 + len(last), last))
            return
    if kind is not None:
        tokens.append(Token(kind, body.lower(), start, end, body))
        return
    low = owner.lower()
    if body[0].isalnum() or body[0].isalpha():
        tokens.append(Token(Kind.WORD, low, start, end, body))
    else:
        tokens.append(Token(Kind.PUNCT if len(body) <= 3 else Kind.WORD, low, start, end, body))
