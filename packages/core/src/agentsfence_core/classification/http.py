"""HTTP requests as effects: the method decides, wherever and however it is written, then the body and the scheme.

Rules of this file:

* A request is a READ only if nothing in it sends: no writing method, no body, no upload, no mutation.
* Every URL outside the body is contacted: a callback and a proxy are hosts like the target.
* A URL that is no web address is what its scheme does: ``file:`` reads a path, ``javascript:`` runs code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote_plus

from agentsfence_core.classification.targets.hosts import UrlReading, read_location, read_url
from agentsfence_core.classification.targets.paths import canonical_path, is_literal, looks_like_path
from agentsfence_core.classification.targets.recipients import read_recipients
from agentsfence_core.limits import LIMITS
from agentsfence_core.model.action import Effect, TargetKind
from agentsfence_core.model.risk import Risk

_METHOD_KEYS: Final = frozenset(
    {"method", "httpmethod", "verb", "httpverb", "requestmethod", "requesttype", "operation", "action"}
)
_OVERRIDES: Final = frozenset({"xhttpmethodoverride", "xhttpmethod", "xmethodoverride", "method"})
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY"})
_WRITING: Final = frozenset(
    {
        "POST",
        "PUT",
        "PATCH",
        "CONNECT",
        "MKCOL",
        "COPY",
        "MOVE",
        "LOCK",
        "UNLOCK",
        "PROPPATCH",
        "LINK",
        "UNLINK",
        "UPLOAD",
    }
)
_DELETING: Final = frozenset({"DELETE", "PURGE"})
_METHODS: Final = _READING | _WRITING | _DELETING
_URL_KEYS: Final = frozenset({"url", "urls", "uri", "uris", "endpoint", "href", "host", "baseurl"})
_BODY_KEYS: Final = frozenset(
    {
        "body", "data", "json", "form", "formdata", "payload", "rawbody", "requestbody", "postdata", "multipart",
        "jsonbody", "databinary", "dataraw", "dataurlencode", "jsondata", "formfields", "fields",
    }
)  # fmt: skip
_UPLOAD_KEYS: Final = frozenset(
    {
        "file",
        "files",
        "upload",
        "uploads",
        "uploadfile",
        "filepath",
        "attachment",
        "attachments",
        "bodyfile",
        "datafile",
    }
)
_OUTPUT_KEYS: Final = frozenset(
    {"output", "outputfile", "outfile", "outputpath", "savepath", "saveto", "saveas", "downloadpath", "destination"}
)
_PARAMETER_KEYS: Final = frozenset({"params", "queryparams", "queryparameters", "querystring", "searchparams"})
_GRAPHQL_KEYS: Final = frozenset({"query", "mutation", "operations", "document", "gql", "graphql"})
_GRAPHQL: Final = re.compile(
    r"(?:\s|#[^\n]*\n)*+(?:(?:query|mutation|subscription|fragment)\b[^{}\"]{0,2000})?\{", re.IGNORECASE
)
_GRAPHQL_NOISE: Final = re.compile(r'"""|"[^"\n]*"|#[^\n]*')
_GRAPHQL_PART: Final = re.compile(r"[{}]|\b[A-Za-z_]\w*")
_DELETING_FIELD: Final = re.compile(r"(?:[dD]elete|[rR]emove|[dD]estroy|[pP]urge)(?![a-z])")
_SILENT_MEDIA: Final = re.compile(
    r"\s*(?:image/(?!svg)|audio/|video/|font/|text/plain|text/csv|application/(?:json|pdf))", re.IGNORECASE
)
_DEPTH: Final = 6  # levels of nested requests that are searched

_SCHEMES: Final[dict[str, tuple[str, Risk]]] = {
    **dict.fromkeys(("javascript", "vbscript", "data"), ("browser.execute_js", Risk.EXECUTION)),
    **dict.fromkeys(("intent", "chrome", "ms-msdt", "shell", "jar"), ("code.exec", Risk.EXECUTION)),
    **dict.fromkeys(("smtp", "smtps", "mailto"), ("email.send", Risk.COMMUNICATION)),
    **dict.fromkeys(("tel", "sms"), ("message.send", Risk.COMMUNICATION)),
    **dict.fromkeys(
        ("", "http", "https", "ws", "wss", "ftp", "ftps", "about", "view-source", "blob", "feed", "url"),
        ("web.read", Risk.READ),
    ),
}
"""Scheme -> what opening such a URL does; any other scheme can carry anything to a server (gopher, dict, redis …)."""


