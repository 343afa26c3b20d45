"""The data sets of the utility bench: public pairs (user, item), looked for in $PODIUM_DATA, else in ../shared/data."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.engines.data import connect
from podium.planning.memory_table import PairsReader

__all__ = ["HELD_OUT", "SETS", "Pairs", "Source", "folder", "load", "missing", "shuffled_places"]

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Source:
    """A file with the columns user_id and item."""

    file: str
    condition: str = "TRUE"


SETS = {
    "msweb": Source("msweb.parquet"),
    "retail": Source("retail.parquet"),
    "bms_webview_2": Source("bms_webview_2.parquet"),
    "steam": Source("steam_200k.parquet", "behavior = 'purchase'"),
    "movietweetings": Source("movietweetings_100k.parquet"),
    "kosarak_head": Source("kosarak_head36682.parquet"),
    "bms_webview_1": Source("bms_webview_1.parquet"),
    "t10i4d100k": Source("t10i4d100k.parquet"),
    "t40i10d100k": Source("t40i10d100k_generated.parquet"),
}
HELD_OUT = frozenset({"bms_webview_1", "t10i4d100k", "t40i10d100k"})
"""On these no rule of the planner was tuned; the last is generated."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Distinct pairs, sorted by user, both as numbers from 0."""

    name: str
    users: Integers
    items: Integers
    counts: Integers
    sizes: Integers

    def reader(self) -> PairsReader:
        """The table as a mechanism in rounds asks it."""
        return PairsReader(self.users, self.items)

    def recall(self, found: Integers, k: int) -> float:
        """The share of the true top k among the first k found; an item counts if it has as many users as the k-th."""
        places = min(k, len(self.counts))
        last = np.partition(self.counts, -places)[-places]
        return float(np.count_nonzero(self.counts[found[:k]] >= last)) / places

    def error(self, found: Integers, estimates: NDArray[np.float64]) -> float | None:
        """The median error of released counts, relative to the true ones; None if nothing came back."""
        if not len(found):
            return None
        true = self.counts[found]
        return float(np.median(np.abs(estimates - true) / true))

    def shuffled_places(self, rng: np.random.Generator) -> Integers:
        """The place of each pair in a random order of its user's pairs."""
        return shuffled_places(self.users, self.sizes, rng)


def shuffled_places(users: Integers, sizes: Integers, rng: np.random.Generator) -> Integers:
    """The place of each pair in a random order of its user's pairs: the first D of them bound a user to D items."""
    order = np.argsort(users + rng.random(len(users)), kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order)) - starts[users[order]]
    return places


def folder() -> Path:
    """Where the files are."""
    stated = os.environ.get("PODIUM_DATA")
    return Path(stated) if stated else Path(__file__).parents[2] / ".." / "shared" / "data"


def missing(name: str) -> bool:
    """Whether there is no such data set here."""
    return not (folder() / SETS[name].file).is_file()


@lru_cache(maxsize=1)
def load(name: str) -> Pairs:
    """One data set; the last one is kept, because work is done data set by data set."""
    source = SETS[name]
    with connect() as connection:
        rows = connection.read_parquet(str(folder() / source.file)).filter(source.condition)
        known = rows.filter("user_id IS NOT NULL AND item IS NOT NULL")
        numbers = "dense_rank() OVER (ORDER BY user_id) - 1 AS u, dense_rank() OVER (ORDER BY item) - 1 AS i"
        columns = known.project(numbers).distinct().order("u, i").fetchnumpy()
    users, items = (np.asarray(columns[column], dtype=np.int64) for column in ("u", "i"))
    return Pairs(name, users, items, np.bincount(items), np.bincount(users))
