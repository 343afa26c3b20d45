"""``podium budget verify``: walk the chain and compute every sum again."""

from __future__ import annotations

from typing import Annotated

import typer

from podium.cli.accounts import OptionalDataset, RequiredLedger, print_facts
from podium.cli.exit_codes import UNSOUND
from podium.cli.options import Format, TextFormatOption
from podium.cli.output import print_document

__all__ = ["verify"]


def verify(
    dataset: OptionalDataset = None,
    *,
    ledger: RequiredLedger,
    receipt: Annotated[
        list[str] | None,
        typer.Option("--receipt", metavar="HASH", help="An entry that must be there, from a release. May be repeated."),
    ] = None,
    form: TextFormatOption = Format.TABLE,
) -> None:
    """Check a ledger: every hash, every sum, every rule.

    Exits with 7 if something is wrong. A receipt, kept elsewhere, shows that nobody rewrote the whole ledger.

    \b
    Examples:
      podium budget verify --ledger ledger.db
      podium budget verify views --ledger ledger.db --receipt 4f0c...
    """
    from podium.ledger import open_ledger

    with open_ledger(ledger, create=False) as opened:
        found = opened.verify(dataset, receipts=receipt or ())
    if form is Format.JSON:
        print_document(found.to_json())
    else:
        heads = [(f"head of {name}", head) for name, head in found.heads.items()]
        print_facts(
            [("sound", "yes" if found.sound else f"no: {found.problem}"), ("entries", str(found.entries)), *heads]
        )
    if not found.sound:
        raise typer.Exit(UNSOUND)
