"""``podium token create``: issue a token that expires."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from podium.cli.console import print_result, say
from podium.cli.options import Format, TextFormatOption
from podium.cli.output import print_document
from podium.cli.serve import Config, settings_in

__all__ = ["create"]


def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Who it is for; the ledger charges this name.")],
    *,
    config: Config,
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help="viewer, analyst or owner.")] = "analyst",
    dataset: Annotated[
        list[str], typer.Option("--dataset", metavar="NAME", help="A data set, or * for all. May be repeated.")
    ],
    days: Annotated[int, typer.Option("--days", metavar="N", help="Days until it expires.")] = 90,
    form: TextFormatOption = Format.TABLE,
) -> None:
    """Issue a token and print it once; only its hash is stored.

    \b
    Examples:
      podium token create ana --config podium.toml --dataset views
      podium token create olga --config podium.toml --role owner --dataset '*'
    """
    from podium.service.store.database import open_state
    from podium.service.store.datasets import Datasets
    from podium.service.store.tokens import Tokens

    settings = settings_in(config)
    with closing(open_state(settings.state)) as state:
        Datasets(settings, state).require_scope(dataset)
        secret, token = Tokens(state).create(name, role=role, datasets=dataset, days=days)
    if form is Format.JSON:
        print_document({**token.to_json(), "secret": secret})
        return
    print_result(secret)
    say(f"a token for {token.name!r}, {token.role.value} of {', '.join(token.datasets)}; it cannot be shown again")
