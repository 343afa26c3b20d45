"""``podium sql``: the same question, written as SQL."""

from __future__ import annotations

from typing import Annotated

import typer

from podium.cli.ask import AnswerOptions, DataOptions, OutputOptions, ask
from podium.cli.options import ByBesideSQL, KBesideSQL, SourceOption, User

__all__ = ["sql"]


def sql(
    text: Annotated[
        str,
        typer.Argument(
            metavar="SELECT",
            help="The question. FROM names the data set, or its table if it has several, or the file if there is none.",
        ),
    ],
    *,
    source: SourceOption,
    user: User,
    k: KBesideSQL = None,
    by: ByBesideSQL = None,
    answer_options: AnswerOptions,
    data_options: DataOptions,
    output_options: OutputOptions,
) -> None:
    """Answer a question like that of 'podium top', written as SQL.

    One form is supported: SELECT item, COUNT(DISTINCT user) AS n FROM table [WHERE ...] GROUP BY item ORDER BY n DESC
    LIMIT k; or COUNT(*) for rows, or SUM(column). What is selected comes back: n asks for counts, which share the
    budget; for the list alone write SELECT item ... ORDER BY COUNT(DISTINCT user) DESC. Anything else is refused
    before a row is read. For a list for each group, write QUALIFY ROW_NUMBER() OVER (PARTITION BY country ORDER BY n
    DESC) <= k in place of ORDER BY and LIMIT.

    Options say what the statement leaves out: -k its LIMIT, --by its ORDER BY, --per its QUALIFY. --where must hold
    besides its WHERE.

    \b
    Example:
      podium sql "SELECT article, COUNT(DISTINCT user_id) AS n FROM views WHERE country = 'DE'
                  GROUP BY article ORDER BY n DESC LIMIT 10" \\
        --source views.parquet --user user_id --epsilon 1 --delta 1e-8
    """
    from podium.query import Question

    question = Question(sql=text, k=k, by=by, **answer_options.options())
    ask(question, source=source, user=user, data_options=data_options, output_options=output_options, items=None)
