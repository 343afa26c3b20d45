"""What MariaDB would take for the same, or read at another time."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_SQL = "sources/sqlalchemy/mariadb_sql.py"
_FLAVOUR = "sources/sqlalchemy/dialect.py"
_TESTS = "integration/sources/test_mariadb_source.py"

MUTANTS = (
    Mutant(
        _SQL,
        "exp.Literal.number(MAX_TEXT_BYTES))",
        "exp.Literal.number(2 * MAX_TEXT_BYTES))",
        "a sort sees all of a text",
        (f"{_TESTS}::test_texts_that_a_sort_cannot_tell_apart",),
    ),
    Mutant(
        _SQL,
        'f"SET SESSION max_sort_length = {MAX_TEXT_BYTES}",',
        "",
        "a sort sees all of a text, whatever the server's limit",
        (f"{_TESTS}::test_texts_that_a_sort_cannot_tell_apart",),
    ),
    Mutant(
        _SQL,
        "return [*self.usable_together(value), place.eq(0)]",
        "return self.usable_together(value)",
        "a text with a NUL is not usable",
        (f"{_TESTS}::test_texts_that_a_sort_cannot_tell_apart",),
    ),
    Mutant(
        _SQL,
        "return super().fence(table, names).limit(_NO_LIMIT)",
        'return exp.select(*(exp.column(name, "rows_", quoted=True) for name in names)).from_(table)',
        "no condition is moved into a view",
        (f"{_TESTS}::test_no_condition_is_planned_below_a_view",),
    ),
    Mutant(
        _SQL,
        "return exp.Case(ifs=[exp.If(this=same, true=value.copy())])",
        "return value",
        "days that are in no calendar count as missing",
        (f"{_TESTS}::test_days_in_no_calendar_are_missing",),
    ),
    Mutant(
        _FLAVOUR,
        "\"SET SESSION optimizer_switch = 'subquery_cache=off'\",",
        "",
        "an item that is left out leaves out no other",
        ("contract/sources/test_mariadb.py::TestMariaDB::test_items_of_several_columns_left_out",),
    ),
    Mutant(
        _FLAVOUR,
        'isolation = ("READ COMMITTED",)',
        'isolation = ("REPEATABLE READ",)',
        "a question locks no row, and sees one state",
        (f"{_TESTS}::test_a_question_locks_no_row",),
    ),
    Mutant(
        "sources/sql/pairs.py",
        "*self.dialect.usable_together(self._user_text(every[:count])), copy=False",
        "copy=False",
        "users of several columns that a sort cannot tell apart are left out",
        (("integration/sources/test_mariadb_source.py::test_users_of_several_columns_that_a_sort_cannot_tell_apart"),),
    ),
)
