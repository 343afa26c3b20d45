"""The tables of the scale bench: DuckDB makes them up from hashes, in several Parquet files, always the same.

Users are equally busy and items follow Zipf's law, so that most pairs of a large table are distinct: the hard case for
whoever counts distinct users.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bench.engines.data import connect

__all__ = ["Table", "wide"]

_PART = 25_000_000


@dataclass(frozen=True, slots=True)
class Table:
    """So many rows of (user_id, item), of so many users and items at most."""

    rows: int
    users: int
    items: int

    def folder(self, where: Path) -> Path:
        """A folder of Parquet files with the table, written if it is not there yet."""
        folder = where / f"scale-{self.rows}-{self.users}-{self.items}"
        if folder.exists():
            return folder
        unfinished = where / f"{folder.name}.unfinished"
        unfinished.mkdir(parents=True, exist_ok=True)
        with connect() as connection:
            for part, first in enumerate(range(0, self.rows, _PART)):
                path = unfinished / f"part-{part:03d}.parquet"
                query = self._select(first, min(first + _PART, self.rows))
                connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet, COMPRESSION zstd)")
        unfinished.rename(folder)
        return folder

    def pairs(self, where: Path) -> int:
        """About how many distinct pairs there are, by a sketch: to count them exactly takes as long as a question."""
        with connect() as connection:
            query = f"SELECT approx_count_distinct(hash(user_id, item)) FROM '{self.folder(where)}/*.parquet'"  # noqa: S608
            ((pairs,),) = connection.execute(query).fetchall()
        return min(int(pairs), self.rows)

    def _select(self, first: int, last: int) -> str:
        uniform = "hash(i + 1000000000000) % 4294967296 / 4294967296.0"
        item = f"exp(ln({self.items}) * ({uniform}))::BIGINT - 1"
        return (
            f"SELECT (hash(i) % {self.users})::BIGINT AS user_id, {item} AS item FROM range({first}, {last}) AS r (i)"  # noqa: S608
        )


def wide(where: Path, items: int) -> Path:
    """A folder with one file: so many items, of which the first few hundred have many users and the others one."""
    folder = where / f"scale-wide-{items}"
    if not folder.exists():
        folder.mkdir(parents=True)
        query = (
            f"SELECT (hash(i) % 100000)::BIGINT AS user_id, i AS item FROM range({items}) AS r (i) UNION ALL "  # noqa: S608
            "SELECT u, i FROM range(400) AS s (i), range(2000) AS t (u) WHERE u < 2000 - 4 * i"
        )
        with connect() as connection:
            connection.execute(f"COPY ({query}) TO '{folder}/part-000.parquet' (FORMAT parquet)")
    return folder
