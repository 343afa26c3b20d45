"""The app with all its commands."""

from __future__ import annotations

from collections.abc import Callable

import typer

from podium.cli.audit import audit
from podium.cli.budget.create import create
from podium.cli.budget.data_version import data_version
from podium.cli.budget.history import history
from podium.cli.budget.raise_total import raise_
from podium.cli.budget.recover import recover
from podium.cli.budget.show import show
from podium.cli.budget.unlock import unlock
from podium.cli.budget.verify import verify
from podium.cli.command import Command, Group, command
from podium.cli.demo import demo
from podium.cli.exit_codes import exit_code_table
from podium.cli.explain import explain
from podium.cli.mechanisms import mechanisms
from podium.cli.plan import plan
from podium.cli.rank import rank
from podium.cli.serve import serve
from podium.cli.sql import sql
from podium.cli.token.issue import create as create_token
from podium.cli.token.listing import list_ as list_tokens
from podium.cli.token.revoke import revoke as revoke_token
from podium.cli.top import top
from podium.cli.watch import watch
from podium.version import __version__

__all__ = ["app"]

_SETTINGS = {"help_option_names": ["--help", "-h"], "max_content_width": 100}
_HELP = f"""The top k of a table, private for every user in it.

\b
Start with:
  podium demo
  podium top views.csv --item article --user user_id --epsilon 1 --delta 1e-8
  podium explain

\b
Exit codes:
{exit_code_table()}
"""

app: typer.Typer = typer.Typer(
    name="podium",
    cls=Group,
    help=_HELP,
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=_SETTINGS,
)
_budget = typer.Typer(
    help="Create, inspect, verify and change the budgets of data sets.",
    invoke_without_command=True,
    rich_markup_mode=None,
    context_settings=_SETTINGS,
)
app.add_typer(_budget, name="budget")
_token = typer.Typer(
    help="Create, list and revoke the tokens of a service.",
    invoke_without_command=True,
    rich_markup_mode=None,
    context_settings=_SETTINGS,
)
app.add_typer(_token, name="token")
_COMMANDS: tuple[tuple[typer.Typer, Callable[..., None]], ...] = (
    (app, top),
    (app, sql),
    (app, rank),
    (app, watch),
    (app, plan),
    (app, demo),
    (app, mechanisms),
    (app, explain),
    (app, audit),
    (app, serve),
    (_budget, create),
    (_budget, show),
    (_budget, history),
    (_budget, verify),
    (_budget, data_version),
    (_budget, raise_),
    (_budget, unlock),
    (_budget, recover),
    (_token, create_token),
    (_token, list_tokens),
    (_token, revoke_token),
)
for _group, _function in _COMMANDS:
    _name = _function.__name__.removesuffix("_").replace("_", "-")
    _group.command(_name, cls=Command, context_settings=_SETTINGS)(command(_function))


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"podium {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    _help_without_command(context)


@_budget.callback()
@_token.callback()
def _help_without_command(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
