"""Write a synthetic table of visits over two weeks: ``python examples/make_visits.py visits.parquet``."""

from __future__ import annotations

import datetime as dt
import sys

from podium.sources.parquet import write_parquet

PAGES = {"home": 900, "search": 700, "prices": 500, "jobs": 60}


def main() -> None:
    """Every visitor returns every day to one of two sites; in the second week most visitors read a new page."""
    visitors, pages, sites, times = [], [], [], []
    for day in range(14):
        numbers = PAGES if day < 7 else {"launch": 1_100, **PAGES}
        at = dt.datetime(2026, 1, 1, 12) + dt.timedelta(days=day)  # noqa: DTZ001 - UTC, as podium reads it
        for page, number in numbers.items():
            visitors += range(number)
            pages += [page] * number
            sites += [("shop", "news")[visitor % 2] for visitor in range(number)]
            times += [at] * number
    write_parquet({"visitor": visitors, "page": pages, "site": sites, "at": times}, sys.argv[1])


if __name__ == "__main__":
    main()
