"""CanonicalTopK in small worlds: the exact divergence of every pair of neighbours is within the claim."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import pytest
from tests.support.worlds import (
    SmallDistribution,
    SmallHistogram,
    check_bounded_range,
    check_moves_both_ways,
    check_pair,
    check_pure,
    check_uneven_steps,
    check_world,
)

from podium.exact import ball, ball_precision
from podium.histogram import Histogram
from podium.mechanisms.canonical.canonical_topk import CanonicalTopK

_FOUR = ("a", "b", "c", "d")


def _distribution(mechanism: CanonicalTopK) -> Callable[[SmallHistogram], SmallDistribution]:
    return lambda counts: mechanism.distribution(Histogram(counts), exact=True)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_four_items_gumbel_is_bounded_range(k: int) -> None:
    mechanism = CanonicalTopK(k, 1)
    found = check_world(_distribution(mechanism), 1, items=_FOUR, largest=3, kind="bounded_range")
    # With one item, or all but one, one of the two scores is the same for all sets: gamma = 1 or 0 then wastes nothing.
    assert abs(found.excess + (0.0 if k == 2 else 0.5)) < 1e-9


@pytest.mark.parametrize("gamma", [0, "1/3", "2/3", 1])
@pytest.mark.parametrize("k", [1, 2])
def test_every_gamma_is_bounded_range(gamma: str | int, k: int) -> None:
    check_world(_distribution(CanonicalTopK(k, "1/2", gamma=gamma)), "1/2", largest=3, kind="bounded_range")


@pytest.mark.parametrize("gamma", [0, "1/2", "2/3", 1])
def test_three_of_four_items_with_every_gamma(gamma: str | int) -> None:
    check_world(_distribution(CanonicalTopK(3, 2, gamma=gamma)), 2, items=_FOUR, largest=3, kind="bounded_range")


def test_gumbel_keeps_its_whole_guarantee() -> None:
    mechanism = CanonicalTopK(2, 1)
    assert mechanism.guarantee.rho is not None
    assert mechanism.guarantee.rho < Fraction(1, 8)
    check_world(_distribution(mechanism), mechanism.guarantee, items=_FOUR, largest=2)


@pytest.mark.parametrize(("k", "gamma"), [(1, 1), (1, "1/2"), (2, "1/2"), (2, 1), (2, 0)])
def test_exponential_noise_is_pure(k: int, gamma: str | int) -> None:
    mechanism = CanonicalTopK(k, 1, gamma=gamma, noise="exponential")
    check_world(_distribution(mechanism), mechanism.guarantee, largest=3, kind="pure")


def test_four_items_exponential_is_pure() -> None:
    check_world(_distribution(CanonicalTopK(2, 1, noise="exponential")), 1, items=_FOUR, largest=3, kind="pure")


def test_exponential_noise_is_not_bounded_range_and_is_not_charged_as_such() -> None:
    mechanism = CanonicalTopK(1, 1, gamma=1, noise="exponential")
    with pytest.raises(AssertionError, match="range of the log ratios"):
        check_world(_distribution(mechanism), 1, largest=3, kind="bounded_range")
    assert mechanism.guarantee.rho == Fraction(1, 2)


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("k", [1, 2])
def test_counts_that_move_both_ways(k: int, *, rounded: bool) -> None:
    check_moves_both_ways(_distribution(CanonicalTopK(k, 1, monotone=False, rounded_loss=rounded)), 3)


def test_the_monotone_rate_is_refused_for_counts_that_move_both_ways() -> None:
    with pytest.raises(AssertionError, match="range of the log ratios"):
        check_moves_both_ways(_distribution(CanonicalTopK(2, 1, gamma=1)), 2)


@pytest.mark.parametrize(
    ("gamma", "rounded"),
    [(Fraction(1, 2), False), (Fraction(1, 2), True), (Fraction(1, 4), False), (Fraction(1), False)],
)
@pytest.mark.parametrize("k", [1, 2])
def test_scores_with_different_steps_up_and_down(gamma: Fraction, k: int, *, rounded: bool) -> None:
    check_uneven_steps(CanonicalTopK(k, 1, gamma=gamma, rounded_loss=rounded))


def _weighted(subsets: dict[frozenset[str], flint.arb]) -> SmallDistribution:
    total = sum(subsets.values(), flint.arb(0))
    return {subset: weight / total for subset, weight in subsets.items()}


def _by_class(
    k: int, weigh: Callable[[int, int, list[int]], flint.arb]
) -> Callable[[SmallHistogram], SmallDistribution]:
    """A mechanism that draws a class (a, t) with some weight, then a uniform subset in it."""

    def distribution(counts: SmallHistogram) -> SmallDistribution:
        ranked = sorted(counts, key=lambda item: (-counts[item], item))
        scores = [counts[item] for item in ranked]
        members: dict[tuple[int, int], list[frozenset[str]]] = {}
        for chosen in itertools.combinations(range(1, len(ranked) + 1), k):
            a = next(a for a in range(k + 1) if a + 1 not in chosen)
            key = (a, chosen[-1]) if a < k else (k - 1, k)
            members.setdefault(key, []).append(frozenset(ranked[rank - 1] for rank in chosen))
        with ball_precision(192):
            return _weighted(
                {
                    subset: weigh(a, t, scores) / len(subsets)
                    for (a, t), subsets in members.items()
                    for subset in subsets
                }
            )

    return distribution


def _exp(value: Any) -> flint.arb:
    return ball(Fraction(value)).exp()


def test_the_checker_accepts_the_classes_as_corrected() -> None:
    k, epsilon = 2, Fraction(1)

    def weigh(a: int, t: int, x: list[int]) -> flint.arb:
        size = 1 if t == k else math.comb(t - a - 2, k - 1 - a)
        return size * _exp(epsilon * Fraction(x[t - 1] - x[a], 2))

    distribution = _by_class(k, weigh)
    check_world(distribution, epsilon, items=_FOUR, largest=2, kind="bounded_range")
    exact = _distribution(CanonicalTopK(k, epsilon))
    for counts in (
        {"a": 3, "b": 1, "c": 1, "d": 0},
        {"a": 1, "b": 1, "c": 1, "d": 1},
        {"a": 0, "b": 2, "c": 2, "d": 5},
    ):
        ours, theirs = exact(counts), distribution(counts)
        assert all(ours[subset].overlaps(theirs[subset]) for subset in ours)


def test_printed_gamma_one_without_epsilon_is_rejected() -> None:
    """SL Algorithm 1, gamma = 1: the top k starts at x[k] instead of (eps/2) x[k] (for counts: eps x[k])."""
    k, epsilon = 2, Fraction(1, 2)

    def weigh(a: int, t: int, x: list[int]) -> flint.arb:
        size = 1 if t == k else math.comb(t - a - 2, k - 1 - a)
        return size * _exp(x[t - 1] if t == k else epsilon * x[t - 1])

    with pytest.raises(AssertionError, match="log ratio"):
        check_world(_by_class(k, weigh), epsilon, kind="pure")


def test_printed_class_sizes_are_rejected() -> None:
    """SL Algorithm 1: m += log((t-(h+1)) / (k-(h+1))) counts C(t-h-1, k-1-h), not C(t-h-2, k-1-h)."""
    k, epsilon = 2, Fraction(1, 2)

    def weigh(a: int, t: int, x: list[int]) -> flint.arb:
        size = 1 if t == k else math.comb(t - a - 1, k - 1 - a)
        return size * _exp(epsilon * Fraction(x[t - 1] - x[a], 2))

    with pytest.raises(AssertionError, match="log ratio"):
        check_world(_by_class(k, weigh), epsilon, items=_FOUR, largest=2, kind="pure")


def test_dividing_by_the_sensitivity_twice_is_rejected() -> None:
    """SL Algorithm 2, and any implementation that scales the scores before it and inside it: 2 eps for counts."""
    with pytest.raises(AssertionError, match="log ratio"):
        check_world(_distribution(CanonicalTopK(2, 2)), 1, items=_FOUR, largest=2, kind="pure")
    with pytest.raises(AssertionError, match="log ratio"):
        check_world(_distribution(CanonicalTopK(2, 2, noise="exponential")), 1, items=_FOUR, largest=2, kind="pure")


def test_rounding_the_loss_of_another_gamma_is_rejected() -> None:
    """The option is for gamma = 1/2: with 3/4 the loss of counts moves by -1.5 to 0.5, rounded by -2 to 1."""
    k, epsilon = 2, Fraction(1, 2)

    def weigh(a: int, t: int, x: list[int]) -> flint.arb:
        size = 1 if t == k else math.comb(t - a - 2, k - 1 - a)
        return size * _exp(-epsilon / 2 * math.ceil(2 * (Fraction(1, 4) * x[a] - Fraction(3, 4) * x[t - 1])))

    with pytest.raises(AssertionError, match="range of the log ratios"):
        check_world(_by_class(k, weigh), epsilon, items=_FOUR, largest=3, kind="bounded_range")


def test_the_top_k_is_scored_by_rank_k_and_not_by_what_it_misses() -> None:
    """Reading x[a+1] of the top k as its best missing item, rank k+1, is private too, but it is another mechanism."""
    counts = {"a": 3, "b": 2, "c": 0}
    k = 2

    def weigh(a: int, t: int, x: list[int]) -> flint.arb:
        missed = x[k] if t == k else x[a]
        return _exp(Fraction(x[t - 1] - missed, 2)) * (1 if t == k else math.comb(t - a - 2, k - 1 - a))

    misread, ours = _by_class(k, weigh)(counts), _distribution(CanonicalTopK(k, 1))(counts)
    assert not misread[frozenset("ab")].overlaps(ours[frozenset("ab")])


def test_one_pair_by_hand() -> None:
    mechanism = CanonicalTopK(1, "1/2", gamma=1)
    p = mechanism.distribution(Histogram({"a": 1, "b": 0}), exact=True)
    q = mechanism.distribution(Histogram({"a": 2, "b": 0}), exact=True)
    check_pair(p, q, mechanism.guarantee)
    check_pure(p, q, "1/2")
    with pytest.raises(AssertionError):
        check_bounded_range(p, q, "0.4999")
