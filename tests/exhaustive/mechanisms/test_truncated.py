"""Noise cut off at the threshold, on small worlds of weighted users: ours is accepted, the easy mistakes are rejected.

As in the worlds of sparse histograms, a user with the item set W adds w(|W|) to every item of W, and what is compared
is the whole release as far as cells show it. The cells of an item end where its values can end with or without the
user, so that no difference of the supports is averaged away.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import flint
import pytest
from tests.support.worlds import PRECISION, SmallDistribution, check_pair

from podium.exact import ball, ball_precision
from podium.histogram import Histogram
from podium.mechanisms import TruncatedGaussianHistogram, TruncatedLaplaceHistogram, Weights
from podium.mechanisms.truncated.cutoffs import escape_chance
from podium.privacy import GaussianNoise, Guarantee, HiddenItems, LaplaceNoise, total

ITEMS = ("a", "b", "c")
SETS = tuple(chosen for size in (1, 2, 3) for chosen in itertools.combinations(ITEMS, size))
CROWDS = ((0, 0, 0), (3, 0, 0), (3, 3, 0), (2, 3, 40), (9, 40, 0))
SIGMA, DELTA = Fraction(1), Fraction(1, 50)
BOUNDED, SPREAD, SHARED = Weights.bounded(3), Weights.spread(3), Weights.shared(3)


def normal(x: Fraction) -> flint.arb:
    return (-ball(x) / flint.arb(2).sqrt()).erfc() / 2


def laplace(x: Fraction) -> flint.arb:
    return ball(x).exp() / 2 if x < 0 else 1 - ball(-x).exp() / 2


@dataclass(frozen=True)
class CutOff:
    """Noise of this scale given that its size is at most ``bound``, and a level that a value must be above."""

    below: Callable[[Fraction], flint.arb]
    scale: Fraction
    bound: Fraction
    level: Fraction

    def chance_below(self, x: Fraction) -> flint.arb:
        """P(N <= x)."""
        if abs(x) >= self.bound:
            return flint.arb(int(x > 0))
        low = self.below(-self.bound / self.scale)
        return (self.below(x / self.scale) - low) / (1 - 2 * low)

    def cells(self, count: Fraction, edges: Sequence[Fraction]) -> list[flint.arb]:
        """Where the noisy count comes to lie: not above the level (nobody has the item: surely), or between edges."""
        if not count:
            return [flint.arb(1), *[flint.arb(0)] * len(edges)]
        ends = [self.chance_below(edge - count) for edge in edges]
        return [ends[0], *(high - low for low, high in itertools.pairwise([*ends, flint.arb(1)]))]


def releases(
    noise: CutOff, fewer: Sequence[Fraction], more: Sequence[Fraction]
) -> tuple[SmallDistribution, SmallDistribution]:
    """The distributions of both counts over the same cells; items that nobody moved say nothing."""
    found: list[SmallDistribution] = [{(): flint.arb(1)}, {(): flint.arb(1)}]
    with ball_precision(PRECISION):
        for low, high in zip(fewer, more, strict=True):
            if low == high:
                continue
            ends = {end + sign * noise.bound for end in (low, high) for sign in (-1, 1)} | {(low + high) / 2}
            edges = sorted({noise.level, *(end for end in ends if end > noise.level)})
            for i, count in enumerate((low, high)):
                cells = list(enumerate(noise.cells(count, edges)))
                found[i] = {(*o, c): p * q for o, p in found[i].items() for c, q in cells if not (p * q).is_zero()}
    return found[0], found[1]


def pairs(weights: Weights) -> Iterator[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]]:
    """Every database of at most one user, over crowds of several heights, and every user who could be added."""
    for crowd, present in itertools.product(CROWDS, ((), *((users,) for users in SETS))):
        for added in SETS:
            yield tuple(
                tuple(
                    height + sum(Fraction(weights.weight(len(u)), weights.unit) for u in users if item in u)
                    for item, height in zip(ITEMS, crowd, strict=True)
                )
                for users in (present, (*present, added))
            )  # type: ignore[misc]


def check_all(noise: CutOff, weights: Weights, guarantee: Guarantee) -> None:
    for fewer, more in sorted(set(pairs(weights))):
        check_pair(*releases(noise, fewer, more), guarantee)


def rejected(check: Callable[[], object]) -> None:
    with pytest.raises(AssertionError, match="above the claimed"):
        check()


def gaussian(weights: Weights, sigma: Fraction = SIGMA, delta: Fraction = DELTA) -> TruncatedGaussianHistogram:
    return TruncatedGaussianHistogram(sigma=sigma, delta=delta, weights=weights)


def gaussian_noise(bound: Fraction, sigma: Fraction = SIGMA, level: Fraction | None = None) -> CutOff:
    return CutOff(normal, sigma, bound, bound if level is None else level)


def claim(weights: Weights, sigma: Fraction = SIGMA, delta: Fraction = DELTA) -> Guarantee:
    return total([GaussianNoise(sigma, sensitivity_squared=weights.sensitivity_squared), HiddenItems(delta)])


@pytest.mark.parametrize("weights", [BOUNDED, SPREAD], ids=str)
@pytest.mark.parametrize("sigma", [Fraction(1, 3), Fraction(1), Fraction(10)])
def test_gaussian_noise_keeps_its_promise(weights: Weights, sigma: Fraction) -> None:
    ours = gaussian(weights, sigma)
    check_all(gaussian_noise(ours.threshold, sigma), weights, ours.guarantee)


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_laplace_noise_keeps_its_promise(epsilon: Fraction) -> None:
    ours = TruncatedLaplaceHistogram(epsilon=epsilon, delta=DELTA, max_items_per_user=3)
    check_all(CutOff(laplace, 1 / epsilon, ours.threshold, ours.threshold), SHARED, ours.guarantee)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_short_lists_keep_the_promise_too(kind: str, k: int) -> None:
    """The exact distribution of the order, as ``distribution`` gives it."""
    short = (
        TruncatedLaplaceHistogram(epsilon=1, delta=DELTA, max_items_per_user=3, k=k)
        if kind == "laplace"
        else TruncatedGaussianHistogram(sigma=1, delta=DELTA, max_items_per_user=3, k=k)
    )
    unit = short.weights.unit

    @functools.cache
    def distribution(counts: tuple[Fraction, ...]) -> SmallDistribution:
        sums = {item: int(count * unit) for item, count in zip(ITEMS, counts, strict=True)}
        return short.distribution(Histogram(sums, known=False), exact=True)

    for fewer, more in sorted(set(pairs(short.weights)))[:: 17 if k == 1 else 41]:
        check_pair(distribution(fewer), distribution(more), short.guarantee)


def test_the_deltas_are_needed_in_full() -> None:
    """A user of one item that nobody else has: it passes with probability delta, and nothing else hides that."""
    for sigma in (Fraction(1, 3), Fraction(3)):
        ours = gaussian(SPREAD, sigma)
        rejected(
            functools.partial(
                check_all, gaussian_noise(ours.threshold, sigma), SPREAD, claim(SPREAD, sigma, DELTA * 9 / 10)
            )
        )
    less = total([LaplaceNoise(2), HiddenItems(DELTA * 99 / 100)])
    bound = TruncatedLaplaceHistogram(epsilon=2, delta=DELTA).threshold
    rejected(lambda: check_all(CutOff(laplace, Fraction(1, 2), bound, bound), SHARED, less))


def without_normaliser(sigma: Fraction, delta: Fraction) -> Fraction:
    """The smallest A of a grid with Q((A-1)/sigma) - Q(A/sigma) <= delta, from where that falls."""
    step = Fraction(1, 1 << 20)
    with ball_precision(PRECISION):
        bound = Fraction(1)
        while normal((1 - bound) / sigma) - normal(-bound / sigma) > ball(delta):
            bound *= 2
        low, high = bound / 2, bound
        while high - low > step:
            middle = (low + high) / 2
            too_low = normal((1 - middle) / sigma) - normal(-middle / sigma) > ball(delta)
            low, high = (middle, high) if too_low else (low, middle)
    return high


@pytest.mark.parametrize(("sigma", "delta", "factor"), [(1, "0.1", "1.028"), (10, "0.02", "1.283")])
def test_a_cutoff_without_the_normaliser_is_rejected(sigma: int, delta: str, factor: str) -> None:
    scale, failure = Fraction(sigma), Fraction(delta)
    bound = without_normaliser(scale, failure)
    with ball_precision(PRECISION):
        found = float(escape_chance(bound, Fraction(1), scale)) / float(failure)
    assert found == pytest.approx(float(factor), abs=6e-4)
    one = Weights.bounded(1)
    rejected(lambda: check_pair(*releases(gaussian_noise(bound, scale), [Fraction(0)], [Fraction(1)]),
                                claim(one, scale, failure)))  # fmt: skip
    assert gaussian(one, scale, failure).threshold > bound


def test_without_the_normaliser_the_smallest_cutoff_may_be_nothing() -> None:
    """Noise much wider than one user: no interval as long as 1 has a probability above delta, so 0 would do."""
    with ball_precision(PRECISION):
        assert normal(Fraction(1, 100)) - normal(Fraction(0)) < ball(DELTA)
    assert gaussian(Weights.bounded(1), Fraction(100)).threshold > 24


def test_hiding_one_item_where_three_may_move_is_rejected() -> None:
    bound = gaussian(Weights.bounded(1)).threshold
    rejected(lambda: check_all(gaussian_noise(bound), BOUNDED, claim(BOUNDED)))


def test_the_sensitivity_of_one_item_is_rejected_for_three() -> None:
    bound = gaussian(BOUNDED).threshold
    rejected(lambda: check_all(gaussian_noise(bound), BOUNDED, claim(Weights.bounded(1))))


def test_noise_beyond_the_threshold_is_rejected() -> None:
    """The bound must be at most the level: here half a user's weight more."""
    bound = gaussian(SPREAD).threshold
    rejected(lambda: check_all(gaussian_noise(bound + Fraction(1, 2), level=bound), SPREAD, claim(SPREAD)))


