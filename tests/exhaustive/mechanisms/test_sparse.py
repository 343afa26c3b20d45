"""Gaussian sparse histograms on small worlds of weighted users: ours is accepted, the easy mistakes are rejected.

A user with the item set W adds w(|W|) to every item of W; neighbours differ by one user, whose items may be new. What
is compared is the whole release, values included, as far as a grid of cells shows it: the distribution of (which items
passed, in which cell their noisy count lies) has a closed form, and by post-processing it must keep the same guarantee.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TypeAlias

import flint
import pytest
from tests.support.worlds import PRECISION, SmallDistribution, check_pair

from podium.audit.exact.rough import OutcomeTable
from podium.exact import ball, ball_precision
from podium.histogram import Histogram
from podium.mechanisms import GaussianSparseHistogram, SetUnionThenTopK, TwoReadings, Weights
from podium.privacy import GaussianNoise, Guarantee, HiddenItems, total

ITEMS = ("a", "b", "c")
SETS = tuple(chosen for size in (1, 2, 3) for chosen in itertools.combinations(ITEMS, size))
CELLS = tuple(Fraction(edge, 2) for edge in (0, 1, 2, 3, 4, 6))
Sums: TypeAlias = tuple[int, ...]
Users: TypeAlias = tuple[tuple[str, ...], ...]
SIGMA, DELTA = Fraction(1), Fraction(1, 50)

BOUNDED, SPREAD, FLOORED = Weights.bounded(3), Weights.spread(3), Weights.floored(2, 3)


def sums(users: Users, weights: Weights, lift: Sums = (0, 0, 0)) -> Sums:
    """The weighted counts of these users, above what a crowd behind them adds."""
    return tuple(
        crowd + sum(weights.weight(len(user)) for user in users if item in user)
        for item, crowd in zip(ITEMS, lift, strict=True)
    )


def below(x: Fraction) -> flint.arb:
    return (-ball(x) / flint.arb(2).sqrt()).erfc() / 2


@functools.lru_cache(maxsize=4096)
def cell_chances(lead: Fraction) -> dict[int | None, flint.arb]:
    """Where a noisy count that leads the threshold by so many sigmas comes to lie: None is below it."""
    with ball_precision(PRECISION):
        ends = [below(edge - lead) for edge in CELLS]
        steps = [high - low for low, high in itertools.pairwise([*ends, flint.arb(1)])]
        return {None: ends[0]} | dict(enumerate(steps))


def cell_distribution(counts: Sums, threshold: Fraction, sigma: Fraction, unit: int) -> SmallDistribution:
    distribution: dict[tuple[int | None, ...], flint.arb] = {(): flint.arb(1)}
    with ball_precision(PRECISION):
        for count in counts:
            # Items that nobody has take no part.
            cells = cell_chances((Fraction(count, unit) - threshold) / sigma) if count else {None: flint.arb(1)}
            distribution = {(*cell, more): p * q for cell, p in distribution.items() for more, q in cells.items()}
    return distribution


def pairs(weights: Weights) -> Iterator[tuple[Sums, Sums]]:
    """Every database of at most one user, over crowds of several heights, and every user who could be added."""
    unit = weights.unit
    crowds = ((0, 0, 0), (3, 0, 0), (3, 3, 0), (2, 3, 4), (9, 3, 0))
    for crowd, present in itertools.product(crowds, ((), *((users,) for users in SETS))):
        lift = tuple(unit * height for height in crowd)
        for added in SETS:
            yield sums(present, weights, lift), sums((*present, added), weights, lift)


def check_all(weights: Weights, threshold: Fraction, guarantee: Guarantee, sigma: Fraction = SIGMA) -> None:
    """Every pair, both directions; the first that breaks the promise raises."""
    table = OutcomeTable()
    distribution = functools.cache(
        lambda counts: table.tabulate(cell_distribution(counts, threshold, sigma, weights.unit))
    )
    for fewer, more in sorted(set(pairs(weights))):
        check_pair(distribution(fewer), distribution(more), guarantee)


def rejected(check: Callable[[], object]) -> None:
    with pytest.raises(AssertionError, match="above the claimed"):
        check()


def mechanism(weights: Weights, k: int | None = None, sigma: Fraction = SIGMA) -> GaussianSparseHistogram:
    return GaussianSparseHistogram(sigma=sigma, delta=DELTA, weights=weights, k=k)


@pytest.mark.parametrize("weights", [BOUNDED, SPREAD, FLOORED], ids=str)
@pytest.mark.parametrize("sigma", [Fraction(1, 3), Fraction(1), Fraction(3)])
def test_ours_keeps_its_promise(weights: Weights, sigma: Fraction) -> None:
    ours = mechanism(weights, sigma=sigma)
    check_all(weights, ours.threshold, ours.guarantee, sigma)


@pytest.mark.parametrize("weights", [BOUNDED, SPREAD, FLOORED], ids=str)
@pytest.mark.parametrize("k", [1, 2])
def test_a_short_list_keeps_the_promise_too(weights: Weights, k: int) -> None:
    """The exact distribution of the order, as ``distribution`` gives it."""
    ours = mechanism(weights, k)

    @functools.cache
    def distribution(counts: Sums) -> SmallDistribution:
        return ours.distribution(Histogram(dict(zip(ITEMS, counts, strict=True)), known=False), exact=True)

    checked = sorted(set(pairs(weights)))[:: 13 if k == 1 else 31]
    for fewer, more in checked:
        check_pair(distribution(fewer), distribution(more), ours.guarantee)


def test_the_delta_is_needed_almost_in_full() -> None:
    """One item of one user, sigma small: it passes with probability delta, and nothing else hides that."""
    ours = mechanism(SPREAD, sigma=Fraction(1, 10))
    with ball_precision(PRECISION):
        passes = 1 - below((ours.threshold - 1) / ours.sigma)
        assert abs(passes - ball(DELTA)) < flint.arb(2) ** -50
    rejected(lambda: check_all(SPREAD, ours.threshold, claim(SPREAD, ours.sigma, DELTA * 9 / 10), ours.sigma))


def claim(weights: Weights, sigma: Fraction = SIGMA, delta: Fraction = DELTA) -> Guarantee:
    return total([GaussianNoise(sigma, sensitivity_squared=weights.sensitivity_squared), HiddenItems(delta)])


def test_a_threshold_without_the_users_own_weight_is_rejected() -> None:
    for weights in (BOUNDED, SPREAD, FLOORED):
        without = mechanism(weights).threshold - Fraction(weights.weight(1), weights.unit)
        rejected(functools.partial(check_all, weights, without, claim(weights)))


def test_the_weight_of_one_item_more_is_rejected() -> None:
    """max over t of w(t+1) + ...: off by one."""
    sigma = Fraction(1, 10)
    later = Weights([(1, SPREAD.weight(2)), (2, SPREAD.weight(3)), (3, SPREAD.weight(3))], unit=SPREAD.unit)
    rejected(lambda: check_all(SPREAD, later.threshold(sigma, DELTA), claim(SPREAD, sigma), sigma))


def test_hiding_one_item_where_three_may_appear_is_rejected() -> None:
    """(1 - delta)^(1/1): each of three new items passes with probability delta."""
    one = Weights.bounded(1).threshold(SIGMA, DELTA)
    rejected(lambda: check_all(BOUNDED, one, claim(BOUNDED)))


def test_heavy_users_whose_weight_is_not_lowered_are_rejected() -> None:
    """Everybody counts 1 per item, and the noise and the threshold are those of spread weights."""
    whole = Weights([(3, SPREAD.unit)], unit=SPREAD.unit)
    rejected(lambda: check_all(whole, mechanism(SPREAD).threshold, claim(SPREAD)))
    # Even with the right threshold the noise is too small.
    rejected(lambda: check_all(whole, whole.threshold(SIGMA, DELTA), claim(SPREAD)))


def test_the_sensitivity_of_one_item_is_rejected_for_three() -> None:
    rejected(lambda: check_all(BOUNDED, mechanism(BOUNDED).threshold, claim(Weights.bounded(1))))


def test_a_threshold_that_is_almost_free_is_rejected() -> None:
    rejected(lambda: check_all(BOUNDED, mechanism(BOUNDED).threshold, claim(BOUNDED, delta=DELTA / 10**6)))


# Set union, then peeling: both readings of the same users.


def readings(users: Users, ours: SetUnionThenTopK, crowd: int) -> TwoReadings:
    weighted = sums(users, ours.weights, (crowd * ours.weights.unit,) * 2 + (0,))
    plain = sums(users, BOUNDED, (crowd, crowd, 0))
    return TwoReadings(
        Histogram(dict(zip(ITEMS, weighted, strict=True)), known=False),
        Histogram(dict(zip(ITEMS, plain, strict=True)), known=False),
    )


def check_union(distribution: Callable[[Users, int], SmallDistribution], guarantee: Guarantee) -> None:
    for crowd, present, added in itertools.product((0, 2, 3), ((), *((users,) for users in SETS)), SETS):
        check_pair(distribution(present, crowd), distribution((*present, added), crowd), guarantee)


UNION = SetUnionThenTopK(2, "0.5", 2 * DELTA, 3, sigma=1)


def test_set_union_keeps_its_promise() -> None:
    @functools.cache
    def distribution(users: Users, crowd: int) -> SmallDistribution:
        return UNION.distribution(readings(users, UNION, crowd), exact=True)

    check_union(distribution, UNION.guarantee)


def test_set_union_with_the_discovery_left_unpaid_is_rejected() -> None:
    @functools.cache
    def distribution(users: Users, crowd: int) -> SmallDistribution:
        return UNION.distribution(readings(users, UNION, crowd), exact=True)

    unpaid = total([event for event in UNION.worst_case if not isinstance(event, GaussianNoise)])
    rejected(lambda: check_union(distribution, unpaid))
