"""The JOIN clauses of a statement: declared tables, by the columns that were declared."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from podium.errors import QuestionRefused
from podium.query.join import Join
from podium.query.parse.syntax import parse_statement
from podium.query.parse.where import has_only

__all__ = ["JOIN_SHAPE", "check_joins", "joined_in", "using_in"]

JOIN_SHAPE = "Write: FROM table JOIN declared_table USING (column, ...) WHERE ..."
_PARTS = {"this", "kind", "using"}


def joined_in(text: str) -> tuple[str, ...]:
    """The names of the tables that a statement joins, in whatever way: ``check_joins`` refuses all but one later."""
    statement = parse_statement(text)
    nodes = statement.args.get("joins") or [] if type(statement) is exp.Select else []
    tables = [node.this for node in nodes if type(node.this) is exp.Table and type(node.this.this) is exp.Identifier]
    return tuple(table.name for table in tables)


def using_in(text: str, name: str) -> tuple[str, ...]:
    """The columns by which a statement joins the table of that name; none if it says them in another way."""
    for node in parse_statement(text).args.get("joins") or []:
        if type(node.this) is exp.Table and node.this.name == name:
            return tuple(column.name for column in node.args.get("using") or [])
    return ()


def check_joins(statement: exp.Select, joins: Sequence[Join]) -> tuple[str, ...]:
    """Raise unless the statement joins these tables, or none, by the declared columns; returns how it names them."""
    nodes = statement.args.get("joins") or []
    for node in nodes:
        name = _name(node)
        join = next((join for join in joins if join.name.casefold() == name.casefold()), None)
        if join is None:
            raise QuestionRefused(node.sql().strip(), "no such table is declared to be joined", hint=JOIN_SHAPE)
        columns = [using for using in node.args.get("using") or [] if type(using) is exp.Identifier]
        named = sorted(_matching(column, join) for column in columns)
        if named != sorted(join.using):
            raise QuestionRefused(
                node.sql().strip(), f"{join.name} is declared to be joined by {', '.join(join.using)}",
                hint=f"Write: JOIN {join.name} USING ({', '.join(join.using)})",
            )  # fmt: skip
    return tuple(_name(node) for node in nodes)


def _matching(column: exp.Identifier, join: Join) -> str:
    """The declared column that an identifier names: exactly, or without regard to capitals if it is not quoted."""
    for key in join.using:
        if column.this == key or (not column.quoted and column.this.casefold() == key.casefold()):
            return key
    return str(column.this)


def _name(node: exp.Expr) -> str:
    """The table of a JOIN that is an inner one by USING, and nothing else."""
    table = node.this
    plain = type(table) is exp.Table and has_only(table, {"this"}) and type(table.this) is exp.Identifier
    inner = has_only(node, _PARTS) and node.args.get("kind") in (None, "", "INNER") and node.args.get("using")
    if not plain or not inner:
        raise QuestionRefused(
            node.sql().strip(), "tables are joined by equality of columns that were declared", hint=JOIN_SHAPE
        )
    return str(table.this.this)
