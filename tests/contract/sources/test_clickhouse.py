"""ClickHouse passes the contract, embedded in the process and over HTTP as from a server."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from tests.support.clickhouse import embedded_clickhouse, served_clickhouse
from tests.support.sources.checks import SALT, SCALARS, Load, check_top
from tests.support.sources.conditions import CONDITIONS
from tests.support.sources.data import DOMAIN, EVENTS, Table, utc
from tests.support.sources.parquet import write_table
from tests.support.sources.suite import SourceContract

from podium.query.predicate import Compare, Operator, Predicate
from podium.query.schema import Column, Kind
from podium.sources import CountQuery, DomainItems, Source, open_source
from podium.sources.clickhouse.source import ClickHouseSource

TYPES = {
    Kind.TEXT: "String",
    Kind.INTEGER: "Int64",
    Kind.DECIMAL: "Decimal(20, 2)",
    Kind.BOOLEAN: "Bool",
    Kind.DATE: "Date32",
    Kind.TIMESTAMP: "DateTime64(6, 'Europe/Berlin')",
    Kind.FLOAT: "Float64",
}
LISTS = [place for place, column in enumerate(EVENTS.columns) if column.kind is Kind.LIST]
NO_MISSING_LISTS = replace(
    EVENTS,
    rows=tuple(
        tuple(() if place in LISTS and value is None else value for place, value in enumerate(row))
        for row in EVENTS.rows
    ),
)


def declared(column: Column) -> str:
    type_ = f"Nullable({TYPES[column.element or column.kind]})"
    name = column.name.replace("\\", "\\\\").replace("`", "\\`")
    return f"`{name}` {f'Array({type_})' if column.element else type_}"


@pytest.fixture(scope="module")
def engine() -> Iterator[Any]:
    with embedded_clickhouse() as session:
        yield session


@pytest.fixture(scope="module")
def fill(engine: Any, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., None]:
    folder = tmp_path_factory.mktemp("parquet")

    def fill(*tables: Table) -> None:
        for table in tables:
            columns = ", ".join(map(declared, table.columns))
            engine.query(f"CREATE OR REPLACE TABLE {table.name} ({columns}) ENGINE = MergeTree ORDER BY ()")
            engine.query(f"INSERT INTO {table.name} SELECT * FROM file('{write_table(table, folder)}', Parquet)")

    return fill


class TestEmbedded(SourceContract):
    @pytest.fixture(scope="class")
    @classmethod
    def load(cls, engine: Any, fill: Callable[..., None]) -> Iterator[Load]:
        sources: list[Source] = []

        def load(table: Table, *beside: Table) -> Source:
            fill(table, *beside)
            sources.append(open_source(engine, table=table.name))
            return sources[-1]

        yield load
        for source in sources:
            source.close()

    @pytest.mark.parametrize("where", CONDITIONS, ids=lambda where: str(CONDITIONS.index(where)))
    def test_conditions(self, events: Source, where: Predicate) -> None:
        # This engine has no missing lists: they were loaded as empty ones.
        check_top(events, NO_MISSING_LISTS, CountQuery(("number",), "user_id", where=where))


@pytest.fixture(scope="module")
def served(fill: Callable[..., None]) -> Iterator[Source]:
    fill(EVENTS, DOMAIN)
    with served_clickhouse() as url:
        source = open_source(url, table=EVENTS.name)
        yield source
        source.close()


PROMISES: tuple[Callable[..., None], ...] = (
    SourceContract.test_a_domain_in_a_table,
    SourceContract.test_a_domain_of_several_columns,
    SourceContract.test_bounded_lists,
    SourceContract.test_items_of_several_columns_left_out,
    SourceContract.test_many_items_listed_or_left_out,
    SourceContract.test_sizes,
    SourceContract.test_texts_left_out_are_themselves_and_nothing_else,
    SourceContract.test_weights_of_several_columns,
    SourceContract.test_many_names_at_once,
    SourceContract.test_several_columns_are_one_item,
    SourceContract.test_snapshots_do_not_meet,
    SourceContract.test_the_schema_says_kinds,
)


@pytest.mark.parametrize(
    ("promise", "arguments"),
    [
        *((SourceContract.test_a_domain_given_as_a_list, (item,)) for item in SCALARS),
        (SourceContract.test_a_domain_given_by_its_size, (12, 1)),
        *((promise, ()) for promise in PROMISES),
    ],
)
def test_over_http(served: Source, promise: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    promise(SourceContract(), served, *arguments)


OTHERS = {
    "colour": ("LowCardinality(Nullable(String))", Kind.TEXT),
    "country": ("FixedString(3)", Kind.TEXT),
    "state": ("Enum8('on' = 1, 'off' = 2)", Kind.TEXT),
    "identity": ("UUID", Kind.TEXT),
    "small": ("UInt8", Kind.INTEGER),
    "large": ("UInt64", Kind.INTEGER),
    "exact": ("Decimal(38, 12)", Kind.DECIMAL),
    "day": ("Date", Kind.DATE),
    "second": ("DateTime('Asia/Tokyo')", Kind.TIMESTAMP),
    "milli": ("DateTime64(3, 'America/St_Johns')", Kind.TIMESTAMP),
    "nano": ("Nullable(DateTime64(9))", Kind.TIMESTAMP),
    "words": ("Array(LowCardinality(String))", Kind.LIST),
    "huge": ("Int256", Kind.OTHER),
    "wide": ("Decimal(76, 3)", Kind.OTHER),
    "pairs": ("Map(String, String)", Kind.OTHER),
    "nested": ("Array(Array(String))", Kind.LIST),
    "half": ("Float32", Kind.FLOAT),
}
UUID = "0fffffff-0000-4000-8000-00000000000a"
MOMENT = utc(2024, 3, 31, 1, 30)


@pytest.fixture(scope="module")
def others(engine: Any) -> Iterator[Source]:
    columns = ", ".join(f"{name} {type_}" for name, (type_, _) in OTHERS.items())
    engine.query(f"CREATE TABLE others (user_id Int16, {columns}) ENGINE = Memory")
    day = "2024-03-31 01:30:00"
    engine.query(
        f"INSERT INTO others SELECT number, 'red', 'DE', 'off', '{UUID}', 255, 18446744073709551615, "
        f"'0.000000000001', '2024-03-31', toDateTime('{day}', 'UTC'), toDateTime64('{day}.007', 3, 'UTC'), "
        f"toDateTime64('{day}.000001999', 9, 'UTC'), ['b', 'a'], 1, 1, map(), [], 0.5 FROM numbers(2)"
    )
    source = open_source(engine, table="default.others")
    yield source
    source.close()


def test_types_beside_the_kinds(others: Source) -> None:
    assert {column.name: column.kind for column in others.schema().columns if column.name in OTHERS} == {
        name: kind for name, (_, kind) in OTHERS.items()
    }
    expected = {
        "colour": "red", "country": "DE", "state": "off", "identity": UUID, "small": 255, "large": 2**64 - 1,
        "exact": Decimal("1E-12"), "day": dt.date(2024, 3, 31), "second": MOMENT,
        "milli": MOMENT.replace(microsecond=7000), "nano": MOMENT.replace(microsecond=1),
    }  # fmt: skip
    for name, value in expected.items():
        same = Compare(name, Operator.EQUAL, value)  # type: ignore[arg-type]
        for query in (
            CountQuery((name,), "user_id", where=same),
            CountQuery((name,), "user_id", max_items_per_user=1, salt=SALT),
        ):
            with others.snapshot(query) as snapshot:
                assert snapshot.top_rows(5).top(5).items == (value,)
        with others.snapshot(CountQuery((name,), "user_id"), domain=DomainItems((value,))) as snapshot:
            assert snapshot.counts_of_counts() == ((2,), (1,))
            assert snapshot.names([(2, 0)]) == (value,)
    with others.snapshot(CountQuery(("words",), "user_id")) as snapshot:
        assert snapshot.top_rows(5).top(5).items == ("a", "b")


def test_fixed_strings_that_go_on_after_a_zero_byte_are_missing(engine: Any) -> None:
    """They would be one with whatever begins alike: two users who displace each other's items."""
    ids = (r"a\0bc", r"a\0de", "b", "abcd")
    engine.query("CREATE TABLE binary_ids (user_id FixedString(4), item String) ENGINE = Memory")
    for id_ in ids:
        engine.query(f"INSERT INTO binary_ids SELECT '{id_}', concat('i', toString(number)) FROM numbers(3)")
    source = open_source(engine, table="binary_ids")
    for most, expected in ((None, 6), (2, 4)):
        query = CountQuery(("item",), "user_id", max_items_per_user=most, salt=SALT if most else None)
        with source.snapshot(query) as snapshot:
            assert sum(snapshot.top_rows(5).top(5).counts.tolist()) == expected
    source.close()


