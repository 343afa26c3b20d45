"""What the rounds of a question read: how often its kept pairs, and how many rows leave the engine.

The table itself is read once, whatever the question; the pairs that were kept then are read by every round.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from sqlglot import exp

from podium.sources.duckdb import source as duckdb_source
from podium.sources.duckdb.connection import DIALECT, DuckDBSession
from podium.sources.sql.kept_pairs import KEPT_PAIRS

__all__ = ["Reads", "counted"]

_PAIRS = re.compile(rf"\b(?:FROM|JOIN) {KEPT_PAIRS}\b")


@dataclass(slots=True)
class Reads:
    """So far: how often statements read the kept pairs of the whole table, and how many rows they returned."""

    pairs: int = 0
    rows: int = 0


@contextmanager
def counted() -> Iterator[Reads]:
    """Counts what sessions of DuckDB read that are opened meanwhile."""
    reads = Reads()
    with patch.object(duckdb_source, "DuckDBSession", lambda cursor: _Counted(cursor, reads)):
        yield reads


class _Counted(DuckDBSession):
    """A session that notes what it is asked."""

    def __init__(self, cursor: Any, reads: Reads) -> None:
        super().__init__(cursor)
        self._reads = reads

    def fetch(self, query: str) -> Sequence[tuple[Any, ...]]:
        """The rows of a query."""
        self._note(query)
        rows = super().fetch(query)
        self._reads.rows += len(rows)
        return rows

    def stream(self, query: str) -> Iterator[Sequence[tuple[Any, ...]]]:
        """The rows of a query in batches."""
        self._note(query)
        for batch in super().stream(query):
            self._reads.rows += len(batch)
            yield batch

    def keep(self, table: str, query: exp.Query, *, pairs: bool = False) -> None:
        """A temporary table with the rows of a query."""
        self._note(DIALECT.sql(query))
        super().keep(table, query, pairs=pairs)

    def _note(self, query: str) -> None:
        self._reads.pairs += len(_PAIRS.findall(query))
