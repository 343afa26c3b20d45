"""Users whose items ClickHouse has in lists: whoever has too many keeps the first by their hash, others keep all."""

from __future__ import annotations

import hashlib
from contextlib import closing

from tests.support.clickhouse import embedded_clickhouse

from podium.sources import CountQuery, open_source

SALT, MOST = "0" * 32, 2
OWNED = {1: ["a"], 2: ["b", "a"], 3: ["c", "a", "b"], 4: ["d", "c", "b", "a", "e"]}


def kept(user: int, items: list[str]) -> list[str]:
    """What the contract says: the smallest by hash, and by name."""

    def place(item: str) -> tuple[str, str]:
        text = f"{SALT}:{user}:{len(item)}:{item}"
        return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(), item

    return items if len(items) <= MOST else sorted(items, key=place)[:MOST]


def test_lists_are_cut_to_the_first_by_hash() -> None:
    weights = ((1, 100), (MOST, 7))
    counts: dict[str, int] = {}
    sums: dict[str, int] = {}
    for user, items in OWNED.items():
        for item in kept(user, items):
            counts[item] = counts.get(item, 0) + 1
            sums[item] = sums.get(item, 0) + (100 if len(items) == 1 else 7)
    rows = ", ".join(f"({user}, '{item}')" for user, items in OWNED.items() for item in (*items, *items))
    with embedded_clickhouse() as session:
        session.query("CREATE TABLE owned (user_id Int64, article String) ENGINE = MergeTree ORDER BY user_id")
        session.query(f"INSERT INTO owned VALUES {rows}")
        query = CountQuery(("article",), "user_id", max_items_per_user=MOST, salt=SALT)
        weighted = CountQuery(("article",), "user_id", max_items_per_user=MOST, salt=SALT, weights=weights)
        with closing(open_source(session, table="owned")) as source:
            for asked, expected in ((query, counts), (weighted, sums)):
                with source.snapshot(asked) as snapshot:
                    top = snapshot.top_rows(10).top(10)
                assert dict(zip(top.items, top.counts.tolist(), strict=True)) == expected
        session.query("DROP TABLE owned")
