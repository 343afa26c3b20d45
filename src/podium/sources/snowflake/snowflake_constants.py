"""A Snowflake account without a table: its sessions answer queries about constants."""

from __future__ import annotations

from sqlglot import exp

from podium.query.schema import Schema
from podium.sources.snowflake.dialect import Snowflake
from podium.sources.snowflake.source import SnowflakeSource
from podium.sources.sql.relation import Relation

__all__ = ["SnowflakeConstants"]


class SnowflakeConstants(SnowflakeSource):
    """Opened without asking the catalogue."""

    version_query = "SELECT CURRENT_VERSION()"

    def _describe(self, table: str) -> Relation:
        return Relation(exp.to_table(table), Schema(()), Snowflake())
