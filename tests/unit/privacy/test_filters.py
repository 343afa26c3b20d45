"""Filters: exact spending, the three kinds of totals, refusals, and the odometer."""

from __future__ import annotations

import pickle
from decimal import Decimal
from fractions import Fraction

import pytest

from podium.errors import BudgetError, BudgetExceeded, BudgetMismatch, InvalidArgument
from podium.exact import Number
from podium.privacy import (
    BottomEvent,
    Cost,
    Filter,
    GaussianNoise,
    Guarantee,
    Limits,
    Odometer,
    PureMechanism,
    Selection,
    limited_domain_events,
    split_delta,
    total,
    zcdp_epsilon,
)


@pytest.mark.parametrize("kind", [float, str, Decimal, Fraction])
def test_point_one_and_point_two_of_point_three_are_exactly_spendable(kind: type) -> None:
    def amount(text: str) -> Number:
        value: Number = kind(text)
        return value

    budget = Filter(Guarantee.pure(amount("0.3")))
    for share in ("0.1", "0.2"):
        assert budget.can_afford(PureMechanism(amount(share)))
        budget.spend(PureMechanism(amount(share)))
    assert budget.spent.epsilon == Fraction(3, 10)
    assert not budget.can_afford(PureMechanism("1e-30"))


def test_zcdp_filter_adds_rho_and_delta() -> None:
    selection = Selection("0.1")
    budget = Filter(Guarantee.approximate_zcdp(5 * selection.rho, Fraction(2, 101)))
    receipt = limited_domain_events("0.1", "0.01", items=2, bottom=False)
    budget.spend(receipt)
    budget.spend(limited_domain_events("0.1", "0.01", items=1, bottom=True))
    assert budget.spent.rho == 4 * selection.rho
    assert budget.spent.delta == Fraction(2, 101)
    # One selection would still fit, but a third call's delta does not.
    assert budget.can_afford(selection)
    assert not budget.can_afford(limited_domain_events("0.1", "0.01", items=1, bottom=False))
    budget.spend(BottomEvent("0.1"))
    with pytest.raises(BudgetExceeded) as caught:
        budget.spend(selection)
    assert caught.value.measure == "rho"
    assert caught.value.remaining == 0
    assert caught.value.short_by == selection.rho


def test_bottom_is_not_free() -> None:
    budget = Filter(Guarantee.zcdp(2 * Selection(1).rho))
    budget.spend(BottomEvent(1))
    budget.spend(BottomEvent(1))
    assert not budget.can_afford(BottomEvent(1))


def test_an_exceeding_charge_changes_nothing() -> None:
    budget = Filter(Guarantee.pure(1))
    budget.spend(PureMechanism("0.75"))
    with pytest.raises(BudgetExceeded, match=r"epsilon=0\.5 but the budget has epsilon=0\.25 left \(short by 0\.25\)"):
        budget.spend(PureMechanism("0.5"))
    assert budget.spent.epsilon == Fraction(3, 4)


def test_pure_filter_settles_for_what_came_out() -> None:
    """Reserve the worst case, pay the outcome: the hybrids give budget back that way."""
    budget = Filter(Guarantee.pure(1))
    for _ in range(5):
        mechanism = PureMechanism("0.1", reserved="0.6")
        assert budget.can_afford(mechanism)
        budget.spend(mechanism)
    assert budget.spent.epsilon == Fraction(1, 2)
    assert not budget.can_afford(PureMechanism("0.1", reserved="0.6"))
    assert budget.can_afford(PureMechanism("0.1", reserved="0.5"))


def test_zcdp_filter_charges_what_was_reserved() -> None:
    budget = Filter(Guarantee.zcdp(1))
    budget.spend(PureMechanism("0.1", reserved="0.6"))
    assert budget.spent.rho == Fraction(18, 100)


def test_either_sum_is_enough_for_an_approximate_total() -> None:
    budget = Filter(Guarantee.approximate(1, "1e-6"))
    limits = budget.limits
    assert limits.delta == Fraction(1, 2 * 10**6)
    assert limits.rho is not None
    assert zcdp_epsilon(limits.rho, split_delta(Fraction(1, 10**6), limits.delta)) <= 1
    # One pure mechanism with the whole epsilon has far too much rho, but keeps the sum of epsilons.
    assert PureMechanism(1).rho > limits.rho
    assert budget.can_afford(PureMechanism(1))
    # Many small ones pass the sum of epsilons long before the sum of rhos.
    small = Selection("0.01")
    for _ in range(150):
        budget.spend(small)
    assert budget.spent.epsilon == Fraction(3, 2)
    assert budget.spent.rho <= limits.rho
    assert budget.can_afford(small)
    assert not budget.can_afford(PureMechanism(1))


