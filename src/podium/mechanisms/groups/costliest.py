"""What a list for each group cost: the groups of one user, at the costliest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from podium.histogram import item_order
from podium.privacy.costs import actual_cost
from podium.privacy.events import Event, HiddenItems

__all__ = ["costliest", "costliest_rounds"]


def costliest(
    groups: Mapping[Any, tuple[Event, ...]], number: int, *, hidden: tuple[Event, ...] | None = None
) -> tuple[Event, ...]:
    """The events of the ``number`` costliest groups, in the canonical order of the groups.

    ``hidden`` is what a group costs in which nothing comes out, where such groups are not shown; None if all groups
    are. How many there are is private, so there are always as many as are needed.
    """
    ranked = sorted(groups, key=item_order)
    # Sorting is stable: of equal costs the first groups are taken.
    ranked.sort(key=lambda group: _price(groups[group]), reverse=True)
    if hidden is not None:
        ranked = [group for group in ranked if _price(groups[group]) >= _price(hidden)]
    taken = sorted(ranked[:number], key=item_order)
    events = [event for group in taken for event in groups[group]]
    return (*events, *((hidden or ()) * (number - len(taken))))


def costliest_rounds(
    groups: Mapping[Any, tuple[Event, ...]], number: int, *, others: int, nothing: tuple[Event, ...]
) -> tuple[Event, ...]:
    """The noise of the ``number`` costliest groups, and their delta: each is the largest sum that there is.

    ``nothing`` is what each of ``others`` more groups cost, in which nothing came out.
    """
    # Sorting is stable: of equal costs the first groups are taken, and those in which nothing came out last.
    ranked = sorted(groups, key=item_order)
    lists = [_noise(groups[group]) for group in ranked] + [_noise(nothing)] * others
    lists.sort(key=_price, reverse=True)
    deltas = [actual_cost(groups[group]).delta for group in ranked] + [actual_cost(nothing).delta] * others
    hidden = sum(sorted(deltas, reverse=True)[:number], start=Fraction(0))
    return (*(event for events in lists[:number] for event in events), *((HiddenItems(hidden),) if hidden else ()))


def _noise(events: Iterable[Event]) -> tuple[Event, ...]:
    return tuple(event for event in events if not isinstance(event, HiddenItems))


def _price(events: Iterable[Event]) -> tuple[Fraction, Fraction]:
    cost = actual_cost(events)
    return cost.rho, cost.epsilon or Fraction(0)
