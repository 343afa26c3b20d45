"""What every command shares: four options and the handling of errors."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections import Counter
from collections.abc import Callable
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from podium.cli.console import Settings, use_settings
from podium.cli.failures import report
from podium.cli.missing import missing_options
from podium.cli.plain_values import convert_plainly

__all__ = ["Command", "command"]

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No messages or progress on stderr.")]
NoColor = Annotated[bool, typer.Option("--no-color", help="No colours; the variable NO_COLOR does the same.")]
Debug = Annotated[bool, typer.Option("--debug", help="On an error, show where it happened, without values.")]

Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Also the guarantee in full, exact prices, mechanisms and proofs.")
]

_SHARED = {"quiet": Quiet, "verbose": Verbose, "no_color": NoColor, "debug": Debug}


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Turn a function into a command: dataclass parameters become options, and the shared options are added."""
    signature = inspect.signature(function, eval_str=True)
    groups = {name: one.annotation for name, one in signature.parameters.items() if _is_group(one.annotation)}

    @functools.wraps(function)
    def run(*arguments: Any, quiet: bool, verbose: bool, no_color: bool, debug: bool, **options: Any) -> None:
        with use_settings(Settings(quiet=quiet, verbose=verbose, color=not no_color, debug=debug)):
            try:
                function(*arguments, **_group_options(options, groups))
            except (typer.Exit, typer.Abort):
                raise
            except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - reported by its type
                code = report(error, debug=debug)
            else:
                return
        raise typer.Exit(code)

    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        parameters += _options_of(groups[parameter.name]) if parameter.name in groups else [parameter]
    parameters += [_option(name, annotation, False) for name, annotation in _SHARED.items()]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def _is_group(annotation: object) -> bool:
    return isinstance(annotation, type) and dataclasses.is_dataclass(annotation)


def _options_of(group: type) -> list[inspect.Parameter]:
    """One option for each field of a group, with the field's type, help and default; for a group in it, all of its."""
    hints = get_type_hints(group, include_extras=True)
    options: list[inspect.Parameter] = []
    for one in dataclasses.fields(group):
        hint = hints[one.name]
        options += _options_of(hint) if _is_group(hint) else [_option(one.name, hint, one.default)]
    return options


def _option(name: str, annotation: object, default: object) -> inspect.Parameter:
    missing = inspect.Parameter.empty if default is dataclasses.MISSING else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=missing, annotation=annotation)


def _group_options(options: dict[str, Any], groups: dict[str, Any]) -> dict[str, Any]:
    """Collect the options of each group into its dataclass."""
    made = {name: _make_group(group, options) for name, group in groups.items()}
    return {**options, **made}


def _make_group(group: Any, options: dict[str, Any]) -> Any:
    hints = get_type_hints(group)
    return group(
        **{name: _make_group(hint, options) if _is_group(hint) else options.pop(name) for name, hint in hints.items()}
    )


class Command(TyperCommand):
    """A command whose options may be given once, unless they are declared repeatable, and which names all that lack.

    Otherwise the last value would win silently.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line; repeating an option that takes one value is a usage error."""
        if not ctx.resilient_parsing:
            given, _, order = self.make_parser(ctx).parse_args(args=list(args))
            for option, times in Counter(order).items():
                if times > 1 and _takes_one(option):
                    name = max(option.opts, key=len)
                    ctx.fail(f"{name} is given {times} times. Allowed: once. {_KEEP_ONE}")
            missing = None if "help" in given else missing_options(ctx, self.get_params(ctx), given)
            if missing is not None:
                raise missing
        convert_plainly(self.get_params(ctx))
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments and options; the many options of a question in sections, what everybody needs first."""
        params = self.get_params(ctx)
        if not _FIRST.issubset(param.name for param in params):
            super().format_options(ctx, formatter)
            return
        sections: dict[str, list[tuple[str, str]]] = {name: [] for name in ("Arguments", *_SECTIONS, _REST)}
        place = {name: section for section, names in _SECTIONS.items() for name in names}
        for param in params:
            record = param.get_help_record(ctx)
            if record is not None:
                argument = param.param_type_name == "argument"
                sections["Arguments" if argument else place.get(param.name, _REST)].append(record)
        for name in ("Arguments", _BEGIN, _REST, *(other for other in _SECTIONS if other != _BEGIN)):
            if sections[name]:
                with formatter.section(name):
                    formatter.write_dl(sections[name])


_BEGIN, _REST = "To begin with", "Question"
_SECTIONS = {
    _BEGIN: ("item", "winner", "loser", "user", "k", "epsilon", "delta"),
    "Budget": ("ledger", "dataset", "analyst", "copy", "answer_every"),
    "Source": ("source", "table", "join", "types", "bad_lines", "encoding", "no_header"),
    "Output": ("form", "output", "force", "plot", "dry_run"),
    "Help": ("quiet", "verbose", "no_color", "debug", "help"),
}
_FIRST = {"epsilon", "delta", "user", "dry_run"}
"""A command with these asks a question."""


def _takes_one(option: Any) -> bool:
    return option.param_type_name == "option" and not (option.multiple or option.count or option.is_eager)


_KEEP_ONE = "Keep the one you mean."
