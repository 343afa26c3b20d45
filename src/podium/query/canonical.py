"""One canonical form for equivalent conditions: flat, sorted, without duplicates, negations pushed inwards.

Every rule holds in SQL's three-valued logic: a row is kept only if the condition is true, not if it is unknown.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Sequence
from decimal import Context, Decimal
from typing import Any

from podium.query.predicate import (
    And,
    Between,
    Compare,
    Like,
    Literal,
    Missing,
    Not,
    OneOf,
    Operator,
    Or,
    Predicate,
    Wildcard,
)

__all__ = ["all_of", "any_of", "negate", "one_of", "predicate_to_json", "sort_key"]

_OPPOSITE = {
    Operator.EQUAL: Operator.UNEQUAL,
    Operator.UNEQUAL: Operator.EQUAL,
    Operator.LESS: Operator.AT_LEAST,
    Operator.AT_LEAST: Operator.LESS,
    Operator.MORE: Operator.AT_MOST,
    Operator.AT_MOST: Operator.MORE,
}


def all_of(parts: Iterable[Predicate]) -> Predicate:
    """The conjunction."""
    flat = _distinct(inner for part in parts for inner in (part.parts if isinstance(part, And) else (part,)))
    return flat[0] if len(flat) == 1 else And(flat)


def any_of(parts: Iterable[Predicate]) -> Predicate:
    """The disjunction."""
    flat = _distinct(inner for part in parts for inner in (part.parts if isinstance(part, Or) else (part,)))
    return flat[0] if len(flat) == 1 else Or(flat)


def _distinct(parts: Iterable[Predicate]) -> tuple[Predicate, ...]:
    return tuple(sorted(set(parts), key=sort_key))


def negate(part: Predicate) -> Predicate:
    """The negation: NOT (a = 1) is a <> 1, both unknown if a is missing; De Morgan for AND and OR."""
    if isinstance(part, Not):
        return part.part
    if isinstance(part, Compare):
        return Compare(part.column, _OPPOSITE[part.operator], part.value)
    if isinstance(part, And):
        return any_of(negate(inner) for inner in part.parts)
    if isinstance(part, Or):
        return all_of(negate(inner) for inner in part.parts)
    return Not(part)


def one_of(column: str, values: Sequence[Literal]) -> Predicate:
    """Membership; a list of one is an equality."""
    listed = tuple(sorted(set(values), key=lambda value: json.dumps(_literal_to_json(value))))
    return Compare(column, Operator.EQUAL, listed[0]) if len(listed) == 1 else OneOf(column, listed)


def sort_key(part: Predicate) -> str:
    """A key for a total order on predicates that depends only on their meaning."""
    return json.dumps(predicate_to_json(part), sort_keys=True)


def predicate_to_json(part: Predicate | None) -> Any:
    """The predicate as plain data; equal for equal predicates."""
    match part:
        case None:
            return None
        case Compare(column, operator, value):
            return [operator.value, column, _literal_to_json(value)]
        case OneOf(column, values):
            return ["in", column, [_literal_to_json(value) for value in values]]
        case Between(column, low, high):
            return ["between", column, _literal_to_json(low), _literal_to_json(high)]
        case Like(column, parts):
            return ["like", column, [{"wildcard": p.value} if isinstance(p, Wildcard) else p for p in parts]]
        case Missing(column):
            return ["missing", column]
        case Not(inner):
            return ["not", predicate_to_json(inner)]
        case And(parts):
            return ["and", *(predicate_to_json(inner) for inner in parts)]
        case Or(parts):
            return ["or", *(predicate_to_json(inner) for inner in parts)]


def _literal_to_json(value: Literal) -> Any:
    if isinstance(value, dt.datetime):
        return {"timestamp": value.isoformat(timespec="microseconds")}
    if isinstance(value, dt.date):
        return {"date": value.isoformat()}
    if isinstance(value, Decimal):
        return {"decimal": str(_normalize(value)) if value else "0"}
    return value


def _normalize(value: Decimal) -> Decimal:
    """Remove trailing zeros and keep all other digits; the default context would round to 28."""
    return value.normalize(Context(prec=len(value.as_tuple().digits)))
