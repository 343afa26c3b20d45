"""MariaDB's own types, settings and rights: what only this engine does to a row, a sort or a table that is kept."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from pymysql import OperationalError
from tests.contract.sources.test_mariadb import create
from tests.support.mariadb import connect, name_of, new_account, new_database
from tests.support.sources import reference
from tests.support.sources.checks import SALT, check_groups, check_top
from tests.support.sources.contributions import weighted
from tests.support.sources.data import EVENTS
from tests.support.sources.sent import note_statements

import podium
from podium.errors import InvalidArgument, SourceFailure, SourceUnavailable
from podium.query.predicate import Compare, Operator
from podium.query.schema import Kind
from podium.sources import CountQuery, DomainItems, DomainTable, GroupCut, PairValue, Source, open_source
from podium.sources.sqlalchemy import connection
from podium.sources.sqlalchemy.dialect import flavour_of
from podium.sources.sqlalchemy.mariadb_sql import MAX_TEXT_BYTES

LABELS = CountQuery(("label",), "user_id")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with new_database() as url:
        create(name_of(url), EVENTS)
        yield url


def run(url: str, *statements: str, **options: Any) -> None:
    with connect(name_of(url), **options) as open_, open_.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@contextmanager
def opened(url: str, table: str) -> Iterator[Source]:
    with closing(open_source(url, table=table)) as source:
        yield source


def counted(source: Source, query: CountQuery) -> dict[Any, int]:
    source.check(query)
    with source.snapshot(query) as snapshot:
        rows = snapshot.top_rows(100).top(100)
    return dict(zip(rows.items, rows.counts.tolist(), strict=True))


def items(source: Source, item: str) -> set[Any]:
    return set(counted(source, CountQuery((item,), "user_id")))


@pytest.fixture(scope="module")
def types(url: str) -> Iterator[Source]:
    run(
        url,
        "CREATE TABLE types (user_id int unsigned, small tinyint, flag tinyint(1), tiny tinyint(1) unsigned, bit1 bit, "
        "bit9 bit(9), middle mediumint, padded int(8) zerofill, big bigint unsigned, year year, "
        "sort enum('b', 'a') CHARACTER SET latin1, "
        "fixed char(5), western varchar(9) CHARACTER SET latin1, wide decimal(65, 0), "
        "made int AS (user_id + 1) VIRTUAL, "
        "kept int AS (user_id + 1) STORED, place point, raw blob, day date, moment datetime(6), stamp timestamp(6)) "
        "ENGINE=InnoDB",
        "INSERT INTO types (user_id, small, flag, tiny, bit1, bit9, middle, padded, big, year, sort, fixed, western, "
        "wide, day, moment, stamp) VALUES (1, -7, 1, 2, b'1', b'100000001', -9, 42, 18446744073709551615, 1999, 'a', "
        "'x  ', 'é', REPEAT('9', 65), '2024-02-29', '2024-02-29 01:02:03.5', '2024-02-29 01:02:03.5')",
        "INSERT INTO types (user_id, flag, day, moment, stamp) VALUES (2, 2, '0000-00-00', '0000-00-00', 0), "
        "(3, 0, '2024-00-15', '2024-01-00 01:02:03', NULL), (4, NULL, '2023-02-31', '2023-02-31 00:00:00', NULL)",
        sql_mode="ALLOW_INVALID_DATES",
    )
    with opened(url, "types") as source:
        yield source


MOMENT = dt.datetime(2024, 2, 29, 1, 2, 3, 500_000)  # noqa: DTZ001 - podium's timestamps are without zone
TYPED: dict[str, tuple[Kind, set[Any]]] = {
    "small": (Kind.INTEGER, {-7}),
    "tiny": (Kind.INTEGER, {2}),
    "bit9": (Kind.INTEGER, {257}),
    "middle": (Kind.INTEGER, {-9}),
    "padded": (Kind.INTEGER, {42}),
    "big": (Kind.INTEGER, {2**64 - 1}),
    "year": (Kind.INTEGER, {1999}),
    # Anything else than 0 and 1 is neither true nor false, and counts as missing.
    "flag": (Kind.BOOLEAN, {True, False}),
    "bit1": (Kind.BOOLEAN, {True}),
    "sort": (Kind.TEXT, {"a"}),
    "fixed": (Kind.TEXT, {"x"}),
    "western": (Kind.TEXT, {"é"}),
    "wide": (Kind.DECIMAL, {Decimal("9" * 65)}),
    # What is in no calendar counts as missing.
    "day": (Kind.DATE, {dt.date(2024, 2, 29)}),
    "moment": (Kind.TIMESTAMP, {MOMENT}),
    "stamp": (Kind.TIMESTAMP, {MOMENT}),
}


@pytest.mark.parametrize("column", TYPED)
def test_columns_of_every_type(types: Source, column: str) -> None:
    kind, found = TYPED[column]
    assert types.schema().column(column).kind is kind
    assert items(types, column) == found
    # The hash sees the same text on every engine, and a list of items goes back to the engine as it is.
    bounded = CountQuery((column,), "user_id", max_items_per_user=1, salt=SALT)
    assert set(counted(types, bounded)) == found
    with types.snapshot(bounded, domain=DomainItems(tuple(found))) as snapshot:
        assert snapshot.counts_of_counts() == ((1,), (len(found),))


@pytest.mark.parametrize("column", ["day", "moment"])
def test_days_in_no_calendar_are_missing(types: Source, column: str) -> None:
    with types.snapshot(CountQuery((column,), "user_id")) as snapshot:
        assert snapshot.counts_of_counts() == ((1,), (1,))


@pytest.mark.parametrize("column", ["place", "raw"])
def test_other_types_are_refused(types: Source, column: str) -> None:
    with pytest.raises(InvalidArgument, match="is of kind other"):
        types.check(CountQuery((column,), "user_id"))


def test_decimals_of_65_digits_are_compared(types: Source) -> None:
    for operator, number, some in (
        (Operator.AT_MOST, Decimal("1e40"), False),
        (Operator.MORE, Decimal("1e40"), True),
        (Operator.AT_LEAST, Decimal("9" * 65), True),
        (Operator.LESS, Decimal("1e70"), True),
        (Operator.EQUAL, Decimal("1e70"), False),
    ):
        query = CountQuery(("small",), "user_id", Compare("wide", operator, number))
        assert bool(counted(types, query)) is some, operator


def test_the_plan_knows_what_is_computed(url: str, types: Source) -> None:
    run(url, "CREATE OR REPLACE VIEW shown AS SELECT user_id, small FROM types")
    assert types._relation.computed == {"made"}  # type: ignore[attr-defined]
    with opened(url, "shown") as source:
        assert source._relation.computed == {"user_id", "small"}  # type: ignore[attr-defined]


def test_no_condition_is_planned_below_a_view(url: str) -> None:
    """The view's rows are made, all of them and all their columns, before any condition of a question."""
    run(
        url,
        "CREATE OR REPLACE VIEW fenced AS SELECT `user name` AS u, label, number FROM events WHERE lower(label) <> 'x'",
    )
    query = CountQuery(("label",), "u", Compare("number", Operator.EQUAL, 1), max_items_per_user=1, salt=SALT)
    with opened(url, "fenced") as source:
        source.check(query)
        (sql,) = source.queries(query, limit=5)
    with connect(name_of(url)) as open_, open_.cursor() as cursor:
        cursor.execute("SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin")
        cursor.execute(f"EXPLAIN FORMAT=JSON {sql}")
        ((plan,),) = cursor.fetchall()
    conditions = [line.strip() for line in plan.splitlines() if "attached_condition" in line]
    (inner,) = (line for line in conditions if "lcase" in line)
    assert "number" not in inner
    assert "octet_length" not in inner
    assert any("number" in line for line in conditions)
    # Control: without the fence the engine moves the condition into the view.
    with connect(name_of(url)) as open_, open_.cursor() as cursor:
        cursor.execute(
            "EXPLAIN FORMAT=JSON SELECT label FROM (SELECT DISTINCT u, label, number FROM fenced) AS x WHERE number = 1"
        )
        ((plan,),) = cursor.fetchall()
    assert [line for line in plan.splitlines() if "attached_condition" in line and "lcase" in line and "number" in line]


