"""``podium mechanisms``: which mechanisms there are, when to use them, what they guarantee."""

from __future__ import annotations

import difflib
from typing import Annotated

import typer

from podium.cli.console import on_terminal, print_result
from podium.cli.options import Format, TextFormatOption
from podium.cli.output import print_document
from podium.errors import InvalidArgument

__all__ = ["mechanisms"]


def mechanisms(
    *,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Show one mechanism, with its guarantee and source.")
    ] = None,
    form: TextFormatOption = Format.TABLE,
) -> None:
    """List the mechanisms: when to use each, and what it guarantees.

    'podium top' chooses one automatically; Python users find all of them in podium.mechanisms.

    \b
    Examples:
      podium mechanisms
      podium mechanisms LimitedDomain
    """
    from podium.mechanisms.catalogue import catalogue
    from podium.present.text.terminal import fact_lines, facts_table, plain_table, rich_table

    known = {described.name: described for described in catalogue()}
    if name is not None and name not in known:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
        raise InvalidArgument("name", name, allowed=", ".join(known), hint=f"Did you mean {near[0]!r}?" if near else "")
    chosen = [known[name]] if name is not None else list(known.values())
    if form is Format.JSON:
        print_document({"mechanisms": [described.to_dict() for described in chosen]})
    elif name is not None:
        facts = [(label, text) for label, text in chosen[0].to_dict().items() if text]
        print_result(facts_table(facts) if on_terminal() else fact_lines(facts))
    else:
        headers = ("mechanism", "domain", "result", "values", "use it when")
        rows = [(one.name, one.domain, one.result, one.values, one.use) for one in chosen]
        print_result(rich_table(headers, rows) if on_terminal() else plain_table(headers, rows))
