"""SizedKnownTopK and SharedVoteTopK on small worlds, exactly.

For every function from the noisy gap and noisy numbers of users to branches, these and the answer together stay within
epsilon and delta; the branches are the product's own, at the budgets that SizedKnownTopK gives them. A user has any
items of the domain, so that the shares of votes are those of users with one, two and three items.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from tests.support.distributions import assert_three_way

from podium.histogram import Histogram
from podium.mechanisms import NoisyTopK, RisingTopK, SharedVoteTopK, SizedKnownTopK, Weights
from podium.mechanisms.by_sizes.clear_gap import gap_after
from podium.planning.memory_table import PairsReader
from podium.privacy import best_bound
from podium.randomness.replay import ReplayableBits

EPSILON, DELTA = Fraction(2), Fraction(1, 20)
ITEMS = 3
SETS = [chosen for size in range(1, ITEMS + 1) for chosen in itertools.combinations(range(ITEMS), size)]
"""What a user may have."""
SLACK = 1e-9
CELLS = 8

Table = tuple[tuple[int, ...], ...]
"""The items of each user."""


def tables(users: int) -> list[Table]:
    return list(itertools.combinations_with_replacement(SETS, users))


def neighbours() -> list[tuple[Table, Table]]:
    return [(table, (*table, own)) for users in (1, 2) for table in tables(users) for own in SETS]


def sums(table: Table, weights: Weights) -> Histogram:
    totals = dict.fromkeys(range(ITEMS), 0)
    for own in table:
        for item in own:
            totals[item] += weights.weight(len(own))
    return Histogram(totals)


def answer(branch: Any, table: Table) -> dict[Any, float]:
    weights = branch.weights if isinstance(branch, SharedVoteTopK) else Weights.bounded(ITEMS)
    found: dict[Any, float] = branch.distribution(sums(table, weights))
    return found


def hockey_stick(here: dict[Any, float], there: dict[Any, float], epsilon: float) -> float:
    return sum(max(0.0, chance - math.exp(epsilon) * there.get(outcome, 0.0)) for outcome, chance in here.items())


def cells(users: int, other: int, rate: float) -> list[tuple[float, float]]:
    """The chances of each part of one noisy number of users, here and there; elsewhere the ratio is constant."""
    if users == other:
        return [(1.0, 1.0)]
    low, high = sorted((users, other))
    edges = [low + place * (high - low) / CELLS for place in range(CELLS + 1)]

    def below(x: float, middle: float) -> float:
        size = math.exp(-rate * abs(x - middle)) / 2 if math.isfinite(x) else 0.0
        return size if x < middle else 1 - size

    return [
        (below(right, users) - below(left, users), below(right, other) - below(left, other))
        for left, right in itertools.pairwise((-math.inf, *edges, math.inf))
    ]


def gap(k: int, table: Table) -> int:
    return gap_after(sums(table, Weights.bounded(ITEMS)), k)


def worst_delta(mechanism: SizedKnownTopK, here: Table, there: Table) -> float:
    """The divergence at EPSILON for the worst functions; one user more moves one of the numbers of users, by 1.

    Branches are those whose exact distribution is known: rounds begin with one ranking, and are mu-Gaussian as a whole.
    """
    in_turn, laplace = ((answer(b, here), answer(b, there)) for b in (mechanism.in_turn, mechanism.laplace))
    sizes = cells(len(here), len(there), float(mechanism.epsilon_for_sizes))

    def within(p: float, q: float, *laws: tuple[dict[Any, float], dict[Any, float]]) -> float:
        return p * max(hockey_stick(one, other, float(EPSILON) - math.log(p / q)) for one, other in laws)

    def after(p: float, q: float) -> float:
        asked = sum(within(p * r, q * s, in_turn, laplace) for r, s in sizes)
        return max(within(p, q, in_turn), asked)

    if not mechanism.asks_gap:
        return sum(within(r, s, in_turn, laplace) for r, s in sizes)
    first, second = (gap(mechanism.k, table) for table in (here, there))
    return sum(after(p, q) for p, q in cells(first, second, float(mechanism.epsilon_for_gap)))


def worst(mechanism: SizedKnownTopK) -> float:
    return max(worst_delta(mechanism, *side) for pair in neighbours() for side in (pair, pair[::-1]))


@pytest.mark.parametrize("delta", [0, DELTA])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_no_decision_can_use_more_than_was_paid_for(k: int, delta: Any) -> None:
    assert worst(SizedKnownTopK(k, EPSILON, delta, domain_size=ITEMS)) <= float(delta) + SLACK


@pytest.mark.parametrize(("k", "whole"), [(1, Fraction(16, 15)), (ITEMS, Fraction(20, 19))])
def test_branches_that_do_not_leave_room_for_what_is_asked_are_caught(k: int, whole: Fraction) -> None:
    """The mistake: each branch uses all of epsilon, and the gap and the numbers of users come for free."""
    careless = SizedKnownTopK(k, EPSILON * whole, 0, domain_size=ITEMS)
    assert (careless.asks_gap, careless.epsilon_of_branch) == (k < ITEMS, EPSILON)
    assert worst(careless) > 0.002


@pytest.mark.parametrize("k", [1, 2, 3])
def test_one_user_moves_a_gap_by_one(k: int) -> None:
    assert {abs(gap(k, here) - gap(k, there)) for here, there in neighbours()} == {0, 1}
    # The control: a user who is replaced lowers one count and raises another.
    replaced = [((*rest, one), (*rest, other)) for rest in tables(2) for one in SETS for other in SETS]
    assert max(abs(gap(1, here) - gap(1, there)) for here, there in replaced) == 2


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("epsilon", ["1/2", 2])
def test_a_shared_vote_loses_no_more_than_epsilon(k: int, epsilon: Any) -> None:
    mechanism = SharedVoteTopK(k, epsilon, max_items_per_user=ITEMS)
    loss = max(
        abs(math.log(one[outcome] / other[outcome]))
        for here, there in neighbours()
        for one, other in [(answer(mechanism, here), answer(mechanism, there))]
        for outcome in one
    )
    assert 0.2 * float(mechanism.epsilon) < loss <= float(mechanism.epsilon) + SLACK


def test_a_whole_vote_for_each_item_is_caught() -> None:
    """The mistake: users have two items, and each counts 1. Two items of four rise, and both others must not."""
    mechanism = SharedVoteTopK(2, 1, max_items_per_user=2)
    unit = mechanism.weights.unit

    def loss(vote: int) -> float:
        one, other = (mechanism.distribution(Histogram({0: n, 1: n, 2: 5 * unit, 3: 5 * unit})) for n in (0, vote))
        return max(abs(math.log(one[outcome] / other[outcome])) for outcome in one)

    assert 0.9 < loss(mechanism.weights.weight(2)) <= 1 + SLACK
    assert loss(unit) > 1.3


@pytest.mark.parametrize("table", [((0,), (0, 1), (0, 1, 2)), ((2,), (2,), (1, 2))])
def test_draws_follow_the_exact_distribution(table: Table) -> None:
    bits = ReplayableBits(len(table))
    mechanism = SharedVoteTopK(2, 1, max_items_per_user=ITEMS)
    users = [user for user, own in enumerate(table) for _ in own]
    reader = PairsReader(users, [item for own in table for item in own], bits=bits, domain_size=ITEMS)
    drawn = [reader.rank_known(mechanism).items for _ in range(3000)]
    assert_three_way(
        drawn,
        lambda scale: answer(SharedVoteTopK(2, 1 / scale, max_items_per_user=ITEMS), table),
        scale=Fraction(1),
    )


@pytest.mark.parametrize(("k", "delta"), [(4, "1e-6"), (100, "1e-9"), (30, 0)])
def test_every_branch_is_within_its_part(k: int, delta: Any) -> None:
    mechanism = SizedKnownTopK(k, 1, delta, domain_size=1000)
    for branch in mechanism.branches:
        # Searched anew over all theorems, from the events that the branch may cost.
        assert best_bound(branch.worst_case, mechanism.delta).epsilon <= mechanism.epsilon_of_branch
    assert mechanism.epsilon_for_gap + mechanism.epsilon_for_sizes + mechanism.epsilon_of_branch == mechanism.epsilon
    assert (mechanism.epsilon_for_gap > 0) == (k <= 10)
    assert isinstance(mechanism.in_turn, RisingTopK if mechanism.delta else NoisyTopK)
