"""What a question means, before anything is planned."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_DATES = "unit/query/test_relative_dates.py"
_BESIDE = "unit/query/test_sql_options.py"

MUTANTS = (
    Mutant(
        "query/parse/relative_dates.py",
        "now.astimezone(dt.UTC).replace(second=0, microsecond=0, tzinfo=None)",
        "now.replace(second=0, microsecond=0, tzinfo=None)",
        "days are those of the machine",
        (f"{_DATES}::test_a_relative_date_is_the_constant",),
    ),
    Mutant(
        "query/parse/relative_dates.py",
        "replace(second=0, microsecond=0, tzinfo=None)",
        "replace(microsecond=0, tzinfo=None)",
        "the same question is paid for again a second later",
        (f"{_DATES}::test_a_question_is_the_same_for_a_day_or_for_a_minute",),
    ),
    Mutant(
        "query/parse/relative_dates.py",
        "-shift if type(node) is exp.Sub else shift",
        "-shift",
        "tomorrow is yesterday",
        (f"{_DATES}::test_a_relative_date_is_the_constant",),
    ),
    Mutant(
        "query/parse/relative_dates.py",
        "or (dated and shift % _DAY)",
        "",
        "part of a day is dropped in silence",
        (f"{_DATES}::test_what_is_not_understood_is_refused",),
    ),
    Mutant(
        "query/parse/statement.py",
        "conditions += [] if options.where is None else [options.where]",
        "conditions += []",
        "a condition beside the statement is dropped in silence",
        (f"{_BESIDE}::test_options_say_what_a_statement_leaves_out",),
    ),
    Mutant(
        "query/parse/sql_options.py",
        "if stated is not None and said is not None and stated != said:",
        "if stated is None:",
        "an option that contradicts the statement is dropped in silence",
        (f"{_BESIDE}::test_what_contradicts_the_statement_is_refused",),
    ),
)
