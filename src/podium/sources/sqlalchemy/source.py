"""Any other database that SQLAlchemy can reach, if it passes a test on constants first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import sqlalchemy as sa

from podium.errors import InvalidArgument, SourceUnavailable
from podium.query.predicate import And, Like, Not, Or, Predicate
from podium.query.schema import Kind, Schema
from podium.sources.isolation import attempt
from podium.sources.item_text import COUNTABLE, element_of
from podium.sources.protocol import CountQuery, Domain
from podium.sources.sql.conditions import columns_of, depth_of
from podium.sources.sql.dialect import Dialect
from podium.sources.sql.relation import Relation
from podium.sources.sql.table_source import TableSource
from podium.sources.sqlalchemy.catalog import describe, table_names
from podium.sources.sqlalchemy.connection import SQLAlchemySession, ask, open_session, quiet_engine
from podium.sources.sqlalchemy.dialect import Flavour, flavour_of
from podium.sources.sqlalchemy.self_test import (
    Engine,
    hashes_alike,
    keeps_tables,
    kind_is_exact,
    patterns_are_exact,
    weighs_alike,
)
from podium.user_columns import each_user_column

__all__ = ["SQLAlchemySource"]

# What SQLite, the strictest engine that is known, can parse in every shape of a question.
_MAX_DEPTH = 8
_KEEPS_TABLES = "keep temporary tables, which a question with a domain, groups or rounds needs"
_COPY = "Copy the table to DuckDB, Parquet or PostgreSQL, or ask in another way."
_EXACT = "tell apart, count exactly, compare and order values of kind {} as other engines do"


class SQLAlchemySource(TableSource):
    """A table or view of a database that SQLAlchemy has a dialect for.

    ``location`` is a URL, or an engine whose pool is recreated; ``table`` is a name or schema.name, which an SQLite
    file with one table does not need. SQLite and PostgreSQL are supported directly; of other engines only the features
    that pass the self-test are used.
    """

    def __init__(self, location: object, *, table: str | None = None) -> None:
        self._engine = _open_engine(location)
        self._address = _address(self._engine.url)
        self._flavour = self._find_flavour()
        self.sql_dialect: Dialect = self._flavour.dialect
        if table is None:
            table = self._only_table()
        self._wanted = table
        self._passed: set[str] = set()
        self._relation = self._describe(table)
        self._require_exact(Kind.TEXT)

    @property
    def name(self) -> str:
        """Engine, host, database and table."""
        return f"{self._address}#{self._wanted}"

    def implied_schemas(self) -> tuple[str, ...]:
        """The schema in which names without one are found."""
        schema = ask(self._engine, lambda connection: sa.inspect(connection).default_schema_name)
        return () if schema is None else (schema,)

    def _check_query(self, query: CountQuery, domain: Domain | None) -> None:
        """Raise unless the columns can be counted, and the engine passes the tests that this question needs."""
        super()._check_query(query, domain)
        self._require_fences(query, domain)
        depth = depth_of(query.where)
        if self._flavour.explain is None and depth > _MAX_DEPTH:
            allowed = f"AND, OR and NOT nested at most {_MAX_DEPTH} deep on an engine that nobody asked for its limits"
            raise InvalidArgument("where", f"a condition nested {depth} deep", allowed=allowed)
        schema = self.rows_for(query).schema
        for kind in sorted(_kinds(schema, query)):
            self._require_exact(kind)
        if query.where is not None and _has_patterns(query.where):
            self._require("match patterns as other engines do", patterns_are_exact)
        if query.salt is not None or not isinstance(query.user, str):
            self._require(
                "hash as other engines do, which bounds, groups and users of several columns need", hashes_alike
            )
        if query.weights is not None:
            self._require("sum as other engines do, which weights need", weighs_alike)
        if query.value is not None and not self._flavour.sums:
            raise SourceUnavailable(
                f"source={self._address!r} is not known to sum without rounding, and without an error that depends on "
                "a row, so by='events' and by='sum(...)' are refused. Allowed: by='users', which counts distinct "
                "users. To rank by events or a sum, copy the table to DuckDB, Parquet, PostgreSQL, MariaDB or SQLite."
            )
        # Weighted queries keep their counts in a table, and questions about events or sums their pairs.
        listed = domain is not None or bool(query.without) or query.groups is not None or bool(query.joins)
        if listed or query.weights is not None or query.value is not None:
            hint = "Check that the account may create temporary tables, or copy the table to DuckDB or Parquet."
            self._require(_KEEPS_TABLES, keeps_tables, hint)

    def _require_fences(self, query: CountQuery, domain: Domain | None) -> None:
        """Raise if a column is computed on read and this engine's fences are not known to hold."""
        if self._flavour.fences:
            return
        if self._builder(query, domain).computes():
            raise SourceUnavailable(
                f"source={self.name!r}, or its domain, is a view or has columns that are computed when they are read, "
                "and this engine may compute them for some rows only. Allowed: tables with stored columns. Copy what "
                "the view shows, CREATE TABLE ... AS SELECT ..., and name that table."
            )

    def _require_exact(self, kind: Kind) -> None:
        self._require(_EXACT.format(kind.value), partial(kind_is_exact, kind=kind))

    def _require(self, what: str, probe: Callable[[Engine], bool], hint: str = _COPY) -> None:
        """Raise unless the engine once passed the probe."""
        if what in self._passed:
            return
        if not probe(Engine(self.sql_dialect, self._flavour.cleaner({}), self.session)):
            raise SourceUnavailable(
                f"source={self._address!r} failed podium's test on constants: it does not {what}. Allowed: an engine "
                f"that does. {hint}"
            )
        self._passed.add(what)

    @contextmanager
    def session(self) -> Iterator[SQLAlchemySession]:
        """A connection for one question."""
        with open_session(self._engine, self._flavour, self._unreachable()) as session:
            yield session

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    def _only_table(self) -> str:
        """The table of a file that has one; a server is never asked which tables it has."""
        names: Sequence[str] = ()
        source = self._address
        if self._engine.dialect.name == "sqlite":
            names, source = ask(self._engine, table_names) or (), Path(self._engine.url.database or "").name
        if len(names) == 1:
            return names[0]
        listed = f"The tables are: {', '.join(names)}. " if names else "Allowed: a name, or schema.name. "
        raise SourceUnavailable(
            f"table=None does not say which table to read of source={source!r}. {listed}Name one with --table "
            "(in Python: table=...)."
        )

    def _find_flavour(self) -> Flavour:
        name = self._engine.dialect.name
        if name not in ("mysql", "mariadb"):
            return flavour_of(name)
        # The same drivers reach two engines, and only a server says which it is.
        is_mariadb = ask(self._engine, lambda connection: bool(getattr(connection.dialect, "is_mariadb", False)))
        if is_mariadb is None:
            raise self._unreachable()
        return flavour_of(name, is_mariadb=is_mariadb)

    def _describe(self, table: str) -> Relation:
        relation = ask(self._engine, lambda connection: describe(connection, table, self._flavour, self._address))
        if relation is None:
            raise self._unreachable()
        return relation

    def _unreachable(self) -> SourceUnavailable:
        return SourceUnavailable(
            f"source={self._address!r} could not be reached, or refused the account. Allowed: a database that this "
            "machine and this account may connect to. Check the address, the user, the password and the server's log; "
            "what the server said is withheld."
        )


