"""What looks like NoisyTopK and PermuteAndFlip but is not private, as printed or as misread: all of it is rejected."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import pytest
from tests.support.gaps import LINE, check_gaps, gaps_in
from tests.support.symmetry import joint_density, symmetric
from tests.support.worlds import DistributionOf, SmallDistribution, SmallHistogram, check_bounded_range, check_world

from podium.exact import ball, ball_precision
from podium.histogram import Histogram, Scores
from podium.mechanisms.base import certified_ball, certified_floats
from podium.mechanisms.noisy import NoisyTopK, PermuteAndFlip
from podium.mechanisms.piecewise import Piecewise, noise_density, noise_survival
from podium.randomness import NOISES, NoiseName

ITEMS = ("a", "b", "c", "d")
ALL: tuple[NoiseName, ...] = tuple(NOISES)


def distribution_of(mechanism: NoisyTopK | PermuteAndFlip) -> DistributionOf:
    return symmetric(lambda counts: mechanism.distribution(Histogram(counts), exact=True))


def density_of(mechanism: NoisyTopK) -> Callable[..., flint.arb]:
    def density(winners: tuple[int, ...], losers: tuple[int, ...], gaps: tuple[Fraction, ...]) -> flint.arb:
        counts = dict(enumerate((*winners, *losers)))
        return mechanism.density(Histogram(counts), tuple(range(len(winners))), gaps, exact=True)

    return joint_density(density)


@pytest.mark.parametrize("noise", ALL)
def test_dividing_by_the_sensitivity_twice_is_rejected(noise: NoiseName) -> None:
    """Shekelyan & Loukides, Algorithm 2 as printed: counts have sensitivity 1/2 after their shift, and 1/(1/2)^2 = 4
    halves are 2 epsilon."""
    delta = Fraction(1, 2)

    def printed(counts: SmallHistogram) -> SmallDistribution:
        scaled = Scores({item: count / delta for item, count in counts.items()}, sensitivity=delta)
        return NoisyTopK(2, 1, noise=noise).distribution(scaled, exact=True)

    with pytest.raises(AssertionError, match="above the claimed epsilon=1 by"):
        check_world(symmetric(printed), 1, items=ITEMS, largest=3, kind="pure")


@pytest.mark.parametrize("noise", ["laplace", "logistic"])
def test_decreasing_quantiles_are_rejected(noise: NoiseName) -> None:
    """Shekelyan & Loukides, A.3 as printed: the best noise of m equal scores, F^-1(U^(1/m)), becomes their worst.

    One more user then moves an item out of a tie, and from the minimum of many noises to a noise of its own.
    """

    def printed(counts: SmallHistogram) -> SmallDistribution:
        groups: dict[int, list[str]] = {}
        for item, count in counts.items():
            groups.setdefault(count, []).append(item)

        def distribution() -> dict[Any, flint.arb]:
            sizes = {count: len(group) for count, group in groups.items()}
            chances = _best_of_worst(sizes, Fraction(1, 2), noise)
            return {(item,): chances[count] / len(group) for count, group in groups.items() for item in group}

        return certified_floats(distribution)

    with pytest.raises(AssertionError, match=r"above the claimed epsilon=0\.5 by"):
        check_world(symmetric(printed), Fraction(1, 2), largest=2, kind="pure")


def _best_of_worst(sizes: dict[int, int], rate: Fraction, noise: NoiseName) -> dict[int, flint.arb]:
    """P(a group has the largest value of score + the smallest of its noises): S^m is the survival of a minimum."""
    if noise == "laplace":
        survivals = {
            count: _power(noise_survival("laplace", count * rate, Fraction(1)), m) for count, m in sizes.items()
        }
        densities = {
            count: (_power(noise_survival("laplace", count * rate, Fraction(1)), m - 1)
                    * noise_density("laplace", count * rate, Fraction(1))).scaled(flint.arb(m))
            for count, m in sizes.items()
        }  # fmt: skip
        chances = {}
        for count in sizes:
            integrand = densities[count]
            for other in sizes:
                if other != count:
                    integrand = integrand * (Piecewise.constant(1) - survivals[other])
            chances[count] = integrand.integral()
        return chances

    def integrand_of(count: int) -> Callable[[flint.acb, bool], flint.acb]:
        def integrand(u: flint.acb, _analytic: bool) -> flint.acb:
            # u = S of this group's single noise, so its minimum has density m u^(m-1) du; e^(x - s) = (1 - u)/u.
            value = sizes[count] * u ** (sizes[count] - 1)
            for other, m in sizes.items():
                if other != count:
                    shift = ball((count - other) * rate).exp()
                    value *= 1 - (u / (u + shift * (1 - u))) ** m
            return value

        return integrand

    return {count: flint.acb.integral(integrand_of(count), 0, 1).real for count in sizes}


def _power(f: Piecewise, exponent: int) -> Piecewise:
    result = Piecewise.constant(1)
    for _ in range(exponent):
        result = result * f
    return result


@pytest.mark.parametrize("noise", ALL)
def test_epsilon_instead_of_epsilon_over_k_is_rejected(noise: NoiseName) -> None:
    with pytest.raises(AssertionError, match="above the claimed epsilon=1 by"):
        check_world(distribution_of(NoisyTopK(2, 2, noise=noise)), 1, items=ITEMS, largest=3, kind="pure")


def test_permute_and_flip_is_not_of_bounded_range() -> None:
    """Its range at epsilon = 1 is epsilon + ln(2 - e^-epsilon) = 1.49, found on integer counts."""
    with pytest.raises(AssertionError, match="above the claimed epsilon=1 by") as caught:
        check_world(distribution_of(PermuteAndFlip(1)), 1, items=ITEMS, largest=3, kind="bounded_range")
    assert "range of the log ratios" in str(caught.value)
    p, q = (PermuteAndFlip(1).distribution(Histogram(h), exact=True) for h in ({"a": 0, "b": 0}, {"a": 1, "b": 0}))
    with ball_precision(128):
        low, high = ((p[outcome] / q[outcome]).log() for outcome in (("a",), ("b",)))
        assert (high - low).overlaps(1 + (2 - flint.arb(-1).exp()).log())


@pytest.mark.parametrize("noise", ["exponential", "laplace"])
def test_noisy_max_is_not_of_bounded_range_even_without_gaps(noise: NoiseName) -> None:
    with pytest.raises(AssertionError, match="above the claimed epsilon=1 by"):
        check_world(distribution_of(NoisyTopK(1, 1, noise=noise)), 1, items=ITEMS, largest=3, kind="bounded_range")


@pytest.mark.parametrize("noise", ["exponential", "laplace"])
def test_gaps_charged_as_bounded_range_are_rejected(noise: NoiseName) -> None:
    distribution = gaps_in(density_of(NoisyTopK(1, 1, noise=noise)), 1, LINE)
    with pytest.raises(AssertionError, match="above the claimed epsilon=1 by"):
        check_gaps(distribution, 1, check=check_bounded_range)


def test_gaps_at_the_rate_of_one_selection_are_rejected() -> None:
    """Reading k gaps as if each came from a fresh noise at epsilon, not epsilon/k."""
    distribution = gaps_in(density_of(NoisyTopK(2, 2)), 2, LINE)
    with pytest.raises(AssertionError, match="above the claimed epsilon=1 by"):
        check_gaps(distribution, 1)


def test_the_noisy_winner_itself_is_rejected() -> None:
    """Not a gap but the winner's noisy count, released with the winner at the price of the winner alone."""

    def density(counts: SmallHistogram) -> SmallDistribution:
        found = {}
        for item, count in counts.items():
            for value in LINE:
                others = [other for name, other in counts.items() if name != item]
                found[item, value] = certified_ball(
                    lambda count=count, value=value, others=others: (
                        noise_density("laplace", Fraction(count), Fraction(1))(value)  # type: ignore[misc]
                        * _product(
                            1 - noise_survival("laplace", Fraction(other), Fraction(1))(value) for other in others
                        )
                    )
                )
        return found

    with pytest.raises(AssertionError, match="above the claimed epsilon=1 by"):
        check_gaps(density, 1)


def _product(factors: Any) -> flint.arb:
    total = flint.arb(1)
    for factor in factors:
        total *= factor
    return total
