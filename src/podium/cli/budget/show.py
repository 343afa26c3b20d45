"""``podium budget show``: the status of data sets."""

from __future__ import annotations

from podium.cli.budget.printing import OptionalDataset, print_status
from podium.cli.console import print_result, say
from podium.cli.options import Format, RequiredLedger, TextFormatOption
from podium.cli.output import print_document

__all__ = ["show"]


def show(dataset: OptionalDataset = None, *, ledger: RequiredLedger, form: TextFormatOption = Format.TABLE) -> None:
    """Show what is guaranteed, spent and left.

    \b
    Examples:
      podium budget show --ledger ledger.db
      podium budget show views --ledger ledger.db --format json
    """
    from podium.ledger import open_ledger

    with open_ledger(ledger, create=False) as opened:
        names = opened.datasets() if dataset is None else (dataset,)
        statuses = [opened.status(name) for name in names]
    if form is Format.JSON:
        print_document({"datasets": [status.to_dict() for status in statuses]})
        return
    for place, status in enumerate(statuses):
        if place:
            print_result("")
        print_status(status, form)
    if not statuses:
        say("no data set is registered yet; 'podium budget create --help' shows how")
