"""The public list of epsilons whose prices have certificates, made once by ``python -m tools.certificates``.

Certificates take a good part of a second. So they are not made while a question waits: any other epsilon is charged as
the next larger one of the list, which has every decimal of two digits and enough in between that none is more than
2.5 percent away; one percent from .01 to 1, where the epsilons of single items usually are. The file keeps in how many
cells each claim was proved; tests prove a sample of them again.

Ledgers are verified by computing their prices again. So what the list has may change with the ledger's rules only.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files

__all__ = [
    "LARGEST",
    "NODES",
    "SLACK",
    "SMALLEST",
    "certified_cells",
    "certified_epsilon",
    "certified_nodes",
    "grid",
]

NODES = tuple(1 << power for power in range(9))
"""Above node 0. The price at the last of them is less than a thousandth above the limit of large nodes.

Of epsilons near the largest the last one or two are not in the list: no budget is so large."""

SLACK = Fraction(1, 1 << 16)
"""How much more than the exact price is charged, relatively."""

SMALLEST, LARGEST = Fraction(1, 10000), Fraction(5)

_USUAL = Fraction(1, 100), Fraction(1)
_MANTISSAS = (*range(100, 200, 2), *range(200, 500, 5), *range(500, 1000, 10))
_FINER = tuple(sorted({*range(100, 200), *range(200, 500, 2), *range(500, 1000, 5), *_MANTISSAS}))


def grid() -> Iterator[Fraction]:
    """All epsilons that the list has, from the smallest to the largest."""
    scale = SMALLEST / 100
    while True:
        low, high = _USUAL
        for mantissa in _FINER if low <= 100 * scale < high else _MANTISSAS:
            if mantissa * scale > LARGEST:
                return
            yield mantissa * scale
        scale *= 10


@lru_cache(maxsize=4096)
def certified_epsilon(epsilon: Fraction) -> Fraction | None:
    """The smallest epsilon of the list that is not below this one; None if all are."""
    listed = _epsilons()
    place = bisect_left(listed, epsilon)
    return listed[place] if place < len(listed) else None


def certified_nodes(epsilon: Fraction) -> tuple[int, ...]:
    """The nodes above 0 with a certificate for this epsilon, or for the one that it is charged as."""
    listed = certified_epsilon(epsilon)
    return () if listed is None else NODES[: len(_table()[listed])]


def certified_cells(epsilon: Fraction) -> tuple[int, ...]:
    """In how many cells the price of this epsilon was proved, for each node."""
    return _table()[epsilon]


@lru_cache(maxsize=1)
def _epsilons() -> tuple[Fraction, ...]:
    return tuple(sorted(_table()))


@lru_cache(maxsize=1)
def _table() -> dict[Fraction, tuple[int, ...]]:
    text = files("podium.privacy.gaussian").joinpath("certified.json").read_text(encoding="utf-8")
    return {Fraction(epsilon): tuple(cells) for epsilon, cells in json.loads(text).items()}
