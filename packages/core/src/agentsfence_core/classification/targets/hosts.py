"""Hosts and URLs, read as the most lenient client would read them; names are never resolved.

Rules of this file:

* A host is a lower-case A-label without port and trailing dot; every spelling of an IPv4 address is dotted decimal.
* Names that only look alike never become equal: IDNA keeps them apart.
* Where clients disagree (backslashes, tabs inside a URL, several ``@``), the reading is the browser's.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import unquote

from agentsfence_core.limits import LIMITS

_WITH_HOST = frozenset({"http", "https", "ws", "wss", "ftp", "ftps"})
"""Schemes whose URL has a host whatever follows the colon, as in browsers: ``https:example.com``."""
_OPAQUE = frozenset({"javascript", "vbscript", "data", "mailto", "tel", "sms", "file", "about"})
_WRAPPING = frozenset({"view-source", "blob", "feed", "url", "jar", "filesystem"})
"""Schemes in front of another URL."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,40}):")
_PLAIN_END = re.compile(r"[/?#]")
_AUTHORITY_END = re.compile(r"[/\\?#]")
_SIMPLE_HOST = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63}){0,20}")
_URL_START = re.compile(r":[/\\]|(?<![A-Za-z0-9])https?:(?=[A-Za-z0-9\[])|(?<![\w@./-])www\.(?=[^\s.])", re.IGNORECASE)
_URL_END = re.compile(r"[\s\"'`<>{}|^\u201c\u201d\u2018\u2019\u00ab\u00bb]")
_SCHEME_BEFORE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,40}\Z")
_PARAMETER = re.compile(
    r"(?:^|[?&;#])[a-z_]{0,20}(?:url|uri|link|redirect|next|dest|goto|target|continue|return|callback)=", re.IGNORECASE
)
_BARE_HOST = re.compile(r"(?://)?([A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63}){1,10})(?=[/:?&#;]|\Z)")
_INNER_START = re.compile(r"(?:https?|wss?|ftps?):[/\\]*|(?<=[=&'\"(])(?://|\\\\)", re.IGNORECASE)
_INNER_END = re.compile(r"[/\\?#&;,\s\"'<>)]")
_REMOTE = re.compile(r"(?:[\w.+-]{1,64}@)?([\w.-]{1,253}):(?![\\/]{2})")
_NO_HOST = re.compile(r"[\x00-\x20%/\\?#@:\[\]<>^|\x7f]")
_INVISIBLE = dict.fromkeys(map(ord, "\t\n\r"))
_EDGES = "".join(map(chr, range(33)))
_SPACES = "\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_BLANK = f"{_EDGES}{_SPACES}"


@dataclass(frozen=True, slots=True)
class UrlReading:
    """What a URL says, part by part."""

    scheme: str
    """Lower-case; empty for ``//host/path``."""
    host: str
    """Canonical; empty where the scheme has none (``data:``, ``javascript:``)."""
    port: int | None
    path: str
    query: str
    """Without ``?``."""
    fragment: str = ""
    """Without ``#``."""
    inner: tuple[str, ...] = ()
    """Hosts of URLs inside this one: a redirect target, a proxied address."""
    userinfo: str = ""

    @property
    def hosts(self) -> tuple[str, ...]:
        """The host, then the inner ones, each once."""
        return tuple(dict.fromkeys((self.host, *self.inner))) if self.host else self.inner


def read_url(text: str) -> UrlReading | None:
    """Return the parts of a URL, or ``None`` where the text is none. A bare host name is none (see `read_location`)."""
    text = text.strip(_EDGES)
    if "\t" in text or "\n" in text or "\r" in text:
        text = text.translate(_INVISIBLE)
    if text.startswith(("//", "\\\\")):
        return _hierarchical("", text)
    found = _SCHEME.match(text)
    if found is None:
        return None
    scheme = found[1].lower()
    rest = text[found.end() :]
    if scheme in _WITH_HOST or (rest[:2].replace("\\", "/") == "//" and scheme != "file"):
        return _hierarchical(scheme, rest)
    if scheme in _WRAPPING:
        return UrlReading(scheme, "", None, rest, "", inner=_inner("", rest))
    if scheme in _OPAQUE:
        inner = () if scheme in {"mailto", "tel", "sms"} else _inner("", rest)
        return UrlReading(scheme, "", None, rest, "", inner=inner)
    return None