def _open_engine(location: object) -> sa.Engine:
    if not isinstance(location, str | sa.URL | sa.Engine):
        raise InvalidArgument(
            "source", type(location).__name__, allowed="a URL like dialect+driver://user@host/database, or an Engine"
        )
    engine = attempt(lambda: quiet_engine(location))
    if engine is None:
        raise SourceUnavailable(
            "source=dialect+driver://... could not be opened by SQLAlchemy. Allowed: a URL like "
            "mysql+pymysql://user@host/database whose dialect and driver are installed. Check the spelling, and "
            "install the driver; special characters in a user or password are written as %XX."
        )
    return engine


def _address(url: sa.URL) -> str:
    """Engine, host and database: no user, no password, no options."""
    shown = sa.URL.create(url.get_backend_name(), host=url.host, port=url.port, database=url.database)
    return shown.render_as_string()


def _kinds(schema: Schema, query: CountQuery) -> set[Kind]:
    keys = (key for join in query.joins for key in join.using)
    names = (*each_user_column(query.user), *query.keys, *columns_of(query.where), *keys)
    return {element_of(schema.column(name)).kind for name in names} & set(COUNTABLE)


def _has_patterns(predicate: Predicate) -> bool:
    match predicate:
        case Not(part):
            return _has_patterns(part)
        case And(parts) | Or(parts):
            return any(map(_has_patterns, parts))
        case _:
            return isinstance(predicate, Like)
