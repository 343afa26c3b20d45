"""The app with all its commands."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

import typer

from podium.cli.exit_codes import exit_code_table
from podium.cli.late_commands import SETTINGS, Group, RootGroup
from podium.version import __version__

__all__ = ["app"]

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


class _Root(RootGroup):
    places: ClassVar[Mapping[str, str]] = {
        "top": "podium.cli.top:top",
        "sql": "podium.cli.sql:sql",
        "rank": "podium.cli.rank:rank",
        "batch": "podium.cli.batch:batch",
        "watch": "podium.cli.watch:watch",
        "check": "podium.cli.check_engine:check",
        "plan": "podium.cli.plan:plan",
        "demo": "podium.cli.demo:demo",
        "mechanisms": "podium.cli.mechanisms:mechanisms",
        "explain": "podium.cli.explain:explain",
        "audit": "podium.cli.audit:audit",
        "serve": "podium.cli.serve:serve",
        "mcp": "podium.cli.mcp:mcp",
    }


class _Budget(Group):
    places: ClassVar[Mapping[str, str]] = {
        "create": "podium.cli.budget.create:create",
        "show": "podium.cli.budget.show:show",
        "history": "podium.cli.budget.history:history",
        "verify": "podium.cli.budget.verify:verify",
        "data-version": "podium.cli.budget.data_version:data_version",
        "raise": "podium.cli.budget.raise_total:raise_",
        "unlock": "podium.cli.budget.unlock:unlock",
        "recover": "podium.cli.budget.recover:recover",
    }


class _Token(Group):
    places: ClassVar[Mapping[str, str]] = {
        "create": "podium.cli.token.issue:create",
        "list": "podium.cli.token.listing:list_",
        "revoke": "podium.cli.token.revoke:revoke",
    }


_group = partial(
    typer.Typer,
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=SETTINGS,
)
app: typer.Typer = _group(name="podium", cls=_Root, help=_HELP)
_budget = _group(cls=_Budget, help="Create, inspect, verify and change the budgets of data sets.")
_token = _group(cls=_Token, help="Create, list and revoke the tokens of a service.")
app.add_typer(_budget, name="budget")
app.add_typer(_token, name="token")


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