@dataclass(slots=True)
class _Request:
    """What the arguments say so far, over all nested requests."""

    methods: set[str] = field(default_factory=set)
    urls: list[str] = field(default_factory=list)
    uploads: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    body: bool = False
    graphql: list[str] = field(default_factory=list)
    unread: bool = False
    """A URL stands there that cannot be read."""
    nodes: int = 2_000


def read_http(args: Mapping[str, object]) -> tuple[Effect, ...] | None:
    """Return the effects of a request, or ``None`` where the arguments name neither a URL nor a method."""
    request = _Request()
    _collect(args, request, 0)
    if not request.urls and not request.methods and not request.graphql and not request.unread:
        return None
    readings = [(url, reading) for url in request.urls if (reading := read_url(url) or read_location(url)) is not None]
    effects = [effect for url, reading in readings if (effect := _by_scheme(url, reading)) is not None]
    effects += _file_reads(request.urls)
    web = [(url, reading) for url, reading in readings if _does(reading)[0] == "web.read"]
    if web or not effects or request.unread:
        effects.extend(_web(request, web))
    if request.uploads:
        effects.append(Effect("file.read", Risk.READ, paths=tuple(request.uploads), because="upload"))
    if request.outputs:
        effects.append(Effect("file.download", Risk.LOCAL_WRITE, paths=tuple(request.outputs), because="output"))
    return tuple(effects)


def _web(request: _Request, web: list[tuple[str, UrlReading]]) -> list[Effect]:
    """Return the effects on web addresses: one for each kind of method that is written."""
    domains = tuple(dict.fromkeys(host for _, reading in web for host in reading.hosts))[: LIMITS.targets]
    added = "&".join(request.parameters)
    written = dict.fromkeys(f"{url}{'&' if '?' in url else '?'}{added}" if added else url for url, _ in web)
    urls = tuple(written)[: LIMITS.targets]
    unverified = frozenset({TargetKind.DOMAINS}) if request.unread or not urls else frozenset[TargetKind]()
    kinds = {_kind(method) for method in request.methods}
    if request.graphql and not request.methods and not request.body:
        kinds |= {graphql_kind(document) for document in request.graphql}
    elif any(graphql_kind(document) is Risk.DELETE for document in request.graphql):
        kinds.add(Risk.DELETE)
    elif any(graphql_kind(document) is not Risk.READ for document in request.graphql):
        kinds.add(Risk.EXTERNAL_WRITE)
    if request.body or request.uploads:
        kinds.add(Risk.EXTERNAL_WRITE)
    if len(kinds) > 1:
        kinds.discard(Risk.READ)
    return [
        Effect(_CAPABILITY[kind], kind, domains=domains, urls=urls, unverified=unverified, because="HTTP")
        for kind in sorted(kinds or {Risk.READ})
    ]


_CAPABILITY: Final = {Risk.READ: "web.read", Risk.EXTERNAL_WRITE: "web.post", Risk.DELETE: "web.delete"}


def _kind(method: str) -> Risk:
    """Return the class of a method; one that nobody knows may write."""
    if method in _DELETING:
        return Risk.DELETE
    return Risk.READ if method in _READING else Risk.EXTERNAL_WRITE


def _collect(args: Mapping[object, object] | Mapping[str, object], request: _Request, depth: int) -> None:
    """Read one mapping of arguments into the request."""
    for raw_key, value in args.items():
        request.nodes -= 1
        if request.nodes < 0 or depth > _DEPTH:
            request.unread = True
            return
        key = "".join(character for character in str(raw_key)[:80].lower() if character.isalnum())
        if value is None or value in ("", b"") or (isinstance(value, list | tuple | dict) and not value):
            continue
        if not _collect_known(key, value, request):
            _collect_other(key, value, request, depth)


