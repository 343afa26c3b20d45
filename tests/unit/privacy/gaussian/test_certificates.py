"""Certificates: a sample of the list is proved again, and what is false is not proved."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from itertools import pairwise

import pytest
from tools.certificates import cells_of

from podium.privacy.gaussian.certificate import certify
from podium.privacy.gaussian.certified import (
    LARGEST,
    NODES,
    SLACK,
    SMALLEST,
    certified_cells,
    certified_epsilon,
    certified_nodes,
    grid,
)
from podium.privacy.gaussian.prices import exact_price

HALF = Fraction(1, 20)
PUBLISHED = "7b7f19a688ab27c330dc68a8a634a7ded6dca8f204c208c618e7df05e92952c8"


@pytest.mark.parametrize(("epsilon", "most"), [("1/10000", 7), ("1/20", len(NODES)), ("9/10", 7)])
def test_the_list_is_what_is_proved(epsilon: str, most: int) -> None:
    assert cells_of(Fraction(epsilon), NODES[:most]) == certified_cells(Fraction(epsilon))[:most]


def test_every_epsilon_is_listed_for_every_node_that_a_budget_may_have() -> None:
    listed = list(grid())
    assert (listed[0], listed[-1]) == (SMALLEST, LARGEST)
    for epsilon in listed:
        assert certified_nodes(epsilon) == NODES[: len(certified_cells(epsilon))]
        unproved = NODES[len(certified_nodes(epsilon)) :]
        # Of mu^2 = 500 the whole budget would have an epsilon of some hundreds.
        assert all(node * (epsilon / 2) ** 2 > 500 for node in unproved)
        assert certified_nodes(epsilon - Fraction(1, 10**9)) == certified_nodes(epsilon)
    assert certified_nodes(LARGEST + 1) == ()
    assert max(after / before for before, after in pairwise(listed)) == Fraction(41, 40)
    usual = [epsilon for epsilon in listed if Fraction(1, 100) <= epsilon <= 1]
    assert max(after / before for before, after in pairwise(usual)) == Fraction(101, 100)
    two_digits = [Fraction(digits, 10**places) for digits in range(10, 100) for places in (2, 3, 4, 5)]
    assert all(certified_epsilon(epsilon) == epsilon for epsilon in two_digits if SMALLEST <= epsilon <= LARGEST)
    assert certified_epsilon(LARGEST + 1) is None


def test_the_list_is_the_one_that_ledgers_were_charged_by() -> None:
    """Replaying a ledger computes its prices again, so another list needs other rules for new data sets."""
    listed = sorted(f"{epsilon}:{certified_cells(epsilon)}" for epsilon in grid())
    assert hashlib.sha256("\n".join(listed).encode()).hexdigest() == PUBLISHED


@pytest.mark.parametrize("node", [1, 4, 16])
def test_what_is_too_cheap_is_not_proved(node: int) -> None:
    remainder = node * HALF**2
    exact = exact_price(HALF, remainder)
    assert certify(2 * HALF, remainder, exact * (1 + SLACK)) is not None
    assert certify(2 * HALF, remainder, exact * (1 - SLACK)) is None, "below the exact price"
    assert certify(2 * HALF * Fraction(101, 100), remainder, exact * (1 + SLACK)) is None, "a larger epsilon"
    assert certify(2 * HALF, remainder, HALF**2) is None, "epsilon^2/4, the limit for small epsilons"


def test_the_price_of_a_remainder_is_not_proved_of_a_smaller_one() -> None:
    exact = exact_price(HALF, 16 * HALF**2)
    assert certify(2 * HALF, 4 * HALF**2, exact * (1 + SLACK)) is None
    assert certify(2 * HALF, 32 * HALF**2, exact * (1 + SLACK)) is not None
