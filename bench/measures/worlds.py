"""Tables of amounts: lognormal ones of 52 fixed kinds, and the hours played on Steam where the data is at hand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.utility.data import SETS, folder

__all__ = ["ITEMS", "WORLDS", "Amounts", "World", "steam"]

ITEMS = 2000
_SPREADS, _DIFFERENCES = (0.5, 1.0, 1.5, 2.0, 2.5), (0.2, 0.6, 1.0)
_USERS, _EPSILONS = (5_000, 20_000, 60_000, 200_000), ("0.05", "0.2", "0.5", "1")
_LARGEST = 2**40
_HOURS = 10
"""Steam's hours are counted in tenths."""

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Amounts:
    """What users add to items, one entry for each pair, by user."""

    users: Numbers
    items: Numbers
    amounts: Numbers
    names: int


@dataclass(frozen=True, slots=True)
class World:
    """ln of an amount is N(m_i, spread^2), and m_i varies between items by ``difference``."""

    spread: float
    difference: float
    users: int
    epsilon: str
    seed: int

    def table(self) -> Amounts:
        """The table of this world, always the same."""
        dice = np.random.default_rng(self.seed)
        sizes = np.clip(np.ceil(dice.lognormal(2.0, 0.8, self.users)), 1, 60).astype(np.int64)
        popular = 1 / np.arange(1, ITEMS + 1) ** 0.9
        users = np.repeat(np.arange(self.users), sizes)
        items = dice.choice(ITEMS, size=len(users), p=popular / popular.sum())
        users, items = np.unique(np.stack([users, items]), axis=1)
        means = 3.0 + dice.normal(0.0, self.difference, ITEMS)
        drawn = np.exp(means[items] + dice.normal(0.0, self.spread, len(users)))
        amounts = np.clip(np.floor(drawn), 0, _LARGEST).astype(np.int64)
        some = amounts > 0
        return Amounts(users[some], items[some], amounts[some], ITEMS)


WORLDS = tuple(
    World(_SPREADS[n % 5], _DIFFERENCES[n % 3], _USERS[(n // 2) % 4], _EPSILONS[(n // 3 + n // 12) % 4], 1000 + n)
    for n in range(52)
)
"""Fixed before anything was run."""


def steam() -> Amounts | None:
    """Tenths of hours that users of Steam played games; None where the file is not there."""
    file = folder() / SETS["steam"].file
    if not file.is_file():
        return None
    import pyarrow.parquet as pq  # noqa: PLC0415 - generated worlds need no files

    rows = pq.read_table(file, filters=[("behavior", "=", "play")]).to_pandas()
    users, items = (rows[name].astype("category").cat.codes.to_numpy(np.int64) for name in rows.columns[:2])
    units = np.floor(rows["value"].to_numpy() / (1 / _HOURS)).astype(np.int64)
    pairs, place = np.unique(np.stack([users, items]), axis=1, return_inverse=True)
    amounts = np.bincount(place.ravel(), weights=units).astype(np.int64)
    some = amounts > 0
    return Amounts(pairs[0][some], pairs[1][some], amounts[some], int(items.max()) + 1)
