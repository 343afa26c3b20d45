"""Budgets, and the limits that follow from them."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from podium.errors import InvalidArgument
from podium.ledger import Budget, Totals
from podium.ledger.bookkeeping.held import Charged, Sum
from podium.privacy import Cost, Guarantee, Limits, limited_domain_events, worst_case, zcdp_epsilon


def test_numbers_are_exact() -> None:
    budget = Budget(epsilon=0.1, delta="1e-6", items=2, questions=1)
    assert (budget.epsilon, budget.delta) == (Fraction(1, 10), Fraction(1, 1_000_000))
    assert not budget.pure
    assert Budget(epsilon=1, items=1, questions=1) == Budget(epsilon="1", delta=0, items=1, questions=1)


def test_half_of_delta_is_for_the_calls_and_half_for_the_conversion() -> None:
    limits = Totals.of(Budget(epsilon=3, delta="1e-6", items=200, questions=20)).whole
    assert limits.epsilon == 3
    assert limits.delta == Fraction(1, 2_000_000)
    assert limits.rho is not None
    rest = (Fraction(1, 1_000_000) - limits.delta) / (1 - limits.delta)
    assert zcdp_epsilon(limits.rho, rest) <= 3 < zcdp_epsilon(limits.rho + Fraction(1, 2**40), rest)


@pytest.mark.parametrize("items", [1, 2, 5, 8, 9, 50, 1000])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "8"])
def test_the_plan_fits_its_own_limits(items: int, epsilon: str) -> None:
    budget = Budget(epsilon=epsilon, delta="1e-6", items=items, questions=3)
    totals = Totals.of(budget)
    call = limited_domain_events(totals.epsilon_per_item, totals.delta_per_call, items=items, bottom=False)
    plan = worst_case([*call, call[0], call[0]])
    assert totals.books.refusal(Charged(plan, ()), Sum()) is None
    assert totals.books.refusal(Charged(Cost(epsilon=0, rho=0, delta="1e-30"), ()), Sum.of(plan)) is not None


def test_a_pure_budget_has_one_limit() -> None:
    totals = Totals.of(Budget(epsilon=2, items=8, questions=3))
    assert totals.limits == Limits(Fraction(2), None, Fraction(0))
    assert totals.epsilon_per_item == Fraction(1, 4)
    assert totals.delta_per_call == 0
    assert totals.budget.guarantee == Guarantee.pure(2)


def test_a_cap_per_analyst_takes_the_total_delta_unless_given() -> None:
    budget = Budget(epsilon=3, delta="1e-6", items=9, questions=9, epsilon_per_analyst=1)
    assert budget.delta_per_analyst == budget.delta
    cap = Totals.of(budget).per_analyst
    assert cap is not None
    assert cap.epsilon == 1
    assert cap.delta == Fraction(1, 2_000_000)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epsilon", 0),
        ("epsilon", -1),
        ("delta", 1),
        ("delta", -1),
        ("items", 0),
        ("questions", 1.5),
        ("epsilon_per_analyst", 4),
        ("epsilon_per_analyst", 0),
    ],
)
def test_bad_budgets(name: str, value: object) -> None:
    given = {"epsilon": 3, "delta": "1e-6", "items": 9, "questions": 9, name: value}
    with pytest.raises(InvalidArgument) as caught:
        Budget(**given)  # type: ignore[arg-type]
    assert caught.value.name == name


@pytest.mark.parametrize(
    ("delta", "cap", "delta_cap"), [("1e-6", None, "1e-7"), ("1e-6", 1, "1e-5"), ("1e-6", 1, 0), (0, 1, "1e-9")]
)
def test_bad_caps(delta: str | int, cap: int | None, delta_cap: str | int) -> None:
    with pytest.raises(InvalidArgument, match="delta_per_analyst"):
        Budget(epsilon=3, delta=delta, items=9, questions=9, epsilon_per_analyst=cap, delta_per_analyst=delta_cap)


@pytest.mark.parametrize(
    "budget",
    [
        Budget(epsilon="1/3", items=2, questions=1),
        Budget(epsilon=3, delta="1e-6", items=9, questions=9, epsilon_per_analyst=1, delta_per_analyst="1e-7"),
    ],
)
def test_totals_survive_json(budget: Budget) -> None:
    totals = Totals.of(budget)
    assert Totals.from_dict(json.loads(json.dumps(totals.to_dict()))) == totals


def test_what_covers_what() -> None:
    def totals(**changes: object) -> Totals:
        given = {"epsilon": 1, "delta": "1e-6", "items": 9, "questions": 9, **changes}
        return Totals.of(Budget(**given))  # type: ignore[arg-type]

    base = totals()
    assert base.cover(base)
    assert totals(epsilon=2).cover(base)
    assert totals(items=1).cover(base)
    assert not base.cover(totals(epsilon=2))
    assert not totals(epsilon=2, delta="1e-7").cover(base)
    assert not totals(delta=0).cover(base)
    assert not totals(epsilon_per_analyst=1).cover(base)
    assert totals(epsilon=2, epsilon_per_analyst=1).cover(totals(epsilon_per_analyst="0.5"))
    assert not totals(epsilon=2, epsilon_per_analyst="0.4").cover(totals(epsilon_per_analyst="0.5"))


def test_a_total_alone_has_a_plan_that_is_stored() -> None:
    alone = Budget(epsilon=3, delta="1e-6")
    assert alone == Budget(epsilon=3, delta="1e-6", items=100, questions=10)
    stored = alone.to_dict()
    assert (stored["items"], stored["questions"], stored["max_questions"]) == (100, 10, 100)
    assert alone.plan == Budget(epsilon=3, delta="1e-6", items=100, questions=10).plan
    assert Budget(epsilon=1, items=20).questions == 10
