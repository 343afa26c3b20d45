"""``podium sql``: the same question, written as SQL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import podium
from podium.cli.ask import Place, answer
from podium.cli.options import (
    AnalystOption,
    AnswerEvery,
    BadLines,
    BadLinesOption,
    DatasetOption,
    Delta,
    DryRun,
    Encoding,
    Epsilon,
    Force,
    LedgerOption,
    MaxItemsPerUser,
    OutputFile,
    PlotFile,
    ReleaseFormat,
    ReleaseFormatOption,
    SourceOption,
    Table,
    Types,
    User,
)
from podium.cli.output import Output

if TYPE_CHECKING:
    from podium import Curator, Preview, Release

__all__ = ["sql"]


def sql(
    text: Annotated[
        str,
        typer.Argument(
            metavar="SELECT", help="The question. FROM names the data set, or without one the file or table."
        ),
    ],
    *,
    source: SourceOption,
    user: User,
    epsilon: Epsilon = None,
    delta: Delta = None,
    max_items_per_user: MaxItemsPerUser = None,
    ledger: LedgerOption = None,
    dataset: DatasetOption = None,
    analyst: AnalystOption = None,
    table: Table = None,
    types: Types = None,
    bad_lines: BadLinesOption = BadLines.REFUSE,
    encoding: Encoding = "utf-8",
    force: Force = False,
    answer_every: AnswerEvery = None,
    form: ReleaseFormatOption = ReleaseFormat.TABLE,
    output: OutputFile = None,
    plot: PlotFile = None,
    dry_run: DryRun = False,
) -> None:
    """The same as 'podium top', for a question written as SQL.

    One shape is answered: SELECT item, COUNT(DISTINCT user) AS n FROM table [WHERE ...] GROUP BY item ORDER BY n DESC
    LIMIT k. Anything else is refused before a row is read.

    \b
    Example:
      podium sql "SELECT article, COUNT(DISTINCT user_id) AS n FROM views WHERE country = 'DE'
                  GROUP BY article ORDER BY n DESC LIMIT 10" \\
        --source views.parquet --user user_id --epsilon 1 --delta 1e-8
    """
    place = Place(
        source=source, user=user, table=table, types=types, bad_lines=bad_lines.value,
        encoding=encoding, ledger=ledger, dataset=dataset, analyst=analyst,
        force=force, epsilon=epsilon, delta=delta, answer_every=answer_every,
    )  # fmt: skip

    def once() -> Release | Preview:
        name = dataset or table or Path(source).name.partition(".")[0]
        return podium.sql(
            source, text, name=name, user=user, epsilon=epsilon or "", delta=delta or 0,
            max_items_per_user=max_items_per_user, table=table, types=place.declared,
            bad_lines=bad_lines.value, encoding=encoding, dry_run=dry_run,
        )  # fmt: skip

    def budgeted(curator: Curator) -> Release | Preview:
        return curator.sql(text, epsilon=epsilon, max_items_per_user=max_items_per_user, dry_run=dry_run)

    answer(place, Output(form, output, plot), once=once, budgeted=budgeted, items=None, dry_run=dry_run)
