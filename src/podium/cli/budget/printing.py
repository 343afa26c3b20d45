"""What the ``budget`` commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli.console import settings
from podium.cli.options import Format
from podium.cli.output import print_document, print_facts

if TYPE_CHECKING:
    from podium.ledger import Status, Totals
    from podium.user_columns import UserColumns

__all__ = ["DatasetArgument", "OptionalDataset", "RequiredLedger", "print_status", "print_totals"]

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


def print_status(status: Status, form: Format) -> None:
    """Print the status of a data set as ``podium budget show`` does."""
    if form is Format.JSON:
        print_document({"datasets": [status.to_dict()]})
        return
    from podium.present.text.accounts import status_facts
    from podium.present.text.plain import plain_status

    print_facts(status_facts(status) if settings().verbose else plain_status(status))


def print_totals(totals: Totals, form: Format, *, user: UserColumns | None) -> None:
    """Print what a budget would guarantee and allow, and its unit of protection."""
    if form is Format.JSON:
        print_document(totals.to_dict())
        return
    from podium.present.text.accounts import totals_facts, unit_sentence
    from podium.present.text.plain import plain_totals

    promise = totals.budget.guarantee.sentence(user=user)
    full = [("unit", unit_sentence(user)), ("promise", promise), *totals_facts(totals)]
    print_facts(full if settings().verbose else plain_totals(totals, user=user))
