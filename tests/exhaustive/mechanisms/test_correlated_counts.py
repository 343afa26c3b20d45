"""Correlated noise on counts: every set of items that a user can have, against a covariance that is inverted anew."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import pytest
from scipy import stats

from podium.mechanisms.gaussian.correlated_counts import CorrelatedCounts
from podium.privacy import CorrelatedNoise

MU_SQUARED = Fraction(2, 7)
Row = list[Fraction]


def covariance(items: int, own: Fraction, shared: Fraction) -> list[Row]:
    return [[shared + (own if i == j else 0) for j in range(items)] for i in range(items)]


def squared_distance(moves: Sequence[Fraction | int], rows: Sequence[Row]) -> Fraction:
    """c^T Sigma^-1 c by elimination, without any formula for the inverse."""
    system = [[*row, Fraction(move)] for row, move in zip(rows, moves, strict=True)]
    for i, pivot in enumerate(system):
        pivot[:] = [entry / pivot[i] for entry in pivot]
        for j, row in enumerate(system):
            if i != j:
                row[:] = [a - row[i] * b for a, b in zip(row, pivot, strict=True)]
    return sum((row[-1] * move for row, move in zip(system, moves, strict=True)), start=Fraction(0))


def published(items: int) -> tuple[Fraction, Fraction]:
    """The two variances of Lebeda 2025 for mu = 1, rounded up."""
    root = Fraction(math.isqrt(items * 10**24) + 1, 10**12)
    return root * (root + 1) / 4, (root + 1) / 4


@pytest.mark.parametrize("items", range(1, 7))
def test_nobody_moves_the_counts_farther_than_is_charged(items: int) -> None:
    for most in range(1, items + 1):
        noise = CorrelatedCounts.within(items, MU_SQUARED, max_items_per_user=most)
        rows = covariance(items, noise.sigma**2, noise.shared_sigma**2)
        sets = [chosen for chosen in itertools.product((0, 1), repeat=items) if sum(chosen) <= most]
        worst = max(squared_distance(chosen, rows) for chosen in sets)
        assert worst == 2 * noise.event.rho
        assert MU_SQUARED * (1 - Fraction(1, 10**8)) <= worst <= MU_SQUARED


@pytest.mark.parametrize("items", [1, 2, 3, 4])
def test_parts_of_a_count_move_it_less(items: int) -> None:
    """What one user adds may be anything from 0 to 1 (clipped values): the corners are the worst."""
    noise = CorrelatedCounts.within(items, MU_SQUARED)
    rows = covariance(items, noise.sigma**2, noise.shared_sigma**2)
    steps = [Fraction(part, 4) for part in range(5)]
    worst = max(squared_distance(moves, rows) for moves in itertools.product(steps, repeat=items))
    assert worst == 2 * noise.event.rho


@pytest.mark.parametrize("items", [1, 2, 3, 5, 10, 37, 100, 999, 10_000])
@pytest.mark.parametrize("mu_squared", ["1e-9", "0.05", "3", "1e6"])
def test_the_noise_is_never_more_than_the_published_one_nor_than_independent_noise(items: int, mu_squared: str) -> None:
    mu = math.sqrt(float(mu_squared))
    for most in {1, min(2, items), min(20, items), items}:
        noise = CorrelatedCounts.within(items, mu_squared, max_items_per_user=most)
        found = math.sqrt(noise.variance) * mu
        assert found <= min((math.sqrt(items) + 1) / 2, math.sqrt(most)) * (1 + 1e-6)
        assert 2 * noise.event.rho <= Fraction(mu_squared)


@pytest.mark.parametrize("items", [1, 2, 3, 4, 10, 100])
def test_the_published_variances_cost_mu_at_the_real_maximum(items: int) -> None:
    own, shared = published(items)
    tilt = shared / (own + items * shared)
    # (t - b t^2)/own at t = 1/(2b), an upper bound on its value at integers.
    assert Fraction(999_999, 1_000_000) < 1 / (4 * tilt * own) <= 1
    noise = CorrelatedNoise(items, items, *(Fraction(math.isqrt(int(v * 10**20)) + 1, 10**10) for v in (own, shared)))
    assert 2 * noise.rho <= 1


def test_more_noise_of_either_kind_costs_less() -> None:
    at = {
        (own, shared): CorrelatedNoise(5, 5, Fraction(own, 3), Fraction(shared, 3)).rho
        for own in range(1, 8)
        for shared in range(8)
    }
    for (own, shared), rho in at.items():
        assert rho >= max(at.get((own + 1, shared), 0), at.get((own, shared + 1), 0))


def test_not_for_values_that_one_user_may_raise_and_lower() -> None:
    """Negative control: with one count up and another down the shared noise hides nothing."""
    moved = squared_distance((1, -1), covariance(2, *published(2)))
    assert float(moved) == pytest.approx(2.343, abs=0.001)


def test_the_shared_noise_must_be_new_in_every_release() -> None:
    """Negative control: two lists about different users cost each of them mu^2, unless both have the same shared noise.

    The second list, in which the user is not, tells about the noise that hides the user in the first.
    """
    items = 6
    own, shared = published(items)
    alone = max(squared_distance([1] * t + [0] * (items - t), covariance(items, own, shared)) for t in range(items + 1))
    assert alone <= 1
    both = covariance(2 * items, own, shared)
    reused = max(squared_distance([1] * t + [0] * (2 * items - t), both) for t in range(items + 1))
    assert float(reused) > 1.5


def test_noise_that_is_taken_for_independent_gives_totals_that_miss() -> None:
    """Negative control: an interval for the sum of 100 counts with the variance of independent noise covers .46."""
    noise = CorrelatedCounts.within(100, 1)
    total = noise.total_variance()
    assert total == 100 * noise.sigma**2 + 100**2 * noise.shared_sigma**2
    assert noise.total_variance(1) == noise.variance
    assert noise.difference_variance < 2 * noise.variance
    believed = 100 * noise.variance
    covered = 2 * stats.norm.cdf(stats.norm.ppf(0.975) * math.sqrt(believed / total)) - 1
    assert covered == pytest.approx(0.464, abs=0.002)
    rows = covariance(100, noise.sigma**2, noise.shared_sigma**2)
    assert sum(map(sum, rows)) == total


# Sums of contributions.


def moved(noise: CorrelatedCounts, contribution: tuple[int, ...]) -> Fraction:
    """c^T S^-1 c with S^-1 by Sherman and Morrison, in the units of the values."""
    own, shared = noise.sigma**2, noise.shared_sigma**2
    share = shared / (own + len(contribution) * shared)
    return (sum(Fraction(amount) ** 2 for amount in contribution) - share * sum(contribution) ** 2) / own


@pytest.mark.parametrize("items", [1, 2, 3])
def test_no_contribution_up_to_the_clip_moves_sums_farther_than_the_event_says(items: int) -> None:
    noise = CorrelatedCounts.within(items, "0.5", clip=3)
    found = max(moved(noise, vector) for vector in itertools.product(range(4), repeat=items))
    assert found == 2 * noise.event.rho <= Fraction(1, 2)
    # A clip that was forgotten in the noise.
    forgotten = CorrelatedCounts.within(items, "0.5")
    assert max(moved(forgotten, vector) for vector in itertools.product(range(4), repeat=items)) > Fraction(4)


def test_contributions_of_both_signs_move_sums_farther() -> None:
    noise = CorrelatedCounts.within(2, 1, clip=3)
    assert moved(noise, (3, -3)) > Fraction(23, 10) * 2 * noise.event.rho
