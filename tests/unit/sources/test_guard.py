"""Nothing of an engine's exception goes on: not its text, not as a cause, not as a context."""

from __future__ import annotations

import _thread
import threading
import time
import traceback

import pytest

from podium.errors import SourceFailure, SourceUnavailable
from podium.sources.isolation import attempt, run_guarded, run_interruptibly

QUOTED = "secret row 4711"


def fails() -> None:
    raise RuntimeError(QUOTED)


def refuses() -> None:
    raise SourceUnavailable("ours")


def test_a_failure_has_no_past() -> None:
    with pytest.raises(SourceFailure) as caught:
        run_guarded(fails)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert QUOTED not in "".join(traceback.format_exception(caught.value))


def test_an_attempt_that_fails_is_nothing() -> None:
    assert attempt(fails) is None
    assert attempt(lambda: 1) == 1


def test_our_own_errors_go_through() -> None:
    for action in (attempt, run_guarded):
        with pytest.raises(SourceUnavailable, match="ours"):
            action(refuses)


def test_an_interruption_stops_the_action_and_waits_for_its_end() -> None:
    stopped, ended = threading.Event(), threading.Event()

    def action() -> None:
        _thread.interrupt_main()
        assert stopped.wait(30)
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        run_interruptibly(action, stopped.set)
    assert ended.wait(30)


def test_a_stop_that_comes_too_early_is_repeated() -> None:
    calls: list[None] = []

    def action() -> None:
        _thread.interrupt_main()
        while len(calls) < 3:
            time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt):
        run_interruptibly(action, lambda: calls.append(None))
    assert len(calls) == 3


def test_what_is_not_interrupted_is_not_stopped() -> None:
    def stop() -> None:
        raise AssertionError("there is nothing to stop")

    assert run_interruptibly(lambda: threading.current_thread() is threading.main_thread(), stop) is False
    with pytest.raises(ZeroDivisionError):
        run_interruptibly(lambda: 1 // 0, stop)


def test_another_thread_gets_no_signals_and_works_by_itself() -> None:
    seen: list[threading.Thread] = []
    other = threading.Thread(
        target=lambda: run_interruptibly(lambda: seen.append(threading.current_thread()), stop=print)
    )
    other.start()
    other.join()
    assert seen == [other]
