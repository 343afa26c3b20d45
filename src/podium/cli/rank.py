"""``podium rank``: the k best items of a table of comparisons."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from podium.cli.ask import DataOptions, OutputOptions, ask
from podium.cli.options import K, SourceArgument, Unordered, User, Where

__all__ = ["rank"]


class Method(StrEnum):
    """How comparisons are turned into scores."""

    AUTO = "auto"
    SPECTRAL = "spectral"
    BORDA = "borda"
    WINS = "wins"


class Selection(StrEnum):
    """How the best items are selected from the scores."""

    AUTO = "auto"
    EXPONENTIAL = "exponential"
    NOISY = "noisy"


Winner = Annotated[str, typer.Option("--winner", metavar="COL", help="Column of the preferred item.")]
Loser = Annotated[str, typer.Option("--loser", metavar="COL", help="Column of the item it was preferred to.")]
PerPair = Annotated[
    int,
    typer.Option(
        "--comparisons-per-pair",
        metavar="N",
        help="Expected number of users who prefer one item of a pair to the other; further ones have no effect.",
    ),
]
ItemsFile = Annotated[
    Path | None,
    typer.Option("--items", metavar="FILE", help="The items, in a column named item: all their pairs count."),
]
PairsFile = Annotated[
    Path | None,
    typer.Option("--pairs", metavar="FILE", help="The pairs that count, in columns named like --winner and --loser."),
]
PerUser = Annotated[
    int | None,
    typer.Option(
        "--max-comparisons-per-user", metavar="N", help="Count at most N comparisons per user, chosen at random."
    ),
]
MethodOption = Annotated[
    Method, typer.Option("--method", help="How to turn comparisons into scores; auto decides on synthetic comparisons.")
]
Mixing = Annotated[
    str | None,
    typer.Option("--mixing", metavar="NUMBER", help="For spectral: larger means less noise but more bias."),
]
Normalisation = Annotated[
    int | None,
    typer.Option("--normalisation", metavar="N", help="For spectral: upper bound on the number of pairs of any item."),
]
SelectionOption = Annotated[
    Selection, typer.Option("--mechanism", help="How to select the best items from the scores.")
]

ScoresOption = Annotated[
    bool, typer.Option("--scores", help="Also measure the score of each item, with half of the budget.")
]


def rank(
    source: SourceArgument,
    *,
    winner: Winner,
    loser: Loser,
    user: User,
    comparisons_per_pair: PerPair,
    items: ItemsFile = None,
    pairs: PairsFile = None,
    k: K = 10,
    unordered: Unordered = False,
    max_comparisons_per_user: PerUser = None,
    where: Where = None,
    method: MethodOption = Method.AUTO,
    mixing: Mixing = None,
    normalisation: Normalisation = None,
    mechanism: SelectionOption = Selection.AUTO,
    scores: ScoresOption = False,
    data_options: DataOptions,
    output_options: OutputOptions,
) -> None:
    """Release the k best items of pairwise comparisons, privately.

    The items or pairs that can be compared are public (--items or --pairs). All other comparisons are dropped.

    \b
    Examples:
      podium rank votes.parquet --winner better --loser worse --user user_id --items films.csv -k 10 --epsilon 1 \\
        --comparisons-per-pair 100 --max-comparisons-per-user 20
      podium rank votes.csv --winner better --loser worse --user user_id --pairs pairs.csv --epsilon 1 \\
        --comparisons-per-pair 50 --dry-run
    """
    from podium.query import RankingQuestion

    question = RankingQuestion(
        winner=winner, loser=loser, comparisons_per_pair=comparisons_per_pair, items=items, pairs=pairs, k=k,
        ordered=not unordered, where=where, max_comparisons_per_user=max_comparisons_per_user, method=method.value,
        mixing=mixing, normalisation=normalisation, mechanism=mechanism.value, scores=scores,
    )  # fmt: skip
    ask(question, source=source, user=user, data_options=data_options, output_options=output_options, items=["item"])
