"""The SQL of warehouses of which there is no server here: built by the same builder, only shown.

BigQuery, Snowflake and Trino compare text by its bytes unless a column says otherwise, so nothing is added to it here;
the sources themselves make sure of that.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from podium.query.schema import Column, Kind, Schema
from podium.sources import CountQuery, DomainSize
from podium.sources.sql.builder import SqlBuilder
from podium.sources.sql.dialect import Dialect, Spark
from podium.sources.sql.relation import Relation

__all__ = ["SHOWN", "statements"]

_SALT = "0123456789abcdef" * 2


class _Warehouse(Dialect):
    """Text in binary order; the hash as lower-case hex, which sqlglot knows how to write."""

    def binary(self, text: exp.Expr) -> exp.Expr:
        return text


class _BigQuery(_Warehouse):
    name = "bigquery"


class _Snowflake(_Warehouse):
    name = "snowflake"


class _Trino(_Warehouse):
    """Its hash takes bytes and gives bytes."""

    name = "trino"

    def text_hash(self, text: exp.Expr) -> exp.Expr:
        encoded = exp.Anonymous(this="TO_UTF8", expressions=[text])
        digest = exp.Anonymous(this="MD5", expressions=[encoded])
        return exp.Lower(this=exp.Anonymous(this="TO_HEX", expressions=[digest]))


SHOWN: dict[str, Dialect] = {
    "Spark": Spark(), "BigQuery": _BigQuery(), "Snowflake": _Snowflake(), "Trino": _Trino(),
}  # fmt: skip


def statements(dialect: Dialect) -> Iterator[tuple[str, str]]:
    """What a question is, and its SQL."""
    schema = Schema((Column("user_id", Kind.INTEGER), Column("item", Kind.TEXT), Column("number", Kind.INTEGER)))
    events = Relation(exp.to_table("events"), schema, dialect)
    plain = SqlBuilder(events, CountQuery(("item",), "user_id"))
    bounded = SqlBuilder(events, CountQuery(("item",), "user_id", max_items_per_user=10, salt=_SALT))
    known = SqlBuilder(events, CountQuery(("number",), "user_id"), DomainSize(10**12))
    yield "unknown domain, k_bar = 1000", dialect.sql(plain.top_rows(1001))
    yield "the same, each user keeps 10 items", dialect.sql(bounded.top_rows(1001))
    yield (
        "known domain of 10^12 items: counts of counts",
        dialect.sql(
            exp.select(exp.column("n"), exp.Count(this=exp.Star()).as_("m"))
            .from_(known.kept_counts().subquery("podium_counts"))
            .group_by(exp.column("n"))
        ),
    )
