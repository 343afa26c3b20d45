"""The tables of a PostgreSQL server: found and described from its catalogue, without reading a row."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import psycopg
from sqlglot import exp

from podium.errors import SourceUnavailable
from podium.query.schema import Schema
from podium.sources.postgresql.connection import DIALECT
from podium.sources.postgresql.types import Cleaner, NativeType, column_of, computed_query
from podium.sources.sql.relation import Relation

__all__ = ["describe"]

# A name may be plain or quoted as in SQL, with its schema, or without if it is on the search path.
_FIND = """
SELECT c.oid, n.nspname, c.relname
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND (
    (pg_catalog.pg_table_is_visible(c.oid) AND %(table)s IN (c.relname::text, pg_catalog.quote_ident(c.relname)))
    OR %(table)s IN (
        n.nspname::text || '.' || c.relname::text,
        pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname)
    )
)
"""

# From each column's type down to its base type: from a domain to its base, from an array to its elements.
_COLUMNS = """
WITH RECURSIVE steps AS (
    SELECT a.attnum, a.attname, 0 AS depth, a.atttypid AS type, a.atttypmod AS modifier
    FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = %(oid)s AND a.attnum > 0 AND NOT a.attisdropped
        AND pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT')
    UNION ALL
    SELECT s.attnum, s.attname, s.depth + 1,
        CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.typelem END,
        CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE s.modifier END
    FROM steps s JOIN pg_catalog.pg_type t ON t.oid = s.type
    LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem
    WHERE t.typtype = 'd' OR e.typarray = t.oid
)
SELECT s.attname::text, s.modifier,
    CASE
        WHEN t.typtype = 'd' THEN 'domain'
        WHEN e.typarray = t.oid THEN 'array'
        WHEN t.typtype = 'e' THEN 'enum'
        WHEN n.nspname = 'pg_catalog' THEN t.typname::text
        ELSE ''
    END
FROM steps s JOIN pg_catalog.pg_type t ON t.oid = s.type
JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem
ORDER BY s.attnum, s.depth
"""


def describe(connection: psycopg.Connection[Any], table: str, source: str) -> tuple[Relation, str]:
    """A table or view with the columns that this account may read, and its full name."""
    found = connection.execute(_FIND, {"table": table}).fetchall()
    if len(found) != 1:
        wrong = "is not a table or view that the account can find" if not found else "is the name of several tables"
        raise SourceUnavailable(
            f"table={table!r} {wrong} in source={source!r}. Allowed: a name on the account's search path, or "
            'schema.name, both quoted like "My table" where needed. Check the spelling and the case.'
        )
    oid, schema, name = found[0]
    steps = connection.execute(_COLUMNS, {"oid": oid}).fetchall()
    if not steps:
        raise SourceUnavailable(
            f"table={table!r} of source={source!r} has no column that the account may read. Allowed: a table with at "
            f"least a user and an item column. Grant it: GRANT SELECT ON {schema}.{name} TO ..."
        )
    types = {column: _type(list(group)) for column, group in groupby(steps, lambda step: str(step[0]))}
    columns = Schema(tuple(column_of(column, type_) for column, type_ in types.items()))
    computed = frozenset(str(row[0]) for row in connection.execute(computed_query("%(oid)s"), {"oid": oid}))
    relation = Relation(exp.table_(name, db=schema, quoted=True), columns, DIALECT, Cleaner(types), computed)
    return relation, f"{schema}.{name}"


def _type(steps: Sequence[tuple[str, int, str]]) -> NativeType:
    *wrappers, (_, modifier, base) = steps
    around = [wrapper for _, _, wrapper in wrappers]
    return NativeType(base, scale=_scale(modifier), domain="domain" in around, lists=around.count("array"))


def _scale(modifier: int) -> int | None:
    """The digits after a numeric's point, from its type modifier: the low eleven bits after a header, signed."""
    return None if modifier < 0 else ((modifier - 4) & 0x7FF ^ 1024) - 1024
