"""``podium budget recover``: give up questions whose process will not come back."""

from __future__ import annotations

from typing import Annotated

import typer

from podium.cli.budget.printing import RequiredLedger
from podium.cli.console import print_result

__all__ = ["recover"]


def recover(
    *,
    ledger: RequiredLedger,
    force: Annotated[
        bool,
        typer.Option("--force", help="Also what other machines hold open: only when nothing runs there any more."),
    ] = False,
) -> None:
    """Give up questions that nobody will answer any more.

    What they reserved stays charged.

    On the machine that asked this happens by itself. From another one nobody can tell whether a process still runs:
    --force says that none does.

    \b
    Examples:
      podium budget recover --ledger ledger.db
      podium budget recover --ledger postgresql://podium@db/podium --force
    """
    from podium.ledger import open_ledger

    with open_ledger(ledger, create=False) as opened:
        # Opening it gave up what this machine can know of.
        forfeited = opened.recover(force=force)
        left = sum(opened.status(name).open_reservations for name in opened.datasets())
    for entry in forfeited:
        print_result(f"gave up reservation {entry.reservation} of {entry.dataset!r}")
    print_result(f"{left} reservation{'s' * (left != 1)} still open")
