"""The noise scales, means and margins of a sparse vector, exact and public."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

import flint

from podium.exact import ball, ball_precision, rational_bounds
from podium.mechanisms.sparse_vector.threshold_budget import Movement

__all__ = ["Branch", "GapScales", "SparseNoise", "SparsePlan", "noise_mean", "noise_variance", "sparse_plan"]

SparseNoise: TypeAlias = Literal["laplace", "exponential", "geometric"]

_MARGIN_BITS = 20


@dataclass(frozen=True, slots=True)
class Branch:
    """One test of a query: it passes if query + noise - center - noisy threshold is at least the margin.

    ``number`` counts from 1, the test without a margin; each next one costs half as much and has twice the noise.
    """

    number: int
    price: Fraction
    scale: Fraction
    center: Fraction
    margin: Fraction


@dataclass(frozen=True, slots=True)
class SparsePlan:
    """What the sampler and the distribution share: the threshold's noise, and the tests in the order tried."""

    noise: SparseNoise
    threshold_price: Fraction
    threshold_scale: Fraction
    threshold_center: Fraction
    branches: tuple[Branch, ...]

    @property
    def price(self) -> Fraction:
        """What the dearest test costs: a query is asked only while that much is left."""
        return self.branches[-1].price

    def branch(self, number: int) -> Branch:
        """The branch of that number."""
        return self.branches[len(self.branches) - number]

    def gap_bias(self, number: int) -> flint.arb:
        """The mean of the noise in a gap of this branch, selection aside: 0, or above -1 and at most 0 if geometric."""
        if self.noise != "geometric":
            return flint.arb(0)
        branch = self.branch(number)
        means = noise_mean(self.noise, branch.scale) - noise_mean(self.noise, self.threshold_scale)
        return means - ball(branch.center)

    def gap_variance(self, number: int) -> flint.arb:
        """The variance of the noise in a gap of this branch, selection aside."""
        query = noise_variance(self.noise, self.branch(number).scale)
        return query + noise_variance(self.noise, self.threshold_scale)


class GapScales(NamedTuple):
    """The noise in one released gap, selection aside: its family, its two scales, its mean as a ball."""

    noise: SparseNoise
    query: Fraction
    threshold: Fraction
    bias: flint.arb


def sparse_plan(
    noise: SparseNoise, epsilon: Fraction, theta: Fraction, k: int, branches: int, movement: Movement
) -> SparsePlan:
    """eps0 = theta*epsilon for the threshold, eps1 = (1-theta)*epsilon/k for branch 1, half of it for each next."""
    threshold_price = theta * epsilon
    threshold_scale = movement.reach / threshold_price
    made = []
    for number in range(branches, 0, -1):
        price = (1 - theta) * epsilon / k / (1 << (number - 1))
        scale = movement.span / price
        margin = Fraction(0) if number == 1 else _two_sigma(noise, scale)
        made.append(Branch(number, price, scale, _center(noise, scale, threshold_scale), margin))
    center = threshold_scale if noise == "exponential" else Fraction(0)
    return SparsePlan(noise, threshold_price, threshold_scale, center, tuple(made))


def noise_mean(noise: SparseNoise, scale: Fraction) -> flint.arb:
    """The mean of the noise: 0, scale, or 1/(e^(1/scale) - 1)."""
    if noise == "laplace":
        return flint.arb(0)
    return ball(scale) if noise == "exponential" else 1 / ball(1 / scale).expm1()


def noise_variance(noise: SparseNoise, scale: Fraction) -> flint.arb:
    """The variance of the noise: 2 scale^2, scale^2, or e^(1/scale)/(e^(1/scale) - 1)^2."""
    if noise == "geometric":
        return 1 / (2 * ball(1 / (2 * scale)).sinh()) ** 2
    return ball((2 if noise == "laplace" else 1) * scale**2)


def _center(noise: SparseNoise, scale: Fraction, threshold_scale: Fraction) -> Fraction:
    """What is taken off a noisy query. Integers stay integers: the means differ by this, up to less than one."""
    if noise != "geometric":
        return scale if noise == "exponential" else Fraction(0)
    if scale == threshold_scale:
        return Fraction(0)
    return Fraction(_ceiling(lambda: noise_mean(noise, scale) - noise_mean(noise, threshold_scale)))


def _two_sigma(noise: SparseNoise, scale: Fraction) -> Fraction:
    """Twice the standard deviation, rounded up to the grid of the gaps."""
    if noise == "exponential":
        return 2 * scale
    if noise == "geometric":
        return Fraction(_ceiling(lambda: 1 / ball(1 / (2 * scale)).sinh()))
    square = 8 * scale**2 * (1 << (2 * _MARGIN_BITS))
    root = math.isqrt(square.numerator // square.denominator)
    return Fraction(root if root * root == square else root + 1, 1 << _MARGIN_BITS)


def _ceiling(compute: Callable[[], flint.arb]) -> int:
    """The next integer above a transcendental number, which more precision always tells from an integer."""
    precision = 128
    while True:
        with ball_precision(precision):
            low, high = rational_bounds(compute())
        if low // 1 == high // 1:
            return math.ceil(high)
        precision *= 2
