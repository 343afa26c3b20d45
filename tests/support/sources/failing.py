"""What tests of failing engines ask of tables with a user and an item."""

from __future__ import annotations

from podium.sources import CountQuery, DomainItems, Source

__all__ = ["QUERY", "groups", "top"]

QUERY = CountQuery(("item",), "user_id")


def top(source: Source) -> None:
    with source.snapshot(QUERY) as snapshot:
        snapshot.top_rows(10)


def groups(source: Source) -> None:
    with source.snapshot(QUERY, domain=DomainItems(("a",))) as snapshot:
        snapshot.counts_of_counts()
