"""Mail addresses in text, as whole tokens: ``not-alice@x.example`` does not contain ``alice@x.example``.

Two readers use the same tokens. `addresses_in` reads what a *call* says and never cuts a token: a letter that looks
like a delimiter may be part of another mailbox. `find_addresses` reads what a *person* says, where an address may stand
between letters of a script without spaces (``发给bob@x.example谢谢``) and has a place in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentsfence_core.classification.targets.hosts import a_label
from agentsfence_core.limits import LIMITS

SIMPLE_ADDRESS = re.compile(r"[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}")
"""An address that needs nothing but lower case."""
_TOKEN = re.compile(
    '[^\\s,;:<>()\\[\\]"\\\\\u3001\u3002\uff0c\uff1b\uff1a\uff08\uff09\u3010\u3011\u300c\u300d\u201c\u201d\u00ab\u00bb]+'
)
_EDGES = "'`*|/{}\u2018\u2019\u2026.!?&"
_PROSE_EDGES = _EDGES + "-=#~^$%\u2013\u2014\u2022\u00b7>"
_JOINTS = re.compile(r"[/|?&]")
_FIELD = re.compile(r"(?:to|cc|bcc)=", re.IGNORECASE)
_PROSE_DOMAIN = re.compile(r"\w[\w-]{0,62}(?:\.\w[\w-]{0,62}){0,20}")
_UNSPACED = "\u0590-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Scripts written without spaces, or with particles attached; none has letters that look like Latin ones."""
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]")
_AFTER_ADDRESS = frozenset("!?'`*|/~\u2018\u2019\u2026.&=)-\u2013\u2014#")
_VERSION_TAGS = frozenset({"latest", "next", "beta", "alpha", "canary", "stable", "rc", "main", "master", "head"})
"""What stands behind ``package@``; never a mail host."""


def addresses_in(text: str) -> tuple[str, ...]:
    """Return the canonical addresses of a text from a call, each once, in order. Tokens are never cut."""
    if "@" not in text:
        return ()
    return tuple(dict.fromkeys(address for _, _, token in _tokens(text) for address in _strict(token)))


def find_addresses(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return ``(start, end, address)`` of every address in a person's text, in order."""
    if "@" not in text:
        return ()
    found: list[tuple[int, int, str]] = []
    for start, end, token in _tokens(text):
        if _is_remote(text, end) or len(found) >= LIMITS.targets:
            continue
        for offset, piece in _pieces(token):
            span = _in_prose(piece)
            if span is not None:
                left, right, address = span
                found.append((start + offset + left, start + offset + right, address))
    return tuple(found)


def canonical_address(text: str) -> str:
    """Return an address in lower case with its host as A-label; what has no host is lower-cased only."""
    local, at, domain = text.rpartition("@")
    if not at:
        return lowered(text)
    host = domain.lower() if domain.isascii() else lowered(a_label(domain))
    return f"{lowered(local)}@{host.rstrip('.')}"


def lowered(text: str) -> str:
    """Return the text in lower case, with the one letter kept that would turn into ASCII (U+212A, the Kelvin sign)."""
    return text.lower() if "\u212a" not in text else "\u212a".join(part.lower() for part in text.split("\u212a"))


def _tokens(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the tokens that hold an ``@`` and are no part of a URL."""
    for found in _TOKEN.finditer(text):
        token = found[0]
        if "@" in token and not (token.startswith("//") and text[found.start() - 1 : found.start()] == ":"):
            yield found.start(), found.end(), token


def _pieces(token: str) -> Iterator[tuple[int, str]]:
    """Yield the parts of a token that joins several addresses (``a@x/b@y``, ``a@x?cc=b@y``), or the token itself."""
    if token.count("@") < 2:
        yield 0, token
        return
    start = 0
    for joint in [*(found.start() for found in _JOINTS.finditer(token)), len(token)]:
        piece = token[start:joint]
        if "@" in piece:
            field = _FIELD.match(piece)
            skipped = field.end() if field else 0
            yield start + skipped, piece[skipped:]
        start = joint + 1


def _strict(token: str) -> Iterator[str]:
    """Yield the addresses of a call's token; ``a@x@y`` is one party of its own, equal to neither reading."""
    for _, part in _pieces(token):
        piece = part.strip(_EDGES)
        local, at, domain = piece.rpartition("@")
        if at and local and domain:
            yield canonical_address(piece)


def _in_prose(piece: str) -> tuple[int, int, str] | None:
    """Return where the address in a piece of a person's text starts and ends, and the address."""
    local, _, rest = piece.rpartition("@")
    if "@" in local.lstrip("@"):
        return None
    domain = _PROSE_DOMAIN.match(rest)
    if domain is None:
        return None
    host, end = _cut_domain(domain[0])
    follower = rest[end : end + 1]
    if not host or (follower and follower not in _AFTER_ADDRESS and not _UNSPACED_RUN.match(follower)):
        return None
    kept = _cut_local(local)
    if end > len(host) and rest[end - 1] == "_":
        kept = kept.lstrip("_")
    if not kept or not _is_mail_host(host):
        return None
    left = len(local) - len(kept)
    return left, len(local) + 1 + len(host), canonical_address(f"{kept}@{host}")


def _cut_local(local: str) -> str:
    """Return the local part without what stands before it: markup, or letters of a script without spaces."""
    kept = local.lstrip(_PROSE_EDGES)
    runs = list(_UNSPACED_RUN.finditer(kept))
    if runs and runs[-1].end() < len(kept):
        kept = kept[runs[-1].end() :].lstrip(_PROSE_EDGES)
    return kept


def _cut_domain(text: str) -> tuple[str, int]:
    """Return the host of an address in prose, and where it ends; an unspaced script behind ASCII is prose."""
    run = _UNSPACED_RUN.search(text)
    if run and run.start() and text[: run.start()].isascii() and "." in text[: run.start()]:
        text = text[: run.start()]
        if text.endswith("."):
            return "", 0
    markup = len(text) - len(text.rstrip("_"))
    return text[: len(text) - markup].rstrip("-."), len(text)


def _is_mail_host(host: str) -> bool:
    """Whether a host can take mail: ``pkg@1.2.3`` and ``pkg@latest`` name versions; ``root@10.0.0.5`` is a host."""
    last = host.rpartition(".")[2]
    if last.isdigit():
        return host.count(".") == 3
    return host.lower() not in _VERSION_TAGS


def _is_remote(text: str, end: int) -> bool:
    """Whether ``:owner/repo`` follows: the address of a repository, not of a person."""
    if text[end : end + 1] != ":":
        return False
    word = text[end + 1 : end + 200].split(maxsplit=1)[:1]
    return bool(word) and not text[end + 1].isspace() and not word[0].startswith("//") and "/" in word[0]
