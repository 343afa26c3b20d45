"""Known domains: which mechanism for which public facts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from podium.mechanisms import ExponentialTopK, NoisyTopK, RisingTopK
from podium.mechanisms.tested import TestedTopK
from podium.planning.facts import Facts
from podium.planning.known_domain import choose_for_known_domain
from podium.planning.question_budget import QuestionBudget, question_budget
from podium.planning.strategy import strategy_for
from podium.privacy import Theorem


def _chosen(facts: Facts, budget: QuestionBudget) -> tuple[Any, str]:
    choice = choose_for_known_domain(facts, budget)
    return choice.mechanism, choice.why


def _planned(facts: Facts, **budget: Any) -> tuple[Any, str]:
    allowance = question_budget(facts, **budget)
    assert isinstance(allowance, QuestionBudget)
    return _chosen(facts, allowance)


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_a_question_with_a_budget_of_its_own_is_tested(delta: Any) -> None:
    mechanism, why = _planned(Facts(k=10, domain_size=4096, ordered=False), epsilon=1, delta=delta)
    assert mechanism == TestedTopK(10, 1, delta=delta)
    assert mechanism.guarantee.epsilon(delta=delta) == 1
    assert why == (
        "The domain is known: a small paid test tells whether the counts lie far enough apart "
        "to choose all 10 items at once, as a set; if not, they are chosen in turn, in order."
    )


@pytest.mark.parametrize(
    "facts",
    [
        Facts(k=1, domain_size=50, ordered=False),
        Facts(k=50, domain_size=50, ordered=False),
        Facts(k=5, domain_size=50),
    ],
)
def test_one_item_or_all_items_need_no_test(facts: Facts) -> None:
    assert isinstance(_planned(facts, epsilon=1, delta=0)[0], NoisyTopK)
    mechanism, why = _planned(facts, epsilon=1, delta="1e-6")
    assert mechanism == RisingTopK.within(facts.k, epsilon=1, delta="1e-6")
    assert why == (
        "The domain is known: exponential mechanisms in turn return all k items in order, "
        "and the last ones, which are the hardest to tell apart, get the most of the budget."
    )


def test_counts_need_an_order() -> None:
    facts = Facts(k=5, domain_size=50, counts=True)
    assert isinstance(_planned(facts, epsilon=1, delta=0)[0], NoisyTopK)
    assert isinstance(_planned(facts, epsilon=1, delta="1e-6")[0], ExponentialTopK)


def test_a_ledger_that_adds_up_rho_gets_selections_in_turn() -> None:
    facts = Facts(k=5, domain_size=50)
    in_turn = _chosen(facts, QuestionBudget(epsilon_per_item=Fraction(1, 10)))[0]
    assert in_turn == ExponentialTopK(5, "0.1")
    pure, why = _chosen(facts, QuestionBudget(epsilon_per_item=Fraction(1, 10), pure=True))
    assert pure == NoisyTopK(5, "0.5")
    assert why == "The domain is known and the budget is pure: one round of exponential noise gives order and gaps."


def test_who_asks_for_a_set_is_told_why_it_comes_in_order() -> None:
    peeled = "The domain is known: exponential mechanisms in turn return all k items at the lowest rho."
    noisy = "The domain is known and the budget is pure: one round of exponential noise gives order and gaps."
    wanted = Facts(k=5, domain_size=50, ordered=False)
    assert _chosen(wanted, QuestionBudget(epsilon_per_item=Fraction(1, 10))) == (
        ExponentialTopK(5, "0.1"),
        (
            f"{peeled} No order was asked for; where a ledger adds up rho a set would be hardly better, "
            "so the order is kept."
        ),
    )
    assert _chosen(wanted, QuestionBudget(epsilon_per_item=Fraction(1, 10), pure=True)) == (
        NoisyTopK(5, "0.5"),
        f"{noisy} No order was asked for; a ledger keeps it, so that a longer list answers a shorter one too.",
    )
    counted = Facts(k=5, domain_size=50, ordered=False, counts=True)
    mechanism, why = _planned(counted, epsilon=1, delta="1e-6")
    assert isinstance(mechanism, ExponentialTopK)
    assert why == f"{peeled} No order was asked for; counts are measured too, so the items come in order."


@pytest.mark.parametrize(
    ("more", "theorem"),
    [({}, None), ({"counts": True}, Theorem.ZCDP), ({"mechanism": "auto"}, None)],
)
def test_what_was_given_the_promise_has_a_theorem_of_its_own(more: dict[str, Any], theorem: Theorem | None) -> None:
    facts = Facts(**{"k": 5, "domain_size": 50, "ordered": False, **more})
    assert strategy_for(facts, question_budget(facts, epsilon=1, delta="1e-6")).theorem is theorem
