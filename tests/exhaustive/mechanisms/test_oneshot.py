"""OneshotLaplace in small worlds: the set, the set with measured values, and the values that are not free."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import pytest
from tests.support.symmetry import symmetric
from tests.support.worlds import DistributionOf, SmallHistogram, check_pure, check_world, neighbours, world

from podium.histogram import Histogram, Scores
from podium.mechanisms.noisy import NoisyTopK
from podium.mechanisms.oneshot import OneshotLaplace

ITEMS = ("a", "b", "c", "d")


def distribution_of(mechanism: OneshotLaplace) -> DistributionOf:
    return symmetric(lambda counts: mechanism.distribution(Histogram(counts), exact=True))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_every_pair_keeps_the_promise(k: int) -> None:
    mechanism = OneshotLaplace(k, 1)
    check_world(distribution_of(mechanism), mechanism.guarantee, items=ITEMS, largest=3, kind="pure")


def test_every_pair_keeps_the_whole_guarantee() -> None:
    for mechanism in (OneshotLaplace(2, 1), OneshotLaplace(2, "0.2", delta="0.01")):
        check_world(distribution_of(mechanism), mechanism.guarantee, largest=3)


def test_scores_that_move_both_ways() -> None:
    """Every step of -1, 0, 1 on every item: the doubled scale keeps the promise, that of counts does not."""
    one, two, careless = (symmetric(_scores_distribution(OneshotLaplace(*it))) for it in ((1, 1), (2, 1), (1, 2)))
    rejected = 0
    for counts in itertools.product((1, 3, 8), repeat=3):
        for change in itertools.product((-1, 0, 1), repeat=3):
            less = dict(zip(ITEMS, counts, strict=False))
            more = {item: count + step for (item, count), step in zip(less.items(), change, strict=True)}
            check_pure(one(less), one(more), 1)
            check_pure(two(less), two(more), 1)
            try:
                check_pure(careless(less), careless(more), 1)
            except AssertionError:
                rejected += 1
    assert rejected, "no pair shows why the scale is doubled"


def _scores_distribution(mechanism: OneshotLaplace) -> DistributionOf:
    return lambda counts: mechanism.distribution(Scores(counts, sensitivity=1), exact=True)


VALUES = (Fraction(-3), Fraction(1, 2), Fraction(9, 2), Fraction(20))


def with_values(
    mechanism: OneshotLaplace, data: Callable[[SmallHistogram], Any]
) -> Callable[..., dict[Any, flint.arb]]:
    """(set, values) -> density of both steps together."""

    def lookup(counts: SmallHistogram) -> dict[Any, flint.arb]:
        return {
            (chosen, values): mechanism.density(data(counts), frozenset(chosen), values, exact=True)
            for chosen in itertools.combinations(counts, mechanism.k)
            for values in itertools.product(VALUES, repeat=mechanism.k)
        }

    return lookup


def test_set_and_values_keep_what_both_steps_cost() -> None:
    for k in (1, 2):
        mechanism = OneshotLaplace(k, 1)
        distribution = with_values(mechanism, Histogram)
        known = {tuple(counts.values()): distribution(counts) for counts in world(ITEMS[:3], 2)}
        for counts in world(ITEMS[:3], 1):
            for more in neighbours(counts):
                check_pure(known[tuple(counts.values())], known[tuple(more.values())], 2)


def test_set_and_values_for_the_price_of_the_set_are_rejected() -> None:
    """Qiao, Su & Zhang, Algorithm 1 as printed: with scores that move both ways the loss comes close to 1.5 epsilon."""
    mechanism = OneshotLaplace(1, 1)
    distribution = with_values(mechanism, lambda counts: Scores(counts, sensitivity=1))
    p, q = distribution({"a": 0, "b": 120}), distribution({"a": 1, "b": 119})
    check_pure(p, q, Fraction(3, 2))
    with pytest.raises(AssertionError, match=r"above the claimed epsilon=1 by 0\.4"):
        check_pure(p, q, 1)


def test_set_and_values_at_the_printed_scale_are_enough_where_all_counts_move_one_way() -> None:
    """Algorithm 1 as printed, lambda = 2k/epsilon: half of epsilon for the set and half for the fresh values."""
    for k in (1, 2):
        distribution = with_values(OneshotLaplace(k, 1, monotone=False), Histogram)
        known = {tuple(counts.values()): distribution(counts) for counts in world(ITEMS[:3], 2)}
        for counts in world(ITEMS[:3], 1):
            for more in neighbours(counts):
                check_pure(known[tuple(counts.values())], known[tuple(more.values())], 1)


def test_set_and_values_for_the_price_of_the_set_are_rejected_for_counts() -> None:
    distribution = with_values(OneshotLaplace(1, 1), Histogram)
    with pytest.raises(AssertionError, match="above the claimed epsilon=1 by"):
        check_pure(distribution({"a": 0, "b": 4}), distribution({"a": 1, "b": 4}), 1)


def test_the_approximate_scale_has_much_room_in_small_worlds() -> None:
    """At k=2 its scale is 14 times the pure one: the pure part of the promise alone is kept with room to spare."""
    mechanism = OneshotLaplace(2, "0.2", delta="0.01")
    finding = check_world(distribution_of(mechanism), Fraction(1, 5), items=ITEMS, largest=3, kind="pure")
    assert finding.excess < -0.15


def test_the_scale_of_one_item_for_k_items_is_rejected() -> None:
    """Forgetting the factor k: the set of two at scale 1/epsilon."""
    with pytest.raises(AssertionError, match="above the claimed epsilon=1 by"):
        check_world(distribution_of(OneshotLaplace(2, 2)), 1, items=ITEMS, largest=3, kind="pure")


def test_sets_are_those_of_the_ordered_mechanism() -> None:
    for counts in world(ITEMS, 1):
        ordered = NoisyTopK(2, 1, noise="laplace").distribution(Histogram(counts))
        for chosen, probability in OneshotLaplace(2, 1).distribution(Histogram(counts)).items():
            total = sum((p for order, p in ordered.items() if frozenset(order) == chosen), 0.0)
            assert probability == pytest.approx(total, rel=1e-13)
