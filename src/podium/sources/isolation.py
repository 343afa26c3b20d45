"""Containing an engine's exceptions: their text may quote a row, so they must not reach a traceback."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from typing import TypeVar

from podium.errors import PodiumError, SourceFailure, SourceUnavailable

__all__ = ["BATCH", "Process", "attempt", "run_guarded", "run_in_batches", "run_interruptibly"]

T = TypeVar("T")

BATCH = 10_000
"""How many rows of a long answer come at once."""

_PAUSE = 0.05


class Process:
    """The process that opened an engine. A fork inherits the engine without its threads, and would hang."""

    def __init__(self) -> None:
        self._number = os.getpid()

    @property
    def here(self) -> bool:
        """Whether this is that process."""
        return os.getpid() == self._number

    def require(self, source: str) -> None:
        """Raise in any other process."""
        if not self.here:
            raise SourceUnavailable(
                f"source={source!r} was opened before this process was forked, and works only in the one that opened "
                "it. Allowed: a source for each process. Open it, or its Curator, after the fork."
            )

    def run(self, action: Callable[[], object]) -> None:
        """Run the action only in the process that opened the engine: a fork shares its folders."""
        if self.here:
            action()


def attempt(action: Callable[[], T]) -> T | None:
    """The action's result, or None if the engine raised: for opening and describing, where no row is read."""
    try:
        return action()
    except PodiumError:
        raise
    except Exception:  # noqa: BLE001 - drivers raise anything, and all of it may quote data
        return None


def run_guarded(action: Callable[[], T]) -> T:
    """The action's result; if the engine raised, SourceFailure, without the engine's exception as its context."""
    try:
        return action()
    except PodiumError:
        raise
    except Exception:  # noqa: BLE001 - drivers raise anything, and all of it may quote data
        failed = SourceFailure()
    raise failed


def run_in_batches(fetch: Callable[[], Sequence[T]]) -> Iterator[Sequence[T]]:
    """What the engine gives until it gives nothing, each time guarded."""
    while batch := run_guarded(fetch):
        yield batch


def run_interruptibly(action: Callable[[], T], stop: Callable[[], object]) -> T:
    """The action's result; while it runs, Ctrl-C reaches this thread at once, and ``stop`` ends the action.

    An engine that works in the main thread sees a signal late, and reports it as its own error.
    """
    if threading.current_thread() is not threading.main_thread():
        return action()
    running: Future[T] = Future()
    begun, cancelled = threading.Event(), threading.Event()

    def work(future: Future[T]) -> None:
        begun.set()
        if cancelled.is_set():
            return
        try:
            future.set_result(action())
        except BaseException as error:  # noqa: BLE001 - raised again in the other thread
            future.set_exception(error)

    try:
        threading.Thread(target=work, args=(running,), daemon=True).start()
        # Short waits, because a signal taken by another thread does not wake this one.
        while not running.done():
            wait([running], timeout=_PAUSE)
        return running.result()
    except BaseException:
        cancelled.set()
        # Repeatedly, because the first call may come before the engine has begun.
        while begun.is_set() and not running.done():
            stop()
            wait([running], timeout=_PAUSE)
        raise
    finally:
        # Breaks a reference cycle: it holds the engine's exception, whose frames hold this one.
        del running
