"""``podium token list``: all tokens."""

from __future__ import annotations

from contextlib import closing

from podium.cli.console import on_terminal, print_result
from podium.cli.options import Format, TextFormatOption
from podium.cli.output import print_document
from podium.cli.serve import Config, settings_in

__all__ = ["list_"]


def list_(*, config: Config, form: TextFormatOption = Format.TABLE) -> None:
    """List all tokens, without their secrets.

    \b
    Example:
      podium token list --config podium.toml
    """
    from podium.present.text.terminal import plain_table, rich_table
    from podium.service.store.database import open_state
    from podium.service.store.tokens import Tokens

    with closing(open_state(settings_in(config).state)) as state:
        tokens = [token.to_json() for token in Tokens(state).all()]
    if form is Format.JSON:
        print_document({"tokens": tokens})
        return
    headers = ("id", "name", "role", "data sets", "expires", "state")
    rows = [
        (one["id"], one["name"], one["role"], ", ".join(one["datasets"]), one["expires"][:10], _state(one))
        for one in tokens
    ]
    print_result(rich_table(headers, rows, right=0) if on_terminal() else plain_table(headers, rows))


def _state(token: dict[str, object]) -> str:
    if token["revoked"] is not None:
        return "revoked"
    return "valid" if token["valid"] else "expired"
