"""How often each of a few items occurs among the users who have t of them, for each t."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from podium.histogram import Item

__all__ = ["ItemsBySize"]


@dataclass(frozen=True, slots=True)
class ItemsBySize:
    """Rows (item, t, users, what they add), as counted by the engine; a user adds 1, or the value of the pair."""

    rows: Sequence[tuple[Item, int, int, int]]

    def pairs_by_size(self) -> Sequence[tuple[int, int]]:
        """For each t the number of pairs of the users with t items, which is t times their number."""
        found: Counter[int] = Counter()
        for _, size, members, _ in self.rows:
            found[size] += members
        return list(found.items())

    def sums(self, weights: Sequence[tuple[int, int]]) -> dict[Item, int]:
        """The weighted count of each item; the last step (up_to, weight) reaches every t."""
        most = max((size for _, size, _, _ in self.rows), default=0)
        by_size = [next(weight for up_to, weight in weights if size <= up_to) for size in range(most + 1)]
        found: Counter[Item] = Counter()
        for item, size, _, added in self.rows:
            found[item] += added * by_size[size]
        return dict(found)