def test_a_plan_reads_no_row(url: str) -> None:
    """A view that fails for every row is planned without an error, and fails when it is read."""
    run(url, "CREATE OR REPLACE VIEW failing AS SELECT user_id, label, exp(1000 + number * 0) AS x FROM events")
    run(url, "CREATE OR REPLACE VIEW failing_items AS SELECT user_id, CAST(x AS SIGNED) AS item FROM failing")
    query = CountQuery(("item",), "user_id")
    with opened(url, "failing_items") as source:
        source.check(query)
        with pytest.raises(SourceFailure), source.snapshot(query) as snapshot:
            snapshot.top_rows(3)


def test_texts_that_a_sort_cannot_tell_apart(url: str) -> None:
    """Users whose names begin alike, or end in NULs, would be one user to a window, and items one item to a rank."""
    start = "x" * (MAX_TEXT_BYTES - 1)
    run(url, "CREATE TABLE long_texts (user_id longtext, label longtext CHARACTER SET utf8mb4) ENGINE=InnoDB")
    with connect(name_of(url)) as open_, open_.cursor() as cursor:
        rows = [(f"{start}{user}", f"{start}{item}") for user in "abc" for item in "1234"]
        rows += [(f"{start}ab", "long user"), ("u", f"{start}12"), ("u", "a\0"), ("u\0", "nul user"), ("u", "a")]
        cursor.executemany("INSERT INTO long_texts VALUES (%s, %s)", rows)
    with opened(url, "long_texts") as source:
        assert counted(source, LABELS) == {**{f"{start}{item}": 3 for item in "1234"}, "a": 1}
        # Each of three users keeps two items; as one user they would keep two together.
        bounded = CountQuery(("label",), "user_id", max_items_per_user=2, salt=SALT)
        found = counted(source, bounded)
        assert sum(found.values()) == 7
        with source.snapshot(LABELS) as snapshot:
            assert snapshot.counts_of_counts() == ((3, 1), (4, 1))
            places = [(3, rank) for rank in range(4)]
            assert snapshot.names(places) == tuple(f"{start}{item}" for item in "1234")


