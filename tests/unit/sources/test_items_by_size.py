"""Numbers for each t leave the engine for a few items only: sizes and sums are added up here, or there, alike."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pyarrow as pa
import pytest

from podium.sources import CountQuery, DuckDBSource, PairValue
from podium.sources.sql import kept_pairs
from podium.sources.sql.items_by_size import ItemsBySize


def test_sums_and_pairs_of_rows() -> None:
    table = ItemsBySize([("a", 1, 5, 50), ("a", 3, 2, 7), ("b", 3, 4, 4)])
    assert dict(table.pairs_by_size()) == {1: 5, 3: 6}
    assert table.sums(((2, 10), (3, 1))) == {"a": 507, "b": 4}
    assert ItemsBySize([]).sums(((3, 1),)) == {}


@pytest.mark.parametrize("value", [None, PairValue("seconds", clip=9)])
def test_few_items_and_many_get_the_same_numbers(value: PairValue | None, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    users, items, seconds = (rng.integers(low, high, size=160) for low, high in ((0, 60), (0, 12), (-3, 20)))
    table = pa.table({"user_id": users, "article": items, "seconds": seconds})
    found = []
    with closing(DuckDBSource(table)) as source:
        for few in (5, 4):
            monkeypatch.setattr(kept_pairs, "FEW_ITEMS", few)
            query = CountQuery(("article",), "user_id", value=value)
            with source.keep_pairs(query) as pairs:
                named, clip = pairs.among((3, 1, 4, 5, 99)), None if value is None else 4
                assert isinstance(named, kept_pairs.SqlNamedPairs)
                numbers = [named.sizes((1, 2, 4)), named.sums(((1, 7), (5, 3)), clip), named.sums(((5, 1),), clip)]
                found.append(numbers)
                # Either the rows are here, or a table of them is there.
                assert (bool(named._read), bool(named._kept)) == (few == 5, few == 4)
    assert found[0] == found[1]
    assert min(found[0][0][:2]) > 0
    assert found[0][1][-1] == 0
