"""``podium mcp``: an agent asks through the Model Context Protocol, over a pipe."""

from __future__ import annotations

import asyncio
import importlib.util
from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli.file_options import FileOptions
from podium.cli.options import (
    AnalystOption,
    AnswerEvery,
    DatasetOption,
    Force,
    LedgerOption,
    Table,
)
from podium.errors import InvalidArgument, MissingLibrary

if TYPE_CHECKING:
    from podium.agents.backends import Backend

__all__ = ["mcp"]


def mcp(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="The table of a data set, as in 'podium top', or the address of a service."
        ),
    ],
    *,
    user: Annotated[list[str] | None, typer.Option("--user", metavar="COL", help="User column, of a table.")] = None,
    ledger: LedgerOption = None,
    dataset: DatasetOption = None,
    analyst: AnalystOption = None,
    token: Annotated[
        str | None,
        typer.Option(
            "--token", metavar="TOKEN", envvar="PODIUM_TOKEN", show_envvar=True,
            help="Token of a service. Set the variable: other users of a machine can read command lines.",
        ),
    ] = None,
    table: Table = None,
    files: FileOptions,
    force: Force = False,
    answer_every: AnswerEvery = None,
) -> None:  # fmt: skip
    """Let an agent ask, through the Model Context Protocol.

    It speaks over standard input and output: name this command in the agent's settings. The agent is an analyst like
    any other. It sees the price of each question before it asks, repeats are free, and the budget is the limit.

    A service answers agents by itself, at /mcp; this command is for agents that only speak over a pipe.

    \b
    Examples:
      podium mcp views.parquet --user user_id --ledger ledger.db --dataset views --analyst helper
      PODIUM_TOKEN=podium_... podium mcp https://podium.example
    """
    if importlib.util.find_spec("mcp") is None:
        raise MissingLibrary("mcp", purpose="podium mcp", extra="mcp")
    from podium.agents.mcp_server import serve_pipe

    if source.startswith(("http://", "https://")):
        asyncio.run(serve_pipe(_service(source, token, dataset)))
        return
    if not user or ledger is None or dataset is None:
        missing = "user" if not user else "ledger" if ledger is None else "dataset"
        raise InvalidArgument(
            missing, None, allowed="--user, --ledger and --dataset together: an agent asks more than once",
            hint="'podium budget create' registers a data set with its budget.",
        )  # fmt: skip
    from podium import Curator
    from podium.agents.backends import CuratorBackend

    with Curator(
        source, dataset=dataset, user=user, ledger=ledger, analyst=analyst, force=force, answer_every=answer_every,
        table=table, **files.reading(),
    ) as curator:  # fmt: skip
        asyncio.run(serve_pipe(CuratorBackend(curator, analyst=analyst)))


def _service(url: str, token: str | None, dataset: str | None) -> Backend:
    from podium.agents.backends import ClientBackend
    from podium.client import connect

    if token is None:
        raise InvalidArgument("token", None, allowed="the token of a service, in the variable PODIUM_TOKEN")
    return ClientBackend(connect(url, token=token, dataset=dataset))
