"""Whose turn it is: counted in turns, not in seconds."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from contextlib import contextmanager

import pytest

from podium.service.ops.turns import Line, Runner
from podium.wire.refusals import Refusal

GREEDY, HONEST = Line("greedy", "views"), Line("honest", "views")


class Hall:
    """A runner whose questions end when they are told to, and who was served in which order."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.served: list[Line] = []
        self._begun = threading.Semaphore(0)
        self._ends: dict[int, threading.Event] = {}
        self._lock = threading.Lock()

    def ask(self, line: Line, times: int = 1) -> None:
        for _ in range(times):
            self.runner.submit(line, self._work(line))

    def _work(self, line: Line) -> Callable[[], None]:
        def work() -> None:
            with self._lock:
                end = self._ends[len(self.served)] = threading.Event()
                self.served.append(line)
            self._begun.release()
            assert end.wait(20)

        return work

    def begun(self, number: int) -> list[Line]:
        """Who was served so far, once so many more questions have begun."""
        for _ in range(number):
            assert self._begun.acquire(timeout=20)
        return list(self.served)

    def end(self, place: int) -> None:
        self._ends[place].set()

    def end_in_turn(self, number: int) -> None:
        """End the first questions one by one, each once the one before made room for another."""
        for place in range(number):
            self.end(place)
            self.begun(1)

    def end_all(self) -> None:
        with self._lock:
            for end in self._ends.values():
                end.set()


@contextmanager
def hall(*, parallel: int, queued: int = 1_000, each: int = 1_000) -> Iterator[Hall]:
    made = Hall(Runner(parallel=parallel, queued=queued, each=each))
    try:
        yield made
    finally:
        stopping = threading.Thread(target=made.runner.stop)
        stopping.start()
        while stopping.is_alive():
            made.end_all()
            stopping.join(0.01)


def test_an_honest_question_waits_for_one_other_and_not_for_hundreds() -> None:
    with hall(parallel=1) as here:
        here.ask(GREEDY, 500)
        here.begun(1)
        here.ask(HONEST, 3)
        here.end_in_turn(6)
        assert here.served == [GREEDY, HONEST, GREEDY, HONEST, GREEDY, HONEST, GREEDY]


def test_the_last_thread_is_kept_for_who_has_none() -> None:
    with hall(parallel=4) as here:
        here.ask(GREEDY, 100)
        assert here.begun(3) == [GREEDY] * 3
        # However long the three take, the other's first question begins at once.
        here.ask(HONEST, 2)
        assert here.begun(1) == [GREEDY] * 3 + [HONEST]
        # Then two run and two are free, of which the last is kept: the next is again of who has none running.
        here.end(0)
        here.end(3)
        assert here.begun(1)[-1] == HONEST


def test_one_analyst_with_many_data_sets_has_one_analysts_share() -> None:
    many = [Line("greedy", f"d{number}") for number in range(10)]
    with hall(parallel=1) as here:
        for line in many:
            here.ask(line, 20)
        here.begun(1)
        here.ask(HONEST, 4)
        here.end_in_turn(20)
        # Four of the first eight turns, and the data sets of the other take turns as well.
        assert Counter(line.analyst for line in here.served[:8]) == {"greedy": 4, "honest": 4}
        assert len({line.dataset for line in here.served if line.analyst == "greedy"}) == 10


def test_data_sets_take_turns_where_analysts_are_equal() -> None:
    slow = [Line(f"a{number}", "slow") for number in range(6)]
    quick = Line("b", "quick")
    with hall(parallel=2) as here:
        for line in slow:
            here.ask(line)
        here.begun(2)
        here.ask(quick)
        here.end(0)
        assert here.begun(1)[-1] == quick


def test_lines_are_bounded_for_each_analyst_and_never_closed_to_who_has_nothing() -> None:
    with hall(parallel=1, queued=4, each=3) as here:
        here.ask(GREEDY, 4)
        here.begun(1)
        with pytest.raises(Refusal, match="You have 3 questions waiting") as refused:
            here.ask(GREEDY)
        assert refused.value.status == 429
        here.ask(HONEST)
        with pytest.raises(Refusal, match="There are 4 questions waiting") as busy:
            here.ask(HONEST)
        assert busy.value.status == 503
        here.ask(Line("third", "views"))
        here.ask(Line("fourth", "views"))


def test_what_waits_is_given_up_when_the_service_stops() -> None:
    runner = Runner(parallel=1, queued=10, each=10)
    begun, end = threading.Event(), threading.Event()

    def work() -> str:
        begun.set()
        assert end.wait(20)
        return "read"

    reading = runner.submit(GREEDY, work)
    assert begun.wait(20)
    waiting = runner.submit(GREEDY, lambda: "never")
    stopping = threading.Thread(target=runner.stop)
    stopping.start()
    wait([waiting], 20)
    assert waiting.cancelled()
    with pytest.raises(Refusal, match="is stopping"):
        runner.submit(HONEST, lambda: None)
    end.set()
    stopping.join()
    assert reading.result() == "read"


def test_a_failure_is_told_and_frees_the_thread() -> None:
    runner = Runner(parallel=1, queued=10, each=10)

    def fail() -> None:
        raise ValueError("told")

    failed, after = runner.submit(GREEDY, fail), runner.submit(GREEDY, lambda: 1)
    with pytest.raises(ValueError, match="told"):
        failed.result(20)
    assert after.result(20) == 1
    runner.stop()
