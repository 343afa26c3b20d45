"""Every small world: private k_bar, Laplace noise with its counts, and the fixed threshold keep their promises."""

from __future__ import annotations

import itertools
from fractions import Fraction

import flint
import pytest
from tests.support.worlds import DistributionOf, SmallDistribution, check_world, distribution_of, lifted, top_items

from podium.audit.exact.divergence import PRECISION
from podium.audit.exact.worlds import SmallHistogram, neighbours, world
from podium.exact import ball_precision
from podium.histogram import Histogram
from podium.mechanisms.fixed_threshold import FixedThreshold
from podium.mechanisms.limited_domain.laplace_race import LaplaceRace
from podium.mechanisms.limited_domain.limited_domain import LimitedDomain, PrivateKBar
from podium.mechanisms.piecewise import noise_cdf, noise_density
from podium.release import BOTTOM

ITEMS = ("a", "b", "c", "d")
HALF, ONE = Fraction(1, 2), Fraction(1)


def joint_distribution(mechanism: LimitedDomain) -> DistributionOf:
    """A private k_bar is released with the outcome, so the promise is about both."""

    def distribution(counts: SmallHistogram) -> SmallDistribution:
        with ball_precision(PRECISION):
            return mechanism._joint_distribution(Histogram(counts, known=False))

    return distribution


@pytest.mark.parametrize(
    ("k", "limit", "max_items", "strict"),
    [
        (1, 1, None, False),
        (1, 3, None, False),
        (2, 4, None, False),
        (2, 6, None, False),
        (1, 3, 1, False),
        (2, 4, None, True),
    ],
)
def test_a_private_k_bar_keeps_its_promise(k: int, limit: int, max_items: int | None, strict: bool) -> None:
    loose = LimitedDomain(k, PrivateKBar(limit), HALF, "0.05", max_items_per_user=max_items, strict=strict)
    check_world(joint_distribution(loose), loose.guarantee, items=ITEMS, largest=2, max_items=max_items)
    tight = LimitedDomain(k, PrivateKBar(limit), HALF, "1e-6", max_items_per_user=max_items, strict=strict)
    for lift in ({"a": 20}, {"a": 30, "b": 30}):
        check_world(
            lifted(joint_distribution(tight), lift), tight.guarantee, items=ITEMS, largest=1, max_items=max_items
        )


@pytest.mark.parametrize(("k", "epsilon", "delta"), [(1, HALF, "0.05"), (2, ONE, "0.01"), (3, HALF, "0.1")])
def test_the_fixed_threshold_keeps_its_promise(k: int, epsilon: Fraction, delta: str) -> None:
    mechanism = FixedThreshold(k, epsilon, delta)
    distribution = distribution_of(mechanism, known=False)
    excess = check_world(distribution, mechanism.guarantee, items=ITEMS, largest=3 if k == 1 else 2).excess
    if k == 1:
        assert excess == pytest.approx(0, abs=1e-12)
    check_world(lifted(distribution, {"a": 6, "b": 5}), mechanism.guarantee, items=ITEMS, largest=1)


@pytest.mark.parametrize(
    ("k", "k_bar", "max_items"), [(1, 1, 1), (2, 2, 1), (2, 2, 2), (1, 3, 2), (2, 3, 3), (2, 4, 1)]
)
def test_the_laplace_variant_keeps_its_promise(k: int, k_bar: int, max_items: int) -> None:
    mechanism = LimitedDomain(k, k_bar, HALF, "0.01", max_items_per_user=max_items, noise="laplace")
    distribution = distribution_of(mechanism, known=False)
    check_world(distribution, mechanism.guarantee, items=ITEMS, largest=2, max_items=max_items)
    check_world(
        lifted(distribution, {"a": 12, "b": 10}),
        mechanism.guarantee,
        items=ITEMS[:3],
        largest=1,
        max_items=max_items,
    )


# Laplace: what the noisy counts add.


