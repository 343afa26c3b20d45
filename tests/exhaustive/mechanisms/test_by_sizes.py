"""SizedTopK: for every function from noisy numbers to branches, the whole stays within epsilon and delta.

The exact divergence of what is released, numbers and answer, is computed on neighbouring tables of a small world. The
branches are the product's own, at the budgets that SizedTopK gives them. The worst function picks, at each noisy
number of users, the branch that tells the neighbours apart best there; and at each noisy lead of a short list, whether
numbers of users are asked for.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from scipy.optimize import brentq
from scipy.special import ndtr

from podium.histogram import Histogram
from podium.mechanisms import SizedTopK
from podium.mechanisms.by_sizes.clear_gap import gap_after
from podium.mechanisms.by_sizes.sized_topk import SizedBranch
from podium.privacy import best_bound

EPSILON, DELTA = Fraction(2), Fraction(1, 20)
KS = (1, 3)
"""A list that asks for its lead first, and one that does not."""
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


def lead(mechanism: SizedTopK, table: Table) -> int:
    counts = {item: count for item, count in table.items() if count}
    return gap_after(Histogram(counts, known=False), mechanism.k, mechanism.k_bar)


def worst_delta(mechanism: SizedTopK, here: Table, there: Table) -> float:
    """The divergence at EPSILON for the worst functions; one user more moves one of the numbers of users, by 1."""
    at_once, *laws = (
        (answer(branch, here), answer(branch, there))
        for branch in (mechanism.limited_domain_at_once, *branches_of(mechanism))
    )
    parts = cells(sum(here.values()), sum(there.values()), float(mechanism.epsilon_for_sizes))

    def within(p: float, q: float, *laws: tuple[dict[Any, float], dict[Any, float]]) -> float:
        return p * max(hockey_stick(one, other, float(EPSILON) - math.log(p / q)) for one, other in laws)

    def asked(p: float, q: float) -> float:
        return sum(within(p * r, q * s, *laws) for r, s in parts)

    if not mechanism.asks_lead:
        return asked(1, 1)
    first, second = (lead(mechanism, table) for table in (here, there))
    if first == second:
        return max(within(1, 1, at_once), asked(1, 1))
    leads = cells(first, second, float(mechanism.epsilon_for_lead))
    return sum(max(within(p, q, at_once), asked(p, q)) for p, q in leads)


def branches_of(mechanism: SizedTopK) -> tuple[SizedBranch, ...]:
    """Those whose exact distribution is known; rounds are one discovery and more that is paid from the same budget."""
    discovery = () if mechanism.asks_lead else (mechanism.one_discovery(1),)
    return mechanism.limited_domain, mechanism.laplace, *discovery


def worst(mechanism: SizedTopK) -> float:
    """Over the tables in which there are no more items than an exact order can have."""
    pairs = (pair for users in (2, 3, 4) for table in neighbours(users) for pair in (table, table[::-1]))
    few = (pair for pair in pairs if mechanism.k < 3 or max(len(set(table) - unused(table)) for table in pair) < 3)
    return max(worst_delta(mechanism, *pair) for pair in few)


def unused(table: Table) -> set[str]:
    return {item for item, count in table.items() if not count}


@pytest.mark.parametrize("k", KS)
def test_no_decision_can_use_more_than_was_paid_for(k: int) -> None:
    found = worst(SizedTopK(k, EPSILON, DELTA, k_bar=max(2, k), max_items_per_user=1))
    assert 0.5 * float(DELTA) < found <= float(DELTA) + SLACK


@pytest.mark.parametrize(("k", "whole", "excess"), [(1, Fraction(16, 15), 1.005), (3, Fraction(20, 19), 1.1)])
def test_branches_that_do_not_leave_room_for_what_is_asked_are_caught(k: int, whole: Fraction, excess: float) -> None:
    """The mistake: each branch uses all of epsilon, and the lead and the numbers of users come for free."""
    careless = SizedTopK(k, EPSILON * whole, DELTA, k_bar=max(2, k), max_items_per_user=1)
    assert careless.epsilon_of_branch == EPSILON
    assert worst(careless) > excess * float(DELTA)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("rows", [2, 3])
def test_one_user_moves_a_lead_by_one(k: int, rows: int) -> None:
    """Users have any of four items, so that one of them may add to the k-th item, to that after the rows, or both."""
    items = range(4)
    sets = [own for size in (1, 2, 3, 4) for own in itertools.combinations(items, size)]

    @cache
    def lead_of(counts: tuple[int, ...]) -> int:
        present = {item: count for item, count in enumerate(counts) if count}
        return gap_after(Histogram(present, known=False), k, rows)

    def moved(*tables: tuple[tuple[int, ...], ...]) -> int:
        one, other = (lead_of(tuple(sum(item in own for own in table) for item in items)) for table in tables)
        return abs(one - other)

    tables_of_two = list(itertools.combinations_with_replacement(sets, 2))
    assert {moved(table, (*table, own)) for table in tables_of_two for own in sets} == {0, 1}
    # The control: a user who is replaced may lower one count and raise the other.
    replaced = {moved((*table, one), (*table, other)) for table in tables_of_two for one in sets for other in sets}
    assert max(replaced) == 2


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


@pytest.mark.parametrize("k", [1, 2, 3, 30, 100])
def test_every_branch_is_within_its_part(k: int) -> None:
    mechanism = SizedTopK(k, 1, "1e-6")
    for branch in mechanism.branches:
        # Searched anew over all theorems, from the events that the branch may cost.
        assert best_bound(branch.worst_case, mechanism.delta).epsilon <= mechanism.epsilon_of_branch
    at_once = best_bound(mechanism.limited_domain_at_once.worst_case, mechanism.delta).epsilon
    assert at_once <= mechanism.epsilon - mechanism.epsilon_for_lead
    assert mechanism.epsilon_for_lead + mechanism.epsilon_for_sizes + mechanism.epsilon_of_branch == mechanism.epsilon
    assert (mechanism.epsilon_for_lead > 0) is (k <= 2)
