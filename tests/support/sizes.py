"""What mechanisms have in common that ask for the sizes of users' lists only where the first answer is not clear."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from podium.mechanisms.reader import TableReader
from podium.randomness.replay import ReplayableBits

__all__ = ["REFUSED_ARGUMENTS", "check_the_number_decides"]

REFUSED_ARGUMENTS: list[tuple[dict[str, Any], str]] = [
    ({"k": 0}, "k=0 is not valid. Allowed: an integer, 1 or more."),
    ({"epsilon": 0}, "epsilon=0 is not valid. Allowed: a number above 0."),
    ({"max_items_per_user": 0}, "max_items_per_user=0 is not valid. Allowed: an integer, 1 or more."),
]


def check_the_number_decides(
    mechanism: Any, table: TableReader, name: str, clear: Callable[[Fraction], bool], *, seeds: int
) -> None:
    """Sizes are asked for exactly where the noisy number of that name is not clear, and both happen."""
    asked = set()
    for seed in range(seeds):
        shown = mechanism.release(table, bits=ReplayableBits(seed)).parameters
        asked.add("users_by_items" in shown)
        assert ("users_by_items" in shown) != clear(Fraction(shown[name]))
    assert asked == {False, True}