def test_users_of_several_columns_that_a_sort_cannot_tell_apart(url: str) -> None:
    """Each column is short enough, and both together are not: these users are left out, as those of one column."""
    run(url, "CREATE TABLE long_users (tenant longtext, member longtext, label varchar(9)) ENGINE=InnoDB")
    with connect(name_of(url)) as open_, open_.cursor() as cursor:
        half = MAX_TEXT_BYTES // 2
        rows = [("t" * half, "m" * half + str(user), f"i{item}") for user in range(5) for item in range(4)]
        rows += [("t", "m" * half + str(user), f"i{item}") for user in range(5) for item in range(4)]
        cursor.executemany("INSERT INTO long_users VALUES (%s, %s, %s)", rows)
    with opened(url, "long_users") as source:
        query = CountQuery(("label",), ("tenant", "member"))
        assert counted(source, query) == {f"i{item}": 5 for item in range(4)}
        found = counted(source, replace(query, max_items_per_user=2, salt=SALT))
        assert sum(found.values()) == 10


def test_settings_of_others_change_nothing() -> None:
    """Whatever the server's owner prefers for its sessions, podium's have their own settings."""
    strange = {
        "sql_mode": "ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH,STRICT_ALL_TABLES",
        "time_zone": "+05:30",
        "sql_select_limit": 3,
        "max_sort_length": 64,
        "div_precision_increment": 0,
        "collation_connection": "latin1_german2_ci",
        "tx_isolation": "READ-UNCOMMITTED",
        "old_mode": "ZERO_DATE_TIME_CAST",
    }
    queries = [
        *(CountQuery((item,), "user name", max_items_per_user=2, salt=SALT) for item in ("label", "moment", "amount")),
        CountQuery(("label",), "user_id", value=PairValue("number", clip=1000, floor=-1000)),
    ]
    with new_database() as url, connect() as root, root.cursor() as cursor, ExitStack() as after:
        create(name_of(url), EVENTS)
        for name, value in strange.items():
            cursor.execute(f"SELECT @@GLOBAL.{name}")
            ((before,),) = cursor.fetchall()
            after.callback(cursor.execute, f"SET GLOBAL {name} = %s", (before,))
            cursor.execute(f"SET GLOBAL {name} = %s", (value,))
        with opened(url, "events") as source:
            for query in queries:
                source.check(query)
                check_top(source, EVENTS, query, (4, 1000))
            query = CountQuery(("label", "flag"), "user_id")
            check_groups(source, reference.histogram(EVENTS, query), query)


def test_an_account_without_temporary_tables_is_told_before_it_pays(url: str) -> None:
    with new_account(name_of(url), "SELECT") as account, opened(account, "events") as source:
        assert counted(source, LABELS)
        with pytest.raises(SourceUnavailable) as caught:
            source.check(weighted(("label",)))
        assert str(caught.value) == (
            f"source='{source.name.partition('#')[0]}' failed podium's test on constants: it does not keep temporary "
            "tables, which a question with a domain, groups or rounds needs. Allowed: an engine that does. Check that "
            "the account may create temporary tables, or copy the table to DuckDB or Parquet."
        )


def test_without_temporary_tables_one_or_two_places_are_selected_with_the_whole_budget(url: str) -> None:
    ask: dict[str, Any] = {"item": "label", "user": "user_id", "epsilon": 10**6, "delta": "1e-6", "table": "events"}
    with new_account(name_of(url), "SELECT") as account:
        release = podium.top(account, **ask, k=2)
        assert release.mechanism == "LimitedDomain"
        assert release.guarantee.epsilon() <= 10**6
        assert podium.plan(account, **ask, k=2).to_dict()["mechanism"] == "LimitedDomain"
        with pytest.raises(SourceUnavailable, match="does not keep temporary tables"):
            podium.top(account, **ask, k=3)


