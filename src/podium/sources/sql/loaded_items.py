"""Items that podium sends to the engine: a stated domain, or what earlier rounds released."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from podium.query.schema import Column, Kind, Schema
from podium.sources.sql.dialect import Dialect
from podium.sources.sql.relation import ItemTable, Relation

__all__ = ["KNOWN_GROUPS", "LEFT_OUT", "LISTED_ITEMS", "loaded_columns", "loaded_groups", "loaded_table"]

LISTED_ITEMS, LEFT_OUT, KNOWN_GROUPS = "podium_listed", "podium_left_out", "podium_groups"


def loaded_columns(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns of a table of such items: those of the item columns, named by their place."""
    return tuple(replace(column, name=f"item{place}") for place, column in enumerate(columns))


def loaded_groups(columns: tuple[Column, ...], *numbers: str) -> tuple[Column, ...]:
    """The columns of a table of groups, with columns of integers beside them."""
    named = (replace(column, name=f"group{place}") for place, column in enumerate(columns))
    return (*named, *(Column(name, Kind.INTEGER) for name in numbers))


def loaded_table(table: str, columns: tuple[Column, ...], dialect: Dialect) -> ItemTable:
    """The session's table of that name; ``columns`` are the item columns."""
    places = loaded_columns(columns)
    return ItemTable(Relation(exp.to_table(table), Schema(places), dialect), tuple(column.name for column in places))
