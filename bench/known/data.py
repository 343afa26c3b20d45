"""Public histograms for the known-domain bench: those of Shekelyan & Loukides 2022, and others held out.

The data is looked for in $PODIUM_DATA, else in ../shared/data.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bench.utility.data import folder
from podium.histogram import Histogram

__all__ = ["FILES", "NETFLIX", "Counts", "DataSet", "data_sets", "netflix_counts"]

Counts = NDArray[np.int64]

_DPBENCH = "dpbench_1d_n4096.csv"
NETFLIX = "netflix_5star_counts_n17770.csv"
FILES = (_DPBENCH, NETFLIX)
_SL = ("PATENT", "SEARCHLOGS", "MEDCOST", "INCOME", "HEPTH")


@dataclass(frozen=True, eq=False)
class DataSet:
    """Counts, largest first: item i has rank i+1. ``held_out``: no constant of the planner was chosen on it."""

    name: str
    counts: Counts = field(repr=False)
    held_out: bool = False

    @cached_property
    def histogram(self) -> Histogram:
        """The same as a known domain."""
        return Histogram.from_arrays(range(len(self.counts)), self.counts)

    def right(self, k: int) -> int:
        """How many items count as right: those with at least the k-th largest count."""
        return int(np.count_nonzero(self.counts >= self.counts[k - 1]))


def netflix_counts() -> Counts | None:
    """How many gave each film five stars, in the order of the file; None where it is not there."""
    file = folder() / NETFLIX
    return np.loadtxt(file, delimiter=",", skiprows=1, usecols=1, dtype=np.int64) if file.is_file() else None


def data_sets() -> list[DataSet] | None:
    """All of them, or None where a file is not there."""
    netflix = netflix_counts()
    if netflix is None or not (folder() / _DPBENCH).is_file():
        return None
    with (folder() / _DPBENCH).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = {name: [int(float(row[name])) for row in rows] for name in rows[0] if name != "bin"}
    first = [DataSet(name, _sorted(columns[name])) for name in _SL]
    rest = [DataSet(name, _sorted(column), held_out=True) for name, column in columns.items() if name not in _SL]
    return [*first, DataSet("NETFLIX", _sorted(netflix)), *rest]


def _sorted(counts: list[int] | Counts) -> Counts:
    return np.sort(np.asarray(counts, dtype=np.int64))[::-1].copy()
