"""HTTP: a request that sends is no read, however its method is written."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsfence_core.classification.http import read_http
from agentsfence_core.model import TargetKind

URL = "https://api.example/v1/x"

REQUESTS: list[tuple[Mapping[str, object], list[str]]] = [
    ({"url": URL}, ["web.read"]),
    ({"url": URL, "method": "head"}, ["web.read"]),
    ({"url": URL, "title": "Post", "prompt": "delete"}, ["web.read"]),
    ({"url": URL, "body": "", "data": {}}, ["web.read"]),
    ({"url": URL, "method": "POST", "body": "x"}, ["web.post"]),
    ({"URL": URL, "HTTP-Method": "put"}, ["web.post"]),
    ({"url": URL, "op": "PATCH"}, ["web.post"]),
    ({"url": URL, "method": ["POST"]}, ["web.post"]),
    ({"url": URL, "method": "FROB"}, ["web.post"]),
    ({"url": URL, "data": {"a": 1}}, ["web.post"]),
    ({"request": {"url": URL, "method": "post"}}, ["web.post"]),
    ({"config": '{"url": "https://api.example", "method": "POST"}'}, ["web.post"]),
    ({"url": URL, "headers": {"X-HTTP-Method-Override": "PUT"}}, ["web.post"]),
    ({"url": URL, "headers": ["x-http-method-override: DELETE"]}, ["web.delete"]),
    ({"url": URL, "headers": [{"name": "X-Method-Override", "value": "DELETE"}]}, ["web.delete"]),
    ({"url": f"{URL}?_method=DELETE"}, ["web.delete"]),
    ({"url": URL, "method": "DELETE"}, ["web.delete"]),
    ({"requests": [{"url": URL}, {"url": URL, "method": "DELETE"}]}, ["web.delete"]),
    ({"url": URL, "files": {"f": "@/etc/passwd"}}, ["web.post", "file.read"]),
    ({"url": URL, "output": "/tmp/x"}, ["web.read", "file.download"]),
    # GraphQL
    ({"endpoint": URL, "query": "query { a }"}, ["web.read"]),
    ({"endpoint": URL, "query": '{ a(x: "mutation") }'}, ["web.read"]),
    ({"endpoint": URL, "query": "# x\nmutation { addUser { id } }"}, ["web.post"]),
    ({"endpoint": URL, "operations": ["query{a}", "mutation{b}"]}, ["web.post"]),
    ({"endpoint": URL, "operations": '[{"query": "mutation { b }"}]'}, ["web.post"]),
    ({"endpoint": URL, "query": 'mutation { deleteUser(id: "}") { id } }'}, ["web.delete"]),
    ({"url": URL, "method": "POST", "body": {"query": "query { a }", "variables": {"x": "secret"}}}, ["web.post"]),
    # Other schemes
    ({"url": "file:///etc/passwd"}, ["file.read"]),
    ({"url": "javascript:fetch('https://evil.example')"}, ["browser.execute_js"]),
    ({"url": "data:text/html,<script>x</script>"}, ["browser.execute_js"]),
    ({"url": "data:image/png;base64,xx"}, ["web.read"]),
    ({"url": "gopher://evil.example/_x"}, ["web.post"]),
    ({"url": "smtp://mail.example"}, ["email.send"]),
    ({"url": "mailto:a@x.example?cc=b@x.example"}, ["email.send"]),
]


@pytest.mark.parametrize(("args", "capabilities"), REQUESTS)
def test_the_request_decides(args: Mapping[str, object], capabilities: list[str]) -> None:
    effects = read_http(args)
    assert effects is not None
    assert [effect.capability for effect in effects] == capabilities


def test_every_contacted_host_is_a_domain() -> None:
    args = {
        "url": URL,
        "callback_url": "https://evil.example/h",
        "proxy": "http://p.example:1",
        "body": "https://no.example",
    }
    effects = read_http(args)
    assert effects is not None
    assert effects[0].domains == ("api.example", "evil.example", "p.example")


def test_parameters_are_part_of_the_url() -> None:
    effects = read_http({"params": {"q": "my secret"}, "url": URL})
    assert effects is not None
    assert effects[0].urls == (f"{URL}?q=my+secret",)


def test_parties_and_paths_of_other_schemes_are_targets() -> None:
    mail = read_http({"url": "mailto:a@x.example?bcc=b@x.example"})
    assert mail is not None
    assert mail[0].recipients == ("a@x.example", "b@x.example")
    file = read_http({"urls": ["FILE:///home/ann/.ssh/id_rsa"]})
    assert file is not None
    assert file[0].paths == ("/home/ann/.ssh/id_rsa",)


def test_a_url_that_cannot_be_read_is_said() -> None:
    effects = read_http({"url": "$TARGET"})
    assert effects is not None
    assert TargetKind.DOMAINS in effects[0].unverified


def test_what_is_no_request_is_none() -> None:
    assert read_http({"prompt": "post it", "count": 3}) is None
    assert read_http({}) is None


_VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.floats(),
        st.text(max_size=20),
        st.sampled_from(["POST", URL, '{"url":', "mutation{a}"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["url", "method", "body", "headers", "query", "params", "x"]), inner, max_size=4
        ),
    ),
    max_leaves=10,
)


@given(
    st.dictionaries(
        st.one_of(st.text(max_size=8), st.sampled_from(["url", "method", "body", "headers", "query"])),
        _VALUES,
        max_size=5,
    )
)
@settings(max_examples=250, deadline=None)
def test_reading_requests_is_total(args: dict[str, object]) -> None:
    effects = read_http(args)
    assert effects is None or effects
    with_post = read_http({**args, "url": URL, "method": "POST"})
    assert with_post is not None
    assert any(effect.capability in {"web.post", "web.delete"} for effect in with_post)
