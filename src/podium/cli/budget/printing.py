"""What the ``budget`` commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli.console import settings
from podium.cli.options import Format
from podium.cli.output import print_document, print_facts

if TYPE_CHECKING:
    from podium.ledger import Status, Totals
    from podium.user_columns import UserColumns

__all__ = ["DatasetArgument", "Filter", "OptionalDataset", "print_status", "print_totals"]


class Filter(StrEnum):
    """How charges add up."""

    AUTO = "auto"
    ZCDP = "zcdp"
    GAUSSIAN = "gaussian"


DatasetArgument = Annotated[str, typer.Argument(metavar="DATASET", help="Name of the data set.")]
OptionalDataset = Annotated[
    str | None, typer.Argument(metavar="[DATASET]", help="Name of the data set; all of them by default.")
]


def print_status(status: Status, form: Format, *, why: str = "") -> None:
    """Print the status of a data set as ``podium budget show`` does; ``why`` its filter was chosen, if it was now."""
    if form is Format.JSON:
        print_document({"datasets": [status.to_dict()]})
        return
    from podium.present.text.accounts import status_facts
    from podium.present.text.plain import plain_status

    facts = status_facts(status) if settings().verbose else plain_status(status)
    print_facts([*facts, *filter_fact(status.totals, why)])


def print_totals(totals: Totals, form: Format, *, user: UserColumns | None, why: str = "") -> None:
    """Print what a budget would guarantee and allow, and its unit of protection."""
    if form is Format.JSON:
        print_document(totals.to_dict())
        return
    from podium.present.text.accounts import totals_facts, unit_sentence
    from podium.present.text.plain import plain_totals

    promise = totals.budget.guarantee.sentence(user=user)
    full = [("unit", unit_sentence(user)), ("promise", promise), *totals_facts(totals)]
    facts = full if settings().verbose else plain_totals(totals, user=user)
    print_facts([*facts, *filter_fact(totals, why)])


def filter_fact(totals: Totals, why: str) -> list[tuple[str, str]]:
    """How charges add up, and why, where an owner may have been in doubt."""
    return [("chosen", f"{totals.budget.filter}: {why}")] if why and why != "asked for" else []
