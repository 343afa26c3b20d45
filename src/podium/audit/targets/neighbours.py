"""Neighbouring inputs on which mechanisms that are not private usually show it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from podium.audit.exact.worlds import SmallHistogram
from podium.errors import InvalidArgument
from podium.exact import exact_integer, positive_integer

__all__ = ["Pair", "as_pairs", "worst_pairs"]

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two inputs that differ by one user; what they are is the sampler's business."""

    name: str
    left: Any
    right: Any


def as_pairs(pairs: Iterable[Any]) -> tuple[Pair, ...]:
    """Pairs as they are, and plain (left, right) tuples with a number for a name."""
    made = []
    for number, pair in enumerate(pairs, start=1):
        if isinstance(pair, Pair):
            made.append(pair)
        elif isinstance(pair, tuple) and len(pair) == 2:
            made.append(Pair(f"pair {number}", *pair))
        else:
            raise InvalidArgument("pairs", pair, allowed="Pair(name, left, right), or tuples (left, right)")
    if not made:
        raise InvalidArgument("pairs", (), allowed="at least one pair of neighbouring inputs")
    return tuple(made)


def worst_pairs(
    *, items: int = 4, k: int = 2, k_bar: int | None = None, level: int = 3, max_items_per_user: int | None = None
) -> tuple[Pair, ...]:
    """Histograms and what one more user makes of them, where selections are most sensitive.

    ``level`` is the count at which something is decided: near a threshold, or near the margin of an unknown domain.
    ``k_bar`` is the rank of the cut, and at least one item stays behind it.
    """
    names = _LETTERS[: positive_integer(items, "items")]
    if len(names) != items:
        raise InvalidArgument("items", items, allowed=f"1 to {len(_LETTERS)} items")
    high = exact_integer(level, "level", minimum=0)
    bound = (
        items if max_items_per_user is None else min(positive_integer(max_items_per_user, "max_items_per_user"), items)
    )
    cut = min(k if k_bar is None else k_bar, items - 1) or 1
    top = min(positive_integer(k, "k"), items - 1) or 1
    flat = dict.fromkeys(names, high)
    cliff = _steps(names, high, top)
    tied = _steps(names, high, cut + 1)
    alone = _steps(names, high, 1)
    candidates = (
        ("one-off", alone, names[:1]),
        ("newcomer", dict.fromkeys(names, 0), names[:1]),
        ("flat, one rises", flat, names[:1]),
        ("flat, all move", flat, names[:bound]),
        ("flat, all but one", flat, names[1 : bound + 1]),
        ("cliff, a newcomer", cliff, names[top : top + 1]),
        ("ties at the cut, the last one rises", tied, names[cut : cut + 1]),
        ("ties at the cut, all but the last one rise", tied, names[: min(cut, bound)]),
    )
    pairs: dict[tuple[int, ...], Pair] = {}
    for name, counts, basket in candidates:
        more = {item: count + (item in basket) for item, count in counts.items()}
        if basket:
            pairs.setdefault((*counts.values(), *more.values()), Pair(name, counts, more))
    return tuple(pairs.values())


def _steps(names: str, high: int, number: int) -> SmallHistogram:
    return {name: high if place < number else 0 for place, name in enumerate(names)}
