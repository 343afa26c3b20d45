"""Scaled pair values on DuckDB by names of their own, for ``tools.mutants``; and lengths of large amounts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from tests.support.sources import reference
from tests.support.sources.databases import open_database
from tests.support.sources.norms import AMOUNTS, NormContract

import podium
from podium.sources import MAX_CLIP, CountQuery, PairValue, Source, open_source


@pytest.fixture
def amounts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Source]:
    # DuckDB does not choose what a user keeps by MD5.
    monkeypatch.setattr(reference, "text_hash", reference.duckdb_hash)
    names = [column.name for column in AMOUNTS.columns[:3]]
    columns = zip(*(row[:3] for row in AMOUNTS.rows), strict=True)
    source = open_source(pa.table({name: pa.array(list(values)) for name, values in zip(names, columns, strict=True)}))
    yield source
    source.close()


def test_scaled_pairs_are_those_of_plain_python(amounts: Source) -> None:
    NormContract().test_parts_and_weights(amounts)


def test_scaled_pairs_of_named_items_are_too(amounts: Source) -> None:
    NormContract().test_parts_of_kept_pairs(amounts)


@pytest.mark.parametrize("name", ["SQLite", "DuckDB"])
def test_lengths_of_large_amounts_are_exact(name: str, tmp_path: Path) -> None:
    """On both sides of every end of a bucket; SQLite adds up squares of halves, and no sum of it may overflow."""
    most = 2**30 if name == "SQLite" else MAX_CLIP
    users: list[tuple[int, ...]] = [(2**j,) for j in range(32)]
    users += [(2**j, 1) for j in range(32)] + [(2**j - 1, 2**j - 1, 2**j - 1, 2**j - 1) for j in range(1, 31)]
    users += [(2**j - 1, 2 ** (j // 2)) for j in range(2, 32)] + [(2**15 + 1, 2**15 - 1, 3), (2**31, 2**30, 7)]
    with open_database(name, tmp_path) as database:
        database.execute("CREATE TABLE t (u BIGINT, label BIGINT, x BIGINT)")
        rows = [(user, place, x) for user, amounts in enumerate(users) for place, x in enumerate(amounts)]
        database.execute(f"INSERT INTO t VALUES {', '.join(map(str, rows))}")
        with database.opened("t") as source:
            query = CountQuery(("label",), "u", value=PairValue("x", clip=2**31))
            with source.keep_pairs(query) as pairs:
                lengths, sums = pairs.norm_histograms(41)
    expected, added = [0] * 41, [0] * 41
    for amounts in users:
        square = sum(min(x, most) ** 2 for x in amounts)
        expected[next(j for j in range(41) if square <= 4**j)] += 1
        added[(sum(amounts) - 1).bit_length()] += 1
    assert (list(lengths), list(sums)) == (expected, added)


def test_a_length_that_is_chosen_on_sqlite_may_be_large(tmp_path: Path) -> None:
    """Amounts of many millions: a length of 2^15 would leave hardly anything of them."""
    with open_database("SQLite", tmp_path) as database:
        database.execute("CREATE TABLE t (u BIGINT, label TEXT, x BIGINT)")
        rows = [(user, label, 10**7 + user) for user in range(300) for label in "abc"[: 1 + user % 3]]
        database.execute(f"INSERT INTO t VALUES {', '.join(map(str, rows))}")
        with database.opened("t") as source:
            release = podium.top(source, item="label", user="u", by="sum(x)", k=3, epsilon=200, delta="1e-12")
    assert release.items == ("a", "b", "c")
    assert int(release.parameters["length"]) >= 2**23
