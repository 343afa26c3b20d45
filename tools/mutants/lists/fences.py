"""What a view computes is computed for every row, before any condition of ours."""

from __future__ import annotations

from tools.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_DUCKDB = "integration/sources/test_fences.py::test_duckdb_knows_what_is_computed"
_CLICKHOUSE = "integration/sources/test_fences.py::test_clickhouse_keeps_what_is_computed"

MUTANTS = (
    Mutant(
        "sources/sql/dialect.py",
        "return exp.select(*values).from_(table).offset(0)",
        "return exp.select(*values).from_(table)",
        "a subquery without a fence is merged with what is around it",
        (_DUCKDB,),
    ),
    Mutant(
        "sources/sql/dialect.py",
        "return sums.unless_negative(exp.Rand(), value)",
        "return value",
        "statistics of a table do not answer for its rows",
        ("integration/sources/test_fences.py::test_duckdb_reads_a_view_for_users_that_no_row_can_have",),
    ),
    Mutant(
        "sources/sql/dialect.py",
        "        return outer.from_(inner).offset(0)",
        "        return super().fence(table, names)",
        "PostgreSQL reads the whole view before it stops",
        ("integration/sources/test_fences.py::test_postgresql_plans_no_condition_below_a_view[query1-v]",),
    ),
    Mutant(
        "sources/sqlalchemy/sqlite_sql.py",
        "        return super().fence(table, names).limit(-1)",
        '        query = super().fence(table, names)\n        query.set("offset", None)\n        return query',
        "SQLite moves conditions into a subquery that has no limit",
        ("integration/sources/test_fences.py::test_sqlite_plans_no_condition_below_a_view[query1]",),
    ),
    Mutant(
        "sources/sql/relation.py",
        "return not self.computed.isdisjoint(names)",
        "return False",
        "what is computed is fenced",
        (_DUCKDB,),
    ),
    Mutant(
        "sources/duckdb/catalog.py",
        "if stored.get(name, True))",
        "if stored.get(name, False))",
        "all columns of a view are computed",
        (_DUCKDB,),
    ),
    Mutant(
        "sources/duckdb/catalog.py",
        "WHERE duckdb_columns.database_name = $1 AND duckdb_columns.schema_name = $2 ",
        "WHERE duckdb_columns.database_name = $1 AND $2 <> '' ",
        "a view is not stored because a table of another schema has its name",
        (_DUCKDB,),
    ),
    Mutant(
        "sources/clickhouse/source.py",
        "computed = types if not self._stores_rows(target) else",
        "computed = () if not self._stores_rows(target) else",
        "what a server does not store is computed",
        (_CLICKHOUSE,),
    ),
    Mutant(
        "sources/clickhouse/source.py",
        "(str(row[0]) for row in rows if row[2])",
        "()",
        "columns with a default are computed for older rows",
        (_CLICKHOUSE,),
    ),
    Mutant(
        "sources/sql/sql_source.py",
        "if data or not table.startswith(_ROWS):",
        "if True:",
        "no row is read before anything is paid",
        ("integration/sources/test_fences.py::test_the_size_of_a_domain_is_asked_without_a_row_of_the_view",),
        raises="SourceFailure",
    ),
)
