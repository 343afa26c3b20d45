"""Joined tables: which rows meet, and that whose row it is does not depend on what it meets."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_REFUSED = "test_what_does_not_match_is_refused_before_anything_is_read"
_PARQUET = "contract/sources/test_duckdb.py::TestParquet"
_SQLITE = "contract/sources/test_sqlalchemy.py::TestSQLite"
_ENDS = "integration/curator/test_joins.py"

MUTANTS = (
    Mutant(
        "sources/sql/joining.py",
        "            declared.require_unit(user)\n",
        "",
        "the engine's query joins by every column of the user",
        (f"{_PARQUET}::{_REFUSED}",),
    ),
    Mutant(
        "sources/sql/joining.py",
        "rows = joined_rows(main, parts, table=_MAIN, own=own)",
        "rows = joined_rows(main, parts, table=_MAIN)",
        "no joined table says who a user of a JSON file is",
        (f"contract/sources/test_duckdb.py::TestJSON::{_REFUSED}", f"{_ENDS}::test_no_joined_table_says_who_a_user_is"),
    ),
    Mutant(
        "query/join.py",
        "missing = [name for name in each_user_column(user) if name not in self.using]",
        "missing = [name for name in each_user_column(user)[:1] if name not in self.using]",
        "each column of a composite user is a key",
        (f"{_PARQUET}::{_REFUSED}",),
    ),
    Mutant(
        "sources/sql/joined_relation.py",
        "self._value(key, place).eq(self._matched(part, key, place))",
        "self._raw(key).eq(_column(part.stored[key], _alias(place)))",
        "keys are compared by their bytes",
        (f"{_SQLITE}::test_users_whom_a_collation_takes_for_one_meet_their_own_rows_only",),
    ),
    Mutant(
        "sources/sql/joined_relation.py",
        "for key in part.using))\n            table",
        "for key in part.using[:1]))\n            table",
        "rows agree in every key",
        (f"{_PARQUET}::test_tables_about_users_may_have_more_keys",),
    ),
    Mutant(
        "sources/sql/joined_relation.py",
        "(one.kind, one.scale, one.unsigned) != (other.kind, other.scale, other.unsigned)",
        "False",
        "keys are of the same kind",
        (f"{_ENDS}::test_keys_of_another_kind_and_names_that_say_nothing_are_refused",),
    ),
    Mutant(
        "curator/joined.py",
        '({"place": join.place} if join.lookup is None else {"public": join.lookup.digest})',
        '({"place": join.place} if join.lookup is None else {"public": ""})',
        "another content of a public table is another question",
        (f"{_ENDS}::test_the_owner_declares_and_the_question_names",),
    ),
    Mutant(
        "query/parse/join_clauses.py",
        "if named != sorted(join.using):",
        "if not named:",
        "a statement joins by the declared columns",
        (f"{_ENDS}::test_sql_names_what_it_joins",),
    ),
)
