"""What is computed when it is read is computed for every row, before a condition of ours: by the engines' own plans."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest
import sqlalchemy as sa
from tests.support.clickhouse import embedded_clickhouse
from tests.support.postgres import new_database

from podium.errors import SourceUnavailable
from podium.query.predicate import And, Compare, Operator
from podium.sources import CountQuery, DomainItems, DomainTable, Source, open_source
from podium.sources.sqlalchemy.source import SQLAlchemySource

ONE = Compare("u", Operator.EQUAL, 1)
CONSTANT = And((ONE, Compare("i", Operator.EQUAL, 1)))
# The condition names the user; what is counted is one value.
QUERIES = [CountQuery(("i",), "u", where) for where in (None, ONE, CONSTANT)]
VIEW = "SELECT u, CAST(raw AS INTEGER) AS i FROM t WHERE lower(trim(kind)) = 'num'"


def computed(source: Any, table: str | None = None) -> set[str]:
    return set((source.relation() if table is None else source.domain_relation(table)).computed)


def sql_of(source: Source, query: CountQuery) -> str:
    (sql,) = source.queries(query, limit=3)
    return sql


@pytest.fixture(scope="module")
def duck(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("duckdb") / "t.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(
            "CREATE TABLE t (u BIGINT, kind VARCHAR, raw VARCHAR, twice BIGINT GENERATED ALWAYS AS (2 * u));"
            "INSERT INTO t SELECT range, 'num', '1' FROM range(100);"
            f"CREATE VIEW v AS {VIEW}; CREATE SCHEMA s; CREATE VIEW s.t AS SELECT * FROM main.t"
        )
    return path


def test_duckdb_knows_what_is_computed(duck: Path) -> None:
    with closing(open_source(duck, table="t")) as source:
        assert computed(source) == {"twice"}
        assert computed(source, "v") == {"u", "i"}
        assert computed(source, "s.t") == {"u", "kind", "raw", "twice"}
        assert "OFFSET" not in sql_of(source, CountQuery(("kind",), "u", ONE))
        assert sql_of(source, CountQuery(("twice",), "u")).count("OFFSET 0") == 1
        (kept, *_) = source.queries(CountQuery(("kind",), "u"), domain=DomainTable("s.t"))
        assert kept.count("OFFSET 0") == 1


@pytest.mark.parametrize("query", QUERIES)
def test_duckdb_plans_no_condition_below_a_view(duck: Path, query: CountQuery) -> None:
    with closing(open_source(duck, table="v")) as source:
        sql = sql_of(source, query)
    with duckdb.connect(duck) as connection:
        plan = connection.execute("EXPLAIN " + sql.replace('"data".', '"t".')).fetchall()[0][1]
    above, fence, below = plan.partition("Limit")
    assert fence
    assert "Empty Result" not in plan
    assert "NOT (u IS NULL)" in above
    assert [line for line in below.splitlines() if "IS NULL" in line or " = " in line] == [
        line for line in below.splitlines() if """Filters: lower("trim"(kind)) = 'num'""" in line
    ]


def test_duckdb_reads_a_view_for_users_that_no_row_can_have(duck: Path) -> None:
    """The least and the last user are in the statistics of a table: they must not answer in place of the rows."""
    with closing(open_source(duck, table="v")) as source:
        query = sql_of(source, CountQuery(("i",), "u", Compare("u", Operator.EQUAL, 1_000)))
    with duckdb.connect(duck) as connection:
        plan = connection.execute("EXPLAIN " + query.replace('"data".', '"t".')).fetchall()[0][1]
    assert "Filters: lower" in plan


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with new_database() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(
                "CREATE TABLE t (u bigint, kind text, raw text);"
                "INSERT INTO t SELECT n, 'num', '1' FROM generate_series(1, 1000) n; CREATE INDEX ON t (u); ANALYZE t;"
                f"CREATE VIEW v AS {VIEW}; CREATE VIEW b WITH (security_barrier) AS {VIEW};"
                f"CREATE MATERIALIZED VIEW m AS {VIEW};"
                "CREATE TABLE g (u bigint, s bigint GENERATED ALWAYS AS (u + 1) STORED);"
                "CREATE TABLE parts (u bigint) PARTITION BY RANGE (u);"
                "CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (9);"
                "CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;"
                "CREATE FOREIGN TABLE f (u bigint) SERVER nowhere;"
                "CREATE TABLE mixed (u bigint) PARTITION BY RANGE (u);"
                "CREATE FOREIGN TABLE far PARTITION OF mixed FOR VALUES FROM (0) TO (9) SERVER nowhere;"
                "CREATE TABLE policed (u bigint); ALTER TABLE policed ENABLE ROW LEVEL SECURITY;"
                "CREATE POLICY p ON policed USING (u > 0); CREATE ROLE reader_of_rows LOGIN;"
                "GRANT SELECT ON policed TO reader_of_rows"
            )
            if connection.info.server_version >= 180000:
                connection.execute("ALTER TABLE g ADD v bigint GENERATED ALWAYS AS (u + 1) VIRTUAL")
        yield url
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP OWNED BY reader_of_rows; DROP ROLE reader_of_rows")


@pytest.mark.parametrize("source_class", [open_source, SQLAlchemySource])
def test_postgresql_knows_what_is_computed(server: str, source_class: Any) -> None:
    url = server if source_class is open_source else server.replace("postgresql:", "postgresql+psycopg:")
    with closing(source_class(url, table="t")) as source:
        assert computed(source) == computed(source, "m") == computed(source, "parts") == set()
        assert computed(source, "policed") == set()
        assert computed(source, "v") == computed(source, "b") == {"u", "i"}
        assert computed(source, "f") == computed(source, "mixed") == {"u"}
        assert computed(source, "g") <= {"v"}
    user = f"{url}{'&' if '?' in url else '?'}options=-c%20role%3Dreader_of_rows"
    with closing(source_class(user, table="policed")) as source:
        assert computed(source) == {"u"}


@pytest.mark.parametrize("view", ["v", "b"])
@pytest.mark.parametrize("query", QUERIES)
def test_postgresql_plans_no_condition_below_a_view(server: str, view: str, query: CountQuery) -> None:
    with closing(open_source(server, table=view)) as source:
        sql = sql_of(source, query)
    with psycopg.connect(server) as connection:
        plan = "\n".join(row[0] for row in connection.execute(f"EXPLAIN {sql}".encode()))
    # A window over all rows comes before every filter of ours: whoever stops early has read all of the view.
    above, fence, below = plan.partition("WindowAgg")
    assert fence
    assert "IS NOT NULL" in above
    assert [line.strip() for line in below.splitlines() if "Filter" in line or "Cond" in line] == [
        "Filter: (lower(TRIM(BOTH FROM kind)) = 'num'::text)"
    ]


def test_postgresql_tables_keep_their_indices(server: str) -> None:
    with closing(open_source(server, table="t")) as source:
        sql = sql_of(source, CountQuery(("kind",), "u", ONE))
    with psycopg.connect(server) as connection:
        plan = "\n".join(row[0] for row in connection.execute(f"EXPLAIN {sql}".encode()))
    assert "Index Cond: ((u IS NOT NULL) AND (u = '1'::bigint))" in plan


@pytest.fixture(scope="module")
def lite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sqlite") / "t.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            "CREATE TABLE t (u BIGINT, i BIGINT, raw TEXT, v BIGINT AS (u + 1), s BIGINT AS (u + 1) STORED);"
            "CREATE INDEX tu ON t (u); CREATE VIEW v AS SELECT u, i FROM t WHERE json_extract(raw, '$') IS NOT NULL;"
            "CREATE VIRTUAL TABLE words USING fts5(u, i)"
        )
    return path


@pytest.mark.parametrize("query", QUERIES)
def test_sqlite_plans_no_condition_below_a_view(lite: Path, query: CountQuery) -> None:
    with closing(open_source(f"sqlite:///{lite}", table="v")) as source:
        assert computed(source) == {"u", "i"}
        assert computed(source, "t") == {"v"}
        assert computed(source, "words") == {"u", "i"}
        sql = sql_of(source, query).replace("PODIUM_IS_TEXT", "TYPEOF")
    with closing(sqlite3.connect(lite)) as connection:
        plan = [row[-1] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}")]
    assert "CO-ROUTINE rows_" in plan
    assert "SCAN t" in plan
    assert not any("INDEX tu" in step for step in plan)


def test_clickhouse_keeps_what_is_computed() -> None:
    with embedded_clickhouse(
        "CREATE TABLE t (u Int64, s String, d Int64 DEFAULT u, a Int64 ALIAS u) ENGINE = MergeTree ORDER BY u",
        "CREATE VIEW v AS SELECT u, toInt64(s) AS i FROM t",
        "CREATE MATERIALIZED VIEW m ENGINE = MergeTree ORDER BY u AS SELECT u FROM t",
        "CREATE TABLE outside AS t ENGINE = Merge(currentDatabase(), '^v$')",
    ) as engine:
        with closing(open_source(engine, table="t")) as source:
            assert computed(source) == {"d", "a"}
            assert computed(source, "v") == {"u", "i"}
            assert computed(source, "m") == set()
            assert computed(source, "default.outside") >= {"u", "s"}
            assert len(source.queries(CountQuery(("s",), "u"), limit=1)) == 1
        with closing(open_source(engine, table="v")) as source:
            first, query = source.queries(CountQuery(("i",), "u", ONE), limit=1)
            assert first == (
                'CREATE TEMPORARY TABLE podium_rows AS SELECT rows_."u" AS "u", rows_."i" AS "i" FROM "v" AS rows_'
            )
            assert "podium_rows AS rows_" in query


def test_the_size_of_a_domain_is_asked_without_a_row_of_the_view() -> None:
    """It is asked before anything is paid, so a row of the view that cannot be computed must not be seen."""
    with (
        embedded_clickhouse(
            "CREATE TABLE t (u Int64, s String) ENGINE = MergeTree ORDER BY u",
            "INSERT INTO t VALUES (1, 'HIV positive')",
            "CREATE VIEW v AS SELECT u, toInt64(s) AS i FROM t",
            "CREATE TABLE known (i Int64) ENGINE = MergeTree ORDER BY i",
            "INSERT INTO known VALUES (1), (2)",
            "CREATE VIEW listed AS SELECT i FROM known",
        ) as engine,
        closing(open_source(engine, table="v")) as source,
    ):
        for domain in (DomainTable("known"), DomainTable("listed"), DomainItems((1, 2))):
            assert source.domain_size(CountQuery(("i",), "u"), domain) == 2


def test_other_engines_refuse_what_is_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looked at their plans."""
    path = tmp_path / "t.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            "CREATE TABLE t (u BIGINT, i BIGINT, v BIGINT AS (u + 1)); CREATE VIEW w AS SELECT u, i FROM t"
        )
    engine = sa.create_engine(f"sqlite:///{path}")
    monkeypatch.setattr("podium.sources.sqlalchemy.dialect._SQLite.fences", False)
    for table, item, domain in (("w", "i", None), ("t", "v", None), ("t", "i", DomainTable("w"))):
        source = open_source(engine, table=table)
        with pytest.raises(SourceUnavailable, match="Copy what the view shows, CREATE TABLE"):
            source.check(CountQuery((item,), "u"), domain=domain)
    source.check(CountQuery(("i",), "u"))
