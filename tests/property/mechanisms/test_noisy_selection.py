"""Invariances of the known-domain selections: names, row order, common shifts, implicit domains, more epsilon."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.histogram import Histogram, KnownDomain, Scores
from podium.mechanisms.exponential import ExponentialTopK, ExponentialWithGap
from podium.mechanisms.noisy import NoisyTopK, PermuteAndFlip
from podium.mechanisms.oneshot import OneshotLaplace
from podium.randomness.replay import ReplayableBits
from podium.release import Outcome

AnyOfThem: TypeAlias = ExponentialTopK | ExponentialWithGap | NoisyTopK | OneshotLaplace | PermuteAndFlip
Make: TypeAlias = Callable[[Fraction], AnyOfThem]

MAKERS: dict[str, Make] = {
    "exponential top-k": lambda epsilon: ExponentialTopK(2, epsilon),
    "exponential with gap": ExponentialWithGap,
    "noisy exponential": lambda epsilon: NoisyTopK(2, epsilon),
    "noisy laplace": lambda epsilon: NoisyTopK(2, epsilon, noise="laplace"),
    "noisy gumbel": lambda epsilon: NoisyTopK(2, epsilon, noise="gumbel"),
    "noisy logistic": lambda epsilon: NoisyTopK(2, epsilon, noise="logistic"),
    "noisy half-logistic": lambda epsilon: NoisyTopK(2, epsilon, noise="half-logistic"),
    "permute and flip": PermuteAndFlip,
    "oneshot": lambda epsilon: OneshotLaplace(2, epsilon),
    "oneshot approximate": lambda epsilon: OneshotLaplace(2, min(epsilon, Fraction(1, 5)), delta="0.01"),
}
counts = st.lists(st.integers(0, 6), min_size=3, max_size=4)
epsilons = st.fractions(Fraction(1, 10), 3, max_denominator=20)
few = settings(max_examples=20)


def renamed(outcome: Outcome, names: dict[object, object]) -> object:
    if isinstance(outcome, frozenset):
        return frozenset(names[item] for item in outcome)
    return tuple(names[item] for item in outcome)


def close(left: dict[Outcome, float], right: dict[Outcome, float]) -> bool:
    return left.keys() == right.keys() and all(left[o] == pytest.approx(right[o], rel=1e-12, abs=0) for o in left)


@pytest.mark.parametrize("name", MAKERS)
@few
@given(counts=counts, epsilon=epsilons, order=st.randoms(use_true_random=False))
def test_names_and_the_order_of_rows_mean_nothing(
    name: str, counts: list[int], epsilon: Fraction, order: random.Random
) -> None:
    mechanism = MAKERS[name](epsilon)
    rows = list(enumerate(counts))
    order.shuffle(rows)
    names: dict[object, object] = {i: f"item {9 - i}" for i in range(len(counts))}
    distribution = mechanism.distribution(Histogram(dict(enumerate(counts))))
    other = mechanism.distribution(Histogram({names[i]: count for i, count in rows}))
    assert close({renamed(o, names): p for o, p in distribution.items()}, other)  # type: ignore[misc]


@pytest.mark.parametrize("name", MAKERS)
@few
@given(counts=counts, epsilon=epsilons, shift=st.integers(1, 10**6))
def test_a_common_shift_means_nothing(name: str, counts: list[int], epsilon: Fraction, shift: int) -> None:
    mechanism = MAKERS[name](epsilon)
    distribution = mechanism.distribution(Histogram(dict(enumerate(counts))))
    assert close(distribution, mechanism.distribution(Histogram({i: count + shift for i, count in enumerate(counts)})))


@pytest.mark.parametrize("name", MAKERS)
@few
@given(counts=counts, epsilon=epsilons, unit=st.fractions(Fraction(1, 100), 100, max_denominator=100))
def test_units_mean_nothing(name: str, counts: list[int], epsilon: Fraction, unit: Fraction) -> None:
    """Scores and their sensitivity in another unit."""
    mechanism = MAKERS[name](epsilon)
    distribution, other = (
        mechanism.distribution(Scores({i: c * u for i, c in enumerate(counts)}, sensitivity=u))
        for u in (Fraction(1), unit)
    )
    assert close(distribution, other)


@pytest.mark.parametrize("name", MAKERS)
@few
@given(counts=counts, epsilon=epsilons, seed=st.integers(0, 10**6))
def test_items_that_nobody_has_are_items(name: str, counts: list[int], epsilon: Fraction, seed: int) -> None:
    """A domain given by its size has the distribution of the same domain listed, and can be drawn from."""
    mechanism = MAKERS[name](epsilon)
    seen = {i: count for i, count in enumerate(counts) if count}
    sized: KnownDomain = Histogram(seen, domain_size=len(counts))
    assert close(mechanism.distribution(sized), mechanism.distribution(Histogram(dict(enumerate(counts)))))
    outcome = mechanism.release(sized, bits=ReplayableBits(seed)).outcome
    assert mechanism.distribution(sized)[outcome] > 0


@pytest.mark.parametrize("name", [name for name in MAKERS if "gap" not in name])
@few
@given(counts=counts, epsilon=epsilons)
def test_one_more_user_for_the_best_item_never_hurts_it(name: str, counts: list[int], epsilon: Fraction) -> None:
    mechanism = MAKERS[name](epsilon)
    best = counts.index(max(counts))
    distributions = [
        mechanism.distribution(Histogram({i: c + (more and i == best) for i, c in enumerate(counts)}))
        for more in (False, True)
    ]
    less, more = (sum(p for outcome, p in distribution.items() if best in outcome) for distribution in distributions)
    assert more >= less - 1e-12


@few
@given(
    counts=counts,
    epsilon=epsilons,
    shift=st.integers(1, 1000),
    gaps=st.tuples(*[st.fractions(0, 8, max_denominator=50)] * 2),
)
def test_densities_are_shift_invariant_and_follow_names(
    counts: list[int], epsilon: Fraction, shift: int, gaps: tuple[Fraction, Fraction]
) -> None:
    plain = Histogram(dict(enumerate(counts)))
    moved = Histogram({f"item {9 - i}": count + shift for i, count in reversed(list(enumerate(counts)))})
    for noise in ("exponential", "laplace"):
        mechanism = NoisyTopK(2, epsilon, noise=noise)
        left, right = mechanism.density(plain, (2, 0), gaps), mechanism.density(moved, ("item 7", "item 9"), gaps)
        assert left == pytest.approx(right, rel=1e-12, abs=0)
    with_gap = ExponentialWithGap(epsilon)
    left, right = with_gap.density(plain, (2,), gaps[:1]), with_gap.density(moved, ("item 7",), gaps[:1])
    assert left == pytest.approx(right, rel=1e-12, abs=0)
