"""Algebra of guarantees, costs, receipts and round trips."""

from __future__ import annotations

import json
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.privacy_worlds import deltas, epsilons, events, guarantees, pairs, rhos

from podium.errors import InvalidArgument
from podium.privacy import (
    Cost,
    Event,
    Guarantee,
    actual_cost,
    bounded_range_rho,
    decode_event,
    encode_event,
    events_from_json,
    events_to_json,
    gaussian_delta,
    largest_rho,
    largest_selection_epsilon,
    total,
    worst_case,
    zcdp_epsilon,
)

UNIT = 1 + Fraction(1, 2**60)


@given(guarantees, guarantees, guarantees)
def test_composition_is_associative_and_commutative(a: Guarantee, b: Guarantee, c: Guarantee) -> None:
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a


@given(guarantees, guarantees)
@settings(max_examples=60)
def test_a_sum_promises_less_than_its_parts(a: Guarantee, b: Guarantee) -> None:
    both = a + b
    assert a.cost <= both.cost
    for epsilon in (Fraction(1, 2), Fraction(5)):
        assert a.delta(epsilon=epsilon) <= both.delta(epsilon=epsilon) * UNIT


@given(guarantees, guarantees)
@settings(max_examples=60)
def test_order_is_reflexive_and_has_two_sides(a: Guarantee, b: Guarantee) -> None:
    assert a <= a  # noqa: PLR0124
    assert not a < a  # noqa: PLR0124
    assert (a < b) == (b > a)
    assert (a <= b) == (b >= a)


@given(pairs, pairs, pairs)
@settings(max_examples=60)
def test_order_is_transitive(a: Guarantee, b: Guarantee, c: Guarantee) -> None:
    if a <= b <= c:
        assert a <= c


@given(pairs, pairs, deltas)
@settings(max_examples=80)
def test_order_agrees_with_the_conversion(a: Guarantee, b: Guarantee, delta: Fraction) -> None:
    if a <= b:
        try:
            weaker = b.epsilon(delta=delta)
        except InvalidArgument:
            return
        assert a.epsilon(delta=delta) <= weaker * UNIT + Fraction(1, 2**60)


@given(guarantees, pairs)
@settings(max_examples=80)
def test_what_promises_more_holds_wherever_a_pair_claims_to(a: Guarantee, b: Guarantee) -> None:
    if a <= b:
        own = b.epsilon()
        assert a.epsilon(delta=b.delta(epsilon=own)) <= own * UNIT


@given(st.fractions(Fraction(1, 100), 9, max_denominator=1000), st.lists(epsilons, min_size=1, max_size=5), epsilons)
@settings(max_examples=60)
def test_a_profile_stays_above_the_mechanism_that_it_describes(
    mu_squared: Fraction, known: list[Fraction], epsilon: Fraction
) -> None:
    """Gaussian noise is known at a few points only; between, below and beyond them nothing smaller is claimed."""
    profile = Guarantee.profile([(at, gaussian_delta(mu_squared, at)) for at in known])
    for at in (Fraction(0), epsilon):
        assert profile.delta(epsilon=at) * UNIT >= gaussian_delta(mu_squared, at)


@given(guarantees, deltas)
@settings(max_examples=80)
def test_there_and_back_never_loses(guarantee: Guarantee, delta: Fraction) -> None:
    try:
        epsilon = guarantee.epsilon(delta=delta)
    except InvalidArgument:
        return
    assert guarantee.delta(epsilon=epsilon) <= delta * UNIT


@given(epsilons, deltas)
def test_a_budget_converted_to_rho_is_never_exceeded(epsilon: Fraction, delta: Fraction) -> None:
    rho = largest_rho(epsilon, delta)
    assert zcdp_epsilon(rho, delta) <= epsilon
    assert zcdp_epsilon(rho + Fraction(1, 10**5), delta) > epsilon


@given(rhos)
@settings(max_examples=40)
def test_a_selection_fits_the_rho_it_was_made_for(rho: Fraction) -> None:
    assert bounded_range_rho(largest_selection_epsilon(rho)) <= rho


@given(st.lists(events, max_size=8))
def test_receipts_survive_json(receipt: list[Event]) -> None:
    assert list(events_from_json(events_to_json(receipt))) == receipt
    for event in receipt:
        assert decode_event(json.loads(json.dumps(encode_event(event)))) == event


@given(guarantees)
def test_guarantees_survive_json(guarantee: Guarantee) -> None:
    assert Guarantee.from_json(guarantee.to_json()) == guarantee


@given(st.lists(events, max_size=8), st.randoms(use_true_random=False))
def test_costs_do_not_depend_on_the_order(receipt: list[Event], order: object) -> None:
    shuffled = list(receipt)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    assert actual_cost(shuffled) == actual_cost(receipt)
    assert actual_cost(receipt) <= worst_case(receipt)
    assert total(receipt).cost == worst_case(receipt)
    one_by_one = Cost.nothing()
    for event in receipt:
        one_by_one = one_by_one + actual_cost([event])
    assert one_by_one == actual_cost(receipt)
