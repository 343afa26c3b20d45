"""Console output: results on stdout, messages and progress on stderr."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

__all__ = ["Settings", "on_terminal", "print_result", "progress", "say", "settings", "use_settings"]

_DELAY_SECONDS = 1.0
_TICK_SECONDS = 0.2
_MIN_WIDTH = 40


@dataclass(frozen=True, slots=True)
class Settings:
    """Options that every command has."""

    quiet: bool = False
    verbose: bool = False
    color: bool = True
    debug: bool = False


_settings: ContextVar[Settings] = ContextVar("_settings")


def settings() -> Settings:
    """The settings of the command that is running."""
    return _settings.get(Settings())


@contextmanager
def use_settings(chosen: Settings) -> Iterator[None]:
    """Use these settings inside the block."""
    token = _settings.set(chosen)
    try:
        yield
    finally:
        _settings.reset(token)


def on_terminal() -> bool:
    """Whether stdout is a terminal, which gets styled tables; a pipe gets plain text."""
    return sys.stdout.isatty()


def print_result(result: str | RenderableType) -> None:
    """Write text or a renderable to stdout; markup in text is not interpreted."""
    if isinstance(result, str):
        sys.stdout.write(result if result.endswith("\n") else f"{result}\n")
        sys.stdout.flush()
    else:
        _console(stderr=False).print(result)


def say(message: str) -> None:
    """Print a message on stderr, unless --quiet."""
    if not settings().quiet:
        sys.stderr.write(f"{message}\n")
        sys.stderr.flush()


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Show a spinner and the elapsed time once a task takes longer than a second.

    The engine's own progress is not shown: it depends on rows, and would be visible before anything is settled.
    """
    if settings().quiet:
        yield
        return
    done = threading.Event()
    ticking = threading.Thread(target=_show_progress, args=(what, done, time.monotonic()), daemon=True)
    ticking.start()
    try:
        yield
    finally:
        done.set()
        ticking.join()


def _show_progress(what: str, done: threading.Event, start: float) -> None:
    if done.wait(_DELAY_SECONDS):
        return
    if not sys.stderr.isatty():
        say(f"{what} ...")
        done.wait()
        return
    with _console(stderr=True).status(_elapsed_text(what, start)) as spinner:
        while not done.wait(_TICK_SECONDS):
            spinner.update(_elapsed_text(what, start))


def _elapsed_text(what: str, start: float) -> str:
    return f"{what}, {time.monotonic() - start:.0f} s (Ctrl-C stops it)"


def _console(*, stderr: bool) -> Console:
    from rich.console import Console  # takes a third of a second, which help and errors do not need

    console = Console(stderr=stderr, highlight=False, no_color=None if settings().color else True)
    console.width = max(console.width, _MIN_WIDTH)
    return console
