"""BLUE and inverse variance against brute-force generalised least squares, in exact rationals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint
import pytest

from podium.errors import InvalidArgument
from podium.estimates import Estimate, blue, blue_error_ratio, gap_noise_ratio, inverse_variance


def least_squares(k: int, ratio: Fraction) -> tuple[Any, Any]:
    """(the matrix from observations to estimates, their covariance) for k measurements and k-1 gaps, variance 1.

    A gap is q_i + eta_i - q_(i+1) - eta_(i+1), Var(eta) = ratio: neighbouring gaps are correlated.
    """
    differences = [[(j == i) - (j == i + 1) for j in range(k)] for i in range(k - 1)]
    design = flint.fmpq_mat([[int(i == j) for j in range(k)] for i in range(k)] + differences)
    size = 2 * k - 1
    covariance = flint.fmpq_mat(size, size)
    for i in range(k):
        covariance[i, i] = 1
    for i in range(k - 1):
        for j in range(k - 1):
            shared = sum(a * b for a, b in zip(differences[i], differences[j], strict=True))
            covariance[k + i, k + j] = flint.fmpq(shared) * flint.fmpq(ratio.numerator, ratio.denominator)
    weights = covariance.inv()
    spread = (design.transpose() * weights * design).inv()
    return spread * design.transpose() * weights, spread


@pytest.mark.parametrize("k", [1, 2, 3, 6])
@pytest.mark.parametrize("ratio", [Fraction(1), Fraction(1, 2), Fraction(4), Fraction(2), Fraction(3, 7)])
def test_blue_is_generalised_least_squares(k: int, ratio: Fraction) -> None:
    matrix, spread = least_squares(k, ratio)
    # The estimate is linear, so unit vectors show its whole matrix.
    for column in range(2 * k - 1):
        unit = [int(i == column) for i in range(2 * k - 1)]
        found = blue(unit[:k], unit[k:], ratio=ratio)
        assert [flint.fmpq(value.numerator, value.denominator) for value in found] == [
            matrix[i, column] for i in range(k)
        ]
    expected = blue_error_ratio(k, ratio)
    assert all(spread[i, i] == flint.fmpq(expected.numerator, expected.denominator) for i in range(k))


def test_error_ratio_by_linear_algebra_on_the_covariance() -> None:
    """Corollary 1: with X and Y as printed, (X X^T + Y G Y^T)/((1+l)k)^2 has (1+lk)/(k+lk) on its diagonal."""
    for k, ratio in ((2, Fraction(1)), (5, Fraction(1, 2)), (7, Fraction(4))):
        rows = [blue([int(i == j) for i in range(k)], [0] * (k - 1), ratio=ratio) for j in range(k)]
        gaps = [blue([0] * k, [int(i == j) for i in range(k - 1)], ratio=ratio) for j in range(k - 1)]
        for i in range(k):
            measured = sum(row[i] ** 2 for row in rows)
            # Query noise eta_j enters gap j with +1 and gap j-1 with -1.
            queries = sum(((gaps[j][i] if j < k - 1 else 0) - (gaps[j - 1][i] if j else 0)) ** 2 for j in range(k))
            assert measured + ratio * queries == (1 + ratio * k) / (k + ratio * k)


def test_limits_of_the_error_ratio() -> None:
    assert blue_error_ratio(10**9, 1) == pytest.approx(0.5)
    assert blue_error_ratio(10**9, "0.5") == pytest.approx(1 / 3)
    assert blue_error_ratio(1, 7) == 1


def test_noise_ratios_of_an_equal_split() -> None:
    """Half of epsilon for selection (scale k/(eps/2)), half for k Laplace measurements of the same scale."""
    k, half = 10, Fraction(1, 2)
    scale, variance = k / half, 2 * (k / half) ** 2
    assert gap_noise_ratio("laplace", scale, variance=variance) == 1
    assert gap_noise_ratio("exponential", scale, variance=variance) == half
    assert gap_noise_ratio("laplace", 2 * scale, variance=variance) == 4
    assert gap_noise_ratio("exponential", 2 * scale, variance=variance) == 2


def test_exact_data_is_reproduced_and_the_last_gap_ignored() -> None:
    counts = [90, 70, 65, 10]
    gaps = [20, 5, 55]
    assert blue(counts, gaps, ratio="0.5") == tuple(counts)
    assert blue(counts, [*gaps, 999], ratio="0.5") == tuple(counts)


def test_inverse_variance() -> None:
    combined = inverse_variance([Estimate(Fraction(10), Fraction(1)), Estimate(Fraction(16), Fraction(2))])
    assert combined == Estimate(Fraction(12), Fraction(2, 3))
    assert inverse_variance([combined]) == combined


def test_bad_input() -> None:
    cases: list[tuple[Any, str]] = [
        (lambda: blue([], [], ratio=1), "measurements=[] is not valid. Allowed: one measurement or more."),
        (
            lambda: blue([1, 2], [], ratio=1),
            "gaps='0 gaps' is not valid. Allowed: 1 or 2 gaps for 2 measurements.",
        ),
        (lambda: blue([1], [], ratio=0), "ratio=0 is not valid. Allowed: a number above 0."),
        (
            lambda: inverse_variance([]),
            "estimates=[] is not valid. Allowed: one or more, each with a variance above 0.",
        ),
        (
            lambda: gap_noise_ratio("gumbel", 1, variance=1),  # type: ignore[arg-type]
            "noise='gumbel' is not valid. Allowed: 'laplace' or 'exponential'.",
        ),
    ]
    for act, text in cases:
        with pytest.raises(InvalidArgument) as caught:
            act()
        assert str(caught.value) == text
