"""One selection: zCDP constant and Renyi curve against mpmath, by a derivation that knows only the worst pair."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

from podium.errors import InvalidArgument
from podium.privacy import Selection, bounded_range_rho, bounded_range_rho_simple

EPSILONS = ["0.001", "0.1", "0.5", "1", "3", "10"]


def worst_pair_divergence(epsilon: mpmath.mpf, shift: mpmath.mpf, order: mpmath.mpf) -> mpmath.mpf:
    """Renyi divergence of the two-point pair with losses epsilon - shift and -shift, straight from the definition."""
    p = (1 - mpmath.exp(-shift)) / (1 - mpmath.exp(-epsilon))
    q = p * mpmath.exp(shift - epsilon)
    return mpmath.log(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)) / (order - 1)


def largest_over_shifts(epsilon: mpmath.mpf, order: mpmath.mpf) -> mpmath.mpf:
    """Golden-section search; the divergence has one peak in the shift."""
    low, high = mpmath.mpf(0), epsilon
    ratio = (mpmath.sqrt(5) - 1) / 2
    for _ in range(120):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if worst_pair_divergence(epsilon, left, order) < worst_pair_divergence(epsilon, right, order):
            low = left
        else:
            high = right
    return worst_pair_divergence(epsilon, (low + high) / 2, order)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_rho_is_the_printed_formula_rounded_up(epsilon: str) -> None:
    with mpmath.workdps(60):
        e = mpmath.mpf(epsilon)
        x = e / mpmath.expm1(e)
        exact = x - 1 - mpmath.log(x)
        found = bounded_range_rho(epsilon)
        assert (found * 2**64).denominator == 1
        difference = mpmath.mpf(found.numerator) / found.denominator - exact
        assert 0 <= difference < mpmath.mpf(2) ** -64


def test_rho_at_one_tenth_is_barely_below_the_simple_bound() -> None:
    assert float(bounded_range_rho("0.1")) == pytest.approx(0.0012498264, rel=1e-7)
    assert bounded_range_rho_simple("0.1") == Fraction(1, 800)


@pytest.mark.parametrize("epsilon", ["1e-9", "1e-12", "1e-300"])
def test_rho_below_the_grid_is_one_step_up(epsilon: str) -> None:
    found = bounded_range_rho(epsilon)
    assert found >= Fraction(epsilon) ** 2 / 8
    assert found <= Fraction(epsilon) ** 2 / 8 + Fraction(1, 2**64)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("order", ["1.001", "1.5", "2", "10", "200"])
def test_renyi_curve_is_the_supremum_over_the_worst_pairs(epsilon: str, order: str) -> None:
    with mpmath.workdps(50):
        exact = largest_over_shifts(mpmath.mpf(epsilon), mpmath.mpf(order))
        found = Selection(epsilon).renyi(order)
        difference = mpmath.mpf(found.numerator) / found.denominator - exact
        assert -(mpmath.mpf(10) ** -30) <= difference <= mpmath.mpf(2) ** -63


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_rho_is_tight_and_covers_every_order(epsilon: str) -> None:
    event = Selection(epsilon)
    for order in (Fraction(10001, 10000), Fraction(11, 10), Fraction(2), Fraction(5), Fraction(50), Fraction(1000)):
        assert event.renyi(order) <= order * event.rho
    near_one = Fraction(10001, 10000)
    assert event.renyi(near_one) >= Fraction(999, 1000) * near_one * (event.rho - Fraction(1, 2**63))


def test_half_the_range_would_be_caught() -> None:
    """The constant of epsilon/2 does not cover the pair of epsilon: the tests above can see a factor of two."""
    assert Selection(1).renyi(2) > 2 * bounded_range_rho("0.5")


@pytest.mark.parametrize("epsilon", [0, -1, "0", float("nan"), float("inf"), "abc", True, None])
def test_bad_epsilon(epsilon: object) -> None:
    with pytest.raises(InvalidArgument, match="epsilon="):
        bounded_range_rho(epsilon)  # type: ignore[arg-type]


@pytest.mark.parametrize("order", [1, "0.5", 0, -2])
def test_bad_order(order: object) -> None:
    with pytest.raises(InvalidArgument, match="order="):
        Selection(1).renyi(order)  # type: ignore[arg-type]
