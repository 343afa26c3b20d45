"""Spark passes the contract on two threads, for a session whose own settings are not ours."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.support.sources.checks import SALT, Load
from tests.support.sources.data import DOMAIN, EVENTS, Table, utc
from tests.support.sources.parquet import write_table
from tests.support.sources.suite import SourceContract
from tests.support.spark import SparkCluster, spark_threads

from podium.errors import SourceFailure
from podium.query.predicate import Compare, Operator
from podium.query.schema import Kind
from podium.sources import CountQuery, DomainItems, DomainTable, Source, open_source
from podium.sources.engine_check.engine_report import check_source


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkCluster]:
    with spark_threads() as cluster:
        yield cluster


def rows(source: Source, query: CountQuery) -> dict[Any, int]:
    with source.snapshot(query) as snapshot:
        top = snapshot.top_rows(10).top(10)
    return dict(zip(top.items, top.counts.tolist(), strict=True))


class TestSpark(SourceContract):
    @pytest.fixture(scope="class")
    @classmethod
    def load(cls, spark: SparkCluster, tmp_path_factory: pytest.TempPathFactory) -> Load:
        folder = tmp_path_factory.mktemp("parquet")

        def load(table: Table, *beside: Table) -> Source:
            for each in (table, *beside):
                spark.session.read.parquet(str(write_table(each, folder))).createOrReplaceTempView(each.name)
            return open_source(spark.session, table=table.name)

        return load

    def test_it_passes_the_check_of_engines(self, spark: SparkCluster) -> None:
        report = check_source(spark.session)
        assert report.passed, report.text()
        assert {one.result for one in report.findings} == {"passed"}
        assert report.text().startswith(f"spark {spark.session.version}, podium ")

    def test_compiled_queries(self, spark: SparkCluster, events: Source) -> None:
        """The tests run without Spark's code generation, which takes longer than their queries; users have it."""
        names = ("spark.sql.codegen.wholeStage", "spark.sql.codegen.factoryMode", "spark.sql.adaptive.enabled")
        before = [spark.session.conf.get(name) for name in names]
        try:
            for name, value in zip(names, ("true", "CODEGEN_ONLY", "true"), strict=True):
                spark.session.conf.set(name, value)
            self.test_several_columns_are_one_item(events)
            self.test_users_in_the_hash(events, "user name")
            self.test_bounded_lists(events)
            self.test_a_domain_of_several_columns(events)
        finally:
            for name, old in zip(names, before, strict=True):
                spark.session.conf.set(name, str(old))

    def test_the_session_is_left_as_it_was(self, spark: SparkCluster, events: Source) -> None:
        views = spark.session.sql("SHOW VIEWS").collect()
        active = SparkSession.getActiveSession()
        assert active is not None
        with events.snapshot(CountQuery(("label",), "user_id"), domain=DomainItems(("a",))) as snapshot:
            snapshot.counts_of_counts()
            assert spark.session.sql("SHOW VIEWS").collect() == views
        assert SparkSession.getActiveSession() is active
        assert active.conf.get("spark.sql.session.timeZone") == "America/St_Johns"


