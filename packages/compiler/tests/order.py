"""When one row is narrower than another, written from the meaning of a row (DESIGN 6) and not from the code under test.

A row allows a set of effects. The narrower one allows no effect that the wider one does not: a bound kind may only
lose targets, an open kind may become bound, but parties may not (an empty list of parties asks, it is no open kind).
"""

from __future__ import annotations

from decimal import Decimal

from agentsfence_core.model import Permission


def narrows(inner: Permission, outer: Permission) -> bool:
    """Whether every effect that ``inner`` allows without a question is one that ``outer`` allows so."""
    return (
        inner.capability == outer.capability
        and set(inner.recipients) <= set(outer.recipients)
        and _bound(inner.domains, outer.domains)
        and _bound(inner.objects, outer.objects)
        and _paths(inner.paths, outer.paths)
        and all(inner.values.get(name) == value for name, value in outer.values.items())
        and _at_most(inner.max_calls, outer.max_calls)
        and _at_most(_number(inner.max_amount), _number(outer.max_amount))
        and inner.needs_approval >= outer.needs_approval
    )


def _bound(inner: tuple[str, ...], outer: tuple[str, ...]) -> bool:
    return not outer or (bool(inner) and set(inner) <= set(outer))


def _paths(inner: tuple[str, ...], outer: tuple[str, ...]) -> bool:
    return not outer or (bool(inner) and all(any(_below(path, folder) for folder in outer) for path in inner))


def _below(path: str, folder: str) -> bool:
    if path == folder:
        return True
    if folder.endswith("/"):
        return path.startswith(folder) and path != folder
    return path == f"{folder}/" or path.startswith(f"{folder}/")


def _at_most(inner: float | Decimal | None, outer: float | Decimal | None) -> bool:
    return outer is None or (inner is not None and inner <= outer)


def _number(amount: str | None) -> Decimal | None:
    return None if amount is None else Decimal(amount)
