"""``podium budget unlock``: allow questions again after failures."""

from __future__ import annotations

from typing import Annotated

import typer

from podium.cli.budget.printing import DatasetArgument, print_status
from podium.cli.options import Format, RequiredLedger, TextFormatOption

__all__ = ["unlock"]


def unlock(
    dataset: DatasetArgument,
    *,
    ledger: RequiredLedger,
    analyst: Annotated[
        str | None, typer.Option("--analyst", metavar="NAME", help="Unlock only this analyst; everybody by default.")
    ] = None,
    form: TextFormatOption = Format.TABLE,
) -> None:
    """Allow questions again after too many have failed.

    An analyst is locked out after three failed questions, everybody after ten times as many. First find out why they
    failed: a failure itself is not covered by the guarantee. What was reserved stays charged.

    \b
    Examples:
      podium budget unlock views --ledger ledger.db
      podium budget unlock views --ledger ledger.db --analyst ann
    """
    from podium.ledger import open_ledger

    with open_ledger(ledger, create=False) as opened:
        opened.unlock(dataset, analyst=analyst)
        status = opened.status(dataset)
    print_status(status, form)