@pytest.fixture(scope="module")
def events(spark: SparkCluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The contract's tables in other forms: a folder in two parts, named by a column that is not in the files."""
    folder = tmp_path_factory.mktemp("forms")
    for part in ("01", "2"):
        (folder / "events" / f"part={part}").mkdir(parents=True)
        write_table(EVENTS, folder / "events" / f"part={part}")
    return folder / "events"


def test_files_of_parquet(spark: SparkCluster, events: Path) -> None:
    source = open_source(spark.session, table=str(events))
    assert source.schema().names == (*EVENTS.names, "part")
    users = {row[0] for row in EVENTS.rows} - {None}
    assert rows(source, CountQuery(("part",), "user_id")) == {"01": len(users), "2": len(users)}


TYPES = {
    "tiny": ("1Y", Kind.INTEGER, 1),
    "medium": ("CAST(-2 AS INT)", Kind.INTEGER, -2),
    "any_case": ("'a' COLLATE UNICODE_CI", Kind.TEXT, "a"),
    "exact": ("CAST('0.000000000001' AS DECIMAL(38, 12))", Kind.DECIMAL, Decimal("1E-12")),
    "day": ("DATE '2024-03-31'", Kind.DATE, dt.date(2024, 3, 31)),
    "zoned": ("TIMESTAMP '2024-03-31 01:30:00.000001 UTC'", Kind.TIMESTAMP, utc(2024, 3, 31, 1, 30, 0, 1)),
    "local": ("TIMESTAMP_NTZ '2024-03-31 01:30:00.000001'", Kind.TIMESTAMP, utc(2024, 3, 31, 1, 30, 0, 1)),
    "words": ("ARRAY('b' COLLATE UNICODE_CI)", Kind.LIST, "b"),
    "half": ("0.5D", Kind.FLOAT, None),
    "raw": ("X'00'", Kind.OTHER, None),
    "pair": ("STRUCT(1, 2)", Kind.OTHER, None),
    "nested": ("ARRAY(ARRAY(1))", Kind.LIST, None),
}


def test_types_beside_the_kinds(spark: SparkCluster) -> None:
    columns = ", ".join(f"{text} AS {name}" for name, (text, _, _) in TYPES.items())
    spark.session.sql(f"CREATE OR REPLACE TEMP VIEW others AS SELECT id AS user_id, {columns} FROM RANGE(2)")
    source = open_source(spark.session, table="others")
    assert {column.name: column.kind for column in source.schema().columns[1:]} == {
        name: kind for name, (_, kind, _) in TYPES.items()
    }
    for name, (_, kind, value) in TYPES.items():
        if value is None:
            continue
        where = None if kind is Kind.LIST else Compare(name, Operator.EQUAL, value)  # type: ignore[arg-type]
        assert rows(source, CountQuery((name,), "user_id", where=where, max_items_per_user=1, salt=SALT)) == {value: 2}


def test_text_is_compared_by_its_bytes_whatever_its_collation(spark: SparkCluster) -> None:
    spark.session.sql(
        "CREATE OR REPLACE TEMP VIEW collated AS SELECT id AS user_id, "
        "CASE id WHEN 0 THEN 'a' WHEN 1 THEN 'A' ELSE 'a ' END COLLATE UNICODE_CI_RTRIM AS item FROM RANGE(4)"
    )
    source = open_source(spark.session, table="collated")
    assert rows(source, CountQuery(("item",), "user_id")) == {"a ": 2, "A": 1, "a": 1}
    assert rows(source, CountQuery(("item",), "user_id", where=Compare("item", Operator.EQUAL, "a"))) == {"a": 1}


def test_no_value_makes_the_engine_raise(spark: SparkCluster) -> None:
    """Bytes that are not text, and dates that Python does not have, count as missing."""
    spark.session.sql(
        "CREATE OR REPLACE TEMP VIEW strange AS SELECT id AS user_id, "
        "CASE WHEN id < 2 THEN CAST(X'FF' AS STRING) ELSE 'ok' END AS item, "
        "DATE_ADD(DATE '1970-01-01', CAST(id * 1000000000 AS INT)) AS day, "
        f"TIMESTAMP_MICROS(IF(id = 0, {-(2**63)} + id, IF(id = 1, {2**63 - 1}, 0))) AS at FROM RANGE(3)"
    )
    source = open_source(spark.session, table="strange")
    for item, value in (("item", "ok"), ("day", dt.date(1970, 1, 1)), ("at", utc(1970, 1, 1))):
        for most in (None, 1):
            query = CountQuery((item,), "user_id", max_items_per_user=most, salt=SALT if most else None)
            assert rows(source, query) == {value: 1}


def test_a_question_sees_one_state(spark: SparkCluster, tmp_path: Path) -> None:
    path = str(tmp_path / "growing")
    first = spark.session.sql("SELECT * FROM VALUES (1L, 'a'), (2L, 'a'), (2L, 'b') AS t (user_id, item)")
    first.write.parquet(path)
    source = open_source(spark.session, table=path)
    with source.snapshot(CountQuery(("item",), "user_id")) as snapshot:
        assert snapshot.counts_of_counts() == ((2, 1), (1, 1))
        second = spark.session.sql("SELECT * FROM VALUES (1L, 'c'), (2L, 'c'), (3L, 'c') AS t (user_id, item)")
        second.write.mode("append").parquet(path)
        assert snapshot.names([(2, 0), (1, 0)]) == ("a", "b")
        assert snapshot.counts_of_counts() == ((2, 1), (1, 1))
    with source.snapshot(CountQuery(("item",), "user_id")) as snapshot:
        assert snapshot.counts_of_counts() == ((3, 2, 1), (1, 1, 1))


def test_a_domain_in_another_form(spark: SparkCluster, events: Path, tmp_path: Path) -> None:
    source = open_source(spark.session, table=str(events))
    domain = DomainTable(str(write_table(DOMAIN, tmp_path)))
    with source.snapshot(CountQuery(("label",), "user_id"), domain=domain) as snapshot:
        counts, sizes = snapshot.counts_of_counts()
        assert (counts[-1], sum(sizes)) == (0, 6)


def test_conditions_stay_above_a_view(spark: SparkCluster, tmp_path: Path) -> None:
    """All columns are computed for every row, by compiled queries too: a bad row fails for whoever is named."""
    rows = "SELECT id AS user_id, 'num' AS kind, IF(id = 7, 'HIV positive', '1') AS raw FROM RANGE(10)"
    spark.session.sql(rows).write.parquet(str(tmp_path / "rows"))
    spark.session.sql(
        "CREATE OR REPLACE TEMP VIEW guarded AS SELECT user_id, CAST(raw AS INT) AS item "
        f"FROM parquet.`{tmp_path / 'rows'}` WHERE lower(trim(kind)) = 'num'"
    )
    source = open_source(spark.session, table="guarded")
    named = CountQuery(("item",), "user_id", where=Compare("user_id", Operator.EQUAL, 1))
    (query,) = source.queries(named, limit=3)
    plan = spark.session.sql(f"EXPLAIN {query}").collect()[0][0]
    above, fence, below = plan.partition("monotonically_increasing_id")
    assert fence
    assert "user_id" in above
    assert "= 1" in above
    assert "= 1" not in below
    assert "isnotnull" not in below
    name = "spark.sql.codegen.wholeStage"
    before = spark.session.conf.get(name)
    try:
        for compiled in ("true", "false"):
            spark.session.conf.set(name, compiled)
            with pytest.raises(SourceFailure), source.snapshot(named) as snapshot:
                snapshot.top_rows(3)
    finally:
        spark.session.conf.set(name, str(before))
