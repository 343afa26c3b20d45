"""``podium token revoke``: revoke a token immediately."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from podium.cli.console import print_result
from podium.cli.serve import Config, settings_in

__all__ = ["revoke"]


def revoke(
    id_: Annotated[str, typer.Argument(metavar="ID", help="The id that 'podium token list' shows.")], *, config: Config
) -> None:
    """Revoke a token and end its sessions immediately.

    \b
    Example:
      podium token revoke 8d1f0c55a2f04c58b1a6f7f0b6f2c0a1 --config podium.toml
    """
    from podium.service.store.database import open_state
    from podium.service.store.tokens import Tokens

    with closing(open_state(settings_in(config).state)) as state:
        token = Tokens(state).revoke(id_)
    print_result(f"revoked the token of {token.name!r}")
