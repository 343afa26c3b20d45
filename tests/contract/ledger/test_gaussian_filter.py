"""Accounts with a Gaussian filter: what is reserved, settled and given up, and what each condition forbids.

Conditions are those of docs/proofs/gaussian-filter.md, section 6.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
from bench.ledger import controls

from podium.errors import BudgetExceeded, BudgetMismatch, InvalidArgument
from podium.ledger import Budget, Entry, Ledger, Reason, Reservation
from podium.ledger.account import terms_of
from podium.privacy import (
    ApproximateMechanism,
    Cost,
    Event,
    GaussianNoise,
    LaplaceNoise,
    LimitedDomainCall,
    PureMechanism,
    Selection,
)
from podium.privacy.gaussian import Chain, Step, chain, price, steps_of
from podium.privacy.rounding import above

BUDGET = Budget(epsilon=1, delta="1e-6", items=77, questions=77, max_questions=1000, filter="gaussian")
TENTH, FIFTH = Selection("0.1"), Selection("0.2")


def total(ledger: Ledger) -> Fraction:
    found = ledger.status("clicks").totals.whole.mu_squared
    assert found is not None
    return found


def free(ledger: Ledger) -> Fraction:
    return total(ledger) - ledger.status("clicks").held.mu_squared


def chain_of(entry: Entry, *, of_analyst: bool = False) -> Chain:
    return Chain.from_json(json.dumps(terms_of(entry, of_analyst=of_analyst)["chain"]))


def last(ledger: Ledger) -> Entry:
    return ledger.history("clicks")[-1]


@contextmanager
def unchanged(ledger: Ledger) -> Iterator[None]:
    before = ledger.status("clicks")
    yield
    assert ledger.status("clicks") == before


@pytest.fixture
def account(ledger: Ledger) -> Ledger:
    ledger.register("clicks", BUDGET, source="s")
    return ledger


def reserve(ledger: Ledger, *events: Event, **options: Any) -> Reservation:
    return ledger.reserve("clicks", events, f"q{ledger.status('clicks').entries}", **options)


def test_a_reservation_writes_its_chain_and_a_settlement_charges_what_ran(account: Ledger) -> None:
    expected = chain([Step.bounded_range("0.1", count=5)], total(account))
    assert expected is not None
    reservation = reserve(account, *[TENTH] * 5)
    assert chain_of(last(account)) == expected
    assert free(account) == total(account) - above(expected.total)
    account.settle(reservation, "{}", [TENTH] * 2)
    assert terms_of(last(account)) == {"mu_squared": str(above(expected.charge([Step.bounded_range("0.1", count=2)])))}
    # The chain starts at what is free then, so the price of the next one is higher.
    assert chain_of(reserve_entry(account, *[TENTH] * 5)).total > expected.total
    assert account.verify().sound


def reserve_entry(ledger: Ledger, *events: Event) -> Entry:
    reserve(ledger, *events)
    return last(ledger)


def test_everything_fits_and_nothing_more(account: Ledger) -> None:
    for size in (40, 20, 10, 5, 2, 1):
        while True:
            try:
                account.settle(reserve(account, *[Selection("0.05")] * size), "{}", [Selection("0.05")] * size)
            except BudgetExceeded:
                break
    held = account.status("clicks")
    assert held.items_left == 0
    assert 0 <= free(account) < price(Step.bounded_range("0.05"), 0)
    # Sums of rho hold 73 of them, with the same half of delta for the calls.
    assert held.held.epsilon / Fraction("0.05") >= 82
    assert account.verify().sound


def test_settled_in_every_order_the_same_is_free(account: Ledger) -> None:
    """Condition 6. What is reserved meanwhile sees the others in full."""
    events, held = (TENTH, Selection("0.05"), Selection("0.08")), {}
    for order in permutations(range(3)):
        name = f"clicks {order}"
        account.register(name, BUDGET, source=name)
        asked = [account.reserve(name, [event] * 3, str(event)) for event in events]
        for place in order:
            account.settle(asked[place], "{}", [events[place]] * (place + 1))
        held[order] = account.status(name).held
    assert len(held) == 6
    assert len(set(held.values())) == 1
    assert account.verify().sound


def test_what_is_cancelled_stays_charged_unless_its_prices_hold_whatever_is_left(account: Ledger) -> None:
    """Condition 1. Others' answers may have decided that it does not run."""
    asked = reserve(account, TENTH)
    assert not chain_of(last(account)).any_order
    before = free(account)
    account.forfeit(asked, Reason.CANCELLED)
    assert free(account) == before
    noise = reserve(account, GaussianNoise(10))
    assert chain_of(last(account)).any_order
    account.forfeit(noise, Reason.CANCELLED)
    assert free(account) == before
    assert account.status("clicks").failures == 0
    assert account.verify().sound


