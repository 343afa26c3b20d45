"""Where an engine's exceptions end: what they say may quote a row, so not even a traceback carries them on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

from podium.errors import PodiumError, SourceFailure

__all__ = ["attempt", "guarded", "interruptible"]

T = TypeVar("T")

_PAUSE = 0.05


def attempt(action: Callable[[], T]) -> T | None:
    """What the action returns, or None if the engine raised: for opening and describing, where no row is read."""
    try:
        return action()
    except PodiumError:
        raise
    except Exception:  # noqa: BLE001 - drivers raise anything, and all of it may quote data
        return None


def guarded(action: Callable[[], T]) -> T:
    """What the action returns; if the engine raised, SourceFailure, without the engine's exception as its context."""
    try:
        return action()
    except PodiumError:
        raise
    except Exception:  # noqa: BLE001 - drivers raise anything, and all of it may quote data
        failed = SourceFailure()
    raise failed


def interruptible(action: Callable[[], T], stop: Callable[[], object]) -> T:
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
