"""Conditions on rows: a small language that cannot fail on any row.

Comparisons of a declared column with a literal of exactly its kind, membership, ranges, patterns, missing values, and
their combinations. No functions, no arithmetic, no casts, no other tables: nothing that could fail on one
user's row and not on another's.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import TypeAlias

__all__ = [
    "And", "Between", "Compare", "Like", "Literal", "Missing", "Not", "OneOf", "Operator", "Or", "Predicate",
    "Wildcard",
]  # fmt: skip

Literal: TypeAlias = str | int | Decimal | bool | dt.date | dt.datetime
"""A constant; a timestamp is without time zone and means UTC."""


class Operator(StrEnum):
    """The six comparisons; text is compared in binary order."""

    EQUAL = "="
    UNEQUAL = "<>"
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="


class Wildcard(StrEnum):
    """The two wildcards of a pattern, parsed here so that no engine sees an escape that it could fail on."""

    ONE = "_"
    MANY = "%"


@dataclass(frozen=True, slots=True)
class Compare:
    """column operator value."""

    column: str
    operator: Operator
    value: Literal


@dataclass(frozen=True, slots=True)
class OneOf:
    """column IN (values); the values are sorted and distinct."""

    column: str
    values: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Between:
    """low <= column <= high."""

    column: str
    low: Literal
    high: Literal


@dataclass(frozen=True, slots=True)
class Like:
    """A text column against a pattern of literal pieces and wildcards."""

    column: str
    parts: tuple[str | Wildcard, ...]


@dataclass(frozen=True, slots=True)
class Missing:
    """column IS NULL."""

    column: str


@dataclass(frozen=True, slots=True)
class Not:
    """The negation, in SQL's three-valued logic."""

    part: Predicate


@dataclass(frozen=True, slots=True)
class And:
    """The conjunction; in canonical form sorted, flat and without duplicates."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """The disjunction; in canonical form sorted, flat and without duplicates."""

    parts: tuple[Predicate, ...]


Predicate: TypeAlias = Compare | OneOf | Between | Like | Missing | Not | And | Or
