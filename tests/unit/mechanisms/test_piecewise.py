"""Piecewise exponential polynomials against a second derivation: adaptive quadrature with mpmath."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import flint
import mpmath
import pytest

from podium.errors import InvalidArgument
from podium.exact import ball_precision, rational_bounds
from podium.mechanisms.piecewise import ClosedNoise, Piecewise, noise_cdf, noise_density, noise_survival

NOISES: tuple[ClosedNoise, ...] = ("laplace", "exponential")
POINTS = [Fraction(n, 7) for n in range(-30, 40, 3)]


def close(value: flint.arb, expected: object, digits: int = 18) -> bool:
    low, high = rational_bounds(value)
    middle = (low + high) / 2
    return bool(abs(mpmath.mpf(middle.numerator) / middle.denominator - expected) < mpmath.mpf(10) ** -digits)


def real(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


def pdf(noise: ClosedNoise, offset: Fraction, scale: Fraction) -> Callable[[mpmath.mpf], mpmath.mpf]:
    """The textbook density, written without the code under test."""

    def density(x: mpmath.mpf) -> mpmath.mpf:
        z = (x - real(offset)) / real(scale)
        if noise == "exponential":
            return mpmath.exp(-z) / real(scale) if z >= 0 else mpmath.mpf(0)
        return mpmath.exp(-abs(z)) / (2 * real(scale))

    return density


def tail(noise: ClosedNoise, offset: Fraction, scale: Fraction) -> Callable[[mpmath.mpf], mpmath.mpf]:
    """The textbook survival function."""

    def survival(x: mpmath.mpf) -> mpmath.mpf:
        z = (x - real(offset)) / real(scale)
        if noise == "exponential":
            return mpmath.exp(-z) if z >= 0 else mpmath.mpf(1)
        return mpmath.exp(-z) / 2 if z >= 0 else 1 - mpmath.exp(z) / 2

    return survival


@pytest.fixture(autouse=True)
def _precision() -> object:
    with ball_precision(128), mpmath.workdps(30):
        yield


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("offset", [Fraction(0), Fraction(-5, 3), Fraction(7, 2)])
@pytest.mark.parametrize("scale", [Fraction(1), Fraction(2, 5), Fraction(3)])
def test_density_cdf_and_survival_are_those_of_the_textbook(
    noise: ClosedNoise, offset: Fraction, scale: Fraction
) -> None:
    textbook, above = pdf(noise, offset, scale), tail(noise, offset, scale)
    density, survival, cdf = (make(noise, offset, scale) for make in (noise_density, noise_survival, noise_cdf))
    for point in POINTS:
        assert close(density(point), textbook(real(point)))
        assert close(survival(point), above(real(point)))
        assert close(cdf(point), 1 - above(real(point)))
        assert close(density.tail_integral()(point), above(real(point)))
    assert close(density.integral(), 1)


@pytest.mark.parametrize("noise", NOISES)
def test_products_and_integrals_agree_with_quadrature(noise: ClosedNoise) -> None:
    a, b, c = Fraction(1, 3), Fraction(-1), Fraction(1, 3)
    f = noise_density(noise, a, Fraction(1)) * noise_survival(noise, b, Fraction(1)) * noise_cdf(noise, c, Fraction(2))
    p = pdf(noise, a, Fraction(1))
    q, r = tail(noise, b, Fraction(1)), tail(noise, c, Fraction(2))
    for low, high in ((None, None), (Fraction(0), None), (Fraction(-2), Fraction(5, 4))):
        ends = [mpmath.mpf(-60) if low is None else real(low), mpmath.mpf(60) if high is None else real(high)]
        inner = [real(e) for e in (b, a) if ends[0] < real(e) < ends[1]]
        expected = mpmath.quad(lambda x: p(x) * q(x) * (1 - r(x)), [ends[0], *inner, ends[1]])
        assert close(f.integral(low, high), expected)


@pytest.mark.parametrize("noise", NOISES)
def test_tail_integrals_can_be_nested(noise: ClosedNoise) -> None:
    """P(X > Y > t) for two independent draws, where terms of the form x e^(ax) and x appear."""
    first, second = noise_density(noise, Fraction(1), Fraction(1)), noise_density(noise, Fraction(0), Fraction(1))
    nested = (first.tail_integral() * second).tail_integral()
    q, above = pdf(noise, Fraction(0), Fraction(1)), tail(noise, Fraction(1), Fraction(1))
    for t in (Fraction(-3), Fraction(1, 2), Fraction(5, 2)):
        ends = sorted({real(t), max(real(t), mpmath.mpf(0)), max(real(t), mpmath.mpf(1)), mpmath.mpf(60)})
        assert close(nested(t), mpmath.quad(lambda y: q(y) * above(y), ends))


def test_sums_differences_scaling_and_shifts() -> None:
    f = noise_density("laplace", Fraction(0), Fraction(1)).tail_integral() * Piecewise.step(Fraction(1, 2))
    g = (f * f).shifted(Fraction(2)).scaled(flint.arb(3)) - Piecewise.constant(2) + f
    for point in POINTS:
        shifted = f(point - 2)
        assert g(point).overlaps(3 * shifted * shifted - 2 + f(point))
    assert f(Fraction(1, 4)).is_zero()
    # A tail integral has terms with a power of x, which a shift has to expand.
    ramp = (
        noise_cdf("exponential", Fraction(0), Fraction(1)) * noise_density("laplace", Fraction(1), Fraction(1))
    ).tail_integral()
    moved = ramp.shifted(Fraction(-7, 3))
    assert all(moved(point - Fraction(7, 3)).overlaps(ramp(point)) for point in POINTS)


@pytest.mark.parametrize(("one", "other"), [("1", "2"), ("2/7", "3/5"), ("3/7", "10/21"), ("1/1000003", "7")])
def test_rates_of_different_units_go_together(one: str, other: str) -> None:
    """P(X > Y) in closed form: with rates a and b of two exponentials that start at 0, it is b/(a + b)."""
    x, y = Fraction(one), Fraction(other)
    above = noise_survival("exponential", Fraction(0), x) * noise_density("exponential", Fraction(0), y)
    assert close(above.integral(), real(x / (x + y)))
    both = noise_cdf("laplace", Fraction(1), x) + noise_cdf("laplace", Fraction(0), y)
    for point in POINTS:
        parts = noise_cdf("laplace", Fraction(1), x)(point), noise_cdf("laplace", Fraction(0), y)(point)
        assert both(point).overlaps(parts[0] + parts[1])


def test_what_cannot_be_integrated_says_so() -> None:
    with pytest.raises(ArithmeticError, match=r"^the integral does not converge$"):
        Piecewise.constant(1).integral()
    with pytest.raises(ArithmeticError, match=r"^the integral does not converge$"):
        Piecewise.step(Fraction(0)).tail_integral()
    assert Piecewise.constant(1).integral(Fraction(1), Fraction(3)).overlaps(flint.arb(2))


def test_breakpoints_must_increase_and_fit() -> None:
    for breaks, pieces in (((Fraction(1), Fraction(0)), [{}, {}, {}]), ((Fraction(1),), [{}])):
        with pytest.raises(InvalidArgument, match=r"Allowed: increasing, one fewer than the pieces\.$"):
            Piecewise(breaks, pieces, unit=Fraction(1))
