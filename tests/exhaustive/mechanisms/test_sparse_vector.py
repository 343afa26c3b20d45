"""Sparse vector in small worlds: what came out never tells more than it cost, with and without the gaps."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint
import pytest
from tests.support.paid import added, check_paid_pairs, rejected
from tests.support.worlds import SmallDistribution, SmallHistogram, world

from podium.exact import ball_precision
from podium.histogram import Histogram, Scores
from podium.mechanisms.piecewise import Piecewise, noise_cdf, noise_density, noise_survival
from podium.mechanisms.sparse_vector.distribution import sparse_distribution
from podium.mechanisms.sparse_vector.scales import SparseNoise, SparsePlan
from podium.mechanisms.sparse_vector.technique import Found, SparseVector

NOISES: tuple[SparseNoise, ...] = ("laplace", "exponential", "geometric")
TWO = ("a", "b")
THREE = ("a", "b", "c")
FOUR = ("a", "b", "c", "d")


def replaced(items: Sequence[str], largest: int) -> Iterator[tuple[SmallHistogram, SmallHistogram]]:
    """Counts that may move both ways: one user replaced."""
    for counts in world(items, largest):
        for step in itertools.product((-1, 0, 1), repeat=len(items)):
            moved = {item: count + by for (item, count), by in zip(counts.items(), step, strict=True)}
            if any(step) and min(moved.values()) >= 0:
                yield counts, moved


def distribution_of(mechanism: SparseVector) -> Callable[[SmallHistogram], SmallDistribution]:
    return lambda counts: mechanism.distribution(Histogram(counts), exact=True)


@pytest.mark.parametrize("noise", NOISES)
def test_plain_pays_for_what_came_out(noise: SparseNoise) -> None:
    mechanism = SparseVector(2, 2, 1, adaptive=False, noise=noise)
    assert check_paid_pairs(distribution_of(mechanism), mechanism.cost, added(FOUR, 2)) == 1215


@pytest.mark.parametrize("noise", NOISES)
def test_adaptive_pays_for_what_came_out(noise: SparseNoise) -> None:
    mechanism = SparseVector(1, 2, "1.5", noise=noise)
    assert check_paid_pairs(distribution_of(mechanism), mechanism.cost, added(THREE, 3)) == 448


def test_adaptive_with_four_items() -> None:
    mechanism = SparseVector(0, 1, 3, theta="0.3")
    assert check_paid_pairs(distribution_of(mechanism), mechanism.cost, added(FOUR, 2)) == 1215


@pytest.mark.parametrize("noise", NOISES)
def test_three_branches(noise: SparseNoise) -> None:
    mechanism = SparseVector(0, 1, 4, branches=3, noise=noise, theta="0.25")
    check_paid_pairs(distribution_of(mechanism), mechanism.cost, added(THREE, 2))


@pytest.mark.parametrize("noise", NOISES)
def test_replaced_users(noise: SparseNoise) -> None:
    mechanism = SparseVector(1, 2, 1, noise=noise, monotone=False)
    check_paid_pairs(distribution_of(mechanism), mechanism.cost, replaced(THREE, 2))


@pytest.mark.parametrize("noise", NOISES)
def test_the_monotone_scale_is_not_enough_for_replaced_users(noise: SparseNoise) -> None:
    mechanism = SparseVector(1, 2, 1, noise=noise, adaptive=False)
    rejected(lambda: check_paid_pairs(distribution_of(mechanism), mechanism.cost, replaced(THREE, 2)))


def score_pairs(rises: Fraction, falls: Fraction) -> Iterator[tuple[dict[str, Fraction], dict[str, Fraction]]]:
    for scores in itertools.product((Fraction(0), Fraction(1, 2), Fraction(3)), repeat=2):
        for step in itertools.product((-falls, Fraction(0), rises), repeat=2):
            here = dict(zip(TWO, scores, strict=True))
            yield here, {item: score + by for (item, score), by in zip(here.items(), step, strict=True)}


MOVES = [(Fraction(2), Fraction(1)), (Fraction(1, 2), Fraction(3, 2)), (Fraction(0), Fraction(1))]


@pytest.mark.parametrize(("rises", "falls"), MOVES)
@pytest.mark.parametrize("noise", ["laplace", "exponential"])
def test_asymmetric_scores(noise: SparseNoise, rises: Fraction, falls: Fraction) -> None:
    mechanism = SparseVector("1.5", 1, 1, noise=noise)
    check_paid_pairs(
        lambda scores: mechanism.distribution(Scores(scores, rises_by=rises, falls_by=falls), exact=True),
        mechanism.cost,
        score_pairs(rises, falls),
    )


@pytest.mark.parametrize(("rises", "falls"), MOVES)
def test_half_the_span_is_not_enough_for_the_threshold(rises: Fraction, falls: Fraction) -> None:
    """The shift-invariant reading would centre the moves and need half the span; but the threshold does not shift."""
    mechanism = SparseVector("1.5", 1, 1, adaptive=False)
    rejected(
        lambda: check_paid_pairs(
            lambda scores: broken(
                mechanism,
                replace(
                    mechanism.plan(rises_by=rises, falls_by=falls),
                    threshold_scale=(rises + falls) / 2 / (mechanism.theta * mechanism.epsilon),
                ),
                scores,
            ),
            mechanism.cost,
            score_pairs(rises, falls),
        )
    )


def gap_points(plan: SparsePlan, threshold: Fraction, number: int, largest: int, most: int) -> list[Fraction]:
    """A point inside every smooth piece of the density as a function of one gap, or evenly chosen ones of them."""
    branch = plan.branch(number)
    if plan.noise == "geometric":
        return [branch.margin + step for step in range(most)]
    levels = {threshold - plan.threshold_center} | {
        count - other.center - other.margin for other in plan.branches for count in range(largest + 1)
    }
    cuts = {count - branch.center - level for level in levels for count in range(largest + 1)}
    edges = sorted({branch.margin, *(cut for cut in cuts if cut > branch.margin)})
    points = [(a + b) / 2 for a, b in itertools.pairwise([*edges, edges[-1] + 3])]
    return points[:: -(-len(points) // most)]


def density_distribution(
    mechanism: SparseVector, largest: int, most: int
) -> Callable[[SmallHistogram], SmallDistribution]:
    plan = mechanism.plan()
    points = {
        number: gap_points(plan, mechanism.threshold, number, largest, most)
        for number in range(1, mechanism.branches + 1)
    }

    def densities(counts: SmallHistogram) -> SmallDistribution:
        histogram = Histogram(counts)
        distribution: dict[Any, flint.arb] = {}
        for outcome in mechanism.distribution(histogram):
            assert isinstance(outcome, tuple)
            found = [Found(*pair) for pair in outcome]  # type: ignore[misc]
            for gaps in itertools.product(*(points[pair.branch] for pair in found)):
                distribution[tuple(found), gaps] = mechanism.density(histogram, found, gaps, exact=True)
        return distribution

    return densities


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("branches", [1, 2])
def test_gaps_are_free(noise: SparseNoise, branches: int) -> None:
    mechanism = SparseVector(1, 2, 2, noise=noise, branches=branches)
    distribution = density_distribution(mechanism, 3, 5)
    assert check_paid_pairs(distribution, lambda key: mechanism.cost(key[0]), added(TWO, 2)) == 27


@pytest.mark.parametrize("noise", NOISES)
def test_gaps_inside_every_smooth_piece(noise: SparseNoise) -> None:
    mechanism = SparseVector(1, 1, 2, noise=noise, adaptive=False)
    distribution = density_distribution(mechanism, 4, 1000 if noise != "geometric" else 8)
    check_paid_pairs(distribution, lambda key: mechanism.cost(key[0]), added(TWO, 3))


def broken(mechanism: SparseVector, plan: SparsePlan, scores: Any) -> SmallDistribution:
    """The distribution with another plan than the mechanism's, at the mechanism's prices."""
    queries = [(item, Fraction(score)) for item, score in scores.items()]
    with ball_precision(128):
        return sparse_distribution(plan, mechanism.threshold, queries, mechanism.epsilon)


def test_the_printed_b1_as_a_noise_scale_is_rejected() -> None:
    """Ding et al. 5.2 prints 1/eps where 1/eps1 is meant; as a scale that is far too little noise."""
    mechanism = SparseVector(1, 2, 1, adaptive=False)
    plan = mechanism.plan()
    small = replace(plan, branches=(replace(plan.branch(1), scale=1 / mechanism.epsilon),))
    rejected(lambda: check_paid_pairs(lambda counts: broken(mechanism, small, counts), mechanism.cost, added(THREE, 2)))


@pytest.mark.parametrize("noise", ["laplace", "exponential"])
def test_a_threshold_without_noise_is_rejected(noise: SparseNoise) -> None:
    mechanism = SparseVector(1, 1, 1, adaptive=False, noise=noise)
    branch = mechanism.plan().branch(1)
    assert noise != "geometric"

    def bare(counts: SmallHistogram) -> SmallDistribution:
        with ball_precision(128):
            distribution: dict[Any, flint.arb] = {}
            below = flint.arb(1)
            for item, count in counts.items():
                start = count - branch.center
                distribution[(Found(item, 1),)] = below * noise_survival(noise, start, branch.scale)(
                    mechanism.threshold
                )
                below *= noise_cdf(noise, start, branch.scale)(mechanism.threshold)
            distribution[()] = below
            return distribution

    rejected(lambda: check_paid_pairs(bare, mechanism.cost, added(FOUR, 2)))


def test_one_noise_for_both_tests_is_rejected() -> None:
    """The second test must draw anew: a gap of the second test would say that the first one had failed by little."""
    mechanism = SparseVector(1, 1, 2)
    plan = mechanism.plan()
    top, base = plan.branches
    assert top.scale == 2 * base.scale

    def densities(counts: SmallHistogram) -> SmallDistribution:
        """Of branch 1 with a gap: Z = (x + g - q + c1)/b1, and the first test fails while 2 b1 Z - c2 + q < x + m2."""
        (count,) = counts.values()
        distribution: dict[Any, flint.arb] = {}
        with ball_precision(128):
            threshold = noise_density("exponential", mechanism.threshold - plan.threshold_center, plan.threshold_scale)
            for gap in (Fraction(step, 4) for step in range(1, 40)):
                query = noise_density("exponential", count - base.center - gap, base.scale)
                fails_below = count + top.margin + top.center - 2 * base.center - 2 * gap
                fails = Piecewise.constant(1) - Piecewise.step(fails_below)
                distribution[(Found("a", 1),), (gap,)] = (threshold * query * fails).integral()
        return distribution

    rejected(lambda: check_paid_pairs(densities, lambda key: mechanism.cost(key[0]), added(("a",), 3)))


def test_uncharged_threshold_is_rejected() -> None:
    """Answers below are free only because the threshold has been paid for."""
    mechanism = SparseVector(1, 2, 1)
    rejected(
        lambda: check_paid_pairs(
            distribution_of(mechanism),
            lambda outcome: mechanism.cost(outcome) - mechanism.theta * mechanism.epsilon,
            added(THREE, 2),
        )
    )


def test_the_whole_run_needs_all_of_epsilon() -> None:
    """The claim is tight: with exponential noise some outcome has a log ratio of epsilon."""
    mechanism = SparseVector(1, 2, 1, adaptive=False)
    rejected(
        lambda: check_paid_pairs(
            distribution_of(mechanism), lambda outcome: mechanism.cost(outcome) * Fraction(999, 1000), added(THREE, 3)
        )
    )
