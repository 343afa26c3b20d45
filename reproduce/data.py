"""The public data that the studies use: counts and events, from $PODIUM_DATA or ../shared/data."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

__all__ = [
    "STAND_INS",
    "Counts",
    "DataMissing",
    "Events",
    "Scores",
    "counts",
    "events",
    "files_of",
    "missing",
    "ratings",
    "zipf",
]

Counts: TypeAlias = NDArray[np.int64]
Scores: TypeAlias = NDArray[np.float64]

_NETFLIX = "netflix_5star_counts_n17770.csv"
_DPBENCH = "dpbench_1d_n4096.csv"
_FILES = {
    "NETFLIX": _NETFLIX,
    "PATENT": _DPBENCH,
    "SEARCHLOGS": _DPBENCH,
    "MEDCOST": _DPBENCH,
    "INCOME": _DPBENCH,
    "HEPTH": _DPBENCH,
    "BOOKS": "goodreads_ratings_count.csv",
    "GAMES": "steam_200k.parquet",
    "BMS-WebView-1": "bms_webview_1.parquet",
    "BMS-WebView-2": "bms_webview_2.parquet",
    "BMS-WebView-1 scaled": "bms_webview_1.parquet",
    "Kosarak-36682": "kosarak_head36682.parquet",
    "Kosarak-116": "kosarak_top116_counts.csv",
    "T40-generated": "t40i10d100k_generated.parquet",
    "Retail": "retail.parquet",
    "MSWeb": "msweb.parquet",
    "MovieTweetings": "movietweetings_100k.parquet",
}
STAND_INS = {
    "BMS-WebView-1": "stands in for BMS-POS, which is not to be had (same donor, another log)",
    "BMS-WebView-2": "stands in for BMS-POS, which is not to be had (same donor, another log)",
    "BMS-WebView-1 scaled": "the same with its counts raised to the 515,597 records of BMS-POS",
    "Kosarak-36682": "the first 36,682 of its 990,002 records, as they are",
    "Kosarak-116": "the true counts of the 116 most frequent of its 41,270 items, all that is to be had",
    "T40-generated": "made with the generator of T40I10D100K, which is not to be had",
}
_SCALED = {"BMS-WebView-1 scaled": ("BMS-WebView-1", 515_597 / 59_602)}
_ZIPF_TOTAL = 15.0**7
"""What the authors' script uses; the paper says 1.5e8."""


class DataMissing(Exception):
    """A file of the public data is not there."""

    def __init__(self, files: Sequence[str], where: Path) -> None:
        self.files = tuple(files)
        named = ", ".join(self.files)
        super().__init__(
            f"the public data is not there: {named} not found in {where}. "
            "Set PODIUM_DATA to the folder that has the files."
        )


@dataclass(frozen=True, slots=True)
class Events:
    """Distinct pairs of a user and an item, both as numbers from 0, and the names of the items."""

    user: Counts
    item: Counts
    names: tuple[str, ...]


def folder() -> Path:
    """Where the data is looked for."""
    chosen = os.environ.get("PODIUM_DATA")
    return Path(chosen) if chosen else Path(__file__).parents[2] / "shared" / "data"


def files_of(names: Sequence[str]) -> tuple[str, ...]:
    """The files that hold these data sets."""
    return tuple(dict.fromkeys(_FILES[name] for name in names))


def missing(names: Sequence[str]) -> DataMissing | None:
    """What would be raised for the files that are not there; None if all are."""
    lacking = [file for file in files_of(names) if not (folder() / file).is_file()]
    return DataMissing(lacking, folder()) if lacking else None


def _path(name: str) -> Path:
    problem = missing([name])
    if problem is not None:
        raise problem
    return folder() / _FILES[name]


@functools.cache
def counts(name: str) -> Counts:
    """The counts of a data set, the largest first. Ties keep the order of the file."""
    path = _path(name)
    if name in _SCALED:
        smaller, factor = _SCALED[name]
        values = np.rint(counts(smaller) * factor)
    elif path.suffix == ".parquet":
        values = np.bincount(events(name).item)
    elif name in ("NETFLIX", "Kosarak-116"):
        values = np.loadtxt(path, delimiter=",", skiprows=1, usecols=1, dtype=np.int64)
    elif name == "BOOKS":
        values = _last_column(path)
    else:
        values = _named_column(path, name)
    ordered: Counts = np.sort(values.astype(np.int64))[::-1].copy()
    ordered.setflags(write=False)
    return ordered


def _named_column(path: Path, name: str) -> Counts:
    with path.open(encoding="utf-8") as lines:
        place = next(lines).rstrip("\n").split(",").index(name)
    column: Counts = np.loadtxt(path, delimiter=",", skiprows=1, usecols=place, dtype=np.int64)
    return column


def _last_column(path: Path) -> Counts:
    """Titles hold commas, so only the end of a line can be trusted; the paper's script drops the first row."""
    with path.open(encoding="utf-8") as lines:
        next(lines)
        return np.array([int(line.rpartition(",")[2]) for line in lines][1:], dtype=np.int64)


@functools.cache
def events(name: str) -> Events:
    """The distinct (user, item) pairs of a transaction or event file; of Steam, the purchases."""
    table = pq.read_table(_path(name))
    if "behavior" in table.column_names:
        table = table.filter(pc.equal(table["behavior"], "purchase"))
    titles: Any = table["title" if name == "MovieTweetings" else "item"].to_numpy(zero_copy_only=False)
    names, item = np.unique(titles.astype(str), return_inverse=True)
    _, user = np.unique(table["user_id"].to_numpy(), return_inverse=True)
    pairs = np.unique(user.astype(np.int64) * len(names) + item)
    return Events(pairs // len(names), pairs % len(names), tuple(names.tolist()))


@functools.cache
def ratings(name: str) -> tuple[Events, Counts]:
    """The (user, item) pairs of a file of ratings, and what each was rated; of several ratings, the last."""
    table = pq.read_table(_path(name))
    titles: Any = table["title"].to_numpy(zero_copy_only=False)
    names, item = np.unique(titles.astype(str), return_inverse=True)
    _, user = np.unique(table["user_id"].to_numpy(), return_inverse=True)
    rated = dict(zip((user.astype(np.int64) * len(names) + item).tolist(), table["rating"].to_pylist(), strict=True))
    pairs = np.array(sorted(rated), dtype=np.int64)
    values = np.array([rated[pair] for pair in pairs.tolist()], dtype=np.int64)
    return Events(pairs // len(names), pairs % len(names), tuple(names.tolist())), values


def zipf(size: int, exponent: float) -> Scores:
    """Scores that fall like a power of the rank and add up to a fixed total."""
    shares = np.arange(1, size + 1, dtype=np.float64) ** -exponent
    scores: Scores = _ZIPF_TOTAL * shares / shares.sum()
    return scores
