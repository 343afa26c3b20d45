"""``podium budget recover``: forfeit reservations whose process is gone."""

from __future__ import annotations

from typing import Annotated

import typer

from podium.cli.console import print_result
from podium.cli.options import RequiredLedger

__all__ = ["recover"]


def recover(
    *,
    ledger: RequiredLedger,
    force: Annotated[
        bool,
        typer.Option("--force", help="Include reservations of other machines; only if nothing runs there any more."),
    ] = False,
) -> None:
    """Forfeit reservations whose process has died.

    What they reserved stays charged.

    On the machine that asked, this happens automatically. Another machine cannot tell whether a process still runs:
    --force asserts that none does.

    \b
    Examples:
      podium budget recover --ledger ledger.db
      podium budget recover --ledger postgresql://podium@db/podium --force
    """
    from podium.ledger import open_ledger

    with open_ledger(ledger, create=False) as opened:
        # Opening the ledger already forfeited what this machine knows to be dead.
        forfeited = opened.recover(force=force)
        left = sum(opened.status(name).open_reservations for name in opened.datasets())
    for entry in forfeited:
        print_result(f"forfeited reservation {entry.reservation} of {entry.dataset!r}")
    print_result(f"{left} reservation{'s' * (left != 1)} still open")