def test_gaussian_noise_in_an_approximate_total_uses_rho() -> None:
    budget = Filter(Guarantee.approximate(1, "1e-6"))
    budget.spend(GaussianNoise(10))
    assert budget.spent.epsilon is None
    assert budget.can_afford(GaussianNoise(10))
    assert not budget.can_afford(PureMechanism("0.5"))


def test_delta_for_calls_can_be_chosen() -> None:
    limits = Limits.of(Guarantee.approximate(1, "1e-6"), delta_for_calls=0)
    assert limits.delta == 0
    more = Limits.of(Guarantee.approximate(1, "1e-6"), delta_for_calls="9e-7")
    assert more.rho is not None
    assert limits.rho is not None
    assert more.rho < limits.rho
    with pytest.raises(InvalidArgument, match="delta_for_calls="):
        Limits.of(Guarantee.approximate(1, "1e-6"), delta_for_calls="1e-6")


def test_mixing_pure_and_approximate_is_a_typed_error() -> None:
    pure = Filter(Guarantee.pure(1))
    with pytest.raises(BudgetMismatch, match="pure budget"):
        pure.can_afford(GaussianNoise(1))
    with pytest.raises(BudgetMismatch, match="delta="):
        pure.spend(limited_domain_events("0.1", "0.01", items=1, bottom=False))
    with pytest.raises(BudgetMismatch, match="delta_for_calls"):
        Filter(Guarantee.pure(1), delta_for_calls="1e-6")
    with pytest.raises(BudgetMismatch, match="delta_for_calls"):
        Filter(Guarantee.zcdp(1), delta_for_calls="1e-6")
    with pytest.raises(BudgetMismatch, match="profile"):
        Filter(Guarantee.profile([(1, 0)]))
    with pytest.raises(BudgetMismatch, match="one kind"):
        Filter(total([Selection("0.1")]))
    assert issubclass(BudgetMismatch, BudgetError)


def test_costs_can_be_charged_directly() -> None:
    budget = Filter(Guarantee.zcdp("0.5"))
    assert budget.spend(Cost(epsilon=None, rho="0.5")) == Cost(epsilon=None, rho="0.5")
    assert "spent" in repr(budget)
    with pytest.raises(InvalidArgument, match="rho="):
        Cost(epsilon=None, rho=-1)


def test_errors_survive_pickling() -> None:
    error = BudgetExceeded("rho", Fraction(1, 3), Fraction(1, 4), budget="'clicks'", hint="Ask for fewer items.")
    twin = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert str(twin) == str(error)
    assert twin.short_by == Fraction(1, 12)
    assert str(error).endswith("Ask for fewer items.")


def test_odometer_reads_levels_fixed_in_advance() -> None:
    levels = [Guarantee.zcdp("0.1"), Guarantee.zcdp("0.2"), Guarantee.zcdp("0.4")]
    odometer = Odometer(levels)
    assert odometer.reading == levels[0]
    assert odometer.spend(Cost(epsilon=None, rho="0.1")) == levels[0]
    assert odometer.spend(Cost(epsilon=None, rho="0.15")) == levels[2]
    assert odometer.spent == Cost(epsilon=None, rho="0.25")
    # The small level was passed for good.
    assert odometer.spend(Cost(epsilon=None, rho="0.2")) is None
    assert odometer.spent is None


def test_odometer_stops_on_the_worst_case() -> None:
    """Whether a level is passed must not depend on the answer that stopping would withhold."""
    odometer = Odometer([Guarantee.pure(1), Guarantee.pure(3)])
    assert odometer.spend(PureMechanism("0.1", reserved=2)) == Guarantee.pure(3)


def test_odometer_levels_must_grow() -> None:
    with pytest.raises(InvalidArgument, match="levels="):
        Odometer([])
    with pytest.raises(InvalidArgument, match="levels="):
        Odometer([Guarantee.zcdp(2), Guarantee.zcdp(1)])