def test_no_value_makes_the_engine_raise(engine: Any) -> None:
    """Bytes that are not text, and moments that no calendar of Python's has, count as missing."""
    engine.query(
        "CREATE TABLE strange (user_id Int64, item String, at DateTime64(0), fine DateTime64(9), micro DateTime64(6), "
        "day Date32) ENGINE = Memory"
    )
    largest, smallest = f"toInt64({2**63 - 1})", "toInt64('-9223372036854775808')"
    rows = ((r"\xff", largest, "0000-01-01"), ("ok", smallest, "1970-01-02"), (r"a\xc3", "86400::Int64", "9999-12-31"))
    for user, (text, ticks, day) in enumerate(rows):
        engine.query(
            f"INSERT INTO strange SELECT {user}, '{text}', reinterpret({ticks}, 'DateTime64(0)'), "
            f"reinterpret({ticks}, 'DateTime64(9)'), reinterpret({ticks}, 'DateTime64(6)'), toDate32('{day}')"
        )
    source = open_source(engine, table="strange")
    found: dict[str, set[Any]] = {}
    for item in ("item", "at", "fine", "micro", "day"):
        for most in (None, 1):
            query = CountQuery((item,), "user_id", max_items_per_user=most, salt=SALT if most else None)
            with source.snapshot(query) as snapshot:
                found[item] = set(snapshot.top_rows(5).top(5).items)
    source.close()
    assert found["item"] == {"ok"}
    assert found["at"] == {utc(1970, 1, 2)}
    # The smallest number of nanoseconds is what other tools write for a missing moment.
    assert {moment.year for moment in found["fine"]} == {1970, 2262}
    assert found["micro"] == {utc(1970, 1, 1, 0, 0, 0, 86400)}
    assert found["day"] == {dt.date(1970, 1, 2), dt.date(9999, 12, 31)}