@pytest.mark.parametrize("storage", ["Aria", "MyISAM", "MEMORY"])
def test_tables_of_other_storage_engines(url: str, storage: str) -> None:
    run(url, f"CREATE OR REPLACE TABLE other (user_id int, label varchar(9)) ENGINE={storage}")
    run(url, "INSERT INTO other VALUES (1, 'a'), (2, 'a'), (2, 'A')")
    with opened(url, "other") as source:
        assert counted(source, LABELS) == {"a": 2, "A": 1}


def test_tables_that_are_kept_elsewhere_are_refused(url: str) -> None:
    run(url, "CREATE OR REPLACE TABLE other (user_id int NOT NULL, label varchar(9) NOT NULL) ENGINE=CSV")
    with pytest.raises(SourceUnavailable, match="InnoDB"):
        open_source(url, table="other")


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is sent to the engine from now on, in order."""
    return note_statements(monkeypatch, connection, "_execute")


LISTED = [label for label in dict.fromkeys(EVENTS.column("label")) if label][:30]
SHAPES: dict[str, dict[str, Any]] = {
    "a short list": {"k": 2},
    "rounds": {"k": 12, "counts": True},
    "others": {"k": 3, "counts": True, "others": True},
    "bounded": {"k": 3, "max_items_per_user": 2},
    "a domain": {"k": 12, "domain": LISTED},
    "a domain in a table": {"k": 3, "domain": DomainTable("listed_labels")},
    "a domain by its size": {"k": 3, "item": "number", "domain_size": 100},
    "groups": {"k": 3, "per": "flag"},
    "known groups": {"k": 2, "per": "flag", "groups": [True, False], "groups_per_user": 2, "counts": True},
    "events": {"k": 3, "by": "events", "counts": True},
    "sums": {"k": 12, "by": "sum(number)", "clip": 100},
    "sums with a private clip": {"k": 12, "by": "sum(number)"},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_question_reads_its_table_in_one_statement(url: str, sent: list[str], shape: str) -> None:
    """Two statements may see two states of it here."""
    run(url, "CREATE TABLE IF NOT EXISTS listed_labels AS SELECT DISTINCT label FROM events")
    ask = {"item": "label", "user": "user_id", "epsilon": 50, "delta": "1e-6", **SHAPES[shape]}
    with opened(url, "events") as source:
        podium.top(source, **ask)
    assert len([text for text in sent if "`events`" in text and not text.startswith("EXPLAIN")]) == 1


def test_a_question_locks_no_row(url: str) -> None:
    """Those who write to the table need not wait for a question."""
    waited = False
    with opened(url, "events") as source, source.keep_pairs(LABELS):
        try:
            run(url, "SET SESSION innodb_lock_wait_timeout = 1", "UPDATE events SET number = number")
        except OperationalError:
            waited = True
    assert not waited


def test_a_ranking_reads_its_table_in_one_statement(url: str, sent: list[str]) -> None:
    run(url, "CREATE OR REPLACE TABLE duels (user_id int, winner int, loser int)")
    run(url, "INSERT INTO duels SELECT seq % 50, seq % 3, seq % 3 + 1 FROM seq_1_to_200")
    ask: dict[str, Any] = {"winner": "winner", "loser": "loser", "user": "user_id", "comparisons_per_pair": 1}
    ask |= {"items": [0, 1, 2, 3], "k": 2, "epsilon": 50, "delta": "1e-6"}
    with opened(url, "duels") as source:
        podium.rank(source, **ask)
    assert len([text for text in sent if "`duels`" in text and not text.startswith("EXPLAIN")]) == 1


def test_mysql_itself_is_used_only_as_far_as_its_test_shows() -> None:
    """No MySQL server ran these tests: views, events and sums are refused there, and all else is tested first."""
    flavour = flavour_of("mysql")
    assert not flavour.sums
    assert not flavour.fences
    assert flavour_of("mysql", is_mariadb=True).sums


def test_groups_by_a_text_that_has_no_case(url: str) -> None:
    query = CountQuery(("number",), "user name", groups=GroupCut(("label",), per_user=1), salt=SALT)
    with opened(url, "events") as source:
        source.check(query)
        with source.snapshot(query) as snapshot:
            groups = [group for group, _ in snapshot.grouped_top_rows(3)]
    assert len(groups) == len(set(groups))
    assert {"a", "A"} <= set(EVENTS.column("label"))
