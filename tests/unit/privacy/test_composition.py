"""The numbers of the comparison table, and every theorem against a second derivation."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import mpmath
import pytest

from podium.errors import InvalidArgument
from podium.privacy import adaptive_optimum, nonadaptive_optimum, nonadaptive_optimum_delta
from podium.privacy.theorems import composition

HUNDRED = ["0.1"] * 100
DELTA = "1e-6"


def test_the_table_of_totals() -> None:
    """k = 100, epsilon = 0.1, delta = 1e-6."""
    assert float(composition.bounded_range_three_terms(HUNDRED, DELTA)) == pytest.approx(3.12826, abs=5e-6)
    assert float(composition.bounded_range_zcdp(HUNDRED, DELTA, simple=True)) == pytest.approx(2.41909, abs=5e-6)
    assert float(composition.bounded_range_curve(HUNDRED, DELTA)) == pytest.approx(2.40020, abs=5e-6)
    assert float(composition.optimal_pure("0.1", 100, DELTA)) == pytest.approx(4.77457, abs=5e-6)
    assert 2.25083 <= float(adaptive_optimum("0.1", 100, DELTA)) <= 2.2510
    assert composition.basic(HUNDRED) == 10


def test_advanced_is_the_printed_formula() -> None:
    with mpmath.workdps(40):
        epsilons = [mpmath.mpf("0.1")] * 3 + [mpmath.mpf("0.25")] * 40
        drift = sum(e * (mpmath.exp(e) - 1) / (mpmath.exp(e) + 1) for e in epsilons)
        exact = drift + mpmath.sqrt(2 * sum(e**2 for e in epsilons) * mpmath.log(10**6))
        found = composition.advanced(["0.1"] * 3 + ["0.25"] * 40, DELTA)
    assert 0 <= float(found) - float(exact) < 1e-12
    assert composition.advanced(["0.1", "0.2"], "1e-9") == Fraction(3, 10)


def test_three_terms_takes_the_smallest() -> None:
    assert composition.bounded_range_three_terms(["0.1", "0.2"], DELTA) == Fraction(3, 10)
    sharp = composition.bounded_range_three_terms(HUNDRED, DELTA, sharp=True)
    plain = composition.bounded_range_three_terms(HUNDRED, DELTA)
    # Both use the third term; its first part is k e^2/2 = 0.5 and k e^2/8 = 0.125.
    assert float(plain - sharp) == pytest.approx(0.375, abs=1e-15)


def test_sharp_three_terms_is_above_the_optimum() -> None:
    for k in (2, 20, 200):
        sharp = composition.bounded_range_three_terms(["0.2"] * k, DELTA, sharp=True)
        assert sharp >= adaptive_optimum("0.2", k, DELTA)


@pytest.mark.parametrize(("epsilon", "k"), [("0.1", 7), ("0.5", 4), ("1", 30), ("0.05", 100)])
@pytest.mark.parametrize("share", ["0.1", "0.37", "0.5", "0.9"])
def test_optimal_pure_delta_is_the_profile_of_randomised_responses(epsilon: str, k: int, share: str) -> None:
    total = Fraction(share) * k * Fraction(epsilon)
    with mpmath.workdps(60):
        e, g = mpmath.mpf(epsilon), mpmath.mpf(total.numerator) / total.denominator
        p = mpmath.exp(e) / (1 + mpmath.exp(e))
        losses = [(mpmath.mpf(comb(k, i)) * p ** (k - i) * (1 - p) ** i, (k - 2 * i) * e) for i in range(k + 1)]
        exact = sum(mass * (1 - mpmath.exp(g - loss)) for mass, loss in losses if loss > g)
        found = composition.optimal_pure_delta(epsilon, k, total)
        difference = mpmath.mpf(found.numerator) / found.denominator - exact
        assert -exact * mpmath.mpf(10) ** -50 <= difference <= exact * mpmath.mpf(2) ** -62


@pytest.mark.parametrize(("epsilon", "k", "delta"), [("0.1", 100, "1e-6"), ("1", 5, "1e-3"), ("0.3", 20, "0.2")])
def test_optimal_pure_inverts_its_profile(epsilon: str, k: int, delta: str) -> None:
    total = composition.optimal_pure(epsilon, k, delta)
    # Both directions round up, each by one unit of 64 bits at most.
    assert composition.optimal_pure_delta(epsilon, k, total) <= Fraction(delta) * (1 + Fraction(1, 2**63))
    assert composition.optimal_pure_delta(epsilon, k, total * Fraction(999, 1000)) > Fraction(delta)


def test_optimal_pure_is_zero_when_delta_pays_for_everything() -> None:
    assert composition.optimal_pure("0.01", 2, "0.5") == 0


def test_optimal_pure_discrete_is_lemma_a1() -> None:
    """The printed delta_i, summed literally, for the index that was found and for the next one."""
    point = composition.optimal_pure_discrete("0.1", 100, DELTA)

    def printed(index: int) -> mpmath.mpf:
        with mpmath.workdps(60):
            e = mpmath.mpf("0.1")
            total = sum(
                comb(100, i) * (mpmath.exp((100 - i) * e) - mpmath.exp((100 - 2 * index + i) * e)) for i in range(index)
            )
            return total / (1 + mpmath.exp(e)) ** 100

    assert point.epsilon == (100 - 2 * point.index) * Fraction(1, 10)
    assert float(printed(point.index)) == pytest.approx(float(point.delta), rel=1e-15)
    assert point.delta <= Fraction(1, 10**6) < printed(point.index + 1)


def test_nonadaptive_is_the_largest_over_a_common_shift() -> None:
    """A fine grid of shifts, with every hockey-stick summed from its definition, comes close from below."""
    k, epsilon, total = 12, mpmath.mpf("0.4"), mpmath.mpf("1.3")
    worst = mpmath.mpf(0)
    for step in range(1, 400):
        shift = epsilon * step / 400
        p = (1 - mpmath.exp(-shift)) / (1 - mpmath.exp(-epsilon))
        value = mpmath.mpf(0)
        for misses in range(k + 1):
            loss = (k - misses) * epsilon - k * shift
            if loss > total:
                value += comb(k, misses) * p ** (k - misses) * (1 - p) ** misses * (1 - mpmath.exp(total - loss))
        worst = max(worst, value)
    found = float(nonadaptive_optimum_delta("0.4", k, "1.3"))
    assert float(worst) <= found <= float(worst) * 1.001


def test_nonadaptive_is_below_the_adaptive_optimum_and_inverts() -> None:
    found = nonadaptive_optimum("0.1", 100, DELTA)
    assert float(found) == pytest.approx(2.24603, abs=5e-6)
    assert found < adaptive_optimum("0.1", 100, DELTA)
    assert nonadaptive_optimum_delta("0.1", 100, found) <= Fraction(DELTA)
    assert nonadaptive_optimum_delta("0.1", 100, found * Fraction(9999, 10000)) > Fraction(DELTA)


def test_nonadaptive_is_for_comparison_only() -> None:
    assert "Not valid" in (nonadaptive_optimum.__doc__ or "")
    with pytest.raises(InvalidArgument, match="k="):
        nonadaptive_optimum("0.1", 1000, DELTA)


def test_limited_domain_delta_is_exact_and_below_the_printed_one() -> None:
    assert composition.limited_domain_delta("0.01", 3) == 1 - Fraction(100, 101) ** 3
    assert composition.limited_domain_delta("1e-6", 20) < 20 * Fraction(1, 10**6) < 2 * 20 * Fraction(1, 10**6)


@pytest.mark.parametrize("delta", [0, 1, -1, "1.5", float("nan"), float("inf")])
def test_bad_delta(delta: object) -> None:
    with pytest.raises(InvalidArgument, match="delta="):
        composition.advanced(["0.1"], delta)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="delta="):
        composition.optimal_pure("0.1", 3, delta)  # type: ignore[arg-type]


def test_no_events_and_bad_counts() -> None:
    with pytest.raises(InvalidArgument, match="epsilons="):
        composition.basic([])
    for k in (0, -1, 1.5, True):
        with pytest.raises(InvalidArgument, match="k="):
            composition.optimal_pure("0.1", k, DELTA)  # type: ignore[arg-type]
