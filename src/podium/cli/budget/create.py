"""``podium budget create``: register a data set with its total."""

from __future__ import annotations

from typing import Annotated

import typer

import podium
from podium.cli.budget.expected_use import expected_use
from podium.cli.budget.printing import DatasetArgument, Filter, print_status, print_totals
from podium.cli.console import say
from podium.cli.file_options import FileOptions
from podium.cli.options import (
    DeclareJoin,
    Format,
    RequiredLedger,
    SourceOrTables,
    TextFormatOption,
    User,
)
from podium.cli.table_options import TablesOption, parse_places
from podium.errors import InvalidArgument

__all__ = ["create"]


def create(
    dataset: DatasetArgument,
    *,
    ledger: RequiredLedger,
    source: SourceOrTables = None,
    user: User,
    epsilon: Annotated[
        str,
        typer.Option("--epsilon", metavar="NUMBER", help="Total for everything ever released about the data set."),
    ],
    delta: Annotated[
        str, typer.Option("--delta", metavar="NUMBER", help="Total delta; 0 allows only known domains.")
    ] = "0",
    items: Annotated[
        int | None,
        typer.Option("--items", metavar="N", help="How many items do you expect in all lists together? Default 100."),
    ] = None,
    questions: Annotated[
        int | None, typer.Option("--questions", metavar="N", help="How many lists do you expect? Default 10.")
    ] = None,
    max_questions: Annotated[
        int | None,
        typer.Option(
            "--max-questions",
            metavar="N",
            help="Hard limit on questions, however cheap; default ten times --questions.",
        ),
    ] = None,
    epsilon_per_analyst: Annotated[
        str | None,
        typer.Option("--epsilon-per-analyst", metavar="NUMBER", help="Additional cap for each analyst."),
    ] = None,
    delta_per_analyst: Annotated[
        str | None, typer.Option("--delta-per-analyst", metavar="NUMBER", help="The same for delta.")
    ] = None,
    filter_: Annotated[
        Filter,
        typer.Option("--filter", help="How charges add up; auto takes what holds more of the planned items."),
    ] = Filter.ZCDP,
    table: TablesOption = None,
    join: DeclareJoin = None,
    files: FileOptions,
    force: Annotated[
        bool, typer.Option("--force", help="Register the table even if it has a budget under another name.")
    ] = False,
    form: TextFormatOption = Format.TABLE,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what the budget allows; register nothing.")] = False,
) -> None:
    """Register a data set with the total that all answers share.

    The total cannot be lowered afterwards: the guarantee rests on it. --dry-run shows what a plan allows. Without
    --items and --questions you are asked how many lists of how many items you expect; where nobody sits at a terminal,
    the plan is 100 items in 10 lists.

    Tables with the same users belong into one data set: budgets of two data sets add up for whoever is in both.

    \b
    Examples:
      podium budget create views --ledger ledger.db --source views.parquet --user user_id \\
        --epsilon 3 --delta 1e-6 --items 200 --questions 20
      podium budget create shop --ledger ledger.db --user customer --epsilon 3 --delta 1e-6 \\
        --table orders=orders.parquet --table visits=visits.parquet
      podium budget create views --ledger ledger.db --source views.parquet --user user_id --epsilon 3 --delta 1e-6 \\
        --join "users.parquet USING (user_id)" --join "PUBLIC topics.csv USING (article)"
    """
    from podium.ledger import Totals
    from podium.user_columns import user_columns

    planned_items, planned_lists = expected_use(items, questions)
    if not delta.strip(" 0."):
        say(
            "Without --delta, questions can only be about items that they list (--domain). To find the items in the "
            "data, register with a delta well below one over the number of people, such as --delta 1e-6."
        )
    budget = podium.Budget(
        epsilon=epsilon, delta=delta, items=planned_items, questions=planned_lists,
        epsilon_per_analyst=epsilon_per_analyst, delta_per_analyst=delta_per_analyst, max_questions=max_questions,
        filter=filter_.value,
    )  # fmt: skip
    if dry_run:
        print_totals(Totals.of(budget), form, user=user_columns(user), why=budget.choice.why)
        return
    places = parse_places(source, table, files.reading())
    if join:
        if "table" not in places:
            raise InvalidArgument(
                "join", join[0], allowed="nothing where the data set has several tables",
                hint="In Python, each table has its own: podium.Table(source=..., joins=podium.Join(...)).",
            )  # fmt: skip
        places["joins"] = join
    with podium.Curator(dataset=dataset, user=user, ledger=ledger, budget=budget, force=force, **places) as curator:
        status = curator.status
    print_status(status, form, why=budget.choice.why)