def test_a_question_sees_one_state(engine: Any) -> None:
    engine.query("CREATE TABLE growing (user_id Int64, item String) ENGINE = MergeTree ORDER BY ()")
    engine.query("INSERT INTO growing VALUES (1, 'a'), (2, 'a'), (2, 'b')")
    source = open_source(engine, table="growing")
    with source.snapshot(CountQuery(("item",), "user_id")) as snapshot:
        assert snapshot.counts_of_counts() == ((2, 1), (1, 1))
        engine.query("INSERT INTO growing VALUES (1, 'b'), (1, 'c'), (2, 'c'), (3, 'c')")
        assert snapshot.names([(2, 0), (1, 0)]) == ("a", "b")
        assert snapshot.counts_of_counts() == ((2, 1), (1, 1))
    with source.snapshot(CountQuery(("item",), "user_id")) as snapshot:
        assert snapshot.counts_of_counts() == ((3, 2), (1, 2))
    source.close()


def test_a_connection_is_used_again_without_what_was_kept(engine: Any) -> None:
    engine.query("CREATE TABLE again (user_id Int64, item String) ENGINE = MergeTree ORDER BY ()")
    engine.query("INSERT INTO again VALUES (1, 'a')")
    source = open_source(engine, table="again")
    assert isinstance(source, ClickHouseSource)
    query = CountQuery(("item",), "user_id")
    for users in range(1, 4):
        with source.snapshot(query) as snapshot:
            # A table of an earlier question would have another count, or be in the way.
            assert snapshot.counts_of_counts() == ((users,), (1,))
        (client,) = source._connections._idle
        assert client.query("SELECT name FROM system.tables WHERE is_temporary").result_rows == []
        engine.query(f"INSERT INTO again VALUES ({users + 1}, 'a')")
    with suppress(RuntimeError), source.snapshot(query) as snapshot:
        snapshot.counts_of_counts()
        raise RuntimeError
    # What ended badly is not used again.
    assert source._connections._idle == []
    source.close()
