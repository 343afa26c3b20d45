"""Errors for people: a few lines and an exit code, with a traceback only under --debug."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path

import typer

from podium.cli.exit_codes import INTERRUPTED, UNEXPECTED, USAGE, exit_code_of
from podium.cli.missing import MissingOptions
from podium.errors import PodiumError

__all__ = ["debug_text", "failure_text", "interruption_text", "report", "usage_text"]

_PACKAGE = Path(__file__).parents[1]
_UNEXPECTED = (
    "podium failed because of an internal error.",
    "The details are withheld, because they may quote private rows.",
    "Run the command again with --debug, and report the locations that it prints.",
)
_INTERRUPTED = ("nothing was released.", "Any budget that was reserved stays charged.")


def failure_text(error: BaseException) -> str:
    """The error's name, then what is wrong, what is allowed and what to do."""
    return _block(type(error).__name__, error.lines if isinstance(error, PodiumError) else _UNEXPECTED)


def interruption_text(error: BaseException) -> str:
    """That the command was interrupted, and what happened to the reserved budget."""
    notes: list[str] = getattr(error, "__notes__", [])
    said = [sentence for note in notes for sentence in PodiumError(note).lines]
    return _block("Interrupted", said or _INTERRUPTED)


def usage_text(error: typer.TyperException) -> str:
    """A usage error, and where to find help."""
    if isinstance(error, MissingOptions):
        return _block("Usage", error.lines)
    context = getattr(error, "ctx", None)
    command = "podium" if context is None else context.command_path
    said = " ".join(error.format_message().replace("Value error, ", "").split())
    if "unexpected extra argument" in said:
        said = f"{said}. What has spaces or signs of the shell stands in quotes, such as --where \"country = 'DE'\"."
    lines = [said if said.endswith((".", "?", ")")) else f"{said}."]
    return _block("Usage", [*lines, f"'{command} --help' shows the options and an example."])


def debug_text(error: BaseException) -> str:
    """Locations in podium's own code, innermost last, without values or other libraries' messages."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(_PACKAGE)]
    places = [f"  {_place(frame)}" for frame in ours] or ["  (the locations are withheld: rows may have been read)"]
    return "\n".join(["Traceback (podium's own code, without values):", *places])


def report(error: BaseException, *, debug: bool) -> int:
    """Write an error to stderr and return its exit code."""
    if isinstance(error, BrokenPipeError):
        # Whoever reads the answer has read enough. What is not written yet must not be tried again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if isinstance(error, KeyboardInterrupt):
        text, code = interruption_text(error), INTERRUPTED
    elif isinstance(error, typer.TyperException):
        text, code = usage_text(error), USAGE
    else:
        text, code = failure_text(error), exit_code_of(error) if isinstance(error, PodiumError) else UNEXPECTED
    typer.echo(f"{debug_text(error)}\n{text}" if debug else text, err=True)
    return code


def _block(title: str, lines: tuple[str, ...] | list[str]) -> str:
    first, *rest = lines
    return "\n".join([f"{title}: {first}", *(f"  {line}" for line in rest)])


def _place(frame: traceback.FrameSummary) -> str:
    path = Path(frame.filename).relative_to(_PACKAGE.parent)
    return f"{path.as_posix()}:{frame.lineno} in {frame.name}"
