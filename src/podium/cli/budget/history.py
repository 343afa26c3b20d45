"""``podium budget history``: the ledger entries of a data set."""

from __future__ import annotations

from podium.cli.budget.printing import DatasetArgument
from podium.cli.console import on_terminal, print_result, say, settings
from podium.cli.options import Format, PlotFile, RequiredLedger, TextFormatOption
from podium.cli.output import check_picture, print_document

__all__ = ["history"]


def history(
    dataset: DatasetArgument,
    *,
    ledger: RequiredLedger,
    form: TextFormatOption = Format.TABLE,
    plot: PlotFile = None,
) -> None:
    """List every entry of a data set, oldest first.

    \b
    Examples:
      podium budget history views --ledger ledger.db
      podium budget history views --ledger ledger.db --plot budget.png
    """
    from podium.ledger import open_ledger
    from podium.present.text.accounts import history_rows
    from podium.present.text.plain import plain_history
    from podium.present.text.terminal import plain_table, rich_table

    if plot is not None:
        check_picture(plot)
    with open_ledger(ledger, create=False) as opened:
        entries = opened.history(dataset)
        totals = opened.status(dataset).totals
    if form is Format.JSON:
        print_document({"dataset": dataset, "entries": [entry.to_dict() for entry in entries]})
    else:
        headers, rows = history_rows(entries) if settings().verbose else plain_history(entries, totals)
        print_result(rich_table(headers, rows, right=1) if on_terminal() else plain_table(headers, rows))
    if plot is not None:
        from podium.present.plots import plot_budget

        plot_budget(entries, plot)
        say(f"wrote {plot}")
