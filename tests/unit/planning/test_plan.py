"""Plans: from public facts to a mechanism that keeps its promise, and says what to expect."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from podium.errors import InvalidArgument
from podium.estimates import MeasureCounts, MeasureTogether
from podium.histogram import Histogram
from podium.mechanisms import (
    AdaptiveTopK,
    ExponentialTopK,
    LimitedDomain,
    NoisyTopK,
    RisingTopK,
    SizedKnownTopK,
    SizedTopK,
    TruncatedLaplaceHistogram,
)
from podium.mechanisms.base import Mechanism
from podium.planning.facts import MAX_K, MAX_K_BAR, MAX_MAX_ITEMS_PER_USER, MECHANISMS, Facts
from podium.planning.question_budget import QuestionBudget, RoundsBudget, divided_budget, question_budget
from podium.planning.strategy import Strategy, strategy_for
from podium.privacy import Guarantee, LaplaceNoise, Theorem, best_bound, total, worst_case
from podium.release import BOTTOM

APPROXIMATE = {"epsilon": 1, "delta": "1e-6"}
SMALL = {"epsilon": "0.1", "delta": "1e-9"}
PURE = {"epsilon": 1, "delta": 0}


def planned(facts: Facts, **budget: Any) -> Strategy:
    return strategy_for(facts, question_budget(facts, **budget))


NAMES = ", ".join(map(repr, MECHANISMS))


@pytest.mark.parametrize("k", [1, 2, 10, 40])
@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize(
    ("domain_size", "budget"),
    [(size, budget) for size in (None, 1000) for budget in (APPROXIMATE, SMALL, PURE) if size or budget is not PURE],
)
def test_a_plan_keeps_its_promise(k: int, counts: bool, domain_size: int | None, budget: dict[str, Any]) -> None:
    plan = planned(Facts(k=k, counts=counts, domain_size=domain_size), **budget)
    epsilon, delta = Fraction(budget["epsilon"]), Fraction(str(budget["delta"]))
    assert (plan.guarantee.epsilon(), plan.guarantee.cost.delta) == (epsilon, delta)
    # The bound is searched anew over all theorems, from the events that are reserved.
    bound = best_bound(plan.worst_case, budget["delta"])
    assert bound.epsilon <= epsilon
    # And little is left on the table, but for the split between choosing and counting.
    assert bound.epsilon >= epsilon * Fraction("0.85" if counts else "0.999")
    if plan.theorem is Theorem.ZCDP or plan.theorem is Theorem.BASIC:
        assert total(plan.worst_case).epsilon(delta=delta) <= epsilon


def test_the_mechanism_follows_from_domain_and_kind() -> None:
    unknown = planned(Facts(k=2, max_items_per_user=2, k_bar=50), **APPROXIMATE)
    assert isinstance(unknown.mechanism, LimitedDomain)
    assert (unknown.mechanism.k, unknown.mechanism.k_bar, unknown.mechanism.max_items_per_user) == (2, 50, 2)
    assert unknown.mechanism.delta == unknown.delta_per_call > 0
    short = planned(Facts(k=2, max_items_per_user=2), **APPROXIMATE)
    assert short.mechanism == SizedTopK(2, 1, "1e-6", max_items_per_user=2)
    sized = planned(Facts(k=3, max_items_per_user=2), **APPROXIMATE)
    assert sized.mechanism == SizedTopK(3, 1, "1e-6", max_items_per_user=2)
    assert (sized.rows, sized.measure, sized.epsilon_per_item) == (None, None, None)
    single = planned(Facts(k=1, max_items_per_user=1), **APPROXIMATE)
    assert single.mechanism == TruncatedLaplaceHistogram(epsilon=1, delta="1e-6", max_items_per_user=1, k=1)
    assert isinstance(planned(Facts(k=1, domain_size=9), **APPROXIMATE).mechanism, RisingTopK)
    assert planned(Facts(k=2, domain_size=9), **APPROXIMATE).mechanism == SizedKnownTopK(2, 1, "1e-6", domain_size=9)
    assert isinstance(planned(Facts(k=3, domain_size=9, counts=True), **APPROXIMATE).mechanism, ExponentialTopK)
    pure = planned(Facts(k=9, domain_size=9), **PURE)
    assert pure.mechanism == NoisyTopK(9, 1, noise="exponential")
    assert pure.rows is None
    assert pure.delta_per_call == 0
    assert pure.pure


@pytest.mark.parametrize(
    ("facts", "rounds"),
    [
        ({"k": 2, "counts": True}, False),
        ({"k": 3, "counts": True}, True),
        ({"k": MAX_K, "counts": True}, True),
        ({"k": 300, "max_items_per_user": 5, "counts": True}, True),
        ({"k": 300, "k_bar": 3000}, False),
        ({"k": 300, "mechanism": "limited-domain"}, False),
        ({"k": 3, "mechanism": "adaptive"}, True),
        ({"k": 300, "domain_size": 1000}, False),
    ],
)
def test_lists_of_unknown_items_with_counts_are_found_in_rounds(facts: dict[str, Any], rounds: bool) -> None:
    known = Facts(**facts)
    plan = planned(known, **APPROXIMATE)
    assert known.adaptive is isinstance(plan.mechanism, AdaptiveTopK) is rounds
    if not isinstance(plan.mechanism, AdaptiveTopK):
        return
    assert (plan.rows, plan.measure, plan.theorem) == (None, None, Theorem.GAUSSIAN)
    assert (plan.mechanism.k, plan.mechanism.counts) == (known.k, known.counts)
    assert plan.mechanism.max_items_per_user == (known.max_items_per_user or 1000)


@pytest.mark.parametrize(
    ("facts", "sized", "in_ledger"),
    [
        ({"k": 2}, SizedTopK, LimitedDomain),
        ({"k": 3}, SizedTopK, AdaptiveTopK),
        ({"k": 10}, SizedTopK, AdaptiveTopK),
        ({"k": MAX_K}, SizedTopK, AdaptiveTopK),
        ({"k": 300, "max_items_per_user": 5}, SizedTopK, AdaptiveTopK),
        ({"k": 300, "max_items_per_user": 1}, TruncatedLaplaceHistogram, AdaptiveTopK),
        ({"k": 1, "max_items_per_user": 1}, TruncatedLaplaceHistogram, LimitedDomain),
        ({"k": 3, "k_bar": 50}, LimitedDomain, LimitedDomain),
        ({"k": 3, "mechanism": "limited-domain"}, LimitedDomain, LimitedDomain),
        ({"k": 1, "mechanism": "adaptive", "max_items_per_user": 1}, AdaptiveTopK, AdaptiveTopK),
    ],
)
def test_a_ledger_pays_for_no_numbers_of_users(facts: dict[str, Any], sized: type, in_ledger: type) -> None:
    known = Facts(**facts)
    assert type(planned(known, **APPROXIMATE).mechanism) is sized
    assert type(strategy_for(known, divided_budget(known, epsilon=1, delta="1e-6")).mechanism) is in_ledger


def test_what_rounds_may_use_does_not_depend_on_k() -> None:
    short, long = (planned(Facts(k=k, mechanism="adaptive"), **APPROXIMATE).mechanism for k in (11, 5000))
    assert isinstance(short, AdaptiveTopK)
    assert isinstance(long, AdaptiveTopK)
    assert (short.mu_squared, short.delta) == (long.mu_squared, long.delta)


def test_an_allowance_of_a_ledger_is_kept() -> None:
    facts = Facts(k=50, counts=True)
    plan = strategy_for(
        facts, RoundsBudget(mu_squared=Fraction(1, 8), delta=Fraction(1, 10**7), per_item=Fraction(1, 20))
    )
    assert total(plan.worst_case).rho == Fraction(1, 16)
    assert (plan.epsilon_per_item, plan.delta_per_call) == (Fraction(1, 20), Fraction(1, 10**7))
    assert plan.guarantee == total(plan.worst_case)


def test_counts_take_half() -> None:
    gaussian = planned(Facts(k=5, k_bar=1000, counts=True), **APPROXIMATE)
    assert isinstance(gaussian.measure, MeasureTogether)
    assert gaussian.measure.items == 5
    for_counts = total(gaussian.measure.worst_case(5)).rho
    for_items = total(gaussian.mechanism.worst_case).rho
    assert for_counts is not None
    assert for_items is not None
    assert float(for_counts / for_items) == pytest.approx(1, abs=0.001)
    laplace = planned(Facts(k=5, counts=True, domain_size=9), **PURE)
    assert laplace.worst_case[1:] == (LaplaceNoise("0.1", discrete=True),) * 5
    assert laplace.mechanism == NoisyTopK(5, "0.5", noise="exponential")


def test_very_short_lists_with_counts_add_up_epsilons() -> None:
    """k=1 at epsilon=1: a selection with 1/2 and noise of 2.8, where sums of rho give 0.303 and 6.6."""
    for k, simpler in [(1, True), (2, True), (3, False), (4, False)]:
        plan = planned(Facts(k=k, counts=True), **APPROXIMATE)
        assert isinstance(plan.measure, MeasureCounts) is simpler
        assert plan.guarantee == Guarantee.of(1, "1e-6")
        if simpler:
            cost = worst_case(plan.worst_case)
            assert (cost.epsilon, cost.delta) == (Fraction(1), Fraction(1, 10**6))
            assert (plan.theorem, plan.epsilon_per_item) == (Theorem.BASIC, Fraction(1, 2 * k))
            assert plan.worst_case[-k:] == (LaplaceNoise(Fraction(1, 2 * k), discrete=True),) * k


def test_a_ledger_that_adds_up_rho_does_not_add_up_epsilons() -> None:
    facts = Facts(k=1, counts=True)
    alone, summed = (budget(facts, epsilon=1, delta="1e-6") for budget in (question_budget, divided_budget))
    assert isinstance(summed, QuestionBudget)
    assert summed.sigma is not None
    assert (
        total(strategy_for(facts, summed).worst_case).cost.rho < total(strategy_for(facts, alone).worst_case).cost.rho
    )


@pytest.mark.parametrize(("k", "rows"), [(1, 1000), (10, 1000), (100, 1000), (101, 1010), (MAX_K, 100_000)])
def test_k_bar_is_generous(k: int, rows: int) -> None:
    assert Facts(k=k).rows == rows


def test_k_bar_may_be_stated() -> None:
    plan = planned(Facts(k=3, k_bar=7), **APPROXIMATE)
    assert isinstance(plan.mechanism, LimitedDomain)
    assert plan.rows == plan.mechanism.k_bar == 7


def test_numbers_of_other_libraries_become_pythons_own() -> None:
    facts = Facts(k=np.int64(3), k_bar=np.int32(9), max_items_per_user=np.uint8(2))  # type: ignore[arg-type]
    assert [type(value) for value in (facts.k, facts.k_bar, facts.max_items_per_user)] == [int, int, int]


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"k": 0}, "k=0 is not valid. Allowed: an integer, 1 or more."),
        ({"k": 1.0}, "k=1.0 is not valid. Allowed: an integer, 1 or more."),
        ({"k": True}, "k=True is not valid. Allowed: an integer, 1 or more."),
        ({"k": MAX_K + 1}, "k=10001 is not valid. Allowed: an integer from 1 to 10000."),
        ({"k": 5, "k_bar": 4}, "k_bar=4 is not valid. Allowed: an integer from k=5 to 1000000."),
        (
            {"k": 5, "k_bar": MAX_K_BAR + 1},
            "k_bar=1000001 is not valid. Allowed: an integer from k=5 to 1000000.",
        ),
        ({"k": 5, "k_bar": 0}, "k_bar=0 is not valid. Allowed: an integer, 1 or more."),
        (
            {"k": 5, "max_items_per_user": 0},
            "max_items_per_user=0 is not valid. Allowed: an integer, 1 or more.",
        ),
        (
            {"k": 5, "max_items_per_user": MAX_MAX_ITEMS_PER_USER + 1},
            "max_items_per_user=1000001 is not valid. Allowed: an integer from 1 to 1000000.",
        ),
        ({"k": 5, "counts": 1}, "counts=1 is not valid. Allowed: True or False."),
        ({"k": 5, "domain_size": 0}, "domain_size=0 is not valid. Allowed: an integer, 1 or more."),
        ({"k": 5, "domain_size": 9.5}, "domain_size=9.5 is not valid. Allowed: an integer, 1 or more."),
        ({"k": 5, "domain_size": 4}, "k=5 is not valid. Allowed: at most 4, the size of the domain."),
        (
            {"k": 5, "domain_size": 9, "k_bar": 7},
            "k_bar=7 is not valid. Allowed: None where the domain is known: all of it competes.",
        ),
        ({"k": 5, "mechanism": "rounds"}, f"mechanism='rounds' is not valid. Allowed: {NAMES}."),
        ({"k": 5, "mechanism": None}, f"mechanism=None is not valid. Allowed: {NAMES}."),
        (
            {"k": 5, "domain_size": 9, "mechanism": "limited-domain"},
            "mechanism='limited-domain' is not valid. Allowed: 'auto' or 'adaptive' where the domain is known.",
        ),
        ({"k": 5, "mechanism": "set"}, f"mechanism='set' is not valid. Allowed: {NAMES}."),
        (
            {"k": 5, "k_bar": 7, "mechanism": "adaptive"},
            (
                "k_bar=7 is not valid. Allowed: None with mechanism='adaptive': all items compete. "
                "mechanism='limited-domain' has a k_bar."
            ),
        ),
    ],
)
def test_facts_beyond_the_public_limits(facts: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Facts(**facts)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        (
            {"epsilon": 1, "delta": 0},
            (
                "delta=0 is not valid. Allowed: a number with 0 < value < 1. Delta is the probability that the "
                "bound of epsilon fails. Unless the items are known (--domain), it must be above 0, and well below one "
                "over the number of users: such as 1e-6."
            ),
        ),
        ({"epsilon": 0, "delta": "1e-6"}, "epsilon=0 is not valid. Allowed: a number above 0."),
        ({"epsilon": "-1", "delta": "1e-6"}, "epsilon='-1' is not valid. Allowed: a number above 0."),
        ({"epsilon": 1, "delta": 1}, "delta=1 is not valid. Allowed: a number with 0 <= value < 1."),
        (
            {"epsilon": "a", "delta": 0},
            (
                "epsilon='a' is not valid. Allowed: an int, Fraction, Decimal, str or finite float. "
                "Write a number like '0.1' or '1e-6'."
            ),
        ),
    ],
)
def test_budgets_that_cannot_be(budget: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        question_budget(Facts(k=5), **budget)
    assert str(caught.value) == message


UNKNOWN_WHY = (
    "The items are not known beforehand, so only the true top 1000 compete, against a threshold that hides which items "
    "are there; only what passes is paid for."
)

SIZED_WHY = (
    "The items are not known beforehand, and what finds most of them depends on how many items users have: a twentieth "
    "of epsilon pays for noisy numbers of users by their number of items, and these choose."
)

ROUNDS_WHY = (
    "The items are not known beforehand: rounds of Gaussian noise find candidates, settle what is clearly in, and "
    "measure only the border again."
)

SENTENCES = [
    (
        planned(Facts(k=10, k_bar=1000), **APPROXIMATE),
        "LimitedDomain(k=10, k_bar=1000, epsilon_per_item=0.149046062, delta=5.001e-7, noise=gumbel, strict=False)",
        UNKNOWN_WHY,
        "rho 0.02776 and delta 5e-7 if k items come back; rho 0.002776 if none does",
        "With probability 0.95 k items come back, if the k-th has 181 more users than the item of rank 1001.",
    ),
    (
        planned(Facts(k=10, k_bar=1000, max_items_per_user=3, counts=True), **APPROXIMATE),
        (
            "LimitedDomain(k=10, k_bar=1000, epsilon_per_item=0.0957922102, delta=5.001e-7, max_items_per_user=3, "
            "noise=gumbel, strict=False), then gaussian noise of scale 10.57 on each count and of scale 3.279 on all "
            "of them together, if k come back"
        ),
        UNKNOWN_WHY,
        "rho 0.02294 and delta 5e-7 if k items come back; rho 0.001147 if none does",
        "With probability 0.95 k items come back, if the k-th has 220 more users than the item of rank 1001.",
    ),
    (
        planned(Facts(k=100), **APPROXIMATE),
        "SizedTopK(k=100, epsilon=1, delta=1e-6, k_bar=1000)",
        SIZED_WHY,
        "epsilon 1 and delta 1e-6, whatever comes out",
        "An item is found if it has well over 15 users who have no other item, or well over 81 who have about ten.",
    ),
    (
        planned(Facts(k=2, max_items_per_user=1), **APPROXIMATE),
        "TruncatedLaplaceHistogram(k=2, epsilon=1, delta=1e-6, max_items_per_user=1)",
        (
            "The items are not known beforehand, and each user counts with one: Laplace noise on every count has the "
            "lowest threshold there is."
        ),
        "epsilon 1 and delta 1e-6, whatever comes out",
        "An item is found if it has well over 14 users.",
    ),
    (
        planned(Facts(k=100, mechanism="adaptive"), **APPROXIMATE),
        "AdaptiveTopK(k=100, mu_squared=0.05249, delta=5e-7, max_items_per_user=1000, counts=False)",
        ROUNDS_WHY,
        "rho 0.02625 and delta 5e-7; less rho if the list is settled before all rounds are run",
        "An item is found if it has well over 25 users who have few other items, or well over 79 who have about ten.",
    ),
    (
        planned(Facts(k=100, counts=True, max_items_per_user=20), **APPROXIMATE),
        "AdaptiveTopK(k=100, mu_squared=0.05249, delta=5e-7, max_items_per_user=20, counts=True)",
        ROUNDS_WHY,
        "rho 0.02625 and delta 5e-7; less rho if nothing is found",
        "An item is found if it has well over 33 users who have few other items, or well over 103 who have about ten.",
    ),
    (
        planned(Facts(k=1, domain_size=100), **APPROXIMATE),
        "RisingTopK(k=1, unit=0.166929432, monotone=True)",
        (
            "The domain is known: exponential mechanisms in turn return all k items in order, "
            "and the last ones, which are the hardest to tell apart, get the most of the budget."
        ),
        "rho 0.1237, whatever comes out",
        "Every item returned has, with probability 0.95, at most 8 fewer users than the k-th.",
    ),
    (
        planned(Facts(k=10, domain_size=10**12, counts=True), **PURE),
        (
            "NoisyTopK(k=10, epsilon=0.5, noise=exponential, gaps=True, monotone=True), "
            "then laplace noise of scale 20 on each count"
        ),
        "The domain is known and the budget is pure: one round of exponential noise gives order and gaps.",
        "epsilon 1, whatever comes out",
        "Every item returned has, with probability 0.95, at most 659 fewer users than the k-th.",
    ),
]


@pytest.mark.parametrize(("plan", "described", "why", "cost", "reach"), SENTENCES)
def test_a_plan_says_what_and_why(plan: Strategy, described: str, why: str, cost: str, reach: str) -> None:
    assert plan.describe() == described
    assert plan.why == why
    assert plan.cost_sentence() == cost
    assert plan.reach_sentence == reach


def test_the_reach_of_an_unknown_domain_holds() -> None:
    """At the stated distance k items come back with probability 0.95 or more, by the exact law."""
    plan = planned(Facts(k=3, k_bar=4), epsilon=3, delta="1e-3")
    bar = 2
    counts = dict.fromkeys("abc", bar + math.ceil(plan.reach)) | {"d": bar, "e": bar}
    assert isinstance(plan.mechanism, LimitedDomain)
    law = plan.mechanism.distribution(Histogram(counts))
    complete = sum(chance for outcome, chance in law.items() if BOTTOM not in outcome)
    assert complete >= 0.95
    # The bound is not far off: at half the distance above the threshold it does not hold.
    near = bar + math.floor(plan.mechanism.margin)
    law = plan.mechanism.distribution(Histogram(dict.fromkeys("abc", near) | {"d": bar, "e": bar}))
    assert sum(chance for outcome, chance in law.items() if BOTTOM not in outcome) < 0.95


@pytest.mark.parametrize("budget", [PURE, {"epsilon": 1, "delta": "1e-3"}])
def test_the_reach_of_a_known_domain_holds(budget: dict[str, Any]) -> None:
    plan = planned(Facts(k=1, domain_size=5), **budget)
    assert isinstance(plan.mechanism, Mechanism)
    far = math.ceil(plan.reach) + 1
    law = plan.mechanism.distribution(Histogram({"a": far, "b": 0, "c": 0, "d": 0, "e": 0}))
    assert law[("a",)] >= 0.95
