"""Costs that depend on the outcome: every log ratio is within what that very outcome pays, on every pair of a world."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from tests.support.worlds import SmallLaw, check_pure

CostOf: TypeAlias = Callable[[Any], Fraction]


def check_paid(p: SmallLaw, q: SmallLaw, cost: CostOf) -> None:
    """|log p(o) - log q(o)| <= cost(o) for every outcome o, certified."""
    by_cost: dict[Fraction, tuple[dict[Any, Any], dict[Any, Any]]] = {}
    for side, law in enumerate((p, q)):
        for outcome, value in law.items():
            by_cost.setdefault(cost(outcome), ({}, {}))[side][outcome] = value
    for paid, (here, there) in by_cost.items():
        check_pure(here, there, paid)


def check_paid_pairs(
    law: Callable[[Any], SmallLaw], cost: CostOf, pairs: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]]
) -> int:
    """All pairs, each law computed once; returns how many pairs were checked."""
    known: dict[tuple[Any, ...], SmallLaw] = {}

    def lookup(scores: Mapping[str, Any]) -> SmallLaw:
        key = tuple(scores.values())
        if key not in known:
            known[key] = law(dict(scores))
        return known[key]

    number = 0
    for here, there in pairs:
        try:
            check_paid(lookup(here), lookup(there), cost)
        except AssertionError as error:
            raise AssertionError(f"{error}\n  p: {here}\n  q: {there}") from None
        number += 1
    return number
