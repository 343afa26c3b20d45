"""What leads on from a refused statement: a sentence for what it seems to want, and the nearest one that works."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence

from sqlglot import exp

from podium.errors import QuestionRefused
from podium.query.join import Join
from podium.query.parse.nearest import nearest_statement
from podium.query.parse.syntax import parse_statement
from podium.query.schema import Schema
from podium.user_columns import UserColumns

__all__ = ["with_advice"]

_SHARES = "Shares are measured beside the list: others=True (--others)."
_RANKS = "COUNT(*) ranks by rows, SUM(column) by amounts, COUNT(DISTINCT user) by users."
_LISTS = "A column of lists is ranked by their elements: name it as it is."
_PLACES = "Lists for each group: QUALIFY with ROW_NUMBER(), or per= (--per) and k beside a statement without LIMIT."
_COMPUTED = "Compute it into a column of the table first, for example in a view."
_ELSEWHERE = (
    "Items that another table lists are a domain (domain=, --domain), or a public table that is joined; users of "
    "another table are joined by the user column: JOIN users USING (user_id), where the owner declared users."
)


def with_advice(
    refused: QuestionRefused,
    text: str,
    works: Callable[[str], bool],
    *,
    shapes: Sequence[str],
    schema: Schema,
    table: str,
    user: UserColumns,
    joins: Sequence[Join],
    now: dt.datetime | None,
) -> QuestionRefused:
    """The refusal with what leads on; ``shapes`` are general hints, which a statement of the caller's own replaces."""
    statement = parse_statement(text)
    hint = refused.hint
    for shape in shapes:
        hint = hint.removesuffix(shape).strip()
    words = [hint] if hint else []
    words += [word for word in _sentences(statement) if word not in hint]
    offered = nearest_statement(statement, works, schema=schema, table=table, user=user, joins=joins, now=now)
    if offered is None:
        words += [] if hint == refused.hint else [refused.hint[len(hint) :].strip()]
    else:
        words += [f"{'Write' if offered.whole else 'Without what cannot be asked'}: {offered.text}"]
    return QuestionRefused(refused.part, refused.reason, hint=" ".join(words))


def _sentences(statement: exp.Expr) -> list[str]:
    """For each thing that a statement seems to want, how it is asked for."""
    selected = statement.expressions if type(statement) is exp.Select else []
    where = statement.args.get("where")
    windows, qualified = list(statement.find_all(exp.Window)), statement.args.get("qualify") is not None
    computed = [node for node in selected if not isinstance(node.unalias(), exp.Column | exp.Star | exp.AggFunc)]
    shares = any(node.find(exp.Div) is not None and node.find(exp.AggFunc) is not None for node in selected)
    said = {
        _SHARES: shares,
        _RANKS: any(node.find(exp.AggFunc) and not node.find(exp.Count, exp.Sum) for node in selected),
        _LISTS: statement.find(exp.Unnest, exp.Explode) is not None,
        _PLACES: any(
            window.args.get("partition_by") and (type(window.this) is not exp.RowNumber or not qualified)
            for window in windows
        ),
        _COMPUTED: any(node.find(exp.AggFunc, exp.Window, exp.Unnest, exp.Explode) is None for node in computed),
        _ELSEWHERE: where is not None and where.find(exp.Select, exp.Exists) is not None,
    }
    return [sentence for sentence, wanted in said.items() if wanted]
