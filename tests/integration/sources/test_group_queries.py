"""A question with groups sends as many queries for 200 groups as for 2, and reads the table once for all its rounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from podium.sources import CountQuery, DuckDBSource, GroupCut
from podium.sources.duckdb.connection import DuckDBSession

SALT = "0123456789abcdef" * 2
WEIGHTS = ((1, 3), (2, 2))
CUT = GroupCut(("country",), within_group=True)
KEPT = CountQuery(("article",), "user_id", salt=SALT, groups=CUT)
WEIGHED = CountQuery(("article",), "user_id", max_items_per_user=2, salt=SALT, weights=WEIGHTS, groups=CUT)


def ask(source: DuckDBSource) -> int:
    """Every way to read groups; returns how many there were."""
    with source.snapshot(KEPT) as snapshot:
        groups = [group for group, _ in snapshot.grouped_top_rows(1)]
    with source.snapshot(KEPT) as snapshot:
        snapshot.grouped_profiles(1)
        assert len(list(snapshot.grouped_rows(range(len(groups))))) == len(groups)
    with source.keep_pairs(KEPT) as pairs:
        rows = pairs.snapshot(WEIGHED)
        tops = {group: [(counts[0], 0)] for group, counts, _ in rows.grouped_tallies()}
        named = pairs.grouped_among(rows.grouped_names(tops))
        assert len(named.sizes((1, 2))) == len(named.sums(dict.fromkeys(tops, WEIGHTS))) == len(groups)
    return len(groups)


def noting(call: Callable[..., Any], sent: list[str]) -> Callable[..., Any]:
    """The method of a session, which also writes down what is sent."""

    def noted(self: DuckDBSession, *given: Any, **more: Any) -> Any:
        sent.append(" ".join(str(each) for each in given if isinstance(each, str) or hasattr(each, "sql")))
        return call(self, *given, **more)

    return noted


def test_as_many_queries_for_two_groups_as_for_two_hundred(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    for name in ("fetch", "stream", "keep", "load"):
        monkeypatch.setattr(DuckDBSession, name, noting(getattr(DuckDBSession, name), sent))
    numbers = []
    for groups in (2, 200):
        users = list(range(4 * groups))
        countries, articles = [user % groups for user in users], [user % 3 for user in users]
        table = {"user_id": users, "country": countries, "article": articles}
        source = DuckDBSource(pa.table(table))
        sent.clear()
        assert ask(source) == groups
        source.close()
        numbers.append(len(sent))
        # Once for the top rows, once for the profiles, once for the pairs of all rounds.
        assert sum(text.count("FROM frame") for text in sent) == 3
    assert numbers[0] == numbers[1] > 5
