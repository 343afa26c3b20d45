"""``podium serve``: an HTTP service for many analysts and one budget."""

from __future__ import annotations

import gc
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli import USUAL_COLLECTION
from podium.cli.console import say
from podium.cli.output import print_facts
from podium.errors import MissingLibrary

if TYPE_CHECKING:
    from podium.service.settings import Settings

__all__ = ["Config", "require_service", "serve", "settings_in"]

Config = Annotated[
    Path,
    typer.Option(
        "--config", "-c", metavar="FILE", envvar="PODIUM_CONFIG", show_envvar=True, help="Settings, a TOML file."
    ),
]


def serve(
    *,
    config: Config,
    check: Annotated[
        bool, typer.Option("--check", help="Open everything once, report what was found, and exit.")
    ] = False,
) -> None:
    """Serve an HTTP API and web pages.

    The settings name the ledger, the data sets and their budgets; docs/service.md describes them.

    \b
    Examples:
      podium serve --config podium.toml --check
      podium serve --config podium.toml
    """
    require_service()
    settings = settings_in(config)
    from podium.service import server

    # A command may leave its garbage to the system; what requests leave behind would add up.
    gc.set_threshold(*USUAL_COLLECTION)
    if check:
        print_facts(server.check(settings))
        return
    address = f"http://{settings.server.host}:{settings.server.port}"
    server.serve(settings, config, on_listening=lambda: say(f"listening on {address} (Ctrl-C stops it)"))


def settings_in(config: Path) -> Settings:
    """Load the settings from a file."""
    from podium.service.settings import load

    return load(config)


def require_service() -> None:
    """Raise if the service's libraries are not installed."""
    for library in ("fastapi", "uvicorn", "jinja2"):
        if importlib.util.find_spec(library) is None:
            raise MissingLibrary(library, purpose="podium serve", extra="service")
