"""Errors of the engines and tables."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from podium.errors.root import PodiumError

__all__ = ["SourceError", "SourceFailure", "SourceUnavailable", "UnknownColumn"]


class SourceError(PodiumError):
    """The data could not be read."""


class SourceFailure(SourceError):
    """The engine failed while it read rows.

    The text is constant: what the engine said may quote a row.
    """

    def __init__(self) -> None:
        super().__init__(
            "The engine failed while it read the data; nothing was released. "
            "What it said is withheld, because it may quote private rows. Ask the owner of the data to run the query."
        )


class SourceUnavailable(SourceError):
    """The file, table or server cannot be opened, or is refused as a whole. Nothing was asked about its rows."""


class UnknownColumn(SourceError):
    """The table has no such column. No row was read."""

    def __init__(self, name: str, column: str, columns: Sequence[str]) -> None:
        self.name = name
        self.column = column
        self.columns: tuple[str, ...] = tuple(columns)
        by_case = {name.casefold(): name for name in reversed(columns)}
        near = difflib.get_close_matches(column.casefold(), by_case, n=1)
        hint = f" Did you mean {by_case[near[0]]!r}?" if near else ""
        super().__init__(f"{name}={column!r} is not a column. The columns are: {', '.join(columns)}.{hint}")
