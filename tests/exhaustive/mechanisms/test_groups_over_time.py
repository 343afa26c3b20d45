"""Lists for groups in two periods, on small worlds: a user may be in one group in the first and in another in the next.

In each period both groups are asked about as ``test_group_rounds`` does, and what a period leaves is carried forward by
the rules that the product runs. The law of the whole transcript keeps the promise, or a mistake breaks it.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import chain, combinations, product
from typing import Any

import flint
import pytest
from tests.support.worlds import PRECISION

from podium.audit.exact.claims import comparison
from podium.exact import ball_precision
from podium.histogram import Histogram
from podium.mechanisms.gaussian.in_rounds import FIRST
from podium.mechanisms.groups.grouped_rounds import GroupedRounds
from podium.mechanisms.truncated.gaussian_histogram import TruncatedGaussianHistogram
from podium.planning.schedule.shares import RemainingBudget, Sharing
from podium.privacy import Guarantee, total
from podium.privacy.costs import actual_cost
from podium.privacy.events import GaussianNoise, HiddenItems

Row = tuple[int, str]
"""A period and a group: there is one item."""
ROWS: tuple[Row, ...] = ((0, "X"), (0, "Y"), (1, "X"), (1, "Y"))
RHO, DELTA = Fraction(1), Fraction(1, 10)
OTHERS = ((0, 0, 0, 0), (2, 0, 0, 2), (0, 1, 2, 0), (2, 2, 2, 2))
"""How many other users have each row, and no further one."""


def claim(rho: Fraction = RHO, delta: Fraction = DELTA) -> Guarantee:
    return total((GaussianNoise(1, sensitivity_squared=2 * rho), HiddenItems(delta)))


def baskets() -> Iterator[tuple[Row, ...]]:
    """All rows that a user may have."""
    return chain.from_iterable(combinations(ROWS, size) for size in range(1, len(ROWS) + 1))


def in_window(period: int, *, growing: bool) -> range:
    return range(0 if growing else period, period + 1)


def kept(rows: tuple[Row, ...], window: range, order: str, rule: str) -> str:
    """The group of this user that counts in a window: the first in the order of a hash."""
    seen = {
        "window": {group for period, group in rows if period in window},
        "so far": {group for period, group in rows if period < window.stop},
        "all": {group for _, group in rows},
    }[rule]
    return min(seen, key=order.index, default="")


def counts(others: tuple[int, ...], user: tuple[Row, ...], window: range, order: str, rule: str) -> dict[str, int]:
    """How many users the item has in each group of a window."""
    found = dict.fromkeys("XY", 0)
    for (period, group), number in zip(ROWS, others, strict=True):
        found[group] += number * (period in window)
    mine = kept(user, window, order, rule)
    if any(row in user for row in ((period, mine) for period in window)):
        found[mine] += 1
    return found


@cache
def discovery(stage: TruncatedGaussianHistogram, count: int) -> dict[Any, flint.arb]:
    if not count:
        return {(): flint.arb(1)}
    with ball_precision(PRECISION):
        return stage.distribution(Histogram({"a": count * stage.weights.weight(1)}, known=False), exact=True)


@cache
def lists(
    rho: Fraction, delta: Fraction, x: int, y: int, asked: str
) -> dict[Any, tuple[flint.arb, Fraction, Fraction]]:
    """What comes out of the groups that are asked about, both listed, with what it cost: that of the costliest."""
    mechanism = GroupedRounds.dividing(3, 2 * rho, delta, known=2, max_items_per_user=1)
    first = mechanism.inner.stage(FIRST, discovery=1)
    second = mechanism.inner.stage(1 - FIRST, discovery=2)
    once, twice = actual_cost(first.worst_case), actual_cost((*first.worst_case, *second.worst_case))
    joint: dict[Any, tuple[flint.arb, Fraction, Fraction]] = {(): (flint.arb(1), Fraction(0), Fraction(0))}
    with ball_precision(PRECISION):
        for group, count in zip("XY", (x, y), strict=True):
            alone: dict[Any, Any] = {}
            for outcome, chance in discovery(first, count).items():
                if outcome:
                    alone[group, 1] = chance, once.rho, once.delta
                    continue
                for later, part in discovery(second, count).items():
                    alone[group, 2 if later else 0] = chance * part, twice.rho, twice.delta
            if group not in asked:
                continue
            joint = {
                (*done, one): (p * q, max(spent, cost), max(lost, hidden))
                for done, (p, spent, lost) in joint.items()
                for one, (q, cost, hidden) in alone.items()
            }
    return joint


def transcripts(
    others: tuple[int, ...], user: tuple[Row, ...], order: str, *, growing: bool, rule: str = "window",
    own_accounts: bool = False,
) -> dict[Any, flint.arb]:  # fmt: skip
    """The law of both periods. With ``own_accounts`` the first asks about X and the second about Y, for all of it."""
    sharing = Sharing(2, span=None if growing else 1, grouped=True)
    one, two = (counts(others, user, in_window(t, growing=growing), order, rule) for t in (0, 1))
    law: dict[Any, flint.arb] = {}
    with ball_precision(PRECISION):
        budget = RHO, DELTA
        if not own_accounts:
            budget = sharing.for_rounds(0, RemainingBudget(None, RHO, DELTA))
        for early, (p, spent, lost) in lists(*budget, one["X"], one["Y"], "X" if own_accounts else "XY").items():
            rest = budget
            if not own_accounts:
                rest = sharing.for_rounds(1, RemainingBudget(None, RHO - spent, DELTA - lost))
            for late, (q, _, _) in lists(*rest, two["X"], two["Y"], "Y" if own_accounts else "XY").items():
                law[early, late] = p * q
    return law


def broken(promise: Guarantee, neighbours: Iterator[tuple[Any, Any]]) -> bool:
    compare = comparison(promise, "guarantee")
    return any(compare(p, q).violated for p, q in neighbours)


def added(order: str, **options: Any) -> Iterator[tuple[Any, Any]]:
    """Transcripts without and with a user, whatever rows this user has."""
    for others in OTHERS:
        without = transcripts(others, (), order, **options)
        for user in baskets():
            yield without, transcripts(others, user, order, **options)


@pytest.mark.parametrize("growing", [False, True])
def test_groups_that_are_chosen_anew_in_every_window_keep_the_promise(growing: bool) -> None:
    """Whichever group the hash prefers; half of the budget is not enough, so the promise says something."""
    for order in ("XY", "YX"):
        assert not broken(claim(), added(order, growing=growing))
    assert broken(claim(RHO / 2, DELTA / 2), added("XY", growing=growing))


@pytest.mark.parametrize("rule", ["window", "so far"])
def test_an_account_for_each_group_is_broken_by_a_user_who_moves(rule: str) -> None:
    """Charged is the largest sum of a group and not the sum of the largest: X has paid nothing for what Y told."""
    assert broken(claim(), added("YX", growing=False, rule=rule, own_accounts=True))


def test_an_account_for_each_group_needs_one_choice_for_all_periods() -> None:
    """Which nobody can make before the last row has come."""
    for order in ("XY", "YX"):
        assert not broken(claim(), added(order, growing=False, rule="all", own_accounts=True))


FEW = Fraction(1, 1000)
"""A delta that does not hide what else is lost."""


def removed(gone: int, *, growing: bool) -> Iterator[tuple[Any, Any]]:
    """A list of the second period at the price (RHO, FEW): with all rows of a user, and without those of one period."""
    window = in_window(1, growing=growing)
    # Where an item comes out every second time, a move is seen best.
    for others in product((0, 3), (0, 3), (0, 3), (0, 3)):
        for user in baskets():
            without = tuple(row for row in user if row[0] != gone)
            of_both = (counts(others, rows, window, "XY", "window") for rows in (user, without))
            laws = (lists(RHO, FEW, found["X"], found["Y"], "XY") for found in of_both)
            p, q = ({outcome: chance for outcome, (chance, _, _) in law.items()} for law in laws)
            yield p, q


def test_rows_of_one_period_move_a_user_between_groups_in_windows_that_overlap() -> None:
    """So a schedule with groups refuses this unit there: two groups change for the price of one."""
    assert not broken(claim(RHO, FEW), removed(1, growing=False))
    assert broken(claim(RHO, FEW), removed(0, growing=True))
    assert not broken(claim(2 * RHO, 2 * FEW), removed(0, growing=True))
