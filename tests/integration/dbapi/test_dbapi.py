"""PEP 249 over a curator: what it requires, and the tools that speak it."""

from __future__ import annotations

import datetime as dt
import inspect
import threading
import warnings
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pandas as pd
import polars as pl
import pytest
import sqlalchemy as sa
from tests.support.serving import views

import podium
from podium import dbapi
from podium.dbapi.type_objects import native_value, type_of
from podium.errors import BudgetExceeded, InvalidArgument, QuestionRefused
from podium.exact import exact_fraction

LIST = "SELECT article FROM views GROUP BY article ORDER BY COUNT(DISTINCT user_id) DESC LIMIT 3"
COUNTED = "SELECT article, COUNT(DISTINCT user_id) AS n FROM views GROUP BY article ORDER BY n DESC LIMIT 3"
IN_COUNTRY = COUNTED.replace("GROUP", "WHERE country = ? GROUP")
GROUPED = (
    "SELECT COUNT(DISTINCT user_id) AS n, Article, country FROM views GROUP BY article, country "
    "QUALIFY ROW_NUMBER() OVER (PARTITION BY country ORDER BY n DESC) <= 2"
)


@pytest.fixture(scope="module")
def curator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[podium.Curator]:
    folder = tmp_path_factory.mktemp("dbapi")
    budget = podium.Budget(epsilon=30, delta="1e-6", items=100, questions=20)
    table = views(folder / "views.parquet")
    with podium.Curator(table, dataset="views", user="user_id", ledger=folder / "l.db", budget=budget) as made:
        yield made


@pytest.fixture
def connection(curator: podium.Curator) -> Iterator[dbapi.Connection]:
    with dbapi.connect(curator) as made:
        yield made


