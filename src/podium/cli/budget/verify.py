"""``podium budget verify``: walk the chain and recompute every sum."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.cli.budget.printing import OptionalDataset
from podium.cli.exit_codes import UNSOUND
from podium.cli.options import Format, RequiredLedger, TextFormatOption
from podium.cli.output import print_document, print_facts
from podium.errors import InvalidArgument

if TYPE_CHECKING:
    from podium.ledger.receipts import Claim

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
            help="Must be in the ledger: the hash of an entry, a release as JSON (compared with what was settled), or "
            "the output of an earlier --format json. May be repeated.",
        ),
    ] = None,
    form: TextFormatOption = Format.TABLE,
) -> None:
    """Verify a ledger: every hash, every sum, every rule.

    Exits with 7 if verification fails. A receipt kept elsewhere shows that nobody rewrote the whole ledger or restored
    an old copy. A release is compared in full with the one that was settled, and the output says what was compared; a
    hash alone shows only that the entry exists.

    \b
    Examples:
      podium budget verify --ledger ledger.db
      podium budget verify views --ledger ledger.db --receipt answer.json
      podium budget verify views --ledger ledger.db --receipt 4f0c...
    """
    from podium.ledger import open_ledger

    with open_ledger(ledger, create=False) as opened:
        found = opened.verify(dataset, receipts=[claim for given in receipt or () for claim in _claims(given, dataset)])
    if form is Format.JSON:
        print_document(found.to_dict())
    else:
        heads = [(f"head of {name}", head) for name, head in found.heads.items()]
        receipts = [
            (f"receipt {one.hash[:12]}", f"entry {one.sequence} of {one.dataset}, {one.kind}; compared: {one.compared}")
            for one in found.receipts
        ]
        sound = ("sound", "yes" if found.sound else f"no: {found.problem}")
        print_facts([sound, ("entries", str(found.entries)), *heads, *receipts])
    if not found.sound:
        raise typer.Exit(UNSOUND)


def _claims(receipt: str, dataset: str | None) -> list[Claim]:
    """What a receipt claims: its hash, a release, or the heads of an earlier verification."""
    from podium.ledger.receipts import Claim

    if _is_hash(receipt):
        return [Claim(receipt)]
    document = _document(receipt)
    claims: list[Claim] = []
    if _is_hash(document.get("entry")):
        # An entry alone is a hash in a file; anything else in it must match what was settled.
        claims = [Claim(document["entry"], document=document if len(document) > 1 else None)]
    elif isinstance(document.get("heads"), dict) and all(map(_is_hash, document["heads"].values())):
        claims = [Claim(head, dataset=name) for name, head in document["heads"].items() if dataset in (None, name)]
    if not claims:
        raise InvalidArgument(
            "receipt", receipt,
            allowed="the hash of an entry (64 hexadecimal digits), or a JSON file with an entry or with heads",
            hint="'podium top --format json' writes the one, 'podium budget verify --format json' the other.",
        )  # fmt: skip
    return claims


def _document(path: str) -> dict[str, Any]:
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, RecursionError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value) is not None
