"""``podium top``: the k items with the most distinct users."""

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
    DomainSize,
    DryRun,
    Encoding,
    Epsilon,
    Force,
    K,
    KBar,
    LedgerOption,
    MaxItemsPerUser,
    Mechanism,
    MechanismOption,
    OutputFile,
    PlotFile,
    ReleaseFormat,
    ReleaseFormatOption,
    Table,
    Types,
    User,
    Where,
)
from podium.cli.output import Output

if TYPE_CHECKING:
    from podium import Curator, Preview, Release

__all__ = ["top"]


def top(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A Parquet, CSV or JSON file, a pattern, a folder of Parquet files, a DuckDB file, or a database URL.",
        ),
    ],
    *,
    item: Annotated[
        list[str], typer.Option("--item", metavar="COL", help="What to rank. Repeated: values together are one item.")
    ],
    user: User,
    k: K = 10,
    epsilon: Epsilon = None,
    delta: Delta = None,
    where: Where = None,
    counts: Annotated[
        bool, typer.Option("--counts", help="Also measure how many users each item has, with half of the budget.")
    ] = False,
    max_items_per_user: MaxItemsPerUser = None,
    domain: Annotated[
        Path | None,
        typer.Option(
            "--domain", metavar="FILE", help="The items are known: a file that lists them in a column like --item."
        ),
    ] = None,
    domain_size: DomainSize = None,
    k_bar: KBar = None,
    mechanism: MechanismOption = Mechanism.AUTO,
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
    """The k items with the most distinct users, privately.

    Without a ledger the question is asked once, and --epsilon and --delta are its total. With a ledger the answer is
    paid from the budget of a data set, and asking the same again is free.

    \b
    Examples:
      podium top views.parquet --item article --user user_id -k 10 --epsilon 1 --delta 1e-8
      podium top views.csv --item article --user user_id --epsilon 1 --delta 1e-8 --where "country = 'DE'"
      podium top views.parquet --item article --user user_id --ledger ledger.db --dataset views
      podium top postgresql://me@host/shop --table orders --item product --user customer --epsilon 1 --delta 1e-8 \\
        --dry-run
    """
    place = Place(
        source=source, user=user, table=table, types=types, bad_lines=bad_lines.value,
        encoding=encoding, ledger=ledger, dataset=dataset, analyst=analyst,
        force=force, epsilon=epsilon, delta=delta, answer_every=answer_every,
    )  # fmt: skip

    def once() -> Release | Preview:
        return podium.top(
            source, item=item, user=user, k=k, epsilon=epsilon or "", delta=delta or 0, where=where, counts=counts,
            max_items_per_user=max_items_per_user, domain=domain, domain_size=domain_size, k_bar=k_bar,
            mechanism=mechanism.value, table=table, types=place.declared, bad_lines=bad_lines.value, encoding=encoding,
            dry_run=dry_run,
        )  # fmt: skip

    def budgeted(curator: Curator) -> Release | Preview:
        return curator.top(
            item, k=k, where=where, epsilon=epsilon, counts=counts, max_items_per_user=max_items_per_user,
            domain=domain, domain_size=domain_size, k_bar=k_bar, mechanism=mechanism.value, dry_run=dry_run,
        )  # fmt: skip

    answer(place, Output(form, output, plot), once=once, budgeted=budgeted, items=item, dry_run=dry_run)
