"""Known domains: which mechanism for which public facts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from podium.mechanisms import ExponentialTopK, NoisyTopK, RefinedTopK, RisingTopK, SharedVoteTopK, SizedKnownTopK
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
        Facts(k=1, domain_size=50),
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


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"k": 4}, SizedKnownTopK),
        ({"k": 49, "max_items_per_user": 7}, SizedKnownTopK),
        ({"k": 1}, RisingTopK),
        ({"k": 2}, SizedKnownTopK),
        ({"k": 50}, RisingTopK),
        ({"k": 2, "max_items_per_user": 1}, SharedVoteTopK),
        ({"k": 1, "max_items_per_user": 1}, RisingTopK),
        ({"k": 20, "mechanism": "adaptive"}, RefinedTopK),
    ],
)
def test_users_sizes_are_paid_for_where_they_decide(facts: dict[str, Any], expected: type) -> None:
    known = Facts(domain_size=50, **facts)
    plan = strategy_for(known, question_budget(known, epsilon=1, delta="1e-6"))
    assert type(plan.mechanism) is expected
    if known.mechanism == "auto":
        pure = strategy_for(known, question_budget(known, epsilon=1, delta=0))
        assert type(pure.mechanism) is (NoisyTopK if expected is RisingTopK else expected)
        assert pure.guarantee.epsilon(delta=0) == 1
    assert plan.guarantee.epsilon(delta="1e-6") <= 1
    assert "table" in plan.paths


def test_plans_by_sizes_say_what_and_why() -> None:
    known = Facts(k=10, domain_size=100)
    plan = strategy_for(known, question_budget(known, epsilon=1, delta="1e-6"))
    assert plan.describe() == "SizedKnownTopK(k=10, epsilon=1, delta=1e-6, domain_size=100)"
    assert plan.why == (
        "The domain is known, and what tells its items apart best depends on how many of them users have: a twentieth "
        "of epsilon pays for noisy numbers of users by their number of items, and these choose."
        " Nothing of this is asked if an eightieth of epsilon shows that the k-th item is far ahead of the next."
    )
    assert plan.cost_sentence() == "epsilon 1 and delta 1e-6, whatever comes out"
    assert plan.reach_sentence == (
        "Every item returned has, with probability 0.95, at most 17 fewer users than the k-th if nobody has another "
        "item, and at most 82 fewer users than the k-th if items are chosen in turn."
    )
    assert "otherwise at most 7 times in rounds" in plan.paths
    stated = Facts(k=10, domain_size=100, max_items_per_user=1)
    plan = strategy_for(stated, question_budget(stated, epsilon=1, delta="1e-6"))
    assert plan.describe() == "SharedVoteTopK(k=10, epsilon=1, max_items_per_user=1)"
    assert plan.cost_sentence() == "epsilon 1, whatever comes out"
    assert plan.reach_sentence == (
        "Every item returned has, with probability 0.95, at most 16 fewer users than the k-th."
    )


def test_a_stated_bound_reaches_every_branch() -> None:
    known = Facts(k=20, domain_size=50, max_items_per_user=7)
    mechanism = strategy_for(known, question_budget(known, epsilon=1, delta="1e-6")).mechanism
    assert isinstance(mechanism, SizedKnownTopK)
    assert mechanism == SizedKnownTopK(20, 1, "1e-6", domain_size=50, max_items_per_user=7)
    assert mechanism.laplace.max_items_per_user == mechanism.rounds.max_items_per_user == 7


def test_counts_need_an_order() -> None:
    facts = Facts(k=3, domain_size=50, counts=True)
    assert isinstance(_planned(facts, epsilon=1, delta=0)[0], NoisyTopK)
    assert isinstance(_planned(facts, epsilon=1, delta="1e-6")[0], ExponentialTopK)


@pytest.mark.parametrize("ordered", [True, False])
def test_lists_with_counts_come_from_rounds_unless_they_are_very_short(ordered: bool) -> None:
    for k, expected in ((3, ExponentialTopK), (4, RefinedTopK), (10, RefinedTopK), (50, ExponentialTopK)):
        facts = Facts(k=k, domain_size=50, counts=True, ordered=ordered)
        assert isinstance(strategy_for(facts, question_budget(facts, epsilon=1, delta="1e-6")).mechanism, expected), k
    least = Facts(k=5, domain_size=50, counts=True, at_least=20)
    assert isinstance(_planned(least, epsilon=1, delta="1e-6")[0], ExponentialTopK)


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
    in_order = " No order was asked for; counts are measured too, so the items come in order."
    counted = Facts(k=3, domain_size=50, ordered=False, counts=True)
    mechanism, why = _planned(counted, epsilon=1, delta="1e-6")
    assert isinstance(mechanism, ExponentialTopK)
    assert why == f"{peeled}{in_order}"
    counted = Facts(k=5, domain_size=50, ordered=False, counts=True)
    why = strategy_for(counted, question_budget(counted, epsilon=1, delta="1e-6")).why
    assert why.startswith("The domain is known and counts are wanted: ")
    assert why.endswith(in_order)


@pytest.mark.parametrize(
    ("more", "theorem"),
    [({}, None), ({"counts": True}, Theorem.GAUSSIAN), ({"mechanism": "auto"}, None)],
)
def test_what_was_given_the_promise_has_a_theorem_of_its_own(more: dict[str, Any], theorem: Theorem | None) -> None:
    facts = Facts(**{"k": 5, "domain_size": 50, "ordered": False, **more})
    assert strategy_for(facts, question_budget(facts, epsilon=1, delta="1e-6")).theorem is theorem