class TestInterface:
    """What PEP 249 says."""

    def test_globals(self) -> None:
        assert (dbapi.apilevel, dbapi.threadsafety, dbapi.paramstyle) == ("2.0", 2, "qmark")
        assert dbapi.Date(2026, 11, 1) == dt.date(2026, 11, 1)
        assert dbapi.Timestamp(2026, 11, 1, 2, 3, 4) == dt.datetime(2026, 11, 1, 2, 3, 4)  # noqa: DTZ001
        assert dbapi.Binary(b"x") == b"x"
        moment = dbapi.TimestampFromTicks(86_400.0 * 400)
        assert (dbapi.DateFromTicks(86_400.0 * 400), dbapi.TimeFromTicks(86_400.0 * 400)) == (
            moment.date(), moment.time(),
        )  # fmt: skip

    def test_errors_are_a_tree(self) -> None:
        kinds: tuple[type[Exception], ...] = (
            dbapi.DataError, dbapi.OperationalError, dbapi.IntegrityError, dbapi.InternalError, dbapi.ProgrammingError,
            dbapi.NotSupportedError,
        )  # fmt: skip
        tree = dict.fromkeys(kinds, dbapi.DatabaseError)
        assert {kind: kind.__base__ for kind in tree} == tree
        assert dbapi.InterfaceError.__base__ is dbapi.DatabaseError.__base__ is dbapi.Error
        assert issubclass(dbapi.Warning, Exception)
        assert not issubclass(dbapi.Warning, dbapi.Error)
        for kind in (*tree, dbapi.InterfaceError, dbapi.DatabaseError, dbapi.Error, dbapi.Warning):
            assert getattr(dbapi.Connection, kind.__name__) is kind

    def test_methods(self, connection: dbapi.Connection) -> None:
        for name in ("close", "commit", "rollback", "cursor"):
            assert inspect.ismethod(getattr(connection, name))
        cursor = connection.cursor()
        for name in ("execute", "executemany", "fetchone", "fetchmany", "fetchall", "close"):
            assert inspect.ismethod(getattr(cursor, name))
        assert cursor.arraysize == 1
        assert cursor.lastrowid is None

    def test_fetching(self, connection: dbapi.Connection) -> None:
        cursor = connection.cursor()
        assert (cursor.description, cursor.rowcount, cursor.release) == (None, -1, None)
        with pytest.raises(dbapi.ProgrammingError, match="Call execute first"):
            cursor.fetchone()
        assert cursor.execute(LIST) is cursor
        assert cursor.rowcount == 3
        assert cursor.fetchone() == ("a0",)
        assert cursor.fetchmany() == [("a1",)]
        assert cursor.fetchmany(5) == [("a2",)]
        assert (cursor.fetchone(), cursor.fetchmany(), cursor.fetchall()) == (None, [], [])
        assert list(connection.execute(LIST)) == [("a0",), ("a1",), ("a2",)]
        assert connection.execute(LIST).fetchall() == [("a0",), ("a1",), ("a2",)]

    def test_types_of_columns(self, connection: dbapi.Connection) -> None:
        cursor = connection.execute(COUNTED)
        described = cursor.description or []
        assert [one[0] for one in described] == ["article", "n"]
        assert described[0][1] == dbapi.STRING
        assert described[0][1] != dbapi.NUMBER
        assert described[1][1] == dbapi.NUMBER
        assert {len(one) for one in described} == {7}
        assert {dbapi.DATETIME, dbapi.ROWID}.isdisjoint([dbapi.STRING, dbapi.NUMBER, dbapi.BINARY])

    def test_what_is_closed(self, curator: podium.Curator) -> None:
        connection = dbapi.connect(curator)
        cursor = connection.execute(LIST)
        connection.close()
        connection.close()
        for act in (connection.cursor, connection.commit, connection.rollback, lambda: cursor.execute(LIST)):
            with pytest.raises(dbapi.InterfaceError, match="closed"):
                act()
        cursor.close()
        for fetch in (cursor.fetchone, cursor.fetchall, cursor.fetchmany):
            with pytest.raises(dbapi.InterfaceError, match="closed"):
                fetch()
        assert curator.schema.names

    def test_a_closed_connection_closes_its_cursors(self, curator: podium.Curator) -> None:
        connection = dbapi.connect(curator)
        cursor = connection.execute(LIST)
        connection.close()
        for fetch in (cursor.fetchone, cursor.fetchall, cursor.fetchmany):
            with pytest.raises(dbapi.InterfaceError, match="connection is closed"):
                fetch()

    def test_rows_are_not_fetched_backwards(self, connection: dbapi.Connection) -> None:
        cursor = connection.execute(LIST)
        assert cursor.fetchmany(2) == [("a0",), ("a1",)]
        with pytest.raises(dbapi.ProgrammingError, match="size=-1 is not a number of rows"):
            cursor.fetchmany(-1)
        assert cursor.fetchmany(0) == []
        assert cursor.fetchall() == [("a2",)]

    def test_there_are_no_transactions(self, curator: podium.Curator, connection: dbapi.Connection) -> None:
        connection.execute(LIST)
        before = curator.status
        connection.rollback()
        connection.commit()
        assert curator.status == before

    def test_threads_share_a_connection(self, connection: dbapi.Connection) -> None:
        found: list[list[Any]] = []
        threads = [threading.Thread(target=lambda: found.append(connection.execute(LIST).fetchall())) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [[("a0",), ("a1",), ("a2",)]] * 4


class TestAnswers:
    def test_columns_come_in_the_order_of_the_statement(self, connection: dbapi.Connection) -> None:
        cursor = connection.execute(GROUPED)
        assert [one[0] for one in cursor.description or ()] == ["n", "article", "country"]
        rows = cursor.fetchall()
        assert [row[2] for row in rows] == ["DE", "DE", "FR", "FR"]
        # In Germany a0 and a2 have the same users, elsewhere a0 has twice as many as a1.
        assert {row[1] for row in rows[:2]} == {"a0", "a2"}
        assert [row[1] for row in rows[2:]] == ["a0", "a1"]
        assert all(isinstance(row[0], int) and row[0] > 300 for row in rows)

    def test_intervals_are_there_if_wanted(self, curator: podium.Curator) -> None:
        with dbapi.connect(curator, intervals=True) as connection:
            cursor = connection.execute(COUNTED)
            assert [one[0] for one in cursor.description or ()] == ["article", "n", "n_low", "n_high"]
            for _, value, low, high in cursor:
                assert low < value < high
            assert [one[0] for one in connection.execute(LIST).description or ()] == ["article"]

    def test_the_release_is_at_hand(self, curator: podium.Curator, connection: dbapi.Connection) -> None:
        cursor = connection.execute(COUNTED)
        assert cursor.release is not None
        assert cursor.release.items == ("a0", "a1", "a2")
        assert cursor.release.user == "user_id"
        # The same question through another door is free.
        left = curator.status.remaining
        assert curator.sql(COUNTED).items == ("a0", "a1", "a2")
        assert curator.status.remaining == left

    def test_parameters_are_literals(self, curator: podium.Curator, connection: dbapi.Connection) -> None:
        found = connection.execute(IN_COUNTRY, ["FR"]).fetchall()
        left = curator.status.remaining
        assert connection.execute(IN_COUNTRY.replace("?", "'FR'")).fetchall() == found
        assert connection.execute(IN_COUNTRY.replace("country =", "views.country ="), ("FR",)).fetchall() == found
        assert curator.status.remaining == left

    def test_refusals_have_our_texts_and_cost_nothing(
        self, curator: podium.Curator, connection: dbapi.Connection
    ) -> None:
        left = curator.status.remaining
        with pytest.raises(dbapi.ProgrammingError, match="Write: SELECT article") as refused:
            connection.execute("SELECT * FROM views")
        assert isinstance(refused.value.__cause__, QuestionRefused)
        with pytest.raises(dbapi.ProgrammingError, match="one for each of the 1 question marks"):
            connection.execute(IN_COUNTRY, ["DE", "FR"])
        for given in ("DE", {"country": "DE"}, 3):
            with pytest.raises(dbapi.ProgrammingError, match="A list or a tuple is allowed"):
                connection.execute(IN_COUNTRY, given)
        with pytest.raises(dbapi.NotSupportedError, match="Call execute for each"):
            connection.cursor().executemany(IN_COUNTRY, [["DE"], ["FR"]])
        with pytest.raises(dbapi.ProgrammingError, match="is not a column"):
            connection.execute(LIST.replace("GROUP", "WHERE town = 'x' GROUP"))
        assert curator.status.remaining == left

    def test_an_exhausted_budget_is_operational(self, curator: podium.Curator) -> None:
        with (
            dbapi.connect(curator, epsilon=1_000) as connection,
            pytest.raises(dbapi.OperationalError, match="left") as refused,
        ):
            connection.execute(LIST.replace("LIMIT 3", "LIMIT 4"))
        assert isinstance(refused.value.__cause__, BudgetExceeded)

    def test_an_address_needs_a_token(self, curator: podium.Curator) -> None:
        with pytest.raises(dbapi.ProgrammingError, match="podium token create"):
            dbapi.connect("http://localhost:1")
        with pytest.raises(dbapi.ProgrammingError, match="address of a service"):
            dbapi.connect(curator, token="x")
        with pytest.raises(dbapi.OperationalError, match="did not answer"):
            dbapi.connect("http://127.0.0.1:9", token="x")

    def test_values_keep_their_digits(self) -> None:
        assert native_value(exact_fraction("12.5", "x")) == Decimal("12.5")
        assert native_value(exact_fraction("-0.0625", "x")) == Decimal("-0.0625")
        assert native_value(exact_fraction(7, "x")) == 7
        assert native_value(exact_fraction("1/3", "x")) == pytest.approx(1 / 3)
        assert type_of([]) is str
        assert type_of([1, None, Decimal(2)]) is Decimal
        assert type_of([1, "a"]) is str

    def test_an_answer_without_rows_has_the_same_types(self, curator: podium.Curator) -> None:
        statement = COUNTED.replace("SELECT article", "SELECT weekday").replace("GROUP BY article", "GROUP BY weekday")
        nobody = statement.replace("GROUP", "WHERE country = 'XX' GROUP")
        with dbapi.connect(curator, intervals=True) as connection:
            cursor = connection.execute(nobody)
            assert cursor.fetchall() == []
            kinds = {one[0]: one[1] for one in cursor.description or ()}
            assert kinds["weekday"] == kinds["n"] == dbapi.NUMBER
            assert kinds["weekday"] is connection.execute(statement).description[0][1]  # type: ignore[index]
            assert pl.read_database(nobody, connection).schema["n"] == pl.Int64


class TestTools:
    """Programs that take a connection or an engine."""

    @pytest.fixture
    def engine(self, curator: podium.Curator) -> Iterator[sa.Engine]:
        made = sa.create_engine("podium://", creator=lambda: dbapi.connect(curator))
        yield made
        made.dispose()

    def test_pandas(self, connection: dbapi.Connection, engine: sa.Engine) -> None:
        with warnings.catch_warnings():
            # pandas says of every connection but SQLite's that it does not test with it.
            warnings.simplefilter("ignore", UserWarning)
            frame = pd.read_sql(IN_COUNTRY, connection, params=("FR",))
        assert list(frame.columns) == ["article", "n"]
        assert list(frame["article"]) == ["a0", "a1", "a3"]
        pd.testing.assert_frame_equal(frame, pd.read_sql(IN_COUNTRY.replace("?", "'FR'"), engine))

    def test_polars(self, connection: dbapi.Connection, engine: sa.Engine) -> None:
        frame = pl.read_database(COUNTED, connection)
        assert frame["article"].to_list() == ["a0", "a1", "a2"]
        assert frame.schema["n"] == pl.Int64
        assert pl.read_database(COUNTED, engine).equals(frame)

    def test_sqlalchemy_writes_the_sql(self, engine: sa.Engine) -> None:
        table = sa.Table("views", sa.MetaData(), autoload_with=engine)
        n = sa.func.count(sa.distinct(table.c.user_id)).label("n")
        asked = sa.select(table.c.article, n).where(table.c.country == "FR").group_by(table.c.article)
        with engine.connect() as connection:
            rows = connection.execute(asked.order_by(n.desc()).limit(3)).fetchall()
            assert [row.article for row in rows] == ["a0", "a1", "a3"]
            named = sa.text(IN_COUNTRY.replace("?", ":country"))
            assert connection.execute(named, {"country": "FR"}).fetchall() == rows
            with pytest.raises(sa.exc.ProgrammingError, match="Write: SELECT article"):
                connection.execute(sa.select(table))

    def test_the_table_is_listed(self, engine: sa.Engine) -> None:
        inspected = sa.inspect(engine)
        assert inspected.get_table_names() == ["views"]
        assert inspected.has_table("views")
        assert not inspected.has_table("users")
        assert inspected.get_schema_names() == inspected.get_view_names() == []
        kinds = {one["name"]: type(one["type"]) for one in inspected.get_columns("views")}
        assert kinds["article"] is sa.Text
        assert kinds["weekday"] is sa.BigInteger

    def test_pools_and_tools_that_ask_for_autocommit(self, curator: podium.Curator) -> None:
        """A pool that pings sends no SELECT 1, which is no question."""
        engine = sa.create_engine("podium://", creator=lambda: dbapi.connect(curator), pool_pre_ping=True)
        for _ in range(2):
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                assert connection.execute(sa.text(LIST)).fetchall() == [("a0",), ("a1",), ("a2",)]
                assert connection.get_isolation_level() == "AUTOCOMMIT"
        engine.dispose()

    def test_options_in_the_address(self) -> None:
        dialect = sa.create_engine("podium://", creator=lambda: None).dialect
        url = sa.make_url("podium://:secret@podium.example/views?epsilon=0.1&intervals=true&timeout=5")
        assert dialect.create_connect_args(url)[1] == {
            "token": "secret", "dataset": "views", "epsilon": "0.1", "intervals": True, "timeout": 5.0,
        }  # fmt: skip
        for strange in ("epsilom=0.1", "scheme=ftp", "intervals=yes", "timeout=soon"):
            with pytest.raises(sa.exc.ArgumentError, match="Allowed: "):
                dialect.create_connect_args(sa.make_url(f"podium://:secret@podium.example/views?{strange}"))

    def test_an_engine_for_a_service(self) -> None:
        url = sa.make_url("podium://:secret@podium.example:8443/views")
        dialect = sa.create_engine("podium://", creator=lambda: None).dialect
        assert dialect.create_connect_args(url) == (
            ["https://podium.example:8443"], {"token": "secret", "dataset": "views"},
        )  # fmt: skip
        local = sa.make_url("podium://:secret@[::1]/views?scheme=http")
        assert dialect.create_connect_args(local)[0] == ["http://[::1]"]


def test_a_question_that_cannot_be_asked_leaves_no_rows(curator: podium.Curator) -> None:
    cursor = dbapi.connect(curator).execute(LIST)
    with pytest.raises(dbapi.ProgrammingError) as refused:
        cursor.execute("SELECT 1", ["x"])
    assert isinstance(refused.value.__cause__, InvalidArgument)
    assert (cursor.description, cursor.rowcount, cursor.release) == (None, -1, None)
