"""How the contract asks a source, and what it compares the answers with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from tests.support.sources import reference
from tests.support.sources.data import Table

from podium.sources import CountQuery, Domain, Snapshot, Source

__all__ = ["SALT", "SCALARS", "Load", "check_groups", "check_top", "kind_of", "rows_of"]

SALT = "00112233445566778899aabbccddeeff"
SCALARS = ("label", "number", "amount", "flag", "day", "moment")


class Load(Protocol):
    """Loads tables into one database; the source is the first of them."""

    def __call__(self, table: Table, *beside: Table) -> Source: ...


def rows_of(snapshot: Snapshot, limit: int) -> tuple[list[tuple[Any, int]], int]:
    top = snapshot.top_rows(limit).top(limit)
    return list(zip(top.items, top.counts.tolist(), strict=True)), top.next_count


def check_top(source: Source, table: Table, query: CountQuery, limits: Sequence[int] = (1000,)) -> None:
    expected = reference.ordered(reference.histogram(table, query))
    for limit in limits:
        with source.snapshot(query) as snapshot:
            rows, next_count = rows_of(snapshot, limit)
        assert rows == expected[:limit]
        assert [kind_of(item) for item, _ in rows] == [kind_of(item) for item, _ in expected[:limit]]
        assert next_count == (expected[limit][1] if len(expected) > limit else 0)


def kind_of(item: Any) -> Any:
    return tuple(map(type, item)) if isinstance(item, tuple) else type(item)


def check_groups(source: Source, counts: dict[Any, int], query: CountQuery, domain: Domain | None = None) -> None:
    """The counts of counts, and the name of every item, asked in another order than the engine has them."""
    sizes = reference.counts_of_counts(counts)
    places = [(count, rank) for count, size in zip(*sizes, strict=True) for rank in range(size)][::-1]
    with source.snapshot(query, domain=domain) as snapshot:
        assert snapshot.counts_of_counts() == sizes
        assert snapshot.names(places) == reference.ranked_names(counts, places)
        assert snapshot.counts_of_counts() == sizes
