"""``podium serve``: an HTTP service for many analysts and one budget."""

from __future__ import annotations

import gc
import importlib.util
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli import USUAL_COLLECTION
from podium.cli.console import print_result, say
from podium.cli.missing import OPTION_MEANINGS, MissingOptions
from podium.cli.options import BadLines, BadLinesOption, Encoding, NoHeader
from podium.cli.output import print_facts
from podium.errors import InvalidArgument, MissingLibrary

if TYPE_CHECKING:
    from podium.service.one_file import FileService
    from podium.service.settings import Settings

__all__ = ["Config", "require_service", "serve", "settings_in"]

_USUAL_PORT = 8000
_SAYS = {
    "user": OPTION_MEANINGS["user"],
    "epsilon": "--epsilon limits what all answers together may reveal about one person; 3 is a common choice",
    "delta": (
        "--delta is the probability that this limit fails: take much less than one over the number of people, such as "
        "--delta 1e-6"
    ),
}
"""What the first run for a file must say."""
_CONFIG = typer.Option(
    "--config", "-c", metavar="FILE", envvar="PODIUM_CONFIG", show_envvar=True, help="Settings, a TOML file."
)
Config = Annotated[Path, _CONFIG]


def serve(
    context: typer.Context,
    source: Annotated[
        str | None, typer.Argument(metavar="SOURCE", help="A file to serve on this computer, without settings.")
    ] = None,
    *,
    config: Annotated[Path | None, _CONFIG] = None,
    users: Annotated[
        list[str] | None,
        typer.Option(
            "--user", metavar="COL", help="User column of SOURCE. Repeat it if columns together are one user."
        ),
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option("--epsilon", metavar="NUMBER", help="Total for everything released about SOURCE.")
    ] = None,
    delta: Annotated[
        str | None, typer.Option("--delta", metavar="NUMBER", help="Total delta; 0 allows only known domains.")
    ] = None,
    items: Annotated[
        int | None, typer.Option("--items", metavar="N", help="Expected number of items in all lists; default 100.")
    ] = None,
    questions: Annotated[
        int | None, typer.Option("--questions", metavar="N", help="Expected number of lists; default 10.")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", help="Default: 8000, or another one that is free.")
    ] = None,
    bad_lines: BadLinesOption = BadLines.REFUSE,
    encoding: Encoding = "utf-8",
    no_header: NoHeader = False,
    check: Annotated[
        bool, typer.Option("--check", help="Open everything once, report what was found, and exit.")
    ] = False,
) -> None:
    """Serve an HTTP API and web pages.

    With SOURCE, on this computer only: the first run makes a ledger in a folder beside the file, registers the file
    with its total, and prints a link that signs you in once, within ten minutes. Later runs go on with the same ledger.

    With --config, for others too: the settings name the ledger, the data sets and their budgets; docs/service.md
    describes them.

    \b
    Examples:
      podium serve orders.csv --user customer --epsilon 3 --delta 1e-6
      podium serve orders.csv
      podium serve --config podium.toml --check
      podium serve --config podium.toml
    """
    require_service()
    given = {"user": users, "epsilon": epsilon, "delta": delta, "items": items, "questions": questions, "port": port}
    if source is None:
        _serve_settings(config, given, check=check)
        return
    if config is not None and _is_written(context, "config"):
        raise InvalidArgument(
            "config", str(config), allowed="nothing beside a file to serve",
            hint="The settings of a file are in the folder beside it.",
        )  # fmt: skip
    from podium.service.one_file import Stated, is_served, open_file

    missing = [name for name in _SAYS if not given[name]]
    if missing and not is_served(source):
        raise MissingOptions([f"--{name}" for name in missing], [_SAYS[name] for name in missing], "podium serve")
    stated = Stated(
        user=tuple(users or ()), epsilon=epsilon, delta=delta, items=items, questions=questions,
        bad_lines=bad_lines.value, encoding=encoding, header=not no_header,
    )  # fmt: skip
    made = open_file(source, stated, port=_free_port() if port is None else port)
    if not check:
        made.use_environment()
    _run(made.settings, made.config, check=check, on_listening=lambda: _print_link(made))


def _serve_settings(config: Path | None, given: Mapping[str, object], *, check: bool) -> None:
    """Serve what a file of settings says; what is said of a single file has no place beside it."""
    if config is None:
        raise InvalidArgument(
            "source", None, allowed="a file to serve on this computer, or settings with --config",
            hint="For example: podium serve orders.csv --user customer --epsilon 3 --delta 1e-6",
        )  # fmt: skip
    for name, value in given.items():
        if value is not None:
            raise InvalidArgument(name, value, allowed="nothing beside --config", hint="The settings say it.")
    settings = settings_in(config)
    address = f"http://{settings.server.host}:{settings.server.port}"
    _run(settings, config, check=check, on_listening=lambda: say(f"listening on {address} (Ctrl-C stops it)"))


def _run(settings: Settings, config: Path, *, check: bool, on_listening: Callable[[], None]) -> None:
    from podium.service import server

    # A command may leave its garbage to the system; what requests leave behind would add up.
    gc.set_threshold(*USUAL_COLLECTION)
    if check:
        print_facts(server.check(settings))
        return
    server.serve(settings, config, on_listening=on_listening)


def _is_written(context: typer.Context, name: str) -> bool:
    """Whether an option is on the command line, and not only in the environment."""
    found = context.get_parameter_source(name)
    return found is not None and found.name == "COMMANDLINE"


def _print_link(made: FileService) -> None:
    """On stdout: log lines are elsewhere, and whoever reads them must not be able to sign in."""
    say(f"serving {made.dataset!r} on this computer; its ledger is in {made.config.parent.name} (Ctrl-C stops it)")
    say("Sign in with this link, once, within ten minutes:")
    print_result(made.sign_in_link())


def _free_port() -> int:
    """The usual port, or another one if something listens there."""
    for port in (_USUAL_PORT, 0):
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(tried.getsockname()[1])
    return _USUAL_PORT


def settings_in(config: Path) -> Settings:
    """Load the settings from a file."""
    from podium.service.settings import load

    return load(config)


def require_service() -> None:
    """Raise if the service's libraries are not installed."""
    for library in ("fastapi", "uvicorn", "jinja2"):
        if importlib.util.find_spec(library) is None:
            raise MissingLibrary(library, purpose="podium serve", extra="service")
