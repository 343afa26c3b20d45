"""What every command shares: three options, and what happens when something goes wrong."""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from podium.cli.console import Settings, using
from podium.cli.failures import report

__all__ = ["Command", "Group", "command"]

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


class Command(TyperCommand):
    """A command whose options are given once, unless they are made to be repeated.

    The last of two values would win silently, and nobody would see that the other one does not hold.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; a second value for an option that takes one is a usage error."""
        if not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(args=list(args))
            for option, times in Counter(order).items():
                if times > 1 and _takes_one(option):
                    name = max(option.opts, key=len)
                    ctx.fail(f"{name} is given {times} times. Allowed: once. {_HINTS.get(name, _KEEP_ONE)}")
        return super().parse_args(ctx, args)


def _takes_one(option: Any) -> bool:
    return option.param_type_name == "option" and not (option.multiple or option.count or option.is_eager)


_KEEP_ONE = "Keep the one that you mean."
_HINTS = {
    "--user": "The unit of protection is one column: put several together into one column of the table, and name that.",
}


class Group(TyperGroup):
    """The root command: usage errors look like all others."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run, and exit with the code of what happened."""
        try:
            code = super().main(*arguments, **{**options, "standalone_mode": False})
        except typer.TyperException as error:
            code = report(error, debug=False)
        raise SystemExit(code or 0)