def read_location(text: str) -> UrlReading | None:
    """Return the parts of what a client like ``curl`` or ``git`` takes: a URL, ``host/path``, ``user@host:path``."""
    reading = read_url(text)
    if reading is not None:
        return reading
    text = text.strip(_EDGES)
    remote = _REMOTE.match(text)
    if remote and "/" not in remote[0] and not text[remote.end() :].split("/", 1)[0].isdigit():
        return UrlReading("ssh", canonical_host(remote[1]) or remote[1].lower(), None, text[remote.end() :], "")
    return _hierarchical("http", text) if text and not text.startswith(("/", ".", "-")) else None


def canonical_host(text: str) -> str | None:
    """Return a host in its one spelling, or ``None`` where the text cannot be one. A port and brackets may be there."""
    host = text.strip(_EDGES)
    if not host or len(host) > LIMITS.target_length:
        return None
    if _SIMPLE_HOST.fullmatch(host) and not host[-1].isdigit():
        return host
    host, _ = _split_port(host)
    return _canonical(host) or None


def hosts_in(text: str) -> tuple[str, ...]:
    """Return the hosts of every URL in a text, inner ones included, each once, in order."""
    if ":" not in text and "www." not in text and "WWW." not in text:
        return ()
    found: dict[str, None] = {}
    position = 0
    while (start := _URL_START.search(text, position)) is not None and len(found) < LIMITS.targets:
        position = start.end()
        url, position = _url_at(text, start.start(), start.end())
        reading = read_url(url) if url else None
        if reading is not None:
            found.update(dict.fromkeys(reading.hosts))
    return tuple(found)


def host_matches(host: str, allowed: str) -> bool:
    """Whether a canonical host is the allowed one, its ``www.``, or below it where ``*.example.com`` is allowed."""
    if host == allowed:
        return True
    if allowed.startswith("*."):
        return host.endswith(allowed[1:]) and len(host) > len(allowed) - 1
    return host.startswith("www.") and host[4:] == allowed


def _url_at(text: str, start: int, end: int) -> tuple[str, int]:
    """Return the URL whose ``:/`` (or ``https:``, ``www.``) was found, and where the search goes on."""
    if text[start] == ":":
        scheme = _SCHEME_BEFORE.search(text, max(0, start - 41), start)
        if scheme is None:
            return "", end
        start = scheme.start()
    elif text[start] in "wW":
        stop = _URL_END.search(text, end)
        finish = min(stop.start() if stop else len(text), end + LIMITS.target_length)
        return f"http://{text[start:finish].rstrip('.,;:!?)]')}", finish
    stop = _URL_END.search(text, end)
    finish = stop.start() if stop else len(text)
    return text[start:finish].rstrip(".,;:!?)]"), finish


def _hierarchical(scheme: str, rest: str) -> UrlReading | None:
    """Read what follows the colon of a URL with an authority."""
    rest = rest.lstrip("/\\")
    stop = _AUTHORITY_END.search(rest)
    authority, tail = (rest[: stop.start()], rest[stop.start() :]) if stop else (rest, "")
    userinfo, _, location = authority.rpartition("@")
    name, port = _split_port(location)
    host = _canonical(name)
    if not host:
        return None
    inner = _inner(userinfo, tail) if len(tail) > 1 or userinfo else ()
    if scheme and tail[:1] == "\\":
        inner = (*_beyond_backslash(rest), *inner)
    before, _, fragment = tail.partition("#")
    path, _, query = before.partition("?")
    return UrlReading(scheme, host, port, path.replace("\\", "/"), query, fragment, inner, userinfo)


def _beyond_backslash(rest: str) -> tuple[str, ...]:
    """Return the host for clients to which a backslash is no slash, but a part of the name before it."""
    end = _PLAIN_END.search(rest, 0, LIMITS.target_length)
    authority = rest[: end.start() if end else LIMITS.target_length]
    host = _canonical(_split_port(authority.rpartition("@")[2])[0])
    return (host,) if host else ()


def _split_port(location: str) -> tuple[str, int | None]:
    """Return host and port of ``host:port``, ``[::1]:port`` or a bare IPv6 address."""
    if location.startswith("["):
        inside, _, after = location[1:].partition("]")
        digits = after[1:] if after.startswith(":") else ""
        return f"[{inside}]", int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 6 else None
    if location.count(":") > 1 and all(part.replace(".", "").isalnum() or not part for part in location.split(":")):
        return f"[{location}]", None
    host, _, digits = location.partition(":")
    return host, int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 6 else None


