"""Columns of made tables, written as name and type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from podium.query import Column, Kind, Schema

__all__ = ["column", "columns", "schema"]


def column(name: str, type_: str) -> Column:
    """A column of a type like ``text``, ``decimal(2)`` or ``list(text)``: floats too, unlike what users declare."""
    if type_.startswith("list("):
        element = column(name, type_.removeprefix("list(").removesuffix(")"))
        return replace(element, kind=Kind.LIST, element=element.kind)
    kind, _, scale = type_.removesuffix(")").partition("(")
    return Column(name, Kind(kind), scale=int(scale or 0))


def columns(types: Mapping[str, str]) -> tuple[Column, ...]:
    """Columns in this order, each name with its type."""
    return tuple(column(name, type_) for name, type_ in types.items())


def schema(types: Mapping[str, str]) -> Schema:
    """What a source would say of a table with these columns."""
    return Schema(columns(types))
