"""Linear time: hostile text of every shape is read in a time that a quadratic reader would miss by far."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from agentsfence_core.classification.code import read_code
from agentsfence_core.classification.http import read_http
from agentsfence_core.classification.patch import read_patch
from agentsfence_core.classification.sql import read_sql
from agentsfence_core.classification.targets.hosts import canonical_host, hosts_in, read_location, read_url
from agentsfence_core.classification.targets.paths import canonical_path, is_literal, looks_like_path
from agentsfence_core.classification.targets.recipients import (
    addresses_in,
    canonical_recipient,
    find_addresses,
    read_recipients,
    recipients_in_mime,
)

SHAPES = (
    "a", "../", "@", "a@b.c,", "a@b.c@", "<",
    '"', '\\"', '"(', "x:", "https://", "http:", "url:", "&u=//", "%25", "www.", "\n", "\nTo:",
    "[", '{"a":', "+1 ", "mailto:", "\u00e9", "@\u00e9", "\u3002", "*** Add File: a\n", "--- a\n+++ b\n",
    "rename from x\n",
    "f(", "system(", "'''", "import a as b\n", "file:/", "~/", "\\", " ", "=?a?b?", "FROM ", "(*", "a.b.",
)  # fmt: skip

READERS: dict[str, Callable[[str], object]] = {
    "paths": lambda text: (canonical_path(text, workdir="/w", home="/h"), is_literal(text), looks_like_path(text)),
    "hosts": lambda text: (read_url(f"https://{text}"), read_location(text), canonical_host(text), hosts_in(text)),
    "recipients": lambda text: (read_recipients(text), canonical_recipient(text), recipients_in_mime(f"To: {text}")),
    "addresses": lambda text: (addresses_in(text), find_addresses(text)),
    "sql": lambda text: (read_sql(text), read_sql(text[:20_000])),
    "patch": lambda text: read_patch(text, workdir="/w", home=None),
    "http": lambda text: read_http({"url": f"https://a/{text}", "body": text, "headers": text, "query": text}),
    "code": lambda text: (read_code(text[:50_000]), read_code(text[:50_000], "perl")),
}


@pytest.mark.parametrize("reader", READERS)
def test_linear_time(reader: str) -> None:
    size, slowest = 150_000, 0.0
    for shape in SHAPES:
        text = (shape * (size // len(shape) + 1))[:size]
        started = time.process_time()
        READERS[reader](text)
        slowest = max(slowest, time.process_time() - started)
    assert slowest < 8  # seconds; measured well below one, a quadratic reader takes minutes


def test_a_megabyte_is_read() -> None:
    text = "a@x.example, https://b.example/../c;\n" * 27_000
    assert "a@x.example" in addresses_in(text)
    assert hosts_in(text) == ("b.example",)
    assert canonical_path(text, workdir=None, home=None)
    assert read_recipients(text[:900_000]).parties[0] == "a@x.example"