@pytest.mark.parametrize(("k_bar", "max_items"), [(1, 1), (2, 1), (2, 2), (3, 2)])
def test_the_laplace_variant_keeps_its_promise_with_its_noisy_counts(k_bar: int, max_items: int) -> None:
    """Noisy counts cut into cells are post-processing; fine cells lose almost nothing of the divergence."""
    mechanism = LimitedDomain(1, k_bar, HALF, "0.01", max_items_per_user=max_items, noise="laplace")
    cuts = [Fraction(cut, 2) for cut in range(-6, 40, 2)]
    distribution = cells_distribution(mechanism, cuts)
    check_world(distribution, mechanism.guarantee, items=ITEMS[:3], largest=1, max_items=max_items)
    check_world(lifted(distribution, {"a": 10}), mechanism.guarantee, items=ITEMS[:3], largest=1, max_items=max_items)


def cells_distribution(mechanism: LimitedDomain, cuts: list[Fraction]) -> DistributionOf:
    """(item, cell) -> probability for k=1, from the noise densities alone."""
    ends = [None, *cuts, None]
    scale = 1 / mechanism.epsilon_per_item

    def distribution(counts: SmallHistogram) -> SmallDistribution:
        rows = Histogram(counts, known=False).top(mechanism.max_rows)
        bottom = rows.next_count + mechanism.margin
        cells: dict[tuple[object, int], flint.arb] = {}
        with ball_precision(PRECISION):
            for item, count in zip(rows.items, rows.counts.tolist(), strict=True):
                joint = noise_density("laplace", Fraction(count), scale) * noise_cdf("laplace", bottom, scale)
                for other, size in zip(rows.items, rows.counts.tolist(), strict=True):
                    if other != item:
                        joint = joint * noise_cdf("laplace", Fraction(size), scale)
                for cell, (low, high) in enumerate(itertools.pairwise(ends)):
                    cells[item, cell] = joint.integral(low, high)
            cells["bottom", 0] = 1 - sum(cells.values(), flint.arb(0))
        return cells

    return distribution


@pytest.mark.parametrize(("k", "k_bar", "max_items"), [(1, 2, 1), (2, 2, 2), (2, 3, 2)])
def test_on_the_common_domain_the_density_ratio_is_bounded(k: int, k_bar: int, max_items: int) -> None:
    """Lemma 6.2 of the paper: at most Delta of the counts and bottom move, so |log ratio| <= Delta * eps."""
    mechanism = LimitedDomain(k, k_bar, HALF, "0.1", max_items_per_user=max_items, noise="laplace")
    worst = 0.0
    for counts in world(ITEMS[:3], 2):
        for more in neighbours(counts, max_items):
            common = [item for item in top_items(counts, k_bar) if item in top_items(more, k_bar)]
            worst = max(worst, worst_ratio(mechanism, counts, more, common))
    assert worst <= float(max_items * HALF) * (1 + 1e-12)
    assert worst > 0.9 * float(max_items * HALF)


def worst_ratio(mechanism: LimitedDomain, counts: SmallHistogram, more: SmallHistogram, common: list[str]) -> float:
    with ball_precision(PRECISION):
        races, breaks = [], set[Fraction]()
        for histogram in (counts, more):
            bottom = Histogram(histogram, known=False).top(mechanism.max_rows).next_count + mechanism.margin
            scores = [histogram[item] for item in common]
            races.append(LaplaceRace(common, scores, bottom, 1 / mechanism.epsilon_per_item, mechanism.k))
            breaks |= {Fraction(score) for score in scores} | {bottom}
        ordered = sorted(breaks)
        between = [(a + b) / 2 for a, b in itertools.pairwise(ordered)]
        points = [ordered[0] - 3, ordered[0] - 1, *between, ordered[-1] + 1, ordered[-1] + 3]
        worst = 0.0
        for size in range(min(mechanism.k, len(common)) + 1):
            for outcome in itertools.permutations(common, size):
                ended = outcome if size == mechanism.k else (*outcome, BOTTOM)
                for values in itertools.combinations(sorted(points, reverse=True), size):
                    here, there = (race.density(ended, values) for race in races)
                    worst = max(worst, abs(float((here / there).log().mid())))
        return worst
