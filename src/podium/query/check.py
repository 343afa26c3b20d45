"""From a question to a checked one: parses SQL and conditions, and checks names against the schema."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from podium.errors import InvalidArgument, QuestionRefused
from podium.query.group_columns import check_groups, require_per, typed_groups
from podium.query.join import Join
from podium.query.parse.nearest_conditions import nearest_condition
from podium.query.parse.sql_options import Options
from podium.query.parse.statement import Parsed, parse_sql
from podium.query.parse.where import parse_conditions
from podium.query.predicate import Predicate
from podium.query.question import CheckedQuestion, Question
from podium.query.ranked_by import USERS, Measure, check_measure, require_measure, units_of
from podium.query.schema import Schema
from podium.user_columns import UserColumns, each_user_column

__all__ = ["check_question"]


def check_question(
    question: Question,
    schema: Schema,
    *,
    user: UserColumns,
    table: str,
    now: dt.datetime | None = None,
    joins: Sequence[Join] = (),
) -> CheckedQuestion:
    """Check a question against a schema; ``table`` is the name that the FROM of its SQL must use.

    Relative dates in its condition are fixed by ``now``, and refused without it. ``joins`` are the tables that the
    question joins, whose columns are in the schema.
    """
    if question.join and not joins:
        raise InvalidArgument("join", question.join, allowed="nothing where no tables were declared")
    if question.sql is not None:
        where = _conditions(question.where, schema, now)
        for name in question.per:
            schema.column(name, role="per")
        beside = Options(question.k, where, question.by, question.per)
        parsed = parse_sql(question.sql, schema=schema, table=table, user=user, now=now, options=beside, joins=joins)
        require_measure(parsed.by, question.clip, question.unit)
    else:
        for name in question.item:
            schema.column(name, role="item")
        where = _conditions(question.where, schema, now)
        parsed = Parsed(question.item, question.k or 0, where, question.by or USERS, per=question.per)
    for name in each_user_column(user):
        if name in parsed.items:
            raise InvalidArgument(
                "item", name, allowed="a column other than the user column",
                hint="Items are ranked by how many users have them.",
            )  # fmt: skip
    require_per(parsed.per, question.groups, question.groups_per_user, sql=question.sql is not None)
    check_groups(parsed.per, schema, user=user)
    measure = check_measure(parsed.by, question.clip, question.unit, schema, user=user)
    stated = [(Fraction(question.at_least), False)] if question.at_least is not None else []
    least = [units_of(amount, measure, above=above) for amount, above in (*stated, *parsed.at_least)]
    if question.others:
        _check_others(measure, least)
    if isinstance(question.groups, tuple):
        question = replace(question, groups=typed_groups(question.groups, parsed.per, schema))
    return CheckedQuestion(
        parsed.items,
        parsed.k,
        parsed.where,
        question,
        measure,
        parsed.per,
        counts=question.counts or parsed.values or question.others,
        value_name=parsed.value_name,
        list_only=None if question.counts or question.others else parsed.list_only,
        at_least=max(least, default=None),
        joins=tuple(join.name for join in joins),
    )


def _check_others(measure: Measure | None, least: list[int]) -> None:
    """Raise unless what is beside the list can be measured."""
    if measure is not None and (measure.floor or least):
        # Values below a minimum drop out by luck, and a total of the lucky ones would be too large.
        name, what = ("a signed clip", "clip=20") if measure.floor else ("at_least", "no at_least")
        raise InvalidArgument(
            "others",
            True,
            allowed=f"False with {name}, where events or sums rank",
            hint=f"Ask with {what}, or by users.",
        )


def _conditions(where: tuple[str, ...], schema: Schema, now: dt.datetime | None) -> Predicate | None:
    """The conditions beside a question, all of which must hold; a refusal has the nearest one that can be asked."""
    try:
        return parse_conditions(where, schema=schema, now=now)
    except QuestionRefused as refused:
        near = _nearest(where, schema, now)
        if near is None:
            raise
        raise QuestionRefused(refused.part, refused.reason, hint=f"{refused.hint} Write: {near}") from None


def _nearest(where: tuple[str, ...], schema: Schema, now: dt.datetime | None) -> str | None:
    """What comes near to the first condition that is refused, if anything does."""
    for text in where:
        try:
            parse_conditions(text, schema=schema, now=now)
        except QuestionRefused:
            return nearest_condition(text, schema, now) or None
    return None