def test_what_a_refund_would_be_worth(account: Ledger) -> None:
    """Condition 1. The analyst sees noise of all that is left beside a selection, and would then rather have noise."""
    asked = reserve(account, TENTH)
    (part,) = chain_of(last(account)).parts
    assert part.node >= 1
    reserve(account, GaussianNoise(1, sensitivity_squared=free(account)))
    assert free(account) == 0
    account.forfeit(asked, Reason.CANCELLED)
    with unchanged(account), pytest.raises(BudgetExceeded):
        reserve(account, GaussianNoise(1, sensitivity_squared=part.price))
    assert controls.cancelled(0.1, part.node) > 1.05
    assert controls.cancelled(0.1, part.node, at_zero=True) < 1 + 1e-9


def test_a_session_pays_prices_that_hold_whatever_is_left(account: Ledger) -> None:
    """Its rounds may wait for what others are answered: here for noise of all that is left."""
    with unchanged(account):
        one_shot = chain([Step.bounded_range("0.1")], total(account))
    reserve(account, TENTH, session=True)
    (part,) = chain_of(last(account)).parts
    assert one_shot is not None
    assert (part.node, part.price) == (0, price(Step.bounded_range("0.1"), 0))
    assert part.price > one_shot.total
    node = one_shot.parts[0].node
    assert max(controls.session(0.1, node, deviations) for deviations in (0, 1, 2, 4)) > 1.05
    assert max(controls.session(0.1, node, deviations, at_zero=True) for deviations in (0, 1, 2, 4)) < 1
    assert account.verify().sound


def test_steps_that_were_not_reserved_in_this_order_are_withheld(account: Ledger) -> None:
    """Condition 2. Charging the whole chain would not make a price hold where the remainder was not there."""
    reserved = [FIFTH, FIFTH, TENTH]
    asked = reserve(account, *reserved)
    whole = chain_of(last(account)).total
    for ran in ([TENTH, FIFTH], [TENTH, TENTH], [Selection("0.25")]):
        with unchanged(account), pytest.raises(BudgetMismatch, match="not those that were reserved"):
            account.settle(asked, "{}", ran)
    account.settle(asked, "{}", [FIFTH, TENTH])
    assert Fraction(terms_of(last(account))["mu_squared"]) < whole
    assert account.verify().sound


def test_the_way_of_a_whole_mechanism_is_charged_as_it_was_reserved(account: Ledger) -> None:
    """Condition 2. One step stands for whatever runs in its place, and all of the chain is charged."""
    for whole in (ApproximateMechanism("0.08", "1e-9"), PureMechanism("0.08")):
        asked = reserve(account, LaplaceNoise("0.04"), whole)
        reserved = chain_of(last(account)).total
        with unchanged(account), pytest.raises(BudgetMismatch, match="not those that were reserved"):
            account.settle(asked, "{}", [PureMechanism("0.08"), LaplaceNoise("0.04")])
        account.settle(asked, "{}", [LaplaceNoise("0.04"), Selection("0.08")])
        assert terms_of(last(account)) == {"mu_squared": str(above(reserved))}
    assert account.verify().sound


def test_what_only_epsilons_admit_is_charged_all_the_same(account: Ledger) -> None:
    """Condition 3. At prices that hold whatever is left; then no more noise fits."""
    reservation = reserve(account, PureMechanism("0.99"))
    assert free(account) < 0
    account.settle(reservation, "{}", [PureMechanism("0.99")])
    assert terms_of(last(account)) == {"mu_squared": str(above(price(Step.pure("0.99"), 0)))}
    assert free(account) < 0
    with unchanged(account), pytest.raises(BudgetExceeded) as refused:
        reserve(account, GaussianNoise(1000))
    assert refused.value.remaining == 0
    reserve(account, PureMechanism("0.01"))
    with unchanged(account), pytest.raises(BudgetExceeded):
        reserve(account, PureMechanism("0.001"))
    assert account.verify().sound


def test_what_is_left_is_no_guarantee(account: Ledger) -> None:
    """Condition 4. The promise is the total, from the first question to the last."""
    promise = account.status("clicks").promise
    assert "(1, 0.000001)-differentially private" in promise or "(1, 1e-6)-differentially private" in promise
    account.settle(reserve(account, *[TENTH] * 5), "{}", [TENTH] * 5)
    status = account.status("clicks")
    assert status.promise == promise
    told = status.to_dict()
    assert set(told["spent"]) == {"mu_squared", "delta"}
    assert set(told["remaining"]) == {"mu_squared", "delta", "basic_epsilon"}
    assert "rho" not in str(status).partition("at most")[0]


