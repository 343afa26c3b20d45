"""``podium rank``: the k best items of a table of comparisons."""

from __future__ import annotations

from enum import StrEnum
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
    DryRun,
    Encoding,
    Epsilon,
    Force,
    K,
    LedgerOption,
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

__all__ = ["rank"]


class Method(StrEnum):
    """How comparisons become scores."""

    AUTO = "auto"
    SPECTRAL = "spectral"
    BORDA = "borda"
    WINS = "wins"


class Selection(StrEnum):
    """How the best are selected from the scores."""

    AUTO = "auto"
    EXPONENTIAL = "exponential"
    NOISY = "noisy"
    SET = "set"


Comparisons = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A Parquet, CSV or JSON file, a pattern, a folder of Parquet files, a DuckDB file, or a database URL.",
    ),
]
Winner = Annotated[str, typer.Option("--winner", metavar="COL", help="The column of what was preferred.")]
Loser = Annotated[str, typer.Option("--loser", metavar="COL", help="The column of what it was preferred to.")]
PerPair = Annotated[
    int,
    typer.Option(
        "--comparisons-per-pair",
        metavar="N",
        help="How many users are expected to prefer one item of a pair to the other; more of them change nothing.",
    ),
]
ItemsFile = Annotated[
    Path | None,
    typer.Option("--items", metavar="FILE", help="The items, in a column called item: all pairs of them count."),
]
PairsFile = Annotated[
    Path | None,
    typer.Option("--pairs", metavar="FILE", help="The pairs that count, in columns called like --winner and --loser."),
]
DeltaOption = Annotated[
    str | None,
    typer.Option("--delta", metavar="NUMBER", help="The slack of the promise, such as 1e-8; 0 unless given."),
]
PerUser = Annotated[
    int | None,
    typer.Option(
        "--max-comparisons-per-user", metavar="N", help="Count at most N comparisons of each user, at random."
    ),
]
MethodOption = Annotated[
    Method, typer.Option("--method", help="How comparisons become scores; auto tries on made-up comparisons.")
]
Mixing = Annotated[
    str | None,
    typer.Option("--mixing", metavar="NUMBER", help="For spectral: more needs less noise and is less faithful."),
]
Normalisation = Annotated[
    int | None,
    typer.Option("--normalisation", metavar="N", help="For spectral: at least the pairs of any one item."),
]
SelectionOption = Annotated[
    Selection, typer.Option("--mechanism", help="How the best are selected; set: where no order is wanted.")
]


def rank(
    source: Comparisons,
    *,
    winner: Winner,
    loser: Loser,
    user: User,
    comparisons_per_pair: PerPair,
    items: ItemsFile = None,
    pairs: PairsFile = None,
    k: K = 10,
    epsilon: Epsilon = None,
    delta: DeltaOption = None,
    max_comparisons_per_user: PerUser = None,
    where: Where = None,
    method: MethodOption = Method.AUTO,
    mixing: Mixing = None,
    normalisation: Normalisation = None,
    mechanism: SelectionOption = Selection.AUTO,
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
    """The k best items by who was preferred to whom, privately.

    What can be compared is public: --items or --pairs. Comparisons of anything else are dropped.

    \b
    Examples:
      podium rank votes.parquet --winner better --loser worse --user user_id --items films.csv -k 10 --epsilon 1 \\
        --comparisons-per-pair 100 --max-comparisons-per-user 20
      podium rank votes.csv --winner better --loser worse --user user_id --pairs pairs.csv --epsilon 1 \\
        --comparisons-per-pair 50 --dry-run
    """
    place = Place(
        source=source, user=user, table=table, types=types, bad_lines=bad_lines.value,
        encoding=encoding, ledger=ledger, dataset=dataset, analyst=analyst,
        force=force, epsilon=epsilon, delta=delta, answer_every=answer_every,
    )  # fmt: skip

    def once() -> Release | Preview:
        return podium.rank(
            source, winner=winner, loser=loser, user=user, comparisons_per_pair=comparisons_per_pair, items=items,
            pairs=pairs, k=k, epsilon=epsilon or "", delta=delta or 0, where=where, method=method.value, mixing=mixing,
            max_comparisons_per_user=max_comparisons_per_user, normalisation=normalisation, mechanism=mechanism.value,
            table=table, types=place.declared, bad_lines=bad_lines.value, encoding=encoding,
            dry_run=dry_run,
        )  # fmt: skip

    def budgeted(curator: Curator) -> Release | Preview:
        return curator.rank(
            winner=winner, loser=loser, comparisons_per_pair=comparisons_per_pair, items=items, pairs=pairs, k=k,
            epsilon=epsilon, where=where, method=method.value, mixing=mixing, normalisation=normalisation,
            max_comparisons_per_user=max_comparisons_per_user, mechanism=mechanism.value, dry_run=dry_run,
        )  # fmt: skip

    answer(place, Output(form, output, plot), once=once, budgeted=budgeted, items=["item"], dry_run=dry_run)
