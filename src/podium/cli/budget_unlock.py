"""``podium budget unlock``: let questions in again after failures."""

from __future__ import annotations

from podium.cli.accounts import DatasetArgument, RequiredLedger, print_status
from podium.cli.options import Format, TextFormatOption

__all__ = ["unlock"]


def unlock(dataset: DatasetArgument, *, ledger: RequiredLedger, form: TextFormatOption = Format.TABLE) -> None:
    """Let questions in again after too many have failed.

    Find out first why they failed: that they did is not covered by the promise. What they had reserved stays charged.

    \b
    Example:
      podium budget unlock views --ledger ledger.db
    """
    from podium.ledger import open_ledger

    with open_ledger(ledger, create=False) as opened:
        opened.unlock(dataset)
        status = opened.status(dataset)
    print_status(status, form)
