"""What the ``budget`` commands share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli.console import on_terminal, print_result
from podium.cli.options import Format
from podium.cli.output import print_document

if TYPE_CHECKING:
    from podium.ledger import Status, Totals
    from podium.user_columns import UserColumns

__all__ = ["DatasetArgument", "OptionalDataset", "RequiredLedger", "print_facts", "print_status", "print_totals"]

DatasetArgument = Annotated[str, typer.Argument(metavar="DATASET", help="Name of the data set.")]
OptionalDataset = Annotated[
    str | None, typer.Argument(metavar="[DATASET]", help="Name of the data set; all of them by default.")
]
RequiredLedger = Annotated[
    str,
    typer.Option(
        "--ledger", metavar="URL", envvar="PODIUM_LEDGER", show_envvar=True,
        help="Where budgets are kept: a path or postgresql://user@host/database.",
    ),
]  # fmt: skip


def print_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Print labels and texts, wrapped on a terminal."""
    from podium.present.text.terminal import fact_lines, facts_table

    print_result(facts_table(facts) if on_terminal() else fact_lines(facts))


def print_status(status: Status, form: Format) -> None:
    """Print the status of a data set as ``podium budget show`` does."""
    from podium.present.text.accounts import status_facts

    if form is Format.JSON:
        print_document({"datasets": [status.to_dict()]})
    else:
        print_facts(status_facts(status))


def print_totals(totals: Totals, form: Format, *, user: UserColumns | None) -> None:
    """Print what a budget would guarantee and allow, and its unit of protection."""
    from podium.present.text.accounts import totals_facts, unit_sentence

    if form is Format.JSON:
        print_document(totals.to_dict())
    else:
        promise = totals.budget.guarantee.sentence(user=user)
        print_facts([("unit", unit_sentence(user)), ("promise", promise), *totals_facts(totals)])
