"""Users who are cut to a few items: an item is counted by all its pairs, less those that its users lost."""

from __future__ import annotations

from contextlib import closing

import pyarrow as pa

from podium.sources import CountQuery, DomainItems, DuckDBSource

_CUT = CountQuery(("article",), "user_id", max_items_per_user=1, salt="0" * 32)


def _source(pairs: list[tuple[int, int]]) -> DuckDBSource:
    return DuckDBSource(pa.table({"user_id": [user for user, _ in pairs], "article": [item for _, item in pairs]}))


def test_an_item_that_nobody_keeps_is_not_listed() -> None:
    with closing(_source([(1, item) for item in range(5)])) as source, source.snapshot(_CUT) as snapshot:
        assert snapshot.counts_of_counts() == ((1,), (1,))


def test_items_of_a_domain_are_counted_whoever_keeps_them() -> None:
    domain = DomainItems(tuple(range(4)))
    with closing(_source([(1, item) for item in range(5)])) as source, source.snapshot(_CUT, domain=domain) as snapshot:
        assert snapshot.counts_of_counts() == ((1, 0), (1, 3))


def test_who_has_few_items_keeps_them_all() -> None:
    pairs = [(user, 0) for user in range(1, 4)] + [(9, item) for item in (0, 1, 2)]
    with closing(_source(pairs)) as source, source.snapshot(_CUT) as snapshot:
        top = snapshot.top_rows(5)
    # The fourth user keeps one of three items.
    assert sum(top.top(5).counts) == 4
    assert top.top(1).counts[0] >= 3