def _canonical(host: str) -> str:
    """Return the canonical form of a host without port; empty where nothing is left."""
    host = host.strip(_BLANK).rstrip(f".{_BLANK}")
    if host.startswith("["):
        return _ipv6(host.strip("[]"))
    if "%" in host:
        decoded = unquote(host, errors="replace")
        # A host that decodes to more than a host is refused by every client: it stays as it is written.
        host = host.lower() if _NO_HOST.search(decoded) else decoded
    label = host.lower() if host.isascii() else a_label(host)
    host = host if _NO_HOST.search(label) and not host.isascii() else label
    host = host.strip(_BLANK).rstrip(f".{_BLANK}")
    last = host.rpartition(".")[2]
    if last[:1].isdigit() and (last.isdigit() or last.startswith("0x")):
        return _ipv4(host)
    return host[: LIMITS.target_length]


def a_label(host: str) -> str:
    """Return the A-label of a name with non-ASCII characters; look-alikes of ASCII letters stay different from them."""
    import idna  # noqa: PLC0415  (lazy: few hosts need it)

    host = host[: LIMITS.target_length]
    try:
        mapped = idna.uts46_remap(host, std3_rules=False, transitional=False)
    except (idna.IDNAError, UnicodeError, ValueError):
        mapped = unicodedata.normalize("NFKC", host).lower()
    labels = re.split("[.\u3002\uff0e\uff61]", mapped)
    return ".".join(label if label.isascii() else _encode_label(label) for label in labels)


def _encode_label(label: str) -> str:
    """Return one label in ASCII, also where IDNA refuses it (emoji): it must stay a name of its own."""
    if len(label) > 255:
        return label
    try:
        return "xn--" + label.encode("punycode").decode("ascii")
    except (UnicodeError, ValueError):
        return label


def _ipv4(host: str) -> str:
    """Return dotted decimal for any spelling a resolver takes (``0x7f.1``, ``2130706433``); else the text."""
    parts = host.split(".")
    if len(parts) > 4:
        return host
    numbers = [_number(part) for part in parts]
    *front, last = numbers
    if any(number is None or number > 255 for number in front) or last is None or last >= 256 ** (5 - len(parts)):
        return host
    value = last
    for place, number in enumerate(front):
        value += (number or 0) << (8 * (3 - place))
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


def _number(part: str) -> int | None:
    """Return a part of an IPv4 address in decimal, octal or hexadecimal."""
    if not part or len(part) > 40:
        return None
    try:
        if part.startswith("0x"):
            return int(part[2:] or "0", 16)
        return int(part, 8) if part.startswith("0") else int(part)
    except ValueError:
        return None


def _ipv6(text: str) -> str:
    """Return the compressed form in lower case; an IPv4 address mapped into IPv6 is that IPv4 address."""
    import ipaddress  # noqa: PLC0415  (lazy: few hosts need it)

    try:
        address = ipaddress.IPv6Address(unquote(text).partition("%")[0])
    except ValueError:
        return f"[{text.replace('[', '').replace(']', '').lower()[: LIMITS.target_length]}]"
    mapped = address.ipv4_mapped or address.sixtofour
    return str(mapped) if mapped else address.compressed


def _inner(userinfo: str, tail: str) -> tuple[str, ...]:
    """Return the hosts of URLs in a URL's path or parameters, also percent-encoded up to three times."""
    if not userinfo and "%" not in tail and ":" not in tail and "=" not in tail and "//" not in tail:
        return ()
    if not userinfo and "%" not in tail and ":" not in tail and "//" not in tail and "." not in tail.partition("=")[2]:
        return ()
    text = f"{userinfo}{tail}"
    found: dict[str, None] = {}
    for _ in range(4):
        found.update(dict.fromkeys(_hosts_after_separators(text)))
        for parameter in _PARAMETER.finditer(text):
            bare = _BARE_HOST.match(text, parameter.end())
            if bare and (host := canonical_host(bare[1])):
                found[host] = None
        if "%" not in text or len(found) > LIMITS.targets:
            break
        decoded = unquote(text, errors="replace")
        if decoded == text:
            break
        text = decoded
    return tuple(found)


def _hosts_after_separators(text: str) -> list[str]:
    """Return the host after each ``scheme:/`` in a text without regard to what encloses it."""
    found: list[str] = []
    for start in _INNER_START.finditer(text):
        # Bounded: a host is short, and a search to the end of the text for each one would be quadratic.
        end = _INNER_END.search(text, start.end(), start.end() + 300)
        authority = text[start.end() : end.start() if end else start.end() + 300]
        host = _canonical(_split_port(authority.rpartition("@")[2])[0])
        if host and "." in host:
            found.append(host)
    return found
