"""The hybrids in small worlds: what came out never tells more than it cost, with and without the gaps."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import flint
import pytest
from tests.support.paid import added, check_paid_pairs, rejected
from tests.support.worlds import SmallDistribution, SmallHistogram, check_world

from podium.exact import ball_precision
from podium.histogram import Histogram, Item, Scores
from podium.mechanisms.sparse_vector.hybrid import HybridTopK, Priority
from podium.mechanisms.sparse_vector.hybrid_distribution import Candidate, Field, hybrid_distribution
from podium.release import BOTTOM

BOTH: tuple[Priority, ...] = ("identities", "estimates")
TWO = ("a", "b")
THREE = ("a", "b", "c")
FOUR = ("a", "b", "c", "d")


def distribution_of(mechanism: HybridTopK) -> Callable[[SmallHistogram], SmallDistribution]:
    return lambda counts: mechanism.distribution(Histogram(counts), exact=True)


@pytest.mark.parametrize("first", BOTH)
@pytest.mark.parametrize(("k", "threshold"), [(1, 2), (2, "1.5")])
def test_pays_for_what_came_out(first: Priority, k: int, threshold: int | str) -> None:
    mechanism = HybridTopK(threshold, k, 1, first=first)
    assert check_paid_pairs(distribution_of(mechanism), mechanism.cost, added(FOUR, 2)) == 1215


@pytest.mark.parametrize("first", BOTH)
@pytest.mark.parametrize("k", [3, 5])
def test_more_places_than_stand_out(first: Priority, k: int) -> None:
    """With k=5 and three items the threshold is always reached."""
    mechanism = HybridTopK(1, k, 2, first=first)
    assert check_paid_pairs(distribution_of(mechanism), mechanism.cost, added(THREE, 3)) == 448


@pytest.mark.parametrize("first", BOTH)
def test_the_guarantee_of_the_whole(first: Priority) -> None:
    mechanism = HybridTopK(1, 2, 1, first=first)
    check_world(distribution_of(mechanism), mechanism.guarantee, items=THREE, largest=2)
    check_world(distribution_of(mechanism), mechanism.guarantee, items=THREE, largest=2, kind="pure")


def moves(rises: Fraction, falls: Fraction) -> Iterator[tuple[dict[str, Fraction], dict[str, Fraction]]]:
    for scores in itertools.product((Fraction(0), Fraction(1, 2), Fraction(3)), repeat=2):
        for step in itertools.product((-falls, Fraction(0), rises), repeat=2):
            here = dict(zip(TWO, scores, strict=True))
            yield here, {item: score + by for (item, score), by in zip(here.items(), step, strict=True)}


MOVES = [
    (Fraction(1), Fraction(1)),
    (Fraction(2), Fraction(1)),
    (Fraction(1, 2), Fraction(3, 2)),
    (Fraction(0), Fraction(1)),
]


@pytest.mark.parametrize("first", BOTH)
@pytest.mark.parametrize(("rises", "falls"), MOVES)
def test_asymmetric_scores(first: Priority, rises: Fraction, falls: Fraction) -> None:
    mechanism = HybridTopK(1, 2, 1, first=first)
    check_paid_pairs(
        lambda scores: mechanism.distribution(Scores(scores, rises_by=rises, falls_by=falls), exact=True),
        mechanism.cost,
        moves(rises, falls),
    )


@pytest.mark.parametrize("first", BOTH)
def test_replaced_users(first: Priority) -> None:
    """``monotone=False`` is the scale for moves both ways, and the monotone scale is not enough for them."""
    general, monotone = HybridTopK(1, 2, 1, first=first, monotone=False), HybridTopK(1, 2, 1, first=first)
    assert general.scales() == general.scales(rises_by=1, falls_by=1)

    def distribution(mechanism: HybridTopK) -> Callable[[Any], SmallDistribution]:
        # Shifted by one, so that a count that falls stays one.
        return lambda counts: mechanism.distribution(
            Histogram({item: int(count) + 1 for item, count in counts.items()}), exact=True
        )

    steps = [
        ({"a": a, "b": b}, {"a": a + x, "b": b + y})
        for a, b in itertools.product(range(3), repeat=2)
        for x, y in itertools.product((-1, 0, 1), repeat=2)
    ]
    check_paid_pairs(distribution(general), general.cost, steps)
    rejected(lambda: check_paid_pairs(distribution(monotone), monotone.cost, steps))


def density_distribution(mechanism: HybridTopK, most: int) -> Callable[[SmallHistogram], SmallDistribution]:
    """Densities at gaps on both sides of every break: breaks of a gap are differences of starting points."""
    scales = mechanism.scales()
    starts = {Fraction(count) for count in range(4)} | {mechanism.threshold + scales.lift}
    breaks = sorted({abs(a - b) for a in starts for b in starts} | {Fraction(0)})
    points = [(a + b) / 2 for a, b in itertools.pairwise([*breaks, breaks[-1] + 2])][:most]

    def densities(counts: SmallHistogram) -> SmallDistribution:
        histogram = Histogram(counts)
        distribution: dict[Any, flint.arb] = {}
        for outcome in mechanism.distribution(histogram):
            assert isinstance(outcome, tuple)
            found = sum(item is not BOTTOM for item in outcome)
            for gaps in itertools.product(points, repeat=found):
                if mechanism.first == "identities" or list(gaps) == sorted(gaps, reverse=True):
                    distribution[outcome, gaps] = mechanism.density(histogram, outcome, gaps, exact=True)
        return distribution

    return densities


@pytest.mark.parametrize("first", BOTH)
@pytest.mark.parametrize("k", [1, 2])
def test_gaps_are_free(first: Priority, k: int) -> None:
    mechanism = HybridTopK("1.5", k, 2, first=first)
    distribution = density_distribution(mechanism, 100 if k == 1 else 5)
    assert check_paid_pairs(distribution, lambda key: mechanism.cost(key[0]), added(TWO, 2)) == 27


def test_gaps_of_three_items() -> None:
    mechanism = HybridTopK(1, 2, 1)
    distribution = density_distribution(mechanism, 4)
    check_paid_pairs(distribution, lambda key: mechanism.cost(key[0]), added(THREE, 1))


def test_an_uncharged_threshold_is_rejected() -> None:
    """Identities first: the threshold is an output symbol like any other."""
    mechanism = HybridTopK(1, 2, 1)

    def items_only(outcome: Sequence[Item]) -> Fraction:
        return mechanism.epsilon * sum(item is not BOTTOM for item in outcome) / mechanism.k

    rejected(lambda: check_paid_pairs(distribution_of(mechanism), items_only, added(THREE, 2)))


def test_a_threshold_price_of_nothing_is_rejected() -> None:
    """Estimates first: the threshold is paid at the start, whether or not it is reached."""
    mechanism = HybridTopK(1, 2, 1, first="estimates")
    assert mechanism.theta is not None
    free = mechanism.theta * mechanism.epsilon
    rejected(
        lambda: check_paid_pairs(
            distribution_of(mechanism), lambda outcome: mechanism.cost(outcome) - free, added(THREE, 2)
        )
    )


@pytest.mark.parametrize("first", BOTH)
def test_a_threshold_without_noise_is_rejected(first: Priority) -> None:
    mechanism = HybridTopK(1, 2, 1, first=first)
    scales = mechanism.scales()

    def bare(counts: SmallHistogram) -> SmallDistribution:
        # A ten-thousandth of the scale is as good as none, and keeps the closed form.
        items: dict[Item, Candidate] = {
            item: Candidate(Fraction(count), scales.query) for item, count in counts.items()
        }
        with ball_precision(512):
            return hybrid_distribution(
                Field(items, Candidate(Fraction(1) + scales.query, scales.threshold / 10_000)), 2
            )

    rejected(lambda: check_paid_pairs(bare, mechanism.cost, added(THREE, 2)))


@pytest.mark.parametrize("first", BOTH)
def test_the_claim_is_tight(first: Priority) -> None:
    mechanism = HybridTopK(1, 2, 1, first=first)
    rejected(
        lambda: check_paid_pairs(
            distribution_of(mechanism), lambda outcome: mechanism.cost(outcome) * Fraction(999, 1000), added(THREE, 3)
        )
    )
