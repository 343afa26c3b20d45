"""Where an engine's exceptions end: what they say may quote a row, so not even a traceback carries them on."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

from podium.errors import PodiumError, SourceFailure, SourceUnavailable

__all__ = ["Process", "attempt", "run_guarded", "run_interruptibly"]

T = TypeVar("T")

_PAUSE = 0.05


class Process:
    """The process that opened an engine. A fork has a copy of it without threads, and would wait for ever."""

    def __init__(self) -> None:
        self._number = os.getpid()

    @property
    def here(self) -> bool:
        """Whether it is this one."""
        return os.getpid() == self._number

    def require(self, source: str) -> None:
        """Raise in any other process."""
        if not self.here:
            raise SourceUnavailable(
                f"source={source!r} was opened before this process was forked, and works only in the one that opened "
                "it. Allowed: a source for each process. Open it, or its Curator, after the fork."
            )

    def run(self, action: Callable[[], object]) -> None:
        """Do what is for the process that opened the engine alone: a fork shares its folders."""
        if self.here:
            action()


def attempt(action: Callable[[], T]) -> T | None:
    """What the action returns, or None if the engine raised: for opening and describing, where no row is read."""
    try:
        return action()
    except PodiumError:
        raise
    except Exception:  # noqa: BLE001 - drivers raise anything, and all of it may quote data
        return None


def run_guarded(action: Callable[[], T]) -> T:
    """What the action returns; if the engine raised, SourceFailure, without the engine's exception as its context."""
    try:
        return action()
    except PodiumError:
        raise
    except Exception:  # noqa: BLE001 - drivers raise anything, and all of it may quote data
        failed = SourceFailure()
    raise failed


def run_interruptibly(action: Callable[[], T], stop: Callable[[], object]) -> T:
    """What the action returns; while it runs, Ctrl-C reaches this thread at once, and ``stop`` ends the action.

    An engine that works in the main thread sees a signal late, and reports it as an error of its own.
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
        # In short waits: a signal that another thread of the process took does not wake this one.
        while not running.done():
            wait([running], timeout=_PAUSE)
        return running.result()
    except BaseException:
        cancelled.set()
        # Again and again, because the first call may come before the engine has begun.
        while begun.is_set() and not running.done():
            stop()
            wait([running], timeout=_PAUSE)
        raise
    finally:
        # It holds the engine's exception, whose frames hold this one.
        del running
