"""``podium budget raise``: raise a total and record it."""

from __future__ import annotations

from typing import Annotated

import typer

import podium
from podium.cli.budget.printing import DatasetArgument, print_status, print_totals
from podium.cli.options import Format, RequiredLedger, TextFormatOption

__all__ = ["raise_"]


def raise_(
    dataset: DatasetArgument,
    *,
    ledger: RequiredLedger,
    epsilon: Annotated[str | None, typer.Option("--epsilon", metavar="NUMBER", help="New total.")] = None,
    delta: Annotated[str | None, typer.Option("--delta", metavar="NUMBER", help="The same for delta.")] = None,
    items: Annotated[
        int | None, typer.Option("--items", metavar="N", help="Number of items that the whole budget should cover.")
    ] = None,
    questions: Annotated[
        int | None,
        typer.Option("--questions", metavar="N", help="Number of questions that the whole budget should cover."),
    ] = None,
    max_questions: Annotated[
        int | None, typer.Option("--max-questions", metavar="N", help="Hard limit on questions.")
    ] = None,
    epsilon_per_analyst: Annotated[
        str | None, typer.Option("--epsilon-per-analyst", metavar="NUMBER", help="Cap for each analyst.")
    ] = None,
    delta_per_analyst: Annotated[
        str | None, typer.Option("--delta-per-analyst", metavar="NUMBER", help="The same for delta.")
    ] = None,
    form: TextFormatOption = Format.TABLE,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what it would allow; change nothing.")] = False,
) -> None:
    """Raise the total of a data set, ending the old guarantee.

    Values that are not given stay as they are. A total can be raised, never lowered. The ledger records each raise, and
    the guarantee states how often the total was raised.

    \b
    Examples:
      podium budget raise views --ledger ledger.db --epsilon 4 --dry-run
      podium budget raise views --ledger ledger.db --epsilon 4 --items 300 --questions 30
    """
    from podium.ledger import Totals, open_ledger

    given = {
        "epsilon": epsilon, "delta": delta, "items": items, "questions": questions,
        "epsilon_per_analyst": epsilon_per_analyst, "delta_per_analyst": delta_per_analyst,
        "max_questions": max_questions,
    }  # fmt: skip
    with open_ledger(ledger, create=False) as opened:
        registered = opened.status(dataset)
        totals = registered.totals
        present = totals.budget.to_dict()
        if podium.Budget(**{**present, "max_questions": None}) == totals.budget:
            # It was the default, derived from the number of questions, and stays so.
            present["max_questions"] = None
        budget = podium.Budget(**{**present, **{name: value for name, value in given.items() if value is not None}})
        if dry_run:
            print_totals(Totals.of(budget, rules=totals.rules), form, user=registered.user)
            return
        opened.raise_total(dataset, budget)
        status = opened.status(dataset)
    print_status(status, form)
