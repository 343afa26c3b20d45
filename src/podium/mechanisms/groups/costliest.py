"""What a list for each group cost: the groups of one user, at the costliest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from podium.histogram import item_order
from podium.privacy.costs import actual_cost
from podium.privacy.events import Event

__all__ = ["costliest"]


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


def _price(events: Iterable[Event]) -> tuple[Fraction, Fraction]:
    cost = actual_cost(events)
    return cost.rho, cost.epsilon or Fraction(0)
