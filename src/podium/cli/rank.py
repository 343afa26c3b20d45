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
PerUser = Annotated[
    int | None,
    typer.Option(
        "--max-comparisons-per-user", metavar="N", help="Count at most N comparisons of each user, at random."
    ),
]
MethodOption = Annotated[
    Method, typer.Option("--method", help="How comparisons become scores; auto tries on synthetic comparisons.")
]
Mixing = Annotated[
    str | None,
    typer.Option("--mixing", metavar="NUMBER", help="For spectral: more needs less noise and is less faithful."),
]
Normalisation = Annotated[
    int | None,
    typer.Option("--normalisation", metavar="N", help="For spectral: at least the pairs of any one item."),
]
SelectionOption = Annotated[Selection, typer.Option("--mechanism", help="How the best are selected from the scores.")]


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
    data_options: DataOptions,
    output_options: OutputOptions,
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
    from podium.query import RankingQuestion

    question = RankingQuestion(
        winner=winner, loser=loser, comparisons_per_pair=comparisons_per_pair, items=items, pairs=pairs, k=k,
        ordered=not unordered, where=where, max_comparisons_per_user=max_comparisons_per_user, method=method.value,
        mixing=mixing, normalisation=normalisation, mechanism=mechanism.value,
    )  # fmt: skip
    ask(question, source=source, user=user, data_options=data_options, output_options=output_options, items=["item"])