def test_a_laplace_cutoff_rounded_down_is_rejected() -> None:
    """On a grid of sevenths, epsilon = 2, delta = 1/50: up to 18/7 is enough, down to 17/7 is not."""
    epsilon, exact = Fraction(2), TruncatedLaplaceHistogram(epsilon=2, delta=DELTA).threshold
    assert 17 < exact * 7 < 18
    ours = total([LaplaceNoise(epsilon), HiddenItems(DELTA)])
    check_all(CutOff(laplace, 1 / epsilon, Fraction(18, 7), Fraction(18, 7)), SHARED, ours)
    rejected(lambda: check_all(CutOff(laplace, 1 / epsilon, Fraction(17, 7), Fraction(17, 7)), SHARED, ours))


@pytest.mark.parametrize(("steps", "factor"), [(17, 1.0725), (18, 0.8046)])
def test_discrete_laplace_noise_needs_a_cutoff_rounded_up_too(steps: int, factor: float) -> None:
    """Noise on sevenths with weights q^|j|, |j| <= steps, q = e^(-2/7): the mass that one user moves out of sight."""
    with ball_precision(PRECISION):
        q = ball(Fraction(-2, 7)).exp()
        weights = {j: q ** abs(j) for j in range(-steps, steps + 1)}
        outside = sum((weights[j] for j in range(-steps, 7 - steps)), start=flint.arb(0))
        found = outside / sum(weights.values(), start=flint.arb(0)) / ball(DELTA)
        assert float(found) == pytest.approx(factor, abs=5e-4)


