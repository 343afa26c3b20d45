"""The tables of the scale bench: DuckDB makes them up from hashes, in several Parquet files, always the same.

Users are equally busy and items follow Zipf's law, so that most pairs of a large table are distinct: the hard case for
whoever counts distinct users. Tables of groups and sums also have a region, in which nearly all rows of a user are, and
an amount, which follows an exponential law.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bench.engines.data import connect

__all__ = ["REGIONS", "Table", "wide"]

REGIONS = 200
_PART = 25_000_000
_BYTES = 8
_BYTES_OF_MORE = 3
_ELSEWHERE = 50
"""Of so many rows, one is in another region than its user lives in."""
_MEAN = 60


@dataclass(frozen=True, slots=True)
class Table:
    """So many rows of (user_id, item), of so many users and items at most; with ``more`` also (region, amount)."""

    rows: int
    users: int
    items: int
    more: bool = False

    @property
    def name(self) -> str:
        """For a folder, and for results."""
        return f"scale-{self.rows}-{self.users}-{self.items}" + "-more" * self.more

    @property
    def file_bytes(self) -> int:
        """About what its files take, rounded up."""
        return self.rows * (_BYTES + _BYTES_OF_MORE * self.more)

    def folder(self, where: Path) -> Path:
        """A folder of Parquet files with the table, written if it is not there yet."""
        folder = where / self.name
        if folder.exists():
            return folder
        unfinished = where / f"{folder.name}.unfinished"
        unfinished.mkdir(parents=True, exist_ok=True)
        with connect() as connection:
            for part, first in enumerate(range(0, self.rows, _PART)):
                path = unfinished / f"part-{part:03d}.parquet"
                if path.exists():
                    # Of a run that was killed while it wrote.
                    continue
                query = self._select(first, min(first + _PART, self.rows))
                writing = path.with_suffix(".writing")
                connection.execute(f"COPY ({query}) TO '{writing}' (FORMAT parquet, COMPRESSION zstd)")
                writing.rename(path)
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
        user = f"(hash(i) % {self.users})::BIGINT"
        columns = [f"{user} AS user_id", f"{item} AS item"]
        if self.more:
            away = f"CASE WHEN hash(i + 2000000000000) % {_ELSEWHERE} = 0 THEN hash(i + 3000000000000) ELSE 0 END"
            columns.append(
                f"((hash(i) % {self.users} % {REGIONS} + {away} % {REGIONS}) % {REGIONS})::SMALLINT AS region"
            )
            part = "(hash(i + 4000000000000) % 4294967296 + 1) / 4294967296.0"
            columns.append(f"ceil(1 - ln({part}) * {_MEAN})::BIGINT AS amount")
        return f"SELECT {', '.join(columns)} FROM range({first}, {last}) AS r (i)"  # noqa: S608


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
