"""Costs that depend on the outcome: every log ratio is within what that very outcome pays, on every pair of a world."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import pytest
from tests.support.worlds import SmallDistribution, SmallHistogram, check_pure, neighbours, world

CostOf: TypeAlias = Callable[[Any], Fraction]


def check_paid(p: SmallDistribution, q: SmallDistribution, cost: CostOf) -> None:
    """|log p(o) - log q(o)| <= cost(o) for every outcome o, certified."""
    by_cost: dict[Fraction, tuple[dict[Any, Any], dict[Any, Any]]] = {}
    for side, distribution in enumerate((p, q)):
        for outcome, value in distribution.items():
            by_cost.setdefault(cost(outcome), ({}, {}))[side][outcome] = value
    for paid, (here, there) in by_cost.items():
        check_pure(here, there, paid)


def added(items: Sequence[str], largest: int) -> Iterator[tuple[SmallHistogram, SmallHistogram]]:
    """Every histogram of these items, with each that has one user more."""
    return ((counts, more) for counts in world(items, largest) for more in neighbours(counts))


def rejected(check: Callable[[], object]) -> None:
    """The check finds an outcome that pays too little."""
    with pytest.raises(AssertionError, match="above the claimed epsilon"):
        check()


def check_paid_pairs(
    distribution: Callable[[Any], SmallDistribution],
    cost: CostOf,
    pairs: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]],
) -> int:
    """All pairs, each distribution computed once; returns how many pairs were checked."""
    known: dict[tuple[Any, ...], SmallDistribution] = {}

    def lookup(scores: Mapping[str, Any]) -> SmallDistribution:
        key = tuple(scores.values())
        if key not in known:
            known[key] = distribution(dict(scores))
        return known[key]

    number = 0
    for here, there in pairs:
        try:
            check_paid(lookup(here), lookup(there), cost)
        except AssertionError as error:
            raise AssertionError(f"{error}\n  p: {here}\n  q: {there}") from None
        number += 1
    return number
