"""Prices of single steps: known values, the order between nodes, rounding, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest

from podium.errors import InvalidArgument
from podium.privacy.gaussian import Step, nodes, price, required_remainder
from podium.privacy.gaussian.certified import LARGEST, SLACK, SMALLEST
from podium.privacy.gaussian.prices import MAX_NODE, exact_price

HALF_WIDTHS = {
    "0.05": {
        0: ".003926639730840",
        1: ".002844435188916",
        2: ".002688725225785",
        4: ".002598877458366",
        16: ".002525454663761",
        64: ".002506228669358",
    },
    "0.5": {0: ".3892419664753", 1: ".2814411783028", 4: ".2571992588661", 16: ".2499688030509"},
    "1": {0: "1.517911190741", 1: "1.091614029845", 4: ".9982301169064"},
}
"""The exact price by half-width and node, cut off after the last digit."""

TABLE = {
    "0.001": "1.57080 1.13792 1.03968 1.01031 1.00262 1.00067",
    "0.01": "1.57080 1.13792 1.03968 1.01031 1.00262 1.00067",
    "0.03": "1.57079 1.13791 1.03967 1.01030 1.00261 1.00067",
    "0.1": "1.57066 1.13780 1.03957 1.01020 1.00251 1.00057",
    "0.3": "1.56954 1.13681 1.03869 1.00936 1.00168 .99974",
    "1": "1.55697 1.12579 1.02882 .99990 .99233 .99042",
    "3": "1.45979 1.04114 .95309 .92728 .92056 .91887",
}
"""The price of bounded range epsilon over epsilon^2/4 at nodes 0, 1, 4, 16, 64 and 256, rounded up to five places."""


@pytest.mark.parametrize("half", HALF_WIDTHS)
def test_exact_prices_are_known(half: str) -> None:
    for node, digits in HALF_WIDTHS[half].items():
        found = exact_price(Fraction(half), node * Fraction(half) ** 2)
        step = Fraction(1, 10 ** len(digits.partition(".")[2]))
        assert Fraction(digits) <= found < Fraction(digits) + step


@pytest.mark.parametrize("epsilon", TABLE)
def test_prices_over_the_square_are_those_of_the_table(epsilon: str) -> None:
    unit = (Fraction(epsilon) / 2) ** 2
    for node, digits in zip((0, 1, 4, 16, 64, 256), TABLE[epsilon].split(), strict=True):
        charged = exact_price(Fraction(epsilon) / 2, node * unit) * (1 + (SLACK if node else 0))
        # The table was computed elsewhere, and rounded up twice in some places.
        assert 0 <= Fraction(digits) - charged / unit < Fraction(2, 10**5)
        if node in nodes(Step.bounded_range(epsilon)):
            assert price(Step.bounded_range(epsilon), node) >= charged


@pytest.mark.parametrize("node", [0, 1, 8, 64])
@pytest.mark.parametrize("epsilon", ["0.002", "0.2", "2"])
def test_a_price_is_the_least_with_64_bits_that_covers_the_bayes_error(epsilon: str, node: int) -> None:
    """Checked in another library: the Gaussian's error is at most that of randomised response, one step below not."""
    with mpmath.workdps(60):
        a = mpmath.mpf(epsilon)
        s = node * a**2
        root = mpmath.sqrt(s)
        error = 1 / (1 + mpmath.exp(a))
        if node:
            tilted = mpmath.exp(a) * mpmath.ncdf(-a / root - root / 2)
            error = (mpmath.ncdf(a / root - root / 2) + tilted) / (1 + mpmath.exp(a))
        found = price(Step.pure(epsilon), node)
        step = Fraction(1, 1 << 63 + math.floor(-math.log2(found)))

        def bayes(m: Fraction) -> mpmath.mpf:
            return mpmath.ncdf(-mpmath.sqrt(s + mpmath.mpf(m.numerator) / m.denominator) / 2)

        assert bayes(found) <= error < bayes(found - 2 * step)


@pytest.mark.parametrize("step", [Step.pure("0.3"), Step.bounded_range("0.3"), Step.pure(4), Step.bounded_range("4.5")])
def test_a_larger_remainder_never_costs_more(step: Step) -> None:
    prices = [price(step, node) for node in nodes(step)]
    assert prices == sorted(prices, reverse=True)
    # 8 ln cosh(a/2), four times the divergence of order 1/2, is the limit.
    assert all(float(each) > 8 * math.log(math.cosh(step.half_width / 2)) for each in prices)


def test_a_larger_epsilon_never_costs_less() -> None:
    for kind in (Step.pure, Step.bounded_range):
        for node in (0, 1, 16):
            prices = [price(kind(Fraction(number, 137)), node) for number in range(1, 400, 13)]
            assert prices == sorted(prices)


def test_gaussian_noise_costs_itself() -> None:
    assert nodes(Step.gaussian("0.02")) == (0,)
    assert price(Step.gaussian("0.02"), 0) == Fraction(1, 50)
    assert required_remainder(Step.gaussian("0.02"), 0) == 0


def test_between_listed_epsilons_the_next_larger_is_priced() -> None:
    listed, other = Step.bounded_range("0.0515"), Step.bounded_range("0.0511")
    assert price(other, 4) == price(listed, 4)
    assert required_remainder(other, 4) == required_remainder(listed, 4) == 4 * Fraction("0.02575") ** 2
    # No certificate is needed at node 0.
    assert price(other, 0) == exact_price(Fraction("0.02555"), Fraction(0)) < price(listed, 0)


def test_bounded_range_beyond_the_list_has_the_price_that_needs_no_certificate() -> None:
    beyond = Step.bounded_range(LARGEST + 1)
    assert nodes(beyond) == (0,)
    with pytest.raises(InvalidArgument, match="proved price: 0"):
        price(beyond, 1)
    assert price(Step.bounded_range(SMALLEST / 100), 64) == price(Step.bounded_range(SMALLEST), 64)


@pytest.mark.parametrize("node", [3, -1, 2 * MAX_NODE])
def test_nodes_between_have_no_price(node: int) -> None:
    with pytest.raises(InvalidArgument, match="node"):
        price(Step.pure(1), node)


@pytest.mark.parametrize("epsilon", ["1e-30", "1e-9", "700", "1e9"])
def test_extreme_steps_have_prices(epsilon: str) -> None:
    assert 0 < price(Step.pure(epsilon), 0) <= 8 * Fraction(epsilon)
