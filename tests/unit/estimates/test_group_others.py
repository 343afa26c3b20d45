"""What is beside the list of each group: every small world of two groups, against the price of the groups of a user."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TypeAlias

import pytest

from podium.estimates.others import MeasureOthers, rest_of

User: TypeAlias = frozenset[str]
"""The pairs of a user: the first letter is the group, the second the item; "a" is listed in both groups."""

PAIRS = ("Xa", "Xb", "Ya", "Yb")
USERS = [frozenset(some) for size in range(5) for some in itertools.combinations(PAIRS, size)]
EPSILON = Fraction(1)


def kept(user: User, most: int) -> User:
    """The pairs of the groups that count: a rule that sees this user alone."""
    groups = sorted({pair[0] for pair in user}, key=lambda group: (len(user) % 2, group))[:most]
    return frozenset(pair for pair in user if pair[0] in groups)


def numbers(users: Iterable[User], most: int) -> list[int]:
    """For each group the users with none of its listed items, and those with an item."""
    found = []
    for group in "XY":
        there = [{pair[1] for pair in kept(user, most) if pair[0] == group} for user in users]
        there = [some for some in there if some]
        found += [sum("a" not in some for some in there), len(there)]
    return found


def amounts(users: Iterable[User], most: int) -> list[tuple[list[int], list[int]]]:
    """For each group users by how many pairs they have that are not listed (1, or 2 at most), and these numbers."""
    found = []
    for group in "XY":
        rests = [sum(pair[0] == group and pair[1] != "a" for pair in kept(user, most)) for user in users]
        found.append(([rests.count(1), rests.count(2)], [rests.count(1), 2 * rests.count(2)]))
    return found


def loss(before: Sequence[int], after: Sequence[int], scale: Fraction) -> Fraction:
    """The largest |ln| of the ratio of the chances of any outcome of discrete Laplace noise, which is attained."""
    return sum((abs(new - old) / scale for old, new in zip(before, after, strict=True)), Fraction(0))


def worst(most: int, *, cut: int) -> Fraction:
    """Over all worlds of one user and another: counts are cut to ``cut`` groups, and charged for ``most``."""
    step = MeasureOthers(epsilon=EPSILON / most).step
    scale = Fraction(step.scale)
    return max(loss(numbers([first], cut), numbers([first, user], cut), scale) for first in USERS for user in USERS)


@pytest.mark.parametrize("most", [1, 2])
def test_the_numbers_of_all_groups_cost_what_those_of_a_users_groups_cost(most: int) -> None:
    """docs/proofs/others.md, Theorem 3: epsilon is divided among the groups of one user, and all of it is used."""
    assert worst(most, cut=most) == EPSILON
    assert all(event.epsilon == EPSILON / most / 2 for event in MeasureOthers(epsilon=EPSILON / most).events)


def test_users_who_are_in_more_groups_than_are_paid_for_are_rejected() -> None:
    """Negative control: nobody is cut, and one group is charged."""
    assert worst(1, cut=2) == 2 * EPSILON


@pytest.mark.parametrize("cut", [1, 2])
def test_amounts_beside_the_lists_move_by_what_a_users_groups_move(cut: int) -> None:
    """In each group one entry of the histogram by one, and the sum by its ceiling, which each group chooses itself."""
    largest = Fraction(0)
    for first, user, places in itertools.product(USERS, USERS, itertools.product((0, 1), repeat=2)):
        sides = amounts([first], cut), amounts([first, user], cut)
        moved = Fraction(0)
        for before, after, place in zip(*sides, places, strict=True):
            entries = sum(abs(new - old) for old, new in zip(before[0], after[0], strict=True))
            rise = rest_of(*after, place) - rest_of(*before, place)
            assert entries <= 1
            assert 0 <= rise <= 2**place
            moved += entries + Fraction(rise, 2**place)
        largest = max(largest, moved)
    assert largest == 2 * cut
