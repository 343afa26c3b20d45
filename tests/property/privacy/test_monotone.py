"""More noise, more delta, fewer events: the reported total never grows. Exactly, not up to rounding."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.support.privacy_worlds import deltas, epsilons, events, rhos

from podium.privacy import (
    Event,
    Selection,
    adaptive_optimum,
    advanced,
    best_bound,
    bounded_range_curve,
    bounded_range_rho,
    bounded_range_three_terms,
    bounded_range_zcdp,
    limited_domain_delta,
    nonadaptive_optimum_delta,
    optimal_pure,
    optimal_pure_delta,
    zcdp_delta,
    zcdp_epsilon,
)

growth = st.one_of(st.just(Fraction(1, 2**70)), st.fractions(0, 1, max_denominator=10**6))


@given(epsilons, growth)
def test_selection_cost_in_epsilon(epsilon: Fraction, more: Fraction) -> None:
    assert bounded_range_rho(epsilon) <= bounded_range_rho(epsilon + more)
    assert bounded_range_rho(epsilon) <= epsilon**2 / 8 + Fraction(1, 2**64)


@given(rhos, growth, deltas, st.fractions(Fraction(1, 100), 1))
@example(Fraction(1, 8), Fraction(1, 2**70), Fraction(1, 10**6), Fraction(1))
def test_zcdp_conversion(rho: Fraction, more: Fraction, delta: Fraction, share: Fraction) -> None:
    assert zcdp_epsilon(rho, delta) <= zcdp_epsilon(rho + more, delta)
    assert zcdp_epsilon(rho, delta) <= zcdp_epsilon(rho, delta * share)
    epsilon = 10 * share
    assert zcdp_delta(rho, epsilon) <= zcdp_delta(rho + more, epsilon)
    assert zcdp_delta(rho, epsilon + more) <= zcdp_delta(rho, epsilon)


@given(epsilons, growth, st.integers(1, 40), deltas, st.fractions(Fraction(1, 100), 1))
@settings(max_examples=60)
def test_every_theorem_for_equal_epsilons(
    epsilon: Fraction, more: Fraction, k: int, delta: Fraction, share: Fraction
) -> None:
    for theorem in (advanced, bounded_range_three_terms, bounded_range_zcdp, bounded_range_curve):
        total = theorem([epsilon] * k, delta)
        assert total <= theorem([epsilon + more] * k, delta)
        assert total <= theorem([epsilon] * (k + 1), delta)
        assert total <= theorem([epsilon] * k, delta * share)
    optimal = optimal_pure(epsilon, k, delta)
    assert optimal <= optimal_pure(epsilon + more, k, delta)
    assert optimal <= optimal_pure(epsilon, k + 1, delta)
    assert optimal <= optimal_pure(epsilon, k, delta * share)
    assert optimal_pure_delta(epsilon, k, 1) <= optimal_pure_delta(epsilon, k + 1, 1)
    assert nonadaptive_optimum_delta(epsilon, k, 1) <= optimal_pure_delta(epsilon, k, 1)


@given(
    st.fractions(Fraction(1, 100), 2), st.fractions(0, 1), st.integers(2, 12), deltas, st.fractions(Fraction(1, 100), 1)
)
@settings(max_examples=25)
def test_adaptive_optimum(epsilon: Fraction, more: Fraction, k: int, delta: Fraction, share: Fraction) -> None:
    """On one grid; the window, placed by a guess, leaves a relative 1e-7 of play."""
    play = 1 + Fraction(1, 10**6)
    total = adaptive_optimum(epsilon, k, delta, resolution=24)
    assert total <= play * adaptive_optimum(epsilon + more, k, delta, resolution=24)
    assert total <= play * adaptive_optimum(epsilon, k + 1, delta, resolution=24)
    assert total <= play * adaptive_optimum(epsilon, k, delta * share, resolution=24)
    assert total <= k * epsilon


@given(st.fractions(Fraction(1, 100), 1), st.integers(1, 60), deltas)
@settings(max_examples=15)
def test_order_of_the_theorems(epsilon: Fraction, k: int, delta: Fraction) -> None:
    """Sharper theorems are sharper, and none is below the optimum it bounds."""
    batch = [epsilon] * k
    assert bounded_range_curve(batch, delta) <= bounded_range_zcdp(batch, delta)
    assert bounded_range_zcdp(batch, delta) <= bounded_range_zcdp(batch, delta, simple=True) + Fraction(k, 2**50)
    assert bounded_range_three_terms(batch, delta) <= advanced(batch, delta)
    assert optimal_pure(epsilon, k, delta) <= advanced(batch, delta)
    assert best_bound([Selection(epsilon)] * k, delta).epsilon <= bounded_range_curve(batch, delta)


@given(st.lists(events, min_size=1, max_size=5), events)
@settings(max_examples=50)
def test_another_event_never_lowers_the_filter_total(receipt: list[Event], extra: Event) -> None:
    delta = Fraction(999, 1000)
    before = best_bound(receipt, delta, fixed_in_advance=False)
    after = best_bound([*receipt, extra], delta, fixed_in_advance=False)
    assert before.epsilon <= after.epsilon


@given(deltas, st.integers(1, 50))
def test_limited_domain_calls(delta: Fraction, calls: int) -> None:
    joint = limited_domain_delta(delta, calls)
    assert joint < limited_domain_delta(delta, calls + 1)
    assert joint <= calls * delta / (1 + delta) < calls * delta
