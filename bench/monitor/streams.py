"""Event streams of the monitor bench: made up with drifting popularity, and a real log in the order of its records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.engines.data import connect
from bench.utility.data import folder

__all__ = ["REAL", "Stream", "drifting", "replayed"]

Integers = NDArray[np.int64]
REAL = {"kosarak": "kosarak_head36682.parquet", "retail": "retail.parquet"}
"""One record is one user. Kosarak's items are numbered by their first use, so its records are in the log's order."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Events with the number of the period that each falls into."""

    name: str
    users: Integers
    items: Integers
    when: Integers
    periods: int
    span: int | None

    def window(self, period: int) -> tuple[Integers, Integers]:
        """Users and items of the events that the list of a period is about."""
        first = 0 if self.span is None else period + 1 - self.span
        inside = (self.when >= first) & (self.when <= period)
        return self.users[inside], self.items[inside]


def drifting(
    *, users: int, items: int, periods: int, span: int | None, seed: int, name: str, activity: float = 1 / 3
) -> Stream:
    """Users come back on many days; each item's popularity swells and fades, some are new, and Zipf's law stays.

    A user's number of events per period is log-normal with median ``activity``: some appear nearly every day, most now
    and then.
    """
    draw = np.random.default_rng(seed)
    base = -0.9 * np.log(np.arange(1, items + 1))
    length, phase = draw.uniform(0.5, 2.0, items) * periods, draw.uniform(0, 2 * np.pi, items)
    swell, born = (
        draw.uniform(0.2, 1.2, items),
        np.where(draw.random(items) < 0.15, draw.integers(0, periods, items), 0),
    )
    rates = np.exp(draw.standard_normal(users)) * activity
    columns: list[tuple[Integers, Integers, Integers]] = []
    for period in range(periods):
        score = base + swell * np.sin(2 * np.pi * period / length + phase)
        weight = np.where(born <= period, np.exp(score), 0.0)
        who = np.repeat(np.arange(users), draw.poisson(rates))
        what = np.searchsorted(np.cumsum(weight), draw.random(len(who)) * weight.sum(), side="right")
        columns.append((who, np.minimum(what, items - 1), np.full(len(who), period)))
    who, what, when = (np.concatenate(column) for column in zip(*columns, strict=True))
    return Stream(name, who, what, when, periods, span)


def replayed(name: str, *, periods: int, span: int | None) -> Stream:
    """A real file, its records dealt into periods of equal numbers of records, in their order."""
    with connect() as connection:
        rows = connection.read_parquet(str(folder() / REAL[name]))
        columns = rows.project("user_id AS u, dense_rank() OVER (ORDER BY item) - 1 AS i").fetchnumpy()
    users, items = (np.asarray(columns[column], dtype=np.int64) for column in ("u", "i"))
    _, order = np.unique(users, return_inverse=True)
    when = order * periods // (int(order.max()) + 1)
    return Stream(name, users, items, when.astype(np.int64), periods, span)
