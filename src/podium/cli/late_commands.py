"""Commands that are built when they are used: ``podium top`` does not wait for twenty others."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup

from podium.cli.command import Command, command
from podium.cli.failures import report
from podium.cli.plain_values import convert_plainly

__all__ = ["SETTINGS", "Group", "RootGroup"]

SETTINGS: dict[str, Any] = {"help_option_names": ["--help", "-h"], "max_content_width": 100}


class _LateCommands(MutableMapping[str, Any]):
    """Commands by name; one that is given as ``module:function`` is imported and built on first use."""

    def __init__(self, commands: Mapping[str, Any]) -> None:
        self._commands = dict(commands)

    def __getitem__(self, name: str) -> Any:
        found = self._commands[name]
        if isinstance(found, str):
            found = self._commands[name] = _build(name, found)
        return found

    def __setitem__(self, name: str, built: Any) -> None:
        self._commands[name] = built

    def __delitem__(self, name: str) -> None:
        del self._commands[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._commands)

    def __len__(self) -> int:
        return len(self._commands)


def _build(name: str, place: str) -> Any:
    module, _, function = place.partition(":")
    run: Callable[..., None] = getattr(importlib.import_module(module), function)
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(name, cls=Command, context_settings=SETTINGS)(command(run))
    return typer.main.get_command(alone)


class Group(TyperGroup):
    """A group whose commands are listed by place; those that were built already follow."""

    places: ClassVar[Mapping[str, str]] = {}

    def __init__(self, *, commands: Mapping[str, Any], **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: MutableMapping[str, Any] = _LateCommands({**self.places, **commands})

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse what stands before the name of the command."""
        convert_plainly(self.get_params(ctx))
        return super().parse_args(ctx, args)


class RootGroup(Group):
    """The root command, which reports usage errors like all others."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run, and exit with the code of the outcome."""
        try:
            code = super().main(*arguments, **{**options, "standalone_mode": False})
        except typer.TyperException as error:
            code = report(error, debug=False)
        raise SystemExit(code or 0)