def _collect_known(key: str, value: object, request: _Request) -> bool:
    """Read an argument whose name says what it is; whether it was one."""
    if key in _BODY_KEYS:
        request.body = True
        request.graphql.extend(graphql_texts(value))
        request.methods.update(_override(value, frozenset({"method"}), prefix="_"))
    elif key in _UPLOAD_KEYS:
        request.body = True
        request.uploads.extend(_paths(value))
    elif key in _OUTPUT_KEYS:
        request.outputs.extend(_paths(value))
    elif key in _GRAPHQL_KEYS and (documents := list(graphql_texts(value))):
        request.graphql.extend(documents)
    elif key in {"headers", "header"}:
        request.methods.update(_override(value, _OVERRIDES - {"method"}))
    elif key in _PARAMETER_KEYS:
        request.methods.update(_override(value, frozenset({"method"}), prefix="_"))
        request.parameters.append(_parameters(value))
    else:
        return False
    return True


def _collect_other(key: str, value: object, request: _Request, depth: int) -> None:
    """Read an argument that may be a method, a URL, or hold further arguments."""
    for item in _items(value):
        if isinstance(item, Mapping):
            _collect(item, request, depth + 1)
        elif isinstance(item, str):
            _collect_text(key, item, request, depth)


def _collect_text(key: str, text: str, request: _Request, depth: int) -> None:
    """Read one text: a method, a URL, or JSON that holds a request."""
    stripped = text.strip()
    if len(stripped) < 12 and stripped.isalpha():
        known = stripped.upper() in _METHODS
        if (key in _METHOD_KEYS and (known or key not in {"operation", "action"})) or stripped in _METHODS:
            request.methods.add(stripped.upper())
            return
    if (raw := _RAW.match(stripped[:8_192])) is not None:
        _collect_raw(raw, stripped, request)
        return
    if stripped[:1] == "{" and len(stripped) <= LIMITS.json_text and depth < _DEPTH:
        nested = _json(stripped)
        if isinstance(nested, Mapping):
            _collect(nested, request, depth + 1)
            return
    if len(request.urls) >= LIMITS.targets:
        request.unread = True
    elif read_url(stripped) is not None or stripped[:5].lower() == "file:":
        request.urls.append(stripped)
        request.methods.update(_override(stripped.partition("?")[2].split("&"), frozenset({"method"}), prefix="_"))
    elif key in _URL_KEYS:
        if is_literal(stripped, globs=False) and read_location(stripped) is not None and " " not in stripped:
            request.urls.append(stripped)
        else:
            request.unread = True


_RAW: Final = re.compile(r"([A-Z]{3,12}) (https?://\S{1,4000}|/\S{0,4000})(?: HTTP/\d(?:\.\d)?)?(?=\s|\Z)")
_RAW_HOST: Final = re.compile(r"^host:[ \t]*([^\s/]{1,253})", re.IGNORECASE | re.MULTILINE)


def _collect_raw(raw: re.Match[str], text: str, request: _Request) -> None:
    """Read a request as it goes over the wire: its first line, its ``Host``, its body."""
    request.methods.add(raw[1])
    head, _, body = text[: LIMITS.json_text].replace("\r\n", "\n").partition("\n\n")
    if body.strip():
        request.body = True
    host = _RAW_HOST.search(head)
    if raw[2][:1] != "/":
        request.urls.append(raw[2])
    elif host:
        request.urls.append(f"https://{host[1]}{raw[2]}")
    request.methods.update(_override(head.split("\n")[1:200], _OVERRIDES - {"method"}))


def _items(value: object) -> list[object]:
    """Return a list's items, or the value itself as the only one."""
    return list(value)[: LIMITS.targets] if isinstance(value, list | tuple | set | frozenset) else [value]


def _override(value: object, names: frozenset[str], prefix: str = "") -> Iterator[str]:
    """Yield the methods that headers or fields put in place of the written one."""
    for name, text in _pairs(value)[:1_000]:
        raw = str(name)[:80].strip().lower()
        short = "".join(character for character in raw if character.isalnum())
        if short in names and raw.startswith(prefix) and isinstance(text, str) and text.strip():
            yield text.strip().upper()[:20]


