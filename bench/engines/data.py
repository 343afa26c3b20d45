"""The tables of the engines bench: made up, always the same, kept below build/ for the next run.

``events`` looks like a log of page views: a few users do most of the viewing, articles follow Zipf's law, each row
has a country, and most rows of a user are in one region. It is written in parts of equal size, and every part is drawn
from its own seed, so a shorter table is a prefix of a longer one and shares its files. ``wide`` has as many items as it
is told, and the same large counts however many that are.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

__all__ = ["COUNTRIES", "REGIONS", "Events", "connect", "wide_table"]

COUNTRIES = ("BR", "DE", "ES", "FR", "GB", "IN", "IT", "JP", "NG", "US")

REGIONS = 200
_ELSEWHERE = 0.02
"""How many of the rows are in another region than their user lives in."""

_SEED = 20
_HEAD, _USERS = 1200, 1000


@dataclass(frozen=True, slots=True)
class Events:
    """A log of (user_id, article_id, article, country, region), in parts of ``part_rows`` rows.

    With ``amounts`` it has seconds of reading instead of the name of the article and the region.
    """

    folder: Path
    part_rows: int = 2_000_000
    users: int = 2_000_000
    items: int = 1_000_000
    amounts: bool = False

    def files(self, rows: int) -> list[str]:
        """Parquet files that together have that many rows; those that are not there yet are written."""
        parts, rest = divmod(rows, self.part_rows)
        if rest or not parts:
            raise ValueError(f"rows={rows} is not a multiple of part_rows={self.part_rows}")
        self.folder.mkdir(parents=True, exist_ok=True)
        paths = [self._path(part) for part in range(parts)]
        for part, path in enumerate(paths):
            if not path.exists():
                _write(self._part(part), _TIMED if self.amounts else _NAMED, path)
        return [str(path) for path in paths]

    @contextmanager
    def linked(self, rows: int) -> Iterator[str]:
        """A folder with links to those files and nothing else."""
        with tempfile.TemporaryDirectory(prefix="podium-bench-") as folder:
            for file in map(Path, self.files(rows)):
                (Path(folder) / file.name).symlink_to(file.resolve())
            yield folder

    def _path(self, part: int) -> Path:
        name = "reading" if self.amounts else "views"
        return self.folder / f"{name}-{self.part_rows}-{self.users}-{self.items}-{_SEED}-{part:03d}.parquet"

    def _part(self, part: int) -> pa.Table:
        """Log-uniform articles have Zipf's exponent 1; squared uniform users are busy at one end."""
        rng = np.random.default_rng([_SEED, part])
        users = (self.users * rng.random(self.part_rows) ** 2).astype(np.int64)
        articles = np.exp(np.log(self.items) * rng.random(self.part_rows)).astype(np.int64) - 1
        countries = rng.integers(len(COUNTRIES), size=self.part_rows, dtype=np.int8)
        country = pa.DictionaryArray.from_arrays(pa.array(countries), pa.array(COUNTRIES))
        seconds = np.ceil(rng.lognormal(3.0, 1.2, self.part_rows)).astype(np.int64)
        away = np.where(rng.random(self.part_rows) < _ELSEWHERE, rng.integers(REGIONS, size=self.part_rows), 0)
        regions = ((users + away) % REGIONS).astype(np.int16)
        columns = {"user_id": users, "article_id": articles, "country": country, "seconds": seconds, "region": regions}
        return pa.table(columns)


_NAMED = "SELECT user_id, article_id, 'article-' || printf('%07d', article_id) AS article, country, region FROM rows_"
_TIMED = "SELECT user_id, article_id, country, seconds FROM rows_"


def wide_table(folder: Path, items: int) -> str:
    """A Parquet file with the items 0..items-1: one user each, and a few hundred more for the first items."""
    path = folder / f"wide-{items}.parquet"
    folder.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        # The head is the same for every size, and so is everything that a question lets out of the engine.
        more = (_HEAD - np.arange(_HEAD)) // 4
        item = np.concatenate([np.arange(items), np.repeat(np.arange(_HEAD), more)])
        user = np.concatenate([np.arange(items) % _USERS, *(_USERS + np.arange(count) for count in more)])
        _write(pa.table({"user_id": user, "item": item}), "SELECT * FROM rows_", path)
    return str(path)


def connect() -> duckdb.DuckDBPyConnection:
    """DuckDB with its usual settings, but for the progress bar that it would draw into our output."""
    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false")
    return connection


def _write(rows: pa.Table, query: str, path: Path) -> None:
    unfinished = path.with_suffix(".unfinished")
    with connect() as connection:
        connection.register("rows_", rows)
        connection.sql(query).write_parquet(str(unfinished), compression="zstd")
    unfinished.rename(path)