def test_a_raise_lowers_neither_mu_nor_what_failures_may_add_up_to(account: Ledger) -> None:
    """Condition 5."""
    before = total(account)
    account.raise_total("clicks", larger(epsilon=2, delta="2e-6", filter="auto"))
    status = account.status("clicks")
    assert (status.totals.budget.filter, status.totals.rules) == ("gaussian", 3)
    assert total(account) > before
    assert "assumes that raising it did not depend on answers" in status.promise
    with unchanged(account), pytest.raises(InvalidArgument, match="same kind, not smaller"):
        account.raise_total("clicks", BUDGET)
    account.raise_total("clicks", larger(epsilon=3, delta="2e-6", filter="zcdp"))
    assert account.status("clicks").totals.budget.filter == "gaussian"
    assert account.verify().sound


def test_a_raise_does_not_change_the_kind(ledger: Ledger) -> None:
    ledger.register("clicks", larger(filter="zcdp"), source="s")
    with unchanged(ledger), pytest.raises(InvalidArgument, match="chosen at registration"):
        ledger.raise_total("clicks", larger(epsilon=3))


def larger(**changes: Any) -> Budget:
    return Budget(**{**BUDGET.to_dict(), **changes})


def test_caps_have_chains_of_their_own(ledger: Ledger) -> None:
    """Condition 4. A price at what the data set has left does not hold at what one analyst has left."""
    budget = Budget(
        epsilon=1, delta="1e-6", items=77, questions=77, epsilon_per_analyst="0.5", filter="gaussian", max_questions=99
    )
    ledger.register("clicks", budget, source="s")
    asked = reserve(ledger, *[TENTH] * 3, analyst="ann")
    whole, own = chain_of(last(ledger)), chain_of(last(ledger), of_analyst=True)
    assert own.total > whole.total
    ledger.settle(asked, "{}", [TENTH] * 2)
    status = ledger.status("clicks")
    assert status.held.mu_squared == above(whole.charge(steps_of([TENTH] * 2)))
    assert status.sums["ann"].mu_squared == above(own.charge(steps_of([TENTH] * 2)))
    # Who sees it later pays prices that hold whatever is left.
    seen = ledger.find_release("clicks", asked.question, analyst="bob")
    assert seen is not None
    assert seen.charged
    assert ledger.status("clicks").sums["bob"].mu_squared == above(2 * price(Step.bounded_range("0.1"), 0))
    with unchanged(ledger), pytest.raises(BudgetExceeded, match="analyst 'ann'"):
        reserve(ledger, *[TENTH] * 6, analyst="ann")
    assert ledger.verify().sound


def test_what_has_no_price_is_refused_before_it_is_charged(account: Ledger) -> None:
    with unchanged(account), pytest.raises(BudgetMismatch, match="MeasureTogether"):
        reserve(account, GaussianNoise(10, discrete=True))
    with unchanged(account), pytest.raises(BudgetMismatch, match="events"):
        account.reserve("clicks", Cost(epsilon="0.1", rho="0.005"), "q")


def test_many_prices_have_a_sum_of_few_digits(account: Ledger) -> None:
    """Each has a denominator of its own: without rounding their sum has as many digits as all of them together."""
    for prime in (101, 103, 107, 109, 113):
        account.settle(reserve(account, GaussianNoise(prime)), "{}", [GaussianNoise(prime)])
    assert (account.status("clicks").held.mu_squared * 2**64).denominator == 1
    assert account.verify().sound


def test_deltas_add_up_apart(account: Ledger) -> None:
    most = account.status("clicks").totals.whole.delta
    call = LimitedDomainCall(most)
    reserve(account, call, TENTH)
    with unchanged(account), pytest.raises(BudgetExceeded) as refused:
        reserve(account, call, TENTH)
    assert refused.value.measure == "delta"


def test_the_kind_is_chosen_once(ledger: Ledger) -> None:
    planned = Budget(epsilon=1, delta="1e-6", items=77, questions=77, filter="auto")
    assert planned.choice.why == "holds 85 of the planned items where sums of rho hold 77"
    first = ledger.register("clicks", planned, source="s")
    assert ledger.status("clicks").totals.budget.filter == "gaussian"
    assert ledger.register("clicks", planned, source="s") == first
    few = Budget(epsilon=1, delta="1e-6", items=5, questions=1, filter="auto")
    ledger.register("few", few, source="t")
    totals = ledger.status("few").totals
    # As it was written before there was a choice.
    assert (totals.budget.filter, totals.rules, "filter" in totals.to_dict()["budget"]) == ("zcdp", 2, False)
    assert ledger.verify().sound
