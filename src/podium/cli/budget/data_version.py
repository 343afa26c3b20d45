"""``podium budget data-version``: record that the data changed."""

from __future__ import annotations

from typing import Annotated

import typer

from podium.cli.budget.printing import DatasetArgument, print_status
from podium.cli.options import Format, RequiredLedger, TextFormatOption

__all__ = ["data_version"]


def data_version(
    dataset: DatasetArgument,
    version: Annotated[str, typer.Argument(metavar="VERSION", help="A label, such as a date.")],
    *,
    ledger: RequiredLedger,
    table: Annotated[
        str | None, typer.Option("--table", metavar="NAME", help="Only this table, of several; default: all of them.")
    ] = None,
    form: TextFormatOption = Format.TABLE,
) -> None:
    """Record that the data changed: questions are answered anew.

    Each question is charged again, once, to the same total, which covers all versions of the data together.

    \b
    Example:
      podium budget data-version views 2026-11-17 --ledger ledger.db
    """
    from podium.ledger import open_ledger

    with open_ledger(ledger, create=False) as opened:
        opened.set_data_version(dataset, version, table=table)
        status = opened.status(dataset)
    print_status(status, form)
