"""A joined table as a query names it; of a public one, the rows that were read once."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from podium.query.schema import Column

__all__ = ["JoinedTable", "Lookup"]


@dataclass(frozen=True, slots=True)
class Lookup:
    """The rows of a public table, all of which a question sees in one state. Columns are those that it reads."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    digest: str

    @classmethod
    def of(
        cls, columns: tuple[Column, ...], rows: tuple[tuple[Any, ...], ...], texts: list[tuple[str | None, ...]]
    ) -> Lookup:
        """The rows with a digest of their ``texts`` that is the same for the same rows in any order."""
        head = [[column.name, column.kind.value, column.scale] for column in columns]
        body = sorted(json.dumps(row) for row in texts)
        return cls(columns, rows, hashlib.sha256(json.dumps([head, body]).encode("utf-8", "surrogatepass")).hexdigest())


@dataclass(frozen=True, slots=True)
class JoinedTable:
    """An inner join by equality of the ``using`` columns, with a declared table or with the rows of a public one."""

    name: str
    using: tuple[str, ...]
    lookup: Lookup | None = None
    place: str = ""
    """Of a table about users: where it is, not in clear, because analysts may see it."""