def _pairs(value: object) -> list[tuple[object, object]]:
    """Return the names and values of headers or fields, whichever way they are written."""
    if isinstance(value, str) and value.strip()[:1] == "{":
        value = _json(value)
    pairs: list[tuple[object, object]] = []
    for item in _items(value):
        if isinstance(item, Mapping):
            pairs.extend(item.items())
            pairs.extend((item[key], item.get("value")) for key in ("name", "key") if key in item)
        elif isinstance(item, str):
            for line in item.splitlines()[:200]:
                name, _, text = line.partition(":" if ":" in line else "=")
                pairs.append((name, text))
    return pairs


def graphql_texts(value: object) -> Iterator[str]:
    """Yield the GraphQL documents in a value: a text, a list of them, ``{"query": …}``, or JSON of these."""
    if isinstance(value, str) and value.strip()[:2] in {'{"', '["', "[{"}:
        value = _json(value)
    for item in _items(value):
        if isinstance(item, str) and _GRAPHQL.match(item):
            yield item
        elif isinstance(item, Mapping):
            for key in ("query", "mutation", "document"):
                document = item.get(key)
                if isinstance(document, str) and _GRAPHQL.match(document):
                    yield document


def graphql_kind(document: str) -> Risk:
    """Return READ unless an operation of the document is a mutation; deleting fields delete."""
    depth = 0
    mutation = deleting = False
    for part in _GRAPHQL_PART.finditer(_GRAPHQL_NOISE.sub(" ", document)):
        if part[0] == "{":
            depth += 1
        elif part[0] == "}":
            depth -= 1
        elif depth <= 0 and part[0].lower() == "mutation":
            mutation = True
        elif mutation and depth == 1 and _DELETING_FIELD.match(part[0]):
            deleting = True
    if deleting:
        return Risk.DELETE
    return Risk.EXTERNAL_WRITE if mutation else Risk.READ


def _does(reading: UrlReading) -> tuple[str, Risk]:
    """Return what opening a URL of a scheme does."""
    if reading.scheme == "data" and _SILENT_MEDIA.match(reading.path):
        return ("web.read", Risk.READ)
    return _SCHEMES.get(reading.scheme, ("web.post", Risk.EXTERNAL_WRITE))


def _by_scheme(url: str, reading: UrlReading) -> Effect | None:
    """Return the effect of a URL that is no web address."""
    capability, risk = _does(reading)
    if capability == "web.read" or reading.scheme == "file":
        return None
    unverified = {
        Risk.EXECUTION: frozenset({TargetKind.PROGRAM}),
        Risk.COMMUNICATION: frozenset({TargetKind.RECIPIENTS}),
    }.get(risk, frozenset[TargetKind]())
    recipients: tuple[str, ...] = ()
    if reading.scheme in {"mailto", "tel", "sms"}:
        recipients = read_recipients(url).parties
        unverified = frozenset()
    because = f"{reading.scheme}:"
    return Effect(capability, risk, recipients, reading.hosts, urls=(url,), unverified=unverified, because=because)


def _file_reads(urls: list[str]) -> list[Effect]:
    """Return the effect of ``file:`` URLs: they read paths."""
    files = [url for url in urls if url[:5].lower() == "file:"]
    if not files:
        return []
    paths = tuple(dict.fromkeys(canonical_path(url, workdir=None, home=None) for url in files))
    return [Effect("file.read", Risk.READ, paths=paths, because="file:")]


def _paths(value: object) -> list[str]:
    """Return the paths in the value of an upload or output argument."""
    found: list[str] = []
    for item in _items(value):
        inner = list(item.values())[:100] if isinstance(item, Mapping) else [item]
        texts = [
            text.removeprefix("@") for text in inner if isinstance(text, str) and len(text) <= LIMITS.target_length
        ]
        found.extend(canonical_path(text, workdir=None, home=None) for text in texts if looks_like_path(text))
    return found


def _parameters(value: object) -> str:
    """Return query parameters as they will stand in the URL, so that what they carry can be judged there."""
    if isinstance(value, Mapping):
        pairs = list(value.items())[:200]
        return "&".join(f"{quote_plus(str(key)[:500])}={quote_plus(str(item)[:2_000])}" for key, item in pairs)
    return str(value)[: LIMITS.target_length]


def _json(text: str) -> object:
    """Return the value of a JSON text, or ``None``."""
    if len(text) > LIMITS.json_text:
        return None
    try:
        parsed: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return parsed
