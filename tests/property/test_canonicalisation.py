"""The theorem "canonicalisation idempotent" (DESIGN 12): targets and arguments, with a fault that it must notice."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.strategies import HOME

from agentsfence_core.canonical import canonical, digest
from agentsfence_core.classification.targets.hosts import canonical_host
from agentsfence_core.classification.targets.paths import canonical_path
from agentsfence_core.classification.targets.recipients import canonical_recipient

ROUNDS = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
TARGET = (
    st.text(st.sampled_from("aB.-_é\u00df\u0130\uff11"), max_size=12)
    | st.text(st.sampled_from("aB.@/\\~ :[]%-_<>,;éß\u200b\u0130\uff11"), max_size=24)
    | st.text(max_size=24)
)


def is_idempotent(form: Callable[[str], str | None], text: str) -> None:
    """A canonical form is its own canonical form."""
    once = form(text)
    assert once is None or form(once) == once


def absolute(text: str) -> str:
    """A path where the folder is known."""
    return canonical_path(text, workdir="/w", home=HOME)


def relative(text: str) -> str:
    """A path where nothing is known."""
    return canonical_path(text, workdir=None, home=None)


@ROUNDS
@given(TARGET)
def test_canonicalisation_idempotent_for_targets(text: str) -> None:
    is_idempotent(canonical_recipient, text)
    is_idempotent(canonical_host, text)
    is_idempotent(absolute, text)
    is_idempotent(relative, text)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (canonical_host, "[\u00e9"),
        (canonical_host, "\u200b["),
        (canonical_host, "b ."),
        (canonical_host, "-::"),
        (canonical_host, "%00"),
        (relative, "[[/ /"),
    ],
)
def test_canonicalisation_idempotent_for_targets_found(form: Callable[[str], str | None], text: str) -> None:
    is_idempotent(form, text)


def test_canonicalisation_idempotent_notices_a_form_that_peels_one_layer() -> None:
    with pytest.raises(AssertionError):
        is_idempotent(lambda text: text.removesuffix("."), "example.com..")


@ROUNDS
@given(JSON)
def test_canonicalisation_idempotent_for_arguments(value: object) -> None:
    form = canonical(value)
    assert form
    if '{"":' not in form:  # tagged: what JSON has no plain form for is not read back as itself
        assert canonical(json.loads(form)) == form


@ROUNDS
@given(st.dictionaries(st.text(), JSON, min_size=2, max_size=5))
def test_canonical_arguments_do_not_depend_on_the_order_of_keys(args: dict[str, object]) -> None:
    assert canonical(dict(reversed(list(args.items())))) == canonical(args)


@ROUNDS
@given(JSON, JSON)
def test_canonical_arguments_are_equal_only_for_equal_values(one: object, other: object) -> None:
    plain = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (canonical(one) == canonical(other)) == plain


class Rude(dict[str, object]):
    """A mapping that does not keep its promises."""

    def items(self) -> object:  # type: ignore[override]
        raise KeyError("no")


@pytest.mark.parametrize(
    "value",
    [
        object(),
        Rude(a=1),
        {object(): 1},
        {"\ud800": "\ud800"},
        [float("nan")],
        10**400,
    ],
)
def test_total_canonical_form(value: object) -> None:
    assert isinstance(canonical(value), str)
    assert len(digest(value)) in {0, 32}
