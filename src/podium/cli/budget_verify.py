"""``podium budget verify``: walk the chain and compute every sum again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated

import typer

from podium.cli.accounts import OptionalDataset, RequiredLedger, print_facts
from podium.cli.exit_codes import UNSOUND
from podium.cli.options import Format, TextFormatOption
from podium.cli.output import print_document
from podium.errors import InvalidArgument

__all__ = ["verify"]


def verify(
    dataset: OptionalDataset = None,
    *,
    ledger: RequiredLedger,
    receipt: Annotated[
        list[str] | None,
        typer.Option(
            "--receipt",
            metavar="HASH|FILE",
            help="An entry that must be there: its hash, a release as JSON, or what --format json printed earlier. "
            "May be repeated.",
        ),
    ] = None,
    form: TextFormatOption = Format.TABLE,
) -> None:
    """Check a ledger: every hash, every sum, every rule.

    Exits with 7 if something is wrong. A receipt, kept elsewhere, shows that nobody rewrote the whole ledger or put
    back an old copy of it.

    \b
    Examples:
      podium budget verify --ledger ledger.db
      podium budget verify views --ledger ledger.db --receipt 4f0c...
    """
    from podium.ledger import open_ledger

    with open_ledger(ledger, create=False) as opened:
        found = opened.verify(dataset, receipts=[hash_ for given in receipt or () for hash_ in _hashes(given)])
    if form is Format.JSON:
        print_document(found.to_json())
    else:
        heads = [(f"head of {name}", head) for name, head in found.heads.items()]
        print_facts(
            [("sound", "yes" if found.sound else f"no: {found.problem}"), ("entries", str(found.entries)), *heads]
        )
    if not found.sound:
        raise typer.Exit(UNSOUND)


def _hashes(receipt: str) -> list[str]:
    """The hashes that a receipt names: itself, the entry of a release, or the heads of an earlier verification."""
    if re.fullmatch(r"[0-9a-f]{64}", receipt):
        return [receipt]
    try:
        document = json.loads(Path(receipt).read_text(encoding="utf-8"))
        named = [document["entry"]] if "entry" in document else list(document["heads"].values())
    except (AttributeError, KeyError, OSError, RecursionError, TypeError, ValueError):
        named = []
    if not named or not all(isinstance(hash_, str) for hash_ in named):
        raise InvalidArgument(
            "receipt", receipt,
            allowed="the hash of an entry (64 hexadecimal digits), or a JSON file with an entry or with heads",
            hint="'podium top --format json' writes the one, 'podium budget verify --format json' the other.",
        )  # fmt: skip
    return named
