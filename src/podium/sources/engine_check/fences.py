"""Whether an engine's sums are exact, and whether it computes what may raise only where podium lets it."""

from __future__ import annotations

from sqlglot import exp

from podium.query.predicate import Compare, Operator
from podium.query.schema import Column, Kind, Schema
from podium.sources.protocol import CountQuery
from podium.sources.sql.builder import SqlBuilder
from podium.sources.sql.dialect import MAX_BIGINT
from podium.sources.sql.relation import Relation
from podium.sources.sql.snapshot import Session
from podium.sources.sqlalchemy.self_test import Engine, try_session

__all__ = ["case_guards_casts", "case_guards_products", "conditions_stay_outside", "sums_are_exact"]

_CONSTANTS, _USER, _RAW, _ROWS = "podium_constants", "podium user", "podium raw", "podium_rows"


def sums_are_exact(engine: Engine) -> bool:
    """Whether the largest terms that podium adds up on this engine are added without wrapping or rounding."""
    dialect = engine.dialect
    largest = dialect.arithmetic.max_term - 1
    rows = [exp.select(dialect.arithmetic.wide(dialect.integer(largest)).as_(_RAW, quoted=True)) for _ in range(5)]
    total = dialect.text(dialect.arithmetic.total(exp.column(_RAW, quoted=True)))
    return _first(engine, exp.select(total).from_(_union(rows))) == 5 * largest


def case_guards_products(engine: Engine) -> bool:
    """Whether a product that would overflow is not computed where a CASE excludes it."""
    value = exp.column(_RAW, quoted=True)
    rows = [exp.select(engine.dialect.integer(one).as_(_RAW, quoted=True)) for one in (2, MAX_BIGINT)]
    small = exp.LT(this=value.copy(), expression=engine.dialect.integer(10))
    product = exp.Mul(this=value.copy(), expression=engine.dialect.integer(10))
    return _sum_where(engine, rows, small, product) == 20


def case_guards_casts(engine: Engine) -> bool:
    """Whether a text that is no number is not cast where a CASE excludes it."""
    text = exp.column(_RAW, quoted=True)
    rows = [exp.select(engine.dialect.text(exp.Literal.string(one)).as_(_RAW, quoted=True)) for one in ("7", "none")]
    short = exp.LT(this=engine.dialect.length(text.copy()), expression=exp.Literal.number(2))
    return _sum_where(engine, rows, short, exp.cast(text.copy(), "BIGINT")) == 7


def conditions_stay_outside(engine: Engine) -> bool:
    """Whether a column that cannot be computed for one row fails the question, or not, whatever its condition is."""
    one = Compare(_USER, Operator.EQUAL, 1)
    # If a view were never answered, all questions about it would be alike.
    return _answers(engine, "8", one) and _answers(engine, "none", None) == _answers(engine, "none", one)


def _answers(engine: Engine, other: str, where: Compare | None) -> bool:
    """Whether the question about a computed column is answered, by the queries of a real question.

    ``other`` is the text that the column is computed from in the row of another user.
    """
    dialect = engine.dialect
    rows = [
        exp.select(
            dialect.integer(user).as_(_USER, quoted=True),
            dialect.text(exp.Literal.string(raw)).as_(_RAW, quoted=True),
        )
        for user, raw in ((1, "7"), (2, other))
    ]
    computed = exp.cast(exp.column(_RAW, quoted=True), "BIGINT").as_(_RAW, quoted=True)
    view = exp.select(exp.column(_USER, quoted=True), computed).from_(_union(rows)).subquery()
    schema = Schema((Column(_USER, Kind.INTEGER), Column(_RAW, Kind.INTEGER)))
    relation = Relation(view, schema, dialect, engine.clean, frozenset((_RAW,)))
    builder = SqlBuilder(relation, CountQuery((_RAW,), _USER, where))
    first: dict[str, exp.Select] = {}
    if dialect.keeps_rows:
        builder, first = builder.keep_computed(_ROWS, "podium_listed", "podium_groups")
    query = dialect.sql(builder.top_rows(2))

    def asked(session: Session) -> bool:
        for table, select in first.items():
            session.keep(table, select)
        session.fetch(query)
        return True

    return try_session(engine, asked) is True


def _sum_where(engine: Engine, rows: list[exp.Select], condition: exp.Expr, value: exp.Expr) -> int | None:
    """The sum of a value over the rows for which a condition holds, by CASE."""
    guarded = exp.Case(ifs=[exp.If(this=condition, true=value)])
    total = engine.dialect.text(engine.dialect.total(guarded))
    return _first(engine, exp.select(total).from_(_union(rows)))


def _first(engine: Engine, query: exp.Select) -> int | None:
    sql = engine.dialect.sql(query)
    return try_session(engine, lambda session: int(session.fetch(sql)[0][0]))


def _union(rows: list[exp.Select]) -> exp.Subquery:
    return exp.union(*rows, distinct=False).subquery(_CONSTANTS)
