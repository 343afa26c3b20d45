"""SizedTopK: for every function from noisy numbers of users to branches, the whole stays within epsilon and delta.

The exact divergence of what is released, numbers and answer, is computed on neighbouring tables of a small world. The
branches are the product's own, at the budgets that SizedTopK gives them. The worst function picks, at each noisy
number, the branch that tells the neighbours apart best there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from scipy.optimize import brentq
from scipy.special import ndtr

from podium.histogram import Histogram
from podium.mechanisms import SizedTopK
from podium.mechanisms.by_sizes.sized_topk import SizedBranch
from podium.privacy import best_bound

EPSILON, DELTA = Fraction(2), Fraction(1, 20)
MECHANISM = SizedTopK(1, EPSILON, DELTA, k_bar=2, max_items_per_user=1)
CELLS = 8
"""Into which the noise between the two numbers of users is cut: the ratio changes there, and nowhere else."""
SLACK = 1e-9

Table = dict[str, int]
"""How many users have each item; everybody has one."""


def tables(users: int) -> list[Table]:
    return [{"a": a, "b": users - a} for a in range(users + 1)]


def neighbours(users: int) -> list[tuple[Table, Table]]:
    more = [(table, {**table, item: table[item] + 1}) for table in tables(users) for item in table]
    new = [(table, {**table, "c": 1}) for table in tables(users)]
    return [*more, *new]


def answer(branch: Any, table: Table) -> dict[Any, float]:
    weights = branch.first_weights
    unit = 1 if weights is None else weights.weight(1)
    counts = {item: unit * count for item, count in table.items() if count}
    law: dict[Any, float] = branch.distribution(Histogram(counts, known=False))
    return law


def hockey_stick(here: dict[Any, float], there: dict[Any, float], epsilon: float) -> float:
    factor = math.exp(epsilon)
    return sum(max(0.0, chance - factor * there.get(outcome, 0.0)) for outcome, chance in here.items())


def cells(users: int, other: int, rate: float) -> list[tuple[float, float]]:
    """The chances of each part of the noisy number of users, here and there; elsewhere the ratio is constant."""
    low, high = sorted((users, other))
    edges = [low + place * (high - low) / CELLS for place in range(CELLS + 1)]

    def below(x: float, middle: float) -> float:
        size = math.exp(-rate * abs(x - middle)) / 2
        return size if x < middle else 1 - size

    parts = []
    for left, right in itertools.pairwise((-math.inf, *edges, math.inf)):
        chances = [
            (1.0 if right == math.inf else below(right, n)) - (0.0 if left == -math.inf else below(left, n))
            for n in (users, other)
        ]
        parts.append((chances[0], chances[1]))
    return parts


def worst_delta(branches: tuple[SizedBranch, ...], here: Table, there: Table, rate: float) -> float:
    """The divergence at EPSILON for the worst function from noisy numbers to branches."""
    laws = [(answer(branch, here), answer(branch, there)) for branch in branches]
    parts = cells(sum(here.values()), sum(there.values()), rate)
    return sum(
        p * max(hockey_stick(one, other, float(EPSILON) - math.log(p / q)) for one, other in laws) for p, q in parts
    )


def branches_of(mechanism: SizedTopK) -> tuple[SizedBranch, ...]:
    """Those whose exact distribution is known; rounds are one discovery and more that is paid from the same budget."""
    return mechanism.limited_domain, mechanism.laplace, mechanism.one_discovery(1)


def test_no_decision_can_use_more_than_was_paid_for() -> None:
    rate, branches = float(MECHANISM.epsilon_for_sizes), branches_of(MECHANISM)
    found = max(
        worst_delta(branches, *pair, rate)
        for users in (2, 3, 4)
        for table in neighbours(users)
        for pair in (table, table[::-1])
    )
    assert 0.5 * float(DELTA) < found <= float(DELTA) + SLACK


def test_branches_that_do_not_leave_room_for_the_sizes_are_caught() -> None:
    """The mistake: each branch uses all of epsilon, and the numbers of users come for free."""
    careless = SizedTopK(1, EPSILON * 20 / 19, DELTA, k_bar=2, max_items_per_user=1)
    assert careless.epsilon_of_branch == EPSILON
    branches = branches_of(careless)
    rate = float(2 * EPSILON / 20)
    found = max(
        worst_delta(branches, *pair, rate)
        for users in (2, 3, 4)
        for table in neighbours(users)
        for pair in (table, table[::-1])
    )
    assert found > 1.02 * float(DELTA)


def profile(mu: float, hidden: float) -> Callable[[float], float]:
    def at(epsilon: float) -> float:
        return float(
            hidden + (1 - hidden) * (ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))
        )

    return at


@pytest.mark.parametrize(("epsilon", "delta", "excess"), [(1.0, 1e-6, 1.19), (0.1, 1e-6, 1.16), (3.0, 1e-9, 1.22)])
def test_the_budget_of_one_mechanism_is_wrong_for_several(epsilon: float, delta: float, excess: float) -> None:
    """Section 2 of the proof: mu calibrated as if rounds followed every outcome of the sizes."""
    first = epsilon / 20
    likely = math.exp(first) / (1 + math.exp(first))

    def alone(mu: float) -> float:
        f = profile(mu, delta / 2)
        return likely * f(epsilon - first) + (1 - likely) * f(epsilon + first) - delta

    naive = profile(brentq(alone, epsilon / 40, epsilon), delta / 2)
    # Randomised response for the sizes; rounds after its likely outcome, an (epsilon - first, delta) branch otherwise.
    assert likely * naive(epsilon - first) + (1 - likely) * delta > excess * delta
    mechanism = SizedTopK(3, str(epsilon), str(delta))
    shipped = profile(float(mechanism.rounds(8).mu_squared) ** 0.5, delta / 2)
    assert shipped(epsilon - first) <= delta * (1 + 1e-6)
    assert shipped(epsilon - first) > 0.999 * delta


@pytest.mark.parametrize("k", [1, 3, 30, 100])
def test_every_branch_is_within_its_part(k: int) -> None:
    mechanism = SizedTopK(k, 1, "1e-6")
    for branch in mechanism.branches:
        # Searched anew over all theorems, from the events that the branch may cost.
        assert best_bound(branch.worst_case, mechanism.delta).epsilon <= mechanism.epsilon_of_branch
    assert mechanism.epsilon_for_sizes + mechanism.epsilon_of_branch == mechanism.epsilon
