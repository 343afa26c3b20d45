"""What DuckDB knows of a Parquet file from its statistics decides nothing: they are those of all rows, without NaN."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from podium.histogram import Item
from podium.query.predicate import Compare, Literal, Missing, Not, Operator, Predicate
from podium.sources import CountQuery, DuckDBSource
from podium.sources.protocol import PairValue

NUMBERS = [2.0, 2.0, math.nan, math.nan]
"""Of the numbers that are known, the least is the largest: the engine takes the column for a constant."""

CONSTANTS: dict[str, Literal] = {"decimal(2)": 2, "text": "2.0", "integer": 2}
CONDITIONS: list[Predicate] = [Missing("f"), Not(Missing("f"))]


def counted(
    folder: Path, numbers: Sequence[float], kind: pa.DataType, declared: str, query: CountQuery
) -> dict[Item, int]:
    path = folder / f"{len(numbers)}.parquet"
    rows = {"u": list(range(len(numbers))), "i": ["a"] * len(numbers), "f": pa.array(numbers, kind)}
    pq.write_table(pa.table(rows), path)
    with closing(DuckDBSource(path, types={"f": declared})) as source:
        return counts_of(source, query)


def counts_of(source: DuckDBSource, query: CountQuery) -> dict[Item, int]:
    with source.snapshot(query) as snapshot:
        rows = snapshot.top_rows(100).top(100)
    return dict(zip(rows.items, rows.counts.tolist(), strict=True))


def differences(one: Mapping[Item, int], more: Mapping[Item, int]) -> dict[Item, int]:
    """What another user adds to each item."""
    return {
        item: more.get(item, 0) - one.get(item, 0) for item in {*one, *more} if more.get(item, 0) != one.get(item, 0)
    }


def questions(declared: str) -> dict[str, CountQuery]:
    compared = [Compare("f", operator, CONSTANTS[declared]) for operator in Operator]
    asked = {f"where {condition}": CountQuery(("i",), "u", condition) for condition in [*CONDITIONS, *compared]}
    bound: dict[str, Any] = {"max_items_per_user": 1, "salt": "0" * 32}
    return {
        **asked,
        "items": CountQuery(("f",), "u"),
        "items, bounded": CountQuery(("f",), "u", **bound),
        "users": CountQuery(("i",), "f"),
        "users, bounded": CountQuery(("i",), "f", **bound),
        **({} if declared == "text" else {"sums": CountQuery(("i",), "u", value=PairValue("f", Fraction(1), clip=64))}),
    }


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
@pytest.mark.parametrize("declared", CONSTANTS)
@pytest.mark.parametrize("another", [7.0, -1.0, math.inf])
def test_another_user_changes_no_more_than_their_own_counts(
    tmp_path: Path, kind: pa.DataType, declared: str, another: float
) -> None:
    for name, query in questions(declared).items():
        one = counted(tmp_path, NUMBERS, kind, declared, query)
        more = counted(tmp_path, [*NUMBERS, another], kind, declared, query)
        added = differences(one, more)
        limit = 64 if name == "sums" else 1
        assert len(added) <= 1, name
        assert all(abs(by) <= limit for by in added.values()), (name, one, more)


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
@pytest.mark.parametrize("declared", CONSTANTS)
def test_what_is_not_a_number_is_missing(tmp_path: Path, kind: pa.DataType, declared: str) -> None:
    for numbers in (NUMBERS, [*NUMBERS, 7.0]):
        known = len(numbers) - 2
        expected = {"a": 2}, {"a": known}
        found = tuple(
            counted(tmp_path, numbers, kind, declared, CountQuery(("i",), "u", where)) for where in CONDITIONS
        )
        assert found == expected
        items = counted(tmp_path, numbers, kind, declared, CountQuery(("f",), "u"))
        assert sorted(items.values()) == [1] * (known - 2) + [2]
        # Users are numbers here: 2.0 is one user.
        assert counted(tmp_path, numbers, kind, declared, CountQuery(("i",), "f")) == {"a": known - 1}


@pytest.mark.parametrize("others", [(2.5,), (2.0, 2.0), (1e300,)])
def test_sums_of_a_column_that_seems_constant(tmp_path: Path, others: tuple[float, ...]) -> None:
    numbers = [*others, math.nan]
    pq.write_table(
        pa.table({"u": range(len(numbers)), "i": ["a"] * len(numbers), "f": numbers}), tmp_path / "c.parquet"
    )
    value = PairValue("f", Fraction(1), clip=64)
    with closing(DuckDBSource(tmp_path / "c.parquet")) as source:
        found = counts_of(source, CountQuery(("i",), "u", value=value))
    assert found == {"a": sum(math.floor(min(64, number)) for number in others)}
