"""RefinedTopK: rounds for a known domain, in which items that nobody has take part."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from tests.support.distributions import FALSE_ALARM, assert_three_way, p_value
from tests.support.metering import prices
from tests.support.metering.meter import Meter, MeteredReader

from podium.errors import InvalidArgument
from podium.histogram import Histogram
from podium.mechanisms import RefinedTopK, Weights
from podium.mechanisms.gaussian.noisy_ranking import NoisyRanking
from podium.planning.facts import Facts
from podium.planning.memory_table import PairsReader
from podium.planning.question_budget import RoundsBudget, question_budget
from podium.planning.strategy import strategy_for
from podium.privacy import GaussianNoise, Theorem, gaussian_epsilon
from podium.randomness.replay import ReplayableBits
from podium.release import Receipt


def winners(counts: tuple[int, ...], sigma: float) -> dict[Hashable, float]:
    """The chance of each item to have the largest noisy count."""
    chances: dict[Hashable, float] = {}
    for i, own in enumerate(counts):
        others = [count for j, count in enumerate(counts) if j != i]

        def density(x: float, own: int = own, others: list[int] = others) -> float:  # fmt: skip
            return float(stats.norm.pdf(x, own, sigma) * np.prod(stats.norm.cdf(x, others, sigma)))

        chances[i] = integrate.quad(density, -20 * sigma, 20 * sigma + max(counts))[0]
    return chances


def test_items_that_nobody_has_take_part() -> None:
    counts, bits = (3, 0, 0, 1), ReplayableBits(1)
    stage = NoisyRanking(1, 2, Weights.bounded(1))
    histogram = Histogram.from_arrays(range(4), np.array(counts))
    drawn = [stage.release(histogram, bits=bits).items[0] for _ in range(3000)]
    assert_three_way(drawn, lambda sigma: winners(counts, float(sigma)), scale=Fraction(2))
    # Negative control: a ranking of what somebody has would be another one.
    observed = winners((3, 1), 2.0)
    assert p_value(drawn, {0: observed[0], 3: observed[1]}) < FALSE_ALARM


@pytest.mark.parametrize("cap", [1, 3, 7])
def test_no_user_moves_the_ranking_farther_than_is_charged(cap: int) -> None:
    weights = Weights.spread(cap)
    stage = NoisyRanking(2, 3, weights)
    for items in range(1, 8):
        table = PairsReader([0] * items, range(items), domain_size=7)
        moved = table._sums(np.ones(items, dtype=bool), weights).astype(float)
        assert float(np.sum(moved**2)) / weights.unit**2 <= 2 * 9 * stage.event.rho
        assert np.count_nonzero(moved) == min(items, cap)


def test_all_of_delta_is_for_the_conversion() -> None:
    mechanism = RefinedTopK.within(50, epsilon=1, delta="1e-6")
    assert mechanism.worst_case == (GaussianNoise(1, sensitivity_squared=mechanism.mu_squared),)
    assert mechanism.guarantee.cost.delta == 0
    assert gaussian_epsilon(mechanism.mu_squared, "1e-6") <= 1
    assert gaussian_epsilon(mechanism.mu_squared * Fraction(1001, 1000), "1e-6") > 1


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_k_items_always_come_back(counts: bool, seed: int) -> None:
    bits = ReplayableBits(seed)
    for pairs in ([], [(0, 3)], [(user, item) for item in range(6) for user in range(40 - 6 * item)]):
        users, items = ([pair[place] for pair in pairs] for place in (0, 1))
        table = PairsReader(users, items, bits=bits, domain_size=30)
        release = RefinedTopK(12, "1/2", counts=counts).release(table, bits=bits)
        assert len(set(release.items)) == len(release.items) == 12
        assert set(release.items) <= set(range(30))
        assert (release.values is not None) is counts
        assert release.paid.rho <= Fraction(1, 4)
        assert (release.paid.delta, release.complete) == (Fraction(0), True)


def test_with_much_to_spend_the_answer_is_the_true_one() -> None:
    bits = ReplayableBits(5)
    users, items = zip(*((user, item) for item in range(20) for user in range(300 - 10 * item)), strict=True)
    table = PairsReader(users, items, bits=bits, domain_size=50)
    release = RefinedTopK(8, 400, counts=True).release(table, bits=bits)
    assert release.items == tuple(range(8))


def test_the_planner_has_rounds_for_known_domains_on_request() -> None:
    facts = Facts(k=50, domain_size=4096, mechanism="adaptive", max_items_per_user=7)
    budget = question_budget(facts, epsilon=1, delta="1e-6")
    assert isinstance(budget, RoundsBudget)
    plan = strategy_for(facts, budget)
    assert plan.mechanism == RefinedTopK.within(50, epsilon=1, delta="1e-6", max_items_per_user=7)
    assert (plan.theorem, plan.delta_per_call, plan.rows) == (Theorem.GAUSSIAN, Fraction(0), None)
    assert "12 users" in plan.reach_sentence
    with pytest.raises(InvalidArgument, match="Rounds are Gaussian noise, which needs a delta"):
        question_budget(facts, epsilon=1, delta=0)
    with pytest.raises(InvalidArgument, match="'auto' or 'adaptive' where the domain is known"):
        Facts(k=50, domain_size=4096, mechanism="limited-domain")


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("mu_squared", ["1/500", 1, 30])
def test_every_round_of_a_known_domain_is_paid_for(
    counts: bool, mu_squared: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowd = [(user, item) for item in range(40) for user in range(7 * item, 7 * item + 410 - 8 * item)]
    mechanism = RefinedTopK(10, mu_squared, max_items_per_user=30, counts=counts)
    meter = Meter.install(monkeypatch, seed=1)
    users, items = zip(*crowd, strict=True)
    release = mechanism.release(MeteredReader(meter, PairsReader(users, items, domain_size=300)))
    assert meter.reads[0].what == "rank_known"
    owed = prices.due(meter)
    prices.check_receipt(release.paid, owed)
    prices.check_links(meter, prices.Facts(derived=True))
    assert len(release.items) == 10
    assert release.paid.rho <= mechanism.mu_squared / 2
    assert release.paid.delta == 0
    with pytest.raises(AssertionError):
        prices.check_receipt(Receipt(release.paid.events[1:]), owed)
