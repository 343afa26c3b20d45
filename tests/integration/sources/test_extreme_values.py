"""Values at the ends of each engine's types: exact sums, or a refusal before a row is read, and never an error."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.columns import columns
from tests.support.sources import reference
from tests.support.sources.checks import check_top
from tests.support.sources.data import Table
from tests.support.sources.databases import Database, open_database

from podium.errors import InvalidArgument
from podium.sources import MAX_CLIP, CountQuery, PairValue

SERVERS = ("DuckDB", "PostgreSQL", "MariaDB", "ClickHouse")
# The columns of the table, and their types beside BIGINT and TEXT.
WIDE = {
    "DuckDB": ("BIGINT", "TEXT", "DECIMAL(38, 10)", "DECIMAL(38, 37)", "DECIMAL(9, 2)", "BIGINT"),
    "PostgreSQL": ("BIGINT", "TEXT", "NUMERIC(38, 10)", "NUMERIC", "NUMERIC(9, 2)", "BIGINT"),
    "MariaDB": ("BIGINT", "TEXT", "DECIMAL(38, 10)", "DECIMAL(38, 37)", "DECIMAL(9, 2)", "BIGINT"),
    "ClickHouse": tuple(
        f"Nullable({type_})"
        for type_ in ("Int64", "String", "Decimal(38, 10)", "Decimal(38, 37)", "Decimal(9, 2)", "Int64")
    ),
}
SCALES = {"DuckDB": 37, "PostgreSQL": 38, "MariaDB": 37, "ClickHouse": 37}
COLUMNS = ("user_id", "label", "large", "fine", "price", "empty")
LARGE = "9" * 28 + "." + "9" * 10
FINE = "9." + "9" * 37
ROWS: tuple[tuple[Any, ...], ...] = (
    (1, "a", LARGE, FINE, "1.23", None),
    (2, "a", f"-{LARGE}", f"-{FINE}", "-1.23", None),
    (3, "a", "0.0000000007", "0." + "0" * 36 + "7", "0.01", None),
    (4, "b", "-0.0000000001", "0." + "0" * 36 + "1", "9999999.99", None),
    (5, "b", "1099.5116277759", "1.5", "0.00", None),
    (5, "b", None, None, None, None),
    (6, "c", None, None, None, None),
)


@pytest.fixture(scope="module", params=SERVERS)
def wide(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Database, Table]]:
    types = WIDE[request.param]
    with open_database(request.param, tmp_path_factory.mktemp("wide")) as database:
        declared = ", ".join(f"{name} {type_}" for name, type_ in zip(COLUMNS, types, strict=True))
        database.execute(f"CREATE TABLE wide ({declared}) {database.engine}")
        for row in ROWS:
            cells = (None if cell is None else str(cell) for cell in row)
            values = ", ".join(database.literal(cell, type_) for cell, type_ in zip(cells, types, strict=True))
            database.execute(f"INSERT INTO wide VALUES ({values})")
        held = columns(
            {
                "user_id": "integer",
                "label": "text",
                "large": "decimal(10)",
                "fine": f"decimal({SCALES[request.param]})",
                "price": "decimal(2)",
                "empty": "integer",
            }
        )
        rows = tuple((*row[:2], *(None if cell is None else Decimal(cell) for cell in row[2:])) for row in ROWS)
        yield database, Table("wide", held, rows)


@pytest.mark.parametrize("clip", [1, 5000, 2**31, MAX_CLIP])
@pytest.mark.parametrize("floor", [0, -7, -MAX_CLIP])
def test_decimals_of_38_digits(wide: tuple[Database, Table], clip: int, floor: int) -> None:
    database, table = wide
    with database.opened("wide") as source:
        for column, unit in (
            ("large", Fraction(1, 10**10)),
            ("large", Fraction(1)),
            ("large", Fraction(10**20)),
            ("large", Fraction(1, 3)),
            ("fine", Fraction(1, 10**37)),
            ("fine", Fraction(1)),
            ("price", Fraction(1, 100)),
            ("price", Fraction(2, 7)),
            ("empty", Fraction(1)),
        ):
            query = CountQuery(("label",), "user_id", value=PairValue(column, unit, clip, floor))
            source.check(query)
            check_top(source, table, query)


@pytest.mark.parametrize("name", ["DuckDB", "PostgreSQL", "MariaDB", "ClickHouse", "SQLite"])
def test_sums_that_exceed_64_bits(name: str, tmp_path: Path) -> None:
    """A count ends at 2^62, and a user with very many rows for an item counts once the clip."""
    largest = 2**63 - 1
    series = {
        "PostgreSQL": "generate_series(1, {}) AS t (i)",
        "MariaDB": "(SELECT seq AS i FROM seq_1_to_{}) AS t",
        "DuckDB": "range({}) AS t (i)",
        "ClickHouse": "(SELECT number AS i FROM numbers({})) AS t",
        "SQLite": "(WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < {}) SELECT i FROM r)",
    }[name]
    numbers, types = 10_000_000 if name == "DuckDB" else 3000, ("Int64", "String", "Int64")
    if name != "ClickHouse":
        types = ("BIGINT", "TEXT", "BIGINT")
    with open_database(name, tmp_path) as database:
        declared = ", ".join(f"{column} {type_}" for column, type_ in zip(("u", "label", "x"), types, strict=True))
        database.execute(f"CREATE TABLE many ({declared}) {database.engine}")
        database.execute(f"INSERT INTO many SELECT i, 'users', {largest} FROM {series.format(numbers)}")
        database.execute(f"INSERT INTO many SELECT 1, 'rows', {largest} FROM {series.format(1_000_000)}")
        with database.opened("many") as source:
            clip = 2**31 if name == "SQLite" else MAX_CLIP
            query = CountQuery(("label",), "u", value=PairValue("x", clip=clip))
            source.check(query)
            with source.snapshot(query) as snapshot:
                top = snapshot.top_rows(5).top(5)
            assert dict(zip(top.items, top.counts.tolist(), strict=True)) == {
                "users": min(numbers * clip, 2**62),
                "rows": clip,
            }
            with source.keep_pairs(CountQuery(("label",), "u", value=PairValue("x", clip=2**31))) as pairs:
                assert pairs.among(("users", "rows")).sums(((2, 1),)) == (numbers * 2**31, 2**31)


def test_sqlite_refuses_what_64_bits_do_not_hold(tmp_path: Path) -> None:
    salt = "0123456789abcdef" * 2
    with open_database("SQLite", tmp_path) as database:
        database.execute("CREATE TABLE t (u BIGINT, label TEXT, x BIGINT)")
        with database.opened("t") as source:
            for value, weights in (
                (PairValue("x", clip=2**31 + 1), None),
                (PairValue("x", clip=1, floor=-(2**31) - 1), None),
                (PairValue("x", clip=2**20), ((1, 2**12),)),
            ):
                bounded = {} if weights is None else {"max_items_per_user": 1, "salt": salt}
                query = CountQuery(("label",), "u", value=value, weights=weights, **bounded)  # type: ignore[arg-type]
                with pytest.raises(InvalidArgument, match="clip="):
                    source.check(query)


def test_sqlite_counts_only_numbers(tmp_path: Path) -> None:
    """A column of SQLite holds anything: texts and bytes are missing values, and whole numbers are numbers."""
    cells = (1, 2.5, "'12'", "'abc'", "x'31'", "NULL", "9e999", "-9e999", 0.1, "'1e5x'")
    with open_database("SQLite", tmp_path) as database:
        database.execute("CREATE TABLE t (u BIGINT, label TEXT, x BLOB, y DOUBLE, z BIGINT)")
        for place, cell in enumerate(cells):
            database.execute(f"INSERT INTO t VALUES ({place}, 'item{place}', {cell}, {cell}, {cell})")
        with database.opened("t") as source:
            found = {}
            for column in ("y", "z"):
                query = CountQuery(("label",), "u", value=PairValue(column, Fraction(1, 10), 1000))
                with source.snapshot(query) as snapshot:
                    top = snapshot.top_rows(50).top(50)
                found[column] = dict(zip(top.items, top.counts.tolist(), strict=True))
    # A text that is a number becomes one when it is stored in a column of numbers.
    assert found["y"] == {"item0": 10, "item1": 25, "item2": 120, "item6": 1000, "item8": 1}
    assert found["z"] == {"item0": 10, "item2": 120}


def test_each_row_is_rounded() -> None:
    """The order of rows decides a sum of doubles, which is why each row is rounded first."""
    rows = (0.1, 0.2, 0.3)
    assert (sum(rows) / 0.2, sum(rows[::-1]) / 0.2) == (3.0000000000000004, 2.9999999999999996)
    value = PairValue("x", Fraction(1, 5), 10)
    assert [reference.units({"x": row}, value) for row in rows] == [0, 1, 1]
