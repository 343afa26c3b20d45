"""What tests of failing engines ask of tables with a user and an item."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.overheard import failure

from podium.errors import SourceUnavailable
from podium.sources import CountQuery, DomainItems, Source

__all__ = ["QUERY", "check_a_table_that_goes", "groups", "top"]

QUERY = CountQuery(("item",), "user_id")


def top(source: Source) -> None:
    with source.snapshot(QUERY) as snapshot:
        snapshot.top_rows(10)


def groups(source: Source) -> None:
    with source.snapshot(QUERY, domain=DomainItems(("a",))) as snapshot:
        snapshot.counts_of_counts()


def check_a_table_that_goes(source: Source, execute: Callable[[str], object]) -> None:
    """The table ``passing`` loses a column, and then is dropped: both are found before anything is read."""
    source.check(QUERY)
    execute("ALTER TABLE passing DROP COLUMN item")
    assert "item='item' is not a column" in str(failure(lambda: source.check(QUERY)))
    execute("DROP TABLE passing")
    assert isinstance(failure(lambda: source.check(QUERY)), SourceUnavailable)
