"""A Spark session without a table: its sessions answer queries about constants."""

from __future__ import annotations

from sqlglot import exp

from podium.query.schema import Schema
from podium.sources.spark.connection import DIALECT
from podium.sources.spark.source import SparkSource
from podium.sources.sql.relation import Relation

__all__ = ["SparkConstants"]


class SparkConstants(SparkSource):
    """Opened without asking the catalogue."""

    def _describe(self, table: str) -> Relation:
        return Relation(exp.to_table(table), Schema(()), DIALECT)
