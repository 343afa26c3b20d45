"""The reference page of the command line, made from the commands themselves: ``python -m tools.cli_reference``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import typer

from podium.cli.commands import app
from podium.cli.exit_codes import EXIT_CODES

__all__ = ["help_texts", "reference"]

_WIDTH = 88
_INTRODUCTION = """\
# The command line

This page is made by `python -m tools.cli_reference`, from the commands themselves.

Nothing but the result goes to stdout; remarks, progress and errors go to stderr, and `--quiet` silences the first
two. On a terminal a result is a table with lines and colours (`--no-color`, or the variable `NO_COLOR`, turns colours
off); in a pipe it is plain text. A scan that takes longer than a second shows a spinner and the time, never how far
the engine has come, because that depends on private rows. Ctrl-C stops the engine's query; what was reserved for it
is forfeited, and the message says how much that was.

An error is the library's own, in at most three lines: what is wrong, what is allowed, what to do next. `--debug` adds
where in podium's code it happened, without any value.

## Shell completion

`podium --install-completion` sets it up for the shell that you are in (bash, zsh, fish or PowerShell);
`podium --show-completion` prints the script instead.
"""
_JSON = """\
## JSON

`--format json` is stable: fields are added, never renamed or removed, and these schemas describe most of them. Exact
numbers are texts such as `"1/2"`, because a JSON number would be read as a float. `watch` prints a list of releases,
each with its `period`.

| command | schema |
|---|---|
| `top`, `sql`, `rank`, `demo` | [release](schemas/release.schema.json) |
| `plan`, and `top`, `sql` and `rank` with `--dry-run` | [plan](schemas/plan.schema.json) |
| `budget create`, `show`, `data-version`, `raise`, `unlock` | [budget](schemas/budget.schema.json) |
| `budget create --dry-run`, `budget raise --dry-run` | [budget-plan](schemas/budget-plan.schema.json) |
| `budget history` | [history](schemas/history.schema.json) |
| `budget verify` | [verification](schemas/verification.schema.json) |
| `mechanisms` | [mechanisms](schemas/mechanisms.schema.json) |
| `explain` | [explanation](schemas/explanation.schema.json) |
| `audit` | [audit](schemas/audit.schema.json) |
| `check` | [check](schemas/check.schema.json) |
"""


def help_texts(*, width: int = _WIDTH) -> dict[str, str]:
    """What ``--help`` prints for each command at a fixed width, by the full name of the command."""
    return dict(_walk(typer.main.get_command(app), "podium", None, width))


def _walk(command: Any, name: str, parent: Any, width: int) -> Iterator[tuple[str, str]]:
    context = command.make_context(
        name, [], parent=parent, resilient_parsing=True, terminal_width=width, max_content_width=width
    )
    yield context.command_path, context.get_help()
    for child in getattr(command, "commands", {}).values():
        yield from _walk(child, child.name, context, width)


def reference() -> str:
    """The page, in Markdown."""
    codes = "\n".join(
        f"| {entry.code} | {entry.meaning} | {', '.join(f'`{error.__name__}`' for error in entry.errors)} |"
        for entry in EXIT_CODES
    )
    exits = f"## Exit codes\n\n| code | meaning | errors |\n|---|---|---|\n{codes}\n"
    commands = (f"## {name}\n\n```text\n{text.rstrip()}\n```\n" for name, text in help_texts().items())
    return "\n".join([_INTRODUCTION, exits, _JSON, *commands])


if __name__ == "__main__":
    sys.stdout.write(reference())
