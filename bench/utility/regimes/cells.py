"""The cells: which tables, k and epsilon are measured. They are fixed in cells.csv, before any constant was tuned.

    python -m bench.utility.regimes.cells

writes that file again; a test checks that it is what this module says.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path

__all__ = ["FILE", "REPORTED", "TUNED", "Regime", "TableKey", "even_cells", "read_cells"]

FILE = Path(__file__).parent / "cells.csv"

TUNED = ("msweb", "retail", "bms_webview_2", "movietweetings")
"""Data sets on which constants may be chosen, beside synthetic tables."""
REPORTED = ("steam", "kosarak_head", "bms_webview_1", "t10i4d100k", "t40i10d100k")
"""The other half: read only to report."""

_KS = (1, 2, 3, 5, 10, 30, 100, 300, 1000)
_EPSILONS = (0.1, 0.3, 1.0, 3.0, 8.0)
_ITEMS = {1: 2_000, 3: 5_000, 10: 5_000, 50: 10_000}
"""Items of a synthetic table by items per user."""


@dataclass(frozen=True, slots=True)
class TableKey:
    """A table: ``data`` is a data set, of which ``share`` of the users are kept, or synthetic, with a number of users.

    In "zipf" users have so many items in the mean, and activity is log-normal; in "even" each has exactly so many.
    """

    row: str
    data: str
    users: int
    items: int
    items_per_user: int
    exponent: float
    share: float

    @property
    def name(self) -> str:
        """How reports refer to it."""
        if self.data in ("zipf", "even"):
            each = " each" if self.data == "even" else ""
            return f"{self.users:,} users x {self.items_per_user}{each}, exponent {self.exponent:g}"
        return f"{self.share:.0%} of {self.data}"


@dataclass(frozen=True, slots=True)
class Regime:
    """One cell: a table, k and epsilon."""

    table: TableKey
    k: int
    epsilon: float


def regimes() -> Iterator[Regime]:
    """Every cell, table by table."""
    small = _synthetic("synthetic, n <= 3000", (300, 1_000, 3_000), (0.6, 1.0, 1.5))
    yield from _crossed(small, _KS, _EPSILONS)
    yield from _crossed(_synthetic("synthetic, n = 1e4", (10_000,), (0.6, 1.0, 1.5)), _KS[::2], (0.1, 1.0, 8.0))
    yield from _crossed(_synthetic("synthetic, n = 1e5", (100_000,), (0.6, 1.0)), _KS[::2], (0.1, 0.3, 1.0, 3.0))
    samples = [
        TableKey("subsamples", data, 0, 0, 0, 0.0, share)
        for data, share in itertools.product((*TUNED, *REPORTED), (0.01, 0.03, 0.1, 0.3))
    ]
    yield from _crossed(samples, _KS[::2], (0.3, 1.0, 3.0))


def even_cells() -> dict[TableKey, list[Regime]]:
    """The small cells again, on tables in which every user has the same number of items."""
    tables = _synthetic("even, n <= 3000", (300, 1_000, 3_000), (0.6, 1.0, 1.5), data="even")
    return {table: list(_crossed([table], _KS, _EPSILONS)) for table in tables}


def _synthetic(row: str, users: tuple[int, ...], exponents: tuple[float, ...], data: str = "zipf") -> list[TableKey]:
    shapes = itertools.product(users, _ITEMS.items(), exponents)
    return [TableKey(row, data, n, items, per_user, exponent, 1.0) for n, (per_user, items), exponent in shapes]


def _crossed(tables: list[TableKey], ks: tuple[int, ...], epsilons: tuple[float, ...]) -> Iterator[Regime]:
    return (Regime(table, k, epsilon) for table, k, epsilon in itertools.product(tables, ks, epsilons))


def read_cells() -> dict[TableKey, list[Regime]]:
    """The cells of the file, by table."""
    found: dict[TableKey, list[Regime]] = {}
    with FILE.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            kinds = {"row": str, "data": str, "exponent": float, "share": float}
            table = TableKey(**{f.name: kinds.get(f.name, int)(line[f.name]) for f in fields(TableKey)})
            found.setdefault(table, []).append(Regime(table, int(line["k"]), float(line["epsilon"])))
    return found


def write_cells(path: Path = FILE) -> None:
    """The file of cells."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*(f.name for f in fields(TableKey)), "k", "epsilon"])
        writer.writerows((*astuple(cell.table), cell.k, cell.epsilon) for cell in regimes())


if __name__ == "__main__":
    write_cells()
