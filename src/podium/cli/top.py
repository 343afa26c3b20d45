"""``podium top``: the k items with the most users, events or amounts."""

from __future__ import annotations

from podium.cli.ask import AnswerOptions, DataOptions, OutputOptions, ask
from podium.cli.options import By, Item, K, SourceArgument, UserOfItem
from podium.cli.source_columns import print_columns

__all__ = ["top"]


def top(
    source: SourceArgument,
    *,
    item: Item = None,
    user: UserOfItem = None,
    k: K = 10,
    by: By = "users",
    answer_options: AnswerOptions,
    data_options: DataOptions,
    output_options: OutputOptions,
) -> None:
    """Release the k items with the most users, events or amounts.

    Without a ledger, --epsilon and --delta are the total for this one question. With a ledger, the answer is charged to
    the budget of a data set, and repeating the same question is free.

    With a source alone, it lists the columns and a complete command to begin with.

    \b
    Examples:
      podium top views.parquet
      podium top views.parquet --item article --user user_id -k 10 --epsilon 1 --delta 1e-8
      podium top views.csv --item article --user user_id --epsilon 1 --delta 1e-8 --where "country = 'DE'"
      podium top views.parquet --item article --user user_id --by events --counts --epsilon 1 --delta 1e-8
      podium top views.parquet --item article --user user_id --per country --epsilon 1 --delta 1e-8
      podium top views.parquet --item article --user user_id --ledger ledger.db --dataset views
      podium top postgresql://me@host/shop --table orders --item product --user customer --epsilon 1 --delta 1e-8 \\
        --dry-run
    """
    if not item or not user:
        print_columns(source, data_options)
        return
    from podium.query import Question

    question = Question(item=tuple(item), k=k, by=by, **answer_options.options())
    ask(question, source=source, user=user, data_options=data_options, output_options=output_options, items=item)
