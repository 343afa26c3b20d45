"""A condition of every kind, on values where engines like to disagree."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from tests.support.sources.data import utc

from podium.query.predicate import And, Between, Compare, Like, Missing, Not, OneOf, Operator, Or, Predicate, Wildcard

__all__ = ["CONDITIONS"]

MANY, ONE = Wildcard.MANY, Wildcard.ONE

CONDITIONS: tuple[Predicate, ...] = (
    *(Compare("label", sign, "a") for sign in Operator),
    *(Compare("label", sign, "\uff5e") for sign in (Operator.LESS, Operator.AT_LEAST)),
    Compare("label", Operator.EQUAL, ""),
    Compare("label", Operator.EQUAL, "back\\slash"),
    Compare("label", Operator.EQUAL, "O'Brien"),
    OneOf("label", ("50%", "A", 'the "quote"', "two\nlines", "\U0001d11e")),
    Between("label", "A", "a"),
    *(Compare("number", sign, 3) for sign in Operator),
    *(Compare("number", Operator.LESS, number) for number in (2**63 - 1, -(2**63) + 1, 2**63, -(2**63) - 1, 10**60)),
    Compare("number", Operator.EQUAL, 10**60),
    Compare("number", Operator.UNEQUAL, -(10**60)),
    OneOf("number", (-(2**63), 0, 2**63 - 1, 2**64)),
    Between("number", -10, 10),
    *(Compare("amount", sign, Decimal("1.5")) for sign in Operator),
    *(Compare("amount", sign, Decimal("1.055")) for sign in Operator),
    *(Compare("amount", Operator.AT_LEAST, Decimal(f"{sign}1e50")) for sign in "+-"),
    OneOf("amount", (Decimal("0"), Decimal("1.050"), Decimal("1.051"))),
    OneOf("amount", (Decimal("1.051"),)),
    Between("amount", Decimal("-0.009"), Decimal("1.499")),
    Compare("flag", Operator.EQUAL, value=True),
    Compare("flag", Operator.UNEQUAL, value=True),
    OneOf("flag", (False, True)),
    Compare("day", Operator.MORE, dt.date(1970, 1, 1)),
    OneOf("day", (dt.date(1900, 1, 1), dt.date(2000, 2, 29))),
    Between("day", dt.date(1969, 12, 31), dt.date(2024, 1, 31)),
    Compare("moment", Operator.AT_MOST, utc(2024, 3, 31, 2, 30)),
    Compare("moment", Operator.EQUAL, utc(2024, 3, 31, 2, 30, 0, 1)),
    Between("moment", utc(1969, 12, 31, 23, 59, 59, 999999), utc(2024, 3, 31, 1, 30)),
    Like("label", ()),
    Like("label", (MANY,)),
    Like("label", (ONE,)),
    Like("label", ("a", ONE)),
    Like("label", ("50%",)),
    Like("label", ("a_b",)),
    Like("label", (MANY, "\\", MANY)),
    Like("label", ("!", MANY)),
    Like("label", (MANY, "\n", MANY)),
    Like("label", ("\\",)),
    Not(Like("label", ("a", MANY))),
    Missing("label"),
    Not(Missing("tags")),
    Not(Compare("number", Operator.LESS, 3)),
    Not(Compare("number", Operator.EQUAL, 10**60)),
    Not(Compare("amount", Operator.UNEQUAL, Decimal("1.055"))),
    Not(OneOf("amount", (Decimal("1.051"),))),
    And(
        (Not(Missing("amount")), Or((Compare("flag", Operator.EQUAL, value=True), Compare("number", Operator.MORE, 9))))
    ),
    Or(
        (
            Compare("label", Operator.EQUAL, "a"),
            Not(And((Missing("day"), Compare("flag", Operator.EQUAL, value=False)))),
        )
    ),
)
