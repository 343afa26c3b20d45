"""The names that a statement selects, in order: an answer's columns for programs that speak SQL."""

from __future__ import annotations

from sqlglot import exp

from podium.query.parse.aggregates import is_aggregate
from podium.query.parse.syntax import parse_statement

__all__ = ["SelectedName", "selected_names"]

SelectedName = tuple[str, bool]
"""A name as the statement spells it, and whether it is that of the values; values without an alias have no name."""


def selected_names(text: str) -> list[SelectedName]:
    """The names of the SELECT list; whether the statement can be answered is for others to say."""
    named: list[SelectedName] = []
    for node in parse_statement(text).expressions:
        inner = node.this if type(node) is exp.Alias else node
        named.append((str(node.alias_or_name) if not is_aggregate(node) else "", is_aggregate(inner)))
    return named
