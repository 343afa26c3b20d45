"""When a schedule measures a new list, when it looks for new items, and the weight of each in the budget.

A window that grows by a fifth has nearly the list that it had before. So a growing window is measured at intervals in
proportion to its length, and a long sliding one after a part of its length. In between the last list is repeated,
which costs nothing: docs/proofs/monitor.md, section 4. All of this is a function of public numbers.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

__all__ = ["finding_periods", "finding_weight", "list_periods", "list_weight", "square_root"]

_GROWTH = Fraction(5, 4)
"""A growing window is measured again when it is longer by this factor."""
_BETWEEN_FINDING = Fraction(8, 5)
"""New items are looked for when a growing window is longer by this factor."""
_LAST_FINDING = Fraction(3, 4)
"""What is found in the last part of the schedule would be used too little."""
_PART_OF_SPAN = Fraction(3, 20)
"""A sliding window is measured again when this part of its rows is new."""
_EARLY = Fraction(1, 12)
"""Windows shorter than this part of the schedule have few rows, and get little of the budget."""
_BITS = 20


def list_periods(periods: int, span: int | None, remeasure: int | None) -> tuple[int, ...]:
    """The periods, counted from 0, in which a new list is measured; the first and the last are among them."""
    if remeasure is None and span is None:
        lengths = [periods]
        while lengths[-1] > 1:
            lengths.append(min(int(lengths[-1] / _GROWTH), lengths[-1] - 1))
        return tuple(length - 1 for length in reversed(lengths))
    step = max(1, int((span or 1) * _PART_OF_SPAN)) if remeasure is None else remeasure
    return tuple(sorted({0, *range(periods - 1, -1, -step)}))


def finding_periods(lists: tuple[int, ...], periods: int, rediscover: int | None, *, growing: bool) -> tuple[int, ...]:
    """Those of the ``lists`` periods that begin with a round of finding."""
    if rediscover is not None or not growing:
        # New items may come in any period of a window that does not grow.
        between = rediscover or -(-periods // 8)
        return _next_of(lists, range(0, periods, between))
    chosen = [lists[0]]
    for index in lists:
        length = index + 1
        if length >= _BETWEEN_FINDING * (chosen[-1] + 1) and length <= _LAST_FINDING * periods:
            chosen.append(index)
    return tuple(chosen)


def _next_of(lists: tuple[int, ...], wanted: range) -> tuple[int, ...]:
    """For each wanted period the first one of ``lists`` that is not earlier, once each."""
    chosen: list[int] = []
    place = 0
    for index in wanted:
        while place < len(lists) and lists[place] < index:
            place += 1
        if place < len(lists) and lists[place] not in chosen[-1:]:
            chosen.append(lists[place])
    return tuple(chosen)


def list_weight(index: int, periods: int, *, growing: bool) -> Fraction:
    """The weight of this period's list in units of rho: very early ones would need more than there is."""
    return min(Fraction(1), (index + 1) / (_EARLY * periods)) if growing else Fraction(1)


def finding_weight(index: int, periods: int, *, growing: bool) -> Fraction:
    """The weight of a round of finding in this period among those of the schedule.

    In a longer window items have more users, so that less is needed to find them.
    """
    if not growing:
        return Fraction(1)
    return list_weight(index, periods, growing=True) / max(Fraction(index + 1), _EARLY * periods)


def square_root(value: Fraction) -> Fraction:
    """The square root, rounded down to a multiple of 2^-20, but above 0."""
    scaled = isqrt((value.numerator << (2 * _BITS)) // value.denominator)
    return Fraction(max(1, scaled), 1 << _BITS)
