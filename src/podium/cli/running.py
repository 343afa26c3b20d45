"""What every command shares: three options, and what happens when something goes wrong."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from podium.cli.console import Settings, using
from podium.cli.failures import report

__all__ = ["Group", "command"]

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No remarks and no progress on stderr.")]
NoColor = Annotated[bool, typer.Option("--no-color", help="No colours; the variable NO_COLOR says the same.")]
Debug = Annotated[bool, typer.Option("--debug", help="With an error, show where it happened. Never shows values.")]

_SHARED = {"quiet": Quiet, "no_color": NoColor, "debug": Debug}


def command(function: Callable[..., None]) -> Callable[..., None]:
    """The function as a command, with the shared options added to its own."""
    signature = inspect.signature(function, eval_str=True)

    @functools.wraps(function)
    def run(*arguments: Any, quiet: bool, no_color: bool, debug: bool, **options: Any) -> None:
        with using(Settings(quiet=quiet, color=not no_color, debug=debug)):
            try:
                function(*arguments, **options)
            except (typer.Exit, typer.Abort):
                raise
            except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - reported by its type
                code = report(error, debug=debug)
            else:
                return
        raise typer.Exit(code)

    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=annotation)
        for name, annotation in _SHARED.items()
    ]
    own = signature.parameters.values()
    run.__signature__ = signature.replace(parameters=[*own, *shared])  # type: ignore[attr-defined]
    run.__annotations__ = inspect.get_annotations(function, eval_str=True) | _SHARED
    return run


class Group(TyperGroup):
    """The root command: usage errors look like all others."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run, and exit with the code of what happened."""
        try:
            code = super().main(*arguments, **{**options, "standalone_mode": False})
        except typer.TyperException as error:
            code = report(error, debug=False)
        raise SystemExit(code or 0)
