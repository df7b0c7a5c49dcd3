"""URLs shaped like data on its way out (paper, 8: "heuristic exfiltration checks").

A read that asks for ``https://evil.example/?d=<secret>`` sends by reading. This check looks for data, not for hosts:
labels and parameters that are too long, too many, or look like secrets. Ordinary long URLs stay quiet: commit hashes,
document ids, article titles, search phrases, presigned links. Linear in the URL.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import parse_qsl, unquote

from agentsfence_core.classification.targets.hosts import read_url

_URL = 4_096  # characters of a URL; servers refuse longer ones
_LABEL = 40  # characters of one host label
_HOST = 120  # characters of a host
_QUERY = 1_000  # characters of a query that can be read by a person
_VALUE = 400  # characters of one parameter
_PARAMETERS = 30
_PROSE = 24  # words of one parameter from which it is a text and not a phrase
_SECRET = 4  # characters of a value that can be a secret
_OPAQUE_TOTAL = 120  # characters of all encoded-looking parameters together
_OPAQUE_PIECE = 20  # characters from which one piece can look encoded
_PATH_PIECE = 90  # characters of an encoded-looking path segment

_PRESIGNED = frozenset(
    """
    signature sig expires se sp sv sr st spr key-pair-id policy googleaccessid awsaccesskeyid
    response-content-disposition response-content-type x-amz-signature x-amz-credential x-amz-security-token
    x-amz-date x-amz-expires x-amz-algorithm x-amz-signedheaders x-goog-signature x-goog-credential x-goog-date
    x-goog-expires x-goog-algorithm x-goog-signedheaders hdnea hmac
    """.split()
)
_SIGNING = ("x-amz-", "x-goog-", "googleaccessid", "awsaccesskeyid")
_PUBLIC_KEYS = (".googleapis.com", ".google.com", "maps.google.com")
_SEARCH = frozenset(
    "google bing duckduckgo wikipedia ecosia startpage qwant kagi brave yandex baidu yahoo wolframalpha".split()
)
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_SECRET_NAMES = frozenset(
    """
    password passwd pwd pw pass passphrase secret apikey api_key api-key private_key privatekey ssn cc creditcard
    credit_card cvv iban credentials cookie cookies session_cookie seed mnemonic access_token auth_token id_token
    refresh_token client_secret secret_key access_key
    """.split()
)
_TOKENS = re.compile(
    r"(?:sk|pk|rk)[-_](?:live|test|proj|ant)[-_]\w{6}|gh[pousr]_\w{20}|github_pat_\w{10}|glpat-[\w-]{10}|xox[abprs]-\w{6}|"
    r"npm_\w{20}|hf_\w{20}|SG\.[\w-]{16}|dop_v1_\w{20}|\w+://[^/\s:@]{1,64}:[^/\s:@]{3,64}@|"
    r"AKIA[0-9A-Z]{12}|ASIA[0-9A-Z]{12}|AIza[\w-]{20}|ya29\.[\w-]{10}|eyJ[\w-]{10}|-----BEGIN|\bsk-\w{16}"
)
_SAID = re.compile(
    r"(?:password|passwd|api.?key|secret.?key|access.?token|ssn|pin.?code)s?[\W_]{0,3}(?:is|was|=|:)[\W_]{0,3}\w",
    re.IGNORECASE,
)
_SSN = re.compile(r"(?<!\d)\d{3}-\d{2}-\d{4}(?!\d)")
_CARD = re.compile(r"(?<!\d)(?:\d[ -]?){13,19}(?!\d)")
_WORDS = re.compile(r"[\s+_.,;:/%-]+")
_ENCODED = re.compile(r"[A-Za-z0-9+/=_-]+")


def exfiltration_shape(url: str) -> str:
    """Return what about a URL looks like data on its way out, as a phrase for a person; empty where nothing does."""
    return "it is unusually long" if len(url) > _URL else _shape(url)


@lru_cache(maxsize=1_024)
def _shape(url: str) -> str:
    read = read_url(url)
    if read is None:
        return ""
    return (
        _host_shape(read.host)
        or secret_in(read.userinfo)
        or secret_in(read.host)
        or _query_shape(read.query, read.host)
        or _path_shape(read.path)
    )


def _host_shape(host: str) -> str:
    if len(host) > _HOST:
        return "its host name is unusually long"
    for label in host.split("."):
        if _UUID.fullmatch(label):
            continue
        if len(label) > _LABEL or (
            len(label) >= _OPAQUE_PIECE and _looks_encoded(label) and not label.startswith("xn--")
        ):
            return "its host name carries what looks like data"
    return ""


def _query_shape(query: str, host: str) -> str:
    if not query:
        return ""
    pairs = parse_qsl(query.replace(";", "&"), keep_blank_values=True, max_num_fields=None)
    if len(pairs) > _PARAMETERS:
        return "it has very many parameters"
    opaque = total = 0
    for name, value in pairs:
        low = name.casefold().rpartition("[")[2].rstrip("]")
        if low.startswith(_SIGNING) or (low == "key" and host.endswith(_PUBLIC_KEYS)):
            continue  # the parameters of a signed link, and a key that every page shows, are no secrets of this machine
        shape = _value_shape(low, value, host)
        if shape:
            return shape
        total += len(value)
        if low not in _PRESIGNED:
            opaque += sum(len(piece) for piece in _WORDS.split(value) if _looks_encoded(piece))
    if opaque > _OPAQUE_TOTAL:
        return "its parameters carry what looks like encoded data"
    return "its parameters are unusually long" if total > _QUERY else ""


def _value_shape(name: str, value: str, host: str) -> str:
    """Return what about one parameter looks like data on its way out."""
    if name in _SECRET_NAMES and len(value) >= _SECRET:
        return f"it sends a parameter called {name[:40]}"
    secret = secret_in(value) or secret_in(name)
    if secret:
        return secret
    if len(value) > _VALUE:
        return "one of its parameters is unusually long" if name not in _PRESIGNED else ""
    prose = value.count(" ") >= _PROSE and not _is_search(host)
    return "one of its parameters carries a text" if prose else ""


def _is_search(host: str) -> bool:
    """Whether a host is a search engine or an encyclopedia, where a question may be long."""
    return any(part in _SEARCH for part in host.split("."))


def _path_shape(path: str) -> str:
    text = unquote(path)
    secret = secret_in(text)
    if secret:
        return secret
    pieces = text.split("/")
    opaque = [len(piece) for piece in pieces if _looks_encoded(piece)]
    if any(length > _PATH_PIECE for length in opaque) or sum(opaque) > 2 * _PATH_PIECE:
        return "its path carries what looks like encoded data"
    return ""


def secret_in(text: str) -> str:
    """Return which kind of secret a text seems to contain, as a phrase; empty for none."""
    if _TOKENS.search(text):
        return "it carries what looks like an access token"
    if _SAID.search(text):
        return "it carries what looks like a password"
    if _SSN.search(text):
        return "it carries what looks like an identity number"
    if any(_luhn(re.sub(r"\D", "", found)) for found in _CARD.findall(text)):
        return "it carries what looks like a card number"
    return ""


def _looks_encoded(piece: str) -> bool:
    """Whether a piece of text is long, of the base64 or hex alphabets, and mixes cases or digits as words do not."""
    if len(piece) < _OPAQUE_PIECE or not _ENCODED.fullmatch(piece):
        return False
    digits = sum(c.isdigit() for c in piece)
    upper = sum(c.isupper() for c in piece[1:])
    return digits >= len(piece) // 8 or len(piece) // 6 <= upper < len(piece) - 1


def _luhn(digits: str) -> bool:
    """Whether a number passes the check digit of payment cards (ISO/IEC 7812-1)."""
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1 or digits[0] not in "23456":
        return False
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 * (value > 9)
    return total % 10 == 0