@pytest.mark.parametrize("rounding", ["nearest", "up"])
def test_comparing_a_rounded_value_is_rejected(rounding: str) -> None:
    """A value rounded to the nearest integer, or up, passes a cutoff between integers that the value itself does not.

    It passes as soon as it is above a lower level, while the noise reaches as far as before.
    """
    epsilon, bound = Fraction(2), TruncatedLaplaceHistogram(epsilon=2, delta=DELTA).threshold
    least = Fraction(bound // 1 + 1)
    level = least - (Fraction(1, 2) if rounding == "nearest" else 1)
    assert level < bound
    ours = total([LaplaceNoise(epsilon), HiddenItems(DELTA)])
    rejected(lambda: check_all(CutOff(laplace, 1 / epsilon, bound, level), SHARED, ours))
    # Rounded down it passes later than the value itself.
    check_all(CutOff(laplace, 1 / epsilon, bound, least), SHARED, ours)


def test_whole_votes_on_several_items_are_rejected() -> None:
    """Weight 1 on each of three items, with the noise and the cutoff of shared votes."""
    bound = TruncatedLaplaceHistogram(epsilon=2, delta=DELTA).threshold
    ours = total([LaplaceNoise(2), HiddenItems(DELTA)])
    rejected(lambda: check_all(CutOff(laplace, Fraction(1, 2), bound, bound), BOUNDED, ours))
