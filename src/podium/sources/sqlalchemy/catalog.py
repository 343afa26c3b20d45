"""The tables behind SQLAlchemy: found and described from the engine's catalogue, without reading a row."""

from __future__ import annotations

import warnings

import sqlalchemy as sa
from sqlalchemy.exc import SAWarning
from sqlglot import exp

from podium.errors import SourceUnavailable
from podium.query.schema import Schema
from podium.sources.sql.relation import Relation
from podium.sources.sqlalchemy.dialect import Flavour

__all__ = ["describe", "table_names"]


def table_names(connection: sa.Connection) -> list[str]:
    """Tables and views, by name."""
    inspector = sa.inspect(connection)
    return sorted([*inspector.get_table_names(), *inspector.get_view_names()])


def describe(connection: sa.Connection, table: str, flavour: Flavour, source: str) -> Relation:
    """A table or view, by its name or by schema.name."""
    inspector = sa.inspect(connection)
    schema, _, rest = table.partition(".")
    candidates: tuple[tuple[str | None, str], ...] = ((None, table), (schema, rest)) if rest else ((None, table),)
    found = next((place for place in candidates if inspector.has_table(place[1], schema=place[0])), None)
    if found is None:
        raise SourceUnavailable(
            f"table={table!r} is not a table or view that the account can find in source={source!r}. Allowed: a name, "
            "or schema.name. Check the spelling and the case."
        )
    schema_name, name = found
    if not flavour.is_known_storage(connection, name, schema_name):
        raise SourceUnavailable(
            f"table={table!r} is kept by a storage engine of which podium does not know whether a statement sees one "
            "state of it. Allowed: tables of InnoDB, Aria, MyISAM and MEMORY, and views of them. Copy it with CREATE "
            "TABLE ... ENGINE=InnoDB AS SELECT ..., and name that table."
        )
    with warnings.catch_warnings():
        # Types that SQLAlchemy does not know become columns that cannot be asked for.
        warnings.simplefilter("ignore", SAWarning)
        described = inspector.get_columns(name, schema=schema_name)
    types = {str(column["name"]): column["type"] for column in described}
    columns = Schema(tuple(flavour.column(column, type_) for column, type_ in types.items()))
    target = exp.table_(name, db=schema_name, quoted=True)
    computed = frozenset(flavour.computed(connection, name, schema_name, described))
    return Relation(target, columns, flavour.dialect, flavour.cleaner(types), computed)
